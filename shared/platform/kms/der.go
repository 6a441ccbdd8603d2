package kms

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// The object identifiers of an elliptic curve key (RFC 5480) and of secp256k1
// (SEC 2).
var (
	ecPublicKey = asn1.ObjectIdentifier{1, 2, 840, 10045, 2, 1}
	secp256k1ID = asn1.ObjectIdentifier{1, 3, 132, 0, 10}
)

// parsePublicKey reads the X and Y of a SubjectPublicKeyInfo. The standard
// library's own reader does not know the curve.
func parsePublicKey(der []byte) (point [64]byte, err error) {
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	rest, err := asn1.Unmarshal(der, &info)
	if err != nil || len(rest) > 0 {
		return point, errors.New("the public key is no SubjectPublicKeyInfo")
	}
	var curve asn1.ObjectIdentifier
	rest, err = asn1.Unmarshal(info.Algorithm.Parameters.FullBytes, &curve)
	if err != nil || len(rest) > 0 || !info.Algorithm.Algorithm.Equal(ecPublicKey) || !curve.Equal(secp256k1ID) {
		return point, errors.New("the public key is not one of secp256k1")
	}
	key, err := secp256k1.ParsePubKey(info.Key.RightAlign())
	if err != nil {
		return point, errors.New("the public key is no point of secp256k1")
	}
	return [64]byte(key.SerializeUncompressed()[1:]), nil
}

// order is the number of points of secp256k1.
var order = secp256k1.Params().N

// parseSignature reads a DER signature and brings s into the lower half of the
// order: s and order-s are good for the same digest, and the chain takes one.
func parseSignature(der []byte) (r, low [32]byte, err error) {
	var pair struct{ R, S *big.Int }
	rest, err := asn1.Unmarshal(der, &pair)
	if err != nil || len(rest) > 0 {
		return r, low, errors.New("the signature is no pair of numbers")
	}
	for _, n := range []*big.Int{pair.R, pair.S} {
		if n.Sign() <= 0 || n.Cmp(order) >= 0 {
			return r, low, errors.New("the signature has a number outside the curve's order")
		}
	}
	if pair.S.Cmp(new(big.Int).Rsh(order, 1)) > 0 {
		pair.S.Sub(order, pair.S)
	}
	pair.R.FillBytes(r[:])
	pair.S.FillBytes(low[:])
	return r, low, nil
}
