package httpd

import (
	"io"
	"net/http"
	"time"
)

// bodyTimeout bounds the time in which a body must arrive.
const bodyTimeout = 30 * time.Second

// timedBody is a body that must arrive in time. The HTTP server reads what the handler leaves of it,
// under the same deadline.
type timedBody struct {
	io.ReadCloser
	rc *http.ResponseController
}

// timeBody bounds the time in which a request's body must arrive.
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
