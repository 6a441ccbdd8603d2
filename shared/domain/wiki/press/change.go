package press

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/lazy"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/wiki/render"
)

// Change is what happened to a tenant's data, as far as pages are concerned: which
// of them it touches, and the rows it is about.
type Change struct {
	press  *Press
	tenant identity.Tenant
	store  *fresh
	slugs  []string
}

// Touched begins a change that touches nothing yet.
func (p *Press) Touched(t identity.Tenant) *Change {
	return &Change{press: p, tenant: t, store: &fresh{Store: p.Store, rows: map[key.Key]record.Item{}}}
}

// Apart begins a change of the same tenant that touches nothing yet. The rows it
// reads are known to both.
func (c *Change) Apart() *Change { return &Change{press: c.press, tenant: c.tenant, store: c.store} }

// Slugs are the pages the change touches, each once.
func (c *Change) Slugs() []string { return c.slugs }

func (c *Change) touch(slug string) {
	if !slices.Contains(c.slugs, slug) {
		c.slugs = append(c.slugs, slug)
	}
}

// rowKinds are the kinds of rows an event of the ledger names.
var rowKinds = []id.Prefix{id.Account, id.Transaction, id.Counterparty, id.Obligation, id.Invoice}

// Rows adds rows of the ledger that were written, by their ids. The rows are read
// as they are now: what they say, and not the event that named them, says which
// pages tell of them.
func (c *Change) Rows(ctx context.Context, ids []string) error {
	var keys []key.Key
	for _, name := range ids {
		for _, kind := range rowKinds {
			if id.Check(kind, name) == nil {
				keys = append(keys, key.Ledger(c.tenant, kind, name))
			}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	found, err := c.press.Store.GetMany(ctx, keys)
	if err != nil {
		return fmt.Errorf("read the rows of a change: %w", err)
	}
	for _, k := range keys {
		item, there := found[k]
		if !there {
			continue
		}
		c.store.rows[k] = item
		if err := c.row(ctx, item); err != nil {
			return err
		}
	}
	return nil
}

// row touches the pages that tell of a row.
func (c *Change) row(ctx context.Context, item record.Item) error {
	var row struct {
		ID              string  `json:"id"`
		AccountID       string  `json:"account_id"`
		CounterpartyID  *string `json:"counterparty_id"`
		TransactionDate string  `json:"transaction_date"`
	}
	if err := json.Unmarshal(item.Body, &row); err != nil {
		return fmt.Errorf("decode row %s: %w", item.Key.PK, err)
	}
	c.About(row.ID)
	if row.CounterpartyID != nil {
		c.About(*row.CounterpartyID)
	}
	if row.AccountID != "" {
		c.About(row.AccountID)
	}
	if len(row.TransactionDate) >= len("2006-01") {
		c.About(row.TransactionDate[:len("2006-01")])
	}
	if id.Check(id.Counterparty, row.ID) == nil {
		return c.named(ctx, row.ID)
	}
	return nil
}

// named touches the summaries that call a counterparty by its name: those of the
// months it has rollups in. Other pages know it by its id.
func (c *Change) named(ctx context.Context, counterparty string) error {
	for q := (record.Query{PK: key.RollupsOf(c.tenant, counterparty)}); ; {
		page, err := c.press.Store.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("read the months of %s: %w", counterparty, err)
		}
		for _, item := range page.Items {
			month, _, _ := strings.Cut(item.Key.SK, "#")
			c.touch("/monthly-summaries/" + month)
		}
		if page.Next == nil {
			return nil
		}
		q.After = page.Next
	}
}

// folders are where the pages of things lie, by the prefixes of their ids.
var folders = map[id.Prefix]string{
	id.Account: "/accounts/", id.Counterparty: "/counterparties/", id.Obligation: "/obligations/", id.Invoice: "/invoices/", id.Agent: "/agents/",
}

var monthForm = lazy.Pattern(`^[0-9]{4}-(0[1-9]|1[0-2])$`)

// About adds things by their ids, and months as YYYY-MM; what has no page is left
// out.
func (c *Change) About(names ...string) {
	for _, name := range names {
		for kind, folder := range folders {
			if id.Check(kind, name) == nil {
				c.touch(folder + name)
			}
		}
		if !monthForm().MatchString(name) {
			continue
		}
		c.touch("/monthly-summaries/" + name)
		c.touch("/cash-flow/" + name)
		if _, quarter, err := render.Months(name); err == nil {
			c.touch("/cash-flow/" + quarter)
		}
	}
}

// Policy adds a version of the tenant's policy that came into force.
func (c *Change) Policy(version int64) {
	c.touch("/policies/active")
	c.touch("/policies/" + strconv.FormatInt(version, 10))
}

// facts reads what the page of a slug is made of, nil when there is nothing. known
// says that there is a page: it then tells that there is nothing any more.
func (c *Change) facts(ctx context.Context, slug string, known bool) (render.Facts, error) {
	folder, name, _ := strings.Cut(strings.TrimPrefix(slug, "/"), "/")
	read, is := readers[folder]
	if !is || !read.form().MatchString(name) {
		return nil, nil
	}
	return read.read(c.reader(), ctx, name, known)
}

// readers read the facts of each kind of page.
var readers = map[string]struct {
	form func() *regexp.Regexp // of the name behind the folder
	read func(r reader, ctx context.Context, name string, known bool) (render.Facts, error)
}{
	"accounts":          {lazy.Pattern(`^acct_[A-Za-z0-9_-]{1,64}$`), reader.account},
	"counterparties":    {lazy.Pattern(`^cp_[A-Za-z0-9_-]{1,64}$`), reader.counterparty},
	"obligations":       {lazy.Pattern(`^obl_[A-Za-z0-9_-]{1,64}$`), reader.obligation},
	"invoices":          {lazy.Pattern(`^inv_[A-Za-z0-9_-]{1,64}$`), reader.invoice},
	"agents":            {lazy.Pattern(`^agt_[A-Za-z0-9_-]{1,64}$`), reader.agent},
	"policies":          {lazy.Pattern(`^(active|[1-9][0-9]{0,17})$`), reader.policy},
	"monthly-summaries": {monthForm, reader.month},
	"cash-flow":         {lazy.Pattern(`^[0-9]{4}-(0[1-9]|1[0-2]|Q[1-4])$`), reader.cashFlow},
}
