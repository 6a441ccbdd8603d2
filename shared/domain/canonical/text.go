package canonical

import (
	"reflect"
	"unicode/utf8"
)

// replaced is what encoding/json writes for a byte that is not UTF-8. A true
// U+FFFD it writes as the character itself, so only broken strings and raw JSON
// that spells the escape out have it.
const replaced = `\ufffd`

// maxReach bounds the walk of validText. A value whose JSON is MaxDepth deep has
// some pointers and interfaces in between; one that goes further down is a
// cycle hidden behind a MarshalJSON of its own.
const maxReach = 4 * MaxDepth

// validText says whether every string that v holds is UTF-8. It is slow, and
// only asked when `replaced` shows up in the output.
func validText(v any) bool { return valid(reflect.ValueOf(v), maxReach) }

func valid(v reflect.Value, reach int) bool {
	if reach == 0 {
		return false
	}
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Interface, reflect.Pointer:
		return v.IsNil() || valid(v.Elem(), reach-1)
	case reflect.Slice, reflect.Array:
		// Bytes are base64 or raw JSON and no strings; there may be megabytes.
		return v.Type().Elem().Kind() == reflect.Uint8 || validElements(v, reach-1)
	case reflect.Map:
		return validEntries(v, reach-1)
	case reflect.Struct:
		return validFields(v, reach-1)
	}
	return true
}

func validElements(v reflect.Value, reach int) bool {
	for i := range v.Len() {
		if !valid(v.Index(i), reach) {
			return false
		}
	}
	return true
}

func validEntries(v reflect.Value, reach int) bool {
	for entry := v.MapRange(); entry.Next(); {
		if !valid(entry.Key(), reach) || !valid(entry.Value(), reach) {
			return false
		}
	}
	return true
}

// validFields looks at the fields that encoding/json may write: the exported
// ones, and those of embedded structs whose own name is not exported.
func validFields(v reflect.Value, reach int) bool {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() && !field.Anonymous || field.Tag.Get("json") == "-" {
			continue
		}
		if !valid(v.Field(i), reach) {
			return false
		}
	}
	return true
}
