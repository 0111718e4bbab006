package packpages

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

//go:embed pages
var pageFiles embed.FS

var pages = template.Must(template.ParseFS(pageFiles, "pages/*.html"))

//go:embed packs
var packFiles embed.FS

// Packs returns the documents of the packs for the pages, whose 20 tools have examples, one each.
func Packs(t testing.TB) map[string][]byte {
	t.Helper()
	packs := map[string][]byte{}
	entries, err := packFiles.ReadDir("packs")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if packs[e.Name()], err = packFiles.ReadFile("packs/" + e.Name()); err != nil {
			t.Fatal(err)
		}
	}
	return packs
}

// Server serves the pages. It is safe for concurrent use.
type Server struct {
	// URL is the server's origin, at localhost, where the packs are for.
	URL   string
	token string // of all forms and requests; static

	mu       sync.Mutex
	acts     map[string]int // by the names of the tools that do so
	changed  map[string]bool
	products []product
	cart     []line
	orders   []order
	events   []event
	messages []message
	stories  []story
	books    []book
}

// New starts a server, which ends with the test.
func New(t testing.TB) *Server {
	s := &Server{token: rand.Text(), acts: map[string]int{}, changed: map[string]bool{}}
	s.fill()
	mux := http.NewServeMux()
	s.shop(mux)
	s.calendar(mux)
	s.mail(mux)
	s.forms(mux)
	s.wiki(mux)
	s.news(mux)
	s.library(mux)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	return s
}

// Acts returns how often the pages' server has done what a tool does.
func (s *Server) Acts(tool string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acts[tool]
}

// Change makes a page another than its pack knows: "products" calls a column otherwise, "checkout" a
// button, and "story" has no arrow for votes.
func (s *Server) Change(page string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed[page] = true
}

// view is what templates show.
type view struct {
	Token    string
	Changed  bool
	Query    string
	Products []product
	Product  product
	Cart     []line
	Total    float64
	Order    order
	Messages []message
	Message  message
	Stories  []story
	Story    *story
	Books    []book
	Book     *book
	Searched bool
}

// show answers with a page. s.mu is not held.
func (s *Server) show(w http.ResponseWriter, page string, v view) {
	v.Token = s.token
	var buf bytes.Buffer
	if err := pages.ExecuteTemplate(&buf, page+".html", v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(buf.Bytes())
}

func (s *Server) isChanged(page string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed[page]
}

// permits answers a request that does not carry the token.
func (s *Server) permits(w http.ResponseWriter, token string) bool {
	if token != s.token {
		http.Error(w, "no valid token", http.StatusForbidden)
	}
	return token == s.token
}

// did counts what a tool does. s.mu is held.
func (s *Server) did(tool string) { s.acts[tool]++ }

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

// body reads a request of JSON.
func body(w http.ResponseWriter, r *http.Request, v any) bool {
	if err := json.NewDecoder(r.Body).Decode(v); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

// having returns those that contain a text.
func having[T any](all []T, text func(T) string, part string) []T {
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool {
		return !strings.Contains(strings.ToLower(text(v)), strings.ToLower(part))
	})
}
