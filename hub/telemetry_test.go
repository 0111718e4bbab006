package hub

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/telemetry"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// phases is an observer of calls, which notes how they go.
type phases struct {
	telemetry.Observer
	mu   sync.Mutex
	said []string
}

func (p *phases) EndPhase(of telemetry.Phase, took time.Duration, result string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = append(p.said, fmt.Sprintf("%s %s %s", of, result, took))
}

func (p *phases) Called(kind spec.Kind, outcome string, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = append(p.said, fmt.Sprintf("%s %s %s", kind, outcome, took))
}

func (p *phases) want(t *testing.T, want ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Equal(p.said, want) {
		t.Errorf("observed %q, want %q", p.said, want)
	}
	p.said = nil
}

// Metrics tell the time of the owner, of the browser and of the page apart.
func TestPhasesOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &phases{Observer: telemetry.Nobody}
		o := askingOptions
		o.Telemetry = seen
		w := &asking{fixture: newFixture(t, o), claude: &consent.Caller{Principal: &policy.Principal{ID: "claude"}, Session: "s1"}}
		w.join()

		c := w.pay()
		r := w.asked()
		time.Sleep(20 * time.Second)
		w.says(r, spec.ReachOnce)
		executed := w.shop.Next()
		time.Sleep(time.Second)
		answer(w.shop, executed, "paid")
		c.want(t, "paid")
		seen.want(t, "decide ask 0s", "ask allow 20s", "decide allow 0s", "execute ok 1s", "tool ok 1s")

		c = w.callAs(t.Context(), w.claude, "look")
		w.shop.Answer(w.shop.Next(), spec.Response{}, spec.Errorf(spec.CodeInternal, "no"))
		c.want(t, "no")
		seen.want(t, "decide allow 0s", "execute TOOL_ERROR 0s", "tool TOOL_ERROR 0s")

		c = w.callAs(t.Context(), w.claude, "nobodys")
		<-c.done
		seen.want(t, "tool unknown 0s")
	})
}

func TestPhasesOfACallThatOpensATab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &phases{Observer: telemetry.Nobody}
		w := newFixture(t, Options{Telemetry: seen, Mode: policy.ModeOpen})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/", `find:"annotations":{"cache":true}`))
		b.Notify(1, &spec.TabClosed{})
		synctest.Wait()
		c := w.call(t.Context(), "e_com_find")
		b.Answer(b.Next(), spec.Response{Result: json.RawMessage(`{"tabId":9}`)}, nil)
		time.Sleep(3 * time.Second)
		w.register(b, 9, tools("https://e.com/", "find"))
		answer(b, b.Next(), "found")
		c.want(t, "found")
		seen.want(t, "decide allow 0s", "open ok 3s", "decide allow 0s", "execute ok 0s", "tool ok 3s")
	})
}
