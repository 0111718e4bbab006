import { ask, element, make, toggle } from "./common.js";
import { STATES, explain, stateOf, using, whyNone } from "./states.js";
import { toolView } from "./tooltry.js";

/** How often what is shown is brought up to date, in ms. */
const EVERY = 1000;

const pause = element("pause", HTMLButtonElement);
/** Whether everything is paused, as the button shows it. */
let paused = false;
/** As a page of the extension itself has it. */
const BROWSER_HAS_WEBMCP = "ModelContext" in window;
/** What each part of the page shows, as JSON. @type {Map<HTMLElement, string>} */
const shown = new Map();
/** The tools that are shown, by what is said of them: one that is opened stays so. @type {Map<string, HTMLElement>} */
const tools = new Map();

/** The tab that the popup is about: its own page's parameter for tests, else the one in front. */
const tabId = await (async () => {
  const named = new URLSearchParams(location.search).get("tab");
  if (named) return Number(named);
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  return tab?.id ?? -1;
})();

async function show() {
  /** @type {StatusView} */
  const status = await ask({ ask: "status", tabId });
  const { hub, owner, page, sites, recent, used } = status;
  const state = stateOf(status);
  const connected = hub.state === "connected";
  element("state", HTMLElement).dataset.state = state;
  element("headline", HTMLElement).textContent = STATES[state][0];
  element("detail", HTMLElement).textContent = explain(status, status.address);
  element("retry", HTMLButtonElement).hidden = connected;
  element("front", HTMLButtonElement).hidden = !status.waiting;
  pause.hidden = !connected;
  paused = owner.paused;
  pause.textContent = paused ? "Resume" : "Pause everything";
  pause.classList.toggle("main", paused);
  element("dashboard", HTMLButtonElement).disabled = !connected;
  showList("used", used, tabInUse);
  showList("recent", recent.map((use) => ({ ...use, when: ago(Date.now() - use.at) })), useItem);
  const since = Date.now() - (owner.at ?? 0);
  showList("connected", (owner.apps ?? []).map((app) => ({ ...app, last: app.lastMs ? ago(app.lastMs + since) : "" })), appItem);
  change(element("sites", HTMLElement), { page, sites }, () => (sites.length ? sites : [undefined]).map((site) => section(site, page)));
}

/**
 * Shows in a part of the page what there is, unless it is there already: somebody may be reading it.
 *
 * @param {HTMLElement} part
 * @param {unknown} what
 * @param {() => HTMLElement[]} made
 */
function change(part, what, made) {
  const now = JSON.stringify(what);
  if (shown.get(part) === now) return;
  shown.set(part, now);
  part.replaceChildren(...made());
}

/**
 * @template T
 * @param {string} id of the section around a list, which is hidden if it is empty
 * @param {T[]} all
 * @param {(one: T) => HTMLElement} item
 */
function showList(id, all, item) {
  const around = element(id, HTMLElement);
  around.hidden = !all.length;
  const list = around.querySelector("ul");
  if (list) change(list, all, () => all.map(item));
}

/** @param {StatusView["used"][number]} used */
function tabInUse({ tabId: id, title, users }) {
  const words = make("div", "wide", make("strong", "", title || "A tab"), make("p", "soft", `${using(users)} it`));
  if (id === tabId) return make("li", "row", words, make("span", "soft", "This tab"));
  const go = make("button", "", "Show");
  go.setAttribute("aria-label", `Show ${title || "the tab"}`);
  go.addEventListener("click", () => void bringToFront(id));
  return make("li", "row", words, go);
}

/** @param {number} id of a tab */
async function bringToFront(id) {
  const tab = await chrome.tabs.update(id, { active: true });
  if (tab) await chrome.windows.update(tab.windowId, { focused: true });
  window.close();
}

/** What clients have the browser do. @type {Record<string, string>} */
const DONE = { navigate: "went elsewhere", screenshot: "took a picture", text: "read its text", activateTab: "brought it to the front" };
/** How what a client used has ended. @type {Record<string, string>} */
const ENDED = { done: "done", failed: "failed", cancelled: "cancelled" };

/** @param {Use & {when: string}} use */
function useItem({ kind, name, app, took, ended, when }) {
  const what = kind === "browser" ? [make("span", "", DONE[name] ?? name)] : [make("code", "", name)];
  const how = took === undefined ? "under way" : `${ENDED[ended ?? ""] ?? "ended"}${ended ? `, ${lasting(took)}` : ""}`;
  return make("li", ended === "failed" ? "use failed" : "use", make("div", "wide", make("strong", "", app), " ", ...what), make("p", "soft", `${when} · ${how}`));
}

/** @param {number} ms */
const lasting = (ms) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);

/** @param {NonNullable<OwnerState["apps"]>[number] & {last: string}} app */
function appItem({ name, said, calls, last }) {
  const made = calls === 1 ? "1 call" : `${calls.toLocaleString("en")} calls`;
  const item = make("li", "wide", make("strong", "", name));
  if (said && said !== name) item.append(make("span", "soft", ` calls itself ${said}`));
  item.append(make("p", "soft", last ? `${made}, the last ${last}` : "It has called nothing"));
  return item;
}

/** @param {number} ms */
function ago(ms) {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "just now";
  return minutes < 60 ? `${minutes} min ago` : `${Math.floor(minutes / 60)} h ago`;
}

/**
 * @param {SiteView | undefined} site
 * @param {PageView} page
 */
function section(site, page) {
  if (!site) return make("section", "", make("h2", "", "This page"), make("p", "soft", whyNone(page, site, BROWSER_HAS_WEBMCP)));
  const { origin, on, webmcp, keep, rejected } = site;
  const name = new URL(origin).host;
  const count = site.tools.length === 1 ? "1 tool" : `${site.tools.length || "No"} tools`;
  const change = async (/** @type {Partial<Pick<SiteView, "on" | "keep" | "webmcp">>} */ choice) => {
    await ask({ ask: "site", origin, ...choice });
    await show();
  };
  /** @type {HTMLElement[]} */
  const parts = [make("h2", "wide", name), toggle("Share this site’s tools", on ? count : "Off: the hub sees nothing of this site", on, (on) => change({ on }))];
  if (site.tools.length) parts.push(make("ul", "", ...site.tools.map((tool) => toolItem(tool, origin))));
  else parts.push(make("p", "soft", whyNone(page, site, BROWSER_HAS_WEBMCP)));
  if (page.web && !page.allowed) parts.push(allow(origin));
  if (rejected.length) {
    const items = rejected.map(({ name, reason }) => make("li", "wide", make("code", "", name), `: ${reason}`));
    parts.push(make("p", "bad", "Left out:"), make("ul", "", ...items));
  }
  if (on) {
    const more = make("details", "more", make("summary", "soft", "More about this site"));
    more.append(make("p", "soft", `WebMCP: ${BROWSER_HAS_WEBMCP ? "this browser’s own" : "this extension’s, as the browser has none"}.`));
    if (!BROWSER_HAS_WEBMCP) more.append(toggle("Give its pages WebMCP", "Its pages are told with their next load", webmcp, (webmcp) => change({ webmcp })));
    more.append(toggle("Keep its tools when its tabs are closed", "A call then opens the site again", keep, (keep) => change({ keep })));
    parts.push(more);
  }
  const all = make("section", "", ...parts);
  all.setAttribute("aria-label", name);
  return all;
}

/**
 * @param {ToolView} tool
 * @param {string} origin
 */
function toolItem(tool, origin) {
  const key = JSON.stringify([origin, tool]);
  const known = tools.get(key);
  if (known) return known;
  const item = toolView(tool, { tabId, frameId: tool.frameId, origin, name: tool.name });
  tools.set(key, item);
  return item;
}

/**
 * Has the browser ask the person to let the extension into a site.
 *
 * @param {string} origin
 */
function allow(origin) {
  const { protocol, hostname } = new URL(origin);
  const button = make("button", "main", "Allow it in this site");
  button.addEventListener("click", async () => {
    await chrome.permissions.request({ origins: [`${protocol}//${hostname}/*`] });
    await show();
  });
  return button;
}

element("retry", HTMLButtonElement).addEventListener("click", async () => {
  await ask({ ask: "reconnect" });
  await show();
});

element("front", HTMLButtonElement).addEventListener("click", async () => {
  await ask({ ask: "front" });
  window.close();
});

pause.addEventListener("click", async () => {
  element("problem", HTMLElement).textContent = await ask({ ask: "pause", on: !paused });
  await show();
});

element("dashboard", HTMLButtonElement).addEventListener("click", async () => {
  element("problem", HTMLElement).textContent = await ask({ ask: "dashboard" });
});

element("options", HTMLButtonElement).addEventListener("click", () => chrome.runtime.openOptionsPage());

await show();
setInterval(show, EVERY);
