package consent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// window is a browser whose owner answers by a function.
type window struct {
	unpaired, away bool
	answer         func(ctx context.Context, q *spec.Ask) (spec.AskResult, error)

	mu    sync.Mutex
	shown []*spec.Ask
}

// answeredBy returns a window in which the owner answers what is sent.
func answeredBy(answer <-chan spec.Reach) *window {
	return &window{answer: func(ctx context.Context, _ *spec.Ask) (spec.AskResult, error) {
		select {
		case reach := <-answer:
			return spec.AskResult{Reach: reach}, nil
		case <-ctx.Done():
			return spec.AskResult{}, ctx.Err()
		}
	}}
}

func (w *window) Paired() bool    { return !w.unpaired }
func (w *window) Connected() bool { return !w.unpaired && !w.away }
func (w *window) Ask(ctx context.Context, q *spec.Ask) (spec.AskResult, error) {
	w.mu.Lock()
	w.shown = append(w.shown, q)
	w.mu.Unlock()
	return w.answer(ctx, q)
}

// count returns how many windows were shown. A question of an id that is asked again stays in its window.
func (w *window) count() int {
	all := w.ids()
	slices.Sort(all)
	return len(slices.Compact(all))
}

func (w *window) ids() (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, q := range w.shown {
		all = append(all, q.ID)
	}
	return all
}

func says(r spec.Reach) func(context.Context, *spec.Ask) (spec.AskResult, error) {
	return func(context.Context, *spec.Ask) (spec.AskResult, error) { return spec.AskResult{Reach: r}, nil }
}

// nobody is an owner that does not answer.
func nobody(ctx context.Context, _ *spec.Ask) (spec.AskResult, error) {
	<-ctx.Done()
	return spec.AskResult{}, ctx.Err()
}

// rig is a desk, with what it has stored and recorded.
type rig struct {
	*Desk
	mu      sync.Mutex
	rules   []policy.Rule
	entries []record.Entry
	full    error // why nothing can be stored
	kept    json.RawMessage
	late    map[string]json.RawMessage
	writes  int
}

func (r *rig) Append(e record.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, e)
}

func newRig(t *testing.T, w *window, askers ...Asker) *rig {
	t.Helper()
	r := &rig{late: map[string]json.RawMessage{}}
	r.open(t, w, askers...)
	return r
}

// open opens the desk, with what an earlier one has stored.
func (r *rig) open(t *testing.T, w *window, askers ...Asker) {
	o := Options{Askers: askers, Record: r, Late: slices.Collect(maps.Values(r.late)), Store: func(b json.RawMessage) { r.kept = b }, Keep: func(id string, question json.RawMessage) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.late[id] = question
		r.writes++
	}, Forget: func(id string, synced func(error)) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.full == nil {
			delete(r.late, id)
		}
		if synced != nil {
			synced(r.full)
		}
	}, Remember: func(rule policy.Rule) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.full == nil {
			r.rules = append(r.rules, rule)
		}
		return r.full
	}}
	if w != nil {
		o.Browser = w
	}
	r.Desk = New(o)
	t.Cleanup(func() { r.Close(errors.New("the test is over")) })
}

// ask asks about a call, and sends the error.
func (r *rig) ask(ctx context.Context, by *Caller, c Call, ended chan<- error) {
	_, err := r.Ask(ctx, by, c)
	ended <- err
}

// answered answers a question, which must count.
func (r *rig) answered(t *testing.T, q Question, reach spec.Reach, by string) {
	t.Helper()
	if err := r.Answer(q.ID, q.Digest, spec.AskResult{Reach: reach}, by); err != nil {
		t.Fatal(err)
	}
}

// item is a definition that a page has given.
type item string

func (i item) Pin() (p policy.Pin) { copy(p[:], i); return p }

func client(id string) *Caller {
	return &Caller{Principal: &policy.Principal{ID: id, Name: strings.ToUpper(id)}, Session: "s-" + id}
}

func pay(by *Caller, args string) Call {
	return Call{
		Action: &policy.Action{
			Principal: by.Principal, Session: by.Session, Site: policy.Site{Domain: "shop.example"},
			Kind: spec.KindTool, Name: "pay", Class: policy.Destructive, Item: item("v1"),
		},
		Decision: policy.Decision{Effect: policy.Ask, Layer: policy.ByPreset, Rule: &policy.Rule{Effect: policy.Ask, Class: "destructive", By: "preset"}},
		Args:     json.RawMessage(args), Origin: "https://shop.example", Is: json.RawMessage(`{"name":"pay","description":"Pay."}`),
	}
}

// denied checks that an error says why something was denied.
func denied(t *testing.T, err error, words string) {
	t.Helper()
	if no, ok := errors.AsType[*Denied](err); !ok || !strings.Contains(no.Words, words) {
		t.Errorf("got %v, want denied: …%s…", err, words)
	}
}

// Each answer must be good for what it says, and for no more.
func TestReaches(t *testing.T) {
	for _, test := range []struct {
		reach spec.Reach
		ok    bool
		rule  policy.Rule
	}{
		{spec.ReachOnce, true, policy.Rule{}},
		{spec.ReachSession, true, policy.Rule{Effect: policy.Allow, Client: "c", Session: "s-c", Site: "shop.example", Tool: "pay", Pin: item("v1").Pin(), By: ByWindow}},
		{spec.ReachApp, true, policy.Rule{Effect: policy.Allow, Client: "c", Site: "shop.example", Tool: "pay", Pin: item("v1").Pin(), By: ByWindow}},
		{spec.ReachAlways, true, policy.Rule{Effect: policy.Allow, Site: "shop.example", Tool: "pay", Pin: item("v1").Pin(), By: ByWindow}},
		{spec.ReachNever, false, policy.Rule{Effect: policy.Deny, Client: "c", Site: "shop.example", Tool: "pay", By: ByWindow}},
		{spec.ReachNo, false, policy.Rule{}},
		{"forever", false, policy.Rule{}}, // what is not understood is no
	} {
		t.Run(string(test.reach), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &window{answer: says(test.reach)})
				by := client("c")
				a, err := r.Ask(t.Context(), by, pay(by, `{"eur":5}`))
				if (err == nil) != test.ok || a.By != ByWindow {
					t.Fatalf("%+v, %v", a, err)
				}
				var got policy.Rule
				if len(r.rules) > 0 {
					got = r.rules[0]
					if ends := got.Until.Sub(got.Made); (ends == sessionLife) != (test.reach == spec.ReachSession) {
						t.Errorf("it is good for %v", ends)
					}
					got.ID, got.Made, got.Until = "", time.Time{}, time.Time{}
				}
				if got != test.rule || len(r.rules) > 1 {
					t.Errorf("stored %+v", r.rules)
				}
				e := r.entries[0]
				if want := map[bool]string{true: "ok", false: "declined"}[test.ok]; len(r.entries) != 1 || e.Event != record.Ask || e.Outcome != want || e.By != ByWindow || e.Client != "c" || e.Tool != "pay" {
					t.Errorf("recorded %+v", r.entries)
				}
				if len(r.Open()) != 0 {
					t.Error("the question is open still")
				}
			})
		})
	}
}

// A wide answer that is not stored would be forgotten by the next start: it must not count.
func TestAnswerThatIsNotStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{answer: says(spec.ReachApp)})
		r.full = errors.New("disk full")
		by := client("c")
		_, err := r.Ask(t.Context(), by, pay(by, `{}`))
		denied(t, err, "disk full")
	})
}

// Nobody answers: the client must be told in time what to do, and hear meanwhile that it is
// waited for.
func TestNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{answer: nobody})
		by := client("c")
		var told []spec.Progress
		start := time.Now()
		by.Progress = func(p spec.Progress) {
			if told = append(told, p); len(told) == 1 && (time.Since(start) > 0 || !p.Waiting) {
				t.Errorf("told %+v after %v", p, time.Since(start))
			}
		}
		a, err := r.Ask(t.Context(), by, pay(by, `{}`))
		denied(t, err, "has not answered within 2 minutes. Tell the owner to run `tabhub approve ")
		if d := time.Since(start); d != askFor || a.Asked != d {
			t.Errorf("it took %v, and %+v", d, a)
		}
		if len(told) < 11 || told[1].Progress <= told[0].Progress || !strings.Contains(told[0].Message, "in the browser") {
			t.Errorf("told %v", told)
		}
		if open := r.Open(); len(open) != 1 || !open[0].Deferred {
			t.Errorf("open: %+v", open)
		}
	})
}

// What is paused, or ends, must not wait for anybody, and no answer may count afterwards.
func TestWithdraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{answer: nobody})
		paused, ending := errors.New("paused"), errors.New("the hub ends")
		result := make(chan error, 2)
		ask := func(id string) {
			by := client(id)
			_, err := r.Ask(t.Context(), by, pay(by, `{}`))
			result <- err
		}
		go ask("a")
		synctest.Wait()
		go ask("b")
		synctest.Wait()
		open := r.Open()
		r.Withdraw(func(a *policy.Action) error {
			if a.Principal.ID == "a" {
				return paused
			}
			return nil
		})
		if err := <-result; err != paused {
			t.Errorf("paused: %v", err)
		}
		if err := r.Answer(open[0].ID, open[0].Digest, spec.AskResult{Reach: spec.ReachOnce}, ByCommand); err != ErrNoQuestion {
			t.Errorf("an answer to a withdrawn question: %v", err)
		}
		r.Close(ending)
		if err := <-result; err != ending {
			t.Errorf("at the end: %v", err)
		}
		by := client("c")
		if _, err := r.Ask(t.Context(), by, pay(by, `{}`)); err != ending {
			t.Errorf("after the end: %v", err)
		}
	})
}

// One click must not let two payments through, unless the owner has said so.
func TestIdenticalCalls(t *testing.T) {
	for _, test := range []struct {
		reach  spec.Reach
		passes int
	}{{spec.ReachOnce, 1}, {spec.ReachSession, 2}, {spec.ReachNo, 0}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &window{answer: nobody})
			by := client("c")
			ended := make(chan error, 2)
			for range cap(ended) {
				go r.ask(t.Context(), by, pay(by, `{}`), ended)
			}
			synctest.Wait()
			open := r.Open()
			if len(open) != 1 || open[0].Count != 2 {
				t.Fatalf("open: %+v", open)
			}
			r.answered(t, open[0], test.reach, ByDashboard)
			synctest.Wait()
			passed := 0
			for range cap(ended) {
				if err := <-ended; err == nil {
					passed++
				}
			}
			if passed != test.passes || len(r.Open()) > 0 {
				t.Errorf("%s: %d calls pass; open: %+v", test.reach, passed, r.Open())
			}
		})
	}
}

// A yes to a tool is no yes to a call of it that carries values of other sites.
func TestAnswerOfFlow(t *testing.T) {
	carrying := func(c Call) Call {
		c.Decision = policy.Decision{Effect: policy.Ask, Layer: policy.ByFlow}
		return c
	}
	t.Run("a rule", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &window{answer: nobody})
			by := client("c")
			ended := make(chan error, 2)
			for _, c := range []Call{pay(by, `{}`), carrying(pay(by, `{"note":"private"}`))} {
				go r.ask(t.Context(), by, c, ended)
				synctest.Wait()
			}
			q := r.Open()[0]
			r.answered(t, q, spec.ReachApp, ByDashboard)
			synctest.Wait()
			if open := r.Open(); len(ended) != 1 || len(open) != 1 || open[0].Deferred {
				t.Errorf("%d calls go on; open: %+v", len(ended), open)
			}
		})
	})
	t.Run("this once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &window{away: true})
			by := client("c")
			_, err := r.Ask(t.Context(), by, pay(by, `{}`))
			denied(t, err, "approve")
			q := r.Open()[0]
			r.answered(t, q, spec.ReachOnce, ByCommand)
			_, err = r.Ask(t.Context(), by, carrying(pay(by, `{}`)))
			denied(t, err, "approve")
		})
	})
}

// Of two answers at once one counts, and only to the question that was shown.
func TestTwoAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{answer: nobody})
		by := client("c")
		done := make(chan error, 1)
		go r.ask(t.Context(), by, pay(by, `{}`), done)
		synctest.Wait()
		q := r.Open()[0]
		if err := r.Answer(q.ID, "another", spec.AskResult{Reach: spec.ReachOnce}, ByCommand); err != ErrChanged {
			t.Errorf("another digest: %v", err)
		}
		if err := r.Answer(q.ID, q.Digest, spec.AskResult{Reach: "forever"}, ByCommand); err != ErrReach {
			t.Errorf("an unknown reach: %v", err)
		}
		answers := make(chan error, 8)
		for i := range cap(answers) {
			reach := []spec.Reach{spec.ReachApp, spec.ReachNo}[i%2]
			go func() { answers <- r.Answer(q.ID, q.Digest, spec.AskResult{Reach: reach}, ByDashboard) }()
		}
		counted := 0
		for range cap(answers) {
			if err := <-answers; err == nil {
				counted++
			} else if err != ErrNoQuestion {
				t.Error(err)
			}
		}
		if err := <-done; counted != 1 || (err == nil) != (len(r.rules) == 1) {
			t.Errorf("%d answers counted; %v, %v", counted, err, r.rules)
		}
	})
}

// A page that makes a model call again and again must not get the owner tired.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &window{answer: says(spec.ReachOnce)}
		r := newRig(t, w)
		ask := func(id, site string, n int) error {
			by := client(id)
			c := pay(by, fmt.Sprintf(`{"n":%d}`, n))
			c.Action.Site.Domain = spec.Domain(site)
			_, err := r.Ask(t.Context(), by, c)
			return err
		}
		for i := range maxOften {
			if err := ask("a", fmt.Sprintf("w%d.shop.example", i), i); err != nil {
				t.Fatal(err)
			}
		}
		denied(t, ask("a", "w9.shop.example", 9), "3 times within a minute")
		for i := range maxMinute - maxOften {
			if err := ask("a", "other.example", i); err != nil {
				t.Fatal(err)
			}
		}
		denied(t, ask("a", "third.example", 1), "6 times within a minute")
		if err := ask("b", "shop.example", 1); err != nil {
			t.Errorf("another client was denied: %v", err)
		}
		time.Sleep(time.Minute)
		w.answer = says(spec.ReachNo)
		denied(t, ask("a", "shop.example", 1), "has declined")
		denied(t, ask("a", "shop.example", 1), "has just declined this very call")
		denied(t, ask("a", "shop.example", 2), "has declined")
		shown := w.count()
		denied(t, ask("a", "shop.example", 3), "has declined 2 calls")
		time.Sleep(quietFor - time.Second)
		denied(t, ask("a", "shop.example", 4), "has declined 2 calls")
		if w.count() != shown {
			t.Error("the owner was asked again")
		}
		time.Sleep(time.Second)
		denied(t, ask("a", "shop.example", 5), "has declined this call")
	})
}

// Of many calls that wait the owner sees one window at a time, and a client cannot fill the
// desk for the others.
func TestManyQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &window{answer: nobody}
		r := newRig(t, w)
		for range maxOften {
			by := client("c")
			go r.Ask(t.Context(), by, pay(by, `{}`))
		}
		synctest.Wait()
		if w.count() != 1 {
			t.Errorf("%d windows", w.count())
		}
		w.away = true
		for i := range maxOpen + 10 {
			by := client("greedy")
			r.Ask(t.Context(), by, pay(by, fmt.Sprintf(`{"n":%d}`, i)))
		}
		if open := r.Open(); len(open) != 1+maxOfClient {
			t.Errorf("%d are open", len(open))
		}
	})
}

// The client's own user may be asked only where the owner cannot be, or has said so: a
// program could answer for its user.
func TestWhoIsAsked(t *testing.T) {
	for _, test := range []struct {
		name    string
		window  *window
		askers  []Asker
		elicits bool
		watched bool
		want    string
	}{
		{"the browser first", &window{answer: says(spec.ReachOnce)}, nil, true, false, ByWindow},
		{"the browser is closed", &window{away: true}, nil, true, false, ""},
		{"no browser", &window{unpaired: true}, nil, true, false, ByClient},
		{"the client first", &window{answer: nobody}, []Asker{AskClient, AskBrowser}, true, false, ByClient},
		{"a client that cannot", &window{answer: says(spec.ReachOnce)}, []Asker{AskClient, AskBrowser}, false, false, ByWindow},
		{"no client wanted", &window{unpaired: true}, []Asker{AskBrowser, AskDashboard}, true, false, ""},
		{"no browser wanted", &window{answer: says(spec.ReachOnce)}, []Asker{AskDashboard}, true, true, ByDashboard},
		{"the dashboard is open", &window{away: true}, nil, true, true, ByDashboard},
		{"the dashboard is open, and not wanted", &window{away: true}, []Asker{AskBrowser}, true, true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, test.window, test.askers...)
				by := client("c")
				if test.elicits {
					by.Elicit = says(spec.ReachOnce)
				}
				if test.watched {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					go func() {
						for all := range r.Watch(ctx) {
							for _, q := range all {
								if !q.Deferred {
									r.Answer(q.ID, q.Digest, spec.AskResult{Reach: spec.ReachOnce}, ByDashboard)
								}
							}
						}
					}()
					synctest.Wait()
				}
				a, err := r.Ask(t.Context(), by, pay(by, `{}`))
				if a.By != test.want || (err == nil) != (test.want != "") {
					t.Errorf("asked %q: %v", a.By, err)
				}
			})
		})
	}
}

// What a client's own user says must not be about other clients.
func TestClientAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		by := client("c")
		var offered []spec.Reach
		by.Elicit = func(_ context.Context, q *spec.Ask) (spec.AskResult, error) {
			offered = q.Reaches
			return spec.AskResult{Reach: spec.ReachAlways}, nil
		}
		_, err := r.Ask(t.Context(), by, pay(by, `{}`))
		denied(t, err, "has declined")
		if !slices.Equal(offered, []spec.Reach{spec.ReachOnce, spec.ReachSession, spec.ReachApp}) || len(r.rules) > 0 {
			t.Errorf("offered %v, stored %v", offered, r.rules)
		}
		by = client("d")
		by.Elicit = func(context.Context, *spec.Ask) (spec.AskResult, error) {
			return spec.AskResult{}, errors.New("it broke")
		}
		_, err = r.Ask(t.Context(), by, pay(by, `{}`))
		denied(t, err, "tabhub approve")
	})
}

// A client that runs when nobody is there cancels its form by itself. That is no answer: the owner is asked
// elsewhere, or can answer later.
func TestClientIsUnattended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unanswered := func(context.Context, *spec.Ask) (spec.AskResult, error) { return spec.AskResult{}, ErrUnanswered }
		w := &window{unpaired: true, answer: says(spec.ReachOnce)}
		r := newRig(t, w)
		by := client("c")
		by.Elicit = unanswered
		_, err := r.Ask(t.Context(), by, pay(by, `{}`))
		denied(t, err, "cannot be asked now. Tell the owner to run `tabhub approve ")
		q := r.Open()[0]
		r.answered(t, q, spec.ReachOnce, ByCommand)
		if _, err := r.Ask(t.Context(), by, pay(by, `{}`)); err != nil {
			t.Errorf("the same call again: %v", err)
		}

		by.Elicit = func(_ context.Context, q *spec.Ask) (spec.AskResult, error) { return spec.AskResult{}, &AskBack{q} }
		_, err = r.Ask(t.Context(), by, pay(by, `{"n":2}`))
		back, ok := errors.AsType[*AskBack](err)
		if !ok {
			t.Fatal(err)
		}
		by.Reply = &Reply{Question: back.Question.ID, Unanswered: true}
		_, err = r.Ask(t.Context(), by, pay(by, `{"n":2}`))
		denied(t, err, "tabhub approve "+back.Question.ID[:idShown])
		if len(r.late) != 1 {
			t.Errorf("%d are stored", len(r.late))
		}

		r.opts.Askers = []Asker{AskClient, AskBrowser}
		w.unpaired, by.Reply, by.Elicit = false, nil, unanswered
		if a, err := r.Ask(t.Context(), by, pay(by, `{"n":3}`)); err != nil || a.By != ByWindow {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

// A client that can be asked only by the end of its request brings the answer with the next
// one: for that very call, once, and for no other client.
func TestAskBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		by := client("c")
		by.Elicit = func(_ context.Context, q *spec.Ask) (spec.AskResult, error) {
			return spec.AskResult{}, &AskBack{q}
		}
		ask := func(by *Caller, args string) (string, error) {
			_, err := r.Ask(t.Context(), by, pay(by, args))
			if back, ok := errors.AsType[*AskBack](err); ok {
				return back.Question.ID, nil
			}
			return "", err
		}
		reply := func(by *Caller, id string, reach spec.Reach) *Caller {
			next := *by
			next.Reply = &Reply{Question: id, Result: spec.AskResult{Reach: reach}}
			return &next
		}
		first, err := ask(by, `{"eur":5}`)
		if err != nil || first == "" {
			t.Fatal(first, err)
		}
		if id, err := ask(reply(by, first, spec.ReachOnce), `{"eur":500}`); id == "" || id == first {
			t.Errorf("an answer to another call: %q, %v", id, err)
		}
		other := client("d")
		other.Elicit = by.Elicit
		if id, err := ask(reply(other, first, spec.ReachOnce), `{"eur":5}`); id == "" || id == first {
			t.Errorf("an answer of another client: %q, %v", id, err)
		}
		if id, err := ask(reply(by, first, spec.ReachOnce), `{"eur":5}`); id != "" || err != nil {
			t.Errorf("the call with its answer: %q, %v", id, err)
		}
		time.Sleep(time.Minute)
		again, err := ask(reply(by, first, spec.ReachOnce), `{"eur":5}`)
		if again == "" || again == first {
			t.Errorf("the answer once more: %q, %v", again, err)
		}
		_, err = ask(reply(by, again, spec.ReachNo), `{"eur":5}`)
		denied(t, err, "has just declined")
		time.Sleep(time.Minute)
		last, err := ask(by, `{"eur":5}`)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(askFor)
		if id, err := ask(reply(by, last, spec.ReachOnce), `{"eur":5}`); id == "" || id == last {
			t.Errorf("an answer that is too late: %q, %v", id, err)
		}
	})
}

// A page that asks back within a call must not have the owner asked for each round; nor may
// the rounds be played again.
func TestRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &window{answer: says(spec.ReachOnce)}
		r := newRig(t, w)
		ask := func(round, after string) {
			by := client("c")
			by.Round, by.After = round, after
			if _, err := r.Ask(t.Context(), by, pay(by, `{}`)); err != nil {
				t.Fatal(err)
			}
		}
		ask("1", "")
		for i := 2; i <= maxRounds; i++ {
			ask(fmt.Sprint(i), fmt.Sprint(i-1))
		}
		if w.count() != 1 {
			t.Errorf("the owner was asked %d times", w.count())
		}
		ask("9", "8")
		if w.count() != 2 {
			t.Error("a further round went unasked")
		}
		ask("2", "1")
		if w.count() != 3 {
			t.Error("a round was played again, unasked")
		}
	})
}

// The owner must see the page that wants to sign in: only there is the code.
func TestSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		codes := []string{"XXXX", "abcd 1234"}
		w := &window{answer: func(_ context.Context, q *spec.Ask) (spec.AskResult, error) {
			r := spec.AskResult{Reach: spec.ReachOnce, Code: codes[0]}
			codes = codes[1:]
			return r, nil
		}}
		r := newRig(t, w)
		s := SignIn{Client: spec.AskClient{Name: "Claude", Return: "a program on this computer"}, Code: "ABCD1234"}
		if _, err := r.SignIn(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if len(w.shown) != 2 || w.shown[0].ID == w.shown[1].ID || w.shown[1].Why[0] != "The code was wrong." {
			t.Errorf("shown %+v", w.shown)
		}
		codes = []string{"1", "2", "3"}
		_, err := r.SignIn(t.Context(), s)
		denied(t, err, "wrong code")

		w.away = true // the command can answer still
		done := make(chan error, 1)
		go func() {
			_, err := r.SignIn(t.Context(), s)
			done <- err
		}()
		synctest.Wait()
		q := r.Open()[0]
		if err := r.Answer(q.ID, q.Digest, spec.AskResult{Reach: spec.ReachOnce, Code: "no"}, ByCommand); err != ErrCode {
			t.Error(err)
		}
		if err := r.Answer(q.ID, q.Digest, spec.AskResult{Reach: spec.ReachOnce, Code: "ABCD1234"}, ByCommand); err != nil || <-done != nil {
			t.Error(err)
		}
	})
}
