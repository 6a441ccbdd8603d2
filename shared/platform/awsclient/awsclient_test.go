package awsclient_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/platform/awsclient"
	"github.com/robotmoney/mcp/shared/platform/environment"
)

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// Each client goes to the endpoint of its service, with the function's region
// and credentials. What the services answer is no matter here.
func TestClients(t *testing.T) {
	type request struct{ authorization, token, target, path, body string }
	var last map[string]request
	service := func(name string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			h := r.Header
			last[name] = request{h.Get("Authorization"), h.Get("X-Amz-Security-Token"), h.Get("X-Amz-Target"), r.URL.Path, string(body)}
			w.WriteHeader(http.StatusBadRequest)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	variables := map[string]string{
		"AWS_LAMBDA_FUNCTION_NAME": "f", "AWS_REGION": "eu-north-1", "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token",
		"DYNAMODB_ENDPOINT": service("dynamodb"), "EVENTS_ENDPOINT": service("events"), "S3_ENDPOINT": service("s3"),
	}
	env := environment.From(func(name string) string { return variables[name] })
	account := awsclient.Read(env)
	equal(t, "missing", env.Missing(), nil)
	equal(t, "function", account.Function, "f")
	clients := account.Clients()
	for name, c := range map[string]struct {
		call func(context.Context) error
		want string
	}{
		"dynamodb": {func(ctx context.Context) error {
			_, _, err := clients.Table("the-table").Get(ctx, key.Key{PK: "a", SK: "b"})
			return err
		}, "DynamoDB_20120810.GetItem"},
		"events": {func(ctx context.Context) error {
			_, err := clients.Bus("the-bus").Publish(ctx, []audit.Entry{{ID: "1", Type: "a", At: time.Now(), Detail: []byte("{}")}})
			return err
		}, "AWSEvents.PutEvents"},
		"s3": {func(ctx context.Context) error {
			_, err := clients.Bucket("the-bucket", time.Now).Get(ctx, "x", 1)
			return err
		}, ""},
	} {
		last = map[string]request{}
		if err := c.call(t.Context()); err == nil {
			t.Errorf("%s: no error of a service that refuses", name)
		}
		got, asked := last[name]
		if !asked || len(last) != 1 {
			t.Errorf("%s: asked %v", name, last)
		}
		equal(t, name+": target", got.target, c.want)
		equal(t, name+": token", got.token, "token")
		if !strings.Contains(got.authorization, "Credential=AKID/") || !strings.Contains(got.authorization, "/eu-north-1/"+name+"/aws4_request") {
			t.Errorf("%s: authorization %s", name, got.authorization)
		}
		if !strings.Contains(got.path+got.body, map[string]string{"dynamodb": "the-table", "events": "the-bus", "s3": "the-bucket"}[name]) {
			t.Errorf("%s: asked for %s %s", name, got.path, got.body)
		}
	}
}

func TestMissing(t *testing.T) {
	env := environment.From(func(string) string { return "" })
	awsclient.Read(env)
	equal(t, "missing", env.Missing().Error(), "missing environment: AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY")
}
