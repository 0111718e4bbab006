//go:build nightly

package extension_test

import (
	"fmt"
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// Whatever the next document says takes no more of the extension than it has characters.
func TestNextDocumentIsHostile(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	const many = 1 << 20
	data := `<script type="application/ld+json">%s</script>`
	url := site(t, map[string]string{
		"/":         `<form toolname="form" tooldescription="d" toolautosubmit action="/answer"></form>`,
		"/comments": fmt.Sprintf(data, strings.Repeat("/* ", many)),
		"/strings":  fmt.Sprintf(data, strings.Repeat(`"\`, many)),
	})
	p := b.Open(url)
	for _, next := range []string{"/comments", "/strings"} {
		tab := h.tabShowing("form")
		p.Eval(fmt.Sprintf("document.querySelector('form').action = %q", next))
		if got, err := h.call(tab, "form", "{}"); err != nil || !strings.HasPrefix(got, `{"content":[]} at `+url+next) {
			t.Errorf("%s: %s, %v", next, got, err)
		}
		p.Back()
	}
}
