//go:build nightly && unix

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/wsserver/wstest"
)

// api makes a request of a node's admin API, as a program does, or as the page at an origin.
func (n *node) api(method, path, token, origin string, in any) (status int, body []byte) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	b, err := json.Marshal(in)
	if err != nil {
		n.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+n.addr+path, bytes.NewReader(b))
	if err != nil {
		n.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if origin != "" {
		req.Header.Set("Origin", origin)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		n.t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err = io.ReadAll(resp.Body); err != nil {
		n.t.Fatal(err)
	}
	return resp.StatusCode, body
}

// does is api for a request that must succeed; the answer goes to out.
func (n *node) does(method, path, token, origin string, in, out any) {
	n.t.Helper()
	status, body := n.api(method, path, token, origin, in)
	if status != http.StatusOK {
		n.t.Fatalf("%s: %s %s: %d %s", n.name, method, path, status, body)
	}
	if err := json.Unmarshal(body, out); err != nil {
		n.t.Fatal(err)
	}
}

// cli runs the command with a node's data directory.
func (c *cluster) cli(n *node, args ...string) (out string, err error) {
	cmd := exec.Command(program, append(args, "--data-dir", filepath.Join(c.dir, n.name))...)
	cmd.Env = n.env
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// handshake connects a browser to a node by its pairing, and returns the key that follows an
// invitation's. The error is the node's text.
func (n *node) handshake(id spec.PairingID, key pairing.Key) (peer *wstest.Peer, next pairing.Key, err error) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	peer, _, err = wstest.Connect(ctx, "ws://"+n.addr+"/tabs", http.Header{"Origin": {extension.Origin}}, spec.Subprotocol)
	if err != nil {
		n.t.Fatal(err)
	}
	stop := context.AfterFunc(ctx, func() { peer.Close() })
	defer stop()
	said := pairing.Transcript{Pairing: id, Address: "ws://" + n.addr, BrowserNonce: pairing.NewNonce()}
	ask := func(name, method, params string) json.RawMessage {
		if err == nil {
			peer.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%q,"method":%q,"params":%s}`, name, method, params))
		}
		for err == nil {
			var frame []byte
			if frame, err = peer.Receive(); err != nil {
				break
			}
			if got, _ := rawjson.String(rawjson.Get(frame, "id")); got != name {
				continue
			}
			if fault := rawjson.Get(frame, "error"); fault != nil {
				_, closed := peer.Receive()
				err = fmt.Errorf("%s, then %d", fault, wstest.CloseCode(closed))
			}
			return rawjson.Get(frame, "result")
		}
		return nil
	}
	result := ask("pair", spec.MethodPair, fmt.Sprintf(`{"protocolVersion":"tabhub.v1","pairing":%q,"nonce":%q}`, id, said.BrowserNonce))
	said.Hub, _ = rawjson.String(rawjson.Get(result, "hub"))
	said.HubNonce, _ = rawjson.String(rawjson.Get(result, "nonce"))
	if proof, _ := rawjson.String(rawjson.Get(result, "proof")); err == nil && proof != said.HubProof(key) {
		n.t.Errorf("%s does not prove itself: %s", n.name, result)
	}
	ask("hello", spec.MethodHello, fmt.Sprintf(`{"protocolVersion":"tabhub.v1","browserId":"%[1]s","browserName":"Browser","session":"s","proof":%[2]q}`, id, said.BrowserProof(key)))
	if err != nil {
		peer.Close()
		return nil, nil, err
	}
	return peer, said.NextKey(key), nil
}

// cutOff waits until the hub closes the connection of a browser, and counts the pings that come
// before. One may have been in flight.
func (n *node) cutOff(peer *wstest.Peer) (pings int, err error) {
	late := time.AfterFunc(timeout, func() { peer.Close() })
	defer late.Stop()
	for {
		frame, err := peer.Receive()
		if err != nil {
			return pings, err
		}
		if method, _ := rawjson.String(rawjson.Get(frame, "method")); method == spec.MethodPing {
			pings++
			peer.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{}}`, rawjson.Get(frame, "id")))
		}
	}
}

// held are the credentials of a user, made by several nodes.
type held struct {
	client, token string
	browser       spec.PairingID
	key           pairing.Key
	session       string
}

// make makes one credential of each kind; an exchange that begins at one node goes on at another.
func (c *cluster) make(user, name string, at, then, last *node) (h held) {
	c.t.Helper()
	jwt := c.token(user)
	var client struct{ ID, Token string }
	at.does("POST", "/api/clients", jwt, "", map[string]string{"name": name, "kind": "token"}, &client)
	h.client, h.token = client.ID, client.Token
	last.listTools(c.t, h.token, http.StatusOK) // at once

	var invitation struct {
		Pairing spec.PairingID
		Link    string
	}
	at.does("POST", "/api/pair", jwt, "", nil, &invitation)
	_, text, _ := strings.Cut(invitation.Link, "#")
	parts := strings.Split(text, ".") // browser.<random>.<secret>.<until>
	secret, err := pairing.ParseKey(parts[2])
	if err != nil {
		c.t.Fatal(err)
	}
	peer, key, err := then.handshake(invitation.Pairing, secret)
	if err != nil {
		c.t.Fatalf("an invitation of %s at %s: %v", at.name, then.name, err)
	}
	peer.Close()
	h.browser, h.key = invitation.Pairing, key
	var paired struct{ ID spec.PairingID }
	if last.does("GET", "/api/pair/wait?id="+string(h.browser), jwt, "", nil, &paired); paired.ID != h.browser {
		c.t.Errorf("%s waits for %s, and gets %s", last.name, h.browser, paired.ID)
	}

	var signIn struct{ URL string }
	at.does("POST", "/api/signin", jwt, "", nil, &signIn)
	u, err := url.Parse(signIn.URL)
	if err != nil {
		c.t.Fatal(err)
	}
	code := map[string]string{"code": strings.TrimPrefix(u.Fragment, "code=")}
	var session struct{ Session string }
	then.does("POST", "/api/session", "", "http://"+then.addr, code, &session)
	h.session = session.Session
	if status, body := last.api("POST", "/api/session", "", "http://"+last.addr, code); status != http.StatusUnauthorized {
		c.t.Errorf("%s: an address signs in twice: %d %s", last.name, status, body)
	}
	last.reads(c.t, h.session, http.StatusOK)
	return h
}

// drain runs the command drain, or its inverse, for a node.
func (c *cluster) drain(n *node, args ...string) {
	c.t.Helper()
	if out, err := c.cli(n, append([]string{"cluster", "drain"}, args...)...); err != nil {
		c.t.Fatalf("%v: %s", err, out)
	}
}

// listTools lists the tools of a client with a token.
func (n *node) listTools(t testing.TB, token string, want int) {
	t.Helper()
	status, body := n.api("POST", "/mcp", token, "", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": json.RawMessage(initializeParams)})
	if status != want {
		t.Errorf("%s: a client with a token: %d %s, want %d", n.name, status, body, want)
	}
}

// reads makes the requests of a dashboard's page.
func (n *node) reads(t testing.TB, session string, want int) {
	t.Helper()
	status, body := n.api("GET", "/api/tabs", session, "http://"+n.addr, nil)
	if status != want {
		t.Errorf("%s: a session: %d %s, want %d", n.name, status, body, want)
	}
}

// good checks that all nodes accept the user's credentials.
func (h *held) good(t testing.TB, nodes ...*node) {
	t.Helper()
	for _, n := range nodes {
		n.listTools(t, h.token, http.StatusOK)
		peer, _, err := n.handshake(h.browser, h.key)
		if err != nil {
			t.Errorf("the browser at %s: %v", n.name, err)
			continue
		}
		peer.Close()
	}
}

// end revokes everything at a node, while the browser is connected to another. All nodes refuse it
// then.
func (c *cluster) end(user string, h *held, at, browsersAt *node, nodes ...*node) {
	c.t.Helper()
	peer, _, err := browsersAt.handshake(h.browser, h.key)
	if err != nil {
		c.t.Fatalf("the browser at %s: %v", browsersAt.name, err)
	}
	defer peer.Close()
	jwt := c.token(user)
	var gone struct{}
	at.does("DELETE", "/api/clients?client="+h.client, jwt, "", nil, &gone)
	for _, n := range nodes { // from the answer on
		n.listTools(c.t, h.token, http.StatusUnauthorized)
	}
	at.does("DELETE", "/api/pair?id="+string(h.browser), jwt, "", nil, &gone)
	pings, err := browsersAt.cutOff(peer)
	if pings > 1 || wstest.CloseCode(err) == 0 {
		c.t.Errorf("the browser at %s was cut off after %d pings: %v", browsersAt.name, pings, err)
	}
	for _, n := range nodes {
		if _, _, err := n.handshake(h.browser, h.key); err == nil {
			c.t.Errorf("%s lets a browser in that was forgotten", n.name)
		}
	}
}

// A client's token, a paired browser and the dashboard's login are good at every node, whichever
// node has made them or has the user, also after the user has moved and after the node was killed. A
// credential that one node revokes is good at none.
func TestCredentialsAtAnyNode(t *testing.T) {
	c := startCluster(t, 3)
	owner := c.owner(t, "ann")
	at := slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n == owner })
	a, b := at[0], at[1]
	first := c.make("ann", "first", a, owner, b)
	first.good(t, a, owner, b)

	c.drain(owner, "--wait", "0s")
	switch c.owner(t, "ann") {
	case a:
		a, b = b, a
	case owner:
		t.Fatalf("%s is drained, and has the user again", owner.name)
	}
	c.drain(owner, "--undo")
	first.good(t, a, owner, b)
	a.reads(t, first.session, http.StatusUnauthorized) // pages sign in again
	second := c.make("ann", "second", a, owner, b)
	c.end("ann", &first, a, owner, c.nodes...)
	second.good(t, a, owner, b)
	owner.reads(t, second.session, http.StatusOK)

	b.kill()
	wait(t, "another node has the user", func() bool {
		status, _ := a.api("GET", "/api/tabs", c.token("ann"), "", nil)
		return status == http.StatusOK
	})
	second.good(t, a, owner)
	a.reads(t, second.session, http.StatusUnauthorized)
	b.start()
	b.awaitReady()
	second.good(t, b)
	third := c.make("ann", "third", b, a, owner)
	c.end("ann", &second, owner, b, c.nodes...)
	c.end("ann", &third, b, a, c.nodes...)
}
