package e2e

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"image/png"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/tabtest/chromium"
	"tabhub/tabtransport/wsserver/wstest"
)

// content is the content of a CallToolResult.
type content []struct {
	Type, Text, MimeType string
	Data                 []byte
}

// callContent calls a tool that must not fail.
func (c *client) callContent(tool, args string) content {
	c.t.Helper()
	a := c.call(tool, args)
	var result struct{ Content content }
	if a.outcome() != "ok" || json.Unmarshal(a.result, &result) != nil || len(result.Content) == 0 {
		c.t.Fatalf("%s %s: %s %.500s", tool, args, a.outcome(), a.result)
	}
	return result.Content
}

// callJSON is callContent, with the JSON of the result's text decoded into v.
func (c *client) callJSON(tool, args string, v any) {
	c.t.Helper()
	text := c.callContent(tool, args)[0].Text
	if err := json.Unmarshal([]byte(text), v); err != nil {
		c.t.Fatalf("%s %s: %s: %v", tool, args, text, err)
	}
}

// A client with no browser gets one, reaches a page's tools in it, looks at the page,
// and no browser is left when the hub has ended.
func TestBrowserInstance(t *testing.T) {
	t.Parallel()
	browser := chromium.Require(t)
	p := newPlace(t)
	hub := p.serve("--set", "browser-program="+browser)
	c := p.stdio()
	var started struct {
		InstanceID, BrowserID string
		ExtensionAutoLoaded   bool
	}
	c.callJSON("browser_instance", `{"action":"new","headless":true}`, &started)
	if !started.ExtensionAutoLoaded {
		t.Fatalf("%+v", started)
	}
	var page struct {
		TabID     string
		ToolNames []string
	}
	c.callJSON("browser_page", fmt.Sprintf(`{"action":"goto","url":"%s/demo","browserId":%q}`, p.users().URL(), started.BrowserID), &page)
	c.callJSON("browser_page", fmt.Sprintf(`{"action":"wait","tabId":%q}`, page.TabID), &page)
	search := slices.IndexFunc(page.ToolNames, func(n string) bool { return strings.HasSuffix(n, "_search_products") })
	if search < 0 || c.tools().named("_search_products") == "" {
		t.Fatalf("the demo's tools: %q", page.ToolNames)
	}
	if text := c.callContent(page.ToolNames[search], `{"query":"mug"}`)[0].Text; !strings.Contains(text, "mug") {
		t.Errorf("the search: %s", text)
	}
	shot := c.callContent("browser_page", fmt.Sprintf(`{"action":"screenshot","tabId":%q}`, page.TabID))[0]
	img, err := png.Decode(bytes.NewReader(shot.Data))
	if err != nil || shot.MimeType != "image/png" || img.Bounds().Dx() != 1280 {
		t.Errorf("the screenshot is %s, %v", shot.MimeType, err)
	}

	// It goes on in a tab behind that one, waits for the page there, and comes back.
	inTab := func(tool, action, more string, v any) {
		t.Helper()
		c.callJSON(tool, fmt.Sprintf(`{"action":%q,"tabId":%q%s}`, action, page.TabID, more), v)
	}
	var at struct{ URL, Tool, Text string }
	c.callJSON("browser_tab", fmt.Sprintf(`{"action":"new","url":"%s/demo?2","browserId":%q}`, p.url(), started.BrowserID), &page)
	inTab("browser_page", "wait", `,"tool":"add_to_cart","timeoutMs":30000`, &at)
	inTab("browser_page", "wait", `,"for":"rest","timeoutMs":30000`, &at)
	if at.URL != p.url()+"/demo?2" || !strings.HasSuffix(at.Tool, "add_to_cart") {
		t.Errorf("waited for what is at %+v", at)
	}
	inTab("browser_page", "goto", fmt.Sprintf(`,"url":"%s/demo?3"`, p.url()), &at)
	inTab("browser_page", "back", "", &at)
	inTab("browser_page", "text", "", &at)
	if at.URL != p.url()+"/demo?2" || !strings.Contains(at.Text, "Corner Shop") {
		t.Errorf("back at %.200v", at)
	}
	inTab("browser_tab", "activate", "", &at)
	inTab("browser_tab", "close_others", "", &at)

	// A killed browser has ended, and its profile is free.
	type instances struct {
		Instances []struct {
			ID  string
			PID int
		}
	}
	var list instances
	c.callJSON("browser_instance", `{"action":"list"}`, &list)
	if len(list.Instances) != 1 || list.Instances[0].ID != started.InstanceID {
		t.Fatalf("%+v", list)
	}
	killed, err := os.FindProcess(list.Instances[0].PID)
	if err == nil {
		err = killed.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	c.awaitTools("the killed browser's tools are gone", func(l tools) bool { return l.named("_add_to_cart") == "" })
	c.callJSON("browser_instance", `{"action":"list"}`, &list)
	if len(list.Instances) != 0 {
		t.Errorf("a killed browser is listed: %+v", list)
	}
	c.callJSON("browser_instance", `{"action":"new","headless":true}`, &started)
	if got := c.call("browser_instance", `{"action":"close","instanceId":"inst_xxx"}`).outcome(); got != "NO_INSTANCE" {
		t.Errorf("closing what is not there: %s", got)
	}
	c.close()
	hub.Stop()
	p.awaitNoHub()
	if left := p.processes(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// A hub that others reach through a proxy asks everybody for the token, but for the
// browsers that it has started itself: the key that they were given is enough.
func TestBrowserOfAHubBehindAProxy(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	hub := p.serve("--set=behind-proxy=true", "--set", "public-url=https://hub.example.com/base", "--tools", "browser_instance",
		"--launch-browser", "--set", "browser-program="+chromium.Require(t), "--log-level", "debug")
	hub.Stderr.Await(t, "a browser was started")
	c := p.stdio()
	c.callJSON("browser_instance", `{"action":"new","headless":true,"profile":"other"}`, &struct{}{})
	var list struct{ Instances []struct{ Connected bool } }
	c.callJSON("browser_instance", `{"action":"list"}`, &list)
	if len(list.Instances) != 2 || !list.Instances[0].Connected || !list.Instances[1].Connected {
		t.Errorf("%+v", list)
	}

	copied, err := readPairing(filepath.Join(p.dir.Browsers(), "other", "extension"))
	if err != nil || copied.Address != "ws://"+p.listen+"/tabs" {
		t.Fatalf("the browser was given %+v, %v", copied, err)
	}
	p.companion(copied, "another", "https://shop.example.com/", `[]`)
	// hello says what comes of a hello alone.
	hello := func(origin string) spec.CloseCode {
		t.Helper()
		peer, _, err := wstest.Connect(p.within(), copied.Address, http.Header{"Origin": {origin}}, spec.Subprotocol)
		if err != nil {
			t.Fatal(err)
		}
		defer peer.Close()
		peer.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1","browserId":"b"}}`))
		for {
			frame, err := peer.Receive()
			if err != nil {
				return wstest.CloseCode(err)
			}
			if answerOf(frame).result != nil {
				return 0
			}
		}
	}
	for _, origin := range []string{extension.Origin, "http://" + p.listen} {
		if code := hello(origin); code != spec.CloseRefused {
			t.Errorf("%s, without a proof: close code %d, want a refusal", origin, code)
		}
	}
	if strings.Contains(hub.Stderr.String(), copied.Key) {
		t.Error("the key is in the log")
	}
}

// The certificate of a hub that others reach is for the name by which they do, not for
// this machine's address.
func TestBrowserOfAHubWithTLS(t *testing.T) {
	t.Parallel()
	browser := chromium.Require(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"hub.example.com"}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name, kind string, b []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	p := newPlace(t)
	p.serve("--tls-cert", file("cert.pem", "CERTIFICATE", cert), "--tls-key", file("key.pem", "PRIVATE KEY", secret),
		"--tools", "browser_instance", "--set", "browser-program="+browser)
	c := p.stdio()
	var started struct{ BrowserID string }
	c.callJSON("browser_instance", `{"action":"new","headless":true}`, &started)
	if started.BrowserID == "" {
		t.Error("the browser did not join")
	}
}
