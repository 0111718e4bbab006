package stats

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// Who looks for a slow minute must find it where it was, and nothing where there were no
// calls.
func TestSeries(t *testing.T) {
	var c Calls
	c.Add(noon, "ok", 10*time.Millisecond)
	c.Add(noon.Add(9*time.Second), "TOOL_ERROR", 30*time.Millisecond)
	c.Add(noon.Add(10*time.Second), "DENIED", time.Millisecond)
	c.Add(noon.Add(30*time.Minute), "ok", 2*time.Second)

	now := noon.Add(30*time.Minute + 5*time.Second)
	s := c.Series(Hour, now)
	at := func(d time.Duration) int { return int(noon.Add(d).Sub(s.Start) / Hour.Step) }
	if s.StepMs != 10_000 || len(s.Calls) != 360 || at(30*time.Minute) != 359 {
		t.Fatalf("%d steps of %d ms from %s", len(s.Calls), s.StepMs, s.Start)
	}
	for i, want := range map[int][2]uint32{at(0): {2, 1}, at(10 * time.Second): {1, 1}, at(20 * time.Second): {0, 0}, 359: {1, 0}} {
		if s.Calls[i] != want[0] || s.Failed[i] != want[1] {
			t.Errorf("step %d: %d calls, %d failed, want %v", i, s.Calls[i], s.Failed[i], want)
		}
	}
	isAbout(t, "p50 of the first step", s.P50[at(0)], 10)
	isAbout(t, "p99 of the first step", s.P99[at(0)], 30)
	isAbout(t, "p95 of the step under way", s.P95[359], 2000)
	if p := s.P99[at(20*time.Second)]; p != 0 {
		t.Errorf("p99 of no calls is %v", p)
	}
	if want := map[string]uint32{"ok": 2, "TOOL_ERROR": 1, "DENIED": 1}; !maps.Equal(s.Outcomes, want) {
		t.Errorf("outcomes %v, want %v", s.Outcomes, want)
	}

	day := c.Series(Day, now)
	if i := int(noon.Sub(day.Start) / time.Minute); len(day.Calls) != 1440 || day.Calls[i] != 3 || day.Failed[i] != 2 {
		t.Errorf("the first minute of the day's series: %d calls of %d minutes", day.Calls[i], len(day.Calls))
	}
}

func TestOldCallsGo(t *testing.T) {
	for _, c := range []struct {
		name string
		now  time.Time
		hour uint32
	}{
		{"in the last step that counts", noon.Add(time.Hour - 10*time.Second), 1},
		{"an hour later", noon.Add(time.Hour), 0},
		{"long after", noon.Add(1000 * time.Hour), 0},
		{"the clock was set back", noon.Add(-time.Hour), 1},
	} {
		var calls Calls
		calls.Add(noon, "ok", time.Millisecond)
		s := calls.Series(Hour, c.now)
		if got := sum(s.Calls); got != c.hour || s.Outcomes["ok"] != c.hour {
			t.Errorf("%s: %d calls, want %d", c.name, got, c.hour)
		}
		calls.Add(c.now, "ok", time.Millisecond)
		if s := calls.Series(Hour, c.now); s.Calls[359] == 0 {
			t.Errorf("%s: what comes then is not counted", c.name)
		}
	}
	var none Calls
	if s := none.Series(Day, noon); len(s.Calls) != 1440 || sum(s.Calls) != 0 {
		t.Errorf("without calls: %v", s.Calls)
	}
}

// A page decides how often a call fails, not how much the hub remembers of it.
func TestOutcomesAreBounded(t *testing.T) {
	var c Calls
	for i := range 100 {
		c.Add(noon, string(rune('a'+i)), 0)
	}
	s := c.Series(Hour, noon)
	if len(s.Outcomes) != maxOutcomes+1 || s.Outcomes[other] != 100-maxOutcomes || s.Failed[359] != 100 {
		t.Errorf("%d outcomes, %d other, %d failed", len(s.Outcomes), s.Outcomes[other], s.Failed[359])
	}
}

// The percentiles must be within 5 % of what sorting all durations says.
func TestPercentiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var ts times
		all := make([]time.Duration, 1+r.IntN(2000))
		for i := range all {
			all[i] = time.Duration(math.Exp(r.Float64()*17)) * 50 * time.Microsecond // 50 µs to 20 min
			ts.add(bucketOf(all[i]))
		}
		slices.Sort(all)
		for i, got := range ts.percentiles() {
			rank := (uint64(len(all))*of[i]+99)/100 - 1
			isAbout(t, "a percentile", got, float64(all[rank].Microseconds())/1000)
		}
	}
	var ts times
	ts.add(bucketOf(-time.Second))
	ts.add(bucketOf(1000 * time.Hour))
	isAbout(t, "the longest", ts.percentiles()[2], 1<<maxBits/1000)
}

func isAbout(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > want*0.05 {
		t.Errorf("%s is %v ms, want %v", what, got, want)
	}
}

func sum(ns []uint32) (total uint32) {
	for _, n := range ns {
		total += n
	}
	return total
}

// The clock of a bubble moves by itself alone: calls of many goroutines end in one step.
func TestConcurrentCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Calls
		for range 50 {
			go func() {
				c.Add(time.Now(), "ok", time.Millisecond)
				c.Series(Hour, time.Now())
			}()
		}
		synctest.Wait()
		if s := c.Series(Day, time.Now()); s.Calls[1439] != 50 {
			t.Errorf("%d calls, want 50", s.Calls[1439])
		}
	})
}
