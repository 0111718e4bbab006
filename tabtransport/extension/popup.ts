import { ask, showBuild, toggle } from "./common.ts";
import { byID, make } from "./elements.ts";
import { recordingParts } from "./recording.ts";
import { STATES } from "./states.ts";
import { explain, stateOf, unusable, using, wantsReload, whyNone } from "./status.ts";
import { toolView } from "./tooltry.ts";

import { duration } from "./words.ts";

/** How often what is shown is brought up to date, in ms. */
const EVERY = 1000;
/** Of more tools than this one can be looked for. */
const MANY = 10;

const pause = byID("pause", HTMLButtonElement);
/** Whether everything is paused, as the button shows it. */
let paused = false;
/** As a page of the extension itself has it. */
const BROWSER_HAS_WEBMCP = "ModelContext" in window;
/** What tools are looked for. */
let sought = "";
/** How often something was done with a recording. */
let done = 0;
/** What each part of the page shows, as JSON. */
const shown = new Map<HTMLElement, string>();
/** The tools that are shown, by what is said of them: one that is opened stays so. */
const tools = new Map<string, HTMLElement>();

/** The tab that the popup is about: its own page's parameter for tests, else the one in front. */
const tabId = await (async () => {
  const named = new URLSearchParams(location.search).get("tab");
  if (named) return Number(named);
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  return tab?.id ?? chrome.tabs.TAB_ID_NONE;
})();

async function show() {
  const status: StatusView = await ask({ ask: "status", tabId });
  const { hub, owner, page, sites, recent, used, lease } = status;
  const state = stateOf(status);
  const connected = hub.state === "connected";
  byID("state").dataset.state = state;
  showBuild(byID("trusted"));
  byID("headline").textContent = STATES[state][0];
  byID("detail").textContent = explain(status, status.address);
  byID("retry", HTMLButtonElement).hidden = connected;
  byID("front", HTMLButtonElement).hidden = !status.waiting;
  pause.hidden = !connected;
  paused = owner.paused;
  pause.textContent = paused ? "Resume" : "Pause everything";
  pause.classList.toggle("main", paused);
  byID("dashboard", HTMLButtonElement).disabled = !connected;
  showList("held", lease ? [lease] : [], heldItem);
  showList("used", used, tabInUse);
  showList("recent", recent.map((use) => ({ ...use, when: ago(Date.now() - use.at) })), useItem);
  const own = sites[0];
  const can = connected && page.web && page.secure && page.reached && own?.on === true;
  const { recording } = status;
  const around = byID("recording");
  change(around, { recording, can, done }, () => recordingParts(recording, tabId, can, () => {
    done++;
    void show();
  }));
  around.classList.toggle("idle", !recording);
  around.hidden = !around.hasChildNodes();
  const since = Date.now() - (owner.at ?? 0);
  showList("connected", (owner.apps ?? []).map((app) => ({ ...app, last: app.lastMs ? ago(app.lastMs + since) : "" })), appItem);
  // What else is chosen of a site is as its switches say already.
  const seen = sites.map(({ keep, webmcp, ...site }) => site);
  const why = unusable(status);
  change(byID("sites"), { page, seen, why }, () => (sites.length ? sites : [undefined]).map((site) => section(site, page, why)));
}

/** Shows in a part of the page what there is, unless it is there already: a user may be reading it. */
function change(part: HTMLElement, what: unknown, made: () => HTMLElement[]) {
  const now = JSON.stringify(what);
  if (shown.get(part) === now) return;
  shown.set(part, now);
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  part.replaceChildren(...made());
  if (!(focused instanceof HTMLElement)) return;
  const again = focused.isConnected ? focused : focused.id && document.getElementById(focused.id); // a tool that was there before, or one that is now
  if (again) again.focus();
}

/** @param id of the section around a list, which is hidden if it is empty */
function showList<T>(id: string, all: T[], item: (one: T) => HTMLElement) {
  const around = byID(id);
  around.hidden = !all.length;
  const list = around.querySelector("ul");
  if (list) change(list, all, () => all.map(item));
}

function tabInUse({ tabId: id, title, users }: StatusView["used"][number]) {
  const words = make("div", "wide", make("strong", "", title || "A tab"), make("p", "soft", `${using(users)} it`));
  if (id === tabId) return make("li", "row", words, make("span", "soft", "This tab"));
  const go = make("button", "", "Show");
  go.setAttribute("aria-label", `Show ${title || "the tab"}`);
  go.addEventListener("click", () => void bringToFront(id));
  return make("li", "row", words, go);
}

/** @param lease of this tab */
function heldItem({ by, until, waiting }: Lease) {
  const time = new Date(until).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const means = waiting ? "It waits for you to finish here." : `Until ${time}, and longer while it works here. No other app uses the tab.`;
  const release = make("button", "", "Release");
  release.addEventListener("click", async () => {
    byID("problem").textContent = await ask({ ask: "release", tabId });
    await show();
  });
  return make("li", "row", make("div", "wide", make("strong", "", `Leased by ${by}`), make("p", "soft", means)), release);
}

/** @param id of a tab */
async function bringToFront(id: number) {
  const tab = await chrome.tabs.update(id, { active: true });
  if (tab) await chrome.windows.update(tab.windowId, { focused: true });
  window.close();
}

/** What clients have the browser do. */
const DONE: Record<string, string> = { navigate: "went elsewhere", screenshot: "took a picture", text: "read its text", activateTab: "brought it to the front" };
/** How what a client used has ended. */
const ENDED: Record<string, string> = { done: "done", failed: "failed", cancelled: "cancelled" };

function useItem({ kind, name, app, took, ended, when }: Activity & { when: string }) {
  const what = kind === "browser" || kind === "acts" ? [make("span", "", DONE[name] ?? (name || "used the page"))] : [make("code", "", name)];
  const how = took === undefined ? "under way" : `${ENDED[ended ?? ""] ?? "ended"}${ended ? `, ${duration(took)}` : ""}`;
  return make("li", ended === "failed" ? "use failed" : "use", make("div", "wide", make("strong", "", app || "You"), " ", ...what), make("p", "soft", `${when} · ${how}`));
}

function appItem({ name, said, calls, last }: NonNullable<OwnerState["apps"]>[number] & { last: string }) {
  const made = calls === 1 ? "1 call" : `${calls.toLocaleString("en")} calls`;
  const item = make("li", "wide", make("strong", "", name));
  if (said && said !== name) item.append(make("span", "soft", ` calls itself ${said}`));
  item.append(make("p", "soft", last ? `${made}, the last ${last}` : "It has called nothing"));
  return item;
}

function ago(ms: number) {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "just now";
  return minutes < 60 ? `${minutes} min ago` : `${Math.floor(minutes / 60)} h ago`;
}

/** @param why no app can use what it offers, "" if some can */
function section(site: SiteView | undefined, page: PageView, why: string) {
  if (!site) return make("section", "", make("h2", "", "This page"), make("p", "soft", whyNone(page, site, BROWSER_HAS_WEBMCP)));
  const { origin, on, webmcp, keep, rejected } = site;
  const name = new URL(origin).host;
  const count = site.tools.length === 1 ? "1 tool" : `${site.tools.length || "No"} tools`;
  const choose = (choice: Partial<Pick<SiteView, "on" | "keep" | "webmcp">>) => ask({ ask: "site", origin, ...choice });
  const usable = why && site.tools.length ? `${count}. No app can use them now: ${why}` : count;
  const share = toggle("Share this site’s tools", on ? usable : "Off: the hub sees nothing of this site", on, async (on) => {
    await choose({ on });
    await show();
    (document.querySelector(`section[aria-label="${CSS.escape(name)}"] input`) as HTMLElement | null)?.focus();
  });
  const parts: HTMLElement[] = [make("h2", "wide", name), share];
  if (site.tools.length) {
    const list = make("ul", "", ...site.tools.map((tool) => toolItem(tool, origin)));
    if (site.tools.length > MANY) parts.push(finder(list));
    parts.push(list);
  } else parts.push(make("p", "soft", whyNone(page, site, BROWSER_HAS_WEBMCP)));
  if (on && site.packs.length) parts.push(make("h3", "", "Packs for this site"), ...site.packs.map(packItem));
  if (page.web && !page.allowed) parts.push(allow(origin));
  else if (!site.tools.length && wantsReload(page, site, BROWSER_HAS_WEBMCP)) parts.push(reload());
  if (rejected.length) {
    const items = rejected.map(({ name, reason }) => make("li", "wide", make("code", "", name), `: ${reason}`));
    parts.push(make("p", "bad", "Left out:"), make("ul", "", ...items));
  }
  if (on) {
    const more = make("details", "more", make("summary", "soft", "More about this site"));
    more.append(make("p", "soft", `WebMCP: ${BROWSER_HAS_WEBMCP ? "this browser’s own" : "this extension’s, as the browser has none"}.`));
    if (!BROWSER_HAS_WEBMCP) more.append(toggle("Give its pages WebMCP", "Its pages are told with their next load", webmcp, (webmcp) => choose({ webmcp })));
    more.append(toggle("Keep its tools when its tabs are closed", "A call then opens the site again", keep, (keep) => choose({ keep })));
    parts.push(more);
  }
  const all = make("section", "", ...parts);
  all.setAttribute("aria-label", name);
  return all;
}

/** A field that leaves in a list what has the words that are written there. */
function finder(list: HTMLElement) {
  const field = make("input", "");
  field.type = "search";
  field.placeholder = "Find a tool";
  field.ariaLabel = field.placeholder;
  field.value = sought;
  const find = () => {
    sought = field.value;
    const words = sought.toLowerCase().split(/\s+/);
    for (const item of list.children) (item as HTMLElement).hidden = !words.every((word) => item.textContent?.toLowerCase().includes(word));
  };
  field.addEventListener("input", find);
  find();
  return field;
}

/** A switch for a pack of the hub's owner, in this browser; for a script the question whether it may run. */
function packItem({ name, hash, title, script, sites, on, problem }: PackView) {
  const means = on ? (problem ? "It is allowed, and does not run" : script ? "Its script runs in pages of its sites that are loaded from now on" : "Its tools are offered here") : script ? "It waits for you: allow its script only if you trust it" : "Its tools are not offered in this browser";
  const item = toggle(title && title !== name ? `${name}: ${title}` : name, means, on, async (on) => {
    // Chrome takes this only in the moment of the click. It asks nothing by itself.
    if (script && on) await chrome.permissions.request({ permissions: ["userScripts"] }).catch(() => false);
    await ask({ ask: "pack", hash, on });
    await show();
    (document.querySelector(`[data-pack="${CSS.escape(name)}"]`) as HTMLElement | null)?.focus();
  });
  (item.querySelector("input") as HTMLInputElement).dataset.pack = name;
  if (!script) return item;
  const can = `This is a script. It can do anything on ${sites.join(", ")}: read and change what you see there, and act as you.`;
  const parts: HTMLElement[] = [item];
  if (problem) parts.push(make("p", "bad wide", `${problem.words}.`));
  if (problem?.kind === "switch") parts.push(...switchSteps());
  const version = make("p", "soft wide", "Version ", make("code", "", hash.slice(0, 12)));
  return make("div", "script", ...parts, make("p", on ? "soft wide" : "wide", can), version);
}

/** How a person lets Chrome run scripts of the extension. */
function switchSteps() {
  const steps = make("ol", "", make("li", "wide", "Open the extension’s page in the browser."), make("li", "wide", "Switch on “Allow User Scripts” there (before version 138: “Developer mode”), and load this page again."));
  const open = make("button", "main", "Open the extension’s page");
  open.addEventListener("click", () => void chrome.tabs.create({ url: `chrome://extensions/?id=${chrome.runtime.id}` }));
  return [steps, open];
}

function toolItem(tool: ToolView, origin: string) {
  if (tool.pack) return make("li", "wide", make("code", "", tool.name), make("span", "soft", ` of the pack ${tool.pack}`));
  const key = JSON.stringify([origin, tool]);
  const known = tools.get(key);
  if (known) return known;
  const item = toolView(tool, { tabId, frameId: tool.frameId, origin, name: tool.name });
  tools.set(key, item);
  return item;
}

/** Loads the page again. */
function reload() {
  const button = make("button", "main", "Reload this page");
  button.addEventListener("click", () => void chrome.tabs.reload(tabId));
  return button;
}

/** Has the browser ask the person to let the extension into a site. */
function allow(origin: string) {
  const { protocol, hostname } = new URL(origin);
  const button = make("button", "main", "Allow it in this site");
  button.addEventListener("click", async () => {
    await chrome.permissions.request({ origins: [`${protocol}//${hostname}/*`] });
    await show();
  });
  return button;
}

byID("retry", HTMLButtonElement).addEventListener("click", async () => {
  await ask({ ask: "reconnect" });
  await show();
});

byID("front", HTMLButtonElement).addEventListener("click", async () => {
  await ask({ ask: "front" });
  window.close();
});

pause.addEventListener("click", async () => {
  byID("problem").textContent = await ask({ ask: "pause", on: !paused });
  await show();
});

byID("dashboard", HTMLButtonElement).addEventListener("click", async () => {
  byID("problem").textContent = await ask({ ask: "dashboard" });
});

byID("options", HTMLButtonElement).addEventListener("click", () => chrome.runtime.openOptionsPage());

await show();
setInterval(show, EVERY);
