package verify_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/robotmoney/mcp/infra/verify/verify"
	"github.com/robotmoney/mcp/shared/domain/proof/claim"
)

// failed are the names of the checks that do not hold.
func failed(t testing.TB, raw []byte) string {
	t.Helper()
	report := verify.Proof(t.Context(), raw, verify.Options{})
	var names []string
	for _, c := range report.Failed() {
		names = append(names, c.Name)
	}
	if report.Holds() != (names == nil) {
		t.Error("a report holds with checks that failed, or the other way")
	}
	return strings.Join(names, ",")
}

func TestSound(t *testing.T) {
	raw := sound(t)
	equal(t, "failed", failed(t, raw), "")
	var indented bytes.Buffer
	noError(t, json.Indent(&indented, raw, " ", "\t"))
	equal(t, "failed when it is written wide", failed(t, indented.Bytes()), "")
	again, err := json.Marshal(parsed(t, raw)) // by another writer of JSON: other escapes, other order
	noError(t, err)
	equal(t, "failed when it is written anew", failed(t, again), "")
	escaped := strings.ReplaceAll(string(raw), "😂", `\ud83d\ude02`)
	equal(t, "failed with escapes", failed(t, []byte(escaped)), "")

	var out bytes.Buffer
	verify.Proof(t.Context(), raw, verify.Options{}).Print(&out)
	if !strings.HasSuffix(out.String(), "The proof holds: pi_1 is executed.\n") {
		t.Errorf("printed %s", &out)
	}
}

// Whatever byte is changed, the proof is refused: unless what it says is still
// the same, as with a decimal that means the same double. The bits take turns.
func TestEveryByte(t *testing.T) {
	raw := sound(t)
	each(t, raw, 1, func(i int) []byte {
		bad := bytes.Clone(raw)
		bad[i] ^= 1 << (i % 8)
		return bad
	})
}

// A byte that is left out, or there twice: every seventeenth.
func TestEveryByteGoneOrTwice(t *testing.T) {
	raw := sound(t)
	each(t, raw, 17, func(i int) []byte { return append(bytes.Clone(raw[:i]), raw[i+1:]...) })
	each(t, raw, 17, func(i int) []byte { return append(append(bytes.Clone(raw[:i]), raw[i]), raw[i:]...) })
}

// each reports the changes of a proof, by the byte they are made at, that hold
// although they say something else.
func each(t *testing.T, raw []byte, step int, change func(i int) []byte) {
	t.Helper()
	want, err := claim.Parse(raw)
	noError(t, err)
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		group.Go(func() {
			for i := worker * step; i < len(raw); i += workers * step {
				bad := change(i)
				if !verify.Proof(t.Context(), bad, verify.Options{}).Holds() {
					continue
				}
				if v, err := claim.Parse(bad); err != nil || !claim.Same(v, want) {
					t.Errorf("changed at byte %d it holds: ...%s...", i, bad[max(0, i-30):min(len(bad), i+30)])
				}
			}
		})
	}
	group.Wait()
}

// Who changes a field and makes the proof's own hash anew is found by the field.
func TestFields(t *testing.T) {
	event := func(p object, i int) object { return p["audit_events"].([]any)[i].(object) }
	for name, c := range map[string]struct {
		change func(p object)
		fails  string
	}{
		"outcome":          {func(p object) { p["outcome"] = "failed" }, "outcome"},
		"agent":            {func(p object) { p["agent_id"] = "agt_2" }, "agent_id"},
		"tenant":           {func(p object) { p["tenant_id"] = "globex" }, "tenant_id"},
		"action":           {func(p object) { p["action_id"] = "pi_2" }, "events"},
		"no action":        {func(p object) { p["action_id"] = nil }, "events"},
		"authorization":    {func(p object) { p["action_id"] = "authz_1" }, "events"},
		"policy's hash":    {func(p object) { p["policy"].(object)["hash"] = "x" }, "policy"},
		"policy's version": {func(p object) { p["policy"].(object)["version"] = 4 }, "policy"},
		"policy":           {func(p object) { p["policy"] = nil }, "policy"},
		"a rule":           {func(p object) { p["policy"].(object)["matched_rules"] = []any{} }, "policy"},
		"a signer":         {func(p object) { p["policy"].(object)["signers"] = []any{"0x1"} }, "policy"},
		"a gate check":     {func(p object) { p["gate_checks"].([]any)[3].(object)["passed"] = false }, "gate_checks"},
		"one check fewer":  {func(p object) { p["gate_checks"] = p["gate_checks"].([]any)[1:] }, "gate_checks"},
		"an approval":      {func(p object) { p["approvals"] = []any{} }, "approvals"},
		"evidence":         {func(p object) { p["evidence"].([]any)[0].(object)["ref"] = "obl_2" }, "evidence"},
		"snapshot":         {func(p object) { p["ledger_snapshot_hash"] = nil }, "ledger_snapshot_hash"},
		"receipt":          {func(p object) { p["rail_receipt"] = nil }, "rail_receipt"},
		"explanation":      {func(p object) { p["explanation"] = "All is well." }, "explanation"},
		"a member more":    {func(p object) { p["extra"] = 1 }, "form"},
		"a member less":    {func(p object) { delete(p, "policy") }, "form"},
		"a hash":           {func(p object) { event(p, 0)["hash"] = strings.Repeat("0", 64) }, "hashes"},
		"a number":         {func(p object) { event(p, 0)["seq"] = 5 }, "hashes"},
		"a prev_hash":      {func(p object) { event(p, 1)["prev_hash"] = strings.Repeat("0", 64) }, "hashes"},
		"a leaf":           {func(p object) { event(p, 1)["leaf"] = "0x" + strings.Repeat("0", 64) }, "hashes"},
		"a path":           {func(p object) { event(p, 1)["merkle_path"] = []any{} }, "paths"},
		"a path's node":    {func(p object) { event(p, 1)["merkle_path"].([]any)[0] = "0x" + strings.Repeat("0", 64) }, "paths"},
		"no anchor":        {func(p object) { event(p, 1)["anchor"] = nil }, "paths"},
		"a root":           {func(p object) { event(p, 1)["anchor"].(object)["root"] = "0x" + strings.Repeat("0", 64) }, "paths"},
		"a status":         {func(p object) { event(p, 1)["anchor"].(object)["status"] = "FINAL" }, "form"},
		"a path of none":   {func(p object) { event(p, 4)["merkle_path"] = event(p, 1)["merkle_path"] }, "paths"},
		"order": {func(p object) {
			list := p["audit_events"].([]any)
			list[0], list[1] = list[1], list[0]
		}, "chain of hashes"},
		"an event twice": {func(p object) { p["audit_events"] = append(p["audit_events"].([]any), event(p, 4)) }, "chain of hashes"},
		"no event":       {func(p object) { p["audit_events"] = []any{} }, "form"},
		"another's event": {func(p object) {
			event(p, 1)["preimage"] = strings.ReplaceAll(event(p, 1)["preimage"].(string), `"tenant_id":"acme"`, `"tenant_id":"globex"`)
		}, "events"},
		"an edited event": {func(p object) {
			event(p, 4)["preimage"] = strings.ReplaceAll(event(p, 4)["preimage"].(string), `"fee":"0.00"`, `"fee":"9.00"`)
		}, "hashes,rail_receipt"},
		"a preimage that is not canonical": {func(p object) { event(p, 4)["preimage"] = event(p, 4)["preimage"].(string) + " " }, "events"},
	} {
		t.Run(name, func(t *testing.T) {
			p := parsed(t, sound(t))
			c.change(p)
			equal(t, "failed", failed(t, signed(t, p)), c.fails)
			if name != "order" && name != "an event twice" { // nothing but the proof's hash tells them otherwise
				p["proof_hash"] = strings.Repeat("0", 64)
				if got := failed(t, signed(t, p)); !strings.Contains(got, c.fails) {
					t.Errorf("failed %s", got)
				}
			}
		})
	}
}

// signed is a proof with the proof_hash that belongs to it: who changes the rest
// can make that too.
func signed(t testing.TB, p object) []byte {
	t.Helper()
	raw, err := json.Marshal(p)
	noError(t, err)
	v, err := claim.ParseObject(raw)
	noError(t, err)
	p["proof_hash"], err = claim.Sum(v)
	noError(t, err)
	raw, err = json.Marshal(p)
	noError(t, err)
	return raw
}

// What only the chain can tell of an anchor is kept from damage by the proof's own
// hash.
func TestAnchorIsNotDamaged(t *testing.T) {
	for name, v := range map[string]any{"tx_hash": "0x" + strings.Repeat("0", 64), "block_number": 43, "chain_id": 1, "contract": "0x5fbdb2315678afecb367f032d93f642f64180aa3", "status": "pending"} {
		p := parsed(t, sound(t))
		p["audit_events"].([]any)[0].(object)["anchor"].(object)[name] = v
		raw, err := json.Marshal(p)
		noError(t, err)
		equal(t, name, failed(t, raw), "proof_hash")
	}
}

func TestContract(t *testing.T) {
	for address, holds := range map[string]bool{"0x5fbdb2315678afecb367f032d93f642f64180aa3": true, "0x5FbDB2315678afecb367f032d93F642f64180aa4": false} {
		equal(t, address, verify.Proof(t.Context(), sound(t), verify.Options{Contract: address}).Holds(), holds)
	}
}

func TestNotAProof(t *testing.T) {
	for _, raw := range []string{"", "null", "[]", "{}", `{"action_id":"pi_1"}`, "\xff", strings.Repeat("[", 100_000), `{"a":1,"a":2}`} {
		equal(t, raw, failed(t, []byte(raw)), "form")
	}
	raw := string(sound(t))
	equal(t, "a name twice", failed(t, []byte(strings.Replace(raw, `"outcome":`, `"outcome":"executed","outcome":`, 1))), "form")
	equal(t, "a name in capitals", failed(t, []byte(strings.Replace(raw, `"outcome":`, `"Outcome":`, 1))), "form")
}

// The verifier links nothing that an auditor would have to trust us for.
func TestLinks(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "..").Output()
	noError(t, err)
	equal(t, "linked", strings.Join(strings.Fields(string(out)), " "), strings.Join([]string{
		"github.com/robotmoney/mcp/shared/domain/proof/claim", "golang.org/x/sys/cpu", "golang.org/x/crypto/sha3",
		"github.com/robotmoney/mcp/infra/verify/verify", "github.com/robotmoney/mcp/infra/verify",
	}, " "))
}

func FuzzProof(f *testing.F) {
	raw := sound(f)
	f.Add(raw)
	f.Add([]byte(`{}`))
	form, err := claim.ParseObject(raw)
	noError(f, err)
	want, err := claim.Canonical(form)
	noError(f, err)
	f.Fuzz(func(t *testing.T, other []byte) {
		if !verify.Proof(t.Context(), other, verify.Options{}).Holds() {
			return
		}
		v, err := claim.Parse(other)
		noError(t, err)
		got, err := claim.Canonical(v)
		noError(t, err)
		if p, err := claim.ParseObject(other); err == nil && p["tenant_id"] == form["tenant_id"] && len(p["audit_events"].([]any)) == 5 && !bytes.Equal(got, want) {
			if sum, err := claim.Sum(p); err != nil || sum != p["proof_hash"] {
				t.Errorf("a proof with another hash holds")
			}
		}
	})
}
