package flow

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/trust/policy"
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

// do does a call as a hub does, and returns the flows that would be shown. decided says
// whether it would be asked about if the site that was read were private.
func (c *call) do(r *rig) (shown []string, decided bool) {
	read := r.Read(agent.ID, r.rules)
	decided = slices.ContainsFunc(read, func(d spec.Domain) bool { return d != c.to })
	for _, m := range r.Compare(agent.ID, c.to, []json.RawMessage{c.args}) {
		shown = append(shown, string(m.From)+", "+m.Field)
	}
	r.Sent(agent, c.to, r.rules, "", c.args)
	if c.result != nil {
		r.Returned(agent, c.to, r.rules, c.result)
	}
	return shown, decided
}

// everyPrivate is an owner of whose sites each is private.
func everyPrivate(t testing.TB) *rig {
	r := newRig(t)
	r.rules, _ = policy.New(policy.Document{Rules: []policy.Rule{{ID: "r", Effect: policy.Ask, From: "verified"}}}, "", policy.File{})
	return r
}

// An owner that sees false flows soon ignores all of them. Each task is
// done by a client that has done nothing before, and all by one that has done those above.
func TestOrdinaryTasks(t *testing.T) {
	tasks := readTasks(t, "testdata/ordinary.txt")
	day := everyPrivate(t)
	var calls, flows, found, wrong, wrongInDay int
	for _, task := range tasks {
		alone := everyPrivate(t)
		for _, c := range task.calls {
			calls++
			flows += len(c.flows)
			shown, decided := c.do(alone)
			for _, f := range shown {
				if slices.Contains(c.flows, f) {
					found++
				} else {
					wrong++
					t.Logf("%s: none is %s: %s", task.name, f, c.args)
				}
			}
			if len(c.flows) > 0 && !decided {
				t.Errorf("%s: not decided about: %s", task.name, c.args)
			}
			shown, _ = c.do(day)
			for _, f := range shown {
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

// POLICY.md has this table, shortened. What is not shown is decided about all the same.
func TestLeaks(t *testing.T) {
	for _, task := range readTasks(t, "testdata/leaks.txt") {
		t.Run(task.name, func(t *testing.T) {
			r := everyPrivate(t)
			for _, c := range task.calls {
				shown, decided := c.do(r)
				if !slices.Equal(shown, c.flows) {
					t.Errorf("shown %q, want %q: %s", shown, c.flows, c.args)
				}
				if n := len(c.flows) + len(c.hidden); n > 0 {
					t.Logf("%-32s shown: %v", task.name, len(shown) > 0)
					if !decided {
						t.Errorf("not decided about: %s", c.args)
					}
				}
			}
		})
	}
}
