package record_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage/jetstream/natstest"
	"tabhub/storage/jetstream/streamlog"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	runSuite(t, func(t *testing.T) place {
		dir := t.TempDir() + "/record"
		return func(o record.Options) *record.Recorder { return record.Open(dir, o) }
	})
}

func TestStream(t *testing.T) {
	t.Parallel()
	logs := logsOf(t, natstest.Shared(t).Conn(t), 1)
	n := 0
	runSuite(t, func(t *testing.T) place {
		n++
		return newPlace(logs, spec.UserID(fmt.Sprint("user", n)))
	})
}

func logsOf(t testing.TB, nc *nats.Conn, replicas int) *streamlog.Logs {
	t.Helper()
	logs, err := streamlog.Open(t.Context(), nc, streamlog.Options{
		Stream: "TABHUB_RECORDS", Subject: "tabhub.record", Replicas: replicas, PieceSize: minPiece,
	})
	if err != nil {
		t.Fatal(err)
	}
	return logs
}

// newPlace returns a user's record, of which each opening has a greater epoch.
func newPlace(logs *streamlog.Logs, user spec.UserID) place {
	var epoch spec.Epoch
	return func(o record.Options) *record.Recorder {
		epoch++
		mine := epoch
		return record.OpenStream(logs.User(user, func(context.Context) (spec.Epoch, error) { return mine, nil }), o)
	}
}

// place is where a record is. Each call opens it again, as the next hub does.
type place func(record.Options) *record.Recorder

// minPiece is the size of the pieces of a place, if little is kept.
const minPiece = 64 << 10

// runSuite checks a kind of places. newPlace returns an empty one.
func runSuite(t *testing.T, newPlace func(*testing.T) place) {
	for name, test := range map[string]func(*testing.T, place){
		"read": testRead, "nothing": testNothing, "many at once": testManyAtOnce,
		"retention": testRetention, "payloads": testPayloads, "many lines": testManyLines, "sites": testSites, "arguments": testArguments,
	} {
		t.Run(name, func(t *testing.T) { test(t, newPlace(t)) })
	}
}

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// entry returns the entry of a call of a tool.
func entry(tool string) record.Entry {
	return record.Entry{Time: now, Event: record.Call, Tool: tool, Outcome: "ok"}
}

// calls returns the tools that were called, oldest first.
func calls(t testing.TB, r *record.Recorder) []string {
	t.Helper()
	lines, err := r.Read(t.Context(), record.Query{Event: record.Call})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range lines {
		names = append(names, l.Tool)
	}
	return names
}

// verify checks the chain of a record, and fails if something is wrong with it.
func verify(t testing.TB, r *record.Recorder, known ...record.Head) *record.Report {
	t.Helper()
	var all []byte
	if err := r.Raw(t.Context(), func(raw []byte) error {
		all = append(append(all, raw...), '\n')
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	report, err := record.VerifyLines(strings.NewReader(string(all)), known...)
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	return report
}

// notesOf returns what the log says of itself, without what each opening says.
func notesOf(t testing.TB, r *record.Recorder) []record.Note {
	t.Helper()
	lines, err := r.Read(t.Context(), record.Query{Event: record.Self})
	if err != nil {
		t.Fatal(err)
	}
	var found []record.Note
	for _, l := range lines {
		if *l.Note != (record.Note{User: options.User}) {
			found = append(found, *l.Note)
		}
	}
	return found
}

// What was done must be found again: by everything that one may look for, while the hub
// runs, after it has ended, and after the next one has begun.
func testRead(t *testing.T, place place) {
	f := place(options)
	defer f.Close()
	all := []record.Entry{
		{Time: now, Event: record.Register, Domain: "shop.example", Outcome: "ok"},
		{Time: now.Add(time.Second), Event: record.Call, Call: "c1", Client: "id1", Name: "Claude", Said: "claude-ai", Domain: "shop.example", Origin: "https://shop.example:8443",
			Tool: "buy", Pack: "shop-tools", Decision: "ask", Flows: []string{"mail.example → shop.example, note"}, Outcome: "ok", Args: json.RawMessage(`{"n":1}`), Duration: time.Second},
		{Time: now.Add(2 * time.Second), Event: record.Ask, Call: "c1", By: "window", Reach: "once", Asked: time.Second, Outcome: "ok"},
		{Time: now.Add(3 * time.Second), Event: record.Call, Call: "c2", Said: "other", Tool: "look <& \u2028", Decision: "allow", Outcome: "TAB_CLOSED"},
	}
	for _, e := range all {
		f.Append(e)
	}
	check := func() {
		t.Helper()
		for _, c := range []struct {
			q    record.Query
			want []uint64
		}{
			{record.Query{}, []uint64{1, 2, 3, 4, 5}},
			{record.Query{Limit: 2}, []uint64{4, 5}},
			{record.Query{After: 3}, []uint64{4, 5}},
			{record.Query{Event: record.Call}, []uint64{3, 5}},
			{record.Query{Event: record.Call, Limit: 1}, []uint64{5}},
			{record.Query{Event: record.Call + "," + record.Ask}, []uint64{3, 4, 5}},
			{record.Query{Call: "c1"}, []uint64{3, 4}},
			{record.Query{Client: "id1"}, []uint64{3}}, {record.Query{Client: "Claude"}, []uint64{3}}, {record.Query{Client: "other"}, []uint64{5}},
			{record.Query{Site: "shop.example"}, []uint64{2, 3}}, {record.Query{Site: "shop.example:8443"}, []uint64{3}},
			{record.Query{Tool: "look <& \u2028"}, []uint64{5}},
			{record.Query{Pack: "shop-tools"}, []uint64{3}}, {record.Query{Pack: "shop"}, nil}, {record.Query{Text: "shop-tools"}, []uint64{3}},
			{record.Query{Decision: "ask"}, []uint64{3}},
			{record.Query{Event: record.Call, Since: now.Add(2 * time.Second)}, []uint64{5}},
			{record.Query{Event: record.Call, Until: now.Add(3 * time.Second)}, []uint64{3}},
			{record.Query{Tool: "nothing"}, nil},
			{record.Query{Event: record.Call, Outcome: "ok"}, []uint64{3}}, {record.Query{Event: record.Call, Outcome: record.Failed}, []uint64{5}}, {record.Query{Outcome: "TAB_CLOSED"}, []uint64{5}},
			{record.Query{Text: "CLAUDE note"}, []uint64{3}}, {record.Query{Text: "claude nothing"}, nil},
			{record.Query{Text: "LOOK <&"}, []uint64{5}}, {record.Query{Text: "→ SHOP"}, []uint64{3}}, {record.Query{Text: "u003c"}, nil},
			{record.Query{Before: 4}, []uint64{1, 2, 3}}, {record.Query{Before: 4, Limit: 1}, []uint64{3}}, {record.Query{Before: 1}, nil},
		} {
			lines, err := f.Read(t.Context(), c.q)
			var got []uint64
			for _, l := range lines {
				got = append(got, l.N)
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%+v: lines %d, want %d; %v", c.q, got, c.want, err)
			}
			if c.q.Limit > 0 {
				continue
			}
			got = nil
			if err := f.Each(t.Context(), c.q, func(l *record.Line) error { got = append(got, l.N); return nil }); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("each of %+v: lines %d, want %d; %v", c.q, got, c.want, err)
			}
		}
	}
	check()
	lines, err := f.Read(t.Context(), record.Query{Call: "c1", Event: record.Call})
	if err != nil {
		t.Fatal(err)
	}
	digest := lines[0].Digest
	got, expected := lines[0].Entry, all[1]
	got.Digest, expected.Args = "", nil
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", expected) {
		t.Errorf("got  %+v\nwant %+v", got, expected)
	}
	if len(digest) != 32 || strings.HasPrefix(digest, "5a3edcd7") {
		t.Errorf("the digest is %q", digest)
	}
	f.Close()
	check()
	f = place(options)
	f.Append(all[1])
	lines, err = f.Read(t.Context(), record.Query{Event: record.Call, Limit: 1})
	if err != nil || len(lines) != 1 || lines[0].N != 7 || lines[0].Digest != digest {
		t.Errorf("after a restart: %+v, %v; want the digest %s", lines, err, digest)
	}
	f.Close()
	verify(t, f)
	if notes := notesOf(t, f); len(notes) > 0 {
		t.Errorf("%+v", notes)
	}
}

// A hub that is started and does nothing, as many are, leaves no trace.
func testNothing(t *testing.T, place place) {
	f := place(options)
	f.Close()
	f.Close()
	f.Append(entry("late"))
	if s := f.Status(); s.Lost != 1 || s.Error != "" {
		t.Errorf("%+v", s)
	}
	if lines, err := f.Read(t.Context(), record.Query{}); err != nil || len(lines) > 0 {
		t.Errorf("%+v, %v", lines, err)
	}
}

// Of many that open at once, none forks the chain, and the record goes on. One that another supersedes may
// have written a part of its lines: the others are counted as lost.
func testManyAtOnce(t *testing.T, place place) {
	var wg sync.WaitGroup
	var lost atomic.Int64
	for i := range 8 {
		f := place(options)
		wg.Go(func() {
			for range 20 {
				f.Append(entry(fmt.Sprint(i)))
			}
			f.Close()
			lost.Add(int64(f.Status().Lost))
		})
	}
	wg.Wait()
	f := place(options)
	f.Append(entry("last"))
	f.Close()
	names := calls(t, f)
	if n := len(names); names[n-1] != "last" || n-1+int(lost.Load()) != 8*20 || n == 1 {
		t.Errorf("%d are lost, and the record has %q", lost.Load(), names)
	}
	verify(t, f)
}

// The record must take no more room than it may, nor keep for years what is to be kept for days;
// and what it removes is not taken for lost.
func testRetention(t *testing.T, place place) {
	o := options
	o.Max, o.Payloads = 8*minPiece, true
	f := place(o)
	e := entry("")
	e.URL = "https://e.com/" + strings.Repeat("x", 1000)
	e.Args = json.RawMessage(`{}`)
	for i := range 2000 {
		e.Tool = fmt.Sprint(i)
		f.Append(e)
		if i%10 == 0 {
			if _, err := f.Read(t.Context(), record.Query{Limit: 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	f.Close()
	names := calls(t, f)
	if names[len(names)-1] != "1999" || len(names) < 300 || len(names) > 600 {
		t.Errorf("%d entries are kept, up to %s", len(names), names[len(names)-1])
	}
	if r := verify(t, f); r.Retired.N == 0 || r.First.N != r.Retired.N+1 {
		t.Errorf("%+v", r)
	}
	o.Keep = 1
	f = place(o)
	f.Append(entry("new"))
	f.Close()
	if left := calls(t, f); len(left) > 100 || left[len(left)-1] != "new" {
		t.Errorf("of those that are too old %d are kept, up to %s", len(left), left[len(left)-1])
	}
	verify(t, f)
}

// What was said in a call is found by its line, and by no other.
func testPayloads(t *testing.T, place place) {
	o := options
	o.Payloads = true
	f := place(o)
	defer f.Close()
	large := json.RawMessage(`"` + strings.Repeat("x", 60<<10) + `"`)
	for i := range 40 {
		e := entry(fmt.Sprint(i))
		e.Args, e.Result = fmt.Appendf(nil, `{"i":%d,"password":"secret"}`, i), large
		f.Append(e)
		f.Append(entry("other"))
		if _, err := f.Read(t.Context(), record.Query{Limit: 1}); err != nil { // or secrets are looked for in many at once
			t.Fatal(err)
		}
	}
	for _, tool := range []string{"0", "17", "39"} {
		lines, err := f.Read(t.Context(), record.Query{Tool: tool})
		if err != nil || len(lines) != 1 {
			t.Fatalf("%+v, %v", lines, err)
		}
		found, err := f.Payloads(t.Context(), lines)
		if err != nil || len(found) != 1 {
			t.Fatalf("tool %s: %d payloads, %v", tool, len(found), err)
		}
		if want := `{"i":` + tool + `,"password":"[cut]"}`; string(found[0].Args) != want || !slices.Equal(found[0].Result, large) {
			t.Errorf("tool %s: %s and %d bytes", tool, found[0].Args, len(found[0].Result))
		}
	}
	lines, err := f.Read(t.Context(), record.Query{Tool: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := f.Payloads(t.Context(), lines); err != nil || len(found) > 0 {
		t.Errorf("of others: %d, %v", len(found), err)
	}
}

// What calls that act were given is kept for a while, and nothing else of what was said; the lines stay.
func testArguments(t *testing.T, place place) {
	o := options
	o.Max, o.Arguments = 64*minPiece, record.DefaultArguments
	f := place(o)
	kept := func(f *record.Recorder) (all []string) {
		t.Helper()
		lines, err := f.Read(t.Context(), record.Query{Event: record.Call})
		if err != nil {
			t.Fatal(err)
		}
		found, err := f.Payloads(t.Context(), lines)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			all = append(all, string(p.Args)+string(p.Result))
		}
		return all
	}
	e := entry("order")
	e.URL, e.Args, e.Result = "https://e.com/"+strings.Repeat("x", 1000), json.RawMessage(`{"eur":5,"pin":"1234"}`), json.RawMessage(`{"total":"5.00"}`)
	for _, class := range []string{"read", "", "write", "act", "destructive", "relay"} {
		e.Class = class
		f.Append(e)
	}
	want := `{"eur":5,"pin":"[cut]"}`
	if got := kept(f); !slices.Equal(got, []string{want, want + `{"total":"5.00"}`, want + `{"total":"5.00"}`, want}) {
		t.Errorf("kept %q", got)
	}
	large := e
	large.Class, large.Tool, large.Result = "destructive", "large", json.RawMessage(`"`+strings.Repeat("x", record.MaxAnswer)+`"`)
	f.Append(large)
	lines, err := f.Read(t.Context(), record.Query{Tool: "large"})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := f.Payloads(t.Context(), lines); err != nil || len(found) != 1 || found[0].Result != nil || found[0].NotKept.Result != len(large.Result) {
		t.Errorf("a large result: %+v, %v", found, err)
	}
	for i := range 500 {
		f.Append(e)
		if i%10 == 0 {
			if _, err := f.Read(t.Context(), record.Query{Limit: 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	f.Close()
	o.Arguments = 0
	f = place(o) // writes nothing
	f.Close()
	if got := kept(f); len(got) > 0 {
		t.Errorf("of an idle hub that is to keep none, arguments of %d calls are kept", len(got))
	}
	f = place(o)
	e.Tool = "new"
	f.Append(e)
	f.Close()
	if left := calls(t, f); len(left) != 508 || left[507] != "new" {
		t.Errorf("%d lines are left", len(left))
	}
	if got := kept(f); len(got) > 0 {
		t.Errorf("arguments of %d calls are kept", len(got))
	}
	verify(t, f)
}

// A record of many pieces is read from its end and from its begin.
func testManyLines(t *testing.T, place place) {
	f := place(options)
	defer f.Close()
	const count = 5000
	for i := range count {
		f.Append(entry(fmt.Sprint(i)))
		if i%1000 == 0 {
			if _, err := f.Read(t.Context(), record.Query{Limit: 1}); err != nil { // or too much waits
				t.Fatal(err)
			}
		}
	}
	lines, err := f.Read(t.Context(), record.Query{Event: record.Call, Limit: 3})
	if err != nil || len(lines) != 3 || lines[2].Tool != fmt.Sprint(count-1) {
		t.Errorf("the last ones: %+v, %v", lines, err)
	}
	if lines, err = f.Read(t.Context(), record.Query{Tool: "0"}); err != nil || len(lines) != 1 {
		t.Errorf("the first one: %+v, %v", lines, err)
	}
	if lines, err = f.Read(t.Context(), record.Query{Event: record.Call, Before: 102, Limit: 1}); err != nil || len(lines) != 1 || lines[0].N != 101 {
		t.Errorf("in the middle: %+v, %v", lines, err)
	}
	if names := calls(t, f); len(names) != count {
		t.Errorf("%d lines", len(names))
	}
	verify(t, f)
}

// The owner finds a site that was used, also if no tab of it is open any more.
func testSites(t *testing.T, place place) {
	r := place(options)
	used := func(domain spec.Domain, after time.Duration, said string) {
		e := entry("x")
		e.Domain, e.Time, e.Said = domain, now.Add(after), said
		r.Append(e)
	}
	sites := func() (all []string) {
		t.Helper()
		found, err := r.Sites(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range found {
			all = append(all, fmt.Sprintf("%s %s %d", s.Domain, s.Last.Sub(now), s.Calls))
		}
		return all
	}
	check := func(want ...string) {
		t.Helper()
		if got := sites(); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	check()
	used("bank.example", time.Hour, "")
	used("shop.example", 3*time.Hour, "")
	used("bank.example", 2*time.Hour, `","domain":"evil.example","event":"call`)
	r.Append(record.Entry{Time: now, Event: record.Register, Domain: "seen.example", Outcome: "ok"})
	check("shop.example 3h0m0s 1", "bank.example 2h0m0s 2")
	used("bank.example", 4*time.Hour, "")
	check("bank.example 4h0m0s 3", "shop.example 3h0m0s 1")
	check("bank.example 4h0m0s 3", "shop.example 3h0m0s 1") // nothing is counted twice
	r.Close()
	r = place(options)
	defer r.Close()
	check("bank.example 4h0m0s 3", "shop.example 3h0m0s 1")
}
