//go:build nightly

package pages_test

import (
	"fmt"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// Without a hub the examples are pages that a person can use. They join when it comes, by themselves
// or with the next load, and when it comes back.
func TestExamplesWithoutHub(t *testing.T) {
	t.Parallel()
	for _, extension := range []bool{false, true} {
		t.Run(fmt.Sprintf("extension=%v", extension), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			var b *chromium.Browser
			if extension {
				b = s.extended(chromium.Options{})
			} else {
				b = chromium.Shared(t, chromium.Options{})
			}
			s.stop()
			pages := s.openExamples(b)
			byHand := func(when string) {
				for i, page := range pages {
					page.Front()
					page.WaitFor(`document.readyState === "complete"`)
					if got := page.Eval(examples[i].byHand); got != "true" {
						t.Errorf("%s, %s: %s", when, examples[i].dir, got)
					}
				}
			}
			byHand("there has been no hub")
			s.start()
			for i, page := range pages {
				page.Front()
				// The extension finds what the page offers by the standard.
				if !examples[i].copied && (!extension || examples[i].ownAPI) {
					page.Reload()
				}
				examples[i].use(s, page)
			}
			s.stop()
			for _, i := range []int{0, 1, 5, 6} { // the others hold what was used
				pages[i].Front()
				if got := pages[i].Eval(examples[i].byHand); got != "true" {
					t.Errorf("the hub has gone, %s: %s", examples[i].dir, got)
				}
			}
			s.start()
			for i, page := range pages {
				page.Front()
				examples[i].use(s, page)
			}
		})
	}
}
