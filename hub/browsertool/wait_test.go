package browsertool_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/builtin"
	"tabhub/hub/consent"
	"tabhub/hub/policy"
	"tabhub/spec"
)

func TestWaitForATool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRig(t)
		b := w.browser("b1", everything, "https://a.example/", "https://b.example/")
		b.register(1, "https://a.example/", "x")
		var state struct {
			Tool      string
			ToolNames []string
		}
		for _, name := range []string{"pay", "website_tool_a_example__pay"} {
			start := time.Now()
			time.AfterFunc(3*time.Second, func() { b.register(1, "https://a.example/", "x", "pay") })
			w.call("browser_page", `{"action":"wait","tool":"`+name+`"}`).into(&state)
			if d := time.Since(start); d != 3*time.Second || state.Tool != "website_tool_a_example__pay" || len(state.ToolNames) != 2 {
				t.Errorf("%s: %+v after %v", name, state, d)
			}
			b.register(1, "https://a.example/", "x")
		}
		w.call("browser_page", `{"action":"wait","tabId":"1","tool":"lost","timeoutMs":3000}`).fails(spec.FailToolTimeout, `no tool "lost" can be called`)
		w.call("browser_page", `{"action":"wait","tabId":"2","tool":"x","timeoutMs":3000}`).fails(spec.FailToolTimeout, "3s")

		start := time.Now()
		time.AfterFunc(time.Second, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.tabs = slices.Delete(b.tabs, 1, 2) // without tools the hub is told nothing of its end
		})
		w.call("browser_page", `{"action":"wait","tabId":"2","tool":"x","timeoutMs":600000}`).fails(spec.FailTabNotFound, "not open")
		if d := time.Since(start); d > 3*time.Second {
			t.Errorf("noticed after %v", d)
		}
	})
}

func TestWaitForAResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRig(t)
		b := w.browser("b1", everything, "https://a.example/")
		b.offer(1, spec.KindResource, "https://a.example/", `{"uri":"shop://cart","name":"cart"}`)
		const wait = `{"action":"wait","uri":"tabhub://a.example/shop://cart"`
		time.AfterFunc(30*time.Second, func() { b.local.Send(1, &spec.ResourceUpdated{URI: "shop://cart"}) })
		start := time.Now()
		var told []float64
		by := *tester
		by.Progress = func(p spec.Progress) { told = append(told, p.Progress) }
		raw, err := builtin.Find(w.tools, "browser_page").Call(t.Context(), &by, json.RawMessage(wait+`,"timeoutMs":600000}`))
		if d := time.Since(start); err != nil || d < 30*time.Second || d > 31*time.Second || !strings.Contains(string(raw), `changed`) {
			t.Errorf("%s, %v after %v", raw, err, d)
		}
		if !slices.Equal(told, []float64{5, 10, 15, 20, 25, 30}) {
			t.Errorf("progress %v", told)
		}
		w.call("browser_page", wait+`}`).fails(spec.FailToolTimeout, "its page does not tell")
		w.call("browser_page", `{"action":"wait","uri":"tabhub://a.example/none"}`).fails(spec.FailInvalidArguments, "none")
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		if r := w.callCtx(ctx, "browser_page", wait+`,"timeoutMs":600000}`); r.raw != nil {
			t.Errorf("one that was cancelled: %s", r.raw)
		}
	})
}

// A client that is bound to a browser waits for what changes there, and for nothing else.
func TestBoundWaitForAResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRig(t)
		for _, name := range []string{"work", "home"} {
			b := w.browser(name+"-id", everything, "https://a.example/")
			b.offer(1, spec.KindResource, "https://a.example/", `{"uri":"shop://cart","name":"cart"}`)
			if err := w.hub.NameBrowser(name+"-id", name); err != nil {
				t.Fatal(err)
			}
			after := map[string]time.Duration{"home": 10 * time.Second, "work": 20 * time.Second}[name]
			time.AfterFunc(after, func() { b.local.Send(1, &spec.ResourceUpdated{URI: "shop://cart"}) })
		}
		const wait = `{"action":"wait","uri":"tabhub://a.example/shop://cart","timeoutMs":60000}`
		start := time.Now()
		go w.call("browser_page", wait) // one that is not bound hears of the first
		by := &consent.Caller{Who: &policy.Principal{ID: "c1", Name: "worker"}, Session: "s1", Bound: []string{"work"}}
		r := w.callBy(t.Context(), by, "browser_page", wait)
		if d := time.Since(start); r.IsError || d < 20*time.Second || d > 22*time.Second {
			t.Errorf("%s after %v", r.raw, d)
		}
	})
}

func TestWaitForRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRig(t)
		b := w.browser("b1", append([]spec.Capability{spec.CapRest}, everything...), "https://a.example/")
		var state struct{ URL string }
		b.rests = []string{`{"rested":true}`}
		w.call("browser_page", `{"action":"wait","for":"rest"}`).into(&state)
		if state.URL != "https://a.example/" || !slices.ContainsFunc(b.asked, func(s string) bool { return strings.Contains(s, `browser/rest {"waitMs":10001`) }) {
			t.Errorf("%+v after %q", state, b.asked)
		}
		b.rests = []string{`{"rested":false,"loading":true,"changes":12}`}
		w.call("browser_page", `{"action":"wait","for":"rest","timeoutMs":300000}`).fails(spec.FailToolTimeout,
			"did not come to rest within 5m0s: it had not loaded, its document changed 12 times")
		w.browser("b2", everything, "https://b.example/")
		w.call("browser_page", `{"action":"wait","for":"rest","tabId":"`+w.list().id(t, "https://b.example/")+`"}`).fails(spec.FailToolError, "does not offer rest")
	})
}

// A model that mixes things up is told what goes with what.
func TestWaitArguments(t *testing.T) {
	w := newRig(t)
	w.browser("b1", everything, "https://a.example/")
	for args, says := range map[string]string{
		`"for":"tool"`:                     "pass its name as tool",
		`"for":"resource"`:                 "pass its URI as uri",
		`"for":"rest","tool":"x"`:          "one wait is for one thing",
		`"tool":"x","uri":"tabhub://a/b"`:  "one wait is for one thing",
		`"uri":"tabhub://a/b","tabId":"1"`: "leave tabId and browserId out",
		`"for":"rest","timeoutMs":600001`:  "600000",
		`"for":"luck"`:                     "luck",
	} {
		w.call("browser_page", `{"action":"wait",`+args+`}`).fails(spec.FailInvalidArguments, says)
	}
}
