package extension_test

import (
	"fmt"
	"testing"

	"tabhub/tabtransport/tabtest/largepages"
)

// On a large page a step finds its element, and does what it says, in a time that its user does not notice much.
func TestStepsInLargePages(t *testing.T) {
	r := newRunner(t)
	url := largepages.New(t)
	for _, page := range largepages.Pages {
		if page.Name == "origins" {
			continue // steps of one document do not reach those of others
		}
		t.Run(page.Name, func(t *testing.T) {
			at := url + "/" + page.Name
			p := r.b.Open(at)
			defer p.Close()
			p.WaitFor("globalThis.ready")
			var before, during struct {
				Longest float64 // frame, in ms
				Slow    int     // frames of more than 50 ms
			}
			p.Eval("watched()")
			p.Eval("new Promise((done) => setTimeout(done, 500))")
			p.Into("watched()", &before)
			var got struct {
				ran
				Ms float64
			}
			r.worker.Into(fmt.Sprintf(`start({"url": %q, "run": {"id": %[1]q, "match": [%q], "args": {}, "steps": [{"click": {"target": {"role": "button", "name": %q}}}]}})`, at, url+"/*", page.Button), &got)
			p.Into("watched()", &during)
			t.Logf("%s: %.0f ms; frames %.0f ms before, %.0f ms then, %d of them slow", got, got.Ms, before.Longest, during.Longest, during.Slow)
			if got.String() != "null" || p.Eval("clicked") != "1" {
				t.Errorf("%s, and %s clicks", got, p.Eval("clicked"))
			}
		})
	}
}
