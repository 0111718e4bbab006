package extension_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// Who sends a tab to another page of its site waits there for what that one offers.
func TestNothingIsKeptOfThePageBefore(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/" {
			_, _ = io.WriteString(w, shop)
			return
		}
		_, _ = io.WriteString(w, "<!doctype html><title>Endless</title>")
		_ = http.NewResponseController(w).Flush()
		<-done
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(done) })
	b.Open(server.URL + "/")
	tab := h.tabWith(shopTools...)
	if _, err := h.ask(tab, &spec.Navigate{URL: server.URL + "/endless"}); err != nil {
		t.Fatal(err)
	}
	// The page goes on loading for ever, so that it has not said that it offers nothing.
	h.change(func() {
		if left := h.tabs[tab].here(); len(left) > 0 {
			t.Errorf("the hub still takes %q for the page's", left)
		}
	})
}

// Who sends a tab somewhere is told if no page came of it.
func TestAddressesWithoutAPage(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.browse(chromium.Options{})
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			panic(http.ErrAbortHandler)
		case "/nothing":
			w.WriteHeader(http.StatusNoContent)
		case "/silent":
			<-done
		case "/endless":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<!doctype html><title>Endless</title><p>The first part")
			_ = http.NewResponseController(w).Flush()
			<-done
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<!doctype html><title>Page</title><p>Here")
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(done) })
	open := func() int64 {
		t.Helper()
		answer, err := h.ask(0, &spec.OpenTab{URL: server.URL + "/"})
		var opened spec.OpenTabResult
		if err := errors.Join(err, json.Unmarshal([]byte(answer), &opened)); err != nil {
			t.Fatal(err)
		}
		return opened.TabID
	}
	// Each has a tab of its own, and they wait side by side.
	type outcome struct{ path, got, want string }
	outcomes := make(chan outcome)
	tests := map[string]string{"/gone": "cannot be loaded", "/nothing": "led to no page", "/silent": "has not answered", "/endless": ""}
	for path, want := range tests {
		tab := open()
		go func() {
			_, err := h.ask(tab, &spec.Navigate{URL: server.URL + path})
			o := outcome{path: path, want: want}
			if err != nil {
				o.got = err.Error()
			}
			if path == "/endless" {
				// What is there can be read before all is.
				answer, err := h.ask(tab, &spec.Text{})
				if err != nil || !strings.Contains(answer, "The first part") {
					o.got += answer
				}
			}
			outcomes <- o
		}()
	}
	for range tests {
		// On a busy machine any of them may be late.
		if o := <-outcomes; (o.want == "") != (o.got == "") || !strings.Contains(o.got, o.want) && !strings.Contains(o.got, "has not answered") {
			t.Errorf("%s: %q, want %q", o.path, o.got, o.want)
		}
	}
}
