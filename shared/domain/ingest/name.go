package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/statement"
)

// derive is the id of a row that a file brings: the same facts have the same id
// whenever and however often they come, which is what makes an import safe to
// repeat. Changing it makes everything that was imported before new again.
func derive(prefix id.Prefix, t identity.Tenant, parts ...string) string {
	h := sha256.New()
	for _, part := range append([]string{t.String()}, parts...) {
		// The length keeps "ab","c" and "a","bc" apart.
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return string(prefix) + "_" + hex.EncodeToString(h.Sum(nil)[:16])
}

// counterpartyID is the id of a counterparty that only a name is known of.
func counterpartyID(t identity.Tenant, name string) string {
	return derive(id.Counterparty, t, ledger.Fold(name))
}

// accountID is the id of an account under the number its bank gives it. A number
// may stand for accounts in several currencies.
func accountID(t identity.Tenant, k accountKey) string {
	return derive(id.Account, t, k.external, k.currency)
}

// transactionID is the id of an entry of an account. Where the bank names its
// entries, its reference, the amount and the day make it: texts change from one
// export to the next. Where it does not, all that the entry says makes it. In
// either case equal ones of a file are told apart by their place among each other,
// since banks give one reference to two entries, and two entries no reference. The
// day, which is a part of either, stands in front: what is written in the order of
// a file then lies beside each other in an engine that orders its keys, which is
// several times faster there.
func transactionID(t identity.Tenant, ranks *statement.Ranks, account string, e *statement.Entry) string {
	said := *e
	if e.Refs.Bank != "" {
		said.Refs, said.Batch = statement.References{Bank: e.Refs.Bank}, statement.Batch{}
		said.Party, said.Memo = statement.Party{}, ""
	}
	day := strings.ReplaceAll(string(e.Day()), "-", "")
	return string(id.Transaction) + "_" + day + "-" + ranks.Identity(statement.Account{Bank: t.String(), ID: account}, &said)
}
