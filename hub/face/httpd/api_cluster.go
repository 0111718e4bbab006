package httpd

import (
	"context"
	"errors"
	"net/http"

	"tabhub/hub/cluster"
	"tabhub/hub/face/endpoint"
	"tabhub/spec"
)

// Nodes is what a node's owner asks of it, and of the others.
type Nodes interface {
	Self() cluster.Member
	// Members are all nodes, this one with them, by name.
	Members() []cluster.Member
	// Where returns the node that has a user's hub. The error is cluster.ErrNowhere if none has.
	Where(context.Context, spec.UserID) (cluster.Member, error)
	// Drain gives all users of this node to others, and takes none from now on. It blocks until
	// that is done. The error is cluster.ErrNoNode, and nothing has changed, if nobody else takes
	// users.
	Drain(context.Context) error
	// Undrain lets this node take users again, and ends a Drain.
	Undrain()
	// Unreached returns the names of the nodes that this one has no connection to. It blocks for
	// some seconds at most.
	Unreached(context.Context) []string
	// Trouble says why this node serves nobody, and what to do; "" if it does.
	Trouble() string
}

// ClusterReport is GET /api/cluster.
type ClusterReport struct {
	Node  string           `json:"node"` // that was asked
	Nodes []cluster.Member `json:"nodes"`
	// Unreached are the nodes that Node has no connection to: it cannot serve their users.
	Unreached []string    `json:"unreached,omitempty"`
	Trouble   string      `json:"trouble,omitempty"` // why Node serves nobody
	User      spec.UserID `json:"user,omitempty"`    // ?user=
	Where     string      `json:"where,omitempty"`   // the user's node, "" if none has the hub open
}

var errNoCluster = &endpoint.Error{Status: http.StatusNotFound, Text: "this hub is no node of a cluster; the setting cluster makes it one"}

func (s *Server) getCluster(r *endpoint.Request) error {
	c := s.o.Nodes
	if c == nil {
		return errNoCluster
	}
	report := ClusterReport{Node: c.Self().Name, Nodes: c.Members(), Trouble: c.Trouble(), User: spec.UserID(r.URL.Query().Get("user"))}
	if report.User != "" {
		m, err := c.Where(r.Context(), report.User)
		if err != nil && !errors.Is(err, cluster.ErrNowhere) {
			return err
		}
		report.Where = m.Name
	} else {
		report.Unreached = c.Unreached(r.Context())
	}
	return r.Answer(report)
}

func (s *Server) postDrain(r *endpoint.Request) error {
	if s.o.Nodes == nil {
		return errNoCluster
	}
	if err := s.o.Nodes.Drain(r.Context()); err != nil {
		return &endpoint.Error{Status: http.StatusConflict, Text: err.Error()}
	}
	return r.Answer(map[string]string{"status": "drained"})
}

func (s *Server) deleteDrain(r *endpoint.Request) error {
	if s.o.Nodes == nil {
		return errNoCluster
	}
	s.o.Nodes.Undrain()
	return r.Answer(map[string]string{"status": string(s.o.Nodes.Self().State)})
}

// nodeReady serves /readyz of a node, for balancers: whether it takes users and connections. It is
// about no user, and needs no credential.
func (s *Server) nodeReady(w http.ResponseWriter) {
	state := s.o.Nodes.Self().State
	if s.draining.Load() {
		state = cluster.Draining
	}
	if state != cluster.Ready {
		w.Header().Set("Retry-After", "1")
		endpoint.WriteError(w, http.StatusServiceUnavailable, "this node is "+string(state))
		return
	}
	endpoint.WriteJSON(w, http.StatusOK, map[string]string{"status": string(state)})
}
