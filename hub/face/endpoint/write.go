package endpoint

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

// writeTime bounds how long a client may take to read an event of a stream, or a piece of any other
// answer.
const writeTime = 10 * time.Second

// WriteError answers {"error": text}.
func WriteError(w http.ResponseWriter, status int, text string) {
	WriteJSON(w, status, ErrorReport{Error: text})
}

// WriteJSON answers v as JSON.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"the answer could not be written as JSON"}`)
	}
	JSONHeaders(w.Header())
	w.WriteHeader(status)
	NewTimedWriter(w).Write(append(b, '\n'))
}

// JSONHeaders sets the headers of an answer that is JSON.
func JSONHeaders(h http.Header) {
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
}

// PageHeaders sets the headers of a page or of a file that a page loads. policy is its
// Content-Security-Policy.
func PageHeaders(h http.Header, contentType, policy string) {
	h.Set("Content-Type", contentType)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// TimedWriter writes an answer to a client that must go on reading. Otherwise a client that stops
// would keep many MiB in memory.
type TimedWriter struct {
	w  io.Writer
	rc *http.ResponseController
}

// NewTimedWriter returns a TimedWriter that writes to w.
func NewTimedWriter(w http.ResponseWriter) TimedWriter {
	return TimedWriter{w, http.NewResponseController(w)}
}

// Write gives the client writeTime for each piece of b.
func (t TimedWriter) Write(b []byte) (written int, err error) {
	const piece = 64 << 10
	defer t.rc.SetWriteDeadline(time.Time{}) // the connection may serve other requests afterwards
	for part := range slices.Chunk(b, piece) {
		_ = t.rc.SetWriteDeadline(time.Now().Add(writeTime)) // a writer without one is a test's
		n, err := t.w.Write(part)
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// Events is an answer that is a stream of server-sent events. One goroutine uses it at a time.
type Events struct {
	w       io.Writer
	control *http.ResponseController
}

// Events begins such an answer.
func (r *Request) Events() Events {
	JSONHeaders(r.W.Header())
	r.W.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(r.W)
	control.Flush() // so that the client knows at once that the stream has begun
	return Events{r.W, control}
}

// Send sends v as JSON. An error says that the client has gone.
func (e Events) Send(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return e.write("data: " + string(b))
}

// Beat sends a comment, to find out whether the client is still there.
func (e Events) Beat() error { return e.write(":") }

func (e Events) write(line string) error {
	_ = e.control.SetWriteDeadline(time.Now().Add(writeTime)) // a writer without one is a test's
	defer e.control.SetWriteDeadline(time.Time{})             // the connection may serve other requests afterwards
	fmt.Fprintf(e.w, "%s\n\n", line)
	return e.control.Flush()
}
