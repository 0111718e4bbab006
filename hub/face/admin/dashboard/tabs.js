// Tabs and tools: what there is, found by words, and beside it the one that is open. The address
// keeps both: q, kind, site, of (a tab), from (where the part begins), and tab or tool.

import { byID, chip, element, foreign, tell, twice, when } from "./dom.js";
import { find, ask } from "./session.js";
import { addressOf, lead, link, linkTo, listedOtherwise, mark, OPEN, opens, showParts, stateOf, withoutLabel } from "./offers.js";
import { Pages } from "./pages.js";
import { showTab } from "./tab.js";
import { showItem } from "./item.js";
import { showTool } from "./tool.js";
import { closeTrial } from "./trial.js";
import { CLASSES } from "./words.js";

/** @import {Item, NamedBrowser, Tab, Tool} from "./api.d.ts" */
/** @import {View} from "./dashboard.js" */

/** @typedef {[opens: Record<string, string>, title: Node, about: (Node | string)[], states: Node[]]} Row */

/** @type {Record<string, {path: string, row: (it: any) => Row}>} */
const KINDS = {
  tabs: { path: "api/tabs", row: rowOfTab },
  tools: { path: "api/tools", row: rowOfTool },
  resources: { path: "api/resources", row: (it) => rowOfItem("resource", it) },
  prompts: { path: "api/prompts", row: (it) => rowOfItem("prompt", it) },
};

/** What the address says. */
let args = new URLSearchParams();

/** @type {AbortController} ends the listeners that the page outside of the view has */
let opened;

/** @type {Pages} */
let pages;

/** @type {(changed: string[]) => void} */
let again;

/** @type {View} */
export const view = {
  name: "tabs",
  title: "Tabs and tools",
  open(section, given, refresh) {
    args = given;
    again = refresh;
    opened = new AbortController();
    const q = search();
    q.value = args.get("q") ?? "";
    /** @param {Record<string, string>} to @param {boolean} [here] the address before is not one to go back to */
    const go = (to, here) => {
      const next = linkTo(args, to);
      args = new URLSearchParams(next.split("?")[1]);
      history[here ? "replaceState" : "pushState"](null, "", next);
      refresh(["tabs"]);
    };
    pages = new Pages((from) => go({ from: from ? String(from) : "" }, from === 0)); // who goes back is not to come to a page that there is no more
    q.addEventListener("input", () => go({ q: q.value.trim(), from: "" }, true));
    section.addEventListener("click", (event) => {
      const link = /** @type {Element} */ (event.target).closest("a");
      if (!link?.dataset.to || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const { to, focus = "" } = link.dataset;
      const was = byID("found").querySelector("a[aria-current]")?.getAttribute("data-to");
      go(JSON.parse(to));
      focusNext = () => (link.id === "close" ? (foundLinks().find((a) => a.dataset.to === was) ?? search()) : document.getElementById(focus));
    });
    addEventListener("keydown", keys, { signal: opened.signal });
    byID("name-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void tell(/** @type {HTMLFormElement} */ (event.target), nameBrowser);
    });
  },
  async update(changed) {
    if (!changed.has("tabs") && !changed.has("policy")) return;
    const [lists, browsers] = await Promise.all([Promise.all(Object.keys(KINDS).map(found)), ask("GET", "api/browser")]);
    showFound(lists, browsers);
    await showOpen();
    focusNext()?.focus();
    focusNext = () => null;
  },
  live({ entries }) {
    const [peer, id] = (args.get("tab") ?? "").split("/"); // whose lease a call makes longer
    if (peer && entries?.some(({ tab }) => tab === peer || tab === `${peer}/${id}`)) again(["tabs"]);
  },
  close() {
    opened.abort();
    closeTrial();
    document.body.classList.remove("opened");
  },
};

/** What gets the focus once it is shown: for who closes what was open, what had led there. @type {() => HTMLElement | null} */
let focusNext = () => null;

const foundLinks = () => [...byID("found").querySelectorAll("a")];

const search = () => byID("search", HTMLInputElement);

const kindNow = () => (Object.hasOwn(KINDS, args.get("kind") ?? "") ? /** @type {string} */ (args.get("kind")) : "tabs");

/** @param {string} kind */
function found(kind) {
  const query = { q: args.get("q") ?? "", site: args.get("site") ?? "", tab: args.get("of") ?? "" };
  const { path } = KINDS[kind];
  pages.offset = Number(args.get("from")) || 0;
  return kind === kindNow() ? pages.find(path, query) : find(`${path}?${new URLSearchParams({ ...query, limit: "0" })}`);
}

/**
 * @param {{part: any[], found: number}[]} lists of each kind
 * @param {NamedBrowser[]} browsers
 */
function showFound(lists, browsers) {
  const kinds = Object.keys(KINDS);
  const now = kindNow();
  kinds.forEach((kind, i) => {
    const link = byID(`kind-${kind}`, HTMLAnchorElement);
    lead(link, args, { kind: kind === "tabs" ? "" : kind, from: "" });
    link.ariaCurrent = kind === now ? "true" : null;
    link.hidden = lists[i].found === 0 && kind !== now && !["tabs", "tools"].includes(kind);
    byID(`count-${kind}-found`).textContent = lists[i].found.toLocaleString("en");
  });
  const { part, found } = lists[kinds.indexOf(now)];
  showParts(byID("found"), [now, String(args), part], () => links(part.map(KINDS[now].row)));
  showOnly();
  showBrowsers(now === "tabs" && !narrowed() ? browsers : []);
  byID("no-tabs").hidden = narrowed() || now !== "tabs" || part.some(hasTools);
  byID("no-match").hidden = found > 0 || !byID("no-tabs").hidden;
}

const hasTools = (/** @type {Tab} */ { domains }) => Boolean(domains?.length);

/** Whether not everything is looked for. */
const narrowed = () => ["q", "site", "of"].some((name) => args.get(name));

/** @param {Row[]} rows */
function links(rows) {
  return rows.map(([opens, title, about, states]) => {
    const made = link(args, opens, element("span", "found-title", title), element("span", "found-states", ...states), element("span", "found-about soft", ...about));
    if (isOpen(opens)) made.ariaCurrent = "true";
    return element("li", "", made);
  });
}

/** @param {Record<string, string>} opens */
const isOpen = (opens) => OPEN.every((name) => (args.get(name) ?? "") === opens[name]);

/** Says what the list is narrowed to, and leads to all of it. */
function showOnly() {
  const only = [args.get("site"), args.get("of") && `one tab`].filter(Boolean).join(", ");
  byID("only").hidden = only === "";
  byID("only-words").textContent = only;
  lead(byID("all", HTMLAnchorElement), args, { site: "", of: "", from: "" });
}

/** @param {NamedBrowser[]} browsers */
function showBrowsers(browsers) {
  showParts(byID("browsers"), browsers, () => browsers.map(rowOfBrowser));
  const select = byID("named-browser", HTMLSelectElement);
  const { value } = select;
  const there = browsers.filter(({ id, connected }) => id && connected);
  showParts(select, there.map(titleOf), () => there.map((b) => new Option(titleOf(b), b.id)));
  if (there.some(({ id }) => id === value)) select.value = value;
  byID("name-form").hidden = there.length === 0;
  byID("browsers-part").hidden = browsers.length === 0;
}

/** @param {NamedBrowser} b */
const titleOf = ({ id, name, browser }) => [name, browser || "a browser without a name", id].filter(Boolean).join(" · ");

/** @param {NamedBrowser} b */
function rowOfBrowser(b) {
  const { name, clients } = b;
  const tabs = b.tabs === 1 ? "1 tab" : `${b.tabs} tabs`;
  const words = b.connected ? `${tabs}, since ${when(b.since ?? "")}` : b.lastSeen ? `seen ${when(b.lastSeen)}` : "no browser has this name";
  const made = element("li", "", foreign(name ? name : b.browser || "a browser without a name"), " ", chip(b.missing ? "missing" : !b.connected ? "away" : b.focused ? "active" : "connected"), element("span", "soft", " ", foreign([name && b.browser, b.id, words].filter(Boolean).join(", "))));
  if (clients.length) made.append(element("span", "soft", `; only there: `, foreign(clients.join(", "))));
  if (name && !b.missing) {
    made.append(" ", twice("Take the name away", `Take the name away: ${name}`, async () => {
      await ask("DELETE", `api/browser?${new URLSearchParams({ name })}`);
      return `No browser is called ${name} any more.`;
    }));
  }
  return made;
}

async function nameBrowser() {
  const [browser, field] = [byID("named-browser", HTMLSelectElement).value, byID("browser-name", HTMLInputElement)];
  const name = field.value.trim();
  await ask("PUT", "api/browser", { browser, name });
  field.value = "";
  return `It is called ${name}.`;
}

/** Shows what is open, beside what was found. */
async function showOpen() {
  const kind = OPEN.find((name) => args.get(name)) ?? "";
  const name = args.get(kind) ?? "";
  const into = byID("open-parts");
  document.body.classList.toggle("opened", kind !== "");
  byID("open").hidden = kind === "";
  lead(byID("close", HTMLAnchorElement), args, opens("", ""));
  if (kind === "" || kind === "tab") closeTrial();
  if (kind === "tab") await showTab(into, name, args);
  else if (kind === "tool") await showTool(into, name, args);
  else if (kind !== "") await showItem(into, kind, name, args);
}

/** @param {KeyboardEvent} event */
function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const at = /** @type {HTMLElement | null} */ (document.activeElement);
  const writing = at?.matches("input, textarea, select");
  const all = foundLinks();
  const i = all.findIndex((link) => link === at);
  if (event.key === "/" && !writing) search().focus();
  else if (event.key === "ArrowDown" && (at === search() || i >= 0)) all[i + 1]?.focus();
  else if (event.key === "ArrowUp" && i >= 0) (all[i - 1] ?? search()).focus();
  else if (event.key === "Escape" && byID("open").contains(at) && !writing) byID("close").click();
  else return;
  event.preventDefault();
}

/**
 * @param {Tab} tab
 * @returns {Row}
 */
function rowOfTab(tab) {
  const tools = (tab.domains ?? []).reduce((n, d) => n + d.tools, 0);
  const states = [stateOf(tab)];
  if (tab.rejected?.length) states.push(mark("bad", `${tab.rejected.length} refused`));
  else if (tab.warnings?.some((w) => !listedOtherwise(w))) states.push(mark("write", "parts left out"));
  if (tab.heldBy) states.push(mark("write", "held"));
  const whose = [tab.heldBy && `held by ${tab.heldBy.name}`, tab.openedBy && `opened by ${tab.openedBy}`, tab.label].filter((words) => words !== undefined);
  const about = [...whose.flatMap((words) => [foreign(words), " · "]), ...(tab.domains ?? []).flatMap(({ domain, number }) => [foreign(domain), ` · tab ${number} · `]), tools === 1 ? "1 tool" : `${tools} tools`];
  return [opens("tab", addressOf(tab)), foreign(tab.title || tab.url || "a tab without a title"), about, states];
}

/**
 * @param {Tool} tool
 * @returns {Row}
 */
function rowOfTool(tool) {
  const { title, description } = tool.definition;
  const states = [mark(tool.class, CLASSES[tool.class].word)];
  if (!tool.listed) states.push(mark("off", "not listed"));
  const site = tool.domain ? [foreign(tool.domain), tool.tab ? ` · tab ${tool.tab}` : ""] : ["the hub itself"];
  const about = description ? [" · ", foreign(withoutLabel(description).slice(0, 300))] : [];
  return [opens("tool", tool.name), foreign(title || tool.source || tool.name), [...site, ...about], states];
}

/**
 * @param {string} kind
 * @param {Item} it
 * @returns {Row}
 */
function rowOfItem(kind, { name, domain, tab, source, definition: { title, name: own, description } }) {
  const about = [foreign(domain), tab ? ` · tab ${tab}` : "", " · ", foreign(withoutLabel(description) || source)];
  return [opens(kind, name), foreign(title || own || source), about, []];
}
