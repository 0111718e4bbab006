package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/policy"
	"tabhub/spec"
)

const secret = "Vault key 7f3k-29xq-88ab"

// mailText is ordinary text of n bytes, with values in it.
func mailText(n int) string {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the order was sent on Monday and will arrive at your house before noon please have a look at what is written below about returns")
	var b strings.Builder
	for b.Len() < n {
		switch random.IntN(20) {
		case 0:
			fmt.Fprintf(&b, "%08d ", random.IntN(1e8))
		case 1:
			b.WriteString("Jane Miller ")
		default:
			b.WriteString(words[random.IntN(len(words))] + " ")
		}
	}
	return b.String()[:n]
}

func object(text string) json.RawMessage {
	v, _ := json.Marshal(map[string]string{"text": text})
	return v
}

// say has a site return something, and waits until it has been read.
func say(t testing.TB, tr *Tracker, who string, from spec.Domain, what any) {
	t.Helper()
	v, err := json.Marshal(what)
	if err != nil {
		t.Fatal(err)
	}
	tr.Learn(who, from, v)
	settle(t, tr, who)
}

func send(t testing.TB, tr *Tracker, who string, text string) {
	t.Helper()
	tr.Sent(who, object(text))
	settle(t, tr, who)
}

func settle(t testing.TB, tr *Tracker, who string) {
	t.Helper()
	if err := tr.Settled(t.Context(), who); err != nil {
		t.Fatal(err)
	}
}

func wantFlow(t testing.TB, tr *Tracker, who string, to spec.Domain, text string, from ...spec.Domain) {
	t.Helper()
	var got []spec.Domain
	for _, f := range tr.Find(nil, who, to, object(text)) {
		got = append(got, f.From)
	}
	if !slices.Equal(got, from) {
		t.Errorf("%q to %s: of %q, want %q", text, to, got, from)
	}
}

func TestWhoseValue(t *testing.T) {
	tr := newTracker(t)
	say(t, tr, "a", "mail.example", secret)
	wantFlow(t, tr, "a", "shop.example", secret, "mail.example")
	wantFlow(t, tr, "a", "mail.example", secret)
	wantFlow(t, tr, "b", "shop.example", secret) // another client, which has not seen it

	// That it was sent once makes it nobody's own, and no other site's.
	send(t, tr, "a", secret)
	say(t, tr, "a", "evil.example", secret)
	wantFlow(t, tr, "a", "shop.example", secret, "mail.example")
	wantFlow(t, tr, "a", "evil.example", secret)

	// A third site makes it common.
	say(t, tr, "a", "notes.example", secret)
	wantFlow(t, tr, "a", "shop.example", secret)

	// What the client said before is its own.
	send(t, tr, "a", "please order BX-90112-77")
	say(t, tr, "a", "mail.example", "order BX-90112-77 has come")
	wantFlow(t, tr, "a", "shop.example", "BX-90112-77")
}

func TestFindSaysWhere(t *testing.T) {
	tr := newTracker(t)
	say(t, tr, "a", "mail.example", secret)
	find := func(args string, except ...string) []policy.Flow {
		return tr.Find(nil, "a", "shop.example", json.RawMessage(args), except...)
	}
	for args, want := range map[string]string{
		`{"note":"7f3k-29xq-88ab"}`:                          "note",
		`{"items":[{"name":"x"},{"name":"7F3K 29XQ 88AB"}]}`: "/items/1/name",
		`{"a":{"7f3k-29xq-88ab":true}}`:                      "/a/7f3k-29xq-88ab",
	} {
		if got := find(args); !slices.Equal(got, []policy.Flow{{From: "mail.example", Field: want}}) {
			t.Errorf("%s: %v", args, got)
		}
	}
	if got := find(`{"note":"7f3k-29xq-88ab"}`, "https://shop.example/", `{"properties":{"note":{"enum":["7f3k-29xq-88ab"]}}}`); len(got) > 0 {
		t.Errorf("found what the schema has: %v", got)
	}
	if got := find(`{"dates":"2026-11-22T10:30:00Z, 22.11.2026, 11/22/2026 10:30"}`); len(got) > 0 {
		t.Errorf("found dates: %v", got)
	}
}

func TestDatesAreNoValues(t *testing.T) {
	for _, s := range []string{"2026-11-22", "2026-11-22T10:30", "2026-11-22T10:30:00Z", "2026-11-22T10:30:00.123+01:00", "20261122", "20261122T103000Z", "22.11.2026", "11/22/2026", "10:30", "10:30:15", "9:30"} {
		if n := dateLen(s); n != len(s) {
			t.Errorf("%q: %d of it are a date", s, n)
		}
	}
	for _, s := range []string{"2026-13-22", "2126-11-22", "20268122", "4556737586899855", "202611220", "12.345.678", "1:2"} {
		if n := dateLen(s); n != 0 {
			t.Errorf("%q: %d of it are a date", s, n)
		}
	}
}

// A page that returns very much must not make the client forget what others have said.
func TestSitesHaveTheirOwnRoom(t *testing.T) {
	tr := newTracker(t, "mail.example")
	say(t, tr, "a", "notes.example", secret)
	say(t, tr, "a", "mail.example", "Card 4556 7375 8689 9855")
	for i := range 3 {
		say(t, tr, "a", "evil.example", mailText(60_000 + i)[i:])
	}
	wantFlow(t, tr, "a", "shop.example", secret, "notes.example")
	for i := range 12 { // together more than there is room for
		say(t, tr, "a", spec.Domain(fmt.Sprintf("evil%d.example", i)), numbers(i*20_000, 8192))
	}
	wantFlow(t, tr, "a", "shop.example", secret)
	wantFlow(t, tr, "a", "shop.example", "4556737586899855", "mail.example")
	c := tr.clients["a"]
	if n := len(c.table.values); n > maxValues {
		t.Errorf("%d values are kept", n)
	}
}

// numbers returns n values.
func numbers(first, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("n%08d", first+i))
	}
	return all
}

// What a private site returned and the tracker could not keep must not get away.
func TestUnseenOfAPrivateSite(t *testing.T) {
	tr := newTracker(t, "mail.example")
	long := strings.Repeat("word ", maxRead/5) + secret
	say(t, tr, "a", "wiki.example", long)
	wantFlow(t, tr, "a", "shop.example", "something else 123456789")
	say(t, tr, "a", "mail.example", long)
	want := []policy.Flow{{From: "mail.example"}}
	if got := tr.Find(nil, "a", "shop.example", object("something else 123456789")); !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if got := tr.Find(nil, "a", "shop.example", json.RawMessage(`{"page":2}`)); len(got) > 0 {
		t.Errorf("found %v where nothing can be", got)
	}

	// Nor by arguments that are too long to be read.
	say(t, tr, "b", "mail.example", secret)
	if got := tr.Find(nil, "b", "shop.example", object(long)); !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

func TestPicturesAreNotRead(t *testing.T) {
	tr := newTracker(t, "mail.example")
	picture := map[string]any{"content": []any{map[string]string{"type": "image", "mimeType": "image/png", "data": strings.Repeat("iVBORw0K", maxRead/4)}}}
	say(t, tr, "a", "mail.example", picture)
	wantFlow(t, tr, "a", "shop.example", "something else 123456789")
}

func TestValuesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTracker(t)
		say(t, tr, "a", "mail.example", secret)
		time.Sleep(lifetime - time.Minute)
		wantFlow(t, tr, "a", "shop.example", secret, "mail.example")
		say(t, tr, "a", "notes.example", "Meeting room 12345678")
		time.Sleep(2 * time.Minute)
		wantFlow(t, tr, "a", "shop.example", secret)
		wantFlow(t, tr, "a", "shop.example", "room 12345678", "notes.example")
	})
}

// A client whose credential was taken back leaves nothing, also of what is still to be read.
func TestForgottenClient(t *testing.T) {
	tr := newTracker(t)
	for i := range 100 {
		who := fmt.Sprint("client ", i)
		for _, from := range []spec.Domain{"a.com", "b.com"} {
			tr.Learn(who, from, json.RawMessage(fmt.Sprintf(`"the word of client %d is a7f3k9q2m%d"`, i, i)))
		}
		tr.Forget(who)
		if tr.KnowsOther(who, "c.com") {
			t.Fatal("it knows what it has read")
		}
	}
	tr.Close()
	if len(tr.clients) > 0 || tr.values != 0 {
		t.Errorf("%d clients are left, with %d values", len(tr.clients), tr.values)
	}
}

// A call that must not be sent before all is known waits for that, and no longer than it
// may; and one client that has very much read makes no other wait for ever.
func TestSettled(t *testing.T) {
	tr := newTracker(t, "mail.example")
	for range 10 {
		tr.Learn("a", "wiki.example", object(mailText(64<<10)))
	}
	tr.Learn("a", "mail.example", object(secret))
	settle(t, tr, "a")
	wantFlow(t, tr, "a", "shop.example", secret, "mail.example")

	tr.Learn("a", "wiki.example", object(mailText(256<<10)))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tr.Settled(ended, "a"); err == nil && tr.clients["a"].waiting > 0 {
		t.Error("Settled has not waited")
	}
	tr.Close()
	tr.Learn("a", "mail.example", object(secret))
}

// Who calls one site alone pays for nothing: what it returns is read when another one is
// called, or returns something.
func TestOneSiteIsReadLater(t *testing.T) {
	tr := newTracker(t, "mail.example")
	tr.Learn("a", "mail.example", object(secret))
	tr.Sent("a", object("a text of its own 12345678"))
	c := tr.clients["a"]
	if len(c.later) != 2 || c.waiting > 0 {
		t.Errorf("%d are to be read later, %d now", len(c.later), c.waiting)
	}
	if tr.KnowsOther("a", "mail.example") || !tr.KnowsOther("a", "shop.example") {
		t.Error("mail.example has returned something, and nobody else")
	}
	settle(t, tr, "a")
	wantFlow(t, tr, "a", "shop.example", secret, "mail.example")

	// Of very much the latest is kept, and that there was more.
	for i := range 2 * maxLater / (100 << 10) {
		tr.Learn("a", "mail.example", object(mailText(100<<10+i)))
	}
	if c.unread > maxLater {
		t.Errorf("%d bytes are kept", c.unread)
	}
	settle(t, tr, "a")
	wantFlow(t, tr, "a", "shop.example", "something else 987654321", "mail.example")
}

// What waits for something is done after it, and none is lost at the end.
func TestAfter(t *testing.T) {
	tr := New(func(spec.Domain) bool { return false })
	var found []policy.Flow
	tr.Learn("a", "mail.example", object(secret))
	tr.After("a", func() { found = tr.Find(nil, "a", "shop.example", object(secret)) })
	tr.Close()
	if len(found) != 1 {
		t.Errorf("found %v", found)
	}
	done := false
	tr.After("a", func() { done = true })
	if !done {
		t.Error("what comes after the end is not done")
	}
}

// More than can be read soon is not kept in memory. Of a private site that counts.
func TestQueueIsBounded(t *testing.T) {
	tr := newTracker(t, "mail.example")
	big := object(mailText(maxQueued / 2))
	for range 8 {
		tr.Learn("a", "mail.example", big)
	}
	settle(t, tr, "a")
	wantFlow(t, tr, "a", "shop.example", "something else 123456789", "mail.example")
}

// What waits for all that was said before is not refused because much was said: there is nothing
// of it to be kept.
func TestWaitTakesNoRoom(t *testing.T) {
	tr := newTracker(t)
	tr.Learn("a", "mail.example", object(secret))
	tr.Learn("a", "notes.example", object(secret)) // of several sites all is read at once
	tr.mu.Lock()
	tr.queued += 2 * maxQueued // as if there were others
	tr.mu.Unlock()
	for range 2 {
		settle(t, tr, "a")
		done := make(chan struct{})
		tr.After("a", func() { close(done) })
		<-done
	}
}

// Of many clients the one that has done nothing for the longest time forgets first, and
// never what private sites have returned.
func TestAllClientsTogetherAreBounded(t *testing.T) {
	tr := newTracker(t, "mail.example")
	say(t, tr, "first", "mail.example", secret)
	say(t, tr, "first", "notes.example", "Meeting room 12345678")
	say(t, tr, "second", "notes.example", "Meeting room 87654321")
	tr.values += maxAll - 1000 // as if there were others
	say(t, tr, "third", "shop.example", numbers(0, 1000))
	wantFlow(t, tr, "first", "shop.example", secret, "mail.example")
	wantFlow(t, tr, "first", "shop.example", "room 12345678")
	wantFlow(t, tr, "third", "wiki.example", "n00000007", "shop.example")
}

// Whatever a page returns or a client sends is read in bounded time, and what is returned
// is found if it is sent as it is.
func FuzzRead(f *testing.F) {
	for _, s := range []string{secret, "%4", "10:3", "a@b", "YWxpY2VAZXhhbXBsZS5jb20", `{"a":["\ud800\\"]}`, "+49 (170) 123-4567", "2026-11-22T10:00.1+0"} {
		f.Add(s)
	}
	tr := New(func(spec.Domain) bool { return false })
	f.Cleanup(tr.Close)
	f.Fuzz(func(t *testing.T, s string) {
		v := object(s)
		r := reader{seed: tr.seed}
		r.read(v, false)
		returned := slices.Clone(r.values)
		r.read(v, true)
		sent := map[uint64]bool{}
		for _, v := range r.values {
			sent[v.hash] = true
		}
		for _, v := range returned {
			if !sent[v.hash] && len(s) < maxPassages {
				t.Fatalf("%q: a value of it is not found in it", s)
			}
		}
	})
}
