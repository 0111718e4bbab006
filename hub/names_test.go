package hub

import (
	"errors"
	"testing"
	"testing/synctest"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest"
)

// wantCall calls a name and checks that the call reaches a page, as a tool.
func (w *world) wantCall(name string, page tabtest.End, tool string) {
	w.t.Helper()
	c := w.call(w.t.Context(), name)
	r := page.Next()
	if r.Call.ToolName != tool {
		w.t.Errorf("%s is the tool %q, want %s", name, r.Call.ToolName, tool)
	}
	answer(page, r, "answered by "+tool)
	c.want(w.t, "answered by "+tool)
}

func (w *world) wantUnknown(name string) {
	w.t.Helper()
	var unknown *UnknownError
	if _, err := w.hub.Call(w.t.Context(), Call{Name: "website_tool_" + name}); !errors.As(err, &unknown) {
		w.t.Errorf("%s: %v, want an unknown name", name, err)
	}
	if _, err := w.hub.Find(spec.KindTool, "website_tool_"+name); !errors.As(err, &unknown) {
		w.t.Errorf("%s is found: %v", name, err)
	}
}

// A call that is named for one bank must not go to another site, whichever came first.
func TestNameOfAnotherSite(t *testing.T) {
	for _, first := range []string{"https://bank.co", "https://bank.co.uk"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			pages := map[string]tabtest.End{}
			join := func(origin, tool string) {
				pages[origin] = w.page(origin, "a")
				w.register(pages[origin], 0, tools("", tool))
			}
			if first == "https://bank.co" {
				join("https://bank.co", "uk_transfer")
				w.wantUnknown("bank_co_uk_transfer")
			}
			join("https://bank.co.uk", "transfer")
			if first != "https://bank.co" {
				join("https://bank.co", "uk_transfer")
			}
			w.wantNames("bank_co__uk_transfer bank_co_uk_transfer")
			w.wantCall("bank_co_uk_transfer", pages["https://bank.co.uk"], "transfer")
			w.wantCall("bank_co_uk_tab1_transfer", pages["https://bank.co.uk"], "transfer")
			w.wantCall("bank_co__uk_transfer", pages["https://bank.co"], "uk_transfer")
		})
	}
}
