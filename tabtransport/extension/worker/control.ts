// What the hub may ask of the browser itself. Nothing here takes the focus but
// activateTab and a tab that is to be opened in front.

import { withoutSecret } from "./invitations.ts";
import { Code, Refusal, elsewhere, notShared } from "./refusal.ts";
import { waitUntilIdle } from "./pageidle.ts";
import { unlessStopping } from "./stopping.ts";
import { isAsleep, isAt } from "./tab.ts";
import { create, type TabGroups } from "./tabgroups.ts";

import { permitsDocument, permitsPage } from "./settings.ts";

/** How long a navigation may take before it is answered anyway, in ms. */
const LOAD = 5_000;
const MAX_TEXT = 2 << 20;

/** The settings of the moment. */
type Current = () => Settings;

type Params<M extends ControlMethod> = FromHub[M]["params"];

/** What does a request. The settings are those of the moment, whenever it asks. */
type Does<M extends ControlMethod> = (tabId: number, params: Params<M>, settings: Current, rooms: TabGroups, signal: AbortSignal) => Promise<FromHub[M]["result"]>;

const METHODS: { [M in ControlMethod]: Does<M> } = {
  "browser/openTab": openTab,
  "browser/endRoom": (_, { room, close = false }, __, rooms) => rooms.end(room, close),
  "browser/activateTab": activateTab,
  "browser/closeTab": closeTab,
  "browser/listTabs": listTabs,
  "browser/navigate": navigate,
  "browser/text": text,
  "browser/rest": pageIdle,
};

/** Whether it is the build that gives pages input of its own: that needs a permission. */
export const hasTrustedInput = chrome.runtime.getManifest().permissions?.includes("debugger") === true;

/** What hello says that this browser can do. */
export const CAPABILITIES = [
  "openTab",
  "activateTab",
  "closeTab",
  "listTabs",
  "navigate",
  "screenshot",
  "text",
  "rest",
  "resume",
  "room",
  "hold",
  "packs",
  "look",
];
if (hasTrustedInput) CAPABILITIES.push("trustedInput");
// A browser without a window has no user to ask.
if (!navigator.userAgent.includes("HeadlessChrome")) CAPABILITIES.push("ask");

/**
 * Does what the hub asks, or returns undefined if it is nothing for the browser.
 * @param signal aborted when the answer is not wanted any more
 */
export function control({ method, tabId, params }: HubMessage<ControlMethod>, settings: Current, rooms: TabGroups, signal: AbortSignal) {
  if (!Object.hasOwn(METHODS, method)) return undefined; // a hub that is newer than the extension
  const does = METHODS[method] as Does<any>;
  return does(tabId, params, settings, rooms, signal);
}

/**
 * An address that the hub may send a tab to. What is at a site that the user does not share
 * is not for the hub to set off.
 */
function webAddress(url: unknown, settings: Current) {
  if (typeof url !== "string" || !URL.canParse(url) || !/^https?:/.test(new URL(url).protocol)) {
    throw new Refusal(Code.InvalidParams, "only http and https addresses can be opened");
  }
  if (!permitsPage(settings(), url)) throw notShared();
  return url;
}

/** A tab, if it shows what the hub has decided about. */
async function existing(tabId: number, ifOrigin?: string) {
  const tab = await unlessStopping(chrome.tabs.get(tabId), () => {
    throw new Refusal(Code.TabNotFound, "the tab is not open");
  });
  if (!isAt(tab.url, ifOrigin)) throw elsewhere();
  return tab;
}

/** Waits for the first document of a tab that has just been opened. */
export async function opened(tabId: number) {
  const isEmpty = ({ url, status }: chrome.tabs.Tab) => status === "loading" && (!url || url === "about:blank");
  if (!isEmpty(await existing(tabId))) return;
  const loaded = loads(tabId);
  if (isEmpty(await existing(tabId))) await loaded;
}

/** Has the browser load a tab that sleeps, where it is. */
export async function awake(tabId: number) {
  if (!isAsleep(await existing(tabId))) return;
  const loaded = loads(tabId);
  await chrome.tabs.reload(tabId);
  await loaded;
}

async function openTab(_: number, { url, active, wake, room }: Params<"browser/openTab">, settings: Current, rooms: TabGroups) {
  const address = webAddress(url, settings);
  const asleep = wake ? await sleeping(address) : undefined;
  if (asleep?.id !== undefined) {
    await chrome.tabs.reload(asleep.id);
    if (active) await activateTab(asleep.id, {});
    return { tabId: asleep.id };
  }
  const tab = await (room ? rooms.open(room, address, active) : create(address, active));
  if (active && tab) await chrome.windows.update(tab.windowId, { focused: true });
  if (tab?.id === undefined) throw new Refusal(Code.Internal, "the browser opened no tab");
  return { tabId: tab.id };
}

/**
 * A tab that sleeps at an address or, if that is a site's root, at the site: the user expects to
 * see that one wake, and no second one beside it.
 */
async function sleeping(address: string) {
  const { href, origin } = new URL(address);
  const tabs = (await chrome.tabs.query({})).filter((tab) => isAsleep(tab) && URL.canParse(tab.url ?? ""));
  const at = (tab: chrome.tabs.Tab) => new URL(tab.url ?? "");
  const page = (url: string) => url.split("#")[0];
  return tabs.find((tab) => page(at(tab).href) === page(href)) ?? (href === `${origin}/` ? tabs.find((tab) => at(tab).origin === origin) : undefined);
}

async function activateTab(tabId: number, { ifOrigin }: Params<"browser/activateTab">) {
  const { windowId } = await existing(tabId, ifOrigin);
  await chrome.tabs.update(tabId, { active: true });
  await chrome.windows.update(windowId, { focused: true });
  return {};
}

async function closeTab(tabId: number, { ifOrigin }: Params<"browser/closeTab">) {
  await existing(tabId, ifOrigin);
  await chrome.tabs.remove(tabId);
  return {};
}

async function listTabs(_: number, __: Params<"browser/listTabs">, settings: Current) {
  const tabs = await chrome.tabs.query({});
  return {
    tabs: tabs.map((tab) => {
      const { id = chrome.tabs.TAB_ID_NONE, windowId, index, url = "", title = "", active } = tab;
      const said = permitsPage(settings(), url) ? { url: withoutSecret(url), title: withoutSecret(title) } : { url: "", title: "" };
      return { tabId: id, windowId, index, ...said, active, discarded: isAsleep(tab), navigating: !!tab.pendingUrl };
    }),
  };
}

async function navigate(tabId: number, { url, back, forward, reload, ifOrigin }: Params<"browser/navigate">, settings: Current) {
  const before = await existing(tabId, ifOrigin);
  if (!url && !back && !forward && !reload) throw new Refusal(Code.InvalidParams, "say one of url, back, forward and reload");
  const address = url ? webAddress(url, settings) : "";
  // What is loading already may be complete before the address is.
  const other = before.status === "loading" ? (before.pendingUrl ?? before.url) : undefined;
  const loaded = loads(tabId, address && other !== address ? other : undefined);
  let reason = "the browser shows an error instead";
  const failed = (what: { tabId: number; frameId: number; error: string }) => {
    // What was loading before is given up.
    if (what.tabId === tabId && what.frameId === 0 && what.error !== "net::ERR_ABORTED") reason = what.error.replace(/^net::/, "");
  };
  chrome.webNavigation.onErrorOccurred.addListener(failed);
  void loaded.then(() => chrome.webNavigation.onErrorOccurred.removeListener(failed));
  if (address) await chrome.tabs.update(tabId, { url: address });
  else if (reload) await chrome.tabs.reload(tabId);
  else await travel(tabId, back ? -1 : 1);
  if (await loaded) {
    if (await isErrorPage(tabId)) throw new Refusal(Code.Internal, `the page cannot be loaded: ${reason}`);
    return {};
  }
  if (back || forward) throw new Refusal(Code.InvalidParams, "there is no page to go to");
  const { url: shown, status } = await existing(tabId);
  await answers(tabId);
  if (status === "loading" && address && shown !== address && (shown === before.url || shown === other)) {
    throw new Refusal(Code.Internal, `the address has not answered within ${LOAD / 1000} s; the tab goes on waiting for it`);
  }
  if (status === "complete") {
    throw new Refusal(Code.Internal, "the address led to no page (it may be a download); the tab shows what it did before");
  }
  return {};
}

/** Why a page that does not answer may not: what else it says is not known. */
const BLOCKED = "the page does not answer: it is busy, or a dialog of it (or its question whether to leave) is open in the tab, which the person there has to answer";

/** Fails if a page is blocked, as by a dialog. */
export async function answers(tabId: number) {
  const tried = chrome.scripting.executeScript({ target: { tabId }, injectImmediately: true, func: () => {} }).then(
    () => true,
    () => true,
  );
  if (!(await Promise.race([tried, new Promise<boolean>((resolve) => setTimeout(resolve, 1000, false))]))) throw new Refusal(Code.Internal, BLOCKED);
}

/**
 * Whether a tab shows an error of the browser instead of a page. A page that runs on and
 * on, or that waits for its user, is none.
 */
export function isErrorPage(tabId: number): Promise<boolean> {
  const tried = chrome.scripting
    .executeScript({ target: { tabId }, injectImmediately: true, func: () => true })
    .then(() => false)
    .catch((error) => /error page/.test(String(error)));
  return Promise.race([tried, new Promise<boolean>((resolve) => setTimeout(resolve, 1000, false))]);
}

/**
 * Goes through a tab's history. The browser's own way leaves out pages that the user has not
 * touched, so pages that only the hub has opened need the other one.
 */
async function travel(tabId: number, step: -1 | 1) {
  try {
    await (step < 0 ? chrome.tabs.goBack(tabId) : chrome.tabs.goForward(tabId));
  } catch {
    await chrome.scripting
      .executeScript({ target: { tabId }, func: (n: number) => history.go(n), args: [step] })
      .catch(() => {
        throw new Refusal(Code.Unsupported, "the browser does not let extensions move this tab");
      });
  }
}

/**
 * Whether a tab loads a page in time; going to an address within the page counts.
 * @param other an address that does not count
 */
function loads(tabId: number, other?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const listener = (id: number, info: { status?: string }, tab: { url?: string; pendingUrl?: string }) => {
      if (id === tabId && info.status === "complete" && !tab.pendingUrl && (!other || tab.url !== other)) stop(true);
    };
    const stop = (loaded: boolean) => {
      clearTimeout(timer);
      chrome.tabs.onUpdated.removeListener(listener);
      resolve(loaded);
    };
    const timer = setTimeout(stop, LOAD, false);
    chrome.tabs.onUpdated.addListener(listener);
  });
}

async function text(tabId: number, { ifOrigin }: Params<"browser/text">, settings: Current) {
  await awake(tabId);
  await answers(tabId);
  const read = chrome.scripting.executeScript({
    target: { tabId },
    injectImmediately: true, // not when the page has loaded, which may be never
    func: (limit: number) => ({
      origin: self.origin,
      url: location.href,
      text: (document.body?.innerText ?? "").slice(0, limit),
    }),
    args: [MAX_TEXT],
  });
  const [frame] = await unlessStopping(read, () => {
    throw new Refusal(Code.Unsupported, "the browser does not let extensions read this page");
  });
  // The document that was read may be another than the tab had when the hub asked.
  if (!frame?.result || !permitsDocument(settings(), frame.result)) throw notShared();
  if (!isAt(frame.result.url, ifOrigin)) throw elsewhere();
  return { text: String(frame.result.text) };
}

async function pageIdle(tabId: number, { waitMs, ifOrigin }: Params<"browser/rest">, settings: Current, _: TabGroups, signal: AbortSignal) {
  await awake(tabId);
  const check = async () => {
    const tab = await existing(tabId, ifOrigin);
    if (!permitsPage(settings(), tab.url ?? "")) throw notShared();
    return tab;
  };
  const refused = () => new Refusal(Code.Unsupported, "the browser does not let extensions look at this page: it may be an error of the browser, or a page of its own");
  return waitUntilIdle({ tabId, waitMs, check, refused }, signal);
}
