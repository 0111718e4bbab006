package admin

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"tabhub/hub/agents"
	"tabhub/hub/face/endpoint"
	"tabhub/spec"
)

// AgentReport is an element of GET /api/lease: a session of a client, with its tabs.
type AgentReport struct {
	agents.SessionInfo     // those of its tabs that it holds first
	AllTabs            int `json:"allTabs"` // how many it has, of which Tabs may be a part
}

// getLeases lists the sessions of clients that have tabs or are connected, with what they have.
// The parameters client and session choose among them, and tabs says how many tabs of each are
// wanted.
func getLeases(r *endpoint.Request) error {
	part, err := newPart[AgentReport](r)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	tabs := -1
	if v := query.Get("tabs"); v != "" {
		if tabs, err = strconv.Atoi(v); err != nil || tabs < 0 {
			return endpoint.BadRequest("tabs is %q; it is a number, from 0 on", v)
		}
	}
	var found []agents.SessionInfo
	found, part.found = r.Tenant.Hub.Sessions(query.Get("client"), query.Get("session"), part.offset, part.limit)
	for _, info := range found {
		n := len(info.Tabs)
		slices.SortStableFunc(info.Tabs, func(a, b agents.SessionTab) int {
			return cmp.Compare(free(a), free(b))
		})
		if tabs >= 0 {
			info.Tabs = info.Tabs[:min(tabs, n)]
		}
		part.shown = append(part.shown, AgentReport{info, n})
	}
	return part.answer(r)
}

// free is 0 of a tab that its session holds, and 1 of others.
func free(t agents.SessionTab) int {
	if t.Holds != nil {
		return 0
	}
	return 1
}

// deleteLease ends the lease of a tab, whoever holds it. The tab is named as clients know it, or
// as PEER/TAB.
func deleteLease(r *endpoint.Request) error {
	tab := r.URL.Query().Get("tab")
	var at spec.TabAddr
	sessions, _ := r.Tenant.Hub.Sessions("", "", 0, -1)
	for _, session := range sessions {
		for _, t := range session.Tabs {
			if t.Holds != nil && (t.Tab == tab || t.Addr.String() == tab) {
				at = t.Addr
			}
		}
	}
	was := r.Tenant.Hub.EndLease(at, editor(r))
	if was == nil {
		return &endpoint.Error{Status: http.StatusNotFound, Text: "nobody holds that tab; `tabhub tabs held` lists those that are held"}
	}
	return r.Answer(was)
}
