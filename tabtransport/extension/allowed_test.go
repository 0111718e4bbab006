package extension_test

import (
	"fmt"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// A person can keep the extension out of all sites until they allow it in one: the popup says so,
// and an open page of the site offers its tools as soon as it is allowed, without being reloaded.
func TestSiteNotYetAllowed(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	extensions := b.Open("chrome://extensions")
	extensions.Eval(fmt.Sprintf(`chrome.developerPrivate.updateExtensionConfiguration({extensionId: %q, hostAccess: "ON_CLICK"})`, b.ExtensionID))
	address := site(t, map[string]string{"/": `<!doctype html><title>Withheld</title><script>
		document.modelContext.registerTool({name: "open", description: "d", execute: () => 1});
	</script>`}) + "/"
	b.Open(address)
	popup := h.popup(b, 0)
	var tab int64
	popup.Into(fmt.Sprintf(`(async () => {
		for (const {id: tabId} of await chrome.tabs.query({})) {
			if ((await chrome.webNavigation.getFrame({tabId, frameId: 0}))?.url === %q) return tabId;
		}
	})()`, address), &tab)
	popup.Close()
	popup = h.popup(b, tab)
	has(t, popup, "#sites", "127.0.0.1", "not allowed the extension in this site yet", "Allow it in this site")
	picture(t, popup, "popup-withheld")
	accessible(t, popup, "withheld")
	popup.Close() // as the browser does, to ask
	extensions.Eval(fmt.Sprintf(`chrome.developerPrivate.addHostPermission(%q, "http://127.0.0.1/*")`, b.ExtensionID))
	has(t, h.popup(b, h.tabWith("open")), "#sites", "1 tool")
}
