package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"text/tabwriter"
	"time"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/describe"
)

// remote is the admin API of the hub that runs.
type remote struct {
	hub   home.Hub
	token string
	http  *http.Client
}

var errNoHub = errors.New("no hub is running; start one with `tabhub serve`, or let your MCP client start `tabhub stdio`")

// remote finds the hub.
func (a *app) remote() (*remote, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	h, err := dir.Running()
	if errors.Is(err, home.ErrNoHub) {
		return nil, errNoHub
	}
	if err != nil {
		return nil, err
	}
	token := a.env("TABHUB_TOKEN")
	if token == "" {
		// A hub without credentials has no token.
		if token, err = dir.Token(); err != nil && !errors.Is(err, home.ErrNoToken) {
			return nil, err
		}
	}
	return &remote{h, token, h.Client()}, nil
}

// apiError is a refusal of the hub.
type apiError struct {
	status int
	text   string
}

func (e *apiError) Error() string { return e.text }

// do sends in, if it is not nil, and returns the body of the answer.
func (r *remote) do(ctx context.Context, method, path string, in any) ([]byte, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.hub.URL()+path, body)
	if err != nil {
		return nil, err
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the hub at %s does not answer: %w", r.hub.URL(), err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("the hub at %s broke off: %w", r.hub.URL(), err)
	}
	if resp.StatusCode >= 300 {
		var told struct{ Error string }
		if json.Unmarshal(b, &told) != nil || told.Error == "" {
			told.Error = fmt.Sprintf("the hub at %s answers %s", r.hub.URL(), resp.Status)
		}
		return nil, &apiError{resp.StatusCode, told.Error}
	}
	return b, nil
}

// patience is how long a hub may take for an answer that it has at hand. One that
// takes longer hangs.
const patience = 15 * time.Second

// show gets a list or an object from the hub, and prints it as it is if asJSON, or
// by print.
func show[T any](ctx context.Context, a *app, path string, query url.Values, asJSON bool, print func(T) error) error {
	r, err := a.remote()
	if err != nil {
		return err
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	b, err := r.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(b)
	}
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("the hub's answer makes no sense; is it of another version? %w", err)
	}
	return print(v)
}

// printJSON prints JSON, indented for a person. What would be written out in text is
// escaped, which means the same.
func (a *app) printJSON(b []byte) error {
	if isTerminal(a.stdout) {
		var buf bytes.Buffer
		if json.Indent(&buf, bytes.TrimSpace(b), "", "  ") == nil {
			b = append(buf.Bytes(), '\n')
		}
	}
	_, err := a.stdout.Write(describe.VisibleJSON(b))
	return err
}

// table prints rows in columns.
func (a *app) table(header string, rows func(w io.Writer)) error {
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	cells := visible{w} // before it counts their characters
	fmt.Fprintln(cells, header)
	rows(cells)
	return w.Flush()
}
