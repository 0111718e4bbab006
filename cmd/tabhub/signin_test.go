package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub/face/httpd"
	"tabhub/hub/trust/consent"
)

// signInPage matches the address of a sign-in's page in what a client prints.
var signInPage = regexp.MustCompile(`https?://[^\s\x1b\x07?]+/oauth/authorize\?[^\s\x1b\x07]+`)

// letIn opens the page that a client asks for in its output, clicks, repeats the page's
// number as the owner, and goes back to the client. It returns the output up to there, and
// the rest is read in the background.
func (s *serving) letIn(t *testing.T, output io.Reader) {
	t.Helper()
	lines := bufio.NewScanner(output)
	var page string
	for read := new(strings.Builder); page == ""; {
		if !lines.Scan() {
			t.Fatalf("the client asks for no page: %s", read)
		}
		fmt.Fprintln(read, lines.Text())
		page = signInPage.FindString(lines.Text())
	}
	go io.Copy(io.Discard, output)

	u, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	click, err := http.NewRequestWithContext(t.Context(), "POST", page, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	click.Header.Set("Origin", u.Scheme+"://"+u.Host)
	click.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(click)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	events := json.NewDecoder(answer.Body)
	next := func() (e httpd.AuthorizeEvent) {
		if err := events.Decode(&e); err != nil || e.Error != "" {
			t.Fatalf("the page: %s, %+v, %v", answer.Status, e, err)
		}
		return e
	}
	code := next().Code
	s.approve(t, code)
	back, err := http.Get(next().Location)
	if err != nil {
		t.Fatal(err)
	}
	back.Body.Close()
}

// approve answers the question that waits, or is the next to.
func (s *serving) approve(t *testing.T, answer string) {
	t.Helper()
	owner := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", home.Dir(s.dir).Socket())
	}}}
	stream, err := owner.Get("http://hub/api/questions/watch")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	for lines.Scan() {
		var open []consent.Question
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(text), &open); err != nil {
			t.Fatal(err)
		}
		if len(open) == 0 {
			continue
		}
		if out, err := exec.Command("tabhub", "approve", "--data-dir", s.dir, open[0].ID, answer).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	t.Fatalf("%s: nothing was asked", stream.Status)
}

// started starts a client and returns one of its outputs.
func started(t *testing.T, cmd *exec.Cmd, pipe func() (io.ReadCloser, error)) io.Reader {
	t.Helper()
	output, err := pipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return output
}

// signInSDKs are those that sign in.
var signInSDKs = []string{"v2"}

// The SDKs with which most clients are made sign in with nothing but the hub's address.
func TestTypeScriptSDKsSignIn(t *testing.T) {
	t.Parallel()
	nodeScript(t, "signin.mjs")
	hub := serve(t, "--listen", "127.0.0.1:0")
	for _, sdk := range signInSDKs {
		t.Run(sdk, func(t *testing.T) {
			cmd := nodeScript(t, "signin.mjs", sdk)
			cmd.Env, cmd.Stderr = hub.env(), os.Stderr
			hub.letIn(t, started(t, cmd, cmd.StdoutPipe))
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	if out, err := exec.Command("tabhub", "token", "list", "--data-dir", hub.dir).CombinedOutput(); err != nil || !strings.Contains(string(out), "TypeScript v2") {
		t.Errorf("%v\n%s", err, out)
	}
}
