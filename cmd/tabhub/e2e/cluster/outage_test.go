//go:build nightly && unix

package cluster

import (
	"cmp"
	"slices"
	"time"
)

// Outage is what a fault has cost.
type Outage struct {
	What           string
	Users          int           // who made calls meanwhile
	Struck         int           // of these, for whom a call took a second or more, or did not work
	Median, Worst  time.Duration // of all users: see Outages
	WorstUser      string
	Taken          int           // claims of users meanwhile
	LastTaken      time.Duration // and when the last of them was, after the fault
	OK, Fail, Info int           // how the calls ended that were made or under way meanwhile
}

// struck is how long a call may take that nothing happened to.
const struck = time.Second

// Outages returns for each Fault, until the next Fault or Calm, how long users had to wait: for each
// call that a client made, or had under way, the time from then, or from the fault, to the end of the
// first call that the client made no earlier and that worked. Of a user the longest counts.
func Outages(events []Event) []Outage {
	var out []Outage
	for i, e := range events {
		if e.Kind != Fault {
			continue
		}
		until := time.Duration(1<<63 - 1)
		for _, later := range events[i+1:] {
			if later.Kind == Fault || later.Kind == Calm {
				until = later.At
				break
			}
		}
		out = append(out, outage(events, e, until))
	}
	return out
}

// span is an operation of one client.
type span struct {
	user      string
	from, end time.Duration
	kind      Kind
}

func outage(events []Event, fault Event, until time.Duration) Outage {
	o := Outage{What: fault.Text}
	open := map[string]Event{}
	clients := map[string][]span{} // by user and client, by their ends
	for _, e := range events {
		switch e.Kind {
		case Wrote:
			if e.Name == "claim" && e.At >= fault.At && e.At < until {
				o.Taken++
				o.LastTaken = e.At - fault.At
			}
		case Invoke:
			open[e.Op] = e
		case OK, Fail, Info:
			from, ok := open[e.Op]
			if !ok || e.At < fault.At {
				continue
			}
			key := e.User + " " + e.By
			clients[key] = append(clients[key], span{e.User, from.At, e.At, e.Kind})
		}
	}
	worst := map[string]time.Duration{}
	for _, spans := range clients {
		for i, s := range spans {
			if s.from >= until {
				continue
			}
			worst[s.user] = max(worst[s.user], 0)
			switch s.kind {
			case OK:
				o.OK++
			case Fail:
				o.Fail++
			case Info:
				o.Info++
			}
			from := max(s.from, fault.At)
			// The first that works; what never works counts to the end of the history.
			works := events[len(events)-1].At
			for _, next := range spans[i:] {
				if next.kind == OK && next.from >= s.from {
					works = next.end
					break
				}
			}
			worst[s.user] = max(worst[s.user], works-from)
		}
	}
	type of struct {
		user string
		d    time.Duration
	}
	var all []of
	for user, d := range worst {
		all = append(all, of{user, d})
		if d >= struck {
			o.Struck++
		}
	}
	if len(all) == 0 {
		return o
	}
	slices.SortFunc(all, func(a, b of) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.user, b.user)) })
	last := all[len(all)-1]
	o.Users, o.Median, o.Worst, o.WorstUser = len(all), all[len(all)/2].d, last.d, last.user
	return o
}
