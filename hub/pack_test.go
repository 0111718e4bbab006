package hub

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/lists"
	"tabhub/hub/offer/pack"
	"tabhub/hub/packs"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
)

// shopPack is a pack whose tool "order" presses a button and reads the order's number, and whose tool "find"
// only reads. more are members of the document.
func shopPack(t *testing.T, button string, more ...string) *pack.Pack {
	t.Helper()
	doc, err := pack.Parse([]byte(`{"tabhubPack":1,"name":"shop","match":["https://shop.example.com/*"],` + strings.Join(more, "") + `"tools":[
		{"name":"order","description":"Orders the cart","inputSchema":{"type":"object","properties":{"note":{"type":"string","pattern":"^[a-z]*$"}},"additionalProperties":false},
		 "outputSchema":{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"]},
		 "steps":[{"click":{"target":{"role":"button","name":"` + button + `"}}},{"read":{"fields":{"number":{"target":{"selector":"#n"},"give":"number"}}}}]},
		{"name":"find","description":"Finds products","annotations":{"readOnlyHint":true},"on":["https://shop.example.com/search*"],
		 "steps":[{"read":{"fields":{"title":{"target":{"role":"heading"}}}}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// packFixture is a hub with a pack that its owner has accepted.
type packFixture struct {
	*fixture
	pack *pack.Pack
	runs []*spec.Run // that were sent
}

func newPackFixture(t *testing.T, opts Options) *packFixture {
	w := &packFixture{fixture: newFixture(t, opts)}
	w.sent = func(req spec.Request, _ tabtransport.Wait) {
		if run, ok := req.(*spec.Run); ok {
			w.runs = append(w.runs, run)
		}
	}
	w.accept(shopPack(t, "Order"))
	return w
}

func (w *packFixture) accept(doc *pack.Pack) {
	w.t.Helper()
	if _, err := w.hub.Packs.Add(doc, packs.AddOptions{By: "cli", Accept: true}); err != nil {
		w.t.Fatal(err)
	}
	w.pack = doc
}

// conn is the connection of a browser that knows packs.
func (w *packFixture) conn(session string) tabtransport.Conn {
	c := chromeConn("b", session, "")
	c.Pairing = "p1"
	c.Hello.Capabilities = append(c.Hello.Capabilities, spec.CapPacks, spec.CapResume)
	return c
}

func (w *packFixture) browser(session string) tabtest.End {
	w.t.Helper()
	return w.dial(w.conn(session))
}

// offer registers tools of the pack in a tab, as the extension does.
func (w *packFixture) offer(ask func(int64, spec.Inbound) (json.RawMessage, error), tab int64, names ...string) {
	w.t.Helper()
	m := &spec.Register{Kind: spec.KindTool, TabURL: "https://shop.example.com/search"}
	for _, name := range names {
		raw, _ := json.Marshal(map[string]any{"name": name, "frameId": 0, "origin": "https://shop.example.com", "pack": w.pack.Ref()})
		m.Items = append(m.Items, raw)
	}
	if answer, err := ask(tab, m); err != nil || !strings.Contains(string(answer), `"rejected":[]`) {
		w.t.Fatalf("register: %s, %v", answer, err)
	}
}

// call calls a tool of the pack.
func (w *packFixture) call(tool, args string) *pendingCall {
	c := &pendingCall{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.result, c.err = w.hub.Calls.Call(w.t.Context(), call.Request{By: tester, Name: "pack_shop_shop_example_com_" + tool, Args: json.RawMessage(args)})
	}()
	return c
}

// give answers a run with a spec.RunResult.
func give(e tabtest.End, r tabtest.Request, result string) {
	e.Answer(r, spec.Response{Result: json.RawMessage(result)}, nil)
}

// done is the report of a click that was done.
const done = `{"verb":"click","did":"yes","words":"clicked button \"Order\""}`

// What a pack's call has done must be told as it was: to a model, "failed" means to try again.
func TestCallOfAPacksTool(t *testing.T) {
	inactive := spec.Errorf(spec.CodeTabNotFound, "the pack is not active in this browser")
	inactive.Data = json.RawMessage(`{"delivered":false}`)
	for name, tt := range map[string]struct {
		answer string
		err    *spec.Error
		times  int // that it is sent
		want   []string
		record string
	}{
		"a result": {answer: `{"steps":[` + done + `,{"verb":"read","did":"yes"}],"value":{"number":7}}`,
			want: []string{`"structuredContent":{"number":7}`, `clicked button`}, record: "ok"},
		"a result that does not fit": {answer: `{"steps":[` + done + `,{"verb":"read","did":"yes"}],"value":{"number":"seven"}}`,
			want: []string{`"isError":true`, `/number`, `do not repeat the call`, `clicked button`}, record: "TOOL_ERROR"},
		"a step fails": {answer: `{"steps":[` + done + `,{"verb":"read","did":"no"}],"failed":{"step":1,"code":"STEP_NOT_FOUND","message":"there is no #n","found":["text \"Sold out\""]}}`,
			want: []string{`"isError":true`, `Step 2 of 2`, `STEP_NOT_FOUND`, `Sold out`, `Step 1 was done`}, record: "TOOL_ERROR"},
		"nothing was done": {answer: `{"steps":[{"verb":"click","did":"no"}],"failed":{"step":0,"code":"STEP_NOT_FOUND","message":"there is no button \"Order\""}}`,
			want: []string{`"isError":true`, `Nothing was done.`}, record: "TOOL_ERROR"},
		"no result of a run": {answer: `{"success":true}`, want: []string{`"isError":true`}, record: "TOOL_ERROR"},
		"no object":          {answer: `7`, want: []string{`cannot be read`, `It may have taken effect`}, record: "TOOL_ERROR"},
		"the page gave way": {answer: `{"steps":[` + done + `,{"verb":"read","did":"yes"}],"value":{"number":7},"page":{"url":"https://shop.example.com/thanks","title":"Thanks"}}`,
			want: []string{`"number":7`, `The page is now at https://shop.example.com/thanks`}, record: "ok"},
		"the browser has another version": {err: inactive, times: 1 + spec.RetryAttempts, want: []string{`NOT_CONNECTED`, `not active in this browser`}, record: "NOT_CONNECTED"},
		"the browser was started anew": {err: spec.Errorf(spec.CodeTabNotFound, "the extension was started anew; the call was sent before, and it may have taken effect"),
			want: []string{`TAB_CLOSED`, `the extension was started anew; the call was sent before, and it may have taken effect`}, record: "TAB_CLOSED"},
		"the browser refuses": {err: spec.Errorf(spec.CodeInternal, "it broke"), want: []string{`TOOL_ERROR`, `it broke`}, record: "TOOL_ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPackFixture(t, Options{})
				b := w.browser("s1")
				w.offer(b.Ask, 1, "order")
				c := w.call("order", `{"note":"x"}`)
				for range max(tt.times, 1) {
					r := b.Next()
					if r.Method != spec.MethodRun {
						t.Fatalf("sent %s", r.Method)
					}
					b.Answer(r, spec.Response{Result: json.RawMessage(tt.answer)}, tt.err)
				}
				for _, want := range tt.want {
					c.want(t, want)
				}
				run := w.runs[0]
				if run.Pack != w.pack.Ref() || run.ToolName != "order" || len(run.Steps) != 2 || string(run.Args) != `{"note":"x"}` || run.Origin != "https://shop.example.com" || run.FrameID == nil {
					t.Errorf("sent %+v", run)
				}
				if e := lastCall(w.fixture); e.Outcome != tt.record || e.Tool != "order" || e.Pack != "shop" {
					t.Errorf("recorded %+v", e)
				}
			})
		})
	}
}

// Arguments become parts of addresses and fields, where no code of the page looks at them: they are checked
// whatever the site's settings say.
func TestArgumentsOfAPackAreChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPackFixture(t, Options{})
		w.offer(w.browser("s1").Ask, 1, "order")
		for _, check := range []storage.ArgumentCheck{"", storage.CheckLenient, storage.CheckOff} {
			if err := w.hub.SetSite(storage.Site{Domain: "shop.example.com", Check: check}); err != nil {
				t.Fatal(err)
			}
			w.call("order", `{"note":"../delete"}`).want(t, "INVALID_ARGUMENTS")
		}
		if len(w.runs) > 0 {
			t.Errorf("sent %+v", w.runs)
		}
	})
}

// What is lost must not be begun anew, and what was heard of it is all that the client can go by.
func TestLostRunOfAPack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPackFixture(t, Options{})
		var tabs []int64 // where a run has come
		var b *tabtransport.Local
		serve := func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
			if tabs = append(tabs, in.Tab); len(tabs) == 3 {
				return spec.Response{Result: json.RawMessage(`{"steps":[{"verb":"read","did":"yes"}],"value":{"title":"Shop"}}`)}, nil
			}
			in.Progress(1, nil, `step 1 of 2: clicked button "Order"`)
			b.Send(in.Tab, &spec.TabClosed{})
			<-ctx.Done()
			return spec.Response{}, context.Cause(ctx)
		}
		var err error
		if b, err = w.peers.Join(t.Context(), w.conn("s1"), serve); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		for tab := range int64(3) {
			w.offer(func(tab int64, m spec.Inbound) (json.RawMessage, error) { return b.Ask(t.Context(), tab, m) }, 1+tab, "order", "find")
		}
		c := w.call("order", `{}`)
		c.want(t, `TAB_CLOSED`)
		c.want(t, `It may have taken effect. The last that was heard of it: step 1 of 2 was done.`)
		if len(tabs) != 1 {
			t.Errorf("it was sent to the tabs %d", tabs)
		}
		w.call("find", `{}`).want(t, `"title":"Shop"`)
		if len(tabs) != 3 || tabs[1] == tabs[2] {
			t.Errorf("what only reads was sent to the tabs %d", tabs[1:])
		}
	})
}

// While a call waits, the owner may remove the pack or accept other steps: nothing of that call may be sent.
func TestPackThatChangesUnderACall(t *testing.T) {
	for name, change := range map[string]func(w *packFixture){
		"removed": func(w *packFixture) {
			if err := w.hub.Packs.Remove("shop", "cli"); err != nil {
				w.t.Error(err)
			}
		},
		"changed": func(w *packFixture) { w.accept(shopPack(w.t, "Delete")) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPackFixture(t, Options{})
				b := w.browser("s1")
				w.offer(b.Ask, 1, "order")
				b.Cut()
				synctest.Wait()
				c := w.call("order", `{}`)
				synctest.Wait()
				change(w)
				c.want(t, "nothing was sent")
				c.want(t, "the pack shop was removed, or another version of it was accepted")
				if len(w.runs) > 0 {
					t.Errorf("sent %+v", w.runs)
				}
			})
		})
	}
}

// A window that asks about a pack which its owner has just removed asks about nothing.
func TestQuestionEndsWithThePack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPackFixture(t, Options{Mode: policy.ModeCareful, Paired: func() bool { return true }})
		conn := w.conn("s1")
		conn.Hello.Capabilities = append(conn.Hello.Capabilities, spec.CapAsk)
		b := w.dial(conn)
		w.offer(b.Ask, 1, "order")
		c := &pendingCall{done: make(chan struct{})}
		go func() {
			defer close(c.done)
			by := &consent.Caller{Principal: &policy.Principal{ID: "claude"}, Session: "s1"}
			c.result, c.err = w.hub.Calls.Call(t.Context(), call.Request{By: by, Name: "pack_shop_shop_example_com_order"})
		}()
		asked := b.Next()
		if asked.Method != spec.MethodAsk {
			t.Fatalf("sent %s", asked.Method)
		}
		if err := w.hub.Packs.Remove("shop", "cli"); err != nil {
			t.Fatal(err)
		}
		c.want(t, "the pack shop was removed")
		if b.Cancelled() != asked.ID || len(w.runs) > 0 {
			t.Errorf("%d runs", len(w.runs))
		}
	})
}

// A call that a page was sent before the hub's process ended: its answer counts if its pack is still the same.
func TestRunOutlivesTheHub(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(w *packFixture)
		want   []string
	}{
		"the same": {func(*packFixture) {}, []string{"completed", `"number":7`, `"pack":"shop"`}},
		"removed":  {func(w *packFixture) { _ = w.hub.Packs.Remove("shop", "cli") }, []string{"may have taken effect", "not active"}},
		"changed":  {func(w *packFixture) { w.accept(shopPack(w.t, "Delete")) }, []string{"may have taken effect", "not active"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPackFixture(t, Options{})
			b := w.browser("s1")
			w.offer(b.Ask, 1, "order")
			id, stop, c := w.task("pack_shop_shop_example_com_order")
			r := b.Next()
			stop(tabtransport.ErrLeft)
			c.want(t, tabtransport.ErrLeft.Error())
			tt.change(w)
			w.restart()
			b = w.browser("s1")
			give(b, r, `{"steps":[`+done+`,{"verb":"read","did":"yes"}],"value":{"number":7}}`)
			got := w.ended(id)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("ended %s, want %s", got, want)
				}
			}
			if name == "changed" && w.hub.Packs.Pack(w.pack.Ref()) == nil {
				t.Error("the accepted version is not active after the restart")
			}
		})
	}
}

// A pack is of most use where no tab is open: its tools are listed, and a call opens the page where they are.
func TestStartOfAPack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPackFixture(t, Options{})
		w.accept(shopPack(t, "Order", `"start":"/start",`))
		w.restart()
		if got := w.names(); got != "pack_shop_shop_example_com_order" {
			t.Errorf("listed %q: only order is on the page of start", got)
		}
		c := w.call("order", `{}`)
		c.want(t, "TAB_NOT_FOUND")

		var opened *spec.OpenTab
		w.sent = func(req spec.Request, _ tabtransport.Wait) {
			if open, ok := req.(*spec.OpenTab); ok {
				opened = open
			}
		}
		b := w.browser("s1")
		c = w.call("order", `{}`)
		r := b.Next()
		if opened == nil || opened.URL != "https://shop.example.com/start" {
			t.Fatalf("%s, opened %+v", r.Method, opened)
		}
		give(b, r, `{"tabId":4}`)
		w.offer(b.Ask, 4, "order", "find")
		give(b, b.Next(), `{"steps":[`+done+`,{"verb":"read","did":"yes"}],"value":{"number":7}}`)
		c.want(t, `"number":7`)
		if err := w.hub.Packs.Remove("shop", "cli"); err != nil {
			t.Fatal(err)
		}
		if got := w.names(); got != "" {
			t.Errorf("a pack that was removed is listed: %q", got)
		}
	})
}

// A model must see whose tool it takes, and is offered the site's own where there is one.
func TestWhosePacksToolIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPackFixture(t, Options{})
		b := w.browser("s1")
		w.offer(b.Ask, 1, "order")
		got := string(jsonOf(w.hub.Lists.List(lists.ListTools)))
		for _, want := range []string{`[{"name":"pack_shop_shop_example_com_order","description":"[shop.example.com, pack shop] Orders the cart",`, `,"title":"order (pack shop)",`} {
			if !strings.Contains(got, want) {
				t.Errorf("listed %s, want %s", got, want)
			}
		}
		own := w.page("https://shop.example.com", "k")
		w.register(own, 0, tools("https://shop.example.com/", "order"))
		w.wantNames("shop_example_com_order")
		c := w.call("order", `{}`) // by the name that a client has from before
		give(b, b.Next(), `{"steps":[`+done+`,{"verb":"read","did":"yes"}],"value":{"number":7}}`)
		c.want(t, `"domain":"shop.example.com","verified":true,"tab":`)
		c.want(t, `,"pack":"shop"}`)
		own.Cut()
		time.Sleep(spec.TabGrace + time.Second)
		w.wantNames("pack_shop_shop_example_com_order")
	})
}

// lastCall returns the last call of the record.
func lastCall(w *fixture) record.Entry {
	w.t.Helper()
	entries := w.record.Entries(record.Query{Event: record.Call})
	if len(entries) == 0 {
		w.t.Fatal("no call was recorded")
	}
	return entries[len(entries)-1]
}
