package bus

import (
	"crypto/rand"
	"fmt"
)

// newID is a random UUID, the form of event, message and request ids.
func newID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails: it crashes the program instead
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
