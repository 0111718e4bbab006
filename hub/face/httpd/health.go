package httpd

import (
	"errors"
	"net/http"

	"tabhub/hub/face/endpoint"
)

func (s *Server) health(r *endpoint.Request) error {
	return r.Answer(map[string]string{"service": "tabhub", "status": "ok", "version": s.o.API.Info().Version})
}

func (s *Server) ready(r *endpoint.Request) error {
	if e := r.Tenant.Hub.Status().StoreError; e != "" {
		return &endpoint.Error{Status: http.StatusServiceUnavailable, Text: "the store does not take writes: " + e}
	}
	answer := map[string]string{"status": "ready"}
	if e := r.Tenant.Record.Status().Error; e != "" {
		answer["record"] = "what is done now is not recorded: " + e // calls go on
	}
	return r.Answer(answer)
}

// processReady serves /readyz for balancers: whether the process takes users and connections.
func (s *Server) processReady(w http.ResponseWriter) {
	err := s.o.Ready()
	if s.draining.Load() {
		err = errors.New("the hub is shutting down")
	}
	if err != nil {
		w.Header().Set("Retry-After", "1")
		endpoint.WriteError(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	endpoint.WriteJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}
