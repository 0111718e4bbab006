package httpd

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"tabhub/hub"
	"tabhub/storage"
)

//go:embed dashboard.css
var dashboardCSS string

//go:embed dashboard.html
var dashboardHTML string

// page is the status page, parsed at its first use.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("dashboard").Funcs(template.FuncMap{
		"css":  func() template.CSS { return template.CSS(dashboardCSS) },
		"ago":  ago,
		"took": func(d time.Duration) string { return d.Round(100 * time.Microsecond).String() },
	}).Parse(dashboardHTML))
})

// pagePolicy is the Content-Security-Policy of the hub's own page: one style sheet,
// known by its hash, and nothing else.
var pagePolicy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(dashboardCSS))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
})

func pageHeaders(h http.Header) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy())
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// pageData is what the page shows.
type pageData struct {
	Refusal  string // set: nothing else is shown
	Info     Info
	Base     string // the hub's address as the reader sees it
	Clients  int
	Hub      hub.Status
	Browsers []hub.BrowserInfo
	Tabs     []hub.TabInfo
	Rejected int
	Log      []storage.Record
}

// dashboard serves the status page. A sign-in address, /?token=…, is answered with a
// cookie and a redirect that takes the token out of the address bar and the history.
func (s *Server) dashboard(w http.ResponseWriter, r *http.Request, p *pass) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		writeError(w, http.StatusMethodNotAllowed, "this page can only be read; MCP clients use /mcp")
		return
	}
	if r.URL.Query().Has("token") {
		s.signIn(w, r, p.identity)
		return
	}
	world, err := s.o.World(r.Context(), p.identity.User)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	data := pageData{
		Info: s.o.Info(), Base: s.guard.selfOrigin(r), Clients: s.clients.count(),
		Hub: world.Hub.Status(), Browsers: world.Hub.Browsers(), Tabs: world.Hub.Tabs(),
	}
	if data.Log, err = world.Hub.Records(r.Context(), storage.Query{Limit: 12, Event: storage.EventCall}); err != nil {
		s.log.Warn("the log cannot be read", "err", err)
	}
	s.writePage(w, http.StatusOK, data)
}

func (s *Server) writePage(w http.ResponseWriter, status int, data pageData) {
	var b bytes.Buffer
	if err := page().Execute(&b, data); err != nil {
		s.log.Error("status page", "err", err)
		writeError(w, http.StatusInternalServerError, "the page could not be made; the hub's log says why")
		return
	}
	pageHeaders(w.Header())
	w.WriteHeader(status)
	w.Write(b.Bytes())
}

func (s *Server) signIn(w http.ResponseWriter, r *http.Request, id *Identity) {
	if s.guard.verifier != nil {
		c := &http.Cookie{
			Name: cookieName(r), Value: s.guard.cookieFor(id), Path: "/", Expires: id.Expires,
			HttpOnly: true, SameSite: http.SameSiteStrictMode,
			Secure: strings.HasPrefix(s.guard.selfOrigin(r), "https:"),
		}
		http.SetCookie(w, c)
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, withoutToken(r.URL), http.StatusSeeOther)
}

// cookieName holds the port: cookies of one host are shared by all its ports, and
// two hubs must not sign each other out.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "0"
	}
	return "tabhub-" + port
}

// wantsPage reports whether a person is likely to read the answer.
func wantsPage(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// ago writes how long ago something was.
func ago(t time.Time) string {
	d := time.Since(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return t.Format("2 Jan 15:04")
}
