package admin

import (
	"net/http"
	"slices"
	"time"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/state"
	"tabhub/hub/trust/record"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
)

// KnownSite is an element of GET /api/sites: a site that has tools, cached ones too, of which the record
// has calls, or about which the owner has decided something.
type KnownSite struct {
	SiteReport
	state.SiteInfo
	Rules    int       `json:"rules"` // that name it, those of the policy file too
	Paused   bool      `json:"paused"`
	LastUsed time.Time `json:"lastUsed,omitzero"` // when the latest call of the record was made
	Calls    int       `json:"calls,omitempty"`   // that the record has
}

// getSites lists the known sites by their names.
func getSites(r *endpoint.Request) error {
	part, err := newPart[KnownSite](r)
	if err != nil {
		return err
	}
	infos, set := r.Tenant.Hub.SiteInfos(), r.Tenant.Hub.Rules.Policy()
	settings, rules, paused := map[spec.Domain]storage.Site{}, map[spec.Domain]int{}, map[spec.Domain]bool{}
	var domains []spec.Domain
	known := func(d spec.Domain) {
		if isSite(d) && (part.site == "" || part.site == d) && part.says(string(d)) {
			domains = append(domains, d)
		}
	}
	for d := range infos {
		known(d)
	}
	for _, site := range r.Tenant.Hub.Sites() {
		settings[site.Domain] = site
		known(site.Domain)
	}
	for _, rule := range set.Rules() {
		rules[spec.Domain(rule.Site)]++
		known(spec.Domain(rule.Site))
		if rule.From != rule.Site {
			rules[spec.Domain(rule.From)]++
			known(spec.Domain(rule.From))
		}
	}
	for _, p := range set.Document().Pauses {
		if p.Client == "" {
			paused[spec.Domain(p.Site)] = true
		}
		known(spec.Domain(p.Site))
	}
	for _, private := range set.Document().Private {
		known(spec.Domain(private))
	}
	used := map[spec.Domain]record.Site{}
	recorded, _ := r.Tenant.Record.Sites(r.Context()) // without it the other sites are known all the same
	for _, site := range recorded {
		used[site.Domain] = site
		known(site.Domain)
	}
	slices.Sort(domains)
	for _, d := range slices.Compact(domains) {
		if part.has() {
			site := settings[d]
			site.Domain = d
			part.shown = append(part.shown, KnownSite{SiteReport{settingsOf(site), set.IsPrivate(d)}, infos[d], rules[d], paused[d], used[d].Last, used[d].Calls})
		}
	}
	return part.answer(r)
}

// isSite reports whether the site of a rule is a single one, and not a pattern.
func isSite(d spec.Domain) bool {
	return naming.IsDomain(d) && d != "verified" && d != "unverified" && d != "private"
}

// deleteCache forgets the cached tools of a site.
func deleteCache(r *endpoint.Request) error {
	site := spec.Domain(r.URL.Query().Get("site"))
	if !r.Tenant.Hub.ForgetCache(site) {
		return &endpoint.Error{Status: http.StatusNotFound, Text: "nothing is cached of this site"}
	}
	return r.Answer(struct{}{})
}
