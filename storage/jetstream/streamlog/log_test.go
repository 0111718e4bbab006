package streamlog_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/jetstream/natstest"
	"tabhub/storage/jetstream/streamlog"
	"tabhub/storage/jetstream/streams"
)

var options = streamlog.Options{Stream: "TABHUB_RECORDS", Subject: "tabhub.record", PieceSize: 1000}

func openLogs(t *testing.T, servers *natstest.Cluster, o streamlog.Options) *streamlog.Logs {
	t.Helper()
	logs, err := streamlog.Open(t.Context(), servers.Conn(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return logs
}

func openLog(logs *streamlog.Logs, user spec.UserID, epoch spec.Epoch) *streamlog.Log {
	return logs.User(user, func(context.Context) (spec.Epoch, error) { return epoch, nil })
}

func begin(t *testing.T, l *streamlog.Log) (first, last storage.Batch) {
	t.Helper()
	first, last, _, err := l.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return first, last
}

func add(t *testing.T, l *streamlog.Log, index uint64, data string) {
	t.Helper()
	if _, err := l.Append(t.Context(), storage.Batch{Index: index, Data: []byte(data)}); err != nil {
		t.Fatal(err)
	}
}

// contents returns the batches of each piece, the oldest first, and of what is beside it.
func contents(t *testing.T, l *streamlog.Log) (lines, beside [][]string) {
	t.Helper()
	for p, err := range l.Pieces(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		var of, at []string
		if err := l.Read(t.Context(), p, func(data []byte) error { of = append(of, string(data)); return nil }); err != nil {
			t.Fatal(err)
		}
		if err := l.ReadBeside(t.Context(), p, func(data []byte) error { at = append(at, string(data)); return nil }); err != nil {
			t.Fatal(err)
		}
		lines, beside = append(lines, of), append(beside, at)
	}
	slices.Reverse(lines)
	slices.Reverse(beside)
	return lines, beside
}

// A log is read by pieces, each with its attachments, from all writers of the user; other users'
// logs are not in it.
func TestLogInPieces(t *testing.T) {
	t.Parallel()
	logs := openLogs(t, natstest.Shared(t), options)
	ann, bob := openLog(logs, "ann", 1), openLog(logs, "bob", 7)
	begin(t, ann)
	begin(t, bob)
	var want, wantBeside [][]string
	for i := range 9 {
		if i == 5 { // another hub goes on
			ann = openLog(logs, "ann", 2)
			if first, last := begin(t, ann); first.Index != 1 || last.Index != 5 || !strings.HasPrefix(string(last.Data), "4") {
				t.Errorf("first %+v, last %+v", first, last)
			}
		}
		data := fmt.Sprint(i, strings.Repeat("x", 400))
		add(t, ann, uint64(i+1), data)
		add(t, bob, uint64(i+1), "of bob")
		if i%3 == 0 { // else a piece has 1000 bytes
			want, wantBeside = append(want, nil), append(wantBeside, nil)
		}
		want[i/3] = append(want[i/3], data)
		if i%3 == 1 {
			if err := ann.AppendBeside(t.Context(), []byte(fmt.Sprint(i, "\n"))); err != nil {
				t.Fatal(err)
			}
			wantBeside[i/3] = []string{fmt.Sprint(i, "\n")}
		}
	}
	lines, beside := contents(t, ann)
	if !slices.EqualFunc(lines, want, slices.Equal) || !slices.EqualFunc(beside, wantBeside, slices.Equal) {
		t.Errorf("%q beside %q", lines, beside)
	}

	// A reader that already has a piece does not get removed batches either.
	var pieces []storage.Piece
	for p, err := range ann.Pieces(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, p)
	}
	if err := ann.Remove(t.Context(), pieces[1].Next); err != nil {
		t.Fatal(err)
	}
	if err := ann.Read(t.Context(), pieces[1], nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed piece: %v", err)
	}
	if lines, beside := contents(t, ann); !slices.EqualFunc(lines, want[2:], slices.Equal) || !slices.EqualFunc(beside, wantBeside[2:], slices.Equal) {
		t.Errorf("%q beside %q", lines, beside)
	}
	if lines, _ := contents(t, bob); len(lines) != 1 || len(lines[0]) != 9 {
		t.Errorf("of bob: %q", lines)
	}
}

// Two writers of a log find each other's batches and continue behind them. The replaced writer
// knows that its batches are late, also behind another late one; its successor knows that its
// batches are not.
func TestLogWithTwoWriters(t *testing.T) {
	t.Parallel()
	logs := openLogs(t, natstest.Shared(t), options)
	old, owner := openLog(logs, "ann", 1), openLog(logs, "ann", 2)
	begin(t, old)
	add(t, old, 1, "a")
	begin(t, owner)
	add(t, owner, 2, "b")
	behind := func(l *streamlog.Log, moved bool, index uint64, data string, late bool) {
		t.Helper()
		if _, err := l.Append(t.Context(), storage.Batch{Index: index, Data: []byte(data)}); errors.Is(err, storage.ErrMoved) != moved {
			t.Fatalf("%s: %v", data, err)
		}
		if _, _, is, err := l.Begin(t.Context()); err != nil || is != late {
			t.Errorf("%s: late %t, %v", data, is, err)
		}
		if moved {
			add(t, l, index, data)
		}
	}
	behind(old, true, 3, "c", true)
	behind(openLog(logs, "ann", 1), true, 4, "d", true)
	behind(owner, true, 5, "e", false)
	behind(owner, false, 6, "f", false)
	behind(old, true, 7, "g", true)
	if lines, _ := contents(t, owner); len(lines) != 1 || strings.Join(lines[0], "") != "abcdefg" {
		t.Errorf("%q", lines)
	}
}

// A server that has lost the end of a log, as after a crash, must not stop it for ever.
func TestLogWithoutItsEnd(t *testing.T) {
	t.Parallel()
	servers := natstest.Shared(t)
	logs := openLogs(t, servers, options)
	l := openLog(logs, "ann", 1)
	begin(t, l)
	add(t, l, 1, "a")
	add(t, l, 2, "b")
	js, err := jetstream.New(servers.Conn(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), options.Stream)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteMsg(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), storage.Batch{Index: 3, Data: []byte("c")}); !errors.Is(err, storage.ErrMoved) {
		t.Errorf("%v", err)
	}
	if _, last := begin(t, l); last.Index != 1 {
		t.Errorf("%+v", last)
	}
	add(t, l, 3, "c")
	if err := s.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), storage.Batch{Index: 4, Data: []byte("d")}); !errors.Is(err, storage.ErrMoved) {
		t.Errorf("of all: %v", err)
	}
	if first, last := begin(t, l); first.Index != 0 || last.Index != 0 {
		t.Errorf("%+v, %+v", first, last)
	}
}

// What is written beside a log need not end with a line feed.
func TestUnendedLineBeside(t *testing.T) {
	t.Parallel()
	l := openLog(openLogs(t, natstest.Shared(t), options), "ann", 1)
	begin(t, l)
	add(t, l, 1, "a")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, data := range []string{"1\n2", "3"} {
		if err := l.AppendBeside(ctx, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if _, beside := contents(t, l); !slices.Equal(slices.Concat(beside...), []string{"1\n2", "3"}) {
		t.Errorf("%q", beside)
	}
}

// Batches that are too old are removed also without a writer: the others can be read, and a
// writer can continue.
func TestLogWithoutAWriterExpires(t *testing.T) {
	t.Parallel()
	o := options
	o.PieceSize, o.MaxAge = 0, time.Second
	logs := openLogs(t, natstest.Shared(t), o)
	l := openLog(logs, "ann", 1)
	begin(t, l)
	old := time.Now()
	add(t, l, 1, "a")
	add(t, l, 2, "b")
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for n := uint64(3); ; n++ { // in the same piece, until its begin is gone
		<-tick.C
		add(t, l, n, "c")
		lines, _ := contents(t, l)
		if len(lines) != 1 {
			t.Fatalf("%q", lines)
		}
		if lines[0][0] == "c" {
			break
		}
		if time.Since(old) > 20*time.Second {
			t.Fatalf("%v after it was written, there is %q", time.Since(old), lines)
		}
	}
	if first, _ := begin(t, openLog(logs, "ann", 2)); first.Index < 3 {
		t.Errorf("%+v", first)
	}
}

// The store does not touch a stream of a newer version; the error says what to do.
func TestLogsOfAnotherFormat(t *testing.T) {
	t.Parallel()
	servers := natstest.Shared(t)
	js, err := jetstream.New(servers.Conn(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: options.Stream, Subjects: []string{"tabhub.record.>"}, Metadata: map[string]string{"tabhub-format": "2"},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := streamlog.Open(t.Context(), servers.Conn(t), options); !errors.Is(err, storage.ErrNewer) {
		t.Errorf("%v", err)
	}
	none := natstest.StartOptions(t, 1, natstest.Options{NoJetStream: true})
	if _, err := streamlog.Open(t.Context(), none.Conn(t), options); !errors.Is(err, streams.ErrNoJetStream) {
		t.Errorf("%v", err)
	}
}

// A server that was killed may find "s2: corrupt input" in a compressed stream, and answers nothing of
// the log from then on. A stream that an older version has made is compressed no more.
func TestStreamIsNotCompressed(t *testing.T) {
	t.Parallel()
	servers := natstest.Shared(t)
	js, err := jetstream.New(servers.Conn(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: options.Stream, Subjects: []string{options.Subject + ".>"}, Compression: jetstream.S2Compression, AllowDirect: true,
		Metadata: map[string]string{streams.FormatKey: "1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	before := openLog(openLogs(t, servers, options), "ann", 1)
	begin(t, before)
	add(t, before, 1, "one")
	stream, err := js.Stream(t.Context(), options.Stream)
	if err != nil || stream.CachedInfo().Config.Compression != jetstream.NoCompression {
		t.Fatalf("%v; the stream has %v", err, stream.CachedInfo().Config.Compression)
	}
	if lines, _ := contents(t, before); len(lines) != 1 || !slices.Equal(lines[0], []string{"one"}) {
		t.Errorf("%q", lines)
	}
}
