package admin

import (
	"net/http"
	"slices"
	"strconv"

	"tabhub/hub/agents"
	"tabhub/hub/face/endpoint"
	"tabhub/spec"
)

// AgentReport is an element of GET /api/lease: a session of a client, with its tabs.
type AgentReport struct {
	agents.SessionInfo     // the tabs that it leases first
	AllTabs            int `json:"allTabs"` // how many tabs it has; Tabs may be a part of them
}

// getLeases lists the sessions of clients that have tabs or are connected, with their tabs. The
// parameters client and session select some, and tabs says how many tabs of each to list.
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
	found, part.found = r.Tenant.Hub.Agents.Sessions(query.Get("client"), query.Get("session"), part.offset, part.limit)
	for _, info := range found {
		n := len(info.Tabs)
		free := func(t agents.SessionTab) bool { return t.Holds == nil }
		slices.SortStableFunc(info.Tabs, func(a, b agents.SessionTab) int {
			switch {
			case free(a) == free(b):
				return 0
			case free(b):
				return -1
			}
			return 1
		})
		if tabs >= 0 {
			info.Tabs = info.Tabs[:min(tabs, n)]
		}
		part.shown = append(part.shown, AgentReport{info, n})
	}
	return part.answer(r)
}

// deleteLease ends the lease of a tab. The parameter names the tab by the name that clients see, or as
// PEER/TAB.
func deleteLease(r *endpoint.Request) error {
	tab := r.URL.Query().Get("tab")
	var at spec.TabAddr
	sessions, _ := r.Tenant.Hub.Agents.Sessions("", "", 0, -1)
	for _, session := range sessions {
		for _, t := range session.Tabs {
			if t.Holds != nil && (t.Tab == tab || t.Addr.String() == tab) {
				at = t.Addr
			}
		}
	}
	was := r.Tenant.Hub.Agents.EndLease(at, editor(r))
	if was == nil {
		return &endpoint.Error{Status: http.StatusNotFound, Text: "no session leases that tab; `tabhub tabs held` lists those that are leased"}
	}
	return r.Answer(was)
}
