package flow

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

const secret = "Vault key 7f3k-29xq-88ab"

var agent = &policy.Principal{ID: "a", Name: "an agent"}

// rules returns a policy with some private sites.
func rules(t testing.TB, private ...string) *policy.Set {
	t.Helper()
	set, err := policy.New(policy.Document{Private: private}, "", policy.File{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

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

// rig is a Tracker of an owner's.
type rig struct {
	*Tracker
	t     testing.TB
	rules *policy.Set
}

func newRig(t testing.TB, private ...string) *rig { return &rig{New(), t, rules(t, private...)} }

// say has a site return a text.
func (r *rig) say(from spec.Domain, text string) { r.Returned(agent, from, r.rules, object(text)) }

// send has the client send a text.
func (r *rig) send(text string) { r.Sent(agent, "shop.example", r.rules, "", object(text)) }

func (r *rig) wantRead(want ...spec.Domain) {
	r.t.Helper()
	if got := r.Read(agent.ID, r.rules); !slices.Equal(got, want) {
		r.t.Errorf("it has read %q, want %q", got, want)
	}
}

// wantShown checks whose texts stand in what would be sent.
func (r *rig) wantShown(to spec.Domain, text string, from ...spec.Domain) {
	r.t.Helper()
	var got []spec.Domain
	for _, m := range r.Compare(agent.ID, to, []json.RawMessage{object(text)}) {
		got = append(got, m.From)
	}
	if !slices.Equal(got, from) {
		r.t.Errorf("%q to %s: of %q, want %q", text, to, got, from)
	}
}

// What an agent does to a text, and where it was in between, does not undo that it has read it.
func TestRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "mail.example", "bank.example")
		r.wantRead()
		r.say("shop.example", "hello")
		r.wantRead()
		r.Returned(agent, "mail.example", r.rules, nil) // a picture
		r.wantRead("mail.example")
		if got := r.Read("another", r.rules); got != nil {
			t.Errorf("another client has read %q", got)
		}
		time.Sleep(lifetime - time.Minute)
		r.say("bank.example", "hello")
		r.wantRead("bank.example", "mail.example")
		r.rules = rules(t, "mail.example", "shop.example") // which the owner makes private afterwards
		r.wantRead("mail.example", "shop.example")
		time.Sleep(2 * time.Minute)
		r.wantRead()
		r.say("mail.example", "hello")
		r.wantRead("mail.example")
		r.Forget(agent.ID)
		r.wantRead()
	})
}

// Very many sites must not make the client shed what it has read at a private one.
func TestSitesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "mail.example", "*.bank.example")
		r.say("mail.example", "hello")
		for i := range 3 * maxSites {
			time.Sleep(time.Second)
			r.say(spec.Domain(fmt.Sprintf("evil%d.example", i)), "hello")
			if n := len(r.clients["a"].sites); n > maxSites {
				t.Fatalf("%d sites are kept", n)
			}
		}
		r.wantRead("mail.example")
		for i := range maxSites {
			time.Sleep(time.Second)
			r.say(spec.Domain(fmt.Sprintf("a%d.bank.example", i)), "hello")
		}
		if n := len(r.Read("a", r.rules)); n != maxSites {
			t.Errorf("of %d private sites, %d are kept", maxSites+1, n)
		}
		for i := range 2 * maxClients {
			r.Returned(&policy.Principal{ID: fmt.Sprint(i)}, "mail.example", r.rules, nil)
		}
		if n := len(r.clients); n > maxClients {
			t.Errorf("%d clients are kept", n)
		}
	})
}

// Without rules about flows a Tracker keeps no texts.
func TestTextsAreKeptIfRulesMayAsk(t *testing.T) {
	r := newRig(t)
	r.say("mail.example", secret)
	r.send(secret)
	if len(r.clients["a"].texts) > 0 {
		t.Error("texts are kept")
	}
	r.rules = rules(t, "bank.example")
	r.say("mail.example", secret)
	r.wantShown("shop.example", secret, "mail.example")
	r.rules = rules(t)
	r.say("wiki.example", "hello")
	if len(r.clients["a"].texts) > 0 || r.bytes != 0 {
		t.Error("texts are kept that were, before")
	}
}

func TestTextsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "mail.example")
		r.say("mail.example", secret)
		big := object(mailText(maxTexts / 4))
		for range 3 {
			r.Returned(agent, "wiki.example", r.rules, big)
		}
		r.wantShown("shop.example", secret, "mail.example")
		r.Returned(agent, "wiki.example", r.rules, big)
		r.wantShown("shop.example", secret)
		r.Returned(agent, "wiki.example", r.rules, object(mailText(maxTexts))) // too much
		for i := range 100 {
			time.Sleep(time.Second)
			for range 3 {
				r.Returned(&policy.Principal{ID: fmt.Sprint(i)}, "wiki.example", r.rules, big)
			}
		}
		sum := 0
		for _, c := range r.clients {
			sum += c.bytes
		}
		if sum != r.bytes || sum > maxAll || sum < maxAll/2 {
			t.Errorf("%d bytes are kept, counted as %d", sum, r.bytes)
		}
	})
}

func TestWhoseValue(t *testing.T) {
	r := newRig(t, "mail.example")
	r.say("mail.example", secret)
	r.wantShown("shop.example", secret, "mail.example")
	r.wantShown("mail.example", secret)

	// That it was sent once makes it no other site's.
	r.send(secret)
	r.say("evil.example", secret)
	r.wantShown("shop.example", secret, "mail.example")
	r.wantShown("evil.example", secret)

	// A third site makes it common.
	r.say("notes.example", secret)
	r.wantShown("shop.example", secret)

	// What the client said before is its own.
	r.send("please order BX-90112-77")
	r.say("mail.example", "order BX-90112-77 has come")
	r.wantShown("shop.example", "BX-90112-77")
}

// The owner sees what would be sent, and where in it.
func TestCompareShows(t *testing.T) {
	r := newRig(t, "mail.example")
	r.say("mail.example", secret+". The meeting about the merger is on the second floor, with Jane Miller.")
	compare := func(args string, except ...string) []Match {
		return r.Compare(agent.ID, "shop.example", []json.RawMessage{json.RawMessage(args)}, except...)
	}
	for args, want := range map[string]Match{
		`{"note":"a 7f3k-29xq-88ab"}`:                                       {Field: "note", Text: "7f3k-29xq-88ab"},
		`{"items":[{"name":"x"},{"name":"it is 7F3K 29XQ 88AB"}]}`:          {Field: "/items/1/name", Text: "7F3K 29XQ 88AB"},
		`{"a":{"7f3k-29xq-88ab":true}}`:                                     {Field: "/a/7f3k-29xq-88ab", Text: "7f3k-29xq-88ab"},
		`{"note":"c2F5IDdmM2stMjl4cS04OGFi"}`:                               {Field: "note", Text: "7f3k-29xq-88ab"},
		`{"note":"So: the MEETING about the merger is on the second hill"}`: {Field: "note", Text: "the MEETING about the merger is on the second"},
	} {
		want.From = "mail.example"
		if got := compare(args); !slices.Equal(got, []Match{want}) {
			t.Errorf("%s: %v", args, got)
		}
	}
	if got := compare(`{"note":"7f3k-29xq-88ab"}`, "https://shop.example/", `{"properties":{"note":{"enum":["7f3k-29xq-88ab"]}}}`); len(got) > 0 {
		t.Errorf("shown is what the schema has: %v", got)
	}
	for _, date := range []string{"2026-11-22T10:30:00Z", "22.11.2026", "11/22/2026 10:30"} {
		r.say("mail.example", date)
	}
	if got := compare(`{"dates":["2026-11-22T10:30:00Z","22.11.2026","11/22/2026 10:30"]}`); len(got) > 0 {
		t.Errorf("shown are dates: %v", got)
	}
}

// Of a call of yesterday is shown what its client had read by then.
func TestCompareCall(t *testing.T) {
	r := newRig(t, "mail.example")
	r.say("mail.example", secret)
	r.Sent(agent, "shop.example", r.rules, "c1", object("Vault key 7f3k-29xq-88ab, room 12345678"))
	r.say("notes.example", "room 12345678")
	got, kept := r.CompareCall("c1")
	if want := (Match{"mail.example", "text", "Vault key 7f3k-29xq-88ab"}); !kept || !slices.Equal(got, []Match{want}) {
		t.Errorf("%v, %v", got, kept)
	}
	if _, kept := r.CompareCall("c2"); kept {
		t.Error("a call is known that there was not")
	}
	r.Returned(agent, "wiki.example", r.rules, object(mailText(maxTexts-300)))
	if _, kept := r.CompareCall("c1"); kept {
		t.Error("what the call has sent is known still")
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

// That a call is decided about takes no memory, and hardly time.
func TestReadDoesNotAllocate(t *testing.T) {
	r := newRig(t, "mail.example")
	r.say("mail.example", "hello")
	r.rules = rules(t) // nothing is kept
	if n := testing.AllocsPerRun(100, func() {
		r.Returned(agent, "wiki.example", r.rules, nil)
		r.Read(agent.ID, r.rules)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Whatever a page returns or a client sends is read in bounded time, and what is returned
// is found if it is sent as it is.
func FuzzRead(f *testing.F) {
	for _, s := range []string{secret, "%4", "10:3", "a@b", "YWxpY2VAZXhhbXBsZS5jb20", `{"a":["\ud800\\"]}`, "+49 (170) 123-4567", "2026-11-22T10:00.1+0", "İstanbul\u00ad12345"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := object(s)
		values := func(sent bool) map[string]*value {
			r := reader{collects: true, values: map[string]*value{}}
			r.read(v, sent)
			return r.values
		}
		sent := values(true)
		for b, v := range values(false) {
			if sent[b] == nil {
				t.Fatalf("%q: a value of it is not found in it", s)
			}
			for _, at := range v.at {
				if at.start >= at.end || at.end > len(at.text) {
					t.Fatalf("%q: a value of it stands from %d to %d", s, at.start, at.end)
				}
			}
		}
	})
}
