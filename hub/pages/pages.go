package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"tabhub/hub/demo"
)

//go:generate go tool esbuild assets/script.ts assets/embed.ts assets/widget.ts assets/demo.ts assets/pair.ts --bundle --format=iife --charset=utf8 --log-level=warning --outdir=bundle

//go:embed bundle/*.js assets/*.html assets/*.css assets/tab.d.ts
var files embed.FS

// Paths are the paths that Handler serves.
var Paths = []string{"/tab.js", "/tab.d.ts", "/embed.js", "/widget.html", "/demo", "/pair"}

// page is one served file, fixed once made.
type page struct {
	contentType string
	body        []byte
	etag        string
	// policy is the page's Content-Security-Policy, in which {sockets} stands for
	// the hub's own WebSocket addresses; "" for a script.
	policy string
}

// Handler serves Paths, to everybody. The caller checks the Host; origin is the hub's as the
// client of a request knows it, such as "http://127.0.0.1:3300". The files are made for the first
// request: a start does not wait for them.
func Handler(origin func(*http.Request) string) http.Handler {
	served := sync.OnceValue(servedPages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := served()[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		p.at(origin(r)).ServeHTTP(w, r)
	})
}

// servedPages makes all files, by path.
func servedPages() map[string]page {
	return map[string]page{
		"/tab.js":      newPage("text/javascript; charset=utf-8", asset("bundle/script.js"), ""),
		"/embed.js":    newPage("text/javascript; charset=utf-8", asset("bundle/embed.js"), ""),
		"/tab.d.ts":    newPage("text/plain; charset=utf-8", asset("assets/tab.d.ts"), ""),
		"/widget.html": newWidget(),
		"/demo":        newDemo(),
		"/pair":        newPair(),
	}
}

// hubHere stands in a script for the hub's origin, quoted (assets/hub.ts).
const hubHere = `"{hub}"`

// at returns the page as a hub at origin serves it.
func (p page) at(origin string) page {
	before, after, ok := bytes.Cut(p.body, []byte(hubHere))
	if !ok {
		return p
	}
	quoted, err := json.Marshal(origin) // what it quotes ends no string, and no script element
	if err != nil {
		panic(err) // it is a string
	}
	p.body = slices.Concat(before, quoted, after)
	p.etag = etagOf(p.body)
	return p
}

func (p page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are served here", http.StatusMethodNotAllowed)
		return
	}
	h := w.Header()
	h.Set("Content-Type", p.contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	// The next version of the hub comes with the next version of these.
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", p.etag)
	// Pages that isolate themselves (COEP) may use them, too.
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Del("X-Frame-Options")
	if p.policy == "" {
		h.Set("Access-Control-Allow-Origin", "*")
		h.Del("Content-Security-Policy")
	} else {
		h.Set("Content-Security-Policy", strings.ReplaceAll(p.policy, "{sockets}", sockets(r.Host)))
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p.body))
}

var hostPort = regexp.MustCompile(`^[A-Za-z0-9.:\[\]-]+$`)

// sockets returns the sources for a policy that admit WebSockets to host. Not all
// browsers take 'self' to mean them.
func sockets(host string) string {
	if !hostPort.MatchString(host) {
		return ""
	}
	return "ws://" + host + " wss://" + host
}

func newWidget() page {
	script := asset("bundle/widget.js")
	html := strings.Replace(asset("assets/widget.html"), "<!-- script -->", "<script>"+script+"</script>", 1)
	return newPage("text/html; charset=utf-8", html,
		"default-src 'none'; script-src "+hashOf(script)+"; connect-src {sockets}; base-uri 'none'; form-action 'none'; frame-ancestors *")
}

func newDemo() page {
	script, style := asset("bundle/demo.js"), asset("assets/demo.css")
	var shop bytes.Buffer
	json.HTMLEscape(&shop, demo.JSON)
	html := strings.NewReplacer(
		"<!-- style -->", "<style>"+style+"</style>",
		"<!-- shop -->", `<script type="application/json" id="shop">`+shop.String()+"</script>",
		"<!-- script -->", "<script>"+script+"</script>",
	).Replace(asset("assets/demo.html"))
	return newPage("text/html; charset=utf-8", html,
		"default-src 'none'; script-src 'self' "+hashOf(script)+"; style-src "+hashOf(style)+
			"; img-src data:; connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
}

// newPair makes the page that `tabhub browser pair` opens. Its address holds a secret in the
// fragment, which is the extension's affair.
func newPair() page {
	script, style := asset("bundle/pair.js"), asset("assets/pair.css")
	html := strings.NewReplacer("<!-- style -->", "<style>"+style+"</style>", "<!-- script -->", "<script>"+script+"</script>").Replace(asset("assets/pair.html"))
	return newPage("text/html; charset=utf-8", html,
		"default-src 'none'; script-src "+hashOf(script)+"; style-src "+hashOf(style)+"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
}

func newPage(contentType, body, policy string) page {
	return page{contentType, []byte(body), etagOf([]byte(body)), policy}
}

func etagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// hashOf returns the source for a policy that admits an inline script or style.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// asset returns an embedded file.
func asset(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the file is not in the binary
	}
	return string(b)
}
