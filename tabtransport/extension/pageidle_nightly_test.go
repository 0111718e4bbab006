//go:build nightly

package extension_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// restless serves pages that take their time.
func restless(t *testing.T) string {
	over := make(chan struct{})
	mux := http.NewServeMux()
	page := func(path, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<!doctype html><title>"+path+"</title><body>"+body)
		})
	}
	// What takes as long as its address says, or as the test.
	mux.HandleFunc("/slow/{ms}", func(w http.ResponseWriter, r *http.Request) {
		wait, err := time.ParseDuration(r.PathValue("ms"))
		if err != nil {
			wait = time.Hour
		}
		select {
		case <-time.After(wait):
		case <-over:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": hello\n\n")
		w.(http.Flusher).Flush()
		select {
		case <-over:
		case <-r.Context().Done():
		}
	})
	page("/steps", `<img src="/slow/700ms"><script>
		const step = async (ms, text) => { await fetch("/slow/" + ms); document.body.append(text); };
		step("900ms", "one ").then(() => step("1200ms", "two ")).then(() => setTimeout(() => document.body.append("three"), 300));
	</script>`)
	page("/quiet", `quiet <script>new EventSource("/stream")</script>`)
	page("/changing", `<p></p><script>setInterval(() => document.querySelector("p").append("."), 50)</script>`)
	page("/leaving", `<script>setTimeout(() => { location = "/steps"; }, 300)</script>`)
	page("/busy", `<script>setTimeout(() => { for (;;); }, 100)</script>`)
	s := httptest.NewServer(mux)
	t.Cleanup(func() {
		close(over)
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// A model reads the whole page when it loads in steps, and learns why a page never becomes idle.
func TestPageComesToRest(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	url := restless(t)
	b.Open(url + "/quiet") // in front
	open := func(path string) int64 {
		t.Helper()
		var opened spec.OpenTabResult
		answer, err := h.ask(0, &spec.OpenTab{URL: url + path}) // behind
		if err = errors.Join(err, json.Unmarshal([]byte(answer), &opened)); err != nil {
			t.Fatal(err)
		}
		return opened.TabID
	}
	rest := func(tab int64, wait time.Duration) (got spec.RestResult, took time.Duration) {
		t.Helper()
		began := time.Now()
		answer, err := h.ask(tab, &spec.Rest{WaitMs: wait.Milliseconds()})
		if err = errors.Join(err, json.Unmarshal([]byte(answer), &got)); err != nil {
			t.Fatalf("%s, %v", answer, err)
		}
		return got, time.Since(began)
	}
	shows := func(tab int64, want string) {
		t.Helper()
		if got, err := h.ask(tab, &spec.Text{}); err != nil || !strings.Contains(got, want) {
			t.Errorf("the page shows %s, %v; want %q", got, err, want)
		}
	}

	const enough = 20 * time.Second
	tab := open("/steps")
	if got, took := rest(tab, enough); !got.Rested || took < 2*time.Second {
		t.Errorf("steps: %+v after %v", got, took)
	}
	shows(tab, "one two three")
	if got, _ := rest(open("/quiet"), enough); !got.Rested {
		t.Errorf("one that listens to a stream: %+v", got)
	}
	if got, took := rest(open("/changing"), 4*time.Second); got.Rested || got.Changes < 2 || took < 4*time.Second {
		t.Errorf("changing: %+v after %v", got, took)
	}
	tab = open("/leaving")
	if got, _ := rest(tab, enough); !got.Rested {
		t.Errorf("leaving: %+v", got)
	}
	shows(tab, "one two three")
	if got, _ := rest(open("/busy"), 3*time.Second); got.Rested || !got.Busy {
		t.Errorf("busy: %+v", got)
	}

	tab = open("/changing")
	fails := func(what string, code int, req spec.Request, meanwhile func()) {
		t.Helper()
		failed := make(chan error, 1)
		go func() {
			_, err := h.ask(tab, req)
			failed <- err
		}()
		if meanwhile != nil {
			meanwhile()
		}
		if rpc, ok := errors.AsType[*spec.Error](<-failed); !ok || rpc.Code != code {
			t.Errorf("%s: %v", what, rpc)
		}
	}
	fails("another site's page", spec.CodeTabNotFound, &spec.Rest{WaitMs: 1000, IfOrigin: "https://bank.example"}, nil)
	fails("a tab that is closed meanwhile", spec.CodeTabNotFound, &spec.Rest{WaitMs: 10_000}, func() {
		if _, err := h.ask(tab, &spec.CloseTab{}); err != nil {
			t.Error(err)
		}
	})
	tab = open("/quiet")
	if _, err := h.ask(tab, &spec.Navigate{URL: "http://127.0.0.1:9/"}); err == nil {
		t.Error("a page that cannot be loaded was")
	}
	fails("an error of the browser", spec.CodeUnsupported, &spec.Rest{WaitMs: 10_000}, nil)
}
