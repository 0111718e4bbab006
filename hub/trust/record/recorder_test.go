package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// entry returns the entry of a call of a tool.
func entry(tool string) Entry {
	return Entry{Time: now, Event: Call, Tool: tool, Outcome: "ok"}
}

// long is an entry that takes about a KiB.
func long(tool string) Entry {
	e := entry(tool)
	e.URL = "https://e.com/" + strings.Repeat("x", 1000)
	return e
}

// fill writes entries of these tools, as a hub that starts and ends.
func fill(t testing.TB, dir string, tools ...string) {
	t.Helper()
	f := open(dir, Options{User: "ann"}, new(disk).create)
	for _, tool := range tools {
		f.Append(entry(tool))
	}
	f.Close()
	if s := f.Status(); s != (Status{}) {
		t.Fatalf("%+v", s)
	}
}

// tools returns what was called.
func tools(t testing.TB, dir string) []string {
	t.Helper()
	lines, err := Read(t.Context(), dir, Query{Event: Call})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range lines {
		names = append(names, l.Tool)
	}
	return names
}

func want(t testing.TB, dir string, names ...string) {
	t.Helper()
	if got := tools(t, dir); !slices.Equal(got, names) {
		t.Errorf("%s: the record has %q, want %q", dir, got, names)
	}
}

// notes returns what the log says of itself, without the first lines of epochs that say
// nothing else.
func notes(t testing.TB, dir string) []Note {
	t.Helper()
	lines, err := Read(t.Context(), dir, Query{Event: Self})
	if err != nil {
		t.Fatal(err)
	}
	var found []Note
	for _, l := range lines {
		if *l.Note != (Note{User: "ann"}) {
			found = append(found, *l.Note)
		}
	}
	return found
}

// intact fails if Verify finds something wrong.
func intact(t testing.TB, dir string) {
	t.Helper()
	if r, err := Verify(dir); err != nil || len(r.Problems) > 0 {
		t.Errorf("%s: %+v, %v", dir, r, err)
	}
}

// A search ends when its client has gone: else a few clients would keep a hub busy.
func TestReadEnds(t *testing.T) {
	dir := t.TempDir() + "/record"
	f := Open(dir, Options{User: "ann", Payloads: true})
	defer f.Close()
	e := entry("pay")
	e.Args = json.RawMessage(`{}`)
	f.Append(e)
	lines, err := f.Read(t.Context(), Query{Tool: "pay"})
	if err != nil || len(lines) != 1 {
		t.Fatalf("%+v, %v", lines, err)
	}
	ended, end := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	end(gone)
	check := func() {
		t.Helper()
		_, read := f.Read(ended, Query{})
		_, payloads := f.Payloads(ended, lines)
		each := f.Each(ended, Query{Tool: "nothing"}, nil)
		if read != gone || payloads != gone || each != gone {
			t.Errorf("%v, %v, %v", read, payloads, each)
		}
	}
	check()
	for range maxReaders { // others
		f.readers <- struct{}{}
	}
	check()
}

// What a record says is the owner's alone.
func TestFilesArePrivate(t *testing.T) {
	dir := t.TempDir() + "/record"
	fill(t, dir, "a")
	for _, path := range []string{dir, filepath.Join(dir, "key"), segment{dir, 1, 1}.linesFile(), headFile(dir), filepath.Dir(headFile(dir))} {
		fi, err := os.Stat(path)
		if err != nil || fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v; it is the owner's alone", path, fi.Mode(), err)
		}
	}
}

// copyTo copies a record to a new directory.
func copyTo(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "record")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	head, err := ReadHead(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeHead(to, head); err != nil {
		t.Fatal(err)
	}
	return to
}

// A record that was deleted is no new one, and an old copy in its place is not all of it: neither
// now, nor once a hub has gone on.
func TestDeletedRecord(t *testing.T) {
	for name, damage := range map[string]func(all, backup string) error{
		"deleted": func(all, _ string) error { return os.RemoveAll(all) },
		"emptied": func(all, _ string) error { return errors.Join(os.RemoveAll(all), os.MkdirAll(all+"/ann", 0o700)) },
		"replaced by an old one": func(all, backup string) error {
			return errors.Join(os.RemoveAll(all), os.CopyFS(all, os.DirFS(backup)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			all, backup := base+"/record", base+"/backup"
			dir := all + "/ann"
			if r, err := Verify(dir); err != nil || len(r.Problems) != 0 {
				t.Fatalf("a new one: %+v, %v", r, err)
			}
			fill(t, dir, "a", "b")
			if err := os.CopyFS(backup, os.DirFS(all)); err != nil {
				t.Fatal(err)
			}
			fill(t, dir, "c")
			intact(t, dir)
			if err := damage(all, backup); err != nil {
				t.Fatal(err)
			}
			for _, when := range []string{"at once", "after another start"} {
				if r, err := Verify(dir); err != nil || len(r.Problems) == 0 || !strings.Contains(r.Problems[0].What, "gone") {
					t.Errorf("%s: %+v, %v", when, r, err)
				}
				fill(t, dir, "d")
			}
		})
	}
}

// A record is whole from its first line on, though the head follows a second later. One whose head
// was deleted is not, also then.
func TestVerifyInTheFirstSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir() + "/record"
		f := Open(dir, Options{User: "ann"})
		defer f.Close()
		f.Append(entry("a"))
		synctest.Wait()
		want(t, dir, "a")
		intact(t, dir)
		if err := os.Remove(headFile(dir)); err != nil {
			t.Fatal(err)
		}
		for range 2 { // another opening of the record makes no head for lines that are there
			r, err := Verify(dir)
			if err != nil || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].What, "not known how far") {
				t.Errorf("without its head: %+v, %v", r, err)
			}
			next := Open(dir, Options{User: "ann"})
			defer next.Close()
			next.Append(entry("b"))
			synctest.Wait()
		}
	})
}

// A record may begin while it is checked.
func TestVerifyWhileTheRecordBegins(t *testing.T) {
	t.Parallel()
	for range 50 {
		dir := t.TempDir() + "/record"
		f := Open(dir, Options{User: "ann"})
		f.Append(entry("a"))
		for r := new(Report); r.Last.N == 0; {
			var err error
			if r, err = Verify(dir); err != nil || len(r.Problems) > 0 {
				t.Fatalf("%+v, %v", r, err)
			}
		}
		f.Close()
	}
}

// A process may be killed, and a machine lose its power, at any byte. What was written
// before is there, nothing is by half, and the record goes on.
func TestCrashAtEachByte(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/record"
	fill(t, dir, "a", "b")
	early, err := os.ReadFile(headFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	fill(t, dir, "c", "d")
	last := segment{dir, 2, 1}
	whole, err := os.ReadFile(last.linesFile())
	if err != nil {
		t.Fatal(err)
	}
	first := len(whole) - len("{}\n") // of the bytes at which the last two lines are cut
	for range 2 {
		first = bytes.LastIndexByte(whole[:first], '\n')
	}
	for n := first; n <= len(whole); n++ {
		at := copyTo(t, dir)
		for _, err := range []error{os.Truncate(segment{at, 2, 1}.linesFile(), int64(n)), os.WriteFile(headFile(at), early, 0o600)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		kept := []string{"a", "b", "c", "d"}[:2+max(0, bytes.Count(whole[:n], []byte("\n"))-1)]
		want(t, at, kept...)
		intact(t, at)
		fill(t, at, "e")
		want(t, at, append(kept, "e")...)
		intact(t, at)
		torn := n - (bytes.LastIndexByte(whole[:n], '\n') + 1)
		if notes := notes(t, at); torn == 0 && len(notes) > 0 || torn > 0 && (len(notes) != 1 || notes[0].Torn != torn) {
			t.Errorf("%d bytes were written, %d of them of the last line: %+v", n, torn, notes)
		}
	}
}

// What the head has and the files have not was cut off, and it shows even when the record
// has gone on since.
func TestCutTailShows(t *testing.T) {
	dir := t.TempDir() + "/record"
	fill(t, dir, "a", "b", "c")
	path := segment{dir, 1, 1}.linesFile()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	if err := os.WriteFile(path, bytes.Join(lines[:2], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := Verify(dir)
		if err != nil || len(r.Problems) != 1 || r.Problems[0].N != 3 || !strings.Contains(r.Problems[0].What, "lines 3 to 4") {
			t.Fatalf("%+v, %v", r, err)
		}
		fill(t, dir, "d")
	}
}

// edit applies change to the lines of a record's only segment.
func edit(t *testing.T, dir string, change func(lines []string) []string) {
	t.Helper()
	path := segment{dir, 1, 1}.linesFile()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = []byte(strings.Join(change(slices.Collect(strings.Lines(string(b)))), ""))
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A record that was tampered with is not to be believed, and the first line that is wrong
// says where.
func TestVerifyFindsChanges(t *testing.T) {
	dir := t.TempDir() + "/record"
	fill(t, dir, "a", "b", "c", "d", "e") // lines 2 to 6
	noted, err := Verify(dir)
	if err != nil {
		t.Fatal(err)
	}
	if noted.First.N != 1 || noted.Last.N != 6 || noted.Attested != noted.Last {
		t.Fatalf("%+v", noted)
	}
	for name, c := range map[string]struct {
		change func([]string) []string
		n      uint64
		what   string
	}{
		"changed":         {func(l []string) []string { l[2] = strings.Replace(l[2], `"b"`, `"x"`, 1); return l }, 3, "changed"},
		"first changed":   {func(l []string) []string { l[0] = strings.Replace(l[0], `ann`, `bob`, 1); return l }, 1, "changed"},
		"last changed":    {func(l []string) []string { l[5] = strings.Replace(l[5], `"e"`, `"x"`, 1); return l }, 6, "the head has"},
		"link changed":    {func(l []string) []string { l[2] = strings.Replace(l[2], `"prev":"`, `"prev":"00`, 1); return l }, 3, "no line"},
		"other link":      {func(l []string) []string { l[2] = strings.Replace(l[2], l[2][15:25], "0123456789", 1); return l }, 3, "changed"},
		"no JSON":         {func(l []string) []string { l[2] = "hello\n"; return l }, 3, "no line"},
		"space":           {func(l []string) []string { l[2] = strings.Replace(l[2], ":", ": ", 1); return l }, 3, "changed"},
		"deleted":         {func(l []string) []string { return slices.Delete(l, 2, 4) }, 3, "lines 3 to 4 are gone"},
		"first deleted":   {func(l []string) []string { return l[2:] }, 1, "lines 1 to 2 are gone"},
		"tail deleted":    {func(l []string) []string { return l[:4] }, 5, "lines 5 to 6 are gone"},
		"all deleted":     {func(l []string) []string { return nil }, 1, "lines 1 to 6 are gone"},
		"twice":           {func(l []string) []string { return slices.Insert(l, 3, l[2]) }, 3, "two of each"},
		"inserted":        {func(l []string) []string { return slices.Insert(l, 3, strings.Replace(l[3], `"c"`, `"x"`, 1)) }, 4, "two of each"},
		"of another file": {func(l []string) []string { return slices.Insert(l, 3, l[5]) }, 4, "gone"},
		"swapped":         {func(l []string) []string { l[2], l[3] = l[3], l[2]; return l }, 3, "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyTo(t, dir)
			edit(t, dir, c.change)
			r, err := Verify(dir)
			if err != nil || len(r.Problems) == 0 || r.Problems[0].N != c.n || !strings.Contains(r.Problems[0].What, c.what) {
				t.Errorf("%+v, %v; want line %d, %s", r, err, c.n, c.what)
			}
		})
	}
	t.Run("without a head", func(t *testing.T) {
		dir := copyTo(t, dir)
		if err := os.Remove(headFile(dir)); err != nil {
			t.Fatal(err)
		}
		if r, err := Verify(dir); err != nil || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].What, "how far") {
			t.Errorf("%+v, %v", r, err)
		}
	})
	// Only a noted head shows that all lines and the head were written anew.
	t.Run("all written anew", func(t *testing.T) {
		dir := t.TempDir() + "/record"
		fill(t, dir, "a", "b", "c", "x", "e", "f")
		intact(t, dir)
		r, err := Verify(dir, noted.Last)
		if err != nil || len(r.Problems) != 1 || r.Problems[0].N != 6 || !strings.Contains(r.Problems[0].What, "you noted") {
			t.Errorf("%+v, %v", r, err)
		}
		if r, err = Verify(dir, r.Last); err != nil || len(r.Problems) > 0 {
			t.Errorf("with its own head: %+v, %v", r, err)
		}
	})
}

// Reading and checking must not fail because of damaged files.
func FuzzVerify(f *testing.F) {
	f.Add([]byte(`{"n":1}` + "\n"))
	f.Add([]byte(`{"n":18446744073709551615,"note":{"missing":5,"retired":{"n":3}}}` + "\n" + `{"n":2}` + "\n\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(segment{dir, 1, 1}.linesFile(), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(dir); err != nil {
			t.Error(err)
		}
		if _, err := Read(t.Context(), dir, Query{Limit: 1}); err != nil {
			t.Error(err)
		}
		log := Open(dir, Options{})
		log.Append(entry("x"))
		if lines, err := log.Read(t.Context(), Query{Tool: "x", Limit: 1}); err != nil || len(lines) != 1 {
			t.Errorf("%+v, %v, %+v", lines, err, log.Status())
		}
		log.Close()
	})
}

// disk is where the files of a test are, which may fail.
type disk struct {
	mu    sync.Mutex
	full  bool // writes put down a half, and fail
	dying bool // syncs fail
}

func (d *disk) set(full, dying bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full, d.dying = full, dying
}

func (d *disk) create(path string) (file, error) {
	f, err := create(path)
	return &diskFile{f, d}, err
}

type diskFile struct {
	file
	disk *disk
}

func (f *diskFile) Write(b []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.full {
		n, err := f.file.Write(b[:len(b)/2])
		return n, errors.Join(err, syscall.ENOSPC)
	}
	return f.file.Write(b)
}

func (f *diskFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.dying {
		return syscall.EIO
	}
	return nil // it is not awaited: no test loses its power
}

// A Recorder to which nothing is appended does nothing, for hours.
func TestRecorderRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d disk
		f := open(t.TempDir()+"/record", Options{User: "ann"}, d.create)
		defer f.Close()
		if _, err := f.Read(t.Context(), Query{}); err != nil {
			t.Error(err)
		}
		time.Sleep(5 * retireDelay) // time stands still while anybody is at work
	})
}

// A disk that is full stops the record, not the calls. It says so, goes on when there is
// room, and then says what is missing; what the owner has decided is missing last.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir() + "/record"
		var d disk
		f := open(dir, Options{User: "ann"}, d.create)
		defer f.Close()
		f.Append(entry("before"))
		synctest.Wait()
		d.set(true, false)
		f.Append(entry("while"))
		time.Sleep(fileGather)
		synctest.Wait()
		if s := f.Status(); !strings.Contains(s.Error, "no space left") || s.Lost != 0 {
			t.Errorf("%+v", s)
		}
		for range 20_000 {
			f.Append(long("many"))
		}
		lost := f.Status().Lost
		if lost < 5_000 || lost > 18_000 {
			t.Errorf("%d entries are lost", lost)
		}
		f.Append(Entry{Time: now, Event: Policy, Outcome: "ok"})
		if s := f.Status(); s.Lost != lost {
			t.Errorf("a decision is lost: %+v", s)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		d.set(false, false)
		time.Sleep(retryDelay)
		synctest.Wait()
		if s := f.Status(); s.Error != "" {
			t.Errorf("%+v", s)
		}
		f.Append(entry("after"))
		f.Close()
		names := tools(t, dir)
		if n := 20_000 - int(lost) + 3; len(names) != n || names[0] != "before" || names[1] != "while" || names[n-1] != "after" {
			t.Errorf("%d entries are kept, want %d: %q", len(names), n, slices.Compact(names))
		}
		if lines, err := Read(t.Context(), dir, Query{Event: Policy}); err != nil || len(lines) != 1 {
			t.Errorf("decisions: %+v, %v", lines, err)
		}
		notes := notes(t, dir)
		if len(notes) != 1 || notes[0].Lost == nil || notes[0].Lost.Count != lost || !strings.Contains(notes[0].Why, "no space left") {
			t.Errorf("%+v", notes)
		}
		intact(t, dir)
	})
}

// A hub may be started on a full disk, and get room later.
func TestStartOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := t.TempDir()
		dir := base + "/record"
		if err := os.WriteFile(dir, nil, 0o600); err != nil { // no directory can be made there
			t.Fatal(err)
		}
		f := Open(dir, Options{User: "ann"})
		defer f.Close()
		f.Append(entry("a"))
		synctest.Wait()
		if f.Status().Error == "" {
			t.Error("all is well")
		}
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(retryDelay)
		synctest.Wait()
		if s := f.Status(); s != (Status{}) {
			t.Errorf("%+v", s)
		}
		want(t, dir, "a")
	})
}

// Lines that the disk has not confirmed may be gone after a crash: the record says which.
func TestFailingSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir() + "/record"
		var d disk
		f := open(dir, Options{User: "ann"}, d.create)
		defer f.Close()
		f.Append(entry("a"))
		time.Sleep(2 * syncDelay)
		d.set(false, true)
		f.Append(entry("b"))
		time.Sleep(2 * syncDelay)
		synctest.Wait()
		if s := f.Status(); !strings.Contains(s.Error, "input/output error") {
			t.Errorf("%+v", s)
		}
		d.set(false, false)
		time.Sleep(2 * syncDelay)
		synctest.Wait()
		if s := f.Status(); s.Error != "" {
			t.Errorf("%+v", s)
		}
		if notes := notes(t, dir); len(notes) == 0 || notes[0].Unsynced != 3 {
			t.Errorf("%+v", notes)
		}
		f.Close()
		intact(t, dir)
	})
}

// A call is in the file at once, and on the disk a second later.
func TestSyncsOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir() + "/record"
		f := Open(dir, Options{User: "ann"})
		defer f.Close()
		for i := range 30 {
			f.Append(entry(fmt.Sprint(i)))
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			if names := tools(t, dir); len(names) != i+1 {
				t.Fatalf("%d of %d are written", len(names), i+1)
			}
			head, err := ReadHead(dir)
			if i > 10 && (err != nil || head.N+11 < uint64(i)+2) {
				t.Errorf("after %d entries the head is at line %d, %v", i+1, head.N, err)
			}
		}
	})
}

// Payloads go with their lines, and the check misses what the record has not removed itself.
func TestRetention(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/record"
	o := Options{User: "ann", Max: 8 * minSegment, Payloads: true}
	f := Open(dir, o)
	for i := range 500 {
		e := long(fmt.Sprint(i))
		e.Args = json.RawMessage(`{}`)
		f.Append(e)
		if i%10 == 0 {
			f.flush(t.Context())
		}
	}
	f.Close()
	all, err := segments(dir)
	if err != nil {
		t.Fatal(err)
	}
	cut := copyTo(t, dir)
	if err := os.Remove(segment{cut, all[0].epoch, all[0].seq}.linesFile()); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(cut); err != nil || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].What, "has not removed") {
		t.Errorf("%+v, %v", r, err)
	}
	old := time.Now().Add(-100 * 24 * time.Hour)
	for _, s := range all[:3] {
		if err := errors.Join(os.Chtimes(s.linesFile(), old, old), os.Chtimes(s.payloadsFile(), old, old)); err != nil {
			t.Fatal(err)
		}
	}
	o.Keep = 99 * 24 * time.Hour
	f = Open(dir, o)
	f.Append(entry("new"))
	f.Close()
	if left, err := segments(dir); err != nil || left[0] != all[3] {
		t.Errorf("left are %v of %v, %v", left, all, err)
	}
	if _, err := os.Stat(all[0].payloadsFile()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("payloads: %v", err)
	}
	intact(t, dir)
}

// Follow yields each line once, whatever file it is in.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir() + "/record"
		seen := make(chan string, 1000)
		var done sync.WaitGroup
		defer done.Wait()
		ended := errors.New("seen enough")
		done.Go(func() {
			err := Follow(t.Context(), dir, Query{Event: Call, Limit: 1}, func(l *Line) error {
				seen <- l.Tool
				if l.Tool == "last" {
					return ended
				}
				return nil
			})
			if !errors.Is(err, ended) {
				t.Error(err)
			}
		})
		time.Sleep(time.Second) // there is no record yet
		var wanted []string
		for epoch := range 3 {
			f := Open(dir, Options{User: "ann", Max: 16 * minSegment})
			for i := range 100 {
				name := fmt.Sprint(epoch, "/", i)
				wanted = append(wanted, name)
				f.Append(long(name))
				f.Append(Entry{Event: Register})
				if i%7 == 0 {
					time.Sleep(followDelay / 3)
				}
			}
			f.Close()
			time.Sleep(followDelay)
		}
		fill(t, dir, "last")
		done.Wait()
		close(seen)
		var got []string
		for name := range seen {
			got = append(got, name)
		}
		if !slices.Equal(got, append(wanted, "last")) {
			t.Errorf("saw %q", got)
		}
	})
}

// The newest file has no line yet if the hub was killed when it began it, or the disk was full.
func TestReadAfterALineWithAnEmptyFile(t *testing.T) {
	dir := t.TempDir() + "/record"
	fill(t, dir, "a", "b", "c")
	if err := os.WriteFile(segment{dir, 2, 1}.linesFile(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if lines, err := Read(t.Context(), dir, Query{Event: Call, After: 1}); err != nil || len(lines) != 3 {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

// Two users must not share a record, not even where files' names have no case.
func TestDir(t *testing.T) {
	seen := map[string]bool{}
	for _, user := range []spec.UserID{"ann", "Ann", "a|n", "a/n", "..", ""} {
		dir := strings.ToLower(Dir("base", user))
		if seen[dir] || filepath.Dir(dir) != "base" || len(filepath.Base(dir)) != 16 {
			t.Errorf("%q: %s", user, dir)
		}
		seen[dir] = true
	}
}

// A call with large arguments must not push other calls, or itself, out of the record.
func TestLargeArguments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir() + "/record"
		var d disk
		d.set(true, false)
		f := open(dir, Options{User: "ann", Payloads: true}, d.create)
		defer f.Close()
		large := entry("large")
		large.Args = json.RawMessage(`"` + strings.Repeat("x", maxPayload-100) + `"`)
		large.Result = large.Args
		for range 100 {
			f.Append(large)
		}
		if s := f.Status(); s.Lost > 0 {
			t.Errorf("%+v", s)
		}
		d.set(false, false)
		f.Close()
		lines, err := Read(t.Context(), dir, Query{Tool: "large"})
		if err != nil || len(lines) != 100 || len(lines[0].Digest) != 32 || lines[99].Digest != "lost" {
			t.Errorf("%d entries are kept, %v", len(lines), err)
		}
	})
}

// Of two hubs that write the same files at once, one of which has not heard yet that it was
// replaced, the new one goes on, and the chain has no fork.
func TestTwoAtOnce(t *testing.T) {
	dir := t.TempDir() + "/record"
	first, second := Open(dir, Options{User: "ann"}), Open(dir, Options{User: "ann"})
	add := func(f *Recorder, tool string) {
		t.Helper()
		f.Append(entry(tool))
		if _, err := f.Read(t.Context(), Query{}); err != nil {
			t.Fatal(err)
		}
	}
	add(first, "a")
	add(first, "b")
	add(second, "c")
	add(first, "too late")
	add(second, "d")
	if s := first.Status(); !strings.Contains(s.Error, "another hub") {
		t.Errorf("the first one: %+v", s)
	}
	first.Close()
	second.Close()
	if got := tools(t, dir); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
		t.Errorf("the record has %q", got)
	}
	if report, err := Verify(dir); err != nil || len(report.Problems) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
}
