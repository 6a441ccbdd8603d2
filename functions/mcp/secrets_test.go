package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/shared/edge"
)

// contributed are the bytes that both companies bring.
const contributed = "date,amount\n2025-09-01,1.00\n"

// keys are the idempotency keys a company uses.
var keys = []string{"walls-intent", "walls-action", "walls-raw", "walls-authorization"}

// live does what a company does in a day: proposals in every state that can be
// reached here, authorizations, another action and an artifact. The keys hold the
// company's name, so that one used by the other is seen to be the other's.
func (s side) live(t *testing.T, server *edge.Server) {
	t.Helper()
	act := func(holder, tool, arguments string) string {
		var answer struct {
			IsError           bool
			Content           []struct{ Text string }
			StructuredContent struct{ ID string }
		}
		result(t, server, s.tokens[holder], "tools/call", args{"name": tool, "arguments": json.RawMessage(arguments)}, &answer)
		if answer.IsError {
			t.Fatalf("%s %s is refused: %v", tool, arguments, answer.Content)
		}
		return answer.StructuredContent.ID
	}
	pays := func(amount, more string) string { return fmt.Sprintf(`{%s,"amount":%q%s}`, s.pays, amount, more) }
	key := func(i int) string { return fmt.Sprintf(`,"idempotency_key":%q`, s.tenant+"-"+keys[i]) }
	act("agent", "payment_intent.propose", pays("3.01", key(0)))
	act("agent", "payment_intent.propose", pays("6301.00", ""))
	act("agent", "payment_intent.cancel", `{"intent_id":"`+act("agent", "payment_intent.propose", pays("6302.00", ""))+`"}`)
	for i, decision := range s.decides {
		name := act("agent", "payment_intent.propose", pays(fmt.Sprintf("63%02d.00", 3+i), ""))
		act("member", "proposals.decide", fmt.Sprintf(`{"proposal_id":%q,"decision":%q}`, name, decision))
	}
	act("agent", "authorizations.create", pays("3.02", `,"purpose":"x"`+key(3)))
	for i, decision := range s.decides {
		name := act("agent", "authorizations.create", pays(fmt.Sprintf("63%02d.00", 5+i), `,"purpose":"x"`))
		act("member", "authorizations."+decision, fmt.Sprintf(`{"authorization_id":%q}`, name))
	}
	act("agent", "agent.action.propose", `{"action":{"kind":"flag_transaction","note":"walls"}`+key(1)+`}`)
	act("member", "proposals.decide", `{"proposal_id":"`+act("agent", "agent.action.propose", `{"action":{"kind":"draft_followup"}}`)+`","decision":"acknowledge"}`)
	for _, payload := range []string{contributed, s.tenant} {
		act("agent", "raw.contribute", fmt.Sprintf(`{"payload":%q,"idempotency_key":"%s-%s-%d"}`, payload, s.tenant, keys[2], len(payload)))
	}
}

// secrets are what a company holds and another must not learn of, by kind: the
// prefix of an id, or slug, name, key, cursor or proof.
type secrets map[string][]string

// forArgument is the share of it that an argument is tried with: more of what it
// is made for, one or two of everything else.
func (s secrets) forArgument(argument string) (values []string) {
	for _, kind := range slices.Sorted(maps.Keys(s)) {
		n, asked := 1, questions[:1]
		if slices.Contains(takes[argument], kind) {
			n, asked = 5, questions
		}
		for _, value := range spread(s[kind], n) {
			if argument != "question" {
				values = append(values, value)
				continue
			}
			for _, question := range asked {
				values = append(values, strings.ReplaceAll(question, "{}", value))
			}
		}
	}
	return values
}

// spread takes n of a list, from its whole length.
func spread[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	var out []T
	for i := range n {
		out = append(out, list[i*(len(list)-1)/max(n-1, 1)])
	}
	return out
}

// held is what the table holds, by company.
type held struct {
	of    map[string]map[string]bool // every id and slug, by company
	known map[string]bool            // all ids and hashes, whosever they are
}

var (
	ofTenant = regexp.MustCompile(`^tenant#([a-z0-9-]+)(#|$)`)
	anID     = regexp.MustCompile(`^(acct|agt|authz|cp|evt|exec|inv|mbr|obl|pd|pi|prop|prs|raw|tx|wpg)_[0-9A-Za-z_-]+$`)
)

// holdings reads the whole table: an id counts wherever it stands in a key, or as
// an item's own.
func holdings(t *testing.T) held {
	t.Helper()
	h := held{of: map[string]map[string]bool{}, known: map[string]bool{}}
	scan(t, func(pk, sk, body string) {
		var row struct {
			ID       string
			TenantID string `json:"tenant_id"`
		}
		_ = json.Unmarshal([]byte(body), &row) // not every item is an object
		tenant := row.TenantID
		if m := ofTenant.FindStringSubmatch(pk); m != nil {
			tenant = m[1]
		}
		if h.of[tenant] == nil {
			h.of[tenant] = map[string]bool{}
		}
		parts := strings.FieldsFunc(pk+"#"+sk+"#"+row.ID, func(r rune) bool { return strings.ContainsRune("#@=", r) })
		if strings.HasSuffix(pk, "#page") {
			parts = append(parts, "/"+strings.TrimPrefix(sk, "/"))
		}
		for _, part := range parts {
			if anID.MatchString(part) || strings.HasPrefix(part, "/") {
				h.of[tenant][part] = true
			}
		}
		for _, found := range opaque.FindAllString(pk+sk+body, -1) {
			h.known[found] = true
		}
	})
	return h
}

// secrets are what this company holds and the one that asks does not.
func (s side) secrets(t *testing.T, server *edge.Server, all held, asking string) secrets {
	t.Helper()
	found := secrets{}
	for name := range all.of[s.tenant] {
		kind, _, _ := strings.Cut(name, "_")
		if strings.HasPrefix(name, "/") {
			kind = "slug"
		}
		if !all.of[asking][name] {
			found[kind] = append(found[kind], name)
		}
	}
	books := demo.Data(s.tenant)
	for _, party := range books.Counterparties {
		found["name"] = append(append(found["name"], party.Name), party.Aliases...)
	}
	for _, invoice := range books.Invoices {
		found["name"] = append(found["name"], invoice.InvoiceNumber)
	}
	for _, key := range keys {
		found["key"] = append(found["key"], s.tenant+"-"+key)
	}
	for _, list := range []string{"ledger.transactions.list", "ledger.counterparties.list", "proposals.list"} {
		var page struct {
			StructuredContent struct {
				Cursor *string `json:"next_cursor"`
			}
		}
		result(t, server, s.tokens["agent"], "tools/call", args{"name": list, "arguments": args{"limit": 1}}, &page)
		if page.StructuredContent.Cursor == nil {
			t.Fatalf("%s has one page", list)
		}
		found["cursor"] = append(found["cursor"], *page.StructuredContent.Cursor)
	}
	if s.tenant == demo.Acme {
		found["proof"] = []string{demo.Payment}
	}
	for _, names := range found {
		slices.Sort(names)
	}
	return found
}

// world is a table that holds what the real one does of one company and its
// agents, and nothing else.
func world(t *testing.T, alone side) (name string) {
	t.Helper()
	db, name := running.Database(), running.Table+"-"+alone.tenant
	like, err := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &running.Table})
	if err != nil {
		t.Fatal(err)
	}
	create := &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest, KeySchema: like.Table.KeySchema, AttributeDefinitions: like.Table.AttributeDefinitions,
	}
	for _, index := range like.Table.GlobalSecondaryIndexes {
		create.GlobalSecondaryIndexes = append(create.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{IndexName: index.IndexName, KeySchema: index.KeySchema, Projection: index.Projection})
	}
	if _, err := db.CreateTable(t.Context(), create); err != nil {
		t.Fatal(err)
	}
	var puts []types.WriteRequest
	pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: &running.Table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			if alone.holds(textOf(item["pk"]), textOf(item["body"])) {
				puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
			}
		}
	}
	if len(puts) < 100 {
		t.Fatalf("%s has %d items", alone.tenant, len(puts))
	}
	for part := range slices.Chunk(puts, 25) {
		if _, err := db.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{name: part}}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if _, err := db.DeleteTable(context.WithoutCancel(t.Context()), &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
			t.Error(err)
		}
	})
	return name
}

// holds says whether an item is the company's, by its place or, of an agent, by
// what it says.
func (s side) holds(pk, body string) bool {
	if m := ofTenant.FindStringSubmatch(pk); m != nil {
		return m[1] == s.tenant
	}
	return strings.HasPrefix(pk, "agent#") && (pk == "agent#"+s.agent || strings.Contains(body, `"tenant_id":"`+s.tenant+`"`))
}
