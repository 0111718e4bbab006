package httpd

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tabhub/hub/trust/auth/oauth"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
)

// Another user of the machine, who needs no credential to register a client and to open the page,
// uses up what is theirs: the owner's clients sign in all the same.
func TestSignInBesideAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("this test connects as another user, which only root may")
		}
		t.Skip("this test connects as another user, which only root may")
	}
	unanswered := true
	d := open(t, withOAuth(t, func(context.Context, consent.SignIn) (consent.Answer, error) {
		if unanswered {
			return consent.Answer{}, &consent.Denied{Words: "nobody has answered"}
		}
		return consent.Answer{Reach: spec.ReachOnce}, nil
	}))
	d.server.guard.ownPeer = ownPeer
	address := d.register("An agent")
	other := &http.Client{Transport: &http.Transport{DialContext: dialAs(65534)}}
	// send returns the status and the answer. A proxy's header does not change whose the requests are.
	send := func(client *http.Client, address, body, forwarded string) (int, string) {
		t.Helper()
		req, err := http.NewRequest("POST", address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if strings.Contains(address, oauth.AuthorizePath) {
			req.Header.Set("Origin", "http://"+d.addr)
		}
		if forwarded != "" {
			req.Header.Set("X-Forwarded-For", forwarded)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(answer)
	}
	register := "http://" + d.addr + oauth.RegisterPath
	registration, _ := json.Marshal(oauth.Registration{RedirectURIs: []string{callback}})
	for _, forwarded := range []string{"", "192.0.2.7"} {
		status := 0
		for range 40 {
			status, _ = send(other, register, string(registration), forwarded)
		}
		if status != http.StatusTooManyRequests {
			t.Errorf("forty registrations: %d", status)
		}
		for range 5 {
			send(other, address, `{}`, forwarded)
		}
		if _, answer := send(other, address, `{}`, forwarded); !strings.Contains(answer, "too many") {
			t.Errorf("a sixth question: %s", answer)
		}
	}
	if status, answer := send(http.DefaultClient, register, string(registration), ""); status != http.StatusCreated {
		t.Errorf("the owner's client is not registered: %d %s", status, answer)
	}
	unanswered = false
	if _, answer := send(http.DefaultClient, address, `{}`, ""); !strings.Contains(answer, callback+"?code=") {
		t.Errorf("the owner's client is not let in: %s", answer)
	}
}

// dialAs returns a function that connects as another user.
func dialAs(uid int) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		runtime.LockOSThread() // whose the next socket is, the thread says
		defer runtime.UnlockOSThread()
		before, err := unix.SetfsuidRetUid(uid)
		if err != nil {
			return nil, err
		}
		defer unix.SetfsuidRetUid(before)
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}
