// What there is: the hub, tabs and browsers.

import { byID, element, foreign, list, number, row, ROWS, when } from "./dom.js";

/** @import {Browser, Status, Tab} from "./api.d.ts" */

/** @param {Status} status */
export function showStatus(status) {
  const { hub } = status;
  const parts = [`version ${status.version}`, `started ${when(status.started)}`];
  if (status.addrs?.length) parts.unshift(status.addrs.join(", "));
  byID("hub").textContent = parts.join(" · ");
  const counts = { tabs: hub.tabs, tools: hub.tools, sites: hub.domains, clients: status.clients, calls: hub.calls };
  for (const [name, n] of Object.entries(counts)) byID(`count-${name}`).textContent = n.toLocaleString("en");
}

/**
 * @param {Tab} tab
 * @param {number} [departed] how many of its tools are those of a page that has gone
 */
function stateOf(tab, departed = 0) {
  const states = [stateWord(tab, departed)];
  if (tab.rejected?.length) states.push(element("div", "bad", `${tab.rejected.length} refused`));
  return states;
}

/**
 * @param {Tab} tab
 * @param {number} departed
 */
function stateWord(tab, departed) {
  if (!tab.connected) return element("span", "bad", "away");
  if (tab.waiting) return element("span", "bad", "waiting for you");
  if (tab.discarded) return element("span", "soft", "asleep");
  if (departed) return element("span", "", "changing page");
  return tab.focused ? element("span", "ok", "active") : element("span", "", "open");
}

/** @param {Tab[]} tabs */
export function showTabs(tabs) {
  const rows = tabs.flatMap((tab) => {
    const where = [foreign(tab.title, "title"), foreign(tab.url, "title soft")];
    if (!tab.domains?.length) return [row("–", "–", where, number(0), stateOf(tab))];
    return tab.domains.map(({ domain, number: n, tools, departed }) =>
      row(foreign(domain), number(n), where.map((part) => part.cloneNode(true)), number(tools), stateOf(tab, departed)),
    );
  });
  list(byID("tabs"), "table", rows);
  byID("no-tabs").hidden = tabs.some(({ domains }) => domains?.length);
  const more = byID("more-tabs");
  more.hidden = rows.length <= ROWS;
  more.textContent = `and ${rows.length - ROWS} more, which "tabhub tabs" lists`;
  const refused = tabs.flatMap(({ title, rejected }) =>
    (rejected ?? []).map(({ name, reason }) => element("li", "", foreign(name, "code"), " of ", foreign(title), ": ", foreign(reason))),
  );
  for (const { title, warnings } of tabs) {
    for (const { name, reason } of warnings ?? []) {
      refused.push(element("li", "", "a part of ", foreign(name, "code"), " of ", foreign(title), ": ", foreign(reason)));
    }
  }
  list(byID("refused"), "section", refused);
}

/** @param {Browser[]} peers */
export function showBrowsers(peers) {
  const browsers = peers.filter((b) => !b.single); // the others are pages that came by themselves
  const rows = browsers.map((b) => {
    const state = b.connected ? element("span", b.focused ? "ok" : "", b.focused ? "active" : "connected") : element("span", "bad", "away");
    return row(foreign(b.name || "a browser without a name"), number(b.tabs), state, when(b.connected ? b.connectedAt : b.lastSeen));
  });
  byID("count-browsers").textContent = browsers.filter((b) => b.connected).length.toLocaleString("en");
  list(byID("browsers"), "section", rows);
}
