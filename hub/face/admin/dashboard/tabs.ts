// Tabs and tools: what there is, found by words, and beside it the one that is open. The address
// keeps both: q, kind, site, of (a tab), from (where the part begins), and tab or tool.

import { byID, chip, element, foreign, tell, twice, when } from "./dom.ts";
import { find, ask } from "./session.ts";
import { addressOf, lead, link, linkTo, listedOtherwise, mark, OPEN, opens, showParts, stateOf, withoutLabel } from "./offers.ts";
import { Pages } from "./pages.ts";
import { showTab } from "./tab.ts";
import { showItem } from "./item.ts";
import { showTool } from "./tool.ts";
import { closeTrial } from "./trial.ts";
import { CLASSES } from "../../../../tabtransport/extension/words.ts";
import type { Item, NamedBrowser, Tab, Tool } from "./api.d.ts";

import type { View } from "./dashboard.ts";

type Row = [opens: Record<string, string>, title: Node, about: (Node | string)[], states: Node[]];

const KINDS: Record<string, { path: string; row: (it: any) => Row }> = {
  tabs: { path: "api/tabs", row: rowOfTab },
  tools: { path: "api/tools", row: rowOfTool },
  resources: { path: "api/resources", row: (it) => rowOfItem("resource", it) },
  prompts: { path: "api/prompts", row: (it) => rowOfItem("prompt", it) },
};

/** What the address says. */
let args = new URLSearchParams();

/** Ends the listeners that the page outside of the view has. */
let opened: AbortController;

let pages: Pages;

let again: (changed: string[]) => void;

export const view: View = {
  name: "tabs",
  title: "Tabs and tools",
  open(section, given, refresh) {
    args = given;
    again = refresh;
    opened = new AbortController();
    const q = search();
    q.value = args.get("q") ?? "";
    /** @param here the address before is not one to go back to */
    const go = (to: Record<string, string>, here?: boolean) => {
      const next = linkTo(args, to);
      args = new URLSearchParams(next.split("?")[1]);
      history[here ? "replaceState" : "pushState"](null, "", next);
      refresh(["tabs"]);
    };
    pages = new Pages((from) => go({ from: from ? String(from) : "" }, from === 0)); // going back must not lead to a page that is gone
    q.addEventListener("input", () => go({ q: q.value.trim(), from: "" }, true));
    section.addEventListener("click", (event) => {
      const link = (event.target as Element).closest("a");
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
      void tell(event.target as HTMLFormElement, nameBrowser);
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

/** What gets the focus once it is shown: after closing what was open, the link that had led there. */
let focusNext: () => HTMLElement | null = () => null;

const foundLinks = () => [...byID("found").querySelectorAll("a")];

const search = () => byID("search", HTMLInputElement);

const kindNow = () => (Object.hasOwn(KINDS, args.get("kind") ?? "") ? (args.get("kind") as string) : "tabs");

function found(kind: string) {
  const query = { q: args.get("q") ?? "", site: args.get("site") ?? "", tab: args.get("of") ?? "" };
  const { path } = KINDS[kind];
  pages.offset = Number(args.get("from")) || 0;
  return kind === kindNow() ? pages.find(path, query) : find(`${path}?${new URLSearchParams({ ...query, limit: "0" })}`);
}

/** @param lists of each kind */
function showFound(lists: { part: any[]; found: number }[], browsers: NamedBrowser[]) {
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

const hasTools = ({ domains }: Tab) => Boolean(domains?.length);

/** Whether not everything is looked for. */
const narrowed = () => ["q", "site", "of"].some((name) => args.get(name));

function links(rows: Row[]) {
  return rows.map(([opens, title, about, states]) => {
    const made = link(args, opens, element("span", "found-title", title), element("span", "found-states", ...states), element("span", "found-about soft", ...about));
    if (isOpen(opens)) made.ariaCurrent = "true";
    return element("li", "", made);
  });
}

const isOpen = (opens: Record<string, string>) => OPEN.every((name) => (args.get(name) ?? "") === opens[name]);

/** Says what the list is narrowed to, and leads to all of it. */
function showOnly() {
  const only = [args.get("site"), args.get("of") && `one tab`].filter(Boolean).join(", ");
  byID("only").hidden = only === "";
  byID("only-words").textContent = only;
  lead(byID("all", HTMLAnchorElement), args, { site: "", of: "", from: "" });
}

function showBrowsers(browsers: NamedBrowser[]) {
  showParts(byID("browsers"), browsers, () => browsers.map(rowOfBrowser));
  const select = byID("named-browser", HTMLSelectElement);
  const { value } = select;
  const there = browsers.filter(({ id, connected }) => id && connected);
  showParts(select, there.map(titleOf), () => there.map((b) => new Option(titleOf(b), b.id)));
  if (there.some(({ id }) => id === value)) select.value = value;
  byID("name-form").hidden = there.length === 0;
  byID("browsers-part").hidden = browsers.length === 0;
}

const titleOf = ({ id, name, browser }: NamedBrowser) => [name, browser || "a browser without a name", id].filter(Boolean).join(" · ");

function rowOfBrowser(b: NamedBrowser) {
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

function keys(event: KeyboardEvent) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const at = document.activeElement as HTMLElement | null;
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

function rowOfTab(tab: Tab): Row {
  const tools = (tab.domains ?? []).reduce((n, d) => n + d.tools, 0);
  const states = [stateOf(tab)];
  if (tab.rejected?.length) states.push(mark("bad", `${tab.rejected.length} refused`));
  else if (tab.warnings?.some((w) => !listedOtherwise(w))) states.push(mark("write", "parts left out"));
  if (tab.heldBy) states.push(mark("write", "leased"));
  const whose = [tab.heldBy && `leased by ${tab.heldBy.name}`, tab.openedBy && `opened by ${tab.openedBy}`, tab.label].filter((words) => words !== undefined);
  const about = [...whose.flatMap((words) => [foreign(words), " · "]), ...(tab.domains ?? []).flatMap(({ domain, number }) => [foreign(domain), ` · tab ${number} · `]), tools === 1 ? "1 tool" : `${tools} tools`];
  return [opens("tab", addressOf(tab)), foreign(tab.title || tab.url || "a tab without a title"), about, states];
}

function rowOfTool(tool: Tool): Row {
  const { title, description } = tool.definition;
  const states = [mark(tool.class, CLASSES[tool.class].word)];
  if (!tool.listed) states.push(mark("off", "not listed"));
  const site = tool.domain ? [foreign(tool.domain), tool.tab ? ` · tab ${tool.tab}` : ""] : ["the hub itself"];
  const about = description ? [" · ", foreign(withoutLabel(description).slice(0, 300))] : [];
  return [opens("tool", tool.name), foreign(title || tool.source || tool.name), [...site, ...about], states];
}

function rowOfItem(kind: string, { name, domain, tab, source, definition: { title, name: own, description } }: Item): Row {
  const about = [foreign(domain), tab ? ` · tab ${tab}` : "", " · ", foreign(withoutLabel(description) || source)];
  return [opens(kind, name), foreign(title || own || source), about, []];
}
