package verify_test

import (
	"testing"

	"github.com/robotmoney/mcp/infra/verify/verify"
)

func BenchmarkProof(b *testing.B) {
	raw := sound(b)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		verify.Proof(b.Context(), raw, verify.Options{})
	}
}
