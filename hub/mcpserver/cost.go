package mcpserver

import (
	"cmp"
	"slices"

	"tabhub/hub"
	"tabhub/hub/consent"
)

// Cost is what a list of tools costs in a model's context.
type Cost struct {
	Tools  int `json:"tools"`
	Tokens int `json:"tokens"` // about
}

// Costs says what a client's list of tools costs it, by the choice of what is listed.
type Costs struct {
	Expose Expose     `json:"expose"` // the choice for this client
	Budget int        `json:"budget"` // tokens of ExposeAuto
	All    Cost       `json:"all"`
	Auto   Cost       `json:"auto"`
	Proxy  Cost       `json:"proxy"`
	Sites  []SiteCost `json:"sites"` // those that cost most, the dearest first
	More   int        `json:"more"`  // sites that are not among them
}

// SiteCost is what a site's tools cost a client.
type SiteCost struct {
	Site string `json:"site"`
	Cost
	Auto bool `json:"auto"` // it is listed with ExposeAuto
}

// maxSiteCosts is how many sites Costs names.
const maxSiteCosts = 50

// add adds what a site's tools cost, or the hub's own. Until all is added Tokens are bytes.
func (c *Cost) add(tools, bytes int) { c.Tools, c.Tokens = c.Tools+tools, c.Tokens+bytes }

// Costs says what the tools cost that a client is to know of.
func (s *Server) Costs(by *consent.Caller) Costs {
	c := Costs{Expose: s.exposeTo(by.Said), Budget: s.opts.ExposeBudget, Sites: []SiteCost{}}
	for _, definition := range s.definitionsFor(by) {
		c.Proxy.add(1, len(definition)+len(","))
	}
	c.All, c.Auto = c.Proxy, c.Proxy
	auto := s.listedSites()
	sites := costs(s.hub.ListFor(by, hub.ListTools))
	slices.SortFunc(sites, func(a, b cost) int { return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.site, b.site)) })
	for _, one := range sites {
		c.All.add(one.items, one.bytes)
		if auto[one.site] {
			c.Auto.add(one.items, one.bytes)
		}
		if len(c.Sites) == maxSiteCosts {
			c.More++
			continue
		}
		c.Sites = append(c.Sites, SiteCost{one.site, Cost{one.items, Tokens(one.bytes)}, auto[one.site]})
	}
	for _, of := range []*Cost{&c.All, &c.Auto, &c.Proxy} {
		of.Tokens = Tokens(of.Tokens)
	}
	return c
}

// listedSites says which sites ExposeAuto lists, or would.
func (s *Server) listedSites() map[string]bool {
	all := s.hub.List(hub.ListTools)
	if s.opts.Expose == ExposeAuto {
		return s.expose[hub.ListTools].choice(all, s.opts.ExposeBudget)
	}
	return chooseSites(costs(all), bytesPerToken*s.opts.ExposeBudget, nil)
}
