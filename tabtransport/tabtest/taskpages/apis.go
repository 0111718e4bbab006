package taskpages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

type object = map[string]any

func answer(w http.ResponseWriter, v object) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

var (
	people = []string{"Nora Berg", "Tom Weiss", "Lea Kurz", "Max Stein", "Eva Lang", "Jan Vogel", "Ida Haas", "Ole Brandt", "Pia Winter", "Ben Arnold", "Ruth Adler", "Karl Busch"}
	wishes = []string{"Cannot sign in", "Invoice is wrong", "Late delivery", "Broken cup", "Change of address"}
	teams  = []string{"Sales", "Support", "Logistics", "Finance"}
	cities = []string{"Lagos, Nigeria", "Larnaca, Cyprus", "Leipzig, Germany", "Lima, Peru", "Lisbon, Portugal", "Lissabon Airport Hotel", "Ljubljana, Slovenia", "London, United Kingdom", "Lyon, France"}
)

const lighthouse = "Lighthouse keeper wanted"

// apis serves what pages ask for after they have loaded.
func (s *Server) apis(mux *http.ServeMux) {
	mux.HandleFunc("GET /filter/api/tickets", func(w http.ResponseWriter, r *http.Request) {
		found := []object{}
		for i := range 48 {
			status := []string{"Open", "Closed", "Open", "Closed", "Closed"}[i%5]
			id, customer, subject := fmt.Sprintf("T-%d", 500+i), people[i%len(people)], wishes[i%len(wishes)]
			text := strings.ToLower(id + " " + customer + " " + subject)
			if strings.Contains(text, strings.ToLower(r.FormValue("q"))) && (r.FormValue("status") == "Any" || r.FormValue("status") == status) {
				found = append(found, object{"id": id, "customer": customer, "subject": subject, "status": status})
			}
		}
		answer(w, object{"tickets": found})
	})
	mux.HandleFunc("GET /paging/api/members", func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.FormValue("page"))
		members := []object{}
		for i := (page - 1) * 12; i < page*12 && i < 96; i++ {
			name := people[i%len(people)]
			if i != 58 { // of which there is one
				name = fmt.Sprintf("%s %s.", name, string(rune('A'+i%26)))
			}
			members = append(members, object{"name": name, "team": teams[i%len(teams)], "since": 2015 + i%10})
		}
		answer(w, object{"members": members, "pages": 8})
	})
	mux.HandleFunc("GET /reference/api/bookings", func(w http.ResponseWriter, r *http.Request) {
		answer(w, object{"bookings": []object{
			{"from": "Vienna", "to": "Rome", "date": "3 May 2026", "reference": "QX81TB"},
			{"from": "Vienna", "to": "Oslo", "date": "17 June 2026", "reference": s.reference},
			{"from": "Oslo", "to": "Vienna", "date": "24 June 2026", "reference": "HH40ZD"},
		}})
	})
	mux.HandleFunc("GET /feed/api/posts", func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.FormValue("from"))
		posts := []object{}
		for i := from; i < from+10 && i < 80; i++ {
			title := fmt.Sprintf("%s, part %d", []string{"A walk in the hills", "Bread at home", "Old maps", "Night trains", "Gardens of the north"}[i%5], i/5+1)
			if i == 37 {
				title = lighthouse
			}
			posts = append(posts, object{"title": title, "by": people[i%len(people)], "text": "I wrote this down for all of you who asked me how it was, and what I would do another time."})
		}
		answer(w, object{"posts": posts})
	})
	mux.HandleFunc("GET /flights/api/cities", func(w http.ResponseWriter, r *http.Request) {
		found := []string{}
		for _, c := range cities {
			if q := strings.ToLower(r.FormValue("q")); q != "" && strings.HasPrefix(strings.ToLower(c), q) {
				found = append(found, c)
			}
		}
		answer(w, object{"cities": found})
	})
	mux.HandleFunc("GET /flights/api/flights", func(w http.ResponseWriter, r *http.Request) {
		answer(w, object{"flights": []object{
			{"flight": "OS 391", "departs": "06:40", "price": 189}, {"flight": "TP 1273", "departs": "11:15", "price": 142}, {"flight": "LH 1235", "departs": "14:05", "price": 231}, {"flight": "TP 1277", "departs": "18:30", "price": 167},
		}})
	})
}
