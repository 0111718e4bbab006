package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// codeOf returns the code of a JSON-RPC error, 0 if there is none.
func codeOf(a answer) (code int) {
	if a.err != nil {
		json.Unmarshal(rawjson.Get(a.err, "code"), &code)
	}
	return code
}

// A page that talks nonsense harms neither its own tools nor those of others.
func TestNonsenseFromATab(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	hub := p.serve()
	c := p.stdio()
	run := func(_ string, args json.RawMessage) string { return echo(args) }
	p.open(&tab{key: "good", tools: `[{"name":"neighbour"}]`, run: run})
	x := p.open(&tab{key: "bad", origin: "http://bad.localhost", tools: `[{"name":"own"}]`, run: run})
	list := c.awaitTools("both tabs' tools are listed", func(l tools) bool { return len(l.names()) == 2 })
	allWell := func(after string) {
		t.Helper()
		if a := x.ask(`"alive"`, `{"jsonrpc":"2.0","id":"alive","method":"browser/ping"}`); a.err != nil {
			t.Errorf("after %s the tab gets %s for its ping", after, a.err)
		}
		for _, suffix := range []string{"_neighbour", "_own"} {
			if got := c.call(list.named(suffix), `{"n":1}`).outcome(); got != "ok" {
				t.Errorf("after %s a call of %s: %s", after, suffix, got)
			}
		}
	}
	for _, frame := range []string{
		``, ` `, `{`, `hello`, `null`, `[]`, `42`, `"text"`, `{"a":1,}`, "{\"a\":\"\xff\"}", "\x00",
		`{}`, `{"jsonrpc":"1.0","method":"browser/ping"}`, `{"method":"browser/registerTools","params":{"tools":[]}}`,
		`{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":null,"method":"browser/ping"}`, `{"jsonrpc":"2.0","id":{},"method":"browser/ping"}`,
		`{"jsonrpc":"2.0","method":5}`, `{"jsonrpc":"2.0","method":"browser/noSuch"}`, `{"jsonrpc":"2.0","method":"browser/registerTools"}`,
		`{"jsonrpc":"2.0","method":"browser/registerTools","params":[]}`, `{"jsonrpc":"2.0","method":"browser/registerTools","params":{"tools":{}}}`,
		`{"jsonrpc":"2.0","method":"browser/tabState","params":{"active":"yes"}}`,
		`{"jsonrpc":"2.0","method":"browser/tabState","params":` + nested(spec.MaxDepth+1) + `}`,
		nested(1_000_000),
		`{"jsonrpc":"2.0","id":"nobody asked","result":{"success":true,"payload":{}}}`,
		`{"jsonrpc":"2.0","method":"browser/progress","params":{"requestId":"nobody asked","progress":1}}`,
	} {
		x.send(frame)
		allWell(fmt.Sprintf("the frame %.80q", frame))
	}
	for frame, want := range map[string]int{
		`{"id":"q","method":"browser/ping"}`:    spec.CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":"q","method":5}`: spec.CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":"q","method":"browser/tabState","params":` + nested(spec.MaxDepth+1) + `}`:            spec.CodeLimit,
		`{"jsonrpc":"2.0","id":"q","method":"x","params":{"text":"` + strings.Repeat("x", spec.MaxFrame) + `"}}`:     spec.CodeLimit,
		`{"jsonrpc":"2.0","id":"q","method":"browser/noSuch"}`:                                                       spec.CodeMethodNotFound,
		`{"jsonrpc":"2.0","id":"q","method":"browser/executeTool","params":{"toolName":"own","args":{}}}`:            spec.CodeMethodNotFound,
		`{"jsonrpc":"2.0","id":"q","method":"browser/registerTools","params":{}}`:                                    spec.CodeInvalidParams,
		`{"jsonrpc":"2.0","id":"q","method":"browser/tabState","params":{"windowId":1.5}}`:                           spec.CodeInvalidParams,
		`{"jsonrpc":"2.0","id":"q","method":"browser/hello","params":{"protocolVersion":"tabhub.v1","tabKey":"no"}}`: spec.CodeInvalidRequest,
	} {
		if a := x.ask(`"q"`, frame); codeOf(a) != want {
			t.Errorf("%.200s: the answer is %s%s, want the error %d", frame, a.result, a.err, want)
		}
		allWell(fmt.Sprintf("the frame %.80q", frame))
	}

	// Some tools are no tools: they are named, and the others are taken. Of others only a part
	// is left out.
	bad := []string{`null`, `7`, `[]`, `{}`, `{"name":""}`, `{"name":5}`, `{"name":"` + strings.Repeat("n", spec.MaxName+1) + `"}`, `{"name":"own"}`}
	partly := []string{
		`{"name":"schema","inputSchema":"no"}`, `{"name":"array","inputSchema":{"type":"array"}}`,
		`{"name":"kind","inputSchema":{"type":"nonsense"}}`, `{"name":"remote","inputSchema":{"type":"object","$ref":"https://evil.example/schema"}}`,
		`{"name":"file","inputSchema":{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}}`,
		`{"name":"deep","inputSchema":{"type":"object","default":` + nested(spec.MaxSchemaDepth+1) + `}}`,
		`{"name":"large","inputSchema":{"type":"object","description":"` + strings.Repeat("x", spec.MaxSchema) + `"}}`,
		`{"name":"notes","annotations":"none"}`, `{"name":"hint","annotations":{"readOnlyHint":"yes"}}`,
	}
	mixed := `{"name":"own"},` + strings.Join(append(partly, bad...), ",") + `,{"name":"late"}`
	a := x.ask(`"mixed"`, `{"jsonrpc":"2.0","id":"mixed","method":"browser/updateTools","params":{"tools":[`+mixed+`]}}`)
	var told spec.Registered
	if err := json.Unmarshal(a.result, &told); err != nil || told.Accepted != 2+len(partly) || len(told.Rejected) != len(bad) || len(told.Warnings) != len(partly) {
		t.Errorf("of 2 good, %d partly good and %d bad tools: %s%s", len(partly), len(bad), a.result, a.err)
	}
	for _, no := range append(told.Rejected, told.Warnings...) {
		if no.Name == "" || no.Reason == "" {
			t.Errorf("a tool, or a part of it, is refused without saying which and why: %+v", no)
		}
	}
	c.awaitTools("the good tools are listed", func(l tools) bool { return len(l.names()) == 3+len(partly) && l.named("_late") != "" })
	allWell("bad tools")
	var rejected []struct{ Name, Reason string }
	if p.api("/api/rejected", &rejected); len(rejected) != len(bad) {
		t.Errorf("the API shows %d tools that were set aside, want %d", len(rejected), len(bad))
	}

	// One line in the log for all of it: a page must not fill the disk.
	if n := strings.Count(p.owner(hub).Stderr.String(), "malformed frame"); n != 1 {
		t.Errorf("the log has %d lines on malformed frames, want 1", n)
	}
}

// A page that floods the hub is cut off. It may come back, and meanwhile nothing
// changes for clients.
func TestFloodFromATab(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.stdio()
	run := func(_ string, args json.RawMessage) string { return echo(args) }
	p.open(&tab{key: "good", tools: `[{"name":"neighbour"}]`, run: run})
	x := p.open(&tab{key: "bad", origin: "http://bad.localhost", tools: `[{"name":"own"}]`, run: run})
	list := c.awaitTools("both tabs' tools are listed", func(l tools) bool { return len(l.names()) == 2 })
	for what, flood := range map[string]struct {
		frames int
		frame  string
		code   spec.CloseCode
	}{
		"malformed frames": {100, `{`, spec.CloseTooFast},
		"many messages":    {20_000, `{"jsonrpc":"2.0","method":"browser/tabState","params":{}}`, spec.CloseTooFast},
	} {
		peer := x.connection() // not the one that replaces it
		for range flood.frames {
			if peer.Send([]byte(flood.frame)) != nil {
				break
			}
		}
		if code := x.awaitLoss(); code != flood.code {
			t.Errorf("%s: the connection was closed with %d, want %d", what, code, flood.code)
		}
		x.awaitJoin()
		for _, suffix := range []string{"_neighbour", "_own"} {
			if got := c.call(list.named(suffix), `{"n":1}`).outcome(); got != "ok" {
				t.Errorf("after %s a call of %s: %s", what, suffix, got)
			}
		}
	}
	if got := c.tools().names(); !slices.Equal(got, list.names()) {
		t.Errorf("the client lists %q, want %q", got, list.names())
	}
}

// nonsense is what clients must not send, and the error that it gets. Where the id
// cannot be read it is null.
var nonsense = []struct {
	message string
	id      string
	code    int
}{
	{`{`, "null", spec.CodeParseError},
	{`hello`, "null", spec.CodeParseError},
	{"{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"\xff\"}", "null", spec.CodeParseError},
	{`null`, "null", spec.CodeInvalidRequest},
	{`42`, "null", spec.CodeInvalidRequest},
	{`{}`, "null", spec.CodeInvalidRequest},
	{`{"id":"q","method":"tools/list"}`, `"q"`, spec.CodeInvalidRequest},
	{`{"jsonrpc":"1.0","id":"q","method":"tools/list"}`, `"q"`, spec.CodeInvalidRequest},
	{`{"jsonrpc":"2.0","id":"q","method":5}`, `"q"`, spec.CodeInvalidRequest},
	{`{"jsonrpc":"2.0","id":{},"method":"tools/list"}`, "null", spec.CodeInvalidRequest},
	{`{"jsonrpc":"2.0","id":"q","method":"no/such"}`, `"q"`, spec.CodeMethodNotFound},
	{`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{}}`, `"q"`, spec.CodeInvalidParams},
	{`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"no_such"}}`, `"q"`, spec.CodeInvalidParams},
	{`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":5}}`, `"q"`, spec.CodeInvalidParams},
	{`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"TOOL","arguments":[]}}`, `"q"`, spec.CodeInvalidParams},
}

// A client that talks nonsense is told what is wrong, and its session goes on.
func TestNonsenseFromAClient(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	p.open(&tab{key: "one", tools: `[{"name":"own"}]`, run: func(_ string, args json.RawMessage) string { return echo(args) }})

	t.Run("stdio", func(t *testing.T) {
		c := p.stdio()
		name := c.awaitTools("the tool is listed", func(l tools) bool { return l.named("_own") != "" }).named("_own")
		for _, n := range nonsense {
			message := strings.Replace(n.message, "TOOL", name, 1)
			if a := c.wait(message, c.beginLine(n.id, message)); codeOf(a) != n.code {
				t.Errorf("%q gets %s%s, want the error %d", message, a.result, a.err, n.code)
			}
			if got := c.call(name, `{}`).outcome(); got != "ok" {
				t.Fatalf("after %q a call: %s", message, got)
			}
		}
		if a := c.wait("depth", c.beginLine("null", nested(100_000))); codeOf(a) != spec.CodeParseError {
			t.Errorf("a message that is too deep gets %s%s", a.result, a.err)
		}
		big := `{"jsonrpc":"2.0","method":"ping","params":{"x":"` + strings.Repeat("x", spec.MaxFrame) + `"}}`
		if a := c.wait("size", c.beginLine("null", big)); codeOf(a) != spec.CodeInvalidRequest {
			t.Errorf("a message that is too big gets %s%s", a.result, a.err)
		}
		if got := c.call(name, `{}`).outcome(); got != "ok" {
			t.Errorf("after what was too deep and too big a call: %s", got)
		}
	})

	t.Run("HTTP", func(t *testing.T) {
		c := p.http()
		name := listTools(t, c).named("_own")
		for _, n := range nonsense {
			message := strings.Replace(n.message, "TOOL", name, 1)
			resp, body, err := post(c.place.within(), c.url, c.header, message)
			if err != nil {
				t.Fatal(err)
			}
			frame := body
			for e := range rig.Events(strings.NewReader(string(body))) {
				frame = e.Data
			}
			if rawjson.Valid(frame, spec.MaxDepth) != nil || codeOf(answerOf(frame)) != n.code || string(rawjson.Get(frame, "id")) != n.id {
				t.Errorf("%q gets %s %s, want the error %d", message, resp.Status, body, n.code)
			}
			if a := c.ask("tools/call", fmt.Sprintf(`{"name":%q}`, name)); a.outcome() != "ok" {
				t.Fatalf("after %q a call: %s", message, a.outcome())
			}
		}
		for what, bad := range map[string]struct {
			body   string
			header http.Header
			status int
		}{
			"a message that is too deep": {`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + nested(100_000) + `}`, nil, http.StatusBadRequest},
			"a body that is too big":     {`{"x":"` + strings.Repeat("x", spec.MaxFrame) + `"}`, nil, http.StatusRequestEntityTooLarge},
			"a form":                     {`{}`, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, http.StatusUnsupportedMediaType},
			"an unknown session":         {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, http.Header{"Mcp-Session-Id": {"no-such"}}, http.StatusNotFound},
			"an unknown revision":        {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, http.Header{"Mcp-Protocol-Version": {"1999-01-01"}}, http.StatusBadRequest},
		} {
			header := c.header.Clone()
			for key, values := range bad.header {
				header[key] = values
			}
			resp, body, err := post(c.place.within(), c.url, header, bad.body)
			if err != nil || resp.StatusCode != bad.status || len(body) == 0 {
				t.Errorf("%s gets %v %s %v, want %d and what is wrong", what, resp, body, err, bad.status)
			}
		}
		if a := c.ask("tools/call", fmt.Sprintf(`{"name":%q}`, name)); a.outcome() != "ok" {
			t.Errorf("at the end a call: %s", a.outcome())
		}
	})
}
