// Package proxy puts a token on requests that come without one, for clients
// that cannot send any. It works on the bytes of the request's head: Host,
// Origin and the case of header names arrive as the client wrote them, because
// some clients check what a server makes of exactly these.
package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
)

// maxHead bounds a request's head. The gateway takes 10 KB.
const maxHead = 64 << 10

// Proxy listens on the loopback. Make it with Start.
type Proxy struct {
	listener net.Listener
	to       string // host and port
	token    string
	wait     sync.WaitGroup
	mu       sync.Mutex
	open     map[net.Conn]bool
	closed   bool
}

// Start listens on a free port and passes what comes to a host and port, with
// the token added where a request has no Authorization header.
func Start(ctx context.Context, to, token string) (*Proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	p := &Proxy{listener: listener, to: to, token: token, open: map[net.Conn]bool{}}
	p.wait.Go(p.accept)
	return p, nil
}

// Addr is where the proxy listens, host and port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close ends the proxy and every connection through it.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for conn := range p.open {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.wait.Wait()
}

func (p *Proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wait.Go(func() { p.pass(conn) })
	}
}

// pass carries one request and its response. The request says that the
// connection ends with it, so that every request has a head of its own to add
// to and neither bodies nor responses need to be understood.
func (p *Proxy) pass(client net.Conn) {
	defer p.drop(client)
	if !p.keep(client) {
		return
	}
	from := bufio.NewReader(client)
	head, err := readHead(from)
	if err != nil {
		return
	}
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		_, _ = io.WriteString(client, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return
	}
	defer p.drop(server)
	if !p.keep(server) {
		return
	}
	if _, err := io.WriteString(server, p.with(head)); err != nil {
		return
	}
	gone := make(chan struct{})
	p.wait.Go(func() {
		// A client that goes first takes the server's connection with it.
		defer close(gone)
		_, _ = io.Copy(server, from)
		_ = server.Close()
	})
	_, _ = io.Copy(client, server)
	// The client hangs up, having read that the connection ends here. Node fails an
	// assertion and ends its process when it is hung up on before it has read a
	// response of more than 64 kB, and the suite leaves some unread.
	<-gone
}

// readHead reads up to and with the empty line after the headers.
func readHead(from *bufio.Reader) (string, error) {
	var head strings.Builder
	for head.Len() < maxHead {
		line, err := from.ReadString('\n')
		if err != nil {
			return "", err
		}
		head.WriteString(line)
		if line == "\r\n" {
			return head.String(), nil
		}
	}
	return "", errors.New("the request's head is too long")
}

// with adds our headers to a head, and drops what the client says of the
// connection.
func (p *Proxy) with(head string) string {
	var out strings.Builder
	authorized := false
	for line := range strings.Lines(strings.TrimSuffix(head, "\r\n")) {
		name, _, _ := strings.Cut(line, ":")
		if strings.EqualFold(name, "Connection") {
			continue
		}
		authorized = authorized || strings.EqualFold(name, "Authorization")
		out.WriteString(line)
	}
	out.WriteString("Connection: close\r\n")
	if !authorized {
		out.WriteString("Authorization: Bearer " + p.token + "\r\n")
	}
	out.WriteString("\r\n")
	return out.String()
}

// keep remembers a connection for Close; false when it is too late.
func (p *Proxy) keep(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[conn] = true
	return !p.closed
}

func (p *Proxy) drop(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, conn)
	_ = conn.Close()
}
