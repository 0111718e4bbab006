// What gives pages WebMCP: the browser, or this extension where the browser has none. A service worker
// has no WebMCP itself: only a document can tell.

/** How long the first hello waits for a page to tell, which may be too busy to. */
const BUSY = 300;

/** Whether this worker has seen it. */
let seen = false;

/** What gives pages WebMCP, as far as a page has shown. */
export async function webMCPProvider(): Promise<"browser" | "extension" | undefined> {
  const known = async (): Promise<any> => (await chrome.storage.local.get("webmcp")).webmcp;
  if (!(await known())) {
    const [tab] = await chrome.tabs.query({ url: ["https://*/*", "http://localhost/*", "http://127.0.0.1/*"], discarded: false });
    const looked = tab?.id !== undefined && lookForWebMCP({ tabId: tab.id });
    await Promise.race([looked, new Promise((done) => setTimeout(done, BUSY))]);
  }
  return known();
}

/**
 * Looks in a document whether the browser has WebMCP, once. The extension's own world is asked: there
 * is nothing of the page's.
 */
export async function lookForWebMCP(target: chrome.scripting.InjectionTarget) {
  if (seen) return;
  try {
    // An element of the page may have the name, too.
    const func = () => (isSecureContext ? (Object.hasOwn(window, "ModelContext") ? "browser" : "extension") : undefined);
    const [{ result }] = await chrome.scripting.executeScript({ target, func, injectImmediately: true });
    if (!result || seen) return;
    seen = true;
    await chrome.storage.local.set({ webmcp: result });
  } catch {
    // The document is closed to extensions, or has gone.
  }
}
