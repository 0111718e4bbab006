package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"tabhub/hub/cluster/forward"
	"tabhub/spec"
)

// Report is GET /api/cluster.
type Report struct {
	Node  string   `json:"node"` // the node that answers
	Nodes []Member `json:"nodes"`
	// Unreached are the nodes that Node has no connection to: it cannot serve their users.
	Unreached []string    `json:"unreached,omitempty"`
	Trouble   string      `json:"trouble,omitempty"` // why Node serves no users
	User      spec.UserID `json:"user,omitempty"`    // ?user=
	Where     string      `json:"where,omitempty"`   // the user's owner node, "" if none has the hub open
}

// API serves /api/cluster and /api/cluster/drain of the admin API. The caller checks access.
func (u *Users) API() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/cluster", func(w http.ResponseWriter, r *http.Request) {
		report := Report{Node: u.node.Self().Name, Nodes: u.node.Members(), Trouble: u.Trouble(), User: spec.UserID(r.URL.Query().Get("user"))}
		if report.User == "" {
			report.Unreached = u.Unreached(r.Context())
		} else if m, err := u.Where(r.Context(), report.User); err == nil || errors.Is(err, ErrNowhere) {
			report.Where = m.Name
		} else {
			u.log.Error("request failed", "path", r.URL.Path, "err", err)
			answer(w, http.StatusServiceUnavailable, map[string]string{"error": "the user's node is not known: the storage does not answer"})
			return
		}
		answer(w, http.StatusOK, report)
	})
	mux.HandleFunc("POST /api/cluster/drain", func(w http.ResponseWriter, r *http.Request) {
		if err := u.Drain(r.Context()); err != nil {
			answer(w, http.StatusConflict, map[string]string{"error": err.Error()})
			return
		}
		answer(w, http.StatusOK, map[string]string{"status": "drained"})
	})
	mux.HandleFunc("DELETE /api/cluster/drain", func(w http.ResponseWriter, r *http.Request) {
		u.Undrain()
		answer(w, http.StatusOK, map[string]string{"status": string(u.node.Self().State)})
	})
	return mux
}

// Ready returns why the node takes no users; nil: it takes users.
func (u *Users) Ready() error {
	if state := u.node.Self().State; state != Ready {
		return fmt.Errorf("this node is %s", state)
	}
	return nil
}

// Forwarded serves the requests that other nodes forward to this one. serve is the ServeForwarded
// of package httpd.
func (u *Users) Forwarded(serve func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.cluster/") {
			u.ServeHTTP(w, r)
			return
		}
		err := serve(w, r)
		if err == nil {
			return
		}
		owner := ""
		if by, ok := errors.AsType[*OwnedError](err); ok {
			owner = by.By.ID()
		}
		w.Header()[forward.OwnerHeader] = []string{owner}
		answer(w, http.StatusMisdirectedRequest, map[string]string{"error": "this node does not have the user's hub"})
	})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
