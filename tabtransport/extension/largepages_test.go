package extension_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/tabtest/chromium"
	"tabhub/tabtransport/tabtest/largepages"
)

// A large page is looked at in few tokens and little time, its user notices nothing, and what is on it is found,
// looked at alone, and acted on.
func TestLooksAtLargePages(t *testing.T) {
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := largepages.New(t)
	counter := b.Open(site(t, map[string]string{"/": "<!doctype html><title>Counter</title>"}))
	counter.Eval(tabtest.Module(t, "tokens.ts", "tokens"))
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "page\tlook ms\tagain\tchanges\tfind\tscope\tbytes\ttokens\tchanged bytes\tlines\tleft out\tlongest frame before\tthen\tslow\t")
	for _, page := range chromium.Rows(9, largepages.Pages...) {
		t.Run(page.Name, func(t *testing.T) {
			p := b.Open(url + "/" + page.Name)
			defer p.Close()
			p.WaitFor("globalThis.ready")
			tab := front(b)
			type frames struct {
				Longest float64 // in ms
				Slow    int     // of more than 50 ms
			}
			watched := func() (f frames) {
				p.Into("watched()", &f)
				return f
			}
			look := func(l spec.Look) (spec.LookResult, string, time.Duration) {
				t.Helper()
				l.Viewer = "v"
				began := time.Now()
				answer, err := h.ask(tab, &l)
				took := time.Since(began)
				var r spec.LookResult
				if err == nil {
					err = json.Unmarshal([]byte(answer), &r)
				}
				if err != nil {
					t.Fatalf("%+v: %v", l, err)
				}
				var lines strings.Builder
				for _, l := range r.Lines {
					lines.WriteString(l.Text + "\n")
				}
				return r, lines.String(), took
			}
			watched()
			p.Eval("new Promise((done) => setTimeout(done, 500))")
			before := watched()
			first, lines, took := look(spec.Look{})
			then := watched()
			_, _, again := look(spec.Look{})
			_, changes, changed := look(spec.Look{Changes: true})
			found, hits, finding := look(spec.Look{Find: page.Button})
			// What is too deep is looked at from where a look ends.
			for deeper := lines; !strings.Contains(hits, page.Button) && strings.Contains(deeper, "too deep"); {
				_, deeper, _ = look(spec.Look{Scope: refAfter(t, deeper, "box")})
				hits = deeper
			}
			var tokens int
			text, _ := json.Marshal(lines)
			counter.Into("tokens.tokensIn("+string(text)+")", &tokens)
			if tokens > spec.DefaultLookTokens {
				t.Errorf("it has %d tokens", tokens)
			}
			if all := madeUp(lines + changes + hits); len(all) > 0 {
				t.Errorf("these lines may be the page's own:\n%.500q", all)
			}
			if !strings.Contains(hits, fmt.Sprintf("button %q", page.Button)) || !strings.Contains(hits, page.Around) {
				t.Errorf("of %q it finds %d lines:\n%.1000s", page.Button, len(found.Lines), hits)
			}
			var scoping time.Duration
			if page.Around != "" {
				var part spec.LookResult
				var alone string
				part, alone, scoping = look(spec.Look{Scope: refAfter(t, lines+hits, page.Around)})
				if !strings.Contains(alone, page.Button) && part.Left == 0 {
					t.Errorf("%s alone is\n%.1000s", page.Around, alone)
				}
			}
			got := h.act(t, tab, hits, fmt.Sprintf(`{"click": {"target": @'%s'}}`, page.Button), func() {})
			p.Eval("new Promise((done) => setTimeout(done))")
			if clicks := p.Eval("clicked"); got != "null [click yes]" || clicks != "1" {
				t.Errorf("%s, and %s clicks", got, clicks)
			}
			ms := func(d time.Duration) int64 { return d.Milliseconds() }
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.0f\t%.0f\t%d\t\n", page.Name, ms(took), ms(again), ms(changed), ms(finding), ms(scoping), len(lines), tokens, len(changes), len(first.Lines), first.Left, before.Longest, then.Longest, then.Slow)
			// On a machine that is busy otherwise, frames take their time.
			if then.Longest > max(1000, 5*before.Longest) {
				t.Errorf("a frame took %.0f ms while it was looked at, and %.0f before", then.Longest, before.Longest)
			}
			if took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
	w.Flush()
	t.Log("\n" + table.String())
}
