package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"golang.org/x/net/http/httpguts"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

const (
	defaultEndpoint = "http://localhost:4318"
	defaultTimeout  = 10 * time.Second
	// maxAttempts is how often something is sent that a collector does not take now.
	maxAttempts = 4
	firstRetry  = time.Second
	contentType = "application/x-protobuf"
)

// uploader posts one signal to a collector, as the standard environment variables say. It
// follows no redirects: the headers may hold a credential, which is for the endpoint alone.
type uploader struct {
	url     string
	headers http.Header
	gzip    bool
	timeout time.Duration
	http    *http.Client
}

// uploader returns what sends a signal, TRACES or METRICS; nil if it is not to be sent.
func (env environment) uploader(signal string) (*uploader, error) {
	if wanted, err := env.exports(signal); !wanted {
		return nil, err
	}
	return newUploader(env, signal)
}

func newUploader(env environment, signal string) (*uploader, error) {
	u := &uploader{url: env("OTEL_EXPORTER_OTLP_" + signal + "_ENDPOINT"), timeout: defaultTimeout}
	if u.url == "" {
		base := env("OTEL_EXPORTER_OTLP_ENDPOINT")
		if base == "" {
			base = defaultEndpoint
		}
		u.url = strings.TrimRight(base, "/") + "/v1/" + strings.ToLower(signal)
	}
	if to, err := url.Parse(u.url); err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return nil, fmt.Errorf("the endpoint for %s is %q; write it as %s", strings.ToLower(signal), u.url, defaultEndpoint)
	}
	if v := env.of(signal, "TIMEOUT"); v != "" {
		ms, err := strconv.Atoi(v)
		if err != nil || ms <= 0 {
			return nil, fmt.Errorf("the timeout for %s is %q; it is a number of milliseconds", strings.ToLower(signal), v)
		}
		u.timeout = time.Duration(ms) * time.Millisecond
	}
	switch c := env.of(signal, "COMPRESSION"); c {
	case "", "none":
	case "gzip":
		u.gzip = true
	default:
		return nil, fmt.Errorf("the compression for %s is %q; it may be gzip or none", strings.ToLower(signal), c)
	}
	var err error
	if u.headers, err = parseHeaders(env.of(signal, "HEADERS")); err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if transport.TLSClientConfig, err = tlsConfig(env, signal); err != nil {
		return nil, err
	}
	u.http = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return u, nil
}

// parseHeaders reads NAME=VALUE,NAME=VALUE. What is wrong is not quoted: it may be a secret.
func parseHeaders(pairs string) (http.Header, error) {
	headers := http.Header{}
	for i, pair := range strings.Split(pairs, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("number %d of the headers (OTEL_EXPORTER_OTLP_HEADERS) is no header; write NAME=VALUE, the value percent-encoded, such as authorization=Bearer%%20TOKEN", i+1)
		}
		headers.Add(name, value)
	}
	return headers, nil
}

// to returns the endpoint, less what is a secret in it.
func (u *uploader) to() string {
	to, err := url.Parse(u.url)
	if err != nil {
		return ""
	}
	to.User, to.RawQuery = nil, ""
	return to.String()
}

// tlsConfig returns whom to believe to be the collector, and who to be for it; nil if the
// environment does not say.
func tlsConfig(env environment, signal string) (*tls.Config, error) {
	ca, cert, key := env.of(signal, "CERTIFICATE"), env.of(signal, "CLIENT_CERTIFICATE"), env.of(signal, "CLIENT_KEY")
	if ca == "" && cert == "" && key == "" {
		return nil, nil
	}
	if (cert == "") != (key == "") {
		return nil, errors.New("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY go together; one of them is not set")
	}
	c := new(tls.Config)
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate (PEM)", ca)
		}
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// upload posts a message. What the collector cannot take now is sent again, a few times.
func (u *uploader) upload(ctx context.Context, m proto.Message) error {
	body, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	if u.gzip {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(body); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		body = b.Bytes()
	}
	ctx, cancel := context.WithTimeout(ctx, u.timeout)
	defer cancel()
	for wait, n := firstRetry, 1; ; wait, n = 2*wait, n+1 {
		after, err := u.post(ctx, body)
		if err == nil || after < 0 || n == maxAttempts {
			return err
		}
		select {
		case <-time.After(max(wait, after)):
		case <-ctx.Done():
			return err
		}
	}
}

// post sends a body once. With an error it returns how long to wait until it is sent again,
// below 0 if it must not be.
func (u *uploader) post(ctx context.Context, body []byte) (after time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.url, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	r.Header = u.headers.Clone()
	r.Header.Set("Content-Type", contentType)
	if u.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := u.http.Do(r)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err // without the address, which may hold a secret
		}
		return 0, fmt.Errorf("the collector does not answer over OTLP/HTTP, mostly port 4318: %w", err)
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // all of it, so that the connection serves again
	if resp.Header.Get("Content-Type") != contentType {
		answer = nil
	}
	if resp.StatusCode < 300 {
		// An Export…ServiceResponse, with a partial_success if something was not taken.
		if why := textField(textField(answer, 1), 2); why != nil {
			return -1, fmt.Errorf("the collector has not taken all: %.200q", why)
		}
		return 0, nil
	}
	err = fmt.Errorf("the collector has answered %s", resp.Status)
	if why := textField(answer, 2); why != nil { // a google.rpc.Status
		err = fmt.Errorf("%w: %.200q", err, why)
	}
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		err = fmt.Errorf("%w, which is not followed: set the endpoint to where the collector is", err)
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return time.Duration(seconds) * time.Second, err
	}
	return -1, err
}

// textField returns a field of a message that is a text or a message, nil if there is none.
// The types that OTLP's answers have in Go bring gRPC along.
func textField(message []byte, number protowire.Number) []byte {
	for len(message) > 0 {
		n, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return nil
		}
		value := protowire.ConsumeFieldValue(n, kind, message[tag:])
		if value < 0 {
			return nil
		}
		if n == number && kind == protowire.BytesType {
			text, _ := protowire.ConsumeBytes(message[tag:])
			return text
		}
		message = message[tag+value:]
	}
	return nil
}

// traceClient is otlptrace.Client.
type traceClient struct{ *uploader }

func (traceClient) Start(context.Context) error { return nil }

func (c traceClient) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

func (c traceClient) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	return c.upload(ctx, &tracepb.TracesData{ResourceSpans: spans}) // the same bytes as an ExportTraceServiceRequest
}
