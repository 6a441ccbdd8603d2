// Package licence tells which licence a text is.
//
// It knows few, and is strict about those that functions may link: such a text
// must say what the licence says and not much more. A clause that somebody added
// at the end is what a look at the first lines would miss.
package licence

import (
	"slices"
	"strings"
	"unicode"
)

// Name is a licence's SPDX identifier.
type Name string

// The licences that are told apart. Unknown is every other text.
const (
	Apache2 Name = "Apache-2.0"
	MIT     Name = "MIT"
	MIT0    Name = "MIT-0"
	ISC     Name = "ISC"
	BSD2    Name = "BSD-2-Clause"
	BSD3    Name = "BSD-3-Clause"
	MPL2    Name = "MPL-2.0"
	LGPL3   Name = "LGPL-3.0"
	GPL3    Name = "GPL-3.0"
	Zero    Name = "CC0-1.0"
	Free    Name = "Unlicense"
	Unknown Name = "other"
)

// Allowed are the licences of what functions may link: they ask for a notice and
// nothing else.
var Allowed = []Name{Apache2, MIT, MIT0, ISC, BSD2, BSD3}

// form is what makes a text a licence: all of the phrases, in words without
// punctuation, none of the others, and no more words than the longest copy of it
// with a few lines of copyright. 0 words are any number: these licences are only
// listed, never allowed.
type form struct {
	name    Name
	phrases []string
	without []string
	words   int
}

const (
	permission  = "permission is hereby granted free of charge to any person obtaining a copy of this software and associated documentation files"
	noticeKept  = "the above copyright notice and this permission notice shall be included in all copies or substantial portions of the software"
	asIs        = "the software is provided as is"
	redistribut = "redistribution and use in source and binary forms with or without modification are permitted provided that the following conditions are met"
)

var forms = []form{
	{Apache2, []string{"apache license version 2 0 january 2004", "grant of copyright license", "grant of patent license", "end of terms and conditions"}, nil, 1700},
	{Apache2, []string{"apache license version 2 0 january 2004", "grant of copyright license", "grant of patent license", "accepting warranty or additional liability"}, nil, 1500},
	{MIT, []string{permission, noticeKept, asIs}, nil, 220},
	{MIT0, []string{permission, asIs}, []string{"notice shall be included"}, 160},
	{ISC, []string{"permission to use copy modify and or distribute this software for any purpose with or without fee is hereby granted", asIs}, nil, 180},
	{ISC, []string{"permission to use copy modify and distribute this software for any purpose with or without fee is hereby granted", asIs}, nil, 180},
	{BSD3, []string{redistribut, "to endorse or promote products derived from this software without specific prior written permission"}, []string{"advertising materials"}, 280},
	{BSD2, []string{redistribut}, []string{"endorse or promote", "advertising materials"}, 240},
	{MPL2, []string{"mozilla public license version 2 0"}, nil, 0},
	{LGPL3, []string{"gnu lesser general public license version 3"}, nil, 0},
	{GPL3, []string{"gnu general public license version 3"}, nil, 0},
	{Zero, []string{"cc0 1 0 universal"}, nil, 0},
	{Free, []string{"this is free and unencumbered software released into the public domain"}, nil, 0},
}

// Of returns the licence a text is, Unknown when it is none of those.
func Of(text string) Name {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	plain := strings.Join(words, " ")
	for _, f := range forms {
		said := func(phrase string) bool { return strings.Contains(plain, phrase) }
		if f.words > 0 && len(words) > f.words || slices.ContainsFunc(f.without, said) {
			continue
		}
		if !slices.ContainsFunc(f.phrases, func(phrase string) bool { return !said(phrase) }) {
			return f.name
		}
	}
	return Unknown
}
