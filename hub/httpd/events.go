package httpd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// writeTime is how long who reads a stream may take for an event.
const writeTime = 10 * time.Second

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
