package raw

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// The pieces of what the parsers make of an artifact that have names; the others
// have numbers from 1 and hold what was read, in its order.
const (
	Report   = "report"   // of the whole artifact, once it is parsed or has failed
	Progress = "progress" // how far its rows are, while they are written
)

// EvidenceID names a piece of what the parsers made of an artifact: prs_, the
// artifact's own name and the piece's. Who has the id of a piece knows the
// artifact, and the same bytes read again have the same ids.
func EvidenceID(artifact, piece string) string {
	return string(id.ParsedEvidence) + "_" + strings.TrimPrefix(artifact, string(id.RawArtifact)+"_") + "-" + piece
}

// parsedKey is where a piece lies: as any evidence, so that a payment may rest on
// it.
func parsedKey(t identity.Tenant, artifact, piece string) key.Key {
	return key.Ledger(t, id.ParsedEvidence, EvidenceID(artifact, piece))
}

// Parsed returns a piece of what the parsers made of an artifact, as JSON, nil
// where there is none.
func (a *Archive) Parsed(ctx context.Context, t identity.Tenant, artifact, piece string) (json.RawMessage, error) {
	item, found, err := a.Store.Get(ctx, parsedKey(t, artifact, piece))
	if err != nil || !found {
		return nil, err
	}
	return item.Body, nil
}

// KeepParsed stores a piece. It says the same each time the same artifact is
// read, so it is stored whatever is there, and before anything rests on it.
func (a *Archive) KeepParsed(ctx context.Context, t identity.Tenant, artifact, piece string, content any) error {
	return a.KeepAll(ctx, t, artifact, []Piece{{piece, content}})
}

// Piece is one of several that are kept together.
type Piece struct {
	Name    string
	Content any
}

// maxTogether is how many bytes of pieces one transaction holds; 4 MB are the most.
const maxTogether = 2 << 20

// KeepAll stores pieces, as many as fit in one transaction of the table at a time.
func (a *Archive) KeepAll(ctx context.Context, t identity.Tenant, artifact string, pieces []Piece) error {
	var change record.Change
	size := 0
	for _, piece := range pieces {
		body, err := json.Marshal(piece.Content)
		if err != nil {
			return fmt.Errorf("encode piece %s of %s: %w", piece.Name, artifact, err)
		}
		if change.Len() == record.MaxOperations || change.Len() > 0 && size+len(body) > maxTogether {
			if err := a.Store.Commit(ctx, change); err != nil {
				return err
			}
			change, size = record.Change{}, 0
		}
		change.Puts = append(change.Puts, record.Put{Item: record.Item{Key: parsedKey(t, artifact, piece.Name), Body: body}, Blind: true})
		size += len(body)
	}
	return a.Store.Commit(ctx, change)
}
