package httpd

import (
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
