//go:build nightly && unix

package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The rules.
const (
	RuleOnce     = "a call runs once at most"
	RuleAnswer   = "a call that is answered was run, and that is its answer"
	RuleUnsent   = "a call that was not sent was not run"
	RuleEnd      = "a call has one end"
	RuleUser     = "no user reaches what belongs to another"
	RuleOrder    = "a call runs after it was made, and before it is answered"
	RuleName     = "a name stands for one thing"
	RuleRecord   = "the record says what happened"
	RuleChain    = "the record has no gap and no fork"
	RuleFence    = "a superseded node writes nothing"
	RuleWorks    = "when the faults are over everything works"
	RuleInvented = "a page runs what a client asked for"
)

// Lines are written in the background, ten times a second, and busy servers take their time. So a
// kill may cost the last lines of each user; nothing else may cost a line.
const (
	killMayLose = 4 * time.Second // before it
	killTakes   = time.Second     // after it was noted
)

// operation has all events of one operation.
type operation struct {
	events []Event
	invoke *Event
	ends   []Event
	asked  []Event
	runs   []Event
}

func (op *operation) violation(rule, format string, args ...any) Violation {
	return Violation{rule, fmt.Sprintf(format, args...), op.events}
}

// Check returns the rules that a history breaks, in the order of time. The history must be complete:
// each client has stopped, and the record was read.
func Check(events []Event) []Violation {
	c := checker{ops: map[string]*operation{}, names: map[string][]Event{}, lines: map[string][]Event{}, records: map[string][]Event{}, journals: map[string][]Event{}}
	for _, e := range events {
		c.take(e)
	}
	for _, token := range slices.Sorted(maps.Keys(c.ops)) {
		c.operation(c.ops[token])
	}
	c.checkNames()
	c.checkRecords()
	c.checkJournals()
	c.checkCalm()
	slices.SortStableFunc(c.found, func(a, b Violation) int { return cmp.Compare(at(a), at(b)) })
	return c.found
}

func at(v Violation) time.Duration {
	if len(v.Events) == 0 {
		return 0
	}
	return v.Events[0].At
}

type checker struct {
	ops      map[string]*operation // by token
	names    map[string][]Event    // runs by user and public name
	lines    map[string][]Event    // of the record, by user and call
	records  map[string][]Event    // lines by user
	journals map[string][]Event    // messages by user
	clients  map[string]bool       // user and client, of those that have made a call
	kills    []time.Duration       // when a node was killed
	calms    []Event               // Fault and Calm
	found    []Violation
}

func (c *checker) take(e Event) {
	switch e.Kind {
	case Invoke, OK, Fail, Info, Asked, Run:
		op := c.ops[e.Op]
		if op == nil {
			op = &operation{}
			c.ops[e.Op] = op
		}
		op.events = append(op.events, e)
		switch e.Kind {
		case Invoke:
			op.invoke = &e
		case Asked:
			op.asked = append(op.asked, e)
		case Run:
			op.runs = append(op.runs, e)
		default:
			op.ends = append(op.ends, e)
		}
	case List:
		for _, name := range e.Names {
			if owner, ok := ownerOf(name); ok && owner != e.User {
				c.found = append(c.found, Violation{RuleUser, fmt.Sprintf("%s lists %s", e.User, name), []Event{e}})
			}
		}
	case Line:
		c.records[e.User] = append(c.records[e.User], e)
		if e.Call != "" {
			key := e.User + " " + e.Call
			c.lines[key] = append(c.lines[key], e)
		}
	case Wrote:
		c.journals[e.User] = append(c.journals[e.User], e)
	case Kill:
		c.kills = append(c.kills, e.At)
	case Fault, Calm:
		c.calms = append(c.calms, e)
	}
}

// OwnTool is the name of a tool that only a page of that user offers.
func OwnTool(user string) string { return "only_" + user }

// ownerOf returns the user whose private tool a public name is.
func ownerOf(name string) (user string, ok bool) {
	_, user, ok = strings.Cut(name, "_only_")
	return user, ok
}

func (c *checker) operation(op *operation) {
	add := func(rule, format string, args ...any) { c.found = append(c.found, op.violation(rule, format, args...)) }
	if op.invoke == nil {
		add(RuleInvented, "no client has made this call")
		return
	}
	for _, run := range op.runs {
		if run.User != op.invoke.User {
			add(RuleUser, "a call of %s ran in a tab of %s", op.invoke.User, run.User)
		}
		if run.At < op.invoke.At {
			add(RuleOrder, "it ran before it was made")
		}
		key := op.invoke.User + " " + op.invoke.Name
		c.names[key] = append(c.names[key], run)
	}
	if len(op.runs) > 1 && !op.invoke.Again {
		add(RuleOnce, "it ran %d times", len(op.runs))
	}
	if len(op.ends) != 1 {
		add(RuleEnd, "it has %d", len(op.ends))
		return
	}
	end := op.ends[0]
	switch end.Kind {
	case OK:
		c.answered(op, end)
	case Fail:
		c.unsent(op, end)
	}
	for _, asked := range op.asked {
		switch asked.Name {
		case "ended":
			// The answer may say that the hub has lost the tab: then it does not tell whether the
			// call ran.
			if asked.Text != "" {
				c.answered(op, asked)
			}
		case "not_sent":
			c.unsent(op, asked)
		}
	}
	if c.clients == nil {
		c.clients = map[string]bool{}
	}
	c.clients[op.invoke.User+" "+op.invoke.By] = true
}

// answered checks an operation with an answer.
func (c *checker) answered(op *operation, end Event) {
	add := func(rule, format string, args ...any) { c.found = append(c.found, op.violation(rule, format, args...)) }
	i := slices.IndexFunc(op.runs, func(run Event) bool { return run.Text == end.Text })
	switch {
	case len(op.runs) == 0:
		add(RuleAnswer, "no page ran it")
	case i < 0:
		add(RuleAnswer, "the answer is none of what pages have said")
	case op.runs[i].At > end.At:
		add(RuleOrder, "it was answered before it ran")
	}
	lines := c.lines[op.invoke.User+" "+end.Call]
	switch {
	case end.Call == "" || end.Kind != OK:
	case len(lines) > 1:
		add(RuleRecord, "the record has it %d times", len(lines))
	case len(lines) == 1 && lines[0].Text != "ok":
		add(RuleRecord, "the record says %s", lines[0])
	case len(lines) == 0 && c.records[op.invoke.User] != nil && !c.killed(op.invoke, end):
		add(RuleRecord, "the record does not have it")
	}
}

// killed reports whether a call's line may be lost with its node. It is not if a later call's line
// is there.
func (c *checker) killed(invoke *Event, end Event) bool {
	return slices.ContainsFunc(c.kills, func(t time.Duration) bool {
		if t < invoke.At-killTakes || t > end.At+killMayLose {
			return false
		}
		for _, op := range c.ops {
			if op.invoke == nil || op.invoke.User != invoke.User || op.invoke.At < end.At || len(op.ends) != 1 {
				continue
			}
			if e := op.ends[0]; e.Kind == OK && e.At < t && len(c.lines[e.User+" "+e.Call]) > 0 {
				return false
			}
		}
		return true
	})
}

// unsent checks an operation that was not sent, as its client has read.
func (c *checker) unsent(op *operation, end Event) {
	if len(op.runs) > 0 {
		c.found = append(c.found, op.violation(RuleUnsent, "it ran, but its client learned %q", end.Text))
	}
}

// checkNames: a public name is one tool of one site, or of one tab. Which tab a name without
// a number goes to may change.
func (c *checker) checkNames() {
	for _, key := range slices.Sorted(maps.Keys(c.names)) {
		_, name, _ := strings.Cut(key, " ")
		runs := c.names[key]
		first := runs[0]
		for _, run := range runs[1:] {
			if run.Name != first.Name || numbered(name) && run.By != first.By {
				c.found = append(c.found, Violation{RuleName, fmt.Sprintf("%s is %s in tab %s, and %s in tab %s", key, first.Name, first.By, run.Name, run.By), []Event{first, run}})
				break
			}
		}
	}
	// In reverse: a tab has one number.
	type tool struct{ user, tab, name string }
	numbers := map[tool]string{}
	for _, key := range slices.Sorted(maps.Keys(c.names)) {
		user, name, _ := strings.Cut(key, " ")
		if !numbered(name) {
			continue
		}
		for _, run := range c.names[key] {
			t := tool{user, run.By, run.Name}
			if other := numbers[t]; other != "" && other != name {
				c.found = append(c.found, Violation{RuleName, fmt.Sprintf("%s of tab %s of %s is %s, and %s", t.name, t.tab, t.user, other, name), []Event{run}})
				break
			}
			numbers[t] = name
		}
	}
}

// numbered reports whether a public name is that of a single tab's tool.
func numbered(name string) bool {
	_, rest, ok := strings.Cut(name, "_tab")
	return ok && rest != "" && '0' <= rest[0] && rest[0] <= '9'
}

// checkRecords: the numbers of each user's lines follow one another.
func (c *checker) checkRecords() {
	for _, user := range slices.Sorted(maps.Keys(c.records)) {
		lines := c.records[user]
		for i := 1; i < len(lines); i++ {
			if lines[i].N != lines[i-1].N+1 {
				c.found = append(c.found, Violation{RuleChain, fmt.Sprintf("of %s line %d follows line %d", user, lines[i].N, lines[i-1].N), lines[i-1 : i+1]})
				break
			}
		}
	}
}

// checkJournals: epochs of a user grow, an epoch has one writer, and nothing was written twice.
func (c *checker) checkJournals() {
	for _, user := range slices.Sorted(maps.Keys(c.journals)) {
		messages := slices.SortedFunc(slices.Values(c.journals[user]), func(a, b Event) int { return cmp.Compare(a.N, b.N) })
		ids := map[string]Event{}
		for i, m := range messages {
			if first, ok := ids[m.Call]; ok && m.Call != "" {
				c.found = append(c.found, Violation{RuleFence, "of " + user + " a message was stored twice", []Event{first, m}})
				break
			}
			ids[m.Call] = m
			if i == 0 {
				continue
			}
			if before := messages[i-1]; m.Epoch < before.Epoch || m.Epoch == before.Epoch && (m.By != before.By || before.Name == "release") {
				c.found = append(c.found, Violation{RuleFence, fmt.Sprintf("of %s, %s has written under epoch %d after %s under epoch %d", user, m.By, m.Epoch, before.By, before.Epoch), []Event{before, m}})
				break
			}
		}
	}
}

// checkCalm: between Calm and the next fault each client makes a call, and each call works.
func (c *checker) checkCalm() {
	for i, calm := range c.calms {
		if calm.Kind != Calm {
			continue
		}
		until := time.Duration(1<<63 - 1)
		if i+1 < len(c.calms) {
			until = c.calms[i+1].At
		}
		worked := map[string]bool{}
		for _, token := range slices.Sorted(maps.Keys(c.ops)) {
			op := c.ops[token]
			if op.invoke == nil || op.invoke.At < calm.At || len(op.ends) != 1 || op.ends[0].At > until {
				continue
			}
			if op.ends[0].Kind == OK {
				worked[op.invoke.User+" "+op.invoke.By] = true
			} else {
				c.found = append(c.found, op.violation(RuleWorks, "it does not"))
			}
		}
		for _, client := range slices.Sorted(maps.Keys(c.clients)) {
			if !worked[client] {
				c.found = append(c.found, Violation{RuleWorks, "no call of " + client + " does", []Event{calm}})
			}
		}
	}
}
