package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/lists"
	"tabhub/spec"
)

func TestReloadKeepsNumberAndIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		a := w.page("https://e.com", "a")
		w.register(a, 0, tools("https://e.com/", "x"))
		time.Sleep(time.Second)
		var changes atomic.Int32
		defer w.hub.Lists.Watch(func(lists.Change) { changes.Add(1) })()
		a.Cut()
		time.Sleep(2 * time.Second)
		w.wantNames("e_com_x")
		a = w.page("https://e.com", "a")
		w.register(a, 0, tools("https://e.com/", "x"))
		time.Sleep(time.Minute)
		if changes.Load() != 0 {
			t.Errorf("a reload sent %d notices", changes.Load())
		}
		c := w.call(t.Context(), "e_com_tab1_x")
		answer(a, a.Next(), "still tab 1")
		c.want(t, "still tab 1")
		a.Cut()
		time.Sleep(spec.TabGrace + time.Second)
		w.wantNames("")
		if changes.Load() != 1 {
			t.Errorf("%d notices when the last tab went, want 1", changes.Load())
		}
	})
}

func TestBurstIsOneNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		var changes atomic.Int32
		defer w.hub.Lists.Watch(func(lists.Change) { changes.Add(1) })()
		for i := range 200 {
			p := w.page(fmt.Sprintf("https://s%d.com", i), "a")
			p.Notify(0, tools("", "x", "y"))
		}
		time.Sleep(time.Second)
		if n := len(w.hub.Lists.List(lists.ListTools).Items); n != 400 || changes.Load() != 1 {
			t.Errorf("%d tools, %d notices", n, changes.Load())
		}
	})
}

func TestRegistrationIsIdempotent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, tools("https://e.com/", "x", "y"))
		before := w.hub.Lists.List(lists.ListTools)
		w.register(p, 0, tools("https://e.com/", "x", "y"))
		if w.hub.Lists.List(lists.ListTools) != before {
			t.Error("the same registration made a new list")
		}
		// An update before a register, and one that takes a tool away.
		m := tools("https://e.com/", "y")
		m.Update = true
		w.register(p, 0, m)
		w.wantNames("e_com_y")
	})
}

func TestBadItemsAreQuarantined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		m := tools("", "good")
		for _, bad := range []string{
			`{"description":"no name"}`, `[]`, `"x"`, `{"name":""}`, `{"name":7}`, `{"name":"good"}`,
			`{"name":"` + strings.Repeat("n", 129) + `"}`, `{"name":"h","frameId":"top"}`,
		} {
			m.Items = append(m.Items, json.RawMessage(bad))
		}
		m.Rejected = []spec.Rejection{{Name: "frame", Reason: "has no\u202e origin"}}
		r := w.register(p, 0, m)
		if r.Accepted != 1 || len(r.Rejected) != len(m.Items)-1 {
			t.Errorf("accepted %d, rejected %d of %d", r.Accepted, len(r.Rejected), len(m.Items))
		}
		w.wantNames("e_com_good")
		if info := w.hub.Tabs(nil)[0]; len(info.Rejected) != len(m.Items) || info.Rejected[len(m.Items)-1].Reason != "has no origin" {
			t.Errorf("the owner sees %+v", info.Rejected)
		}
		for _, it := range w.hub.Lists.List(lists.ListTools).Items {
			if !json.Valid(it.JSON) {
				t.Errorf("listed %s", it.JSON)
			}
		}
	})
}

// A part that is not valid costs a tool no more than that part, and its page and user see
// which it is.
func TestBadPartsAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		m := &spec.Register{Kind: spec.KindTool}
		for _, bad := range []string{
			`{"name":"a","inputSchema":[]}`, `{"name":"b","inputSchema":{"type":"string"}}`, `{"name":"c","annotations":[]}`,
			`{"name":"d","annotations":{"readOnlyHint":"yes"}}`, `{"name":"e","_meta":1}`, `{"name":"f","outputSchema":{"type":["object","null"]}}`,
			`{"name":"g","icons":[{}]}`,
		} {
			m.Items = append(m.Items, json.RawMessage(bad))
		}
		r := w.register(p, 0, m)
		if r.Accepted != 7 || len(r.Rejected) != 0 || len(r.Warnings) != 7 || r.Warnings[1].Name != "b" {
			t.Errorf("registered %+v", r)
		}
		w.wantNames("e_com_a e_com_b e_com_c e_com_d e_com_e e_com_f e_com_g")
		if info := w.hub.Tabs(nil)[0]; len(info.Warnings) != 7 {
			t.Errorf("%d warnings are visible", len(info.Warnings))
		}
		c := w.call(t.Context(), "e_com_b")
		answer(p, p.Next(), "done")
		c.want(t, "done")
	})
}

func TestNothingOfAToolIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		rest := `"title":"T","inputSchema":{"type":"object","$defs":{"n":{"const":9007199254740993}},"properties":{"n":{"$ref":"#/$defs/n"}}},"outputSchema":{"type":"object","properties":{}},"annotations":{"title":"A","readOnlyHint":true,"openWorldHint":true},"_meta":{"tags":["\u00e9\/"],"com.e/k":{"a":[1.50,1e2]}}`
		w.register(p, 0, &spec.Register{Kind: spec.KindTool, Items: []json.RawMessage{json.RawMessage(`{"name":"a.b","description":"d \"q\"",` + rest + `}`)}})
		got := string(jsonOf(w.hub.Lists.List(lists.ListTools)))
		// The schemas come last, whatever the order they came in; each member stays its bytes.
		for _, member := range []string{
			`"title":"T"`, `"inputSchema":{"type":"object","$defs":{"n":{"const":9007199254740993}},"properties":{"n":{"$ref":"#/$defs/n"}}}`,
			`"outputSchema":{"type":"object","properties":{}}`, `"annotations":{"title":"A","readOnlyHint":true,"openWorldHint":true}`, `"_meta":{"tags":["\u00e9\/"],"com.e/k":{"a":[1.50,1e2]}}`, `d \"q\"`,
		} {
			if !strings.Contains(got, member) {
				t.Errorf("%s is not in %s", member, got)
			}
		}
		w.wantNames("e_com_a_b")
	})
}

// closing is a log that closes a tab as soon as a registration of it is being read.
type closing struct {
	slog.Handler
	hub *Hub
	tab spec.TabAddr
}

func (c *closing) Enabled(context.Context, slog.Level) bool { return true }

func (c *closing) WithAttrs([]slog.Attr) slog.Handler { return c }

func (c *closing) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "empty registration" {
		c.hub.Core.Handler().Message(c.tab, nil, &spec.TabClosed{})
	}
	return nil
}

// A tab that is closed while its registration is being read must not come back with
// it: nobody would close it again.
func TestTabThatIsClosedWhileItRegistersIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &closing{tab: spec.TabAddr{Peer: "browser:b1", Tab: 1}}
		w := newFixture(t, Options{Log: slog.New(log)})
		log.hub = w.hub
		b := w.chrome("b1", "s1")
		if raw, err := b.Ask(1, tools("https://e.com/")); err == nil || !strings.Contains(err.Error(), "the tab was closed") {
			t.Errorf("registered %s, %v", raw, err)
		}
		if tabs := w.hub.Tabs(nil); len(tabs) != 0 {
			t.Errorf("still there: %+v", tabs)
		}
	})
}
