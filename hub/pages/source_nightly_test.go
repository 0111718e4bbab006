//go:build nightly

package pages_test

import (
	"sync/atomic"
	"testing"

	"tabhub/hub/lists"
	"tabhub/tabtransport/tabtest/chromium"
)

// A page that is too busy to list what it has still has it.
func TestPageServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.host(`<script>`+pageServer+`begin()</script><script src="http://HUB/tab.js"></script>`, ""))
	s.name("served")
	var least atomic.Int32
	least.Store(1)
	defer s.hub.Lists.Watch(func(lists.Change) {
		if len(s.names()) == 0 {
			least.Store(0)
		}
	})()
	// The next list is not answered.
	page.Eval(`{
		const served = post;
		const drop = (m) => { if (m.result?.tools) post = served; else served(m) };
		post = drop;
		void change([{name: "served"}, {name: "more"}]);
	}`)
	s.await("the list is read again", func() bool { return len(s.names()) == 2 })
	if least.Load() == 0 {
		t.Error("the tools went when the list was not answered")
	}
}
