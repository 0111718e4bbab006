package state

import "tabhub/spec"

// focus takes in the parts of a tab's state that say what the user looks at. It
// reports whether another tab is the active one now.
func (t *tab) focus(tx *Tx, m *spec.TabState) bool {
	p := t.peer
	if m.WindowID != nil && *m.WindowID != t.window {
		if p.activeTab[t.window] == t {
			delete(p.activeTab, t.window)
		}
		t.window = *m.WindowID
	}
	active := m.Active
	if active == nil && p.browser == "" {
		active = m.Visible // a page knows only whether it is visible
	}
	if active != nil {
		switch {
		case *active && p.activeTab[t.window] != t:
			p.activeTab[t.window] = t
			if p.browser == "" || p.window == t.window {
				p.focused = tx.next()
			}
		case !*active && p.activeTab[t.window] == t:
			delete(p.activeTab, t.window)
			if tx.active != t && tx.label(p.browser) != "" {
				t.relabel(tx) // for those who are bound to the browser
			}
		}
	}
	if m.WindowFocused != nil && *m.WindowFocused {
		p.window, p.focused = t.window, tx.next()
	}
	return tx.refocus()
}

// refocus finds the active tab: that of the last focused window of the last focused
// browser. It reports whether it is another one than before.
func (tx *Tx) refocus() bool {
	was := tx.active
	tx.active = tx.lastFocused(func(*peer) bool { return true })
	if tx.active == was {
		return false
	}
	if was != nil {
		was.relabel(tx)
	}
	if tx.active != nil {
		tx.active.focused = tx.next()
		tx.active.relabel(tx)
	}
	return true
}

// lastFocused returns the active tab of the last focused window of the last focused browser
// among some; nil if there is none.
func (s *State) lastFocused(among func(*peer) bool) *tab {
	var last *peer
	for _, p := range s.peers {
		if p.focused > 0 && len(p.activeTab) > 0 && (last == nil || p.focused > last.focused) && among(p) {
			last = p
		}
	}
	if last == nil {
		return nil
	}
	return last.activeTab[last.window]
}

// blur says that a tab is no longer there to be looked at.
func (t *tab) blur(tx *Tx) {
	if t.peer.activeTab[t.window] == t {
		delete(t.peer.activeTab, t.window)
		tx.refocus()
	}
}
