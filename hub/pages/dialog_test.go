package pages_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tabhub/hub/call"
	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// A page that joins by itself says that it opens a dialog while that blocks it.
func TestDialogOfAJoinedPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := chromium.Shared(t, chromium.Options{}).Open(s.host(`<script src="http://HUB/tab.js"></script><script>
		tabhub.registerTool({name: "ask", description: "d", execute: () => "said " + confirm("Sure?")});
	</script>`, ""))
	name := s.name("ask")
	answer := p.NextDialog()
	done := make(chan json.RawMessage, 1)
	go func() {
		raw, _ := s.hub.Calls.Call(t.Context(), call.Request{By: tester, Name: name})
		done <- raw
	}()
	dialog := func() *spec.Dialog { return s.hub.Tabs(nil)[0].Dialog }
	s.await("the dialog is open", func() bool { return dialog() != nil })
	if got := *dialog(); got != (spec.Dialog{Type: "confirm", Message: "Sure?"}) {
		t.Errorf("%+v", got)
	}
	if r := s.call("ask", "{}"); !strings.Contains(r.text(), "DIALOG_OPEN") {
		t.Errorf("another call: %+v", r)
	}
	answer(true)
	if got := string(<-done); !strings.Contains(got, "said true") {
		t.Error(got)
	}
	s.await("the dialog is closed", func() bool { return dialog() == nil })
}

// What has become of a form is said as far as the hub knows it.
func TestFormOfAJoinedPage(t *testing.T) {
	t.Parallel()
	next := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!doctype html><title>Thanks</title>")
	}))
	t.Cleanup(next.Close)
	dead := httptest.NewServer(nil)
	dead.Close()
	for _, c := range []struct{ name, form, want string }{
		{"a server that does not answer", `action="` + dead.URL + `"`, "The page has gone and has not come back"},
		{"a page that does not join", `action="` + next.URL + `"`, "The page has gone and has not come back"},
		{"a page that joins", "", "The page is now at http"},
		{"another tab", `target="_blank"`, "The page is still the same"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			chromium.Shared(t, chromium.Options{}).Open(s.host(`<form toolname="send" tooldescription="d" toolautosubmit `+c.form+`><input name="q"></form>
				<script src="http://HUB/tab.js"></script>`, ""))
			r := s.call("send", `{"q":"x"}`)
			said := ""
			for _, block := range r.Content {
				said += block.Text + "\n"
			}
			if !strings.Contains(said, c.want) {
				t.Errorf("%s lacks %s", said, c.want)
			}
		})
	}
}
