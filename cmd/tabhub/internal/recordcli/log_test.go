package recordcli

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// recordCall records a call with arguments in the data directory, and returns its line.
func recordCall(t *testing.T, dir home.Dir, args string) record.Line {
	t.Helper()
	at := record.Dir(dir.Records(), spec.LocalUser)
	log := record.Open(at, record.Options{User: spec.LocalUser, Payloads: true})
	log.Append(record.Entry{Time: time.Now(), Event: record.Call, Call: "C1", Tool: "buy", Outcome: "ok", Args: json.RawMessage(args)})
	log.Close()
	lines, err := record.Read(t.Context(), at, record.Query{Event: record.Call})
	if err != nil || len(lines) != 1 {
		t.Fatal(lines, err)
	}
	return lines[0]
}

// The record of a node is not in the data directory. What an earlier hub has left there is of
// other calls, which have the same numbers.
func TestPayloadsOfANode(t *testing.T) {
	dir := home.Dir(filepath.Join(t.TempDir(), "data"))
	if err := dir.Make(); err != nil {
		t.Fatal(err)
	}
	lock, err := dir.TryLock(home.HubLock)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	ln, err := dir.Listen(slog.New(slog.DiscardHandler))
	if err == nil {
		err = dir.WriteHub(home.Hub{PID: os.Getpid(), Addr: "127.0.0.1:1", Socket: dir.Socket(), Node: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	node := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/log/payloads" || r.FormValue("call") != "C2" {
			t.Errorf("the node is asked for %s", r.URL)
		}
		_ = json.NewEncoder(w).Encode([]record.Payload{{N: 2, Args: json.RawMessage(`"of the node"`)}})
	})}
	go node.Serve(ln)
	defer node.Close()
	line := recordCall(t, dir, `"of an earlier hub"`)
	line.Call = "C2"
	a := &command.App{Env: func(string) string { return "" }, DataDir: string(dir)}
	l := logSource{App: a}
	if found := l.payload(t.Context(), &line); string(found.Args) != `"of the node"` {
		t.Errorf("line %d: %s", line.N, found.Args)
	}
}

// The owner reads in a terminal what has happened in which order, and for how much: of a question, in each
// call that has waited for its answer.
func TestTellCall(t *testing.T) {
	dir := home.Dir(filepath.Join(t.TempDir(), "data"))
	log := record.Open(record.Dir(dir.Records(), spec.LocalUser), record.Options{User: spec.LocalUser, Arguments: time.Hour})
	at := time.Now()
	call := record.Entry{
		Time: at, Event: record.Call, Call: "C1", Name: "claude", Domain: "bank.example", Tool: "transfer", Class: "write", Args: json.RawMessage(`{"amount":12}`),
		Decision: "ask", Question: "Q1", Asked: time.Minute, Outcome: "cancelled", Duration: time.Minute,
	}
	ask := record.Entry{Time: at.Add(time.Minute), Event: record.Ask, Call: "C1", Question: "Q1", Asked: time.Minute, Outcome: "cancelled"}
	log.Append(ask)
	log.Append(call)
	ask.Call, ask.Time, ask.Asked, ask.Reach, ask.By, ask.Outcome = "", at.Add(5*time.Minute), 5*time.Minute, "once", consent.ByWindow, "ok"
	log.Append(ask)
	call.Time, call.Call, call.Asked, call.Reach, call.Decided, call.Sent, call.Duration, call.Outcome, call.Tab = at.Add(6*time.Minute), "C2", 0, "once", 1e6, 2e6, 2*time.Second, "ok", "b/1"
	log.Append(call)
	log.Close()
	tell := func(id string) string {
		var b strings.Builder
		l := logSource{App: &command.App{Env: func(string) string { return "" }, DataDir: string(dir), Stdout: &b}, query: record.Query{Call: id}}
		if err := l.tellCall(t.Context()); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	inOrder := func(got string, words ...string) {
		t.Helper()
		rest := got
		for _, w := range words {
			_, after, ok := strings.Cut(rest, w)
			if !ok {
				t.Errorf("no %q in its place in\n%s", w, got)
			}
			rest = after
		}
	}
	gaveUp := []string{"claude: transfer at bank.example", "cancelled", `{"amount":12}`, "asked for transfer", "you were asked", "no longer waited for your answer, after 60 s", "ended: cancelled", "you answered “Yes, this once”, after 300 s, in the browser"}
	again := []string{"ok · 2.0 s", "you were asked", "you answered", "asked for transfer", "+360 s", "allowed by your answer", "sent to a tab", "ended: ok", "C2"}
	inOrder(tell("C1"), gaveUp...)
	inOrder(tell("C2"), again...)
	inOrder(tell("Q1"), append(gaveUp, again...)...)
	// Of an act it is what each step did, and the script as its owner has seen it.
	log = record.Open(record.Dir(dir.Records(), spec.LocalUser), record.Options{User: spec.LocalUser, Arguments: time.Hour})
	log.Append(record.Entry{
		Time: at, Event: record.Call, Call: "C3", Name: "claude", Domain: "shop.example", Tool: "browser_script", Class: "act", Decision: "ask", Question: "Q3", Reach: "session", By: consent.ByWindow, Decided: 1e6, Outcome: "STALE_REF", Duration: time.Second,
		Args: json.RawMessage(`{"code":"await page.click('kfa7')\n\tawait page.wait(10)\u202e"}`), Result: json.RawMessage(`{"did":["clicked button \"Order\"","not done: click kfa8"]}`),
	})
	log.Append(record.Entry{Time: at, Event: record.Ask, Call: "C3", Class: "act", Question: "Q3", Reach: "session", By: consent.ByWindow, Outcome: "ok"})
	log.Close()
	act := tell("C3")
	inOrder(act, "browser_script at shop.example", "STALE_REF", "did", `clicked button "Order"`, "not done: click kfa8", "script", "  │ await page.click('kfa7')\n  │   await page.wait(10)\\u202e\n", "you answered “Yes, for this site, this session”")
	if strings.Contains(act, `{"`) {
		t.Error(act)
	}
	if both := tell("Q1"); strings.Count(both, "you were asked") != 2 || strings.Count(both, "no longer waited") != 1 {
		t.Error(both)
	}
}

// The record has lines as they ended. A person reads what was done first first: a call before the question
// about it.
func TestLogIsInTheOrderOfTimes(t *testing.T) {
	dir := home.Dir(filepath.Join(t.TempDir(), "data"))
	if err := dir.Make(); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-time.Minute)
	log := record.Open(record.Dir(dir.Records(), spec.LocalUser), record.Options{User: spec.LocalUser})
	log.Append(record.Entry{Time: at.Add(114 * time.Second), Event: record.Ask, Name: "claude", Domain: "bank.example", Tool: "pay", Outcome: "ok", Asked: 114 * time.Second})
	log.Append(record.Entry{Time: at.Add(114 * time.Second), Event: record.Begun, Call: "C1", Name: "claude", Domain: "bank.example", Tool: "pay", Outcome: "begun"})
	log.Append(record.Entry{Time: at, Event: record.Call, Call: "C1", Name: "claude", Domain: "bank.example", Tool: "pay", Outcome: "ok", Asked: 114 * time.Second, Duration: 116 * time.Second})
	log.Append(record.Entry{Time: at.Add(time.Hour), Event: record.Begun, Call: "C2", Name: "claude", Domain: "bank.example", Tool: "pay", Outcome: "begun"})
	log.Close()
	var b bytes.Buffer
	a := &command.App{Out: command.Visible{W: &b}, Err: command.Visible{W: &b}, Stdout: &b, Stderr: &b, Env: func(string) string { return "" }, DataDir: string(dir)}
	cmd := LogCommand(a)
	cmd.SetArgs([]string{})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`(?m)^\d\d-\d\d \d\d:\d\d:\d\d +| {2,}`).ReplaceAllString(b.String(), " ")
	want := `TIME CLIENT WHAT OUTCOME
 claude pay@bank.example ok · 2.0 s · you: 114 s
 claude asked about pay@bank.example allowed · 114 s
 claude pay@bank.example begun
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// The record must not say that its owner refused what they were not asked about, nor what they allowed.
func TestTellDecision(t *testing.T) {
	for want, e := range map[string]record.Entry{
		"allowed, by rule r1":                      {Decision: "allow", Rule: "r1", Outcome: "ok"},
		"allowed, by the mode: careful":            {Decision: "allow", Rule: "preset:careful", Outcome: "ok"},
		"refused, by the bounds of its credential": {Decision: "deny", Rule: policy.ByScope.String(), Outcome: "DENIED"},
		"refused":                               {Decision: "deny", Outcome: "DENIED"},
		"allowed by your answer":                {Decision: "ask", Reach: "once", Outcome: "TOOL_ERROR"},
		"refused by your answer":                {Decision: "ask", Reach: "never", Outcome: "DENIED"},
		"refused without an answer of yours":    {Decision: "ask", Question: "Q", Outcome: "DENIED"},
		"refused: your answer was not for this": {Decision: "ask", Reach: "once", Outcome: "DENIED"},
	} {
		if got := tell(&record.Step{Is: record.Decided, Line: &record.Line{Entry: e}}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A client cannot have its arguments taken for ones that are not kept.
func TestGivenIsNotHidden(t *testing.T) {
	for want, p := range map[string]record.Payload{
		"notKept 12, to evil":     {Args: json.RawMessage(`{"notKept":12,"to":"evil"}`)},
		"(70000 bytes, not kept)": {NotKept: record.NotKept{Args: 70000}},
		// What an order came to is often in its result alone.
		"item lamp → total 37.00":     {Args: json.RawMessage(`{"item":"lamp"}`), Result: json.RawMessage(`{"content":[],"structuredContent":{"total":"37.00"}}`)},
		"→ orderNumber 7, cents 3700": {Args: json.RawMessage(`{}`), Result: json.RawMessage(`{"content":[{"type":"text","text":"{\"orderNumber\":7,\"cents\":3700}"}]}`)},
		"→ Thank you":                 {Result: json.RawMessage(`{"content":[{"type":"image"},{"type":"text","text":"Thank you"}]}`)},
		// What an act was given is often a reference that says nothing.
		`clicked button "Order"; not done: wait`: {Args: json.RawMessage(`{"action":"click","ref":"kfa7"}`), Result: json.RawMessage(`{"did":["clicked button \"Order\"","not done: wait"]}`)},
		"":                                       {Args: json.RawMessage(`[]`), Result: json.RawMessage(`{"content":{}}`)},
	} {
		if got := givenWords(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
