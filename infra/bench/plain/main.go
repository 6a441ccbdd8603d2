// Command plain is our surface as the throughput benchmark's peer is made: an
// HTTP server in one process that answers the read out of the table, with no
// token, no audit event, no rate, and no Lambda around it.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/bench/dispatch"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/table"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/mcp"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

func main() {
	tenant, err := identity.OperatorTenant(os.Getenv("BENCH_TENANT"))
	if err != nil {
		log.Fatal(err)
	}
	surface, err := surface()
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	who := identity.Principal{Kind: identity.Agent, ID: "agt_bench", Tenant: tenant, Scopes: identity.Scopes{identity.LedgerRead}}
	server := &http.Server{Handler: handler(surface, who), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.Serve(listener))
}

// surface is the dispatcher over the one template.
func surface() (*mcp.Dispatcher, error) {
	endpoint := os.Getenv("DYNAMODB_ENDPOINT")
	rows := &ledger.Reader{Now: time.Now, Store: &table.Table{Name: os.Getenv("TABLE_NAME"), API: dynamodb.NewFromConfig(stackfile.AWS(), func(o *dynamodb.Options) {
		o.HTTPClient, o.BaseEndpoint = awshttp.New(time.Minute), &endpoint
	})}}
	var offered catalog.Catalog
	err := offered.Mount(catalog.Provider{Name: "bench", Templates: []catalog.Template{{
		URITemplate: "brain://ledger/transactions/{transaction_id}", Name: "Transaction", MIMEType: "application/json", Scopes: []identity.Scope{identity.LedgerRead},
		Read: func(ctx context.Context, call catalog.Call, vars catalog.Vars) (catalog.Contents, error) {
			row, err := rows.Row(ctx, call.Principal.Tenant, id.Transaction, vars["transaction_id"])
			return catalog.Raw(row), err
		},
	}}})
	if err != nil {
		return nil, err
	}
	return mcp.New(&offered, dispatch.NoTrail{}, slog.New(slog.DiscardHandler))
}

func handler(surface *mcp.Dispatcher, who identity.Principal) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		reply := surface.Serve(r.Context(), mcp.Request{
			Envelope: rpc.Parse(body), Principal: who, RequestID: "bench",
			Version: r.Header.Get("MCP-Protocol-Version"), Method: r.Header.Get("Mcp-Method"), Name: r.Header.Get("Mcp-Name"),
		})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.Status)
		_, _ = w.Write(reply.Body)
	}
}
