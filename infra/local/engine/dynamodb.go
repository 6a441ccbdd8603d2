package engine

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/robotmoney/mcp/infra/local/template"
)

// DynamoDBConfig says how to run the table engine.
type DynamoDBConfig struct {
	Binary string // Binaries.Dynoxide
	DBPath string // the SQLite file, created if missing
	Port   int    // 0 for any free port
	Log    string // file for its output, empty for none
	// Tables to create where they are missing, by name.
	Tables map[string]template.Table
}

// Database is a DynamoDB endpoint on this machine. It takes any credentials.
type Database struct {
	Endpoint string // http://127.0.0.1:PORT
	process  *process
}

// oneThread keeps the engine from waiting for itself: it writes one transaction
// after the other whatever it is given, and a second thread of its runtime costs a
// tenth.
var oneThread = []string{"TOKIO_WORKER_THREADS=1"}

// DynamoDB starts the engine, waits until it answers and creates the tables
// with their indexes and expiry. It ends with ctx or with Close; what was
// acknowledged is kept either way. A table that is there and differs from the
// template is an error: its data was laid out for other keys.
func DynamoDB(ctx context.Context, c DynamoDBConfig) (*Database, error) {
	if err := os.MkdirAll(filepath.Dir(c.DBPath), 0o755); err != nil {
		return nil, fmt.Errorf("start dynoxide: %w", err)
	}
	var db *Database
	err := onPort(c.Port, func(port int) error {
		p, err := run("dynoxide", c.Log, oneThread, c.Binary, "serve", "--host", "127.0.0.1", "--port", strconv.Itoa(port), "--db-path", c.DBPath)
		if err != nil {
			return err
		}
		db = &Database{Endpoint: fmt.Sprintf("http://127.0.0.1:%d", port), process: p}
		return p.ready(ctx, db.answers)
	})
	if err != nil {
		return nil, err
	}
	if err := createTables(ctx, db.Endpoint, c.Tables); err != nil {
		_ = db.Close()
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = db.Close() })
	go func() { <-db.process.done; stop() }()
	return db, nil
}

// Close ends the engine and waits for its end.
func (d *Database) Close() error {
	d.process.close()
	return nil
}

// Done is closed when the engine has ended, for whatever reason.
func (d *Database) Done() <-chan struct{} { return d.process.done }

// answers asks for any reply at all.
func (d *Database) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.Endpoint, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	drain(resp.Body)
	return nil
}
