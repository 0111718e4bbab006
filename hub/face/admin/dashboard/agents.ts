// The agents that are at work, and what each has of tabs: which ones it holds for itself, where
// its calls go, and which ones it has opened.

import { button, byID, chip, element, foreign, link, list, row, when } from "./dom.ts";
import { nameOf } from "./names.ts";
import { stateOf } from "./offers.ts";
import { ask } from "./session.ts";
import type { Pages } from "./pages.ts";

import type { Agent, AgentTab, Holder } from "./api.d.ts";

/** How many tabs of an agent are shown among others. */
const TABS = 6;

/** @param of of which ones; with a session all its tabs */
export async function showAgents(pages: Pages, of: { client?: string; session?: string }) {
  const query = of.session ? of : { ...of, tabs: String(TABS) };
  const { part, found }: { part: Agent[]; found: number } = await pages.find("api/lease", query);
  list(byID("agents"), "table", part.map(agentRow));
  byID("agent-count").textContent = found ? found.toLocaleString("en") : "";
  byID("no-agents").hidden = found > 0;
}

function agentRow({ session, client, label, connected, lastUsed, tabs, allTabs }: Agent) {
  const shown = tabs.map((tab) => element("li", "", ...partsOf(tab)));
  const more = allTabs - tabs.length;
  if (more > 0) shown.push(element("li", "", link("clients", { client, agent: session }, `and ${more} more`)));
  return row(
    [link("clients", { client }, foreign(label || nameOf(client))), element("span", "soft below", session)],
    connected ? chip("connected") : chip("closed", "not connected"),
    element("span", "number", when(lastUsed)),
    shown.length ? element("ul", "plain", ...shown) : element("span", "soft", "none yet"),
  );
}

function partsOf({ addr, tab, url, title, keeps, opened, holds, inUse, waiting }: AgentTab) {
  const words = [url && hostOf(url), keeps && !holds && "its calls go there", opened && "opened by it"].filter(Boolean);
  const parts: (Node | string)[] = [link("tabs", { tab: `${addr.peer}/${addr.tab}` }, foreign(title || url || `tab ${tab}`))];
  if (waiting || inUse) parts.push(" ", stateOf({ waiting, inUse, connected: true }));
  if (holds) parts.push(" ", release(tab, title || tab), element("span", "below", "leases it ", ...termsOf(holds)));
  if (words.length) parts.push(foreign(words.join(" · "), "soft below"));
  return parts;
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host || url : url);

/** The terms of a lease, in words. */
export const termsOf = ({ name, until, reads }: Holder) => ["as ", foreign(name), ` until ${when(until)}, or longer if it works there`, reads ? "; others may read" : ""];

/**
 * A button that ends the lease of a tab.
 * @param name of the tab, for people
 */
export function release(tab: string, name: string) {
  const made = button("Release", `Release tab ${tab}: ${name}`, async () => {
    const was = await ask("DELETE", `api/lease?${new URLSearchParams({ tab })}`);
    return `${was.name} no longer leases the tab. It is not notified, and may claim the tab again.`;
  });
  made.classList.add("writes");
  return made;
}
