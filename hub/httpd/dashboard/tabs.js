// What there is: browsers, tabs, and tools that were refused.

import { byID, chip, element, foreign, list, number, row, ROWS, when } from "./dom.js";
import { ask } from "./session.js";

/** @import {Browser, Tab} from "./api.d.ts" */
/** @import {View} from "./dashboard.js" */

/** @type {View} */
export const view = {
  name: "tabs",
  title: "Tabs and tools",
  open() {},
  async update(changed) {
    if (!changed.has("tabs") && !changed.has("tools")) return;
    const [tabs, browsers] = await Promise.all([ask("GET", "api/tabs"), ask("GET", "api/browsers")]);
    showTabs(tabs);
    showBrowsers(browsers);
  },
};

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
  if (!tab.connected) return chip("away");
  if (tab.waiting) return chip("waiting");
  if (tab.discarded) return chip("asleep");
  if (departed) return chip("changing");
  return chip(tab.focused ? "active" : "open");
}

/** @param {Tab[]} tabs */
function showTabs(tabs) {
  const rows = tabs.flatMap((tab) => {
    const where = [foreign(tab.title, "title"), foreign(tab.url, "title soft")];
    if (!tab.domains?.length) return [row("–", "–", where, number(0), stateOf(tab))];
    return tab.domains.map(({ domain, number: n, tools, departed }) =>
      row(foreign(domain), number(n), where.map((part) => part.cloneNode(true)), number(tools), stateOf(tab, departed)),
    );
  });
  list(byID("tab-rows"), "table", rows);
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
function showBrowsers(peers) {
  const browsers = peers.filter((b) => !b.single); // the others are pages that came by themselves
  const rows = browsers.map((b) => {
    const state = chip(!b.connected ? "away" : b.focused ? "active" : "connected");
    return row(foreign(b.name || "a browser without a name"), number(b.tabs), state, when(b.connected ? b.connectedAt : b.lastSeen));
  });
  list(byID("browsers"), "section", rows);
}
