package extension_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// The browser stops the worker whenever it likes. No client may notice.
func TestWorkerStopped(t *testing.T) {
	t.Parallel()
	bothWays(t, testWorkerStopped)
}

func testWorkerStopped(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	p := b.Open(site(t, map[string]string{"/": shop}))
	tab := h.tabWith(shopTools...)
	h.mu.Lock()
	session := h.hello.Session
	h.mu.Unlock()
	fewest := h.fewest(tab)

	// Pages bring the worker back, not the alarm that does where no page is open.
	w := b.Worker()
	w.Eval("chrome.alarms.clearAll()")
	w.Close()

	// A call is under way, and ends only after the worker was stopped.
	result := h.begin(tab, 0, "slow", `{"ms":1500}`)
	p.WaitFor("counts.slow === 1")
	h.stopWorker(b)
	if got := <-result; !strings.Contains(got, "late") {
		t.Errorf("the call under way: %s", got)
	}
	if got, err := h.call(tab, "words", "{}"); err != nil || !strings.Contains(got, "plain words") {
		t.Errorf("a call afterwards: %s, %v", got, err)
	}
	if n := p.Eval("counts.slow"); n != "1" {
		t.Errorf("the page ran the call %s times", n)
	}
	h.wait("all tools told again", func() bool { return h.tabs[tab].registrations > 0 })
	if n := fewest(); n != len(shopTools) {
		t.Errorf("after the stop the hub saw %d tools", n)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hello.Session != session {
		t.Errorf("the session was %q, then %q", session, h.hello.Session)
	}
}

// A hub that was restarted knows nothing, and learns all, without asking a page.
func TestHubRestartedUnderLoad(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	url := site(t, map[string]string{"/": shop})
	p, p2 := b.Open(url), b.Open(url)
	h.wait("both tabs", func() bool { return len(h.tabs) == 2 })

	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for _, tab := range h.ids() {
		load.Go(func() {
			for ctx.Err() == nil {
				_, err := h.callFrame(ctx, tab, 0, "words", "{}", tabtransport.Wait{Timeout: time.Second})
				if err == nil {
					mu.Lock()
					done++
					mu.Unlock()
				} else if errors.Is(err, tabtransport.ErrNotConnected) {
					return
				}
			}
		})
	}
	p.WaitFor("counts.words > 3")
	h.stop()
	stop()
	load.Wait()
	h.restart()
	h.wait("both tabs again", func() bool {
		n := 0
		for _, tab := range h.tabs {
			if equal(names(tab.tools), shopTools) && tab.state.Active != nil {
				n++
			}
		}
		return n == 2
	})
	var ran, ran2 int
	p.Into("counts.words", &ran)
	p2.Into("counts.words", &ran2)
	if ran+ran2 < done {
		t.Errorf("%d calls were answered, the pages ran %d", done, ran+ran2)
	}
	for _, tab := range h.ids() {
		if got, err := h.call(tab, "words", "{}"); err != nil || !strings.Contains(got, "plain words") {
			t.Errorf("a call afterwards: %s, %v", got, err)
		}
	}
}

// A cancellation reaches the page, and a call that cannot be cancelled is abandoned.
func TestCancelAndProgress(t *testing.T) {
	t.Parallel()
	bothWays(t, testCancelAndProgress)
}

func testCancelAndProgress(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	url := site(t, map[string]string{"/": shop, "/old": strings.ReplaceAll(oldServer, "ANNOUNCED", "0")})
	p := b.Open(url)
	tab := h.tabWith(shopTools...)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := h.beginWith(ctx, tab, 0, "slow", `{"ms":60000}`, tabtransport.Wait{Timeout: time.Minute})
	p.WaitFor("counts.slow === 1")
	cancel(errors.New("the user said stop"))
	p.WaitFor("document.title.startsWith('aborted')")
	<-done

	p = b.Open(url + "/old")
	tab = h.tabWith("old")
	p.Eval(`change([{name: 'slow'}])`)
	h.tabWith("slow")
	ctx, cancel = context.WithCancelCause(t.Context())
	progress := make(chan spec.Progress, 8)
	done = h.beginWith(ctx, tab, 0, "slow", `{}`, tabtransport.Wait{Timeout: time.Minute, Progress: func(p spec.Progress) { progress <- p }})
	if got := <-progress; got.Progress != 1 || got.Total == nil || *got.Total != 2 || got.Message != "half" {
		t.Errorf("progress: %+v", got)
	}
	cancel(errors.New("the user said stop"))
	p.WaitFor("document.title === 'cancelled: the user said stop'")
	<-done
}

// A call that is cancelled while its page cannot speak to a worker that was restarted is
// cancelled when the page can: else it would go on, and nothing could stop it.
func TestCancelBeforePageIsBack(t *testing.T) {
	t.Parallel()
	blocked, release := make(chan struct{}), make(chan struct{})
	unblock := sync.OnceFunc(func() { close(release) })
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(blocked)
		<-release
	}))
	t.Cleanup(server.Close)
	t.Cleanup(unblock)
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	p := b.Open(site(t, map[string]string{"/": shop}))
	tab := h.tabWith(shopTools...)
	// A page of another site has a process of its own, goes on, and wakes the worker.
	elsewhere := strings.Replace(site(t, map[string]string{"/": shop}), "127.0.0.1", "localhost", 1)
	b.Open(elsewhere)
	other := h.tabAt(elsewhere, shopTools...)

	ctx, cancel := context.WithCancelCause(t.Context())
	done := h.beginWith(ctx, tab, 0, "slow", `{"ms":60000}`, tabtransport.Wait{Timeout: time.Minute})
	p.WaitFor("counts.slow === 1")
	w := b.Worker()
	w.WaitFor("chrome.storage.session.get('calls').then(({calls}) => calls && Object.keys(calls).length === 1)")
	w.Close()
	p.Eval(fmt.Sprintf(`void setTimeout(() => {
		const request = new XMLHttpRequest();
		request.open("GET", %q, false);
		try { request.send() } catch { /* of another origin */ }
	})`, server.URL))
	<-blocked
	h.change(func() { h.tabs = map[int64]*tabView{} })
	h.stopWorker(b)
	h.wait("the other page is back", func() bool {
		return h.tabs[other] != nil && slices.Contains(names(h.tabs[other].tools), "words")
	})
	cancel(errors.New("the user said stop"))
	<-done
	// Once this is answered the worker has read the cancellation, too.
	if got, err := h.call(other, "words", "{}"); err != nil || !strings.Contains(got, "plain words") {
		t.Errorf("a call to the other page: %s, %v", got, err)
	}
	unblock()
	p.WaitFor("document.title.startsWith('aborted')")
}

// A page that is left during a call may have run it: the hub soon gets the outcome and the tab's new
// address.
func TestPageGoneUnderCall(t *testing.T) {
	t.Parallel()
	for _, c := range chromium.Rows(3, []struct {
		how    string
		native bool
	}{{"navigates", true}, {"reloads", false}, {"crashes", true}, {"closes", true}, {"navigates", false}, {"reloads", true}}...) {
		how := c.how
		t.Run(fmt.Sprintf("%s native=%v", how, c.native), func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			b := h.browse(chromium.Options{WebMCP: c.native})
			url := site(t, map[string]string{"/": shop, "/next": "<title>next</title>"})
			p := b.Open(url)
			tab := h.tabWith(shopTools...)
			done := h.begin(tab, 0, "slow", `{"ms":60000}`)
			p.WaitFor("counts.slow === 1")
			at := ""
			switch how {
			case "navigates":
				p.Navigate(url + "/next")
				at = url + `/next "next"`
			case "reloads":
				p.Reload()
				at = url + `/ "Shop"`
			case "crashes":
				p.Crash()
			case "closes":
				p.Close()
			}
			if got := <-done; !strings.Contains(got, "may have taken effect") || !strings.Contains(got, at) {
				t.Errorf("the call ended with %s; want it to say that the tab is at %s", got, at)
			}
			if how == "closes" {
				h.wait("the tab is closed", func() bool { return len(h.closed) == 1 && h.closed[0] == tab })
			}
		})
	}
}

// A hub that refuses is not asked again and again, and the user learns why.
func TestRefused(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	h.change(func() { h.refuse = spec.Errorf(spec.CodeRefused, "this browser is one too many") })
	h.restart()
	popup := b.Open("chrome-extension://" + b.ExtensionID + "/popup.html")
	popup.WaitFor(`document.querySelector('#detail').textContent.includes("one too many")`)
	h.stop()
	popup.Click("#retry")
	popup.WaitFor(`document.querySelector('#headline').textContent === 'The hub is not running'`)
	h.change(func() { h.refuse = nil })
	h.restart()
	popup.WaitFor(`document.querySelector('#headline').textContent === 'Connected'`)
}

// A hub that cannot serve the browser at this moment, because another one is taking over or there
// are too many sockets, is asked again.
func TestNotNow(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.browse(chromium.Options{WebMCP: true})
	for _, code := range []int{spec.CodeInternal, spec.CodeLimit} {
		refused, hellos := 0, 0
		h.change(func() { h.refuse, refused, hellos = spec.Errorf(code, "not now"), h.refused, h.hellos })
		h.cut()
		h.wait("the browser is refused", func() bool { return h.refused > refused })
		h.change(func() { h.refuse = nil })
		h.wait("the browser is back", func() bool { return h.hellos > hellos })
	}
}
