package telemetry

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A collector that is busy, or starts again, loses no trace; one that refuses is not asked
// again.
func TestUploadAgain(t *testing.T) {
	for _, tt := range []struct {
		statuses []int
		took     time.Duration
		ok       bool
	}{
		{[]int{200}, 0, true},
		{[]int{503, 429, 200}, 3 * time.Second, true},
		{[]int{0, 200}, time.Second, true},
		{[]int{503, 503, 503, 503}, 7 * time.Second, false},
		{[]int{400}, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			u, err := newUploader(vars{"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"}.get, "TRACES")
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			u.http.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
				unzipped, err := gzip.NewReader(r.Body)
				if err != nil || r.URL.String() != "http://localhost:4318/v1/traces" || r.Header.Get("Content-Encoding") != "gzip" {
					t.Errorf("%s %v: %v", r.URL, r.Header, err)
				}
				if b, err := io.ReadAll(unzipped); err != nil || !strings.Contains(string(b), "spans' schema") {
					t.Errorf("sent %q, %v", b, err)
				}
				status := tt.statuses[asked]
				asked++
				if status == 0 {
					return nil, errors.New("connection refused")
				}
				return &http.Response{StatusCode: status, Status: http.StatusText(status), Body: http.NoBody, Header: http.Header{}}, nil
			})
			began := time.Now()
			err = traceClient{u}.UploadTraces(t.Context(), []*tracepb.ResourceSpans{{SchemaUrl: "spans' schema"}})
			if took := time.Since(began); (err == nil) != tt.ok || asked != len(tt.statuses) || took != tt.took {
				t.Errorf("%v: asked %d times in %s: %v", tt.statuses, asked, took, err)
			}
		})
	}
}
