package proxytool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/lists"
	"tabhub/spec"
)

type decoded struct {
	Content []struct {
		Type, Text  string
		Annotations struct {
			ProxyAction, ProxyPath string
			ProxyIndex             *int
		}
		Meta struct {
			Proxy struct{ ProxyIndex *int } `json:"tabhub/proxy"`
		} `json:"_meta"`
	}
	IsError bool
	Meta    map[string]struct {
		Results []struct {
			ProxyIndex, Blocks int
			IsError            bool
			StructuredContent  json.RawMessage
		}
	} `json:"_meta"`
}

func decode(t *testing.T, raw string) (d decoded) {
	t.Helper()
	if err := json.Unmarshal([]byte(raw), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestBatch: each operation's outcome is there, in order, and can be told apart.
func TestBatch(t *testing.T) {
	got := decode(t, run(t, newFakeHub(), `{"action":"batch","operations":[
		{"action":"call","type":"tool","path":"calculator_add","args":{"a":1}},
		{"action":"call","type":"tool","path":"nobody"},
		{"action":"call","type":"tool","path":"rich"},
		{"action":"list","type":"prompt"},
		{"action":"batch","operations":[{"action":"list","type":"tool"}]},
		7,
		{"action":"call","type":"tool","path":"bare"},
		{"action":"call","type":"tool","path":"fails"}
	]}`))
	var lines []string
	for _, b := range got.Content {
		text := b.Text
		if text == "" {
			text = b.Type
		}
		lines = append(lines, fmt.Sprint(*b.Annotations.ProxyIndex, " ", b.Annotations.ProxyAction, " ", text))
		if i := b.Meta.Proxy.ProxyIndex; i == nil || *i != *b.Annotations.ProxyIndex {
			t.Errorf("_meta of %q is %+v", text, b.Meta)
		}
	}
	want := []string{
		"0 batch Operation 1 of 8, call tool calculator_add: ok",
		"0 call 8",
		"1 batch Operation 2 of 8, call tool nobody: failed",
		"1 call Unknown tool: 'nobody'; nearest: calculator_add",
		"2 batch Operation 3 of 8, call tool rich: ok",
		"2 call a",
		"2 call image",
		"2 call hologram",
		"3 batch Operation 4 of 8, list prompt: ok",
		"3 list resource",
		"4 batch Operation 5 of 8, batch: failed",
		"4 batch Parameter 'action' is 'batch' within a batch; allowed there: list, info, call",
		"5 batch Operation 6 of 8, not an object: failed",
		"5  The parameters must be an object: invalid JSON at byte 0: expected an object",
		"6 batch Operation 7 of 8, call tool bare: ok",
		"7 batch Operation 8 of 8, call tool fails: failed",
		"7 call no",
		"7 call really",
	}
	if g, w := strings.Join(lines, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	if got.IsError {
		t.Error("one failure made the whole batch fail")
	}
	sums := got.Meta["tabhub/proxy"].Results
	if len(sums) != 8 || sums[2].Blocks != 3 || string(sums[2].StructuredContent) != `{"big":12345678901234567890,"x":"\u00e9"}` ||
		!sums[1].IsError || sums[6].Blocks != 0 || sums[6].ProxyIndex != 6 || string(sums[6].StructuredContent) != `{"a":1}` {
		t.Errorf("_meta: %+v", sums)
	}
}

func TestBatchOfFailuresFails(t *testing.T) {
	if got := decode(t, run(t, newFakeHub(), `{"action":"batch","type":"tool","operations":[{},{"action":"call","type":"tool","path":"fails"}]}`)); !got.IsError {
		t.Error("all failed, and the batch did not")
	}
}

// TestBatchRunsSideBySide: a hundred calls of two seconds each, that only read, take
// seconds, not minutes, and do not all fall on the hub at once.
func TestBatchRunsSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeHub()
		w.lists[lists.ListTools] = listing(lists.Item{Name: "slow", OnlyReads: true})
		var now, most atomic.Int32
		w.tools["slow"] = func(_ context.Context, c call.Request) (json.RawMessage, error) {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			defer now.Add(-1)
			time.Sleep(time.Second)
			c.By.Progress(spec.Progress{Progress: 1, Total: new(2.0), Message: "half"})
			time.Sleep(time.Second)
			return json.RawMessage(`{"content":[{"type":"text","text":"ok"}]}`), nil
		}
		op := `{"action":"call","type":"tool","path":"slow"}`
		args := `{"action":"batch","operations":[` + strings.Repeat(op+",", 99) + op + `]}`
		last, told := 0.0, 0
		start := time.Now()
		r := (&proxy{hub: w}).call(t.Context(), reporting(func(p spec.Progress) {
			if p.Progress <= last || *p.Total != 100 {
				t.Errorf("progress %v of %v after %v", p.Progress, *p.Total, last)
			}
			last = p.Progress
			told++
		}), json.RawMessage(args))
		if took := time.Since(start); took != 26*time.Second {
			t.Errorf("it took %v", took)
		}
		if most.Load() != batchWorkers || last != 100 || told != 200 {
			t.Errorf("%d at once; progress told %d times, last %v", most.Load(), told, last)
		}
		if n := len(decode(t, string(r)).Content); n != 200 {
			t.Errorf("%d blocks", n)
		}
	})
}

// TestBatchKeepsOrder: what a tool does may be what the next needs, so one that may change
// something has what is before it behind it, and nothing of what is after it.
func TestBatchKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeHub()
		w.lists[lists.ListTools] = listing(lists.Item{Name: "look", OnlyReads: true}, lists.Item{Name: "act"})
		var mu sync.Mutex
		var log []string
		note := func(name string, took time.Duration) func(context.Context, call.Request) (json.RawMessage, error) {
			return func(context.Context, call.Request) (json.RawMessage, error) {
				mu.Lock()
				log = append(log, name)
				mu.Unlock()
				time.Sleep(took)
				mu.Lock()
				log = append(log, "end "+name)
				mu.Unlock()
				return json.RawMessage(`{"content":[]}`), nil
			}
		}
		w.tools["look"], w.tools["act"] = note("look", time.Minute), note("act", time.Second)
		op := func(name string) string { return `{"action":"call","type":"tool","path":"` + name + `"}` }
		ops := []string{op("look"), op("look"), op("act"), op("act"), op("look")}
		run(t, w, `{"action":"batch","operations":[`+strings.Join(ops, ",")+`]}`)
		if got, want := strings.Join(log, ", "), "look, look, end look, end look, act, end act, act, end act, look, end look"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// TestPartialResults: a program need not wait for the slowest operation of a batch to have
// what the others have given, and the answer has all of it again.
func TestPartialResults(t *testing.T) {
	const args = `{"action":"batch","partial":true,"operations":[{"action":"call","type":"tool","path":"calculator_add"},{"action":"call","type":"tool","path":"nobody"}]}`
	var got []string
	r := (&proxy{hub: newFakeHub()}).call(t.Context(), reporting(func(p spec.Progress) { got = append(got, string(p.Meta)) }), json.RawMessage(args))
	if len(got) != 2 || !strings.HasPrefix(got[0], `{"tabhub/proxy":{"proxyIndex":0,"result":{"content":[{"type":"text","text":"8","annotations":{`) ||
		!strings.HasPrefix(got[1], `{"tabhub/proxy":{"proxyIndex":1,"result":{"content":[{"type":"text","text":"Unknown tool: `) || !strings.HasSuffix(got[1], `,"isError":true}}}`) {
		t.Errorf("got %q", got)
	}
	if d := decode(t, string(r)); len(d.Content) != 4 || d.Content[1].Text != "8" {
		t.Errorf("the answer is %s", r)
	}
}

// TestBatchStopsWithItsCall: what a client has cancelled must not go on with what was
// still to come.
func TestBatchStopsWithItsCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := newFakeHub()
	w.tools["act"] = func(context.Context, call.Request) (json.RawMessage, error) {
		cancel()
		return json.RawMessage(`{"content":[]}`), nil
	}
	op := `{"action":"call","type":"tool","path":"act"}`
	args := `{"action":"batch","operations":[` + op + "," + op + "," + op + `]}`
	if r := (&proxy{hub: w}).call(ctx, tester, json.RawMessage(args)); r != nil || len(w.got) != 1 {
		t.Errorf("%d calls were made; answered %s", len(w.got), r)
	}
}

// TestBatchTellsWhatIsDone: a client that watches a long batch sees each operation's end, also of
// one whose page has said before that it is done.
func TestBatchTellsWhatIsDone(t *testing.T) {
	w := newFakeHub()
	w.tools["done"] = func(_ context.Context, c call.Request) (json.RawMessage, error) {
		c.By.Progress(spec.Progress{Progress: 5, Total: new(5.0), Message: "all of it"})
		return json.RawMessage(`{"content":[]}`), nil
	}
	var got []string
	args := `{"action":"batch","operations":[{"action":"call","type":"tool","path":"done"},{"action":"call","type":"tool","path":"fails"}]}`
	(&proxy{hub: w}).call(t.Context(), reporting(func(p spec.Progress) {
		got = append(got, fmt.Sprintf("%v of %v: %s", p.Progress, *p.Total, p.Message))
	}), json.RawMessage(args))
	want := []string{"0.99 of 2: all of it", "1 of 2: Operation 1 of 2, call tool done: ok", "2 of 2: Operation 2 of 2, call tool fails: failed"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
