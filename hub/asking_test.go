package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
)

// asking is a hub that asks before shop.example is paid, in a browser of its owner.
type asking struct {
	*fixture
	browser, shop tabtest.End
	claude        *consent.Caller
}

var askingOptions = Options{Mode: policy.ModeCareful, Paired: func() bool { return true }}

func testAsking(t *testing.T, f func(t *testing.T, w *asking)) {
	synctest.Test(t, func(t *testing.T) {
		w := &asking{fixture: newFixture(t, askingOptions), claude: &consent.Caller{Principal: &policy.Principal{ID: "claude"}, Session: "s1"}}
		w.join()
		f(t, w)
	})
}

// join connects the browser and the shop.
func (w *asking) join() {
	w.browser = w.askingBrowser("s1")
	w.shop = w.page("https://shop.example", "k")
	w.register(w.shop, 0, tools("https://shop.example/", "look", `pay:"annotations":{"destructiveHint":true}`))
}

func (w *asking) askingBrowser(session string) tabtest.End {
	w.t.Helper()
	c := chromeConn("b1", session, "")
	c.Pairing = "p1"
	c.Hello.Capabilities = append(c.Hello.Capabilities, spec.CapAsk)
	return w.dial(c)
}

func (w *asking) restart() {
	w.t.Helper()
	w.hub.Close(context.Background())
	w.start(askingOptions)
	w.join()
}

func (w *asking) callAs(ctx context.Context, by *consent.Caller, name string) *pendingCall {
	c := &pendingCall{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.result, c.err = w.hub.Calls.Call(ctx, call.Request{Name: "website_tool_shop_example__" + name, By: by})
	}()
	return c
}

func (w *asking) pay() *pendingCall { return w.callAs(w.t.Context(), w.claude, "pay") }

// asked waits for the next question in the browser.
func (w *asking) asked() tabtest.Request {
	w.t.Helper()
	r := w.browser.Next()
	if r.Method != spec.MethodAsk {
		w.t.Fatalf("the browser was sent %s", r.Method)
	}
	return r
}

func (w *asking) says(r tabtest.Request, reach spec.Reach) {
	w.browser.Answer(r, spec.Response{Result: json.RawMessage(`{"reach":"` + string(reach) + `"}`)}, nil)
}

// paid waits until the shop has been told to pay, and for the end of the call.
func (w *asking) paid(c *pendingCall) {
	w.t.Helper()
	r := w.shop.Next()
	if r.Call.ToolName != "pay" {
		w.t.Fatalf("the shop was sent %s %s", r.Method, r.Call.ToolName)
	}
	answer(w.shop, r, "paid")
	c.want(w.t, "paid")
}

// notPaid checks that nothing was sent to the shop until now.
func (w *asking) notPaid() {
	w.t.Helper()
	c := w.callAs(w.t.Context(), tester, "look")
	r := w.shop.Next()
	if r.Call.ToolName != "look" {
		w.t.Errorf("the shop was sent %s", r.Call.ToolName)
	}
	answer(w.shop, r, "nice")
	c.want(w.t, "nice")
}

// withdrawn waits until the window of a question is closed.
func (w *asking) withdrawn(r tabtest.Request) {
	w.t.Helper()
	if id := w.browser.Cancelled(); id != r.ID {
		w.t.Errorf("the hub cancels %s, want the question %s", id, r.ID)
	}
}

// recorded checks how the latest question has ended.
func (w *asking) recorded(outcome string) {
	w.t.Helper()
	all := w.record.Entries(record.Query{Event: record.Ask})
	if len(all) == 0 || all[len(all)-1].Outcome != outcome {
		w.t.Errorf("the record of the question is %+v, want %q", all, outcome)
	}
}

// A yes for once is good for one call, and a no for none.
func TestAskedOnce(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		c := w.pay()
		w.says(w.asked(), spec.ReachOnce)
		w.paid(c)
		w.recorded("ok")
		c = w.pay()
		w.says(w.asked(), spec.ReachNo) // a window that is closed says so, too
		c.want(t, "DENIED")
		w.notPaid()
		w.recorded("declined")
	})
}

// The record says when each thing happened: a story that is told from it has no other times.
func TestTimesOfAnAskedCall(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		start := time.Now()
		c := w.pay()
		asked := w.asked()
		time.Sleep(13 * time.Second)
		// The page changes meanwhile, so the owner is asked again about what it is now.
		w.register(w.shop, 0, tools("https://shop.example/", "look", `pay:"description":"Pay twice","annotations":{"destructiveHint":true}`))
		w.says(asked, spec.ReachOnce)
		again := w.asked()
		time.Sleep(7 * time.Second)
		w.says(again, spec.ReachOnce)
		r := w.shop.Next()
		if shown, _ := w.hub.Owner.Running(); len(shown) != 1 || shown[0].Asked != 20*time.Second {
			t.Errorf("under way: %+v", shown)
		}
		time.Sleep(2 * time.Second)
		answer(w.shop, r, "paid")
		c.want(t, "paid")
		all := w.record.Entries(record.Query{Tool: "pay"})
		if len(all) != 4 {
			t.Fatalf("the record has %+v", all)
		}
		first, second, begun, call := all[0], all[1], all[2], all[3]
		after := func(e record.Entry) time.Duration { return e.Time.Sub(start) }
		if after(first) != 13*time.Second || first.Asked != 13*time.Second || after(second) != 20*time.Second || second.Asked != 7*time.Second {
			t.Errorf("the questions: %+v\n%+v", first, second)
		}
		if after(begun) != 20*time.Second || begun.Duration != 0 {
			t.Errorf("begun: %+v", begun)
		}
		if after(call) != 0 || call.Decided != 20*time.Second || call.Sent != 20*time.Second || call.Asked != 20*time.Second || call.Duration != 22*time.Second {
			t.Errorf("the call: %+v", call)
		}
		if first.Call != call.Call || second.Call != call.Call || begun.Call != call.Call || second.Question != call.Question {
			t.Errorf("the lines of one call have different ids: %+v", all)
		}
	})
}

// A call that was not sent has no time at which it was.
func TestTimesOfARefusedCall(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		c := w.pay()
		asked := w.asked()
		time.Sleep(5 * time.Second)
		w.says(asked, spec.ReachNo)
		c.want(t, "DENIED")
		call := w.record.Entries(record.Query{Event: record.Call})[0]
		if call.Sent != 0 || call.Decided != 5*time.Second || call.Asked != 5*time.Second || call.Duration != 5*time.Second {
			t.Errorf("%+v", call)
		}
	})
}

// What the owner decides elsewhere holds for a call about which they are asked.
func TestPolicyWhileAsked(t *testing.T) {
	for want, edit := range map[string]func(*policy.Document){
		"PAUSED": func(d *policy.Document) {
			d.Pauses = append(d.Pauses, policy.Pause{Client: "claude", Since: time.Now()})
		},
		"DENIED": func(d *policy.Document) {
			d.Rules = append(d.Rules, policy.Rule{ID: "r1", Effect: policy.Deny, Client: "claude", Site: "shop.example", Tool: "pay"})
		},
	} {
		t.Run(want, func(t *testing.T) {
			testAsking(t, func(t *testing.T, w *asking) {
				c := w.pay()
				r := w.asked()
				start := time.Now()
				if err := w.hub.Rules.EditPolicy("test", func(d *policy.Document) error { edit(d); return nil }); err != nil {
					t.Fatal(err)
				}
				c.want(t, want)
				w.withdrawn(r)
				if time.Since(start) > 0 || len(w.hub.Owner.Desk().Open()) > 0 {
					t.Error("the owner is asked still")
				}
				w.notPaid()
				w.recorded("withdrawn")
			})
		})
	}
}

// A yes is good for what was shown. If the page has described its tool otherwise meanwhile,
// the owner is asked about that, and a third time is none.
func TestToolChangesWhileAsked(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		describe := func(text string) {
			w.register(w.shop, 0, tools("https://shop.example/", "look", `pay:"annotations":{"destructiveHint":true},"title":"`+text+`"`))
		}
		c := w.pay()
		r := w.asked()
		describe("Pay twice")
		w.says(r, spec.ReachOnce)
		r = w.asked()
		if q := w.hub.Owner.Desk().Open()[0]; q.Tool.Title != "Pay twice" {
			t.Errorf("asked about %+v", q.Tool)
		}
		w.says(r, spec.ReachOnce)
		w.paid(c)

		time.Sleep(time.Minute)
		c = w.pay()
		r = w.asked()
		describe("Pay three times")
		w.says(r, spec.ReachOnce)
		r = w.asked()
		describe("Pay four times")
		w.says(r, spec.ReachOnce)
		c.want(t, "changed while its owner was asked")
		w.notPaid()
	})
}

// A yes is good for the values that the owner was told of: if what would be sent turns out to
// be a private site's meanwhile, they are asked about that.
func TestFlowWhileAsked(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		if err := w.hub.Rules.EditPolicy("test", func(d *policy.Document) error { d.Private = []string{"mail.example"}; return nil }); err != nil {
			t.Fatal(err)
		}
		mail := w.page("https://mail.example", "m")
		w.register(mail, 0, tools("https://mail.example/", "read"))
		c := &pendingCall{done: make(chan struct{})}
		go func() {
			defer close(c.done)
			c.result, c.err = w.hub.Calls.Call(t.Context(), call.Request{Name: "website_tool_shop_example__pay", By: w.claude, Args: json.RawMessage(`{"note":"` + code + `"}`)})
		}()
		r := w.asked()
		asked := answering(mail, `{"content":[{"type":"text","text":"Your code is `+code+`."}]}`)
		if _, err := w.hub.Calls.Call(t.Context(), call.Request{Name: "website_tool_mail_example__read", By: w.claude}); err != nil {
			t.Fatal(err)
		}
		<-asked
		w.says(r, spec.ReachOnce)
		r = w.asked()
		if why := strings.Join(w.hub.Owner.Desk().Open()[0].Why, " "); !strings.Contains(why, "mail.example") {
			t.Errorf("the owner is told %q", why)
		}
		w.says(r, spec.ReachOnce)
		w.paid(c)
	})
}

// The tab of which the owner was asked has gone: the call goes nowhere else.
func TestTabClosedWhileAsked(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		other := w.page("https://shop.example", "other")
		w.register(other, 0, tools("https://shop.example/other", "look"))
		c := w.pay()
		r := w.asked()
		w.shop.Notify(0, &spec.TabClosed{})
		synctest.Wait()
		w.says(r, spec.ReachOnce)
		c.want(t, "not sent")
		w.shop = other
		w.notPaid()
	})
}

// A browser that is closed under its question asks it when it is back, and once.
func TestBrowserClosedWhileAsked(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		c := w.pay()
		w.asked()
		w.browser.Cut()
		time.Sleep(time.Second)
		if all := w.hub.Owner.Desk().Open(); len(all) != 1 || all[0].Deferred {
			t.Errorf("questions %+v", all)
		}
		w.browser = w.askingBrowser("s2")
		w.says(w.asked(), spec.ReachOnce)
		w.paid(c)
	})
}

// A host gives up after its own time: the window stays, says that nobody waits, and what the owner
// answers there is good for the same call, once.
func TestClientGivesUpWhileAsked(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := w.callAs(ctx, w.claude, "pay")
		question := w.asked()
		<-c.done
		synctest.Wait()
		if open := w.hub.Owner.Desk().Open(); len(open) != 1 || !open[0].Deferred {
			t.Fatalf("open: %+v", open)
		}
		told := make(chan spec.OwnerState, 1)
		watching, stop := context.WithCancel(t.Context())
		go w.hub.Owner.WatchOwner(watching, "b1", func(s spec.OwnerState) { told <- s })
		if s := <-told; s.Waiting != 1 || len(s.Gone) != 1 || s.Gone[0] != w.hub.Owner.Desk().Open()[0].ID {
			t.Errorf("the browser is told %+v", s)
		}
		stop()
		w.notPaid()
		w.says(question, spec.ReachOnce)
		synctest.Wait()
		next := *w.claude
		next.Session = "s2"
		w.paid(w.callAs(t.Context(), &next, "pay"))
		c = w.pay()
		w.says(w.asked(), spec.ReachNo)
		c.want(t, "DENIED")
	})
}

// story says what the record tells of a call, and when it happened after a time, if that is known.
func (w *asking) story(call *record.Entry, start time.Time) string {
	var lines []record.Line
	for _, e := range w.record.Entries(record.Query{}) {
		if e.Call == call.Call || e.Event == record.Ask && e.Question == call.Question {
			lines = append(lines, record.Line{Entry: e})
		}
	}
	var all []string
	for _, s := range record.Story(lines) {
		words := string(s.Is)
		if !s.At.IsZero() {
			words += fmt.Sprintf(" %s", s.At.Sub(start))
		}
		all = append(all, words)
	}
	return strings.Join(all, ", ")
}

// The story of a call that a late answer has allowed has that answer, and the call that was given up has it,
// too, once each, in the order in which it was.
func TestStoryOfALateAnswer(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := w.callAs(ctx, w.claude, "pay")
		question := w.asked()
		<-c.done
		time.Sleep(time.Until(start.Add(90 * time.Second)))
		w.says(question, spec.ReachOnce)
		time.Sleep(time.Minute)
		w.paid(w.pay())
		calls := w.record.Entries(record.Query{Event: record.Call, Tool: "pay"})
		for i, want := range []string{
			"request 0s, question 0s, answer 1m0s, end 1m0s, answer 1m30s",
			"question 0s, answer 1m30s, request 2m30s, decision, begun, sent, end 2m30s", // here no time passes in between
		} {
			if got := w.story(&calls[i], start); got != want {
				t.Errorf("%s, want\n%s", got, want)
			}
		}
	})
}

// A call about which nobody could be asked is refused without an answer; what its owner says later is found
// by its question.
func TestStoryOfACallOfAnAbsentOwner(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		w.browser.Cut()
		synctest.Wait()
		w.pay().want(t, "DENIED")
		call := w.record.Entries(record.Query{Event: record.Call, Tool: "pay"})[0]
		open := w.hub.Owner.Desk().Open()
		if len(open) != 1 || call.Question != open[0].ID || call.Decision != "ask" || call.Reach != "" {
			t.Fatalf("the call's line is %+v; open: %+v", call, open)
		}
		time.Sleep(time.Hour)
		if err := w.hub.Owner.Desk().Answer(open[0].ID, open[0].Digest, spec.AskResult{Reach: spec.ReachOnce}, consent.ByCommand); err != nil {
			t.Fatal(err)
		}
		if got, want := w.story(&call, call.Time), "request 0s, question 0s, end 0s, answer 1h0m0s"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// A restart does not make a call that its owner has allowed nobody's decision, nor its own what they took.
func TestRecordOfAResumedCallThatWasAsked(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		pays := tools("https://e.com/", `give:"annotations":{"destructiveHint":true}`)
		w.register(w.browser, 1, pays)
		_, stop, c := w.taskOf(w.claude, "website_tool_e_com_give")
		question := w.asked()
		time.Sleep(114 * time.Second)
		w.says(question, spec.ReachOnce)
		r := w.browser.Next()
		stop(tabtransport.ErrLeft)
		<-c.done
		w.restart()
		w.register(w.browser, 1, pays)
		time.Sleep(3 * time.Second)
		answer(w.browser, r, "done")
		synctest.Wait()
		calls := w.record.Entries(record.Query{Event: record.Call, Tool: "give"})
		if len(calls) != 1 {
			t.Fatalf("%+v", calls)
		}
		e := calls[0]
		if e.Decision != "ask" || e.Rule != "preset:destructive" || e.Question == "" || e.By != consent.ByWindow || e.Reach != "once" ||
			e.Asked != 114*time.Second || e.Decided != 114*time.Second || e.Sent != 114*time.Second || e.Took() != 3*time.Second {
			t.Errorf("%+v", e)
		}
	})
}

// What a client is told of the time without an answer is the page's, not its owner's.
func TestTimeOutOfAnAskedCall(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		c := w.pay()
		question := w.asked()
		time.Sleep(100 * time.Second)
		w.says(question, spec.ReachOnce)
		w.shop.Next()
		c.want(t, "no answer within 30s;")
	})
}

// The owner has said yes, and the client gives up before its call is sent, as the tab is away: the yes is
// there when the client asks again.
func TestClientGivesUpBeforeTheCallIsSent(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		ctx, cancel := context.WithCancel(t.Context())
		c := w.callAs(ctx, w.claude, "pay")
		question := w.asked()
		w.shop.Cut()
		synctest.Wait()
		w.says(question, spec.ReachOnce)
		synctest.Wait()
		cancel()
		<-c.done
		w.shop = w.page("https://shop.example", "k")
		w.register(w.shop, 0, tools("https://shop.example/", "look", `pay:"annotations":{"destructiveHint":true}`))
		w.paid(w.pay())
	})
}

// A hub that ends sends nothing of what it has asked about; the next one asks again, and
// knows what it was answered before.
func TestHubEndsWhileAsked(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		c := w.pay()
		w.asked()
		w.restart()
		c.want(t, "NOT_CONNECTED")
		w.notPaid()

		c = w.pay()
		w.says(w.asked(), spec.ReachSession)
		w.paid(c)
		w.restart()
		w.paid(w.pay())
		next := *w.claude
		next.Session = "s2"
		c = w.callAs(t.Context(), &next, "pay")
		w.says(w.asked(), spec.ReachApp)
		w.paid(c)
		w.restart()
		next.Session = "s3"
		w.paid(w.callAs(t.Context(), &next, "pay"))
	})
}

// The hub has ended since a client gave up: what the owner answers the next one is good for the call.
func TestLateAnswerAfterRestart(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		ctx, cancel := context.WithCancel(t.Context())
		c := w.callAs(ctx, w.claude, "pay")
		w.asked()
		cancel()
		<-c.done
		w.restart()
		q := w.hub.Owner.Desk().Open()[0]
		if err := w.hub.Owner.Desk().Answer(q.ID, q.Digest, spec.AskResult{Reach: spec.ReachOnce}, consent.ByCommand); err != nil {
			t.Fatal(err)
		}
		w.restart()
		w.paid(w.pay())
		w.restart()
		c = w.pay()
		w.says(w.asked(), spec.ReachNo)
		c.want(t, "DENIED")
	})
}

// A call that its owner stops must not be sent by a yes that comes afterwards.
func TestStopWhileAsked(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		c := w.pay()
		question := w.asked()
		shown, all := w.hub.Owner.Running()
		if all != 1 || shown[0].Phase != call.PhaseAsking || shown[0].Tool != "pay" || shown[0].Decision != "" {
			t.Fatalf("under way: %+v", shown)
		}
		if !w.hub.Owner.Stop(shown[0].ID) || w.hub.Owner.Stop("") {
			t.Error("not stopped, or what has no name is")
		}
		w.withdrawn(question)
		c.want(t, "the owner has stopped this call; it was not sent")
		if open := w.hub.Owner.Desk().Open(); len(open) != 0 {
			t.Errorf("still open: %+v", open)
		}
		w.notPaid()
		if _, all := w.hub.Owner.Running(); all != 0 {
			t.Errorf("%d are under way at the end", all)
		}
		w.recorded("withdrawn")
	})
}

// What a client has put into the address of a resource is shown in full, as arguments are.
func TestAskingShowsAnAddress(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		if err := w.hub.Rules.EditPolicy("test", func(doc *policy.Document) error {
			doc.Put(policy.Rule{ID: "ask", Effect: policy.Ask, Site: "shop.example"}, time.Now())
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		w.register(w.shop, 0, register(spec.KindResource, "https://shop.example/", `{"uriTemplate":"shop://order/{note}","name":"order"}`))
		uri := "shop://order/" + strings.Repeat("x", 100) + "secret" + strings.Repeat("x", 100)
		done := make(chan error)
		go func() {
			_, err := w.hub.Calls.ReadResource(t.Context(), w.claude, "tabhub://shop.example/"+uri)
			done <- err
		}()
		q := w.asked()
		if args := w.hub.Owner.Desk().Open()[0].Args; len(args) != 1 || args[0].Value != uri {
			t.Errorf("the owner is shown %+v", args)
		}
		w.says(q, spec.ReachNo)
		<-done
	})
}

// A yes must not be used up by a call that was not sent, as a dialog blocks its page.
func TestYesForCallThatIsNotSent(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		w.register(w.browser, 1, tools("https://bank.example/", `send:"annotations":{"destructiveHint":true}`))
		dialog := func(d spec.Dialog) { w.browser.Notify(1, &spec.TabState{Dialog: &d}); synctest.Wait() }
		send := func() *pendingCall {
			c := &pendingCall{done: make(chan struct{})}
			go func() {
				defer close(c.done)
				c.result, c.err = w.hub.Calls.Call(t.Context(), call.Request{Name: "website_tool_bank_example__send", By: w.claude})
			}()
			return c
		}
		c := send()
		q := w.asked()
		dialog(spec.Dialog{Type: "confirm", Message: "Sure?"})
		w.says(q, spec.ReachOnce)
		c.want(t, "nothing was sent")
		dialog(spec.Dialog{})
		send()
		if r := w.browser.Next(); r.Method != spec.MethodExecuteTool {
			t.Errorf("the browser was sent %s", r.Method)
		}
	})
}
