package state

import (
	"time"

	"tabhub/hub/agents"
	"tabhub/spec"
)

// SiteInfo says what there is of a domain now.
type SiteInfo struct {
	Tabs     int       `json:"tabs"`              // its members, without hidden ones
	Tools    int       `json:"tools"`             // that these have
	Cached   int       `json:"cached"`            // tools that no tab has now
	CachedAt time.Time `json:"cachedAt,omitzero"` // when a tab had some of these last
}

// SiteInfos describes the domains of which there is anything.
func (s *State) SiteInfos() map[spec.Domain]SiteInfo {
	infos := make(map[spec.Domain]SiteInfo, len(s.order))
	for _, d := range s.order {
		var info SiteInfo
		for _, t := range d.tabs {
			if !t.hidden {
				info.Tabs++
			}
		}
		for key, e := range d.entries {
			switch {
			case key.kind != spec.KindTool:
			case e.newest(s, agents.By{}, false) != nil:
				info.Tools++
			case len(e.cached) > 0:
				info.Cached, info.CachedAt = info.Cached+1, d.lastCache(s, agents.By{}).updated
			}
		}
		if info != (SiteInfo{}) {
			infos[d.key] = info
		}
	}
	return infos
}

// ForgetCache forgets what is cached of a domain, and reports whether that was anything.
func (tx *Tx) ForgetCache(domain spec.Domain) bool {
	d := tx.domains[domain]
	if d == nil || d.cached == 0 {
		return false
	}
	d.dropCache(tx, nil, all)
	return true
}
