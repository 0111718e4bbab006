package mcpserver

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub"
	"tabhub/hub/builtin/proxytool"
	"tabhub/hub/call/ledger"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/hubtest"
	"tabhub/hub/lists"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// stuck is a hub with a page that answers nothing before its request ends.
func stuck(t *testing.T) (_ *hubtest.Hub, _ *Server, log *strings.Builder) {
	h := hubtest.Open(t, hub.Options{})
	log = &strings.Builder{}
	s := New(h.ClientView(), Options{Options: methods.Options{Builtin: proxytool.New(h.ClientView(), nil, nil), Log: slog.New(slog.NewTextHandler(log, nil))}})
	tab := h.JoinTab("https://shop.example.com", func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
		<-ctx.Done()
		return spec.Response{}, ctx.Err()
	}, `{"name":"pay","inputSchema":{"type":"object"}}`)
	h.Register(tab, spec.KindResource, `{"uri":"shop://cart","name":"cart"}`)
	h.Register(tab, spec.KindPrompt, `{"name":"greet"}`)
	synctest.Wait()
	return h, s, log
}

const tasksMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"` + methods.ExtTasks + `":{}}}}`

// A client learns that the owner has stopped what it asked for, or paused it, whatever that is; a call
// that might have become a task becomes none.
func TestOwnerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s, log := stuck(t)
		c := &ofHTTP{web: inBubble(t, s), modern: true}
		uri, _ := rawjson.String(rawjson.Get(h.Lists.List(lists.ListResources).Items[0].JSON, "uri"))
		prompt, _ := rawjson.String(rawjson.Get(h.Lists.List(lists.ListPrompts).Items[0].JSON, "name"))
		for n, tt := range []struct{ method, name, params string }{
			{"tools/call", pay, `"name":"` + pay + `",` + tasksMeta},
			{"tools/call", "proxy", `"name":"proxy","arguments":{"action":"call","type":"resource","path":"` + uri + `"},` + tasksMeta},
			{"resources/read", uri, `"uri":"` + uri + `",` + tasksMeta},
			{"prompts/get", prompt, `"name":"` + prompt + `",` + tasksMeta},
		} {
			for _, end := range []struct {
				do   func(id string)
				want string
			}{
				{func(id string) { h.Owner.Stop(id) }, "the owner has stopped this call; it may have taken effect"},
				{func(string) { pauseAll(t, h, true) }, "the owner has paused this while the call was under way; it may have taken effect"},
			} {
				got := make(chan string, 1)
				go func() {
					_, body := c.post(`{"jsonrpc":"2.0","id":1,"method":"`+tt.method+`","params":{`+tt.params+`}}`, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", tt.method, "Mcp-Name", tt.name)
					got <- body
				}()
				synctest.Wait()
				all, _ := h.Owner.Running()
				if len(all) != 1 {
					t.Fatalf("%d: %+v", n, all)
				}
				end.do(all[0].ID)
				if answer := <-got; !strings.Contains(answer, end.want) {
					t.Errorf("%s: %s", tt.method, answer)
				}
				pauseAll(t, h, false)
			}
		}
		if log.String() != "" {
			t.Error(log.String())
		}
	})
}

func pauseAll(t *testing.T, h *hubtest.Hub, paused bool) {
	if err := h.Rules.EditPolicy("test", func(doc *policy.Document) error {
		if doc.Pauses = nil; paused {
			doc.Pauses = []policy.Pause{{Since: time.Now()}}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// A task that the owner has stopped ends with that, be it what a tool of the hub does for its client.
func TestOwnerStopsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s, log := stuck(t)
		c := inBubble(t, s)
		uri, _ := rawjson.String(rawjson.Get(h.Lists.List(lists.ListResources).Items[0].JSON, "uri"))
		_, task := c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"proxy","arguments":{"action":"call","type":"resource","path":"`+uri+`"},`+tasksMeta+`}}`, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "proxy")
		id, _ := rawjson.String(rawjson.Get([]byte(task), "result", "taskId"))
		all, _ := h.Owner.Running()
		h.Owner.Stop(all[0].ID)
		synctest.Wait()
		if got, _ := h.Calls.Ledger().Task("test", id); got.Status != ledger.Completed || !strings.Contains(string(got.Result), "the owner has stopped this call") || log.String() != "" {
			t.Errorf("%s: %s %s, logged %s", task, got.Result, got.Error, log)
		}
	})
}

// That a client cancels its task is nothing to log.
func TestCancelledTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s, log := stuck(t)
		c := inBubble(t, s)
		_, task := c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+pay+`",`+tasksMeta+`}}`, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", pay)
		id, _ := rawjson.String(rawjson.Get([]byte(task), "result", "taskId"))
		if _, answer := c.post(`{"jsonrpc":"2.0","id":2,"method":"tasks/cancel","params":{"taskId":"`+id+`",`+tasksMeta+`}}`, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tasks/cancel", "Mcp-Name", id); !strings.Contains(answer, "complete") {
			t.Errorf("%s: %s", task, answer)
		}
		if synctest.Wait(); log.String() != "" {
			t.Error(log.String())
		}
	})
}
