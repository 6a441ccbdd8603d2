package rpc_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

// declared finds every constant of type fault.Code in the sources below a
// directory.
func declared(t *testing.T, root string) map[fault.Code]string {
	t.Helper()
	codes := map[fault.Code]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && isCode(spec.Type, file.Name.Name) {
				for i, name := range spec.Names {
					codes[fault.Code(literal(t, spec.Values[i]))] = path + ": " + name.Name
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return codes
}

func isCode(kind ast.Expr, in string) bool {
	switch kind := kind.(type) {
	case *ast.Ident:
		return in == "fault" && kind.Name == "Code"
	case *ast.SelectorExpr:
		from, ok := kind.X.(*ast.Ident)
		return ok && from.Name == "fault" && kind.Sel.Name == "Code"
	}
	return false
}

func literal(t *testing.T, value ast.Expr) string {
	t.Helper()
	lit, ok := value.(*ast.BasicLit)
	if !ok {
		t.Fatalf("a code that is no literal: %v", value)
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type face struct{ legacyStatus, modernStatus, legacy, modern int }

func faceOf(code fault.Code) face {
	var f face
	f.legacyStatus, f.legacy = rpc.FaceOf(code, rpc.Legacy)
	f.modernStatus, f.modern = rpc.FaceOf(code, rpc.Modern)
	return f
}

// internal is how a code shows that has no face of its own.
var internal = face{200, 200, -32603, -32603}

// internals are the codes that show so on purpose.
var internals = map[fault.Code]bool{fault.Internal: true, fault.Conflict: true}

func TestEveryCodeHasAFace(t *testing.T) {
	codes := declared(t, "../../domain")
	for code, where := range declared(t, ".") {
		codes[code] = where
	}
	if len(codes) < 30 {
		t.Fatalf("only %d codes found in the sources", len(codes))
	}
	for code, where := range codes {
		got := faceOf(code)
		if got == internal && !internals[code] {
			t.Errorf("%s (%s) has no face: it would show as an internal error", code, where)
		}
		if protocol(got.legacy) && got.modern != got.legacy {
			t.Errorf("%s: a number of the protocol that differs between the eras: %+v", code, got)
		}
		if !protocol(got.legacy) && (got.modern != got.legacy+1000 || (got.modern >= -32768 && got.modern <= -32000)) {
			t.Errorf("%s: a number of ours inside the range of the protocol in the modern era: %+v", code, got)
		}
	}
	if got := faceOf("no_such_code"); got != internal {
		t.Errorf("an unknown code shows as %+v", got)
	}
}

// protocol says whether a number is one that JSON-RPC or MCP defines.
func protocol(number int) bool {
	switch number {
	case -32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022:
		return true
	}
	return false
}

func TestFaces(t *testing.T) {
	for _, c := range []struct {
		codes []fault.Code
		want  face
	}{
		{[]fault.Code{rpc.ParseError}, face{400, 400, -32700, -32700}},
		{[]fault.Code{rpc.InvalidRequest, fault.AuthTooMany}, face{400, 400, -32600, -32600}},
		{[]fault.Code{rpc.MethodNotFound}, face{200, 404, -32601, -32601}},
		{[]fault.Code{rpc.InvalidParams, rpc.ToolNotFound, rpc.PromptNotFound, rpc.CursorInvalid, fault.ResourceNotFound,
			fault.InvalidArgument, fault.LedgerRowNotFound, fault.IntentNotFound, fault.WikiPageNotFound, fault.ProofNotFound},
			face{200, 400, -32602, -32602}},
		{[]fault.Code{rpc.HeaderMismatch}, face{400, 400, -32020, -32020}},
		{[]fault.Code{rpc.CapabilityMissing}, face{200, 400, -32021, -32021}},
		{[]fault.Code{rpc.VersionUnsupported}, face{400, 400, -32022, -32022}},
		{[]fault.Code{rpc.MethodNotAllowed}, face{405, 405, -32600, -32600}},
		{[]fault.Code{rpc.OriginNotAllowed}, face{403, 403, -32600, -32600}},
		{[]fault.Code{rpc.UnsupportedMedia}, face{415, 415, -32600, -32600}},
		{[]fault.Code{rpc.NotAcceptable}, face{406, 406, -32600, -32600}},
		{[]fault.Code{rpc.BodyTooLarge}, face{413, 413, -32600, -32600}},
		{[]fault.Code{fault.AuthTokenMissing, fault.AuthTokenInvalid, fault.AuthTokenExpired}, face{401, 401, -32001, -31001}},
		{[]fault.Code{fault.AuthScopeInsufficient, fault.AuthTenantMismatch, fault.ActorUnresolved}, face{403, 403, -32002, -31002}},
		{[]fault.Code{fault.AgentNotRegistered, fault.AgentNotOnchain}, face{403, 403, -32003, -31003}},
		{[]fault.Code{fault.AgentScopeHash}, face{403, 403, -32005, -31005}},
		{[]fault.Code{fault.RateLimited}, face{429, 429, -32029, -31029}},
		{[]fault.Code{fault.OnchainUnavailable, fault.DependencyUnavailable}, face{503, 503, -32603, -32603}},
		{[]fault.Code{fault.Internal, fault.Conflict}, internal},
	} {
		for _, code := range c.codes {
			if got := faceOf(code); got != c.want {
				t.Errorf("%s shows as %+v, want %+v", code, got, c.want)
			}
		}
	}
}
