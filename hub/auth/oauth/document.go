package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"code.dny.dev/ssrf"
)

const (
	maxDocument     = 64 << 10 // bytes
	documentTimeout = 5 * time.Second
)

// newFetcher returns what fetches the documents of clients: from public addresses alone, as
// they turn out when the name is resolved, over TLS, through no proxy and along no redirect.
// Else whoever writes a client id could have the hub ask in its owner's network.
func newFetcher() *http.Client {
	dialer := &net.Dialer{Control: ssrf.New(ssrf.WithPorts(443)).Safe}
	return &http.Client{
		Timeout:       documentTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("it redirects") },
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    documentTimeout,
			MaxResponseHeaderBytes: 16 << 10,
			DisableKeepAlives:      true,
		},
	}
}

// describe fetches the document of a client (OAuth client ID metadata document). It says
// who the client is as far as its host does.
func (s *Server) describe(ctx context.Context, at *url.URL) (*Client, error) {
	client, err := s.fetch(ctx, at)
	if err != nil {
		if _, ok := errors.AsType[*Error](err); ok {
			return nil, err
		}
		s.log.Info("a client's document cannot be read", "url", at.Redacted(), "err", err)
		return nil, errorf(invalidClient, "the client's description at %s cannot be read; try again, or use a client that registers itself", at.Host)
	}
	return client, nil
}

func (s *Server) fetch(ctx context.Context, at *url.URL) (*Client, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := s.documents.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err == nil && len(b) > maxDocument {
		err = errors.New("it is too large")
	}
	var doc Registration
	if err == nil {
		err = json.Unmarshal(b, &doc)
	}
	if err != nil {
		return nil, err
	}
	if doc.ClientID != at.String() {
		return nil, errorf(invalidClient, "the description at %s is of another client", at.Host)
	}
	client, err := doc.check()
	if err != nil {
		return nil, err
	}
	client.Host = at.Host
	return client, nil
}
