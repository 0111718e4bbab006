// Waits until a page rests: it has loaded, and for a while neither has its document changed nor
// was a request of it under way. The browser tells of a page's requests only while somebody listens:
// that is while a page is waited for, and for a moment after the hub has sent a tab somewhere.

/** How long nothing may happen, in ms; in a page that is not shown, whose timers run once a second, longer. */
const QUIET = 500;
const QUIET_HIDDEN = 1_500;
/** How often a page is looked at, in ms: at first, and after a while. */
const LOOK = 100;
const LOOK_LATER = 250;
const LATER = 5_000;
/** How long a page may take to be looked at, in ms. */
const BUSY = 2_000;
/** How long the requests of a tab are counted that the hub has sent somewhere, in ms. */
const COUNTED = 30_000;
/** How often in a row a page that has loaded may refuse to be looked at. */
const REFUSALS = 10;
const MAX_ORIGINS = 3;

/** Requests that a page does not wait for, or that have no end. @type {ReadonlySet<string>} */
const ENDLESS = new Set(["websocket", "webtransport", "ping", "csp_report", "media"]);

/** The requests of one tab. */
class Requests {
  /** When one has begun or ended last. */
  last = performance.now();
  /** The origins of those under way, by their ids. @type {Map<string, string>} */
  open = new Map();
  /** Who needs them. */
  users = 0;

  /** @param {number} tabId */
  constructor(tabId) {
    const filter = { urls: ["<all_urls>"], tabId };
    chrome.webRequest.onBeforeRequest.addListener(this.#begun, filter);
    chrome.webRequest.onResponseStarted.addListener(this.#answered, filter, ["responseHeaders"]);
    chrome.webRequest.onCompleted.addListener(this.#ended, filter);
    chrome.webRequest.onErrorOccurred.addListener(this.#ended, filter);
  }

  stop() {
    chrome.webRequest.onBeforeRequest.removeListener(this.#begun);
    chrome.webRequest.onResponseStarted.removeListener(this.#answered);
    chrome.webRequest.onCompleted.removeListener(this.#ended);
    chrome.webRequest.onErrorOccurred.removeListener(this.#ended);
  }

  /** @param {{requestId: string, url: string, type: string}} request */
  #begun = ({ requestId, url, type }) => {
    if (ENDLESS.has(type)) return undefined;
    this.last = performance.now();
    this.open.set(requestId, new URL(url).origin);
    return undefined;
  };

  /** @param {{requestId: string, responseHeaders?: {name: string, value?: string}[]}} request */
  #answered = ({ requestId, responseHeaders }) => {
    const stream = responseHeaders?.some(({ name, value }) => name.toLowerCase() === "content-type" && value?.startsWith("text/event-stream"));
    if (stream) this.open.delete(requestId);
  };

  /** @param {{requestId: string, type: string}} request */
  #ended = ({ requestId, type }) => {
    this.open.delete(requestId);
    if (!ENDLESS.has(type)) this.last = performance.now();
  };
}

/** By tab. @type {Map<number, Requests>} */
const counted = new Map();

/** @param {number} tabId @returns {() => void} lets go of them */
function requestsOf(tabId) {
  const requests = counted.get(tabId) ?? new Requests(tabId);
  counted.set(tabId, requests);
  requests.users++;
  return () => {
    if (--requests.users) return;
    requests.stop();
    counted.delete(tabId);
  };
}

/**
 * Counts the requests of a tab that the hub sends somewhere: a page that is waited for next
 * may have some under way by then.
 *
 * @param {number} tabId
 */
export function count(tabId) {
  setTimeout(requestsOf(tabId), COUNTED);
}

/**
 * Blocks until the page of a tab rests, or for a time.
 *
 * @param {object} options
 * @param {number} options.tabId
 * @param {number} options.waitMs
 * @param {() => Promise<chrome.tabs.Tab>} options.check returns the tab, unless it must not be looked at
 * @param {() => Error} options.refused what to say of a page that cannot be looked at
 * @param {AbortSignal} signal it never settles when this is aborted
 * @returns {Promise<FromHub["browser/rest"]["result"]>}
 */
export async function rest({ tabId, waitMs, check, refused }, signal) {
  const letGo = requestsOf(tabId);
  const requests = /** @type {Requests} */ (counted.get(tabId));
  const began = performance.now();
  let quiet = began;
  let changes = 0;
  let refusals = 0;
  /** @type {Looked} */
  let before = {};
  try {
    for (;;) {
      const tab = await check();
      const now = await look(tabId);
      if (signal.aborted) return await new Promise(() => {});
      const loading = tab.status !== "complete" || !!tab.pendingUrl || !now.ready;
      if (now.refused && !loading && ++refusals > REFUSALS) throw refused();
      if (!now.refused) refusals = 0;
      const time = performance.now();
      if (loading || now.document !== before.document || now.changes !== before.changes) quiet = time;
      if (now.document === before.document) changes += (now.changes ?? 0) - (before.changes ?? 0);
      before = now;
      const enough = now.hidden ? QUIET_HIDDEN : QUIET;
      if (!now.refused && !requests.open.size && time - Math.max(quiet, requests.last) >= enough) return { rested: true };
      if (time - began >= waitMs) {
        const origins = [...new Set(requests.open.values())].slice(0, MAX_ORIGINS);
        return { rested: false, loading, busy: !!now.busy, changes, requests: requests.open.size, origins };
      }
      await new Promise((resolve) => setTimeout(resolve, time - began < LATER ? LOOK : LOOK_LATER));
    }
  } finally {
    letGo();
  }
}

/**
 * What is seen of a document. One that cannot be looked at has none of it.
 *
 * @typedef {object} Looked
 * @property {number} [document] which it is
 * @property {number} [changes] how often it has changed since it was first looked at
 * @property {boolean} [ready] whether it has loaded
 * @property {boolean} [hidden] whether it is not shown
 * @property {boolean} [busy] it did not answer in time
 * @property {boolean} [refused] the browser did not let it be looked at
 */

/** @param {number} tabId @returns {Promise<Looked>} */
function look(tabId) {
  const seen = chrome.scripting.executeScript({ target: { tabId }, injectImmediately: true, func: seeDocument }).then(
    ([frame]) => /** @type {Looked} */ (frame?.result ?? { refused: true }),
    () => ({ refused: true, ready: true }),
  );
  return Promise.race([seen, new Promise((/** @type {(seen: Looked) => void} */ resolve) => setTimeout(resolve, BUSY, { busy: true }))]);
}

/** Runs in the page, apart from its scripts. */
function seeDocument() {
  /** @type {{tabhubSeen?: {document: number, changes: number, asked: number}}} */
  const world = /** @type {object} */ (globalThis);
  if (!world.tabhubSeen) {
    const seen = { document: Math.random(), changes: 0, asked: 0 };
    world.tabhubSeen = seen;
    const observer = new MutationObserver((changes) => {
      seen.changes += changes.length;
      if (performance.now() - seen.asked < 10_000) return;
      observer.disconnect(); // nobody waits any more
      delete world.tabhubSeen;
    });
    observer.observe(document, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
      attributeFilter: ["aria-busy", "disabled", "hidden", "src"], // others change with every animation
    });
  }
  world.tabhubSeen.asked = performance.now();
  const { document: number, changes } = world.tabhubSeen;
  return { document: number, changes, ready: document.readyState === "complete", hidden: document.hidden };
}
