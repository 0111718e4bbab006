// Which scripts run in pages: the sentinel in the frames of the sites that the user shares,
// and the rest of the extension where a sentinel has seen a sign (README.md, "Where nothing is,
// nothing runs"). content/page.js, top.js and frame.js are joined of several files (files.go).

import { pattern, permitsPage } from "./settings.js";

const ID = "page";
const WEB = ["http://*/*", "https://*/*"];

/** The latest change: the next one waits for it. @type {Promise<unknown>} */
let changing = Promise.resolve();

/**
 * Makes the sentinel run in what is loaded from now on, as the settings say. The browser
 * remembers it, also while this worker sleeps.
 *
 * @param {Settings} settings
 */
export function placeSentinel(settings) {
  changing = changing.then(() => place(settings)).catch((error) => {
    // A pattern that the browser does not take: better nowhere than where it must not be.
    console.error("the sentinel cannot be placed:", error);
    return chrome.scripting.unregisterContentScripts({ ids: [ID] }).catch(() => {});
  });
  return changing;
}

/** @param {Settings} settings */
async function place({ mode, allowed, off }) {
  const registered = await chrome.scripting.getRegisteredContentScripts();
  // An earlier version had others.
  const others = registered.map(({ id }) => id).filter((id) => id !== ID);
  if (others.length) await chrome.scripting.unregisterContentScripts({ ids: others });
  const before = registered.find(({ id }) => id === ID);
  const matches = mode === "all" ? WEB : patterns(allowed);
  if (!matches.length) {
    if (before) await chrome.scripting.unregisterContentScripts({ ids: [ID] });
    return;
  }
  /** @type {chrome.scripting.RegisteredContentScript} */
  const script = {
    id: ID,
    js: ["content/page.js"],
    world: "MAIN",
    runAt: "document_start",
    allFrames: true,
    matchOriginAsFallback: true,
    matches,
    excludeMatches: patterns(off),
  };
  if (!before) await chrome.scripting.registerContentScripts([script]);
  else if (differs(before, script)) await chrome.scripting.updateContentScripts([script]);
}

/** @param {string[]} origins */
function patterns(origins) {
  return origins.filter((origin) => /^https?:/.test(origin) && URL.canParse(origin)).map(pattern);
}

/**
 * @param {chrome.scripting.RegisteredContentScript} a
 * @param {chrome.scripting.RegisteredContentScript} b
 */
function differs(a, b) {
  const places = (/** @type {chrome.scripting.RegisteredContentScript} */ { matches, excludeMatches }) =>
    JSON.stringify([[...(matches ?? [])].sort(), [...(excludeMatches ?? [])].sort()]);
  return places(a) !== places(b);
}

/**
 * Brings the rest of the extension to a frame that has given a sign.
 *
 * @param {{path: number[], sign: FrameSign}} said path leads to the frame from the top document, by the
 *   index of each frame in its parent; the page may have forged both
 * @param {chrome.runtime.MessageSender} sender the gateway in the tab's top document
 */
export async function bring({ path, sign }, { tab, documentId }) {
  if (tab?.id === undefined || !documentId) return;
  // A server in a child frame counts while the child's site is known to be there.
  if (sign.child) await start(tab.id, await documentAt(tab.id, [...path, sign.child.index]));
  const target = await start(tab.id, path.length ? await documentAt(tab.id, path) : documentId);
  await chrome.scripting.executeScript({
    target,
    args: [sign],
    func: (/** @type {FrameSign} */ sign) => globalThis.tabhubFrame?.signed(sign),
    injectImmediately: true,
  });
}

/**
 * Brings the rest of the extension to a document, where it starts once.
 *
 * @param {number} tabId
 * @param {string | undefined} documentId
 */
async function start(tabId, documentId) {
  if (documentId === undefined) throw new Error("the frame has gone");
  const target = { tabId, documentIds: [documentId] };
  await chrome.scripting.executeScript({ target, files: ["content/frame.js"], injectImmediately: true });
  return target;
}

/**
 * The document in a frame of a tab. All documents are asked whether they are there, in the
 * page's world, as another one costs each frame much; what is read there no page can change.
 *
 * @param {number} tabId
 * @param {number[]} path
 */
async function documentAt(tabId, path) {
  const asked = await chrome.scripting.executeScript({
    target: { tabId, allFrames: true },
    world: "MAIN",
    args: [path],
    func: (/** @type {number[]} */ path) => {
      let at = window.top;
      for (const index of path) at = /** @type {any} */ (at)?.[index];
      return at === window;
    },
    injectImmediately: true,
  });
  return asked.find(({ result }) => result)?.documentId;
}

/**
 * Brings the extension to the tabs that were open before it, or whose site was switched off
 * until now: nobody has listened there.
 *
 * @param {Settings} settings
 * @param {Settings} [before] only to tabs whose page is shared by now, and was not
 */
export async function bringLate(settings, before) {
  for (const { id, url = "" } of await chrome.tabs.query({ url: WEB })) {
    if (id === undefined || (before && (permitsPage(before, url) || !permitsPage(settings, url)))) continue;
    // Some pages are closed to extensions, and some tabs are asleep.
    if (!before) chrome.scripting.executeScript({ target: { tabId: id }, files: ["content/top.js"] }).catch(() => {});
    chrome.scripting.executeScript({ target: { tabId: id, allFrames: true }, files: ["content/late.js", "content/frame.js"] }).catch(() => {});
  }
}

/**
 * Whether the gateway is in a tab's top document.
 *
 * @param {number} tabId
 */
export async function reaches(tabId) {
  const asked = await chrome.scripting
    .executeScript({ target: { tabId }, func: () => globalThis.tabhubGateway === true })
    .catch(() => []);
  return asked[0]?.result === true;
}
