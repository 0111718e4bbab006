package taskpages

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
)

//go:embed pages
var pages embed.FS

//go:embed pack.json
var pack []byte

// Pack returns the document of a pack that has a tool for each task, of the task's name.
func Pack() []byte { return bytes.Clone(pack) }

// Server serves the pages, and knows what was done there. It is safe for concurrent use.
type Server struct {
	// URL is the server's origin, at localhost. Frames of another origin are at 127.0.0.1.
	URL       string
	reference string // of the booking that is to be found; static

	mu   sync.Mutex
	done map[string][]json.RawMessage // by the names of the tasks
}

// New starts a server, which ends with the test.
func New(t testing.TB) *Server {
	s := &Server{reference: rand.Text()[:6], done: map[string][]json.RawMessage{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", s.page)
	mux.HandleFunc("POST /{task}/did", s.didSay)
	mux.HandleFunc("POST /{task}/form/{did}", s.didSend)
	s.apis(mux)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	return s
}

// Done returns what was done on the pages of a task: JSON with members in the order of their names.
func (s *Server) Done(task string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, d := range s.done[task] {
		out = append(out, string(d))
	}
	return out
}

// page serves /task/ from task.html, and /task/name from task-name.html.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	name := strings.ReplaceAll(strings.Trim(r.URL.Path, "/"), "/", "-")
	if path.Ext(name) == "" {
		name += ".html"
	}
	text, err := pages.ReadFile("pages/" + name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	task, _, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	for part, file := range map[string]string{"{{head}}": "head.html", "{{foot}}": "foot.html"} {
		if bytes.Contains(text, []byte(part)) {
			layout, _ := pages.ReadFile("pages/" + file)
			text = bytes.ReplaceAll(text, []byte(part), layout)
		}
	}
	text = bytes.ReplaceAll(text, []byte("{{title}}"), []byte(title(task)))
	text = bytes.ReplaceAll(text, []byte("{{other}}"), []byte(strings.Replace(s.URL, "localhost", "127.0.0.1", 1)))
	w.Write(text)
}

func title(name string) string {
	for _, t := range Tasks {
		if t.Name == name {
			return t.Title
		}
	}
	return name
}

// did notes what was done. Encoding sorts the members.
func (s *Server) did(task string, what map[string]any) error {
	b, err := json.Marshal(what)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[task] = append(s.done[task], b)
	return nil
}

// didSay takes what a page's script says.
func (s *Server) didSay(w http.ResponseWriter, r *http.Request) {
	var what map[string]any
	if err := json.NewDecoder(r.Body).Decode(&what); err != nil || s.did(r.PathValue("task"), what) != nil {
		http.Error(w, "no JSON object", http.StatusBadRequest)
	}
}

// didSend takes a form, and shows the page that its field next names.
func (s *Server) didSend(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseMultipartForm(1 << 20); err != nil && err != http.ErrNotMultipart {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	what := map[string]any{"did": r.PathValue("did")}
	for name, values := range r.PostForm {
		what[name] = values[0]
	}
	delete(what, "next")
	if r.MultipartForm != nil {
		for name, files := range r.MultipartForm.File {
			f, err := files[0].Open()
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			content, _ := io.ReadAll(f)
			f.Close()
			what[name] = fmt.Sprintf("%s: %s", files[0].Filename, content)
		}
	}
	task := r.PathValue("task")
	if err := s.did(task, what); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if next := r.PostFormValue("next"); next != "" {
		http.Redirect(w, r, "/"+task+"/"+url.PathEscape(next), http.StatusSeeOther)
	}
}
