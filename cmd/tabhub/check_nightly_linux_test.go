//go:build nightly

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/tabtransport/tabtest/chromium"
)

// No person answers a page in a check, and a page that hangs must not block it.
func TestCheckOfAPageThatStandsStill(t *testing.T) {
	t.Parallel()
	chromium.Require(t)
	reads := func(name, what, body string) string {
		return fmt.Sprintf(`offer({name: %q, description: "Reads %s of the page.", annotations: {readOnlyHint: true}, execute: async () => { %s }});`, name, what, body)
	}
	site := checkedSite(t, map[string]string{
		"/asks": offering(`alert("welcome");`, reads("read_age", "the age", `return "you said " + confirm("Are you 18?")`), `addEventListener("beforeunload", (e) => e.preventDefault());`,
			reads("read_news", "all news", `location.href = "/else"; return new Promise(() => {})`)),
		"/else":  "Nothing.",
		"/hangs": offering(reads("read_long", "a story", `for (;;);`), reads("read_short", "one line", `return "once"`)),
	})
	r, code, said := checked(t, site+"/asks")
	if got := found(&r); code != command.ExitOK || !slices.Equal(got, []string{"call-navigates:read_news", "console-error:", "dialog:"}) || len(r.Items) != 2 || r.Items[0].Calls[0].Outcome != "ok" {
		t.Errorf("exit code %d, %s %+v", code, said, r)
	}
	r, code, said = checked(t, "--timeout", "4s", site+"/hangs")
	if got := found(&r); code != command.ExitError || !slices.Equal(got, []string{"call-failed:read_long", "not-called:"}) {
		t.Errorf("exit code %d, %s %+v", code, said, r)
	}
}

// A page that never comes to rest is looked at all the same, and one that does not answer is
// named.
func TestCheckOfASlowPage(t *testing.T) {
	t.Parallel()
	chromium.Require(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html>"+offering(goodTool)+"<img src=/never>")
			return
		}
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	r, code, said := checked(t, "--timeout", "8s", s.URL+"/slow")
	if code != command.ExitOK || !slices.Equal(found(&r), []string{"page-busy:"}) || len(r.Items) != 1 {
		t.Errorf("exit code %d, %s %+v", code, said, r)
	}
	_, code, said = checked(t, "--timeout", "2s", s.URL+"/never")
	if code != command.ExitUsage || !strings.Contains(said, "cannot be opened: it does not answer within 2s; --timeout gives it more") {
		t.Errorf("exit code %d: %s", code, said)
	}
}
