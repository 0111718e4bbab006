package recordcli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// entryPrinter prints lines of the record one by one, as they come, each on one line.
type entryPrinter struct {
	*command.App
	lines   terminal.Lines
	names   *command.Names
	headed  bool
	day     string // of the line before, which its time does not say
	printed int
}

func newEntryPrinter(a *command.App) *entryPrinter {
	p := &entryPrinter{App: a, names: &command.Names{App: a}, lines: terminal.Lines{Out: a.Stdout, Screen: a.Screen(), Widths: []int{14, 14, 40}}}
	if columns := p.lines.Screen.Columns; columns > 0 {
		p.lines.Widths = []int{8, max(9, columns*18/100), 0}
	}
	return p
}

// printHeader prints the header, once.
func (p *entryPrinter) printHeader() error {
	if p.headed {
		return nil
	}
	p.headed = true
	soft := func(words string) terminal.Cell { return terminal.Cell{Text: words, Tone: terminal.Soft} }
	return p.lines.Print([]terminal.Cell{soft("TIME"), soft("CLIENT"), soft("WHAT")}, terminal.Cell{}, soft("OUTCOME"))
}

// print prints a line of the record. given is what its call was given, as far as that is known.
func (p *entryPrinter) print(l *record.Line, given record.Payload) error {
	what := lineWords(&l.Entry, l.Note, p.names.Of)
	if !record.KeepsAnswer(l.Class) { // whose answers say more than the line has room for
		given.Result = nil
	}
	return p.printAt(l.Time, p.actor(&l.Entry), what, givenWords(given), lineEnd(l))
}

// actor names the client, or you, whose act a line records.
func (p *entryPrinter) actor(e *record.Entry) string {
	switch e.Event {
	case record.Policy, record.Pairing, record.Lease, record.Pack:
		return "you"
	case record.Self, record.Register, record.Gone:
		return ""
	}
	switch e.Client {
	case "":
		return cmp.Or(e.Name, e.Said)
	case policy.OwnerID: // by a command, or on the dashboard
		return cmp.Or(e.Said, "you")
	}
	return cmp.Or(e.Name, e.Said, p.names.Of(e.Client))
}

// printAt prints a line about something that has happened at a time.
func (p *entryPrinter) printAt(at time.Time, client, what, given string, end terminal.Cell) error {
	if err := p.printHeader(); err != nil {
		return err
	}
	at = at.Local()
	clock := at.Format("01-02 15:04:05")
	if p.OnTerminal() {
		clock = at.Format(time.TimeOnly)
		if day := at.Format("Monday, " + time.DateOnly); day != p.day {
			p.day = day
			p.Hint("%s", day)
		}
	}
	p.printed++
	return p.lines.Print([]terminal.Cell{{Text: clock, Tone: terminal.Soft}, {Text: client, Tone: terminal.Strong}, {Text: what}}, terminal.Cell{Text: given, Tone: terminal.Soft}, end)
}

// lineWords says what a line is about.
func lineWords(e *record.Entry, note *record.Note, name func(string) string) string {
	what := ofPack(command.ToolAt(e.Tool, e.Domain), e.Pack)
	switch e.Event {
	case record.Call, record.Proxy, record.Begun, record.Task, record.Repeated:
		what = through(what, e.Via)
	case record.Relay:
		what += " (relay)"
	case record.Refused:
	case record.Ask:
		return "asked about " + cmp.Or(what, "a sign-in")
	case record.Policy:
		return policyWords(e, name)
	case record.Client:
		return "credential"
	case record.Pairing:
		_, browser, _ := strings.Cut(e.Reason, " ")
		return "browser " + browser
	case record.Lease:
		return "lease: " + e.Reason
	case record.Pack:
		return "pack " + e.Pack
	case record.Self:
		return "the record: " + noteWords(note)
	default:
		what = strings.TrimSpace(string(e.Event) + " " + cmp.Or(e.Tool, e.Reason))
		if e.Domain != "" {
			what += " at " + string(e.Domain)
		}
	}
	return what
}

// policyWords says what has changed in the policy.
func policyWords(e *record.Entry, name func(string) string) string {
	switch e.Outcome {
	case "made", "removed":
		r := policy.Rule{Site: string(e.Domain), Tool: e.Tool, Pack: e.Pack, Class: e.Class}
		if len(e.Flows) > 0 {
			r.From, _, _ = strings.Cut(e.Flows[0], " → ")
		}
		client := name(e.Client)
		if e.Session != "" {
			client += " in one session"
		}
		return fmt.Sprintf("rule for %s: %s %s", client, e.Decision, command.RuleSubject(&r))
	case "mode":
		return "mode: " + e.Reason
	case "private":
		return "private: " + cmp.Or(e.Reason, "no site")
	}
	what := "all clients"
	if e.Client != "" {
		what = name(e.Client)
	}
	if e.Domain != "" {
		what += " at " + string(e.Domain)
	}
	return what
}

// lineEnd says how what a line is about has ended.
func lineEnd(l *record.Line) terminal.Cell {
	e := &l.Entry
	words := e.Outcome
	tone := command.Tones[words]
	switch {
	case e.Event == record.Self:
		words = ""
	case e.Event == record.Ask:
		words = map[string]string{"ok": "allowed", "allow": "allowed", "deny": "declined"}[words]
		words = cmp.Or(words, e.Outcome)
		tone = command.Tones[words]
	case e.Event == record.Refused:
		words, tone = "refused", terminal.Bad
	case e.Event == record.Client, e.Event == record.Policy && (words == "mode" || words == "private"):
		words = "set"
		tone = terminal.Plain
		if e.Event == record.Client {
			words = e.Reason
		}
	case words != "" && strings.ToUpper(words) == words: // a failure's code
		tone = terminal.Bad
	}
	switch {
	case e.Event == record.Ask:
		words += " · " + took(e.Asked)
	case e.Event != record.Register && (e.Outcome == "ok" || e.Sent > 0) && e.Took() >= time.Millisecond:
		words += " · " + took(e.Took())
	}
	if e.Event != record.Ask && e.Asked >= time.Second {
		words += " · you: " + took(e.Asked)
	}
	if l.Late != "" {
		words += ", late"
	}
	return terminal.Cell{Text: words, Tone: tone, State: true}
}

// noteWords says what the log says of itself.
func noteWords(n *record.Note) string {
	switch {
	case n == nil:
		return ""
	case n.Missing > 0:
		return fmt.Sprintf("%d lines before this one are gone", n.Missing)
	case n.Lost != nil:
		return fmt.Sprintf("%d entries were lost: %s", n.Lost.Count, n.Why)
	case n.Torn > 0:
		return "the last line was unfinished"
	case n.Unsynced > 0:
		return fmt.Sprintf("lines from %d on may be gone: %s", n.Unsynced, n.Why)
	case n.Late != "":
		return "late lines of " + n.Late
	case n.Retired != nil:
		return fmt.Sprintf("up to line %d all was removed", n.Retired.N)
	}
	return "begins"
}

// took is a time that something has taken, as short as it can be read.
func took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// givenWords says in a few words what a call was given and, as far as that is kept, what came of it.
func givenWords(p record.Payload) string {
	if did := didIn(p.Result); len(did) > 0 {
		return strings.Join(did, "; ")
	}
	words := members(p.Args)
	if n := p.NotKept.Args; n > 0 {
		words = fmt.Sprintf("(%d bytes, not kept)", n)
	}
	if answer := answerIn(p.Result); answer != "" {
		words = strings.TrimSpace(words + " → " + answer)
	}
	return words
}

// didIn returns what an act has done, a step each, if the record has that of a call.
func didIn(result json.RawMessage) (all []string) {
	if len(result) == 0 || result[0] != '{' {
		return nil
	}
	for step := range rawjson.Elements(rawjson.Get(result, "did")) {
		if words, ok := rawjson.String(step); ok {
			all = append(all, words)
		}
	}
	return all
}

// answerIn says in a few words what a result says: its structured content, or its text.
func answerIn(result json.RawMessage) string {
	if len(result) == 0 || result[0] != '{' {
		return ""
	}
	if words := members(rawjson.Get(result, "structuredContent")); words != "" {
		return words
	}
	for block := range rawjson.Elements(rawjson.Get(result, "content")) {
		text, ok := rawjson.String(rawjson.Get(block, "text"))
		if !ok {
			continue
		}
		if rawjson.Valid([]byte(text), spec.MaxDepth) == nil {
			return cmp.Or(members([]byte(text)), text)
		}
		return text
	}
	return ""
}

// members says in a few words what an object has.
func members(object json.RawMessage) string {
	if len(object) == 0 || object[0] != '{' {
		return ""
	}
	var all []string
	for name, value := range rawjson.Members(object) {
		text, isText := rawjson.String(value)
		if !isText {
			text = string(value)
		}
		all = append(all, strings.TrimSpace(name+" "+text))
	}
	return strings.Join(all, ", ")
}

// through names a tool, and that of the hub by which it was called, if it was.
// ofPack adds to the name of a tool which pack gives it.
func ofPack(tool, pack string) string {
	if pack == "" {
		return tool
	}
	return tool + " (pack " + pack + ")"
}

func through(tool, via string) string {
	if via != "" {
		tool += " (" + via + ")"
	}
	return tool
}
