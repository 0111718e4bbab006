package extension_test

import (
	"fmt"
	"slices"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// lease has the hub say that Claude Code has leased a tab, and that a call of it waits there.
func (h *hub) lease(tab int64, waiting bool) {
	h.tellOwner(func(o *spec.OwnerState) {
		o.Held = []spec.HeldTab{{TabID: tab, By: "Claude Code", UntilMs: 600_000, Waiting: waiting}}
	})
}

// listens waits until a tab's top document is watched for user input.
func listens(b *chromium.Browser, tab int64) {
	w := b.Worker()
	defer w.Close()
	w.WaitFor(fmt.Sprintf(`chrome.scripting.executeScript({target: {tabId: %d}, func: () => globalThis.tabhubUserInput !== undefined}).then(([{result}]) => result, () => false)`, tab))
}

// awaitInputs waits until the extension has reported this user input.
func (h *hub) awaitInputs(want ...userInput) {
	h.t.Helper()
	h.wait(fmt.Sprintf("the user input %v", want), func() bool { return slices.Equal(h.inputs, want) })
}

// While a client has leased a tab, the hub learns when the owner uses it: by a key, by a click in a frame,
// also after the page was loaded again, and until another tab is in front. No script can say it.
func TestUserInput(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	frame := site(t, map[string]string{"/": `<!doctype html><body style="margin: 0; height: 100vh; background: tan">`})
	page := b.Open(site(t, map[string]string{"/": shop + `<iframe style="position: fixed; inset: 50% 0 0 0; width: 100%; height: 50%" src="` + frame + `"></iframe>`}))
	tab := h.tabWith(shopTools...)

	page.Keys("x") // no client has leased it, and nothing watches
	h.lease(tab, false)
	listens(b, tab)
	page.Eval(`dispatchEvent(new KeyboardEvent("keydown")); document.body.click(); scrollBy(0, 10)`)
	// What follows on the same ways comes after it.
	byOwner(b, `chrome.scripting.executeScript({target: {tabId: %d}, func: () => chrome.runtime.sendMessage({type: "userInput", inFrame: true})})`, tab)
	if _, err := h.ask(0, &spec.ListTabs{}); err != nil || len(h.inputs) > 0 {
		t.Errorf("a script's events: %v, %v", h.inputs, err)
	}
	page.Keys("x")
	h.awaitInputs(userInput{tab, true})
	other := b.Open(site(t, map[string]string{"/": "<!doctype html><title>Other</title>"}))
	h.awaitInputs(userInput{tab, true}, userInput{tab, false})

	page.Front()
	page.Reload()
	listens(b, tab)
	page.Click("iframe")
	h.awaitInputs(userInput{tab, true}, userInput{tab, false}, userInput{tab, true})

	// It is said again to a hub that has forgotten it, and taken back with the lease.
	h.cut()
	h.awaitInputs(userInput{tab, true}, userInput{tab, false}, userInput{tab, true}, userInput{tab, true})
	h.tellOwner(func(o *spec.OwnerState) { o.Held = nil })
	h.awaitInputs(userInput{tab, true}, userInput{tab, false}, userInput{tab, true}, userInput{tab, true}, userInput{tab, false})
	other.Close()
}

// The owner sees which client has leased a tab, and that it waits for them to leave it, and can end the lease.
func TestLeasedTab(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	page := b.Open(site(t, map[string]string{"/": shop}))
	tab := h.tabWith(shopTools...)
	popup := h.popup(b, tab)
	h.lease(tab, false)
	has(t, popup, "#held", "Leased by Claude Code", "Until ", "No other app uses the tab")
	inBothShades(t, popup, "popup-held")
	h.lease(tab, true)
	page.WaitFor(marked)
	title := fmt.Sprintf("chrome.action.getTitle({tabId: %d})", tab)
	popup.WaitFor(title + ".then((is) => is === 'tabhub: Claude Code waits for you to finish')")
	has(t, popup, "#held", "It waits for you to finish here")
	inBothShades(t, popup, "popup-waits")
	page.Front()
	picture(t, page, "mark-waits")
	popup.Click("#held button")
	popup.WaitFor("document.querySelector('#held').hidden")
	page.WaitFor("!" + marked)
	popup.WaitFor(title + ".then((is) => is === 'tabhub: Connected')")
}
