// Pictures of the tab in front. The browser pictures whatever is in front at the moment,
// with all that is framed in it. So a picture counts only if the user shares the site of
// every document in the tab, before and after it was taken and in between.

import { Code, Refusal, elsewhere, notShared } from "./refusal.ts";
import { askDocuments } from "./documents.ts";
import { permitsAll, permitsDocument, permitsPage } from "./settings.ts";

import { isAt } from "./tab.ts";

/** How often a picture is tried, and how many ms apart. */
const TRIES = 6;
const PAUSE = 600;
/** How long the documents of a tab may take to tell their origins, in ms. */
const TIMEOUT = 2_000;
/** How many frames a page draws until what it has removed is shown no more. */
const FRAMES = 5;

/**
 * Pictures a tab.
 * @param ifOrigin what the tab must show
 * @returns a data URL
 */
export async function picture(tabId: number, settings: () => Settings, ifOrigin?: string): Promise<string> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const taken = await attempt(tabId, settings, ifOrigin);
    if (taken !== undefined) return taken;
    await new Promise((done) => setTimeout(done, PAUSE));
  }
  throw new Refusal(Code.Unsupported, "the browser cannot picture this tab: what it shows does not come to rest");
}

/** @returns undefined if it may succeed a little later */
async function attempt(tabId: number, settings: () => Settings, ifOrigin?: string): Promise<string | undefined> {
  const change = new Change(tabId, settings, ifOrigin);
  try {
    const { windowId } = await inFront(tabId, ifOrigin);
    const before = await shared(tabId, settings);
    if (!(await drawn(tabId, settings))) return undefined;
    const taken = await chrome.tabs.captureVisibleTab(windowId, { format: "png" }).catch(passing);
    const after = await inFront(tabId, ifOrigin);
    const same = after.windowId === windowId && (await shared(tabId, settings)) === before;
    return same && !change.happened ? taken : undefined;
  } finally {
    change.stop();
  }
}

async function inFront(tabId: number, ifOrigin?: string) {
  const tab = await chrome.tabs.get(tabId);
  if (!isAt(tab.url, ifOrigin)) throw elsewhere();
  if (tab.active) return tab;
  throw new Refusal(Code.Unsupported, "the browser can only picture the tab in front of its window; activate it first");
}

/**
 * A tab that has just come to the front has yet to be drawn, and a browser takes no more
 * than two pictures a second. Any other error may tell of a page that came in front.
 */
function passing(error: unknown) {
  if (/readback|quota/i.test(String(error))) return undefined;
  throw new Refusal(Code.Unsupported, "the browser does not let extensions picture this tab");
}

/**
 * Waits until the screen shows no more what was in a page before: there the page is a few of
 * its own frames late, and longer while it has what is gone fade out.
 * @returns false if that takes too long
 */
async function drawn(tabId: number, settings: () => Settings): Promise<boolean> {
  if (permitsAll(settings())) return true;
  const func = (frames: number) =>
    new Promise((done) => {
      const next = (left: number) => {
        if (left) requestAnimationFrame(() => next(left - 1));
        else done(!((document as any).activeViewTransition));
      };
      next(frames);
    });
  const [answer] = await askDocuments({ target: { tabId }, func, args: [FRAMES] }, TIMEOUT);
  return answer?.result === true;
}

/**
 * The document that a tab shows, if the user shares its site and those of all its frames.
 * @returns its id; "" where it does not matter, or is a page of the browser itself
 */
async function shared(tabId: number, settings: () => Settings): Promise<string> {
  if (permitsAll(settings())) return "";
  const { url = "" } = await chrome.tabs.get(tabId);
  const documents = await documentsOf(tabId);
  const all = permitsPage(settings(), url) && documents?.every((document) => permitsDocument(settings(), document));
  if (!all) throw notShared();
  return documents?.find(({ frameId }) => frameId === 0)?.documentId ?? "";
}

/**
 * What the browser says of all documents in a tab that can be a site's.
 * @returns undefined if one of them does not answer; none of a page of the browser itself
 */
function documentsOf(tabId: number): Promise<{ origin?: string; url?: string; frameId: number; documentId: string }[] | undefined> {
  const asked = chrome.scripting
    .executeScript({
      target: { tabId, allFrames: true },
      injectImmediately: true,
      func: () => ({ origin: self.origin, url: location.href }),
    })
    .then((frames) => frames.map(({ result, frameId, documentId }) => ({ ...result, frameId, documentId })))
    .catch(() => []);
  return Promise.race([asked, new Promise<undefined>((late) => setTimeout(late, TIMEOUT))]);
}

// A worker that ended under a picture leaves the browser waking the next one for each document.
const nothing = () => {};
chrome.webNavigation.onCommitted.addListener(nothing);
chrome.webNavigation.onCommitted.removeListener(nothing);

/** Notes whether what a tab shows has changed, be it for a moment. */
class Change {
  happened = false;
  #tabId;
  #settings;
  #ifOrigin;

  constructor(tabId: number, settings: () => Settings, ifOrigin?: string) {
    this.#tabId = tabId;
    this.#settings = settings;
    this.#ifOrigin = ifOrigin;
    chrome.tabs.onActivated.addListener(this.#activated);
    chrome.webNavigation.onCommitted.addListener(this.#committed);
  }

  stop() {
    chrome.tabs.onActivated.removeListener(this.#activated);
    chrome.webNavigation.onCommitted.removeListener(this.#committed);
  }

  /** In any window: a tab may be moved to another one. */
  #activated = () => {
    this.happened = true;
  };

  /** A document has come, perhaps to go at once: one in a frame announces itself nowhere else. */
  #committed = (document: { tabId: number; frameId: number; url: string }) => {
    if (document.tabId !== this.#tabId) return;
    const another = document.frameId === 0 && !isAt(document.url, this.#ifOrigin);
    if (another || !permitsDocument(this.#settings(), document)) this.happened = true;
  };
}
