package httpd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"tabhub/spec"
)

// writeTime is how long who reads a stream may take for an event, or a piece of any other answer.
const writeTime = 10 * time.Second

// stream is an answer that goes on for as long as it is read.
type stream struct {
	user spec.UserID
	path string
}

// maxStreams is how many of the same a user may read at once: each may take some MiB.
const maxStreams = 16

// beginStream counts a request that is answered by a stream, until end is called. The stream
// lasts as long as ctx: the request, its credential and the Server have to, too.
func (s *Server) beginStream(r *request) (ctx context.Context, end func(), err error) {
	of := stream{r.tenant.User, r.URL.Path}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[of] >= maxStreams {
		return nil, nil, &refusal{http.StatusTooManyRequests, fmt.Sprintf("%d windows or programs read %s already; close some", maxStreams, of.path)}
	}
	s.streams[of]++
	s.watchers.Add(1)
	ctx, cancel := r.pass.identity.Context(r.Context())
	detach := context.AfterFunc(s.ctx, cancel)
	return ctx, func() {
		detach()
		cancel()
		s.watchers.Add(-1)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.streams[of]--; s.streams[of] == 0 {
			delete(s.streams, of)
		}
	}, nil
}

// Streams returns how many streams a user reads. A dashboard that is open reads one.
func (s *Server) Streams(user spec.UserID) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for of, reads := range s.streams {
		if of.user == user {
			n += reads
		}
	}
	return n
}

// acceptsEvents reports whether the answer is to be a stream of events: who accepts JSON, too,
// as MCP clients do wherever they ask, gets that.
func (r *request) acceptsEvents() bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "text/event-stream") && !strings.Contains(accept, "application/json")
}

// events begins an answer that is a stream of server-sent events.
func (r *request) events() eventStream {
	jsonHeaders(r.w.Header())
	r.w.Header().Set("Content-Type", "text/event-stream")
	out := eventStream{r.w, http.NewResponseController(r.w)}
	out.control.Flush() // so that the reader knows at once that it is answered
	return out
}

// eventStream is such an answer. It is used by one goroutine at a time.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// send sends v as JSON. The error says that nobody listens any more.
func (e eventStream) send(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return e.write("data: " + string(b))
}

// beat breaks the silence, so that it shows whether anybody listens.
func (e eventStream) beat() error { return e.write(":") }

func (e eventStream) write(line string) error {
	_ = e.control.SetWriteDeadline(time.Now().Add(writeTime)) // a writer that has none is of a test
	defer e.control.SetWriteDeadline(time.Time{})             // the connection may serve other requests afterwards
	fmt.Fprintf(e.w, "%s\n\n", line)
	return e.control.Flush()
}
