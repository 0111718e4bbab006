package state

import (
	"slices"

	"tabhub/storage"
)

// A session that has called something of a site in a browser with a name has settled there for
// the site: it does not go on in another profile, where somebody else may be signed in. Only a
// tab of its own, which it has opened, claimed or chosen, leads it elsewhere.

// maxSettled bounds the sites for which a session settles; beyond it all are forgotten.
const maxSettled = 256

// settledIn returns the name of the browser in which somebody's session has settled for a
// domain's site, as a list of it alone; nil if it has not.
func (s *State) settledIn(by By, d *domain) []string {
	if s.labels == 0 || by.Session == (SessionID{}) {
		return nil
	}
	ses := s.sessions[by.Session]
	if ses == nil {
		return nil
	}
	names := ses.settled[d.share.site]
	if names == nil || by.bound() && !slices.Contains(by.Browsers, names[0]) {
		return nil
	}
	return names
}

// settled returns by as its calls of a domain go by it.
func (s *State) settled(by By, d *domain) By {
	if names := s.settledIn(by, d); names != nil {
		by.Browsers = names
	}
	return by
}

// SettledIn returns the name of the browser in which somebody's session works at the site of what
// a name stands for; "" if in any.
func (s *State) SettledIn(by By, r *Ref) string {
	if names := s.settledIn(by, r.b.domain); names != nil {
		return names[0]
	}
	return ""
}

// settles reports whether a call of a domain in a browser is the first of somebody's session
// there, and there may be others.
func (s *State) settles(by By, d *domain, browser string) bool {
	if names := s.settledIn(by, d); names != nil {
		return names[0] != browser
	}
	return by.Session != (SessionID{}) && len(by.Browsers) != 1
}

// Settle says that a call of somebody's session goes to a candidate that the call has not named.
func (tx *Tx) Settle(by By, c *Candidate) {
	ses, d := tx.session(by), tx.domains[c.Item.Domain]
	if ses == nil || d == nil || c.Browser == "" {
		return
	}
	if ses.settled == nil || len(ses.settled) >= maxSettled {
		ses.settled = map[string][]string{}
	}
	ses.settled[d.share.site] = []string{c.Browser}
	tx.sessionChanged(ses)
}

// resettle has sessions go with a browser that gets another name, "" for none.
func (tx *Tx) resettle(was, is string) {
	for _, ses := range tx.sessions {
		for site, names := range ses.settled {
			switch {
			case names[0] != was:
				continue
			case is == "":
				delete(ses.settled, site)
			default:
				ses.settled[site] = []string{is}
			}
			tx.sessionChanged(ses)
		}
	}
}

// countLabels counts the browsers that have a name.
func (s *State) countLabels() {
	s.labels = 0
	for _, b := range s.browsers {
		s.labels += min(len(b.Label), 1)
	}
}

// restoreBrowser takes in a browser that has been here.
func (tx *Tx) restoreBrowser(b storage.Browser) {
	tx.browsers[b.ID] = b
	tx.labels += min(len(b.Label), 1)
}
