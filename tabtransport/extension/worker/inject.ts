// Which scripts run in pages: the sentinel in the frames of the sites that the user shares, with
// WebMCP for the page unless the user has left the site out of that, and the rest of the extension
// where a sentinel has seen a sign (README.md, "Where nothing is, nothing runs"). Most of them are
// joined of several files (files.go).

import { within } from "../patterns.ts";
import { pattern, permits, permitsAll, permitsPage } from "./settings.ts";

/** The scripts of the page's own world by their ids. */
const SCRIPTS = { page: "content/page.js", plain: "content/plain.js" };
const WEB = ["http://*/*", "https://*/*"];

/** The latest change: the next one waits for it. */
let changing: Promise<unknown> = Promise.resolve();

/**
 * Makes the sentinel run in what is loaded from now on, as the settings say, and the rest of the extension in
 * the pages of packs. The browser remembers it, also while this worker sleeps.
 * @param packed match patterns of those pages
 */
export function placeScripts(settings: Settings, packed: string[]) {
  changing = changing.then(() => place(settings, packed)).catch((error) => {
    if (packed.length) console.error("tools of packs are not offered:", error);
    return place(settings, []);
  }).catch((error) => {
    // A pattern that the browser does not take: better nowhere than where it must not be.
    console.error("the sentinel cannot be placed:", error);
    return chrome.scripting.unregisterContentScripts().catch(() => {});
  });
  return changing;
}

async function place({ mode, allowed, off, plain }: Settings, packed: string[]) {
  const registered = await chrome.scripting.getRegisteredContentScripts();
  const shared = mode === "all" ? WEB : patterns(allowed);
  // A site that is left out is so wherever the others are matched.
  const without = patterns(mode === "all" ? plain : plain.filter((origin) => allowed.includes(origin)));
  const wanted = [
    { ...script("page"), matches: shared, excludeMatches: [...patterns(off), ...without] },
    { ...script("plain"), matches: without, excludeMatches: patterns(off) },
    { ...PACKED, ...sharedPages({ mode, allowed, off }, packed) },
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

function script(id: keyof typeof SCRIPTS): chrome.scripting.RegisteredContentScript {
  return { id, js: [SCRIPTS[id]], world: "MAIN", runAt: "document_start", allFrames: true, matchOriginAsFallback: true };
}

/** What offers the tools of packs. */
const PACKED: chrome.scripting.RegisteredContentScript = { id: "packs", js: ["content/frame.js"], world: "ISOLATED", runAt: "document_end", allFrames: true };

/** Those pages of match patterns that the user shares, as what is registered names them. */
export function sharedPages({ mode, allowed, off }: Pick<Settings, "mode" | "allowed" | "off">, match: string[]) {
  const matches = mode === "all" ? match : allowed.flatMap((origin) => match.flatMap((pattern) => within(pattern, origin) ?? []));
  return { matches, excludeMatches: patterns(off) };
}

function patterns(origins: string[]) {
  return origins.filter((origin) => /^https?:/.test(origin) && URL.canParse(origin)).map(pattern);
}

function differs(a: chrome.scripting.RegisteredContentScript, b: chrome.scripting.RegisteredContentScript) {
  const places = ({ matches, excludeMatches }: chrome.scripting.RegisteredContentScript) =>
    JSON.stringify([[...(matches ?? [])].sort(), [...(excludeMatches ?? [])].sort()]);
  return places(a) !== places(b);
}

/**
 * Brings the rest of the extension to a frame that has given a sign.
 * @param sign the page may have forged it
 * @param sender the gateway in the tab's top document
 */
export async function bring(sign: FrameSign, { tab, documentId }: chrome.runtime.MessageSender, settings: Settings) {
  const { path, kind, child } = sign;
  if (tab?.id === undefined || !documentId) return;
  // A server in a child frame counts while the child's site is known to be there.
  if (child) for (const id of await documentsAt(tab.id, [...path, child.index], settings)) await start(documentTarget(tab.id, id));
  for (const id of path.length ? await documentsAt(tab.id, path, settings) : [documentId]) {
    const target = documentTarget(tab.id, id);
    if (NEEDS_PAGE_HALF.includes(kind) && (await isShared(target, settings))) {
      await chrome.scripting.executeScript({ target, world: "MAIN", files: ["content/library.js"], injectImmediately: true });
    }
    await start(target);
    await chrome.scripting.executeScript({
      target,
      args: [sign],
      func: (sign: FrameSign) => globalThis.tabhubFrame?.signed(sign),
      injectImmediately: true,
    });
  }
}

/**
 * Brings to a document what keeps from the page's own clients what its servers answer to the extension.
 * @param sender the document
 */
export async function bringAnswers({ tab, documentId }: chrome.runtime.MessageSender, settings: Settings) {
  if (tab?.id === undefined) return;
  const target = documentTarget(tab.id, documentId);
  if (!(await isShared(target, settings))) return;
  await chrome.scripting.executeScript({ target, world: "MAIN", files: ["content/answers.js"], injectImmediately: true });
}

/** The signs of what is reached through the page's own world, too. */
const NEEDS_PAGE_HALF = ["tools", "server", "child"];

/**
 * Whether a document is of a site that the user shares: nothing runs in the page's world of
 * another. The extension's own world is asked, as no page can change what is read there.
 * @param target one document
 */
async function isShared(target: chrome.scripting.InjectionTarget, settings: Settings) {
  if (permitsAll(settings)) return true;
  const [{ result }] = await chrome.scripting.executeScript({ target, func: () => self.origin, injectImmediately: true });
  return permits(settings, String(result));
}

/**
 * Brings the rest of the extension to a document, where it starts once.
 * @param target one document
 */
async function start(target: chrome.scripting.InjectionTarget) {
  await chrome.scripting.executeScript({ target, files: ["content/frame.js"], injectImmediately: true });
}

function documentTarget(tabId: number, documentId: string | undefined) {
  if (documentId === undefined) throw new Error("the frame has gone");
  return { tabId, documentIds: [documentId] };
}

/**
 * The document in a frame of a tab, or all those in frames of a shadow tree, which have the same
 * path. All documents are asked where they are: in the page's world, as another one costs each
 * frame much, unless one of them may be of a site that is switched off. A page that says something
 * else there can only have more brought to itself.
 */
async function documentsAt(tabId: number, path: number[], settings: Settings) {
  const asked = await chrome.scripting.executeScript({
    target: { tabId, allFrames: true },
    world: permitsAll(settings) ? "MAIN" : "ISOLATED",
    args: [path],
    func: (path: number[]) => {
      let at: Window = window;
      for (const expected of path.reverse()) {
        if (at === top) return false;
        const { parent } = at;
        let index = parent.length - 1;
        while (index >= 0 && parent[index] !== at) index--;
        if (index !== expected) return false;
        at = parent;
      }
      return at === top;
    },
    injectImmediately: true,
  });
  return asked.filter(({ result }) => result).map(({ documentId }) => documentId);
}

/**
 * Brings the extension to the documents that are open at some addresses.
 * @param wanted whether an address is one of them
 */
export async function bringTo(settings: Settings, wanted: (url: string) => boolean) {
  for (const { id } of await chrome.tabs.query({ url: WEB })) {
    const frames = (id !== undefined && (await chrome.webNavigation.getAllFrames({ tabId: id }).catch(() => null))) || [];
    for (const { url, documentId } of frames) {
      if (wanted(url) && permitsPage(settings, url)) void start(documentTarget(id as number, documentId)).catch(() => {});
    }
  }
}

/** Brings the extension to a document, as far as the user shares its site. */
export async function bringToDocument(tabId: number, documentId: string | undefined) {
  await start(documentTarget(tabId, documentId)).catch(() => {}); // it may have gone
}

/**
 * Brings the extension to the tabs that were open before it, or whose site was switched off
 * until now: nothing has listened there.
 * @param before only to tabs whose page is shared by now, and was not
 */
export async function bringToOpenPages(settings: Settings, before?: Settings) {
  for (const { id, url = "" } of await chrome.tabs.query({ url: WEB })) {
    if (id === undefined || (before && (permitsPage(before, url) || !permitsPage(settings, url)))) continue;
    // Some pages are closed to extensions, and some tabs are asleep.
    chrome.scripting.executeScript({ target: { tabId: id, allFrames: true }, files: ["content/openedearlier.js", "content/frame.js"] }).catch(() => {});
  }
}
