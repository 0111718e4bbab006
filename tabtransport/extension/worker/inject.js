// Which scripts run in pages: the sentinel in the frames of the sites that the user shares, with
// WebMCP for the page unless the user has left the site out of that, and the rest of the extension where a sentinel has seen a sign (README.md, "Where nothing is,
// nothing runs"). content/page.js, top.js and frame.js are joined of several files (files.go).

import { pattern, permits, permitsAll, permitsPage } from "./settings.js";

/** The scripts by their ids. */
const SCRIPTS = { page: "content/page.js", plain: "content/plain.js" };
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
    return chrome.scripting.unregisterContentScripts().catch(() => {});
  });
  return changing;
}

/** @param {Settings} settings */
async function place({ mode, allowed, off, plain }) {
  const registered = await chrome.scripting.getRegisteredContentScripts();
  const shared = mode === "all" ? WEB : patterns(allowed);
  // A site that is left out is so wherever the others are matched.
  const without = patterns(mode === "all" ? plain : plain.filter((origin) => allowed.includes(origin)));
  const wanted = [
    { ...script("page"), matches: shared, excludeMatches: [...patterns(off), ...without] },
    { ...script("plain"), matches: without, excludeMatches: patterns(off) },
  ].filter(({ matches }) => matches.length > 0);
  // An earlier version had others.
  const gone = registered.map(({ id }) => id).filter((id) => !wanted.some((script) => script.id === id));
  if (gone.length) await chrome.scripting.unregisterContentScripts({ ids: gone });
  for (const script of wanted) {
    const before = registered.find(({ id }) => id === script.id);
    if (!before) await chrome.scripting.registerContentScripts([script]);
    else if (differs(before, script)) await chrome.scripting.updateContentScripts([script]);
  }
}

/**
 * @param {keyof typeof SCRIPTS} id
 * @returns {chrome.scripting.RegisteredContentScript}
 */
function script(id) {
  return { id, js: [SCRIPTS[id]], world: "MAIN", runAt: "document_start", allFrames: true, matchOriginAsFallback: true };
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
 * @param {FrameSign} sign the page may have forged it
 * @param {chrome.runtime.MessageSender} sender the gateway in the tab's top document
 * @param {Settings} settings
 */
export async function bring(sign, { tab, documentId }, settings) {
  const { path, kind, child } = sign;
  if (tab?.id === undefined || !documentId) return;
  // A server in a child frame counts while the child's site is known to be there.
  if (child) await start(tab.id, await documentAt(tab.id, [...path, child.index], settings));
  const document = path.length ? await documentAt(tab.id, path, settings) : documentId;
  const target = documentTarget(tab.id, document);
  if (NEEDS_PAGE_HALF.includes(kind) && (await isShared(target, settings))) {
    await chrome.scripting.executeScript({ target, world: "MAIN", files: ["content/library.js"], injectImmediately: true });
  }
  await start(tab.id, document);
  await chrome.scripting.executeScript({
    target,
    args: [sign],
    func: (/** @type {FrameSign} */ sign) => globalThis.tabhubFrame?.signed(sign),
    injectImmediately: true,
  });
}

/** The signs of what is reached through the page's own world, too. */
const NEEDS_PAGE_HALF = ["tools", "server", "child"];

/**
 * Whether a document is of a site that the user shares: nothing runs in the page's world of
 * another. The extension's own world is asked, as no page can change what is read there.
 *
 * @param {chrome.scripting.InjectionTarget} target one document
 * @param {Settings} settings
 */
async function isShared(target, settings) {
  if (permitsAll(settings)) return true;
  const [{ result }] = await chrome.scripting.executeScript({ target, func: () => self.origin, injectImmediately: true });
  return permits(settings, String(result));
}

/**
 * Brings the rest of the extension to a document, where it starts once.
 *
 * @param {number} tabId
 * @param {string | undefined} documentId
 */
async function start(tabId, documentId) {
  const target = documentTarget(tabId, documentId);
  await chrome.scripting.executeScript({ target, files: ["content/frame.js"], injectImmediately: true });
}

/**
 * @param {number} tabId
 * @param {string | undefined} documentId
 */
function documentTarget(tabId, documentId) {
  if (documentId === undefined) throw new Error("the frame has gone");
  return { tabId, documentIds: [documentId] };
}

/**
 * The document in a frame of a tab. All documents are asked whether they are there: in the
 * page's world, as another one costs each frame much, unless one of them may be of a site
 * that is switched off. What is read there no page can change.
 *
 * @param {number} tabId
 * @param {number[]} path
 * @param {Settings} settings
 */
async function documentAt(tabId, path, settings) {
  const asked = await chrome.scripting.executeScript({
    target: { tabId, allFrames: true },
    world: permitsAll(settings) ? "MAIN" : "ISOLATED",
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
    chrome.scripting.executeScript({ target: { tabId: id, allFrames: true }, files: ["content/late.js", "content/frame.js"] }).catch(() => {});
  }
}
