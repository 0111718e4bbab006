package call

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tabhub/describe"
	"tabhub/hub/core"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
)

// nextPageWait is how long a page that comes back after a call has lost it may take to have
// its tools.
const nextPageWait = 2 * time.Second

// maxNextTools is how many tools of the page that a call has led to its result names.
const maxNextTools = 20

// nextPage returns where a tab is whose document has gone under a call: a page that joins
// by itself comes back, and soon has its tools. nil says that it has not.
func (cs *Calls) nextPage(ctx context.Context, addr spec.TabAddr) (page *spec.Page) {
	ctx, cancel := context.WithTimeout(ctx, nextPageWait)
	defer cancel()
	// Whether it is the time that is up is all the same: page is what is known then.
	_ = cs.core.Await(ctx, func() (registered bool) {
		cs.core.RLock()
		defer cs.core.RUnlock()
		page, registered = cs.core.State().Tab(addr).NextPage()
		return page == nil || registered
	})
	return page
}

// submitted is the result of a form whose page is about to give way to another one. A page that
// joins by itself says no more of that.
const submitted = `{"content":[{"type":"text","text":"The form was submitted."}]}`

// submittedWait is how long a page may take to give way to what its form has led to, and that to
// join.
const submittedWait = time.Second

// afterForm learns what has followed a form of a page that joins by itself. It returns what to say if
// that is not known.
func (r *run) afterForm(ctx context.Context) string {
	peer := r.target.Addr.Peer
	becomes := func(connected bool, wait time.Duration) bool {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		return r.h.core.Await(ctx, func() bool {
			return core.View(r.h.core, func(s *state.State) bool { return s.Connected(peer) }) == connected
		}) == nil
	}
	if !becomes(false, submittedWait) {
		return "The page is still the same: what the form was for may be loading, or is shown elsewhere."
	}
	if becomes(true, 2*nextPageWait) {
		r.next = r.h.nextPage(ctx, r.target.Addr)
	}
	if r.next == nil {
		return "The page has gone and has not come back: whether the request has reached anybody is not known."
	}
	return ""
}

// describePage says to a client where a call has led, and what there is to call.
func (cs *Calls) describePage(by *consent.Caller, addr spec.TabAddr, page *spec.Page) string {
	url := core.View(cs.core, func(s *state.State) string { return s.Tab(addr).Believed(page.URL) })
	names := cs.lists.ToolNames(by, addr)
	switch reason := describe.Clean(page.Error, 128); {
	case reason == spec.PageAborted:
		return "No new page was shown: what came was a download or had no content, or loading was stopped."
	case reason != "":
		at := ""
		if url != "" {
			at = " at " + describe.Clean(url, spec.MaxURI)
		}
		return fmt.Sprintf("The page%s cannot be loaded: %s. The request may not have reached a server.", at, reason)
	case url == "":
		return "The tab now shows another page, of which the hub is told nothing."
	}
	text := "The page is now at " + describe.Clean(url, spec.MaxURI)
	if title := describe.Clean(page.Title, spec.MaxTitle); title != "" {
		text += " (“" + title + "”)"
	}
	switch more := len(names) - maxNextTools; {
	case len(names) == 0:
		return text + ". It has no tools."
	case more > 0:
		return fmt.Sprintf("%s. Tools there: %s and %d more.", text, strings.Join(names[:maxNextTools], ", "), more)
	}
	return fmt.Sprintf("%s. Tools there: %s.", text, strings.Join(names, ", "))
}
