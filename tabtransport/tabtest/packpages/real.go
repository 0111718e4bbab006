package packpages

import (
	"net/http"
	"slices"
	"strings"
)

// story is a story of a site as Hacker News.
type story struct {
	ID, Title, Link, Site, By string
	Rank, Points              int
	Comments                  []comment
	Voted                     bool
}

type comment struct {
	ID, By, Text string
	Depth        int
}

// book is a title of a library whose catalog is Koha's.
type book struct {
	ID, Title, Author, Publisher string
	Copies                       []copies
}

type copies struct{ Type, Library, CallNumber, Status, Due string }

// articles are those of the wiki, by title.
var articles = []struct{ title, snippet, extract string }{
	{"Tea", "an aromatic <span class=\"searchmatch\">tea</span>", "Tea is an aromatic beverage prepared by pouring hot water over leaves."},
	{"Green tea", "a type of <span class=\"searchmatch\">tea</span>", "Green tea is a type of tea that is not oxidized."},
}

// wiki answers as MediaWiki's action API does with formatversion=2.
func (s *Server) wiki(mux *http.ServeMux) {
	mux.HandleFunc("GET /wiki/", func(w http.ResponseWriter, r *http.Request) { s.show(w, "wiki", view{}) })
	mux.HandleFunc("GET /w/api.php", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("action") != "query" || r.FormValue("format") != "json" || r.FormValue("formatversion") != "2" {
			answer(w, map[string]any{"error": map[string]string{"code": "badvalue"}})
			return
		}
		if r.FormValue("list") == "search" {
			hits := []map[string]any{}
			for i, a := range articles {
				if strings.Contains(strings.ToLower(a.title), strings.ToLower(r.FormValue("srsearch"))) {
					hits = append(hits, map[string]any{"ns": 0, "title": a.title, "pageid": i + 1, "size": 1000, "wordcount": 100, "snippet": a.snippet, "timestamp": "2026-05-03T10:00:00Z"})
				}
			}
			answer(w, map[string]any{"batchcomplete": true, "query": map[string]any{"searchinfo": map[string]int{"totalhits": len(hits)}, "search": hits}})
			return
		}
		page := map[string]any{"ns": 0, "title": r.FormValue("titles"), "missing": true}
		for i, a := range articles {
			if a.title == r.FormValue("titles") {
				page = map[string]any{"pageid": i + 1, "ns": 0, "title": a.title, "extract": a.extract, "fullurl": "https://en.wikipedia.org/wiki/" + strings.ReplaceAll(a.title, " ", "_")}
			}
		}
		answer(w, map[string]any{"batchcomplete": true, "query": map[string]any{"pages": []any{page}}})
	})
}

func (s *Server) news(mux *http.ServeMux) {
	mux.HandleFunc("GET /news", func(w http.ResponseWriter, r *http.Request) { s.show(w, "news", view{Stories: s.storyList()}) })
	mux.HandleFunc("GET /item", func(w http.ResponseWriter, r *http.Request) {
		for _, st := range s.storyList() {
			if st.ID == r.FormValue("id") {
				s.show(w, "news", view{Changed: s.isChanged("story"), Story: &st})
				return
			}
		}
		http.NotFound(w, r)
	})
	mux.HandleFunc("GET /vote", func(w http.ResponseWriter, r *http.Request) {
		if !s.permits(w, r.FormValue("auth")) {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.did("vote")
		for i := range s.stories {
			if s.stories[i].ID == r.FormValue("id") {
				s.stories[i].Voted = true
			}
		}
	})
}

func (s *Server) storyList() []story {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stories)
}

func (s *Server) library(mux *http.ServeMux) {
	mux.HandleFunc("GET /cgi-bin/koha/opac-main.pl", func(w http.ResponseWriter, r *http.Request) { s.show(w, "library", view{}) })
	mux.HandleFunc("GET /cgi-bin/koha/opac-search.pl", func(w http.ResponseWriter, r *http.Request) {
		text := func(b book) string { return b.Title + " " + b.Author }
		switch r.FormValue("idx") {
		case "ti":
			text = func(b book) string { return b.Title }
		case "au":
			text = func(b book) string { return b.Author }
		}
		s.show(w, "library", view{Query: r.FormValue("q"), Searched: true, Books: having(s.books, text, r.FormValue("q"))})
	})
	mux.HandleFunc("GET /cgi-bin/koha/opac-detail.pl", func(w http.ResponseWriter, r *http.Request) {
		for _, b := range s.books {
			if b.ID == r.FormValue("biblionumber") {
				s.show(w, "library", view{Book: &b})
				return
			}
		}
		http.NotFound(w, r)
	})
}
