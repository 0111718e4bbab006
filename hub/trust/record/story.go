package record

import (
	"cmp"
	"slices"
	"time"
)

// Step is something that has happened in a call.
type Step struct {
	Is   StepKind
	At   time.Time // zero: the record does not say when
	Line *Line     // which says so
}

// StepKind is what a Step is.
type StepKind string

// The kinds, each behind what may be its cause.
const (
	Requested StepKind = "request"
	Asked     StepKind = "question"
	Answered  StepKind = "answer" // or the question has ended without one
	Decided   StepKind = "decision"
	AboutTo   StepKind = "begun" // what cannot be undone is about to be sent
	Sent      StepKind = "sent"
	AsTask    StepKind = "task"
	Ended     StepKind = "end"
	Again     StepKind = "repeated" // the answer was given again
)

var kinds = []StepKind{Requested, Asked, Answered, Decided, AboutTo, Sent, AsTask, Ended, Again}

func (s *Step) rank() int { return slices.Index(kinds, s.Is) }

// Story returns what has happened in a call, in the order in which it did: by the times that lines have,
// of the call and of the questions about it, and at the same time the cause first. A step whose time the
// record does not say stands behind what may be its cause. The dashboard tells the same (steps.ts).
func Story(lines []Line) []Step {
	var requested time.Time
	var own *Line
	if i := slices.IndexFunc(lines, isCall); i >= 0 {
		own, requested = &lines[i], lines[i].Time
		lines = ofCall(lines, lines[i].Call)
	}
	var story, unknown []Step
	for i := range lines {
		for _, s := range lines[i].steps(requested) {
			if s.At.IsZero() {
				unknown = append(unknown, s)
			} else {
				story = append(story, s)
			}
		}
	}
	byRank := func(a, b Step) int { return cmp.Compare(a.rank(), b.rank()) }
	slices.SortStableFunc(story, func(a, b Step) int { return cmp.Or(a.At.Compare(b.At), byRank(a, b)) })
	if own != nil {
		inChain(story, own)
	}
	slices.SortStableFunc(unknown, byRank)
	for _, s := range unknown {
		at := len(story)
		for at > 0 && story[at-1].rank() > s.rank() {
			at--
		}
		story = slices.Insert(story, at, s)
	}
	asked := map[string]bool{}
	return slices.DeleteFunc(story, func(s Step) bool { // a late answer is one to what was asked before
		again := s.Is == Asked && s.Line.Question != "" && asked[s.Line.Question]
		asked[s.Line.Question] = asked[s.Line.Question] || s.Is == Asked
		return again
	})
}

// inChain puts those steps of a call in order of which each is the cause of the next, at the places that
// they have together. Their times can be in another order: a clock was set, or the computer was asleep while
// the owner was asked, which durations do not have.
func inChain(story []Step, own *Line) {
	var places []int
	var chain []Step
	for i, s := range story {
		late := s.Line.Event == Ask && own.By == "" // the call has ended without the answer
		if s.Line.Call == own.Call && s.Is != AsTask && s.Is != Again && !late {
			places, chain = append(places, i), append(chain, s)
		}
	}
	// What the owner is asked first, and again, is told by the order of the record.
	link := func(s Step) (rank int, n uint64) {
		if s.Is == Asked || s.Is == Answered {
			return slices.Index(kinds, Asked), s.Line.N
		}
		return s.rank(), s.Line.N
	}
	slices.SortStableFunc(chain, func(a, b Step) int {
		ar, an := link(a)
		br, bn := link(b)
		return cmp.Or(cmp.Compare(ar, br), cmp.Compare(an, bn), cmp.Compare(a.rank(), b.rank()))
	})
	for i, at := range places {
		story[at] = chain[i]
	}
}

// ofCall returns lines without those of how other calls have waited for the same question: if the call has
// no answer of its own, an answer that was given late or to an earlier call is its.
func ofCall(lines []Line, call string) (all []Line) {
	answered := slices.ContainsFunc(lines, func(l Line) bool { return l.Event == Ask && l.Call == call && l.Reach != "" })
	for _, l := range lines {
		if l.Event != Ask || l.Call == call || !answered && (l.Call == "" || l.Reach != "") {
			all = append(all, l)
		}
	}
	return all
}

// isCall reports whether a line is that of a call, or of what else was asked for.
func isCall(l Line) bool {
	return !slices.Contains([]Event{Ask, Begun, Task, Repeated}, l.Event)
}

// steps returns what a line says has happened. requested is when the call was, as its line has it.
func (l *Line) steps(requested time.Time) []Step {
	at := l.Time
	switch l.Event {
	case Ask:
		return []Step{{Asked, at.Add(-l.Asked), l}, {Answered, at, l}}
	case Begun:
		if at.Equal(requested) { // an older hub wrote when the call was requested
			at = time.Time{}
		}
		return []Step{{AboutTo, at, l}}
	case Task:
		return []Step{{AsTask, at, l}}
	case Repeated:
		return []Step{{Again, at, l}}
	}
	after := func(d time.Duration) time.Time {
		if d == 0 {
			return time.Time{}
		}
		return at.Add(d)
	}
	all := []Step{{Requested, at, l}}
	decided := l.Decided != 0 || l.Decision != "" && (l.Decision != "ask" || l.By != "" || l.Reach != "") // and not left before the owner answered
	if decided {
		all = append(all, Step{Decided, after(l.Decided), l})
	}
	if l.Sent != 0 || decided && l.Decided == 0 && l.Tab != "" && l.Decision != "deny" && l.Outcome != "DENIED" { // by an older hub
		all = append(all, Step{Sent, after(l.Sent), l})
	}
	return append(all, Step{Ended, at.Add(l.Duration), l})
}

// Took returns how long it took, without what its owner took to answer.
func (e *Entry) Took() time.Duration { return e.Duration - e.Asked }
