//go:build nightly && unix

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/spec/rawjson"
)

// clientTimeout is how long a client waits for an answer, as those of the SDKs do.
const clientTimeout = 60 * time.Second

// reply is the outcome of a request for its client.
type reply struct {
	kind   Kind            // OK, Fail or Info
	result json.RawMessage // with OK
	reason string          // otherwise
}

func failed(format string, args ...any) reply {
	return reply{Fail, nil, fmt.Sprintf(format, args...)}
}
func unsure(format string, args ...any) reply {
	return reply{Info, nil, fmt.Sprintf(format, args...)}
}

// face is a protocol by which MCP clients reach a hub. One goroutine calls ask.
type face interface {
	ask(ctx context.Context, method, params string) reply
	close()
}

// poster posts frames over connections of its own, as a process does.
type poster struct {
	http   http.Client
	header http.Header
	lastID int
}

func newPoster(token string) poster {
	return poster{
		http:   http.Client{Transport: &http.Transport{}},
		header: http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}},
	}
}

// post posts a body. For a status other than 200 and 202 the reply explains it.
func (p *poster) post(ctx context.Context, url, body string, extra http.Header) (*http.Response, []byte, reply) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, nil, failed("%v", err)
	}
	req.Header = p.header.Clone()
	for key, values := range extra {
		req.Header[key] = values
	}
	resp, err := p.http.Do(req)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
			return nil, nil, failed("%v", err)
		}
		return nil, nil, unsure("%v", err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	switch code := resp.StatusCode; {
	case code == http.StatusBadGateway || code == http.StatusGatewayTimeout || code == http.StatusInternalServerError:
		return resp, b, unsure("%s: %s", resp.Status, b)
	case code != http.StatusOK && code != http.StatusAccepted:
		return resp, b, failed("%s: %s", resp.Status, b)
	case err != nil:
		return resp, b, unsure("%v", err)
	}
	return resp, b, reply{kind: OK}
}

// call posts a request and returns the answer in the body.
func (p *poster) call(ctx context.Context, url, method, params string, extra http.Header) (*http.Response, reply) {
	p.lastID++
	resp, body, r := p.post(ctx, url, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, p.lastID, method, params), extra)
	if r.kind != OK {
		return resp, r
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		frames := body
		body = nil
		for e := range rig.Events(bytes.NewReader(frames)) {
			if string(rawjson.Get(e.Data, "id")) == fmt.Sprint(p.lastID) && rawjson.Get(e.Data, "method") == nil {
				body = e.Data
			}
		}
		if body == nil {
			return resp, unsure("the stream has ended without an answer")
		}
	}
	return resp, answered(body)
}

// answered reads an answer.
func answered(frame []byte) reply {
	if fault := rawjson.Get(frame, "error"); fault != nil {
		return truth(string(fault))
	}
	result := rawjson.Get(frame, "result")
	if result == nil {
		return unsure("no answer: %s", frame)
	}
	if string(rawjson.Get(result, "isError")) != "true" {
		return reply{kind: OK, result: result}
	}
	return truth(said(result))
}

// truth is what an error tells its reader about the call. Protocol errors, such as for an unknown
// name, come before anything is sent.
func truth(fault string) reply {
	for _, sign := range []string{"may have taken effect", "TAB_CLOSED", "TOOL_TIMEOUT", "TOOL_ERROR"} {
		if strings.Contains(fault, sign) {
			return unsure("%s", fault)
		}
	}
	for _, sign := range []string{"not sent", "nothing was sent", "try again in a moment", "TAB_NOT_FOUND", "INVALID_ARGUMENTS", "QUEUE_FULL", `"code":-326`} {
		if strings.Contains(fault, sign) {
			return failed("%s", fault)
		}
	}
	return unsure("%s", fault)
}

const initializeParams = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"cluster","version":"1"}}`

// sessionFace is Streamable HTTP with a session, revision 2025-11-25.
type sessionFace struct {
	poster
	url     string
	session string
}

func (f *sessionFace) ask(ctx context.Context, method, params string) reply {
	if f.session == "" {
		if r := f.begin(ctx); r.kind != OK {
			return failed("no session: %s", r.reason)
		}
	}
	resp, r := f.call(ctx, f.url, method, params, http.Header{"Mcp-Session-Id": {f.session}, "Mcp-Protocol-Version": {"2025-11-25"}})
	if resp != nil && resp.StatusCode == http.StatusNotFound {
		f.session = "" // the hub has forgotten it
	}
	return r
}

func (f *sessionFace) begin(ctx context.Context) reply {
	resp, r := f.call(ctx, f.url, "initialize", initializeParams, nil)
	if r.kind != OK {
		return r
	}
	session := resp.Header.Get("Mcp-Session-Id")
	_, _, r = f.post(ctx, f.url, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, http.Header{"Mcp-Session-Id": {session}, "Mcp-Protocol-Version": {"2025-11-25"}})
	if r.kind == OK {
		f.session = session
	}
	return r
}

func (f *sessionFace) close() { f.http.CloseIdleConnections() }

// loneFace is revision 2026-07-28, whose requests are independent.
type loneFace struct {
	poster
	url, name string
}

func (f *loneFace) ask(ctx context.Context, method, params string) reply {
	meta := fmt.Sprintf(`"_meta":{"tabhub/session":%q,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"cluster","version":"1"}}}`, f.name)
	if params != "{}" {
		meta = "," + meta
	}
	header := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}}
	if name, ok := rawjson.String(rawjson.Get([]byte(params), "name")); ok {
		header.Set("Mcp-Name", name)
	}
	_, r := f.call(ctx, f.url, method, strings.TrimSuffix(params, "}")+meta, header)
	return r
}

func (f *loneFace) close() { f.http.CloseIdleConnections() }

// agent is an MCP client of a user, which makes one call after the other.
type agent struct {
	user, name string
	face       face
	h          *history
	names      []string // as it has listed them
}

// list reads the list of tools. If that fails or is empty, it keeps the last one.
func (a *agent) list() (ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), clientTimeout)
	defer cancel()
	var names []string
	for cursor := ""; ; {
		r := a.face.ask(ctx, "tools/list", "{"+cursor+"}")
		if r.kind != OK {
			return false
		}
		for tool := range rawjson.Elements(rawjson.Get(r.result, "tools")) {
			if name, _ := rawjson.String(rawjson.Get(tool, "name")); strings.HasPrefix(name, "website_tool_") {
				names = append(names, name)
			}
		}
		next := rawjson.Get(r.result, "nextCursor")
		if next == nil {
			break
		}
		cursor = `"cursor":` + string(next)
	}
	a.note(Event{Kind: List, User: a.user, By: a.name, Names: names})
	if len(names) > 0 {
		a.names = names
	}
	return true
}

// note adds an event to the history, if there is one.
func (a *agent) note(e Event) {
	if a.h != nil {
		a.h.Add(e)
	}
}

// call makes a call, and reports whether it has worked.
func (a *agent) call(name, op string) (ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), clientTimeout)
	defer cancel()
	e := Event{User: a.user, By: a.name, Op: op}
	invoke := e
	invoke.Kind, invoke.Name, invoke.Again = Invoke, name, strings.HasSuffix(name, "_look")
	a.note(invoke)
	began := time.Now()
	r := a.face.ask(ctx, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"op":%q}}`, name, op))
	if ctx.Err() != nil {
		return false // the client has given up: the call has no end
	}
	e.Kind, e.Text = r.kind, r.reason
	if r.kind == OK {
		e.Text = said(r.result)
		e.Call, _ = rawjson.String(rawjson.Get(r.result, "_meta", "tabhub/call"))
	}
	a.note(e)
	if r.kind == Info {
		a.ask(e, name, began)
	}
	return r.kind == OK
}

// ask asks for the outcome of a call that the client does not know.
func (a *agent) ask(e Event, name string, began time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), clientTimeout)
	defer cancel()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		r := a.face.ask(ctx, "tools/call", `{"name":"proxy","arguments":{"action":"outcome"}}`)
		if r.kind == OK {
			report := reported(r.result)
			switch {
			case report.Tool != name || report.Began.Before(began):
				return // it is of a call before: the hub does not know of this one
			case report.State != "under_way":
				e.Kind, e.Name, e.Call, e.Text = Asked, report.State, report.ID, ""
				if got := answered(fmt.Appendf(nil, `{"result":%s}`, report.Result)); report.Result != nil && got.kind == OK {
					e.Text = said(got.result)
				}
				a.note(e)
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// said is a page's text in a result.
func said(result json.RawMessage) string {
	for block := range rawjson.Elements(rawjson.Get(result, "content")) {
		text, _ := rawjson.String(rawjson.Get(block, "text"))
		return text
	}
	return ""
}

// report is the hub's report on a call.
type report struct {
	ID, Tool, State string
	Began           time.Time
	Result          json.RawMessage
}

// reported reads the answer of proxy.
func reported(result json.RawMessage) (r report) {
	for block := range rawjson.Elements(rawjson.Get(result, "content")) {
		for _, path := range [][]string{{"text"}, {"resource", "text"}} {
			text, _ := rawjson.String(rawjson.Get(block, path...))
			if json.Unmarshal([]byte(text), &r) == nil && r.State != "" {
				return r
			}
		}
	}
	return report{}
}
