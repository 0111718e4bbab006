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

// newFetcher returns the client that fetches the documents of clients: from addresses that are public
// after the name is resolved, over TLS, through no proxy and along no redirect. Otherwise the author of
// a client id could make the hub send requests in its owner's network.
func newFetcher() *http.Client {
	dialer := &net.Dialer{Control: ssrf.New(ssrf.WithPorts(443)).Safe}
	return &http.Client{
		Timeout:       documentTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    documentTimeout,
			MaxResponseHeaderBytes: 16 << 10,
			DisableKeepAlives:      true,
		},
	}
}

// describe reads the document of the client of r (OAuth client ID metadata document), with which its host
// describes the client.
func (s *Server) describe(ctx context.Context, r *Request) (*Client, error) {
	client, err := s.fetch(ctx, r.document)
	if err == nil {
		return client, nil
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return nil, err
	}
	s.log.Info("a client's document cannot be read", "url", r.document.String(), "err", err)
	if _, unreachable := errors.AsType[*url.Error](err); unreachable && ctx.Err() == nil && r.to.Scheme == "http" {
		// A program on this computer is no better known by a document, which names no port,
		// than if it had registered itself; and the hub may have no way to the internet.
		return &Client{ID: r.document.String(), Name: r.document.Host, Redirects: []string{r.redirect}}, nil
	}
	return nil, errorf(invalidClient, "the client's description at %s cannot be read; try again, or use a client that registers itself", r.document.Host)
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
