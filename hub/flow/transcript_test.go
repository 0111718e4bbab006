package flow

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
)

// task is what an agent does for one wish of its user. In testdata, "# " begins one, "> " is
// a call (site, tool, arguments), "< " its result, "= " a flow that there is in the call
// before, "+ " one of what an earlier task has returned, and "! " one that cannot be seen.
type task struct {
	name  string
	calls []call
}

type call struct {
	to           spec.Domain
	args, result json.RawMessage
	flows        []string // such as "mail.example, note"
	hidden       []string
	inDay        []string // flows if all tasks are done by one client
}

func readTasks(t testing.TB, file string) (tasks []task) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind == "#" {
			tasks = append(tasks, task{name: rest})
			continue
		}
		calls := &tasks[len(tasks)-1].calls
		if kind == ">" {
			site, rest, _ := strings.Cut(rest, " ")
			_, args, _ := strings.Cut(rest, " ")
			*calls = append(*calls, call{to: spec.Domain(site), args: json.RawMessage(args)})
			continue
		}
		c := &(*calls)[len(*calls)-1]
		switch kind {
		case "<":
			text, _ := json.Marshal(rest)
			c.result = json.RawMessage(fmt.Sprintf(`{"content":[{"type":"text","text":%s}],"structuredContent":%s}`, text, rest))
		case "=":
			c.flows = append(c.flows, rest)
		case "+":
			c.inDay = append(c.inDay, rest)
		case "!":
			c.hidden = append(c.hidden, rest)
		default:
			t.Fatalf("%s: %q", file, line)
		}
		if !json.Valid(c.args) || c.result != nil && !json.Valid(c.result) {
			t.Fatalf("%s: %q is not JSON", file, line)
		}
	}
	return tasks
}

// do does a call by a tracker as a hub does, and returns the flows that it finds.
func (c *call) do(t testing.TB, tr *Tracker) (found []string) {
	if err := tr.Settled(t.Context(), "agent"); err != nil {
		t.Fatal(err)
	}
	for _, f := range tr.Find(nil, "agent", c.to, c.args) {
		found = append(found, string(f.From)+", "+f.Field)
	}
	tr.Sent("agent", c.args)
	tr.Learn("agent", c.to, c.result)
	return found
}

func newTracker(t testing.TB, private ...spec.Domain) *Tracker {
	tr := New(func(d spec.Domain) bool { return slices.Contains(private, d) })
	t.Cleanup(tr.Close)
	return tr
}

// An owner who is asked about flows that are none will soon say yes to all. Each task is
// done by a client that has done nothing before, and all by one that has done those above.
func TestOrdinaryTasks(t *testing.T) {
	tasks := readTasks(t, "testdata/ordinary.txt")
	day := newTracker(t)
	var calls, flows, found, wrong, wrongInDay int
	for _, task := range tasks {
		alone := newTracker(t)
		for _, c := range task.calls {
			calls++
			flows += len(c.flows)
			for _, f := range c.do(t, alone) {
				if slices.Contains(c.flows, f) {
					found++
				} else {
					wrong++
					t.Logf("%s: none is %s: %s", task.name, f, c.args)
				}
			}
			for _, f := range c.do(t, day) {
				if !slices.Contains(c.flows, f) && !slices.Contains(c.inDay, f) {
					wrongInDay++
					t.Logf("%s, after the others: none is %s: %s", task.name, f, c.args)
				}
			}
		}
	}
	t.Logf("%d tasks, %d calls: %d of %d flows found; %d are none, of one client with all tasks %d", len(tasks), calls, found, flows, wrong, wrongInDay)
	if len(tasks) < 30 || found < flows*95/100 || wrong > calls*2/100 || wrongInDay > calls*3/100 {
		t.Error("that is too little found, or too much that is none")
	}
}

// FLOWS.md has this table.
func TestLeaks(t *testing.T) {
	for _, task := range readTasks(t, "testdata/leaks.txt") {
		t.Run(task.name, func(t *testing.T) {
			tr := newTracker(t)
			for _, c := range task.calls {
				got := c.do(t, tr)
				if !slices.Equal(got, c.flows) {
					t.Errorf("found %q, want %q: %s", got, c.flows, c.args)
				}
				if len(got)+len(c.hidden) > 0 {
					t.Logf("%-32s seen: %v", task.name, len(got) > 0)
				}
			}
		})
	}
}
