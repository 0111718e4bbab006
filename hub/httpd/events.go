package httpd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// acceptsEvents reports whether the answer may be a stream of events.
func (r *request) acceptsEvents() bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
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
	fmt.Fprintf(e.w, "data: %s\n\n", b)
	return e.control.Flush()
}
