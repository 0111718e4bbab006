package pages_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tabhub/hub"
	"tabhub/hub/call"
	"tabhub/hub/lists"
	"tabhub/hub/pages"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/wsserver"
)

// site is a hub with its pages on a real address, and pages of other people beside
// it.
type site struct {
	t        *testing.T
	store    storagetest.Memory
	addr     string // of the hub
	port     *tabtest.Port
	pairings tabtest.Pairings

	// Owned by the test's goroutine.
	hub *hub.Hub
	ws  *wsserver.Server
	srv *http.Server

	heard chan struct{} // capacity 1: something has happened

	lockedOut atomic.Bool  // the extension is refused
	calls     atomic.Int32 // in the record
}

func newSite(t *testing.T) *site {
	s := &site{t: t, port: tabtest.NewPort(t), pairings: tabtest.NewPairings(t), heard: make(chan struct{}, 1)}
	s.addr = s.port.Addr()
	s.start()
	t.Cleanup(s.stop)
	return s
}

// start starts the hub; a second time it has the same address and store.
func (s *site) start() {
	s.t.Helper()
	s.ws = wsserver.New(wsserver.Options{Authenticate: s.admit, Pair: s.pairings.Pair})
	h, err := hub.Open(s.t.Context(), hub.Options{User: spec.LocalUser, Mode: policy.ModeOpen, Transport: s.ws.Transport(spec.LocalUser), Store: &s.store, Record: s, Version: "test"})
	if err != nil {
		s.t.Fatal(err)
	}
	s.hub = h
	h.Lists.Watch(func(lists.Change) { s.happened() })
	go h.Core.Await(context.Background(), func() bool { s.happened(); return false })
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "websocket" {
			s.ws.WebMCP().ServeHTTP(w, r)
			return
		}
		pages.Handler(func(r *http.Request) string { return "http://" + r.Host }).ServeHTTP(w, r)
	})
	mux.Handle("/tabs", s.ws.Tabs())
	s.srv = &http.Server{Handler: mux}
	go s.srv.Serve(s.port.Listen())
}

// stop ends the hub as a killed process does: its tabs get no close code.
func (s *site) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s.srv.Close()
	s.ws.Close(ctx)
	s.hub.Close(ctx)
}

// admit believes the widget and the extension, as the hub's guard does.
func (s *site) admit(r *http.Request, hello *spec.Hello, ex *pairing.Exchange) (tabtransport.Admission, error) {
	if r.Header.Get("Origin") == "http://"+r.Host {
		return tabtransport.Admission{Origin: pages.WidgetOrigin(hello)}, nil
	}
	extended := r.Header.Get("Origin") == extension.Origin
	if extended && s.lockedOut.Load() {
		return tabtransport.Admission{}, errors.New("no extension may join")
	}
	id, err := s.pairings.Check(hello, ex)
	return tabtransport.Admission{Attested: id != "", Pairing: id}, err
}

func (s *site) url(path string) string { return "http://" + s.addr + path }

// host serves a page of another server, with the policy as its Content-Security-Policy
// if that is not "", and returns its URL. HUB in the body stands for the hub's address;
// the packages of package.json are at /npm/.
func (s *site) host(body, policy string) string {
	s.t.Helper()
	body = strings.ReplaceAll(body, "HUB", s.addr)
	packages := http.StripPrefix("/npm/", http.FileServer(http.Dir("node_modules")))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/npm/") {
			packages.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if policy != "" {
			w.Header().Set("Content-Security-Policy", strings.ReplaceAll(policy, "HUB", s.addr))
		}
		fmt.Fprint(w, "<!doctype html><title>Somebody’s page</title>", body)
	}))
	s.t.Cleanup(srv.Close)
	return srv.URL + "/"
}

// Append implements record.Log.
func (s *site) Append(e record.Entry) {
	if e.Event == record.Call {
		s.calls.Add(1)
	}
}

func (s *site) happened() {
	select {
	case s.heard <- struct{}{}:
	default:
	}
}

// await blocks until ok says yes; it is asked after each change of the hub's state, and each
// notice of one.
func (s *site) await(what string, ok func() bool) {
	s.t.Helper()
	late := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-s.heard:
		case <-late:
			s.t.Fatalf("%s: not within 20 s; the tools are %v, the tabs %+v", what, s.names(), s.hub.Tabs(nil))
		}
	}
}

// names are the names of all tools.
func (s *site) names() []string {
	var names []string
	for _, it := range s.hub.Lists.List(lists.ListTools).Items {
		names = append(names, it.Name)
	}
	return names
}

// name returns the public name of the one domain's tool, waiting for it.
func (s *site) name(tool string) string {
	s.t.Helper()
	name := ""
	s.await("the tool "+tool, func() bool {
		for _, it := range s.hub.Lists.List(lists.ListTools).Items {
			if it.Source == tool && it.Tab == 0 {
				name = it.Name
			}
		}
		return name != ""
	})
	return name
}

// reply is a CallToolResult.
type reply struct {
	Content []struct {
		Type, Text, MimeType string
		Data                 []byte
	}
	StructuredContent json.RawMessage
	IsError           bool
}

func (r reply) text() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

// call calls a tool by the name that the page gave it.
func (s *site) call(tool, args string) reply {
	s.t.Helper()
	return s.send(s.t.Context(), s.name(tool), args, nil)
}

func (s *site) send(ctx context.Context, name, args string, progress func(spec.Progress)) reply {
	s.t.Helper()
	raw, err := s.hub.Calls.Call(ctx, call.Request{Name: name, Args: json.RawMessage(args), By: reporting(progress)})
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	var r reply
	if err := json.Unmarshal(raw, &r); err != nil {
		s.t.Fatalf("%s: %v in %s", name, err, raw)
	}
	return r
}

// tester is the caller in tests.
var tester = &consent.Caller{Principal: policy.Owner, Said: "test"}

// reporting is tester with a client that wants progress.
func reporting(progress func(spec.Progress)) *consent.Caller {
	by := *tester
	by.Progress = progress
	return &by
}
