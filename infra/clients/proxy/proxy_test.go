package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/clients/proxy"
)

// server answers every request with the bytes of its head and its body.
func server(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go echo(conn)
		}
	}()
	return listener.Addr().String()
}

func echo(conn net.Conn) {
	defer conn.Close()
	from := bufio.NewReader(conn)
	var head strings.Builder
	var length int64
	for {
		line, err := from.ReadString('\n')
		if err != nil || line == "\r\n" {
			break
		}
		head.WriteString(line)
		_, _ = fmt.Sscanf(line, "content-LENGTH: %d", &length)
	}
	body, _ := io.ReadAll(io.LimitReader(from, length))
	answer := head.String() + "|" + string(body)
	fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)
}

func exchange(t *testing.T, addr, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestProxy(t *testing.T) {
	p, err := proxy.Start(t.Context(), server(t), "secret")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	for _, c := range []struct{ name, request, want string }{
		{
			"host, origin and case are left alone",
			"POST /x HTTP/1.1\r\nhOST: evil.example\r\norigin: http://evil.example\r\nMCP-method:  a \r\ncontent-LENGTH: 4\r\nConnection: keep-alive\r\n\r\nbody",
			"POST /x HTTP/1.1\r\nhOST: evil.example\r\norigin: http://evil.example\r\nMCP-method:  a \r\ncontent-LENGTH: 4\r\nConnection: close\r\nAuthorization: Bearer secret\r\n|body",
		},
		{
			"a token of the client's own stays",
			"GET / HTTP/1.1\r\nHost: h\r\nauthorization: Bearer own\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: h\r\nauthorization: Bearer own\r\nConnection: close\r\n|",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := exchange(t, p.Addr(), c.request); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// A client that does not read all of a response is not hung up on: it hangs up
// itself, when it likes.
func TestProxyWaitsForTheClient(t *testing.T) {
	p, err := proxy.Start(t.Context(), server(t), "secret")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Errorf("the connection has ended after the response: %v", err)
	case <-time.After(100 * time.Millisecond): // long enough for what would happen at once
	}
	p.Close() // ends what is open
	if err := <-ended; err == nil {
		t.Error("the connection is open after Close")
	}
}

func TestProxyWithoutServer(t *testing.T) {
	p, err := proxy.Start(t.Context(), "127.0.0.1:1", "secret")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusBadGateway {
		t.Errorf("status %d", res.StatusCode)
	}
}
