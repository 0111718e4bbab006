package packpages

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

type product struct {
	ID    string  `json:"id"`
	Name  string  `json:"name"`
	Price float64 `json:"price"`
	Stock int     `json:"stock"`
	About string  `json:"-"`
}

type line struct {
	product
	Quantity int `json:"quantity"`
}

type order struct {
	Number int
	To     string
	Total  float64
}

type event struct {
	ID     int    `json:"id"`
	Week   int    `json:"week"`
	Day    string `json:"day"`
	Time   string `json:"time"`
	Title  string `json:"title"`
	Room   string `json:"room"`
	AllDay bool   `json:"allDay"`
}

type message struct {
	ID                        int
	From, Subject, Text, Date string
	Unread                    bool
}

// fill puts in what is there at the beginning.
func (s *Server) fill() {
	s.products = []product{
		{"green", "Green tea", 4.5, 12, "Steamed leaves from Shizuoka."},
		{"black", "Black tea", 3.9, 40, "Strong, from Assam."},
		{"mint", "Mint", 2.8, 0, "Dried leaves, without caffeine."},
	}
	s.cart = []line{{s.products[1], 2}}
	s.events = []event{
		{1, 1, "Mon", "09:00", "Planning", "Blue", false},
		{2, 1, "Wed", "14:30", "Review", "Green", false},
		{3, 2, "Tue", "10:00", "Interview", "Blue", false},
	}
	s.messages = []message{
		{1, "Alice", "Lunch on Friday", "Shall we go to the new place?", "2026-05-03", true},
		{2, "Bank", "Your statement", "It is ready.", "2026-05-02", false},
		{3, "Carol", "Photos", "Here they are.", "2026-05-01", false},
	}
	s.stories = []story{
		{ID: "101", Rank: 1, Title: "A small compiler", Link: "https://example.org/compiler", Site: "example.org", Points: 120, By: "ada", Comments: []comment{{"201", "grace", "Nice work.", 0}, {"202", "ada", "Thank you!", 1}}},
		{ID: "102", Rank: 2, Title: "Why tables are fine", Link: "https://example.com/tables", Site: "example.com", Points: 80, By: "alan"},
	}
	s.books = []book{
		{"7", "Pride and prejudice", "Austen, Jane", "London : Penguin, 2003", []copies{{"Book", "Main library", "823.7 AUS", "Available", ""}, {"Book", "North branch", "823.7 AUS", "Checked out", "2026-06-01"}}},
		{"8", "Emma", "Austen, Jane", "Oxford : OUP, 1998", []copies{{"Audiobook", "Main library", "CD 823.7", "Available", ""}}},
		{"9", "Middlemarch", "Eliot, George", "London : Penguin, 1994", nil},
	}
}

func (s *Server) shop(mux *http.ServeMux) {
	name := func(p product) string { return p.Name }
	mux.HandleFunc("GET /shop/{$}", func(w http.ResponseWriter, r *http.Request) {
		s.show(w, "shop", view{Changed: s.isChanged("products"), Products: having(s.products, name, r.FormValue("q"))})
	})
	mux.HandleFunc("GET /shop/p/{id}", func(w http.ResponseWriter, r *http.Request) {
		i := slices.IndexFunc(s.products, func(p product) bool { return p.ID == r.PathValue("id") })
		if i < 0 {
			http.NotFound(w, r)
			return
		}
		s.show(w, "product", view{Product: s.products[i]})
	})
	mux.HandleFunc("GET /shop/api/products", func(w http.ResponseWriter, r *http.Request) {
		found := having(s.products, name, r.FormValue("q"))
		answer(w, map[string]any{"products": found, "total": len(found)})
	})
	mux.HandleFunc("GET /shop/api/cart", func(w http.ResponseWriter, r *http.Request) {
		cart, total := s.basket()
		answer(w, map[string]any{"items": cart, "total": total})
	})
	mux.HandleFunc("POST /shop/api/cart", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			ID       string
			Quantity int
		}
		if !s.permits(w, r.Header.Get("X-CSRF-Token")) || !body(w, r, &in) {
			return
		}
		i := slices.IndexFunc(s.products, func(p product) bool { return p.ID == in.ID })
		if i < 0 {
			http.Error(w, "no such product", http.StatusNotFound)
			return
		}
		s.mu.Lock()
		s.did("add_to_cart")
		s.cart = append(s.cart, line{s.products[i], max(in.Quantity, 1)})
		s.mu.Unlock()
		cart, total := s.basket()
		answer(w, map[string]any{"items": cart, "total": total})
	})
	mux.HandleFunc("GET /shop/cart", func(w http.ResponseWriter, r *http.Request) {
		cart, total := s.basket()
		s.show(w, "cart", view{Cart: cart, Total: total})
	})
	mux.HandleFunc("POST /shop/cart", func(w http.ResponseWriter, r *http.Request) {
		if !s.permits(w, r.FormValue("csrf")) {
			return
		}
		s.mu.Lock()
		s.did("set_quantity")
		for i, l := range s.cart {
			s.cart[i].Quantity, _ = strconv.Atoi(r.FormValue(l.ID))
		}
		s.mu.Unlock()
		http.Redirect(w, r, "/shop/cart", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /shop/checkout", func(w http.ResponseWriter, r *http.Request) {
		s.show(w, "checkout", view{Changed: s.isChanged("checkout")})
	})
	mux.HandleFunc("POST /shop/checkout", func(w http.ResponseWriter, r *http.Request) {
		if !s.permits(w, r.FormValue("csrf")) {
			return
		}
		_, total := s.basket()
		s.mu.Lock()
		s.did("checkout")
		o := order{len(s.orders) + 1, fmt.Sprintf("%s, %s, %s", r.FormValue("name"), r.FormValue("street"), r.FormValue("country")), total}
		if r.FormValue("gift") != "" {
			o.To += ", as a gift"
		}
		s.orders = append(s.orders, o)
		s.mu.Unlock()
		http.Redirect(w, r, fmt.Sprintf("/shop/order/%d", o.Number), http.StatusSeeOther)
	})
	mux.HandleFunc("GET /shop/order/{number}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("number"))
		s.mu.Lock()
		orders := slices.Clone(s.orders)
		s.mu.Unlock()
		if n < 1 || n > len(orders) {
			http.NotFound(w, r)
			return
		}
		s.show(w, "order", view{Order: orders[n-1]})
	})
}

// basket returns what is in the cart, and what it costs.
func (s *Server) basket() (cart []line, total float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.cart {
		total += l.Price * float64(l.Quantity)
	}
	return slices.Clone(s.cart), total
}

func (s *Server) calendar(mux *http.ServeMux) {
	mux.HandleFunc("GET /calendar/{$}", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "XSRF-TOKEN", Value: s.token, Path: "/calendar/"})
		s.show(w, "calendar", view{})
	})
	mux.HandleFunc("GET /calendar/api/events", func(w http.ResponseWriter, r *http.Request) {
		week, _ := strconv.Atoi(r.FormValue("week"))
		s.mu.Lock()
		events := slices.DeleteFunc(slices.Clone(s.events), func(e event) bool {
			return e.Week != week || r.FormValue("room") != "" && r.FormValue("room") != e.Room
		})
		s.mu.Unlock()
		answer(w, map[string]any{"events": events})
	})
	mux.HandleFunc("POST /calendar/api/events", func(w http.ResponseWriter, r *http.Request) {
		var e event
		if !s.permits(w, r.Header.Get("X-XSRF-TOKEN")) || !body(w, r, &e) {
			return
		}
		s.mu.Lock()
		s.did("create_event")
		e.ID = 100 + len(s.events)
		s.events = append(s.events, e)
		s.mu.Unlock()
		answer(w, e)
	})
	mux.HandleFunc("DELETE /calendar/api/events/{id}", func(w http.ResponseWriter, r *http.Request) {
		if !s.permits(w, r.Header.Get("X-XSRF-TOKEN")) {
			return
		}
		s.mu.Lock()
		s.did("delete_event")
		before := len(s.events)
		s.events = slices.DeleteFunc(s.events, func(e event) bool { return strconv.Itoa(e.ID) == r.PathValue("id") })
		deleted := before - len(s.events)
		s.mu.Unlock()
		answer(w, map[string]int{"deleted": deleted})
	})
}

func (s *Server) mail(mux *http.ServeMux) {
	mux.HandleFunc("GET /mail/{$}", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		found := having(s.messages, func(m message) string { return m.From + " " + m.Subject }, r.FormValue("q"))
		s.mu.Unlock()
		s.show(w, "mail", view{Query: r.FormValue("q"), Messages: found})
	})
	mux.HandleFunc("GET /mail/m/{id}", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		i := slices.IndexFunc(s.messages, func(m message) bool { return strconv.Itoa(m.ID) == r.PathValue("id") })
		var m message
		if i >= 0 {
			s.messages[i].Unread = false
			m = s.messages[i]
		}
		s.mu.Unlock()
		if i < 0 {
			http.NotFound(w, r)
			return
		}
		s.show(w, "message", view{Message: m})
	})
	mux.HandleFunc("GET /mail/compose", func(w http.ResponseWriter, r *http.Request) { s.show(w, "compose", view{}) })
	mux.HandleFunc("POST /mail/send", func(w http.ResponseWriter, r *http.Request) {
		if !s.permits(w, r.FormValue("_token")) {
			return
		}
		s.mu.Lock()
		s.did("send_mail")
		s.mu.Unlock()
		answer(w, map[string]any{"sent": true, "to": r.FormValue("to"), "subject": r.FormValue("subject")})
	})
	mux.HandleFunc("POST /mail/api/archive/{id}", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.did("archive")
		s.messages = slices.DeleteFunc(s.messages, func(m message) bool { return strconv.Itoa(m.ID) == r.PathValue("id") })
	})
}

func (s *Server) forms(mux *http.ServeMux) {
	mux.HandleFunc("GET /forms/{$}", func(w http.ResponseWriter, r *http.Request) { s.show(w, "forms", view{}) })
	mux.HandleFunc("GET /forms/contact", func(w http.ResponseWriter, r *http.Request) { s.show(w, "contact", view{}) })
	mux.HandleFunc("POST /forms/api/contact", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Name, Topic, Message, Reply string }
		if !body(w, r, &in) {
			return
		}
		s.mu.Lock()
		s.did("contact")
		s.mu.Unlock()
		fmt.Fprintf(w, "%s about %s, answer by %s", in.Name, in.Topic, in.Reply)
	})
	mux.HandleFunc("POST /forms/api/subscribe", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.did("subscribe")
	})
	mux.HandleFunc("GET /forms/api/survey", func(w http.ResponseWriter, r *http.Request) {
		answer(w, map[string]any{"survey": map[string]any{"id": "s-7", "question": "How was it?"}})
	})
	mux.HandleFunc("POST /forms/api/survey", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Survey  string
			Rating  int
			Comment *string
		}
		if !s.permits(w, r.Header.Get("X-CSRF-Token")) || !body(w, r, &in) {
			return
		}
		s.mu.Lock()
		s.did("survey")
		s.mu.Unlock()
		answer(w, map[string]any{"survey": in.Survey, "rating": in.Rating, "commented": in.Comment != nil})
	})
}
