package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// post sends a JSON body and returns the response with its body.
func post(ctx context.Context, url string, header http.Header, body string) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for key, values := range header {
		req.Header[key] = values
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, b, err
}

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// httpClient is a client of Streamable HTTP. Its requests are made one at a time.
type httpClient struct {
	t      testing.TB
	place  *place
	url    string
	header http.Header
	lastID int
}

// http begins a session on /mcp.
func (p *place) http() *httpClient {
	p.t.Helper()
	return p.httpAs(p.token())
}

func (p *place) httpAs(token string) *httpClient {
	p.t.Helper()
	return p.httpAt(token, "/mcp")
}

func (p *place) httpAt(token, path string) *httpClient {
	p.t.Helper()
	c := &httpClient{t: p.t, place: p, url: p.url() + path, header: bearer(token)}
	resp, body, err := post(c.place.within(), c.url, c.header, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":`+initializeParams+`}`)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.t.Fatalf("initialize over HTTP: %v %s %v", resp, body, err)
	}
	c.header.Set("Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"))
	c.header.Set("Mcp-Protocol-Version", "2025-06-18")
	resp, body, err = post(c.place.within(), c.url, c.header, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if err != nil || resp.StatusCode != http.StatusAccepted {
		p.t.Fatalf("initialized over HTTP: %v %s %v", resp, body, err)
	}
	return c
}

func (c *httpClient) ask(method, params string) answer {
	c.t.Helper()
	c.lastID++
	resp, body, err := post(c.place.within(), c.url, c.header, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.lastID, method, params))
	if err != nil {
		return answer{err: json.RawMessage(strconv.Quote(err.Error()))}
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return answerOf(body)
	}
	for e := range rig.Events(bytes.NewReader(body)) {
		if string(rawjson.Get(e.Data, "id")) == strconv.Itoa(c.lastID) {
			return answerOf(e.Data)
		}
	}
	return answer{err: json.RawMessage(strconv.Quote("no answer on the stream: " + string(body)))}
}

// sseClient is a client of MCP over SSE. Its requests are made one at a time.
type sseClient struct {
	t        testing.TB
	ctx      context.Context
	leave    func() // ends the stream
	endpoint string
	header   http.Header
	answers  chan []byte
	lastID   int
}

// sse begins a session on /sse.
func (p *place) sse() *sseClient {
	p.t.Helper()
	return p.sseAs(p.token())
}

func (p *place) sseAs(token string) *sseClient {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var reader sync.WaitGroup
	p.t.Cleanup(func() { cancel(); reader.Wait() })
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url()+"/sse", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header = bearer(token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.t.Fatalf("GET /sse: %v %v", resp, err)
	}
	c := &sseClient{t: p.t, ctx: p.within(), leave: cancel, header: bearer(token), answers: make(chan []byte, 100)}
	endpoint := make(chan string, 1)
	reader.Go(func() {
		defer resp.Body.Close()
		for e := range rig.Events(resp.Body) {
			switch {
			case e.Name == "endpoint":
				endpoint <- string(e.Data)
			case rawjson.Valid(e.Data, spec.MaxDepth*2) == nil && rawjson.Get(e.Data, "method") == nil:
				c.answers <- e.Data
			}
		}
	})
	select {
	case c.endpoint = <-endpoint:
	case <-c.ctx.Done():
		p.t.Fatal("no endpoint event on /sse")
	}
	if a := c.ask("initialize", initializeParams); a.err != nil {
		p.t.Fatalf("initialize over SSE: %s", a.err)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *sseClient) send(body string) {
	c.t.Helper()
	resp, b, err := post(c.ctx, c.endpoint, c.header, body)
	if err != nil || resp.StatusCode != http.StatusAccepted {
		c.t.Errorf("POST %s: %v %s %v", c.endpoint, resp, b, err)
	}
}

func (c *sseClient) ask(method, params string) answer {
	c.t.Helper()
	c.lastID++
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.lastID, method, params))
	select {
	case frame := <-c.answers:
		return answerOf(frame)
	case <-c.ctx.Done():
		return answer{err: json.RawMessage(`"no answer on the event stream in time"`)}
	}
}
