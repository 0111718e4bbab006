package admin

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/state"
	"tabhub/hub/trust/policy"
)

// BrowserReport is a browser of GET /api/browser: one that is connected or was so lately, or that has a
// name.
type BrowserReport struct {
	ID        string    `json:"id,omitempty"`   // as `tabhub tabs` and browser_tab show it; "" if it is not connected
	Name      string    `json:"name,omitempty"` // given by its owner
	Browser   string    `json:"browser,omitempty"`
	Connected bool      `json:"connected"`
	Focused   bool      `json:"focused,omitempty"`
	Since     time.Time `json:"since,omitzero"` // of the connection
	Tabs      int       `json:"tabs"`
	LastSeen  time.Time `json:"lastSeen,omitzero"`
	// Missing says that no browser has the name, though clients are bound to it.
	Missing bool `json:"missing,omitempty"`
	// Clients are the names of the clients that their credential or the policy binds to it; "any client"
	// for all.
	Clients []string `json:"clients"`
}

// BrowserName is the body of PUT /api/browser.
type BrowserName struct {
	Browser string `json:"browser" validate:"required,max=200"` // its id, or the name that it has
	Name    string `json:"name" validate:"required"`
}

// BindingSetting is the body of PUT /api/policy/binding. Without browsers the binding ends.
type BindingSetting struct {
	Client   string   `json:"client" validate:"required"`
	Browsers []string `json:"browsers"`
}

func (api *API) getBrowserNames(r *endpoint.Request) error {
	h := r.Tenant.Hub
	bound := api.boundClients(r)
	var list []BrowserReport
	for _, b := range h.Browsers(nil) {
		if !b.Single {
			list = append(list, BrowserReport{ID: b.Peer.Short(), Name: b.Label, Browser: b.Name, Connected: b.Connected, Focused: b.Focused, Since: b.ConnectedAt, Tabs: b.Tabs, LastSeen: b.LastSeen})
		}
	}
	has := func(name string) bool {
		return slices.ContainsFunc(list, func(b BrowserReport) bool { return b.Name == name })
	}
	for _, b := range h.NamedBrowsers() {
		if !has(b.Label) {
			list = append(list, BrowserReport{Name: b.Label, Browser: b.Name, LastSeen: b.LastSeen})
		}
	}
	for name := range bound {
		if !has(name) {
			list = append(list, BrowserReport{Name: name, Missing: true})
		}
	}
	for i := range list {
		list[i].Clients = nonNil(bound[list[i].Name])
	}
	slices.SortStableFunc(list, func(a, b BrowserReport) int { return strings.Compare(a.Name, b.Name) })
	return r.Answer(nonNil(list))
}

// boundClients returns the clients that their credentials and the policy bind to browsers, by the
// browsers' names.
func (api *API) boundClients(r *endpoint.Request) map[string][]string {
	bound := map[string][]string{}
	add := func(client string, names []string) {
		for _, name := range names {
			if !slices.Contains(bound[name], client) {
				bound[name] = append(bound[name], client)
			}
		}
	}
	for _, b := range r.Tenant.Hub.Rules.Policy().Bindings() {
		if b.Client == "" {
			b.Client = "any client"
		}
		add(b.Client, b.Browsers)
	}
	if api.o.Clients != nil {
		for _, c := range api.o.Clients.List(r.Identity.User) {
			if c.Scope != nil {
				add(c.Name, c.Scope.Browsers)
			}
		}
	}
	return bound
}

func putBrowserName(r *endpoint.Request) error {
	var in BrowserName
	if err := r.Read(4<<10, &in); err != nil {
		return err
	}
	if err := policy.CheckBrowser(in.Name); err != nil {
		return endpoint.BadRequest("%v", err)
	}
	if err := r.Tenant.Hub.NameBrowser(in.Browser, in.Name); err != nil {
		return notNamed(err)
	}
	return r.Answer(in)
}

func deleteBrowserName(r *endpoint.Request) error {
	if err := r.Tenant.Hub.UnnameBrowser(r.URL.Query().Get("name")); err != nil {
		return notNamed(err)
	}
	return r.Answer(struct{}{})
}

// notNamed is the error for a browser that could not be named, or lose its name.
func notNamed(err error) error {
	switch {
	case errors.Is(err, state.ErrNoBrowser), errors.Is(err, state.ErrNameUnknown):
		return &endpoint.Error{Status: http.StatusNotFound, Text: err.Error() + "; `tabhub browser` lists them"}
	case errors.Is(err, state.ErrNameTaken):
		return &endpoint.Error{Status: http.StatusConflict, Text: err.Error() + "; `tabhub browser unname` takes it away"}
	case errors.Is(err, state.ErrUnproved):
		return &endpoint.Error{Status: http.StatusConflict, Text: err.Error() + "; open a tab in it, and try again"}
	}
	return err
}

// putBinding binds a client to browsers, which need not be connected yet.
func (api *API) putBinding(r *endpoint.Request) error {
	var in BindingSetting
	if err := r.Read(64<<10, &in); err != nil {
		return err
	}
	if in.Client == "any" {
		in.Client = ""
	}
	if len(in.Browsers) > 0 {
		if err := (&policy.Binding{Client: in.Client, Browsers: in.Browsers}).Check(); err != nil {
			return endpoint.BadRequest("%v", err)
		}
		if err := api.checkClient(r, in.Client); err != nil {
			return err
		}
	}
	return edit(r, in, func(doc *policy.Document) error {
		if len(in.Browsers) > 0 {
			doc.Bind(in.Client, in.Browsers)
		} else if !doc.Unbind(in.Client) {
			return &endpoint.Error{Status: http.StatusNotFound, Text: "the policy binds no client of that name; `tabhub policy list` shows those that it does"}
		}
		return nil
	})
}
