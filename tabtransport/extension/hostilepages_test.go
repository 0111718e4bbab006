package extension_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// lookAt looks at a tab and returns the lines.
func (h *hub) lookAt(tab int64, l spec.Look) string {
	h.t.Helper()
	answer, err := h.ask(tab, &l)
	if err != nil {
		return err.Error()
	}
	var r spec.LookResult
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		h.t.Fatalf("%s: %v", answer, err)
	}
	var all strings.Builder
	for _, l := range r.Lines {
		all.WriteString(l.Text + "\n")
	}
	if r.Left > 0 {
		fmt.Fprintf(&all, "(%d left out)\n", r.Left)
	}
	return all.String()
}

var (
	// ref is a reference, where it stands outside of what a page says.
	ref = regexp.MustCompile(`\b[a-z]{3}\d+\b`)
	// said is a string of the page's.
	said = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	// plain is what a line has outside of such strings: roles, states, numbers and references.
	plain = regexp.MustCompile(`^[a-z0-9 =:,;.()>*|+%/-]*$`)
	// unseen are characters that nobody sees, or that change the place of others.
	unseen = regexp.MustCompile(`[\x{00}-\x{09}\x{0b}-\x{1f}\x{7f}-\x{9f}\x{ad}\x{34f}\x{61c}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{180b}-\x{180f}\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{3164}\x{fe00}-\x{fe0f}\x{feff}\x{ffa0}\x{fff0}-\x{fffb}\x{e0000}-\x{e0fff}]`)
)

// madeUp returns what of a look its page may have made up: what is no line's word, outside of strings.
func madeUp(look string) (all []string) {
	for line := range strings.Lines(look) {
		line = strings.TrimSuffix(line, "\n")
		if rest := said.ReplaceAllString(line, ""); !plain.MatchString(rest) || unseen.MatchString(line) {
			all = append(all, line)
		}
	}
	return all
}

// refAfter returns the reference that follows a text in a look.
func refAfter(t *testing.T, look, text string) string {
	t.Helper()
	for line := range strings.Lines(look) {
		before, rest, ok := strings.Cut(line, text)
		if !ok {
			continue
		}
		if strings.Count(before+text, `"`)%2 == 1 { // in the middle of a string
			_, rest, _ = strings.Cut(rest, `"`)
		}
		if found := ref.FindString(said.ReplaceAllString(rest, "")); found != "" {
			return found
		}
	}
	t.Fatalf("no line has a reference after %s:\n%s", text, look)
	return ""
}

// attack is a page that is looked at, changes, and is acted on.
type attack struct {
	name, page string
	// shows are parts of the look, of which @ stands for a reference; hides are parts of none.
	shows, hides []string
	// act is a step. In it @"TEXT" stands for the reference of the first line that has the text.
	act string
	// then is what the page does between the question about the act and the act.
	then string
	want string // of what comes of the act, its beginning
	is   string // an expression that is true in the page afterwards
}

var named = regexp.MustCompile(`@'([^']*)'`)

// attacked looks at pages and acts there, as a hub does for a client.
func attacked(t *testing.T, attacks []attack) {
	h := newHub(t)
	b := h.browse(chromium.Options{})
	pages := map[string]string{"/next": `<!doctype html><title>Next</title><h1>Thanks</h1>`}
	for i, a := range attacks {
		pages[fmt.Sprintf("/%d", i)] = "<!doctype html>" + a.page
	}
	url := site(t, pages)
	for i, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			p := b.Open(fmt.Sprintf("%s/%d", url, i))
			defer p.Close()
			tab := front(b)
			look := h.lookAt(tab, spec.Look{Viewer: "v"})
			plainly := ref.ReplaceAllString(look, "@")
			missing := slices.DeleteFunc(slices.Clone(a.shows), func(part string) bool { return strings.Contains(plainly, part) })
			there := slices.DeleteFunc(slices.Clone(a.hides), func(part string) bool { return !strings.Contains(plainly, part) })
			if len(missing) > 0 || len(there) > 0 {
				t.Errorf("it does not show %q, and it shows %q:\n%s", missing, there, look)
			}
			if all := madeUp(look); len(all) > 0 {
				t.Errorf("these lines may be the page's own:\n%q", all)
			}
			if a.act == "" {
				return
			}
			got := h.act(t, tab, look, a.act, func() {
				if a.then != "" {
					p.Eval(a.then)
				}
			})
			if !strings.HasPrefix(got, a.want) || a.want == "" {
				t.Errorf("got  %s\nwant %s\n%s", got, a.want, look)
			}
			if a.is != "" {
				if is := p.Eval(a.is); is != "true" {
					t.Errorf("%s is %s after %s", a.is, is, got)
				}
			}
		})
	}
}

// act has a step done as a hub does: what its references stand for is asked first, and then the owner.
func (h *hub) act(t *testing.T, tab int64, look, step string, owner func()) string {
	t.Helper()
	var refs []string
	step = named.ReplaceAllStringFunc(step, func(at string) string {
		found := refAfter(t, look, named.FindStringSubmatch(at)[1])
		refs = append(refs, found)
		return `{"ref": "` + found + `"}`
	})
	answer, err := h.ask(tab, &spec.Refs{Refs: refs})
	var of spec.RefsResult
	if err := errors.Join(err, json.Unmarshal([]byte(answer), &of)); err != nil {
		return err.Error()
	}
	req := spec.Run{FrameID: &of.FrameID, Origin: of.Origin}
	for _, r := range of.Refs {
		if r.Stale != "" {
			return "stale: " + r.Stale
		}
		if r.Leads != "" && r.Leads != of.Origin {
			req.Reach = append(req.Reach, r.Leads)
		}
	}
	owner()
	return ref.ReplaceAllString(h.runAs(t.Context(), tab, &req, step, tabtransport.Wait{Timeout: time.Minute}), "@")
}
