package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tabhub/spec/rawjson"
	"tabhub/tabtransport/tabtest/chromium"
)

// taskMeta makes a request one of a client that takes tasks.
const taskMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}},"io.modelcontextprotocol/clientInfo":{"name":"tasks","version":"1"}}`

// task is a call that its client has left.
type task struct {
	c  *client
	id string
}

// task calls a tool, which must become a task, and listens to it.
func (c *client) task(tool, args string) task {
	c.t.Helper()
	a := c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s,%s}`, tool, args, taskMeta))
	id, ok := rawjson.String(rawjson.Get(a.result, "taskId"))
	if !ok {
		c.t.Fatalf("%s became no task: %s %s", tool, a.result, a.err)
	}
	x := task{c, id}
	x.listen()
	return x
}

func (x task) listen() {
	x.c.begin("subscriptions/listen", fmt.Sprintf(`{"notifications":{"taskIds":[%q]},%s}`, x.id, taskMeta))
}

// comeBack ends the client and kills the hub, and returns the task as a later client has it, with
// the hub that this one starts. meanwhile is called while there is none.
func (x task) comeBack(p *place, meanwhile func()) task {
	x.c.t.Helper()
	x.c.close()
	p.kill()
	meanwhile()
	x.c = p.stdio()
	x.listen()
	return x
}

// await looks at the task after each notice until a member of it is as wanted.
func (x task) await(want string, path ...string) json.RawMessage {
	x.c.t.Helper()
	late := time.After(timeout)
	for {
		x.c.mu.Lock()
		changed := x.c.changed
		x.c.mu.Unlock()
		a := x.c.ask("tasks/get", fmt.Sprintf(`{"taskId":%q,%s}`, x.id, taskMeta))
		if got, _ := rawjson.String(rawjson.Get(a.result, path...)); strings.Contains(got, want) {
			return rawjson.Get(a.result, "result")
		}
		select {
		case <-changed:
		case <-late:
			x.c.t.Fatalf("the task is not %s but %s %s", want, a.result, a.err)
		}
	}
}

// slowPage offers a tool that works until the page is told to finish.
const slowPage = `<!doctype html><title>Slow</title>%s<form toolname="book" tooldescription="Books a table"><input name="guests"><button>Book</button></form>
<script>
	window.runs = 0;
	document.querySelector('form').onsubmit = (e) => { e.preventDefault(); e.respondWith?.(Promise.resolve('booked')); };
	const execute = () => { runs++; return new Promise((done) => { window.finish = () => done('worked'); }); };
	document.modelContext.registerTool({name: 'work', description: 'Works for long', execute});
</script>`

func serveSlow(t *testing.T, head string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, slowPage, head)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A page in a real browser works on while the hub is killed, and its answer reaches the client
// that comes back for it: also when the page finishes while there is no hub, and when the
// extension's worker is stopped as well. A page that was reloaded has forgotten the call.
func TestTaskOfARealPage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		meanwhile func(b *chromium.Browser, page *chromium.Page)
		after     func(page *chromium.Page)
		want      string
		runs      string
	}{
		"finishes afterwards": {
			after: func(page *chromium.Page) { page.Eval("finish()") },
			want:  "worked", runs: "1",
		},
		"finishes without a hub": {
			meanwhile: func(_ *chromium.Browser, page *chromium.Page) { page.Eval("finish()") },
			want:      "worked", runs: "1",
		},
		"its worker is stopped": {
			meanwhile: func(b *chromium.Browser, page *chromium.Page) { b.StopWorker(); page.Eval("finish()") },
			want:      "worked", runs: "1",
		},
		"is reloaded": {
			meanwhile: func(_ *chromium.Browser, page *chromium.Page) { page.Reload() },
			want:      "may have taken effect", runs: "0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.serve("--task-after", "100ms")
			c := p.stdio()
			b := p.browse()
			page := b.Open(serveSlow(t, ""))
			work := c.awaitTools("the page's tools are listed", func(l tools) bool { return l.named("_work") != "" }).named("_work")
			x := c.task(work, "{}").comeBack(p, func() {
				if tt.meanwhile != nil {
					tt.meanwhile(b, page)
				}
			})
			if tt.after != nil {
				tt.after(page)
			}
			if result := x.await("completed", "status"); !strings.Contains(string(result), tt.want) {
				t.Errorf("the task ended with %s, want %s", result, tt.want)
			}
			if runs := page.Eval("runs"); runs != tt.runs {
				t.Errorf("the page ran it %s times, want %s", runs, tt.runs)
			}
		})
	}
}

// The same for a page that joins by the hub's own script.
func TestTaskOfAPageThatJoins(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve("--task-after", "100ms")
	c := p.stdio()
	b := chromium.Start(t, chromium.Options{})
	page := b.Open(serveSlow(t, `<script src="http://`+p.tabsAt()+`/tab.js"></script>`))
	work := c.awaitTools("the page's tools are listed", func(l tools) bool { return l.named("_work") != "" }).named("_work")
	x := c.task(work, "{}").comeBack(p, func() { page.Eval("finish()") })
	if result := x.await("completed", "status"); !strings.Contains(string(result), "worked") {
		t.Errorf("the task ended with %s", result)
	}
	if runs := page.Eval("runs"); runs != "1" {
		t.Errorf("the page ran it %s times", runs)
	}
}

// A call that waits for a person is a task at once: for the one who submits a form, and for the
// owner who is asked whether it may be made.
func TestTaskWaitsForAPerson(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve("--policy", "ask", "--task-after", "1h")
	b := p.browseWith(chromium.Options{WebMCP: true, Windows: true})
	page := b.Open(serveSlow(t, ""))
	c := p.stdio()
	book := c.awaitTools("the form is listed", func(l tools) bool { return l.named("_book") != "" }).named("_book")
	x := c.task(book, `{"guests":"4"}`)
	x.await("waiting for the owner's answer in the browser", "statusMessage")
	b.Window("ask.html").ClickLast("#yes")
	x.await("waiting for the person to submit the form", "statusMessage")
	page.WaitFor("document.querySelector('input').value === '4'") // the call says a moment earlier that it waits
	page.Eval("document.querySelector('button').click()")
	if result := x.await("completed", "status"); !strings.Contains(string(result), "booked") {
		t.Errorf("the task ended with %s", result)
	}

	x = c.task(book, `{"guests":"5"}`)
	b.Window("ask.html").ClickLast("#no")
	if result := x.await("completed", "status"); !strings.Contains(string(result), "DENIED") {
		t.Errorf("the task ended with %s", result)
	}
}

// Another client of the hub learns nothing of a task, and cannot end it.
func TestTaskIsItsClients(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve("--task-after", "100ms")
	c := p.stdio()
	finish := make(chan struct{})
	p.open(&tab{key: "one", tools: `[{"name":"work","description":"Works","inputSchema":{"type":"object"}}]`, run: func(string, json.RawMessage) string {
		<-finish
		return echo(json.RawMessage(`{}`))
	}})
	work := c.awaitTools("the tab's tool is listed", func(l tools) bool { return l.named("_work") != "" }).named("_work")
	x := c.task(work, "{}")
	token, stderr, exit := p.run("token", "mint", "--name", "other")
	if exit != 0 {
		t.Fatal(stderr)
	}
	for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
		header := bearer(strings.TrimSpace(token))
		header.Set("Mcp-Protocol-Version", "2026-07-28")
		header.Set("Mcp-Method", method)
		header.Set("Mcp-Name", x.id)
		resp, body, err := post(p.within(), p.url()+"/mcp", header, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"taskId":%q,"inputResponses":{},%s}}`, method, x.id, taskMeta))
		if err != nil || !strings.Contains(string(body), `"code":-32602`) {
			t.Errorf("%s of another client: %v %s %v", method, resp, body, err)
		}
	}
	close(finish)
	x.await("completed", "status")
}
