// Package describe writes what a model reads about an item of a tab: where it runs,
// and the page's own text without what could deceive a reader. It has the one
// definition of that, Hidden, and what follows from it: text and JSON that are cleaned
// (Clean, CleanLines, CleanJSON) or made fit for a terminal (Visible, VisibleJSON), and
// what may stand in a string that cannot be cleaned (Forbidden). Everything here is a
// pure function, safe for concurrent use.
package describe

import (
	"strconv"
	"strings"

	"tabhub/spec"
)

// Place is where an item runs, as far as its description says.
type Place struct {
	Domain spec.Domain
	// Pack is the name of the pack that gives the domain the tool; "": the item is the page's own.
	Pack string
	// Tabs is the number of open tabs of the domain, ActiveTab the number of the
	// active one among them, 0 if none of them is or it does not have the item.
	Tabs      int
	ActiveTab int
	// Tab is the number of the tab that the item stands for; 0 is the domain's own
	// item. Title is that tab's.
	Tab   int
	Title string
	// Active says that Tab, or for the domain's own item its only tab, is the active
	// one.
	Active bool
	// Asleep says that Tab, or for the domain's own item each tab that has it, is there without
	// its page, which a call loads.
	Asleep bool
	// Cached says that the item is kept although no tab of the domain is open.
	Cached bool
}

const (
	dot      = " • "
	maxTitle = 80 // bytes of a title within a prefix
)

// titles keeps a title from closing its quotes and opening a prefix of its own.
var titles = strings.NewReplacer(`"`, "'", "[", "(", "]", ")", "•", "·")

// Prefix returns the part of a description in brackets (spec/PROTOCOL.md,
// "Descriptions"):
//
//	[example.com]
//	[example.com • Active]
//	[example.com • 3 tabs • Tab 2 Active]
//	[example.com • Tab 2 Active • "Checkout"]
//	[example.com • Asleep]
//	[example.com • Cached]
//
// A domain that only somebody claims is shown as "example.com, unverified", and that of a pack's
// tool as "example.com, pack NAME".
func Prefix(p Place) string {
	b := make([]byte, 0, 64)
	b = append(b, '[')
	if name, claimed := strings.CutPrefix(string(p.Domain), "unverified_"); claimed {
		b = append(append(b, name...), ", unverified"...)
	} else {
		b = append(b, name...)
	}
	if p.Pack != "" {
		b = append(append(b, ", pack "...), p.Pack...)
	}
	tab := func(n int) {
		b = append(b, dot+"Tab "...)
		b = strconv.AppendInt(b, int64(n), 10)
	}
	switch {
	case p.Cached:
		b = append(b, dot+"Cached"...)
	case p.Tab != 0:
		tab(p.Tab)
		switch {
		case p.Active:
			b = append(b, " Active"...)
		case p.Asleep:
			b = append(b, " Asleep"...)
		}
		if title := Clean(titles.Replace(p.Title), maxTitle); title != "" {
			b = append(append(append(b, dot+`"`...), title...), '"')
		}
	case p.Tabs > 1:
		b = append(b, dot...)
		b = strconv.AppendInt(b, int64(p.Tabs), 10)
		b = append(b, " tabs"...)
		if p.ActiveTab != 0 {
			tab(p.ActiveTab)
			b = append(b, " Active"...)
		}
		if p.Asleep {
			b = append(b, dot+"Asleep"...)
		}
	case p.Active:
		b = append(b, dot+"Active"...)
	case p.Asleep:
		b = append(b, dot+"Asleep"...)
	}
	return string(append(b, ']'))
}
