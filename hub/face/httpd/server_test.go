package httpd

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCORS(t *testing.T) {
	d := open(t, nil)
	const app = "https://app.example.com"
	status, _, h := d.ask("OPTIONS", "/mcp", "", "Origin", app, "Authorization", "", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,mcp-session-id", "Access-Control-Request-Private-Network", "true")
	if status != 204 || h.Get("Access-Control-Allow-Origin") != app || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "mcp-session-id") || h.Get("Access-Control-Allow-Private-Network") != "true" {
		t.Errorf("preflight: %d %v", status, h)
	}
	init := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"0"}}}`
	status, body, h := d.ask("POST", "/mcp", init, "Origin", app, "Accept", "application/json, text/event-stream")
	if status != 200 || h.Get("Access-Control-Allow-Origin") != app || !strings.Contains(h.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id") {
		t.Errorf("a page of an allowed origin cannot use /mcp: %d %s %v", status, body, h)
	}
	for _, origin := range []string{"https://evil.example", "http://localhost:3000"} {
		for _, method := range []string{"OPTIONS", "POST"} {
			if status, _, h := d.ask(method, "/mcp", init, "Origin", origin, "Access-Control-Request-Method", "POST"); status != 403 || h.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s from %s: %d %v", method, origin, status, h)
			}
		}
	}
	if status, _, h := d.ask("OPTIONS", "/api/tabs", "", "Origin", app, "Access-Control-Request-Method", "PUT"); status != 403 || h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("the admin API answers the preflight of a page: %d %v", status, h)
	}
	if status, _, _ := d.ask("OPTIONS", "/mcp", "", "Authorization", "", "Access-Control-Request-Method", "POST"); status != 401 {
		t.Errorf("a program that claims to be a preflight: %d", status)
	}
}

// Whatever a request holds, the log does not get its token.
func TestTokenIsNeverLogged(t *testing.T) {
	d := open(t, nil)
	const wrong = "almost-the-secret-of-this-hub"
	for _, path := range []string{"/", "/sse", "/mcp", "/api/tabs", "/api/session", "/attach", "/tabs", "/nothing"} {
		for _, token := range []string{secret, wrong} {
			if path == "/sse" && token == secret {
				continue // it would stream
			}
			d.ask("GET", path+"?token="+token, "", "Authorization", "")
			d.ask("GET", path+"?token="+token, "", "Authorization", "Bearer "+token, "Origin", "https://evil.example")
			d.ask("POST", path, `{"token":"`+token+`"}`, "Authorization", "Bearer "+token)
			d.ask("POST", path, `{"code":"`+token+`"}`, "Authorization", "", "Origin", "http://"+d.addr)
			d.ask("GET", path, "", "Authorization", "", "Cookie", "tabhub-3300="+token)
		}
	}
	if log := d.log.String(); strings.Contains(log, secret) || strings.Contains(log, wrong) {
		t.Errorf("the log holds a token: %s", log)
	}
}

// An auto-started hub must not stay for ever, nor leave a client that is only quiet.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var expired time.Time
		start := time.Now()
		c := &clients{idle: 15 * time.Minute, expired: func() { expired = time.Now() }}
		c.start()
		time.Sleep(10 * time.Minute)
		leave := c.enter()
		time.Sleep(time.Hour)
		c.enter()()
		time.Sleep(time.Hour)
		synctest.Wait()
		if !expired.IsZero() {
			t.Fatal("it ended under a client")
		}
		leave()
		time.Sleep(15*time.Minute + time.Second)
		synctest.Wait()
		if want := start.Add(10*time.Minute + 2*time.Hour + 15*time.Minute); !expired.Equal(want) {
			t.Errorf("it ended at %v, want %v", expired.Sub(start), want.Sub(start))
		}
	})
}

// A client that asks for much and reads nothing must not fill the hub's memory.
func TestAnswersThatAreNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, dial := openPipes(t)
		for _, request := range []string{
			"GET /api/tools HTTP/1.1\r\nAuthorization: Bearer " + secret,
			"GET /dashboard/dashboard.js HTTP/1.1",
		} {
			conn := dial()
			fmt.Fprintf(conn, "%s\r\nHost: %s\r\n\r\n", request, d.addr)
			time.Sleep(2 * 10 * time.Second)
			if b, err := io.ReadAll(conn); err != nil || len(b) > 0 {
				t.Errorf("%s: %d bytes wait still; %v", request, len(b), err)
			}
			conn.Close()
		}
	})
}

// A client that announces a body and does not send it must not hold its connection for
// good, least of all one that shows no token.
func TestBodiesThatDoNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, dial := openPipes(t)
		send := func(head, body string) (answer string, took time.Duration) {
			t.Helper()
			start := time.Now()
			conn := dial()
			defer conn.Close()
			fmt.Fprintf(conn, "%sHost: %s\r\nContent-Length: 14\r\nConnection: close\r\n\r\n%s", head, d.addr, body)
			b, err := io.ReadAll(conn)
			if err != nil {
				t.Errorf("%q: %v", head, err)
			}
			return string(b), time.Since(start)
		}
		const call = "POST /api/call HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer " + secret + "\r\n"
		for _, head := range []string{
			"POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\n",
			"POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer " + secret + "\r\n",
			"POST /message?sessionId=x HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer " + secret + "\r\n",
			call,
			"GET /healthz HTTP/1.1\r\n",
			"GET / HTTP/1.1\r\nAuthorization: Bearer wrong\r\n",
		} {
			if _, took := send(head, "{"); took > bodyTimeout {
				t.Errorf("%q: the connection stays for %v", head, took)
			}
		}
		// What takes long after its body has come is not cut off.
		d.ownTakes = 2 * bodyTimeout
		if answer, took := send(call, `{"name":"own"}`); !strings.Contains(answer, `"text":"own"`) || took < d.ownTakes {
			t.Errorf("after %v: %s", took, answer)
		}
	})
}

func TestHugeHeadersAreRefused(t *testing.T) {
	d := open(t, nil)
	if status, _, _ := d.ask("GET", "/healthz", "", "X-Large", strings.Repeat("x", 64<<10)); status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("%d", status)
	}
}
