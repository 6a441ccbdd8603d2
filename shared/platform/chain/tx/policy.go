package tx

import (
	"context"
	"errors"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
)

// PolicySigners says who signed a policy and whether the registry lists them: the
// chain as a charter asks it.
type PolicySigners struct{ Registry *chain.Registry }

// Signer is the account that signed a digest with 65 bytes R, S and 27 or 28.
func (PolicySigners) Signer(digest identity.Hash, signature []byte) (identity.Address, error) {
	if len(signature) != 65 || signature[64] < 27 {
		return identity.Address{}, errors.New("want R, S and 27 or 28, 65 bytes")
	}
	s := Signature{R: [32]byte(signature[:32]), S: [32]byte(signature[32:64]), V: signature[64] - 27}
	return s.Recover(digest)
}

// IsTenantSigner says whether the registry lists an account as a signer of a
// tenant.
func (p PolicySigners) IsTenantSigner(ctx context.Context, tenant identity.Hash, signer identity.Address) (bool, error) {
	return p.Registry.IsTenantSigner(ctx, tenant, signer)
}

// SignDigest signs a digest as it is: R, S and 27 or 28, 65 bytes.
func SignDigest(ctx context.Context, signer Signer, digest identity.Hash) ([]byte, error) {
	s, err := Sign(ctx, signer, digest)
	if err != nil {
		return nil, err
	}
	return s.Bytes(), nil
}
