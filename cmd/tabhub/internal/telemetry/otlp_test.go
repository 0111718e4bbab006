package telemetry

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A collector that is busy, or starts again, loses no trace; one that refuses is not asked
// again.
func TestUploadAgain(t *testing.T) {
	for _, tt := range []struct {
		statuses []int
		after    string
		took     time.Duration
		ok       bool
	}{
		{[]int{200}, "", 0, true},
		{[]int{503, 429, 200}, "", 3 * time.Second, true},
		{[]int{429, 200}, "5", 5 * time.Second, true},
		{[]int{503}, "3600", 10 * time.Second, false},
		{[]int{0, 200}, "", time.Second, true},
		{[]int{503, 503, 503, 503}, "", 7 * time.Second, false},
		{[]int{400}, "", 0, false},
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
				return &http.Response{StatusCode: status, Status: http.StatusText(status), Body: http.NoBody, Header: http.Header{"Retry-After": {tt.after}}}, nil
			})
			began := time.Now()
			err = traceClient{u}.UploadTraces(t.Context(), []*tracepb.ResourceSpans{{SchemaUrl: "spans' schema"}})
			if took := time.Since(began); (err == nil) != tt.ok || asked != len(tt.statuses) || took != tt.took {
				t.Errorf("%v: asked %d times in %s: %v", tt.statuses, asked, took, err)
			}
		})
	}
}

// A redirect takes neither what was done nor a credential to another host.
func TestUploadFollowsNoRedirect(t *testing.T) {
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
		elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			t.Errorf("%d took %s %v to another host", status, r.Method, r.Header)
		}))
		defer elsewhere.Close()
		ts := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
		defer ts.Close()
		u, err := newUploader(vars{"OTEL_EXPORTER_OTLP_ENDPOINT": ts.URL, "OTEL_EXPORTER_OTLP_HEADERS": "x-api-key=secret"}.get, "TRACES")
		if err != nil {
			t.Fatal(err)
		}
		if err := (traceClient{u}).UploadTraces(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "set the endpoint") {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// A collector with a certificate of its owner's is believed, and learns who sends.
func TestUploadOverTLS(t *testing.T) {
	var who string
	ts := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		who = r.TLS.PeerCertificates[0].Issuer.String()
	}))
	ts.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	ts.StartTLS()
	defer ts.Close()
	own := ts.TLS.Certificates[0] // serves as the client's, too
	private, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	cert, key := write("cert.pem", "CERTIFICATE", own.Certificate[0]), write("key.pem", "PRIVATE KEY", private)
	u, err := newUploader(vars{
		"OTEL_EXPORTER_OTLP_ENDPOINT": ts.URL, "OTEL_EXPORTER_OTLP_CERTIFICATE": cert,
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": cert, "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY": key,
	}.get, "TRACES")
	if err != nil {
		t.Fatal(err)
	}
	if err := (traceClient{u}).UploadTraces(t.Context(), nil); err != nil || who == "" {
		t.Errorf("sent as %q: %v", who, err)
	}
}

// What is wrong with the environment is said when the hub starts, without the secrets in it.
func TestEnvironmentThatCannotBeUsed(t *testing.T) {
	for _, tt := range []struct{ name, value, says string }{
		{"ENDPOINT", "localhost:4317", "write it as http://localhost:4318"},
		{"TIMEOUT", "10s", "milliseconds"},
		{"COMPRESSION", "zstd", "gzip"},
		{"CERTIFICATE", "nowhere.pem", "nowhere.pem"},
		{"CLIENT_KEY", "key.pem", "go together"},
		{"CLIENT_CERTIFICATE", "cert.pem", "go together"},
		{"METRICS_TEMPORALITY_PREFERENCE", "sideways", "lowmemory"},
		{"HEADERS", "authorization: Bearer secret", "authorization=Bearer%20TOKEN"},
		{"HEADERS", "a=1,secret", "number 2"},
		{"HEADERS", "authorization=secret%2", "NAME=VALUE"},
		{"HEADERS", "authorization=secret%0A", "NAME=VALUE"},
		{"HEADERS", "=secret", "NAME=VALUE"},
	} {
		env := vars{"OTEL_METRICS_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_" + tt.name: tt.value}
		switch _, err := environment(env.get).metricExporter(); {
		case err == nil:
			t.Errorf("%v is taken", env)
		case !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "secret"):
			t.Errorf("%v: %v", env, err)
		}
	}
	good := vars{"OTEL_METRICS_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_HEADERS": " a = b%20c ,, d=e=f,a=g"}
	e, err := environment(good.get).metricExporter()
	if err != nil {
		t.Fatal(err)
	}
	if got := e.headers; len(got) != 2 || strings.Join(got["A"], "|") != "b c|g" || got.Get("D") != "e=f" {
		t.Errorf("the headers are %v", got)
	}
}

// What a collector wants of metrics it gets, and where to they go is told without a secret.
func TestTemporality(t *testing.T) {
	for preference, want := range map[string]metricdata.Temporality{
		"": metricdata.CumulativeTemporality, "Cumulative": metricdata.CumulativeTemporality,
		"delta": metricdata.DeltaTemporality, "LowMemory": metricdata.DeltaTemporality,
	} {
		e, err := environment(vars{
			"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT":               "https://user:secret@collector/v1/m?key=secret",
			"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": preference,
		}.get).metricExporter()
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Temporality(sdkmetric.InstrumentKindHistogram); got != want || e.to() != "https://collector/v1/m" {
			t.Errorf("%q: %s, to %s", preference, got, e.to())
		}
	}
}

// What a collector says of why it has not taken something is in the log.
func TestUploadNotTaken(t *testing.T) {
	const why = "the quota is used up"
	partial, err := proto.Marshal(&collectortrace.ExportTraceServiceResponse{
		PartialSuccess: &collectortrace.ExportTracePartialSuccess{RejectedSpans: 3, ErrorMessage: why},
	})
	if err != nil {
		t.Fatal(err)
	}
	status := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 3) // a google.rpc.Status
	status = protowire.AppendString(protowire.AppendTag(status, 2, protowire.BytesType), why)
	for _, tt := range []struct {
		code   int
		answer []byte
		says   string
	}{
		{200, nil, "<nil>"},
		{200, partial, why},
		{200, partial[:9], "<nil>"},
		{400, status, "400 Bad Request: " + strconv.Quote(why)},
		{401, nil, "401 Unauthorized"},
		{400, bytes.Repeat([]byte{0xff}, 1000), "400 Bad Request"},
	} {
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-protobuf")
			w.WriteHeader(tt.code)
			_, _ = w.Write(tt.answer)
		}))
		defer ts.Close()
		u, err := newUploader(vars{"OTEL_EXPORTER_OTLP_ENDPOINT": ts.URL}.get, "TRACES")
		if err != nil {
			t.Fatal(err)
		}
		if err := u.upload(t.Context(), &tracepb.TracesData{}); !strings.Contains(fmt.Sprint(err), tt.says) {
			t.Errorf("%d %q: %v, want %s", tt.code, tt.answer, err, tt.says)
		}
	}
}
