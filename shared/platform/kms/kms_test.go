package kms_test

import (
	"context"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
	"github.com/robotmoney/mcp/shared/platform/kms"
)

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// stub is KMS over HTTP with one key in memory.
type stub struct {
	key    *secp256k1.PrivateKey
	reply  map[string]any // instead of what it would say to GetPublicKey
	high   bool           // answers with the high s, as KMS does half of the time
	sign   []byte         // instead of a signature
	status []int          // of the next replies that fail
	kind   string         // of those failures
	calls  []string       // targets and the signed headers
}

func newStub(t testing.TB, seed byte) *stub {
	sum := sha256.Sum256([]byte{seed})
	return &stub{key: secp256k1.PrivKeyFromBytes(sum[:])}
}

func (s *stub) publicKey() []byte {
	type algorithm struct{ ID, Curve asn1.ObjectIdentifier }
	der, err := asn1.Marshal(struct {
		Algorithm algorithm
		Key       asn1.BitString
	}{
		algorithm{asn1.ObjectIdentifier{1, 2, 840, 10045, 2, 1}, asn1.ObjectIdentifier{1, 3, 132, 0, 10}},
		asn1.BitString{Bytes: s.key.PubKey().SerializeUncompressed(), BitLength: 65 * 8},
	})
	if err != nil {
		panic(err)
	}
	return der
}

func (s *stub) signature(digest []byte) []byte {
	if s.sign != nil {
		return s.sign
	}
	compact := ecdsa.SignCompact(s.key, digest, false)
	r, low := new(big.Int).SetBytes(compact[1:33]), new(big.Int).SetBytes(compact[33:])
	if s.high {
		low.Sub(secp256k1.Params().N, low)
	}
	der, err := asn1.Marshal(struct{ R, S *big.Int }{r, low})
	if err != nil {
		panic(err)
	}
	return der
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.calls = append(s.calls, r.Header.Get("X-Amz-Target")+" "+r.Header.Get("Authorization")+" "+r.Header.Get("Content-Type"))
	if len(s.status) > 0 {
		status := s.status[0]
		s.status = s.status[1:]
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"__type":%q,"message":"arn:aws:kms:eu-north-1:1:key/secret"}`, s.kind)
		return
	}
	var q struct {
		KeyId, MessageType, SigningAlgorithm string
		Message                              []byte
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &q)
	switch target := r.Header.Get("X-Amz-Target"); {
	case target == "TrentService.GetPublicKey" && q.KeyId == "key-1":
		reply := s.reply
		if reply == nil {
			reply = map[string]any{"KeySpec": "ECC_SECG_P256K1", "KeyUsage": "SIGN_VERIFY", "PublicKey": s.publicKey()}
		}
		_ = json.NewEncoder(w).Encode(reply)
	case target == "TrentService.Sign" && q.KeyId == "key-1" && q.MessageType == "DIGEST" && q.SigningAlgorithm == "ECDSA_SHA_256" && len(q.Message) == 32:
		_ = json.NewEncoder(w).Encode(map[string]any{"KeyId": "arn", "Signature": s.signature(q.Message), "SigningAlgorithm": q.SigningAlgorithm})
	default:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"__type":"com.amazonaws.kms#ValidationException"}`)
	}
}

func service(t testing.TB, s *stub) *kms.Service {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &kms.Service{
		Region: "eu-north-1", Endpoint: server.URL, HTTP: awshttp.New(time.Second), Now: time.Now,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKID", SecretAccessKey: "secret", SessionToken: "token"}, nil
		}),
	}
}

// Whichever of the two signatures KMS gives, and whichever v belongs to it, the
// signer's is the one the chain takes.
func TestSign(t *testing.T) {
	for seed := range byte(4) {
		s := newStub(t, seed)
		signer, err := service(t, s).Open(t.Context(), "key-1")
		noError(t, err)
		local, err := tx.NewLocalKey([32]byte(s.key.Serialize()))
		noError(t, err)
		equal(t, "address", signer.Address(), local.Address())
		seen := map[byte]bool{}
		for n := range 16 {
			s.high = n%2 == 1
			digest := sha256.Sum256([]byte{seed, byte(n)})
			r, low, v, err := signer.Sign(t.Context(), digest)
			noError(t, err)
			wantR, wantS, wantV, err := local.Sign(t.Context(), digest)
			noError(t, err)
			equal(t, "r", r, wantR)
			equal(t, "s", low, wantS)
			equal(t, "v", v, wantV)
			by, err := tx.Signature{R: r, S: low, V: v}.Recover(digest)
			noError(t, err)
			equal(t, "recovered", by, local.Address())
			seen[v] = true
		}
		equal(t, "both v seen", len(seen), 2)
		if call := s.calls[len(s.calls)-1]; !strings.Contains(call, "Credential=AKID/") || !strings.Contains(call, "/eu-north-1/kms/aws4_request") || !strings.HasSuffix(call, "application/x-amz-json-1.1") {
			t.Errorf("call %s", call)
		}
	}
}

// A key or a signature that is not what it should be is refused, whatever KMS
// calls it.
func TestRefuses(t *testing.T) {
	other := newStub(t, 9)
	spki := newStub(t, 0).publicKey()
	der := func(r, s *big.Int) []byte {
		raw, err := asn1.Marshal(struct{ R, S *big.Int }{r, s})
		noError(t, err)
		return raw
	}
	order := secp256k1.Params().N
	for name, c := range map[string]struct {
		change func(*stub)
		says   string
	}{
		"another curve": {func(s *stub) {
			s.reply = map[string]any{"KeySpec": "ECC_NIST_P256", "KeyUsage": "SIGN_VERIFY", "PublicKey": spki}
		}, "ECC_NIST_P256"},
		"another use":     {func(s *stub) { s.reply = map[string]any{"KeySpec": "ECC_SECG_P256K1", "KeyUsage": "ENCRYPT_DECRYPT"} }, "ENCRYPT_DECRYPT"},
		"no key":          {func(s *stub) { s.reply = map[string]any{"KeySpec": "ECC_SECG_P256K1", "KeyUsage": "SIGN_VERIFY"} }, "SubjectPublicKeyInfo"},
		"a cut key":       {func(s *stub) { s.reply = key(spki[:40]) }, "SubjectPublicKeyInfo"},
		"something after": {func(s *stub) { s.reply = key(append(spki[:len(spki):len(spki)], 0)) }, "SubjectPublicKeyInfo"},
		"no point":        {func(s *stub) { s.reply = key(append(spki[:len(spki)-1:len(spki)-1], spki[len(spki)-1]^1)) }, "no point"},
		"the curve in the key": {func(s *stub) {
			s.reply = key([]byte(strings.Replace(string(spki), "\x81\x04\x00\x0a", "\x81\x04\x00\x09", 1)))
		}, "not one of secp256k1"},
		"no signature":          {func(s *stub) { s.sign = []byte{1} }, "no pair"},
		"something behind it":   {func(s *stub) { s.sign = append(der(big.NewInt(1), big.NewInt(1)), 0) }, "no pair"},
		"r of zero":             {func(s *stub) { s.sign = der(big.NewInt(0), big.NewInt(1)) }, "outside"},
		"s of the order":        {func(s *stub) { s.sign = der(big.NewInt(1), order) }, "outside"},
		"a negative number":     {func(s *stub) { s.sign = der(big.NewInt(-1), big.NewInt(1)) }, "outside"},
		"another's signature":   {func(s *stub) { s.sign = other.signature(make([]byte, 32)) }, "another key's"},
		"of another digest":     {func(s *stub) { s.sign = s.signature(append(make([]byte, 31), 1)) }, "another key's"},
		"denied":                {func(s *stub) { s.status, s.kind = []int{400}, "AccessDeniedException" }, `status 400, "AccessDeniedException"`},
		"away for three times":  {func(s *stub) { s.status = []int{500, 503, 500, 500} }, "HTTP status 500"},
		"throttled three times": {func(s *stub) { s.status, s.kind = []int{400, 400, 400, 400}, "com.amazonaws#ThrottlingException" }, "ThrottlingException"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStub(t, 0)
			c.change(s)
			signer, err := service(t, s).Open(t.Context(), "key-1")
			if err == nil {
				_, _, _, err = signer.Sign(t.Context(), [32]byte{})
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "arn:") {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
		})
	}
}

func key(der []byte) map[string]any {
	return map[string]any{"KeySpec": "ECC_SECG_P256K1", "KeyUsage": "SIGN_VERIFY", "PublicKey": der}
}

// What may pass is tried again.
func TestTriesAgain(t *testing.T) {
	s := newStub(t, 0)
	s.status = []int{0, 500}
	signer, err := service(t, s).Open(t.Context(), "key-1")
	noError(t, err)
	s.status, s.kind = []int{400, 400}, "ThrottlingException"
	_, _, _, err = signer.Sign(t.Context(), [32]byte{})
	noError(t, err)
}

func TestUnknownKey(t *testing.T) {
	_, err := service(t, newStub(t, 0)).Open(t.Context(), "key-2")
	if err == nil || !strings.Contains(err.Error(), "ValidationException") {
		t.Errorf("error %v", err)
	}
}

// A request that ends while it waits is not tried again.
func TestEnds(t *testing.T) {
	s := newStub(t, 0)
	s.status = []int{500, 500, 500}
	ctx, cancel := context.WithTimeout(t.Context(), 80*time.Millisecond)
	defer cancel()
	_, err := service(t, s).Open(ctx, "key-1")
	if err == nil {
		t.Error("no error")
	}
	equal(t, "calls", len(s.calls), 1)
}
