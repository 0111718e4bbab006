package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tabhub/spec/rawjson"
	"tabhub/tabtransport/tabtest/taskpages"
)

// meter is a client that counts what it asks for, and what a model would read of the answers.
type meter struct {
	t        testing.TB
	session  *mcp.ClientSession
	files    string // the directory of what it may upload
	tab      bool   // it has opened one
	requests int
	bytes    int
	took     time.Duration
	said     strings.Builder // what was asked for, and answered, in a task
}

// measure starts an MCP server.
func measure(t testing.TB, cmd *exec.Cmd) *meter {
	t.Helper()
	m := &meter{t: t}
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
	session, err := client.Connect(m.within(), &mcp.CommandTransport{Command: cmd, TerminateDuration: timeout}, nil)
	if err != nil {
		t.Fatalf("connecting with %q: %v", cmd.Args, err)
	}
	m.session = session
	t.Cleanup(func() { _ = session.Close() })
	return m
}

func (m *meter) within() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	m.t.Cleanup(cancel)
	return ctx
}

// listed is how many bytes a model reads of the tools of a server, without those of pages that it does not want.
func (m *meter) listed(wants func(tool string) bool) int {
	m.t.Helper()
	list, err := m.session.ListTools(m.within(), &mcp.ListToolsParams{})
	if err != nil {
		m.t.Fatal(err)
	}
	n := 0
	for _, tool := range list.Tools {
		if !wants(tool.Name) {
			continue
		}
		text, err := json.Marshal(map[string]any{"name": tool.Name, "description": tool.Description, "inputSchema": tool.InputSchema})
		if err != nil {
			m.t.Fatal(err)
		}
		n += len(text)
	}
	return n
}

// call calls a tool, and returns the text of its answer.
func (m *meter) call(tool string, args any) (text string, failed bool) {
	m.t.Helper()
	began := time.Now()
	result, err := m.session.CallTool(m.within(), &mcp.CallToolParams{Name: tool, Arguments: args})
	took := time.Since(began)
	m.took += took
	m.requests++
	if err != nil {
		return err.Error(), true
	}
	var all []string
	for _, c := range result.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			all = append(all, c.Text)
		default:
			m.t.Errorf("%s answers with %T", tool, c)
		}
	}
	text = strings.Join(all, "\n")
	m.bytes += len(text)
	asked, _ := json.Marshal(args)
	fmt.Fprintf(&m.said, "--- %s %s: %d bytes, %d ms\n%s\n", tool, asked, len(text), took.Milliseconds(), text)
	return text, result.IsError
}

// score is what came of the tasks in one way.
type score struct {
	way             string
	solved          int
	failed          []string // names of tasks, and why
	requests, bytes int
	list            int
	took            time.Duration
}

// a way does a task with a client, or says why it could not.
type way struct {
	name  string
	tools string // what the names of pages' tools begin with that it uses
	start func(t *testing.T) *meter
	do    func(m *meter, s *taskpages.Server, t *taskpages.Task) error
}

// score does all tasks in a way, and looks at what the server was told.
func (w *way) score(t *testing.T, m *meter) score {
	t.Helper()
	s := taskpages.New(t)
	out := score{way: w.name}
	for i := range taskpages.Tasks {
		task := &taskpages.Tasks[i]
		t.Run(task.Name, func(t *testing.T) {
			m.said.Reset()
			err := w.do(m, s, task)
			var want []string
			for _, text := range task.Want {
				want = append(want, s.Reference(text))
			}
			if done := s.Done(task.Name); err == nil && !slices.Equal(done, want) {
				err = fmt.Errorf("done was %s, not %s", done, want)
			}
			if err == nil {
				out.solved++
			} else {
				out.failed = append(out.failed, fmt.Sprintf("%s: %v", task.Name, err))
			}
			if err != nil || testing.Verbose() {
				t.Logf("%s\n%v\n%s", task.Goal, err, &m.said)
			}
		})
	}
	out.requests, out.bytes, out.took, out.list = m.requests, m.bytes, m.took, m.listed(func(tool string) bool {
		ofPage := strings.HasPrefix(tool, "website_tool_") || strings.HasPrefix(tool, "pack_")
		return !ofPage || w.tools != "" && strings.HasPrefix(tool, w.tools) && strings.Contains(tool, s.URL[strings.LastIndexByte(s.URL, ':')+1:])
	})
	return out
}

func (s score) String() string {
	return fmt.Sprintf("| %s | %d of %d | %d | %d | %d | %.1f s |", s.way, s.solved, len(taskpages.Tasks), s.requests, s.bytes, s.list, s.took.Seconds())
}

// open opens a task's page in a new tab of the hub, and returns the tab.
func open(m *meter, s *taskpages.Server, task *taskpages.Task) (tab string, err error) {
	said, failed := m.call("browser_tab", map[string]any{"action": "new", "url": s.URL + "/" + task.Name + "/", "active": true})
	tab, _ = rawjson.String(rawjson.Get([]byte(said), "tabId"))
	if failed || tab == "" {
		return "", fmt.Errorf("opening the page: %s", said)
	}
	return tab, nil
}

// calls makes the calls of a task with tools of which name returns the public name.
func calls(m *meter, s *taskpages.Server, calls []taskpages.Call, name func(tool string) (string, error)) error {
	said := ""
	for _, c := range calls {
		if strings.Contains(c.Args, "$REFERENCE") && !strings.Contains(said, s.Reference("$REFERENCE")) {
			return fmt.Errorf("what %s needs is not in %s", c.Tool, said)
		}
		tool, err := name(c.Tool)
		if err != nil {
			return err
		}
		failed := false
		if said, failed = m.call(tool, json.RawMessage(s.Reference(c.Args))); failed {
			return fmt.Errorf("%s: %s", tool, said)
		}
	}
	return nil
}

var publicName = regexp.MustCompile(`"tool":"([^"]+)"`)

// withTools does a task with the page's own tools.
func withTools(m *meter, s *taskpages.Server, task *taskpages.Task) error {
	return withCalls(m, s, task, task.Tools)
}

// withPack does a task with the pack's tools.
func withPack(m *meter, s *taskpages.Server, task *taskpages.Task) error {
	return withCalls(m, s, task, task.Pack)
}

// withCalls opens the page of a task, waits for each tool, and calls it.
func withCalls(m *meter, s *taskpages.Server, task *taskpages.Task, all []taskpages.Call) error {
	tab, err := open(m, s, task)
	if err != nil {
		return err
	}
	return calls(m, s, all, func(tool string) (string, error) {
		said, failed := m.call("browser_page", map[string]any{"action": "wait", "tabId": tab, "tool": tool})
		name := publicName.FindStringSubmatch(said)
		if failed || name == nil {
			return "", fmt.Errorf("waiting for %s: %s", tool, said)
		}
		return name[1], nil
	})
}

// withAgent does a task by looking and acting, through a server.
func withAgent(through func(m *meter) eyes) func(*meter, *taskpages.Server, *taskpages.Task) error {
	return func(m *meter, s *taskpages.Server, task *taskpages.Task) error {
		return (&careful{eyes: through(m)}).do(s.URL+"/"+task.Name+"/", plans[task.Name])
	}
}

// taskFiles writes the files that tasks upload into a directory.
func taskFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range taskpages.Files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// hub starts a hub with a browser, and a client.
func hub(t *testing.T) *meter {
	p := newPlace(t)
	files := taskFiles(t)
	p.serve("--uploads", files)
	p.browse()
	p.addPacks(map[string][]byte{"tasks.json": taskpages.Pack()})
	m := measure(t, p.command("stdio", "--listen", p.listen))
	m.files = files
	return m
}

const lookAndAct = "look and act"

// ways are those that tabhub has, and in nightly those of others: they have no tools.
var ways = []way{
	{"the page's tools", "website_tool_", hub, withTools},
	{"a pack", "pack_", hub, withPack},
	{"a script", "browser_", hub, withScript},
	{lookAndAct, "browser_", hub, withAgent(func(m *meter) eyes { return &browserPage{m: m} })},
}

// alone has each way have the machine for itself, so that times can be compared.
var alone = false

// Thirty tasks on pages, done by a careful agent in the ways that there are to use a page: each way of tabhub does all
// of them, and looking takes at most half of what it takes Playwright MCP (the file spec/docs/ANYPAGE.md has the table).
func TestTasks(t *testing.T) {
	t.Parallel()
	scores := make([]score, len(ways))
	t.Run("ways", func(t *testing.T) {
		for i, w := range ways {
			t.Run(w.name, func(t *testing.T) {
				if !alone {
					t.Parallel()
				}
				scores[i] = w.score(t, w.start(t))
			})
		}
	})
	lines := []string{"| way | solved | requests | bytes of results | bytes of tools/list | time |", "| --- | --- | --- | --- | --- | --- |"}
	byName := map[string]score{}
	for i, s := range scores {
		if s.way == "" { // -run has left it out
			continue
		}
		lines, byName[s.way] = append(lines, s.String()), s
		for _, failed := range s.failed {
			if ways[i].tools != "" {
				t.Errorf("%s: %s", s.way, failed)
			} else {
				t.Logf("%s: %s", s.way, failed)
			}
		}
	}
	t.Log("\n" + strings.Join(lines, "\n"))
	ours, other := byName[lookAndAct], byName[lookAndAct+", Playwright MCP"]
	if other.way != "" && ours.way != "" && (ours.solved < other.solved || 2*ours.bytes > other.bytes) {
		t.Errorf("through Playwright MCP %d tasks are done with %d bytes, through tabhub %d with %d", other.solved, other.bytes, ours.solved, ours.bytes)
	}
}
