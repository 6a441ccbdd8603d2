package chain_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/platform/chain"
)

func TestIdleConnectionIsDroppedAfterSilence(t *testing.T) {
	for _, test := range []struct {
		name   string
		pauses []time.Duration
		want   int
	}{
		{"busy", []time.Duration{0, 19 * time.Second, 20 * time.Second}, 1},
		{"frozen", []time.Duration{21 * time.Second}, 2},
		{"frozen twice", []time.Duration{21 * time.Second, time.Second, time.Hour}, 3},
		{"the clock went back", []time.Duration{-time.Second}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t, honest)
			c, clock := newClientAndClock(t, n)
			ok(t, c.Read(t.Context(), take, "eth_blockNumber"))
			for _, pause := range test.pauses {
				clock.add(pause)
				ok(t, c.Read(t.Context(), take, "eth_blockNumber"))
			}
			equal(t, n.connections(), test.want, "connections")
		})
	}
}

// A connection that the peer closed while nobody looked is noticed by the first
// request on it, which must go out again on a new one and not be lost.
func TestRequestOnDeadConnectionIsSentAgain(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	defer listener.Close()
	var connections, headers atomic.Int64
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serveOnce(conn, connections.Add(1), &headers)
		}
	}()
	c, err := chain.New(chain.Config{
		Endpoints: []string{"http://" + listener.Addr().String()}, ChainID: 31337, Timeout: patient, Now: newClock().Now,
	})
	ok(t, err)
	ok(t, c.Read(t.Context(), take, "eth_blockNumber"))
	equal(t, connections.Load(), 2, "connections")
	equal(t, headers.Load(), 0, "idempotency headers sent")
}

// serveOnce answers one request of the first connection, reads the next and
// hangs up; later connections answer everything. Replies count the requests as
// the client does: the id of the repeated one is the same.
func serveOnce(conn net.Conn, number int64, headers *atomic.Int64) {
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for i := 0; ; i++ {
		r, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		if _, sent := r.Header["X-Idempotency-Key"]; sent {
			headers.Add(1)
		}
		body := make([]byte, r.ContentLength)
		if _, err := r.Body.Read(body); err != nil && len(body) == 0 {
			return
		}
		if number == 1 && i == 1 {
			return
		}
		reply := `{"jsonrpc":"2.0","id":1,"result":"0x7a69"}`
		if number > 1 {
			reply = `{"jsonrpc":"2.0","id":2,"result":"0x1"}`
		}
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(reply), reply)
	}
}
