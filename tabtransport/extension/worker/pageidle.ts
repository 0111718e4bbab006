// Waits until a page is idle: it has loaded, and for a while neither has its document changed nor
// has a request of it ended. That one is under way the browser tells extensions only by webRequest,
// and it takes the requests of all pages another way once one has that permission.

/** How long nothing may happen, in ms; in a page that is not shown, whose timers run once a second, longer. */
const QUIET = 1_000;
const QUIET_HIDDEN = 1_500;
/** How often a page is looked at, in ms: at first, and after a while. */
const LOOK = 100;
const LOOK_LATER = 250;
const LATER = 5_000;
/** How long a page may take to be looked at, in ms. */
const BUSY = 2_000;
/** How often in a row a page that has loaded may refuse to be looked at. */
const REFUSALS = 10;

/**
 * Blocks until the page of a tab is idle, or for a time.
 * @param signal it never settles when this is aborted
 */
export async function waitUntilIdle({ tabId, waitMs, check, refused }: {
    tabId: number;
    waitMs: number;
    check: () => Promise<chrome.tabs.Tab>; // returns the tab, unless it must not be looked at
    refused: () => Error; // what to say of a page that cannot be looked at
  }, signal: AbortSignal): Promise<FromHub["browser/rest"]["result"]> {
  const began = performance.now();
  let quiet = began;
  let changes = 0;
  let refusals = 0;
  let before: Sample = {};
  for (;;) {
    const tab = await check();
    const now = await look(tabId);
    if (signal.aborted) return await new Promise(() => {});
    const loading = tab.status !== "complete" || !!tab.pendingUrl || !now.ready;
    if (now.refused && !loading && ++refusals > REFUSALS) throw refused();
    if (!now.refused) refusals = 0;
    const time = performance.now();
    if (loading || now.document !== before.document || now.changes !== before.changes || now.requests !== before.requests) quiet = time;
    if (now.document === before.document) changes += (now.changes ?? 0) - (before.changes ?? 0);
    before = now;
    const enough = now.hidden ? QUIET_HIDDEN : QUIET;
    if (!now.refused && time - quiet >= enough) return { rested: true };
    if (time - began >= waitMs) return { rested: false, loading, busy: !!now.busy, changes };
    await new Promise((resolve) => setTimeout(resolve, time - began < LATER ? LOOK : LOOK_LATER));
  }
}

/** What is seen of a document. One that cannot be looked at has none of it. */
interface Sample {
  document?: number; // which it is
  changes?: number; // how often it has changed since it was first looked at
  requests?: number; // how many of its requests have ended since
  ready?: boolean; // whether it has loaded
  hidden?: boolean; // whether it is not shown
  busy?: boolean; // it did not answer in time
  refused?: boolean; // the browser did not let it be looked at
}

function look(tabId: number): Promise<Sample> {
  const seen = chrome.scripting.executeScript({ target: { tabId }, injectImmediately: true, func: seeDocument }).then(
    ([frame]) => (frame?.result ?? { refused: true }) as Sample,
    () => ({ refused: true, ready: true }),
  );
  return Promise.race([seen, new Promise((resolve: (seen: Sample) => void) => setTimeout(resolve, BUSY, { busy: true }))]);
}

/** Runs in the page, apart from its scripts. */
function seeDocument() {
  const world: { tabhubSeen?: { document: number; changes: number; requests: number; asked: number } } = globalThis as object;
  if (!world.tabhubSeen) {
    const seen = { document: Math.random(), changes: 0, requests: 0, asked: 0 };
    world.tabhubSeen = seen;
    const stopLate = () => {
      if (performance.now() - seen.asked < 10_000) return;
      mutations.disconnect(); // the worker waits no more
      requests.disconnect();
      delete world.tabhubSeen;
    };
    const requests = new PerformanceObserver((ended) => {
      seen.requests += ended.getEntries().length;
      stopLate();
    });
    requests.observe({ type: "resource" });
    const mutations = new MutationObserver((changes) => {
      seen.changes += changes.length;
      stopLate();
    });
    mutations.observe(document, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
      attributeFilter: ["aria-busy", "disabled", "hidden", "src"], // others change with every animation
    });
  }
  world.tabhubSeen.asked = performance.now();
  const { document: number, changes, requests } = world.tabhubSeen;
  return { document: number, changes, requests, ready: document.readyState === "complete", hidden: document.hidden };
}
