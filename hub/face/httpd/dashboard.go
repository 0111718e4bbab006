package httpd

import (
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"

	"tabhub/hub/face/admin/dashboard"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/auth/oauth"
	"tabhub/tabtransport/extension"
)

// dashboardTypes are the content types of the files, by the end of their names. The page itself is served
// at / alone.
var dashboardTypes = map[string]string{
	".js":  "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
}

// dashboardPolicy is the Content-Security-Policy of the page: it loads and asks the hub alone, and makes
// no HTML of what it receives. It shows the images that tools return, which leads to no request.
const dashboardPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// dashboard serves the page and its files without a credential: they hold no data. The page gets data
// from the admin API, with its login.
func (s *Server) dashboard(r *endpoint.Request) error {
	if r.URL.Path == "/" {
		text, _ := dashboard.Files.ReadFile("index.html")
		base := "" // the hub's address, at a host of newDashboardHost
		if dashboardHost(r.Request) != "" {
			base = s.o.URL
		}
		own := s.guard.verifier != nil && newDashboardHost(s.o.URL) != "" // there are such hosts
		page := strings.NewReplacer("{auth}", s.guard.auth(), "{base}", html.EscapeString(base), "{own}", strconv.FormatBool(own)).Replace(string(text))
		endpoint.PageHeaders(r.W.Header(), "text/html; charset=utf-8", dashboardPolicy)
		r.W.Write([]byte(page))
		return nil
	}
	contentType := dashboardTypes[path.Ext(r.URL.Path)]
	name := strings.TrimPrefix(r.URL.Path, "/dashboard/")
	in := name
	if path.Ext(name) == ".js" {
		in = "bundle/" + name
	}
	text, err := dashboard.Files.ReadFile(in)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = extension.Shared.ReadFile(name)
	}
	if err != nil || contentType == "" {
		return errNoPath
	}
	endpoint.PageHeaders(r.W.Header(), contentType, dashboardPolicy)
	endpoint.NewTimedWriter(r.W).Write(text)
	return nil
}

// IsOwnersPage reports whether a path of the hub is that of a page on which its owner reads or decides.
func IsOwnersPage(p string) bool {
	p = path.Clean("/" + p)
	return p == "/" || strings.HasPrefix(p, "/dashboard") || p == oauth.AuthorizePath
}

// auth is how people log in: "address" with an address that the hub makes, "token" with their token,
// "none" without.
func (g *Guard) auth() string {
	switch {
	case g.verifier == nil:
		return "none"
	case g.accounts:
		return "token"
	}
	return "address"
}

// wantsPage reports whether a person is likely to read the answer.
func wantsPage(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// writeRefusal answers a refused request with a page.
func writeRefusal(w http.ResponseWriter, no *endpoint.Error) {
	endpoint.PageHeaders(w.Header(), "text/html; charset=utf-8", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.WriteHeader(no.Status)
	fmt.Fprintf(w, `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>tabhub</title>
<h1>tabhub</h1>
<p role="alert">%s</p>
`, html.EscapeString(no.Text))
}
