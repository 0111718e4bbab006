// Package stats counts the calls of the last hour and the last day: how many, how they
// ended, how long they took. The clock is its caller's. What it holds is bounded, about
// 100 KB for a user, however many calls there are.
package stats

import (
	"slices"
	"sync"
	"time"
)

// Calls are the calls of one user. The zero value is ready for use; all methods are safe for
// concurrent use.
type Calls struct {
	mu   sync.Mutex
	hour *window // nil until the first call
	day  *window
}

// Add counts a call that has ended at now. outcome is "ok", or says how it failed.
func (c *Calls) Add(now time.Time, outcome string, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hour == nil {
		c.hour, c.day = newWindow(Hour), newWindow(Day)
	}
	at, bucket := now.UnixNano(), bucketOf(took)
	c.hour.add(at, outcome, bucket)
	c.day.add(at, outcome, bucket)
}

// Span is how far back a Series goes, and in which steps.
type Span struct {
	Step  time.Duration
	Steps int
}

// The spans that are kept.
var (
	Hour = Span{10 * time.Second, 360}
	Day  = Span{time.Minute, 1440}
)

// Series are the calls of a span, by the step in which they ended. Its lists have an element
// for each step, the oldest first; the last step is under way.
type Series struct {
	Start  time.Time `json:"start"` // of the first step
	StepMs int64     `json:"stepMs"`
	Calls  []uint32  `json:"calls"`
	Failed []uint32  `json:"failed"` // those of which the outcome is not "ok"
	// In ms, 5 % off at most, and 0 where there were no calls.
	P50 []float64 `json:"p50"`
	P95 []float64 `json:"p95"`
	P99 []float64 `json:"p99"`
	// Outcomes counts by outcome, over all steps.
	Outcomes map[string]uint32 `json:"outcomes"`
}

// Series returns the calls of the last hour or the last day.
func (c *Calls) Series(span Span, now time.Time) Series {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.hour
	if span == Day {
		w = c.day
	}
	if w == nil {
		w = newWindow(span)
	}
	return w.series(now.UnixNano())
}

// window holds the steps of a span. Only of the step under way is each duration known.
type window struct {
	Span
	steps []step // a ring: step i is at i modulo its length
	at    int64  // the step under way, in steps since 1970
	ends  int64  // when it does, in ns since 1970
	now   *step  // it
	times times  // its durations
}

// step is what is kept of one step.
type step struct {
	calls    uint32
	outcomes []count // but for "ok"
	p        [3]float64
}

type count struct {
	outcome string
	n       uint32
}

// maxOutcomes bounds the different outcomes that a step counts; the others are "other".
const maxOutcomes = 16

func newWindow(s Span) *window {
	w := &window{Span: s, steps: make([]step, s.Steps)}
	w.now = &w.steps[0]
	return w
}

func (w *window) add(now int64, outcome string, bucket int) {
	w.advance(now)
	w.now.calls++
	w.times.add(bucket)
	if outcome != "ok" {
		w.now.count(outcome)
	}
}

// advance begins the step of now, if it is not under way. A clock that was set back stays in
// the step that it has reached.
func (w *window) advance(now int64) {
	if now < w.ends {
		return
	}
	w.now.p = w.times.percentiles()
	w.times = times{}
	to, n := now/int64(w.Step), int64(len(w.steps))
	for w.at = max(w.at, to-n); w.at < to; {
		w.at++
		w.now = &w.steps[w.at%n]
		*w.now = step{}
	}
	w.ends = (to + 1) * int64(w.Step)
}

func (s *step) count(outcome string) {
	i := slices.IndexFunc(s.outcomes, func(c count) bool { return c.outcome == outcome })
	switch {
	case i >= 0:
		s.outcomes[i].n++
	case len(s.outcomes) < maxOutcomes || outcome == other:
		s.outcomes = append(s.outcomes, count{outcome, 1})
	default:
		s.count(other)
	}
}

const other = "other"

func (w *window) series(now int64) Series {
	w.advance(now)
	w.now.p = w.times.percentiles()
	n := len(w.steps)
	out := Series{
		Start: time.Unix(0, (w.at-int64(n)+1)*int64(w.Step)), StepMs: w.Step.Milliseconds(),
		Calls: make([]uint32, n), Failed: make([]uint32, n),
		P50: make([]float64, n), P95: make([]float64, n), P99: make([]float64, n),
		Outcomes: make(map[string]uint32),
	}
	for i := range n {
		s := &w.steps[(w.at+1+int64(i))%int64(n)]
		for _, c := range s.outcomes {
			out.Failed[i] += c.n
			out.Outcomes[c.outcome] += c.n
		}
		if ok := s.calls - out.Failed[i]; ok > 0 {
			out.Outcomes["ok"] += ok
		}
		out.Calls[i] = s.calls
		out.P50[i], out.P95[i], out.P99[i] = s.p[0], s.p[1], s.p[2]
	}
	return out
}
