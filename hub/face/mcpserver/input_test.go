package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/builtin/proxytool"
	"tabhub/hub/call"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/hubtest"
	"tabhub/hub/lists"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// form is a member of what nosy asks.
const form = `"requestedSchema":{"type":"object","properties":{}}`

// nosy is a page whose tool wants to know a name and, from it, a colour.
func nosy(_ context.Context, in tabtransport.Incoming) (spec.Response, error) {
	ext := in.Request.(*spec.ExecuteTool).Extensions
	var given struct {
		Name   struct{ Content struct{ Name string } }
		Colour struct{ Content struct{ Colour string } }
	}
	_ = json.Unmarshal(ext["inputResponses"], &given)
	result := `{"resultType":"input_required","inputRequests":{"name":{"method":"elicitation/create","params":{"message":"Your name?",` + form + `}}},"requestState":"one","later":[1.0]}`
	switch string(ext["requestState"]) {
	case `"one"`:
		if n := given.Name.Content.Name; n != "" {
			result = `{"resultType":"input_required","inputRequests":{"colour":{"method":"elicitation/create","params":{"message":"Your colour, ` + n + `?",` + form + `}}},"requestState":"two"}`
		}
	case `"two"`:
		result = `{"content":[{"type":"text","text":"` + given.Colour.Content.Colour + `"}]}`
	}
	return spec.Response{Result: json.RawMessage(result)}, nil
}

func nosyHub(t *testing.T) *hub.Hub {
	h := hubtest.Open(t, hub.Options{})
	told := make(chan struct{}, 1)
	stop := h.Lists.Watch(func(lists.Change) { told <- struct{}{} })
	h.JoinTab("https://nosy.example.com", nosy, `{"name":"ask","inputSchema":{"type":"object"}}`, `{"name":"other","inputSchema":{"type":"object"}}`)
	<-told // for the change to be over before there is a client
	stop()
	return h.Hub
}

const nosyTool = "website_tool_nosy_example_com_ask"

func TestPageAsksBackAndGetsOnlyItsOwnState(t *testing.T) {
	c := streamTo(t, newServer(t, nosyHub(t).ClientView(), Options{}))
	meta := strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
	call := func(tool, more string) string {
		return c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `",` + more + meta + `}}`)
	}
	state := func(answer string) string {
		var r struct{ Result struct{ RequestState string } }
		if err := json.Unmarshal([]byte(answer), &r); err != nil || !strings.Contains(answer, `"resultType":"input_required"`) {
			t.Fatalf("%s: %v", answer, err)
		}
		return `"requestState":"` + r.Result.RequestState + `",`
	}
	first := call(nosyTool, "")
	if !strings.Contains(first, `"params":{"message":"nosy.example.com asks: Your name?",`+form+`}`) || !strings.Contains(first, `"later":[1.0]`) {
		t.Error(first)
	}
	one := state(first)
	second := call(nosyTool, `"inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}},`+one)
	if !strings.Contains(second, "Your colour, Ada?") {
		t.Error(second)
	}
	two := state(second)
	if got := call(nosyTool, `"inputResponses":{"colour":{"action":"accept","content":{"colour":"red"}}},`+two); !strings.Contains(got, `"text":"red"`) {
		t.Error(got)
	}
	for name, answer := range map[string]string{
		"made up":           call(nosyTool, `"requestState":"two",`),
		"changed":           call(nosyTool, strings.Replace(two, `:"`, `:"AAAA`, 1)),
		"of another tool":   call(strings.Replace(nosyTool, "_ask", "_other", 1), two),
		"not a string":      call(nosyTool, `"requestState":{},`),
		"answers no object": call(nosyTool, `"inputResponses":[],`+one),
	} {
		if !strings.HasPrefix(answer, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,`) {
			t.Errorf("state %s: %s", name, answer)
		}
	}
	meta = modernMeta
	if got := call(nosyTool, ""); !strings.Contains(got, `"code":-32021`) || !strings.Contains(got, `"data":{"requiredCapabilities":{"elicitation":{"form":{}}}}`) {
		t.Errorf("a client that cannot be asked: %s", got)
	}
}

// A client's user is not asked what the client would fail on, and learns what the page did wrong.
func TestPagesAskWhatClientsCanShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hubtest.Open(t, hub.Options{})
		question := ""
		h.JoinTab("https://nosy.example.com", func(context.Context, tabtransport.Incoming) (spec.Response, error) {
			return spec.Response{Result: json.RawMessage(`{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":` + question + `}}}`)}, nil
		}, `{"name":"ask","inputSchema":{"type":"object"}}`)
		time.Sleep(time.Minute) // for its change to be over before there is a client
		const capabilities = `apabilities":{"elicitation":{"url":{}}}`
		modern, older := streamTo(t, newServer(t, h.Hub.ClientView(), Options{})), streamTo(t, newServer(t, h.Hub.ClientView(), Options{}))
		older.ask(strings.Replace(initializeLine("2025-11-25"), `apabilities":{}`, capabilities, 1))
		call := func(c *lineClient, more string) string {
			return c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + nosyTool + `"` + more + `}}`)
		}
		meta := "," + strings.Replace(modernMeta, `apabilities":{}`, capabilities, 1)

		for q, says := range map[string]string{
			`{"message":" ","mode":"url","url":"https://pay.example"}`: "/message: is required",
			`{"message":"Pay","mode":"url","url":"file:///etc"}`:       "/url: must be an address",
		} {
			question = q
			for _, got := range []string{call(modern, meta), call(older, "")} {
				if !strings.Contains(got, `"isError":true`) || !strings.Contains(got, says) {
					t.Errorf("%s: %s", q, got)
				}
			}
		}

		// The id, which each has until 2025-11-25, is none of the pages' later.
		question = `{"message":"Pay","mode":"url","url":"https://pay.example"}`
		const asked = `"method":"elicitation/create","params":{"message":"nosy.example.com asks: Pay","mode":"url","url":"https://pay.example"`
		if got := call(modern, meta); !strings.Contains(got, asked+"}") {
			t.Error(got)
		}
		if got := call(older, ""); !strings.Contains(got, asked+`,"elicitationId":"`) {
			t.Error(got)
		}
	})
}

// Only the document that has asked knows what it has begun: the answers go to no other.
func TestAnswersGoToNoOtherTab(t *testing.T) {
	const site, tool, other = "https://nosy.example.com", `{"name":"ask","inputSchema":{"type":"object"}}`, `{"name":"other","inputSchema":{"type":"object"}}`
	modern := strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
	tasks := strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{},"extensions":{"`+methods.ExtTasks+`":{}}}`, 1)
	call := func(more string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + nosyTool + `",` + more + `}}`
	}
	const answers = `"inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}},`
	for name, run := range map[string]func(t *testing.T, c *lineClient, leave func()) string{
		"2026-07-28": func(t *testing.T, c *lineClient, leave func()) string {
			state := rawjson.Get([]byte(c.ask(call(modern))), "result", "requestState")
			leave()
			return c.ask(call(answers + `"requestState":` + string(state) + "," + modern))
		},
		"an older client": func(t *testing.T, c *lineClient, leave func()) string {
			c.ask(strings.Replace(initializeLine("2025-06-18"), `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
			id := rawjson.Get([]byte(c.ask(call(`"arguments":{}`))), "id")
			leave()
			return c.ask(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"action":"accept","content":{"name":"Ada"}}}`)
		},
		"a task": func(t *testing.T, c *lineClient, leave func()) string {
			id := string(rawjson.Get([]byte(c.ask(call(tasks))), "result", "taskId"))
			about := func(method, more string) string {
				synctest.Wait()
				return c.ask(`{"jsonrpc":"2.0","id":2,"method":"` + method + `","params":{"taskId":` + id + `,` + more + tasks + `}}`)
			}
			time.Sleep(time.Minute)
			if got := about("tasks/get", ""); !strings.Contains(got, `"status":"input_required"`) {
				t.Error(got)
			}
			leave()
			about("tasks/update", answers)
			return about("tasks/get", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := hubtest.Open(t, hub.Options{})
				asker := h.JoinTab(site, func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
					time.Sleep(10 * time.Second) // so that it may become a task
					return nosy(ctx, in)
				}, tool)
				time.Sleep(time.Minute) // for its change to be over before there is a client
				c := streamTo(t, newServer(t, h.Hub.ClientView(), Options{}))
				got := run(t, c, func() {
					h.JoinTab(site, func(context.Context, tabtransport.Incoming) (spec.Response, error) {
						t.Error("another tab was called")
						return spec.Response{}, nil
					}, tool)
					h.Register(asker, spec.KindTool, other)
				})
				if !strings.Contains(got, "call again to begin anew") {
					t.Error(got)
				}
			})
		})
	}
}

// A tool of the hub that calls pages passes on what they ask, and the state of one
// must not come to another.
func TestStateIsOfOneSubject(t *testing.T) {
	own := builtin.Tool{
		Name:  "relay",
		Input: json.RawMessage(`{"type":"object"}`),
		Call: func(context.Context, *consent.Caller, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"resultType":"input_required","inputRequests":{},"requestState":"s"}`), nil
		},
		Subject: func(args json.RawMessage) string { return string(args) },
	}
	c := streamTo(t, newServer(t, nosyHub(t).ClientView(), Options{Options: methods.Options{Builtin: []builtin.Tool{own}}}))
	call := func(args, more string) string {
		return c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"relay","arguments":` + args + `,` + more + modernMeta + `}}`)
	}
	var r struct{ Result struct{ RequestState string } }
	if err := json.Unmarshal([]byte(call(`{"to":"a"}`, "")), &r); err != nil || r.Result.RequestState == "" {
		t.Fatal(err)
	}
	state := `"requestState":"` + r.Result.RequestState + `",`
	if got := call(`{"to":"a"}`, state); !strings.Contains(got, `"input_required"`) {
		t.Errorf("the same subject: %s", got)
	}
	if got := call(`{"to":"b"}`, state); !strings.Contains(got, `"code":-32602`) {
		t.Errorf("another subject: %s", got)
	}
}

func TestOlderClientsAreAskedInTheSameCall(t *testing.T) {
	h := nosyHub(t)
	s := newServer(t, h.ClientView(), Options{Options: methods.Options{Builtin: []builtin.Tool{{
		Name:  "door",
		Input: json.RawMessage(`{}`),
		Call: func(ctx context.Context, by *consent.Caller, _ json.RawMessage) (json.RawMessage, error) {
			return h.Calls.Call(ctx, call.Request{By: by, Name: nosyTool})
		},
	}}}})
	s.methods.AskPrefix = "tabhub-"
	c := streamTo(t, s)
	c.ask(strings.Replace(initializeLine("2025-06-18"), `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + nosyTool + `"}}`
	c.send(call)
	c.want(`{"jsonrpc":"2.0","id":"tabhub-1","method":"elicitation/create","params":{"message":"nosy.example.com asks: Your name?",` + form + `}}`)
	c.send(`{"jsonrpc":"2.0","id":"tabhub-1","result":{"action":"accept","content":{"name":"Ada"}}}`)
	c.want(`{"jsonrpc":"2.0","id":"tabhub-2","method":"elicitation/create","params":{"message":"nosy.example.com asks: Your colour, Ada?",` + form + `}}`)
	c.send(`{"jsonrpc":"2.0","id":"tabhub-2","result":{"action":"accept","content":{"colour":"red"}}}`)
	c.wantOf("nosy.example.com", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"red"}]}}`)

	// Through a tool of the hub's own, too, as through the proxy tool.
	c.send(strings.Replace(call, nosyTool, "door", 1))
	for i, answer := range []string{`"name":"Ada"`, `"colour":"blue"`} {
		c.next()
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"tabhub-%d","result":{"action":"accept","content":{%s}}}`, 3+i, answer))
	}
	c.wantOf("nosy.example.com", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"blue"}]}}`)

	// The client refuses, cancels, or answers what does not help.
	c.send(call)
	c.next()
	c.send(`{"jsonrpc":"2.0","id":"tabhub-5","error":{"code":-1,"message":"not now"}}`)
	if got := c.next(); !strings.Contains(got, "TOOL_ERROR") || !strings.Contains(got, "not now") {
		t.Error(got)
	}
	c.send(call)
	c.next()
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	c.want(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"tabhub-6","reason":"the call has ended"}}`)
	c.send(call)
	for i := range methods.MaxRounds - 1 {
		c.next()
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"tabhub-%d","result":{"action":"decline"}}`, 7+i))
	}
	if got := c.next(); !strings.Contains(got, "asked back 8 times") {
		t.Error(got)
	}

	mute := streamTo(t, s)
	mute.initialize("2025-06-18")
	if got := mute.ask(call); !strings.Contains(got, "TOOL_ERROR") || !strings.Contains(got, "elicitation") {
		t.Errorf("a client that cannot be asked: %s", got)
	}
}

// A page that learns that a client can be asked asks, and would fail where it cannot be.
func TestPagesLearnWhetherTheClientCanBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hubtest.Open(t, hub.Options{})
		h.JoinTab("https://nosy.example.com", func(_ context.Context, in tabtransport.Incoming) (spec.Response, error) {
			told := in.Request.(*spec.ExecuteTool).Extensions["clientCapabilities"]
			return spec.Response{Result: builtin.Text(string(told))}, nil
		}, `{"name":"ask","inputSchema":{"type":"object"}}`)
		c := inBubble(t, New(h.ClientView(), Options{Options: methods.Options{Builtin: proxytool.New(h.ClientView(), nil, nil)}}))
		resp := c.do("POST", "/mcp", strings.Replace(initializeLine("2025-06-18"), `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
		resp.Body.Close()
		c.header.Set("Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"))
		op := `{"action":"call","type":"tool","path":"` + nosyTool + `"}`
		for i, test := range []struct {
			params, accept string
			told           bool
		}{
			{`{"name":"` + nosyTool + `"}`, "application/json, text/event-stream", true},
			{`{"name":"` + nosyTool + `"}`, "application/json", false},
			{`{"name":"proxy","arguments":` + op + `}`, "application/json, text/event-stream", true},
			{`{"name":"proxy","arguments":{"action":"batch","operations":[` + op + `]}}`, "application/json, text/event-stream", false},
		} {
			_, body := c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, i+2, test.params), "Accept", test.accept)
			if strings.Contains(body, `"text":"{\"elicitation\":{}}"`) != test.told {
				t.Errorf("%s, %s: %s", test.params, test.accept, body)
			}
		}
	})
}
