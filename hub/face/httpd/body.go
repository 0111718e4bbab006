package httpd

import (
	"io"
	"net/http"
	"time"
)

// bodyTimeout is how long a body may take to come.
const bodyTimeout = 30 * time.Second

// timedBody is a body that must come in time. What is left of it when the handler
// has returned is read by the HTTP server, under the same deadline.
type timedBody struct {
	io.ReadCloser
	rc *http.ResponseController
}

// timeBody bounds the time that a request's body may take.
func timeBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		return
	}
	rc := http.NewResponseController(w)
	if rc.SetReadDeadline(time.Now().Add(bodyTimeout)) == nil {
		r.Body = &timedBody{r.Body, rc}
	}
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.rc.SetReadDeadline(time.Time{}) // or it would end the handler
	}
	return n, err
}
