package extension_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// booking is a page with a form that the person is to submit.
const booking = `<!doctype html><title>Booking</title>
<form id="form" toolname="book" tooldescription="Books a table" action="/booked"><input name="guests"><button>Book</button></form>`

// A library with forms.
const libraryForms = `<script>
	document.modelContext = {
		getTools: async () => [{name: 'book', description: 'Books a table'}],
		executeTool: (tool, input, {signal} = {}) => new Promise((done, fail) => {
			if (tool.name !== 'book') throw new TypeError('no such tool');
			form.guests.value = JSON.parse(input).guests;
			form.addEventListener('submit', () => done(null), {once: true});
			form.addEventListener('reset', () => fail(new Error('cancelled by a form reset')), {once: true});
			signal?.addEventListener('abort', () => fail(signal.reason));
		}),
	};
</script>`

// waiting is a call that waits for the person in front of the tab.
type waiting struct {
	cancel context.CancelCauseFunc
	done   <-chan string
}

// book calls the tool book, with less time than the person takes, and returns once it waits.
func (h *hub) book(tab int64) waiting {
	h.t.Helper()
	ctx, cancel := context.WithCancelCause(h.t.Context())
	waits := make(chan struct{}, 100)
	wait := tabtransport.Wait{Timeout: chromium.Timeout, Person: chromium.Timeout, Progress: func(p spec.Progress) {
		if p.Waiting && strings.Contains(p.Message, "waiting for the person") {
			waits <- struct{}{}
		}
	}}
	w := waiting{cancel, h.beginWith(ctx, tab, 0, "book", `{"guests":"4"}`, wait)}
	select {
	case <-waits:
	case got := <-w.done:
		h.t.Fatalf("the call ended before it waited: %s", got)
	}
	return w
}

// A form without toolautosubmit waits until the person has submitted or reset it, and the
// tab says so.
func TestFormWaitsForThePerson(t *testing.T) {
	t.Parallel()
	for _, by := range chromium.Rows(1, "extension", "browser", "library") {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			b := h.browse(chromium.Options{WebMCP: by == "browser"})
			page := booking
			if by == "library" {
				page += libraryForms
			}
			url := site(t, map[string]string{"/": page, "/booked": `<!doctype html><title>Booked</title><script type="application/ld+json">{"table":7}</script>`, "/other": "<title>Other</title>"})
			if by == "library" {
				tell(b, fmt.Sprintf(`{ask: "site", origin: %q, webmcp: false}`, url))
			}
			p := b.Open(url)
			worker := b.Worker()
			tab := h.tabWith("book")
			shown := func() string {
				return worker.Eval(fmt.Sprintf(`Promise.all([chrome.action.getBadgeText({tabId: %[1]d}), chrome.action.getTitle({tabId: %[1]d})])`, tab))
			}
			saysWaiting := func(want bool) {
				t.Helper()
				h.wait("the tab waits, or not", func() bool {
					w := h.tabs[tab].state.Waiting
					return w != nil && *w == want
				})
			}

			w := h.book(tab)
			saysWaiting(true)
			if got := shown(); !strings.Contains(got, `"you"`) || !strings.Contains(got, "waits for you") {
				t.Errorf("the extension shows %s", got)
			}
			p.WaitFor("form.guests.value === '4'")
			p.Eval("form.reset()")
			if got := <-w.done; !strings.Contains(got, "cancelled by a form reset") {
				t.Errorf("after a reset: %s", got)
			}
			saysWaiting(false)
			if got := shown(); strings.Contains(got, `"you"`) || strings.Contains(got, "waits") {
				t.Errorf("the extension shows %s", got)
			}

			w = h.book(tab)
			why := errors.New("the client gave up")
			w.cancel(why)
			if got := <-w.done; !strings.Contains(got, why.Error()) {
				t.Errorf("after the client has cancelled: %s", got)
			}
			saysWaiting(false)

			w = h.book(tab)
			p.WaitFor("form.guests.value === '4'")
			p.Click("button")
			if got, want := <-w.done, `{"content":[{"type":"text","text":"[{\"table\":7}]"}]} at `+url+`/booked?guests=4 "Booked"`; !strings.HasPrefix(got, want) {
				t.Errorf("after the person has submitted it: %s, want %s", got, want)
			}

			p.Navigate(url)
			tab = h.tabShowing("book")
			w = h.book(tab)
			p.Navigate(url + "/other")
			if got := <-w.done; !strings.Contains(got, "may have taken effect") || !strings.Contains(got, "/other") {
				t.Errorf("after the person has gone elsewhere: %s", got)
			}
		})
	}
}

// Calls of one form take turns: two that overlap, and are both cancelled, end the process of
// the page in Chromium 156. One that was cancelled before its turn never begins.
func TestCallsOfOneFormTakeTurns(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, native bool) { testCallsOfOneFormTakeTurns(t, native, "") })
	// In a shadow tree only the browser's WebMCP sees forms.
	t.Run("shadow tree", func(t *testing.T) {
		t.Parallel()
		testCallsOfOneFormTakeTurns(t, true, `<script>
			var form = document.querySelector('form');
			document.body.appendChild(document.createElement('div')).attachShadow({mode: 'closed'}).append(form);
		</script>`)
	})
}

func testCallsOfOneFormTakeTurns(t *testing.T, native bool, moved string) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	p := b.Open(site(t, map[string]string{"/": booking + moved + `<script>
		window.activated = 0;
		document.modelContext.addEventListener('toolactivated', () => activated++);
		form.addEventListener('submit', e => { e.preventDefault(); e.respondWith(Promise.resolve('booked')); });
	</script>`}))
	tab := h.tabWith("book")
	stop := errors.New("stop")
	for i := range 3 {
		first, second := h.book(tab), h.book(tab)
		p.WaitFor(fmt.Sprintf("activated === %d", i+1))
		second.cancel(stop)
		<-second.done
		first.cancel(stop)
		<-first.done
	}
	first, second := h.book(tab), h.book(tab)
	p.WaitFor("activated === 4 && form.guests.value === '4'")
	p.Eval("void (form.guests.value = '5')")
	first.cancel(stop)
	p.WaitFor("activated === 5 && form.guests.value === '4'")
	p.Eval("form.requestSubmit()")
	if got := <-second.done; !strings.Contains(got, "booked") {
		t.Errorf("the second call: %s", got)
	}
}

// A page cannot say again and again that its call waits.
func TestPageThatWaitsTooOften(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	p := b.Open(site(t, map[string]string{"/": booking + libraryForms + `<script>
		const post = MessagePort.prototype.postMessage;
		MessagePort.prototype.postMessage = function (message) {
			for (let times = message.type === "waiting" ? 50 : 1; times > 0; times--) post.call(this, message);
		};
	</script>`}))
	tab := h.tabWith("book")
	waits := make(chan struct{}, 100)
	wait := tabtransport.Wait{Timeout: chromium.Timeout, Person: chromium.Timeout, Progress: func(spec.Progress) { waits <- struct{}{} }}
	done := h.beginWith(t.Context(), tab, 0, "book", `{"guests":"4"}`, wait)
	<-waits
	p.WaitFor("form.guests.value === '4'")
	p.Eval("form.reset()")
	if got := <-done; len(waits) > 0 {
		t.Errorf("the hub heard %d times more that the call waits: %s", len(waits), got)
	}
}
