package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tabhub/hub"
	"tabhub/hub/consent"
	"tabhub/hub/hubtest"
	"tabhub/hub/policy"
	"tabhub/hub/record"
	"tabhub/spec"
)

// What a client of the relay has done in a browser is the owner's to decide, and to read of.
func TestRelayGate(t *testing.T) {
	h := hubtest.Open(t, hub.Options{Mode: policy.ModeCareful})
	g := &relayGate{h.Hub, &consent.Caller{Who: &policy.Principal{ID: "c1", Name: "Claude"}, Said: "project", Session: "mcp-1"}}
	navigate := json.RawMessage(`{"method":"Page.navigate","params":{"url":"https://shop.example/"}}`)
	refused := func(err error, code spec.FailureCode, words string) {
		t.Helper()
		if e, ok := err.(*spec.Error); !ok || !strings.Contains(string(e.Data), string(code)) || !strings.Contains(e.Message, words) {
			t.Errorf("%v is not %s, %s", err, code, words)
		}
	}
	edit := func(edit func(*policy.Document)) {
		t.Helper()
		if err := h.EditPolicy("test", func(doc *policy.Document) error { edit(doc); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	_, err := g.Admit("forwardCDPCommand", navigate, false)
	refused(err, spec.FailDenied, "has no id")
	ask, err := g.Admit("forwardCDPCommand", navigate, true)
	if ask == nil || err != nil {
		t.Fatalf("the owner is not asked: %v", err)
	}
	refused(ask(t.Context()), spec.FailDenied, "tabhub approve")

	rule := policy.Rule{ID: "r1", Effect: policy.Allow, Client: "c1", Class: "relay", Tool: "forwardCDPCommand Page.navigate"}
	edit(func(doc *policy.Document) { doc.Put(rule, time.Now()) })
	if ask, err := g.Admit("forwardCDPCommand", navigate, true); ask != nil || err != nil {
		t.Errorf("what the owner allows is not let pass: %v", err)
	}
	if ask, _ := g.Admit("getTabs", nil, true); ask == nil {
		t.Error("one answer is good for another method")
	}
	if err := g.Hears(); err != nil {
		t.Errorf("a client whose connection the owner was asked about hears nothing: %v", err)
	}
	edit(func(doc *policy.Document) { doc.Pauses = append(doc.Pauses, policy.Pause{Client: "c1"}) })
	_, err = g.Admit("forwardCDPCommand", navigate, true)
	refused(err, spec.FailPaused, "paused")
	refused(g.Hears(), spec.FailPaused, "paused")

	var lines []string
	for _, e := range h.Recorded.Entries(record.Query{}) {
		if e.Event == record.Relay {
			lines = append(lines, strings.Join([]string{e.Client, e.Said, e.Session, e.Tool, e.Class, e.Decision, e.Rule, e.Outcome}, " "))
		}
	}
	const who = "c1 project mcp-1 forwardCDPCommand Page.navigate write "
	want := []string{who + "ask preset:relay DENIED", who + "ask preset:relay DENIED", who + "allow r1 ok", who + "deny pause PAUSED"}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("recorded\n%s", got)
	}

	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = g.Admit("getTabs", nil, true)
	refused(err, spec.FailNotConnected, "connect again")
	refused(g.Hears(), spec.FailNotConnected, "connect again")
}

// What the decision adds to a request of a client, and to its answer.
func BenchmarkRelayGate(b *testing.B) {
	h := hubtest.Open(b, hub.Options{})
	g := &relayGate{h.Hub, &consent.Caller{Who: policy.Owner}}
	params := json.RawMessage(`{"sessionId":"0123456789","method":"Runtime.evaluate","params":{"expression":"document.title"}}`)
	for b.Loop() {
		if ask, err := g.Admit("forwardCDPCommand", params, true); ask != nil || err != nil {
			b.Fatal(err)
		}
		if err := g.Hears(); err != nil {
			b.Fatal(err)
		}
	}
}
