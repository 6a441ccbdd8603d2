package chain_test

import (
	"os/exec"
	"strings"
	"testing"
)

// Reading the chain needs no curve and no other client: what this package links,
// the function that answers agents links.
func TestReadingLinksNoCurve(t *testing.T) {
	listed, err := exec.Command("go", "list", "-deps", ".").Output()
	ok(t, err)
	for _, path := range strings.Fields(string(listed)) {
		if strings.Contains(path, "secp256k1") || strings.Contains(path, "go-ethereum") {
			t.Errorf("it links %s", path)
		}
	}
	if !strings.Contains(string(listed), "golang.org/x/crypto/sha3") {
		t.Error("the list of packages is not complete")
	}
}
