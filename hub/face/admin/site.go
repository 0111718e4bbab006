package admin

import (
	"slices"
	"time"

	"tabhub/hub/face/endpoint"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
)

// SiteReport is an element of GET /api/site.
type SiteReport struct {
	SiteSettings
	Private bool `json:"private,omitempty"` // its values go to other sites only after a question; PUT /api/policy/private sets it
}

// SiteSettings is the body of PUT /api/site. A member that is left out goes back to its
// default.
type SiteSettings struct {
	Domain        spec.Domain           `json:"domain"`
	Cache         *bool                 `json:"cache,omitempty"`
	CallTimeoutMs int64                 `json:"callTimeoutMs,omitempty" validate:"min=0,max=600000"` // spec.CallTimeoutMax
	Check         storage.ArgumentCheck `json:"check,omitempty" validate:"omitempty,oneof=strict lenient off"`
}

func getSite(r *endpoint.Request) error {
	out := []SiteReport{}
	private := slices.Clone(r.Tenant.Hub.Rules.Policy().Document().Private)
	for _, site := range r.Tenant.Hub.Sites() {
		out = append(out, SiteReport{settingsOf(site), slices.Contains(private, string(site.Domain))})
		private = slices.DeleteFunc(private, func(p string) bool { return p == string(site.Domain) })
	}
	for _, site := range private {
		out = append(out, SiteReport{SiteSettings{Domain: spec.Domain(site)}, true})
	}
	return r.Answer(out)
}

func settingsOf(site storage.Site) SiteSettings {
	return SiteSettings{Domain: site.Domain, Cache: site.Cache, CallTimeoutMs: site.CallTimeout.Milliseconds(), Check: site.Check}
}

func putSite(r *endpoint.Request) error {
	var in SiteSettings
	if err := r.Read(64<<10, &in); err != nil {
		return err
	}
	if !naming.IsDomain(in.Domain) {
		return endpoint.BadRequest("domain is %.100q; it must be one such as example.com or localhost:5173, as `tabhub tabs` shows it", in.Domain)
	}
	if in.Cache != nil && *in.Cache && naming.IsClaimed(in.Domain) {
		return endpoint.BadRequest("the tools of %s cannot be cached: the page only claims this site, so the hub opens no tab for them", in.Domain)
	}
	timeout := time.Duration(in.CallTimeoutMs) * time.Millisecond
	if err := r.Tenant.Hub.SetSite(storage.Site{Domain: in.Domain, Cache: in.Cache, CallTimeout: timeout, Check: in.Check}); err != nil {
		return err
	}
	return r.Answer(in)
}
