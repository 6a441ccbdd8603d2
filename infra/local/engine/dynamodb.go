package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
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
	binary   []string
	log      string
	mu       sync.Mutex // of process
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
		db = &Database{
			Endpoint: fmt.Sprintf("http://127.0.0.1:%d", port), log: c.Log,
			binary: []string{c.Binary, "serve", "--host", "127.0.0.1", "--port", strconv.Itoa(port), "--db-path", c.DBPath},
		}
		return db.start(ctx)
	})
	if err != nil {
		return nil, err
	}
	if err := createTables(ctx, db.Endpoint, c.Tables); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// start runs the engine until ctx ends or it is closed, and waits until it
// answers.
func (d *Database) start(ctx context.Context) error {
	p, err := run("dynoxide", d.log, oneThread, d.binary[0], d.binary[1:]...)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.process = p
	d.mu.Unlock()
	if err := p.ready(ctx, d.answers); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, p.close)
	go func() { <-p.done; stop() }()
	return nil
}

// Kill ends the engine as a crash does, without a word to it. Restart brings it
// up again.
func (d *Database) Kill() { d.current().kill() }

// Restart starts an engine that was killed, at the address and on the file it
// had. It ends with ctx or with Close, as from DynamoDB.
func (d *Database) Restart(ctx context.Context) error {
	select {
	case <-d.Done():
		return d.start(ctx)
	default:
		return errors.New("restart dynoxide: it still runs; kill it first")
	}
}

// Close ends the engine and waits for its end.
func (d *Database) Close() error {
	d.current().close()
	return nil
}

// Done is closed when the engine has ended, for whatever reason.
func (d *Database) Done() <-chan struct{} { return d.current().done }

func (d *Database) current() *process {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.process
}

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
