package httpd

import (
	"net/http"

	"tabhub/spec"
)

// getLeases lists the sessions of clients that have tabs or are connected, with what they have.
func (s *Server) getLeases(r *request) error { return r.answer(nonNil(r.tenant.Hub.Sessions())) }

// deleteLease ends the lease of a tab, whoever holds it.
func (s *Server) deleteLease(r *request) error {
	tab := r.URL.Query().Get("tab")
	var at spec.TabAddr
	for _, session := range r.tenant.Hub.Sessions() {
		for _, t := range session.Tabs {
			if t.Holds != nil && t.Tab == tab {
				at = t.Addr
			}
		}
	}
	was := r.tenant.Hub.EndLease(at, editor(r))
	if was == nil {
		return &refusal{http.StatusNotFound, "nobody holds that tab; `tabhub lease` lists those that are held"}
	}
	return r.answer(was)
}
