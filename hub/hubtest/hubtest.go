// Package hubtest opens hubs for tests: with the transport and the store that are in
// memory, and with tabs that a test plays. A Hub ends with its test, and so do its tabs.
package hubtest

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"tabhub/hub"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record/recordtest"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/storage"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
)

// Hub is a Hub and what it is made of.
type Hub struct {
	*hub.Hub
	Tabs     *tabtransport.Peers // which tabs and browsers join
	Store    storage.DomainToolStorage
	Recorded *recordtest.Memory
	t        testing.TB
}

// Open opens the Hub of spec.LocalUser. o may be empty; its Transport must be nil, its
// Store is a new one if it is nil, its Record is Recorded, and its Mode policy.ModeOpen if it
// has none.
func Open(t testing.TB, o hub.Options) *Hub {
	t.Helper()
	if o.Store == nil {
		o.Store = new(storagetest.Memory)
	}
	h := &Hub{Tabs: tabtransport.NewPeers(), Store: o.Store, Recorded: new(recordtest.Memory), t: t}
	o.User, o.Transport, o.Record = spec.LocalUser, h.Tabs, h.Recorded
	o.Mode = cmp.Or(o.Mode, policy.ModeOpen)
	var err error
	if h.Hub, err = hub.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	return h
}

// Join opens a tab, or connects a browser, that answers requests by serve; nil answers
// none.
func (h *Hub) Join(c tabtransport.Conn, serve tabtransport.Serve) *tabtransport.Local {
	h.t.Helper()
	l, err := h.Tabs.Join(h.t.Context(), c, serve)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(l.Close)
	return l
}

// JoinTab opens a tab of an origin, which registers tools.
func (h *Hub) JoinTab(origin string, serve tabtransport.Serve, tools ...string) *tabtransport.Local {
	h.t.Helper()
	l := h.Join(tabtransport.Conn{Origin: origin}, serve)
	h.Register(l, spec.KindTool, tools...)
	return l
}

// Register registers items of a tab, which all must be taken.
func (h *Hub) Register(l *tabtransport.Local, kind spec.Kind, items ...string) {
	h.t.Helper()
	m := &spec.Register{Kind: kind}
	for _, item := range items {
		m.Items = append(m.Items, json.RawMessage(item))
	}
	if answer, err := l.Ask(h.t.Context(), 0, m); err != nil || !strings.Contains(string(answer), `"rejected":[]`) {
		h.t.Fatalf("register: %s, %v", answer, err)
	}
}

// Said returns what a page has said in a result that a hub has passed on: all but where it
// is from, which each result has to say, and which call it answers, which clients are told.
func Said(result []byte) string {
	rest, ok := strings.CutPrefix(string(result), `{"_meta":{`)
	if call := rawjson.Get(result, "_meta", "tabhub/call"); ok && call != nil {
		rest, ok = strings.CutPrefix(rest, `"tabhub/call":`+string(call)+",")
	}
	source := rawjson.Get(result, "_meta", "tabhub/source")
	if ok && source != nil {
		rest, ok = strings.CutPrefix(rest, `"tabhub/source":`+string(source))
	}
	switch {
	case source == nil, !ok:
		return "of nobody knows whom: " + string(result)
	case strings.HasPrefix(rest, "},"):
		return "{" + rest[len("},"):]
	}
	return `{"_meta":{` + rest[1:]
}
