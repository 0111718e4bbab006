package oauth

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"code.dny.dev/ssrf"
)

const documentID = "https://example.com/client.json"

// serveDocument has a Server find a document at documentID.
func (o *owner) serveDocument(h http.HandlerFunc) {
	web := httptest.NewTLSServer(h)
	o.t.Cleanup(web.Close)
	trusting := web.Client() // goes there for example.com
	trusting.CheckRedirect = o.server.documents.CheckRedirect
	o.server.documents = trusting
}

// A client that has a document needs no registration, and is known by the host of the document.
func TestDocument(t *testing.T) {
	o := newOwner(t)
	fetched := false
	o.serveDocument(func(w http.ResponseWriter, _ *http.Request) {
		fetched = true
		w.Write([]byte(`{"client_id":"` + documentID + `","client_name":"Agent","redirect_uris":["http://127.0.0.1/callback"],"logo_uri":"http://127.0.0.1/"}`))
	})
	r, err := o.server.Parse(base, true, query(documentID))
	if err != nil || fetched {
		t.Fatalf("%v; the document was fetched before anybody asked for it: %v", err, fetched)
	}
	if r.Host() != "example.com" || r.Refuse(accessDenied, "no") != "" {
		t.Errorf("the page shows %q, and leads to %q", r.Host(), r.Refuse(accessDenied, "no"))
	}
	tokens := o.signIn(documentID, Access{})
	if who := o.verify(tokens.Access); who.Principal.Name != "Agent" {
		t.Errorf("the client is %q", who.Principal.Name)
	}
	if q := o.asked[0]; q.Client.Name != "example.com" || q.Client.Said != "Agent" {
		t.Errorf("the owner is asked %+v", q)
	}
	o.token(refresh(documentID, tokens.Refresh))
}

// What a document can say that the hub does not follow.
func TestBadDocument(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"of another": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"client_id":"https://example.com/other","redirect_uris":["` + redirect + `"]}`))
		},
		"other redirect": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"client_id":"` + documentID + `","redirect_uris":["https://example.com/cb"]}`))
		},
		"too large": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"client_id":"` + documentID + `","redirect_uris":["` + redirect + `"],"x":"` + strings.Repeat("x", maxDocument) + `"}`))
		},
		"no JSON":   func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) },
		"not found": func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, documentID+"?", http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOwner(t)
			o.serveDocument(h)
			r, err := o.server.Parse(base, true, query(documentID))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := o.server.Authorize(t.Context(), Owner, r, Access{}, func(string) {}); codeOf(err) == "" {
				t.Errorf("the client is told %v", err)
			}
			if len(o.asked) != 0 {
				t.Error("the owner is asked")
			}
		})
	}
}

// A hub that has no way to the internet lets a program on this computer in as one that
// nobody has checked, and sends no code to another.
func TestDocumentOutOfReach(t *testing.T) {
	o := newOwner(t)
	o.server.documents.Transport = unreachable{}
	tokens := o.signIn(documentID, Access{})
	if q := o.asked[0]; q.Client.Name != "an unknown program" || q.Client.Said != "example.com" {
		t.Errorf("the owner is asked %+v", q)
	}
	o.token(refresh(documentID, tokens.Refresh))

	away := query(documentID)
	away.Set("redirect_uri", "https://example.com/callback")
	r, err := o.server.Parse(base, true, away)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.server.Authorize(t.Context(), Owner, r, Access{}, func(string) {}); codeOf(err) != "invalid_client" {
		t.Errorf("the client is told %v", err)
	}
}

type unreachable struct{}

func (unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no route to host")
}

// The author of a client id cannot make the hub send requests in its owner's network, by a name that
// stands for an address there, either.
func TestDocumentOfPrivateAddress(t *testing.T) {
	web := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	defer web.Close()
	port := web.Listener.Addr().(*net.TCPAddr).Port
	for _, address := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "192.168.0.1", "169.254.169.254", "[fd00::1]"} {
		_, err := newFetcher().Get("https://" + address + "/client.json")
		if !errors.Is(err, ssrf.ErrProhibitedIP) {
			t.Errorf("%s: %v", address, err)
		}
	}
	u := url.URL{Scheme: "https", Host: web.Listener.Addr().String(), Path: "/client.json"}
	if _, err := newFetcher().Get(u.String()); !errors.Is(err, ssrf.ErrProhibitedPort) {
		t.Errorf("port %d: %v", port, err)
	}
	t.Setenv("HTTPS_PROXY", web.URL)
	if _, err := newFetcher().Get("https://127.0.0.1/client.json"); !errors.Is(err, ssrf.ErrProhibitedIP) {
		t.Errorf("with a proxy: %v", err)
	}
}
