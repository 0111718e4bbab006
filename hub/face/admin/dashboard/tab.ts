// One tab: where it is, how it is, what it offers, and what of that is not taken.

import { release, termsOf } from "./agents.ts";
import { element, factsOf, foreign, number, when } from "./dom.ts";
import { addressOf, heading, link, LISTED_OTHERWISE, listedOtherwise, mark, opens, showParts, stateOf } from "./offers.ts";
import { find } from "./session.ts";
import { CLASSES, waitsForYou } from "../../../../tabtransport/extension/words.ts";

import type { Tab, Tool } from "./api.d.ts";

const PART = 50;

/** @param args of the view */
export async function showTab(into: HTMLElement, address: string, args: URLSearchParams) {
  const of = encodeURIComponent(address);
  const [{ part: tabs }, tools] = await Promise.all([find(`api/tabs?tab=${of}&limit=1`), find(`api/tools?tab=${of}&limit=${PART}`)]);
  showParts(into, ["tab", address, String(args), tabs, tools], () => (tabs.length ? parts(tabs[0], tools, args) : gone()));
}

function gone() {
  return [heading("This tab is closed"), element("p", "soft", "It may also have left the hub: its page offers no tools any more, or was switched off in the extension’s popup.")];
}

function parts(tab: Tab, tools: { part: Tool[]; found: number }, args: URLSearchParams) {
  const sites = (tab.domains ?? []).map(({ domain, number: n, tools: offered, resources, prompts, departed }) =>
    element("li", "", link(args, { kind: "tools", site: domain, q: "", from: "", of: "" }, foreign(domain)), ` · tab ${n}`, ...others(args, tab, { tools: offered, resources, prompts }), departed ? `, ${departed} of a page that has gone` : ""),
  );
  const { heldBy, openedBy } = tab;
  const waits = tab.waiting && tab.inUse && heldBy ? [": ", foreign(waitsForYou(heldBy.name))] : [];
  const { peer, tab: id } = tab.addr;
  const made = [
    heading(foreign(tab.title || "A tab without a title", "title")),
    factsOf([
      ["State", stateOf(tab), ...waits, tab.inFlight ? `, ${tab.inFlight} ${tab.inFlight === 1 ? "call" : "calls"} under way` : ""],
      ...(heldBy ? [fact("Leased", ...termsOf(heldBy), " ", release(id ? `${peer}/${id}` : peer, tab.title))] : []),
      ...(openedBy ? [fact("Opened by", foreign(openedBy))] : []),
      ["Address", foreign(tab.url || "not known"), " ", ...verified(tab)],
      ["Browser", foreign([tab.label, tab.browser || "none: the page has joined by itself"].filter(Boolean).join(" · ")), tab.active && !tab.focused ? ", the active tab of its window" : ""],
      ["Heard of", when(tab.lastUpdated)],
      ["Sites", sites.length ? element("ul", "plain", ...sites) : "none: it offers nothing"],
    ]),
    element("h3", "", "Tools ", number(tools.found)),
  ];
  if (tools.part.length) made.push(element("ul", "links", ...tools.part.map((tool) => element("li", "", link(args, opens("tool", tool.name), foreign(tool.definition.title || tool.source || tool.name)), " ", mark(tool.class, CLASSES[tool.class].word)))));
  else made.push(element("p", "soft", "It has none now."));
  if (tools.found > tools.part.length) made.push(element("p", "", link(args, { kind: "tools", of: addressOf(tab), q: "", site: "", from: "" }, `All ${tools.found.toLocaleString("en")}`)));
  const left = [...reasons("was refused", tab.rejected), ...reasons("has parts that were left out", tab.warnings?.filter((w) => !listedOtherwise(w)))];
  if (left.length) made.push(element("h3", "", "Left out"), element("ul", "", ...left));
  const other = reasons("is listed otherwise", tab.warnings?.filter(listedOtherwise).map(({ name, reason }) => ({ name, reason: reason.slice(LISTED_OTHERWISE.length) })));
  if (other.length) made.push(element("h3", "", "Listed otherwise to clients"), element("ul", "", ...other));
  return made;
}

const fact: (name: string, ...value: (Node | string)[]) => [string, ...(Node | string)[]] = (name, ...value) => [name, ...value];

/** How much a tab has of each kind, with links to it. */
const others = (args: URLSearchParams, tab: Tab, counts: Record<string, number>) =>
  Object.entries(counts).flatMap(([kind, n]) => (n ? [" · ", link(args, { kind, of: addressOf(tab), q: "", site: "", from: "" }, `${n.toLocaleString("en")} ${n === 1 ? kind.slice(0, -1) : kind}`)] : []));

/** Whether a tab is where it says. */
const verified = ({ attested }: Tab) =>
  attested ? [mark("read", "verified"), element("span", "soft", " its browser vouches for where it is")] : [mark("bad", "not verified"), element("span", "soft", " only the page itself says where it is")];

const reasons = (what: string, all: Tab["rejected"] = []) => all.map(({ name, reason }) => element("li", "", foreign(name, "code"), ` ${what}: `, foreign(reason)));
