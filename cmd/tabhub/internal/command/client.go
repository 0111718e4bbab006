package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub/core"
	"tabhub/spec"
)

// tokenEnv is the environment variable with the credential that is shown to the hub, and
// tokenFileEnv the one with the path of a file that holds it, for `tabhub stdio`.
const (
	TokenEnv     = "TABHUB_TOKEN"
	TokenFileEnv = "TABHUB_TOKEN_FILE"
)

// Remote is the admin API of the hub that runs, over its socket.
type Remote struct {
	Hub   home.Hub
	Token string // "": none; one is needed only for a user of a hub with accounts
	HTTP  *http.Client
}

// Remote finds the hub.
func (a *App) Remote() (*Remote, error) {
	dir, h, err := a.Running()
	if err != nil {
		return nil, err
	}
	return a.RemoteOf(dir, h)
}

// RemoteOf returns the admin API of a hub that was found.
func (a *App) RemoteOf(dir home.Dir, h home.Hub) (*Remote, error) {
	return &Remote{h, a.Env(TokenEnv), dir.Client()}, nil
}

// Running returns the data directory and the hub that runs there.
func (a *App) Running() (home.Dir, home.Hub, error) {
	dir, err := a.Dir()
	if err != nil {
		return "", home.Hub{}, err
	}
	h, err := dir.Running()
	if errors.Is(err, home.ErrNoHub) {
		err = fmt.Errorf("%w (data in %s); start it with `tabhub serve`, or let your MCP client start `tabhub stdio`", home.ErrNoHub, dir)
	}
	return dir, h, err
}

// apiError is a refusal of the hub.
type apiError struct {
	status int
	text   string
}

func (e *apiError) Error() string { return e.text }

// IsStatus reports whether err is a refusal of the hub with that HTTP status.
func IsStatus(err error, status int) bool {
	no, ok := errors.AsType[*apiError](err)
	return ok && no.status == status
}

// Do sends in, if it is not nil, and returns the body of the answer.
func (r *Remote) Do(ctx context.Context, method, path string, in any) ([]byte, error) {
	resp, err := r.Send(ctx, method, path, in, "application/json")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, r.BrokeOff(err)
	}
	return b, nil
}

// Do is remote.do of the hub that runs.
func (a *App) Do(ctx context.Context, method, path string, in any) ([]byte, error) {
	r, err := a.Remote()
	if err != nil {
		return nil, err
	}
	return r.Do(ctx, method, path, in)
}

// Send is do for what has no answer.
func (a *App) Send(ctx context.Context, method, path string, in any) error {
	_, err := a.Do(ctx, method, path, in)
	return err
}

// Events sends in, if it is not nil, and yields the data of each event of the answer. The last
// it yields is an error, also when the stream has ended.
func (r *Remote) Events(ctx context.Context, method, path string, in any) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		resp, err := r.Send(ctx, method, path, in, eventStream)
		if err != nil {
			yield(nil, err)
			return
		}
		defer resp.Body.Close()
		if is := resp.Header.Get("Content-Type"); is != eventStream {
			yield(nil, errOtherVersion)
			return
		}
		for in := bufio.NewReader(resp.Body); ; {
			line, err := in.ReadBytes('\n')
			if err != nil {
				yield(nil, r.BrokeOff(err))
				return
			}
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && !yield(data, nil) {
				return
			}
		}
	}
}

const eventStream = "text/event-stream"

func (r *Remote) BrokeOff(err error) error {
	return fmt.Errorf("the hub (process %d) broke off: %w", r.Hub.PID, err)
}

// Send sends in, if it is not nil, and returns the answer, unless that is an error. The caller
// closes its body, which is to be of the type accept.
func (r *Remote) Send(ctx context.Context, method, path string, in any, accept string) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, home.SocketURL+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	if r.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Token)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := r.HTTP.Do(req)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return nil, errInterrupted
	case err != nil:
		return nil, fmt.Errorf("the hub (process %d) does not answer: %w", r.Hub.PID, errors.Unwrap(err)) // without the address
	}
	if resp.StatusCode >= 300 {
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		var told struct{ Error string }
		if json.Unmarshal(b, &told) != nil || told.Error == "" {
			told.Error = fmt.Sprintf("the hub (process %d) answers %s", r.Hub.PID, resp.Status)
		}
		return nil, &apiError{resp.StatusCode, told.Error}
	}
	return resp, nil
}

// Call is do for an answer that is decoded into out.
func (r *Remote) Call(ctx context.Context, method, path string, in, out any) error {
	b, err := r.Do(ctx, method, path, in)
	if err != nil {
		return err
	}
	return Decode(b, out)
}

var errInterrupted = errors.New("interrupted")

var errOtherVersion = errors.New("the hub's answer makes no sense; is it of another version? `tabhub stop` ends it, and the next client starts one of this version")

// Decode reads an answer of the hub.
func Decode(b []byte, out any) error {
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%w (%w)", errOtherVersion, err)
	}
	return nil
}

// AnswerTimeout is how long a hub may take for an answer that it has at hand. One that
// takes longer hangs.
const AnswerTimeout = 15 * time.Second

// Show gets a list or an object from the hub, and prints it as it is if asJSON, or
// by print.
func Show[T any](ctx context.Context, a *App, path string, query url.Values, asJSON bool, print func(*App, T) error) error {
	r, err := a.Remote()
	if err != nil {
		return err
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	ctx, cancel := context.WithTimeout(ctx, AnswerTimeout)
	defer cancel()
	b, err := r.Do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if asJSON {
		return a.PrintJSON(b)
	}
	var v T
	if err := Decode(b, &v); err != nil {
		return err
	}
	return print(a, v)
}

// Ask gets an object from the hub.
func Ask(ctx context.Context, a *App, path string, v any) error {
	r, err := a.Remote()
	if err != nil {
		return err
	}
	return r.Call(ctx, http.MethodGet, path, nil, v)
}

// Content is a part of what a page has answered.
type Content struct {
	Type, Text, Data, MimeType, URI string
	Resource                        struct{ URI, Text string }
}

// FailureOf returns the failure that a result of the hub's own is about, if it is one.
func FailureOf(result json.RawMessage) (*core.Failure, bool) {
	var r struct {
		Content []Content
		IsError bool
	}
	var f struct {
		Error struct {
			Code    spec.FailureCode
			Message string
		}
	}
	if json.Unmarshal(result, &r) != nil || !r.IsError || len(r.Content) == 0 || json.Unmarshal([]byte(r.Content[0].Text), &f) != nil {
		return nil, false
	}
	return &core.Failure{Code: f.Error.Code, Message: f.Error.Message}, f.Error.Code != ""
}
