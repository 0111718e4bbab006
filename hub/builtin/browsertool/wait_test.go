package browsertool_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
		const wait = 13 * time.Second // between two looks at the tabs
		for _, name := range []string{"pay", "website_tool_a_example__pay"} {
			start := time.Now()
			var told []float64
			by := *tester
			by.Progress = func(p spec.Progress) { told = append(told, p.Progress) }
			time.AfterFunc(wait, func() { b.register(1, "https://a.example/", "x", "pay") })
			w.callBy(t.Context(), &by, "browser_page", `{"action":"wait","timeoutMs":60000,"tool":"`+name+`"}`).into(&state)
			if d := time.Since(start); d != wait || !slices.Equal(told, []float64{5, 10}) || state.Tool != "website_tool_a_example__pay" || len(state.ToolNames) != 2 {
				t.Errorf("%s: %+v after %v, told %v", name, state, d, told)
			}
			b.register(1, "https://a.example/", "x")
		}
		for range 100 { // as it is looked for, the tool comes
			go b.register(1, "https://a.example/", "x", "pay")
			w.call("browser_page", `{"action":"wait","tabId":"1","tool":"pay"}`).into(&state)
			if !slices.Contains(state.ToolNames, state.Tool) {
				t.Fatalf("%s is not among %q", state.Tool, state.ToolNames)
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

// A model that waits for a page, or looks at the tabs, learns of the dialog that blocks it.
func TestDialogIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRig(t)
		b := w.browser("b1", append([]spec.Capability{spec.CapRest}, everything...), "https://a.example/")
		b.register(1, "https://a.example/", "x")
		b.local.Send(1, &spec.TabState{Dialog: &spec.Dialog{Type: "alert", Message: "Hi"}})
		synctest.Wait()
		if got := w.call("browser_tab", `{"action":"list"}`); !strings.Contains(got.Content[0].Text, `"dialog":{"type":"alert","message":"Hi"}`) {
			t.Errorf("%s", got.raw)
		}
		const words = `has a dialog open (alert, with the page's words "Hi")`
		w.call("browser_page", `{"action":"wait","tool":"pay"}`).fails(spec.FailDialogOpen, words)
		w.call("browser_page", `{"action":"wait","for":"rest"}`).fails(spec.FailDialogOpen, words)
		w.call("browser_page", `{"action":"goto","url":"https://a.example/2"}`).fails(spec.FailDialogOpen, words)
		b.local.Send(1, &spec.TabState{Dialog: &spec.Dialog{Type: spec.DialogUnknown}})
		synctest.Wait()
		w.call("browser_page", `{"action":"text"}`).fails(spec.FailDialogOpen, "does not answer")
		if got := w.call("browser_page", `{"action":"goto","url":"https://a.example/2"}`); got.IsError {
			t.Errorf("the way out is closed: %s", got.raw)
		}
	})
}

// A model that mixes things up is told what goes with what.
func TestWaitArguments(t *testing.T) {
	w := newRig(t)
	w.browser("b1", everything, "https://a.example/")
	for args, says := range map[string]string{
		`"for":"tool"`:                    "pass its name as tool",
		`"for":"rest","tool":"x"`:         "nothing else as for",
		`"for":"rest","timeoutMs":600001`: "600000",
		`"for":"luck"`:                    "luck",
	} {
		w.call("browser_page", `{"action":"wait",`+args+`}`).fails(spec.FailInvalidArguments, says)
	}
}
