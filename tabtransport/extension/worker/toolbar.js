// The button in the browser's toolbar: how things stand, and in a tab what it offers.

import { STATES, stateOf } from "../states.js";

export class Toolbar {
  /** What tabs show. @type {Map<number, import("./tab.js").Tab>} */
  #tabs = new Map();
  /** The tabs that wait for the person in front of them. */
  #waiting = new Set();
  #text = "";
  #title = "";

  /** @param {Standing} standing */
  show(standing) {
    const state = stateOf(standing);
    const [name, badge, colour] = STATES[state];
    const text = state === "waiting" ? String(Math.max(standing.waiting, standing.owner.waiting)) : badge;
    if (`tabhub: ${name}` !== this.#title) {
      this.#title = `tabhub: ${name}`;
      void chrome.action.setBadgeBackgroundColor({ color: colour });
      void chrome.action.setTitle({ title: this.#title });
    }
    if (text === this.#text) return;
    this.#text = text;
    void chrome.action.setBadgeText({ text });
    for (const tab of this.#tabs.values()) this.#badge(tab);
  }

  /** @param {import("./tab.js").Tab} tab with other tools, or one that waits for a person or no longer */
  tab(tab) {
    const { id: tabId, waiting } = tab;
    this.#tabs.set(tabId, tab);
    this.#badge(tab);
    // A tab's own title stays for as long as its page.
    if (waiting) this.#waiting.add(tabId);
    else if (!this.#waiting.delete(tabId)) return;
    const title = waiting ? "tabhub: a form in this tab waits for you to submit it" : this.#title;
    chrome.action.setTitle({ tabId, title }).catch(() => {}); // the tab may just have been closed
  }

  /** @param {number} tabId */
  closed(tabId) {
    this.#tabs.delete(tabId);
    this.#waiting.delete(tabId);
  }

  /** A tab's text hides that of the whole, so it has one only where that has none. */
  #badge(/** @type {import("./tab.js").Tab} */ { id: tabId, tools, waiting }) {
    const text = waiting ? "you" : tools && !this.#text ? String(tools) : undefined;
    chrome.action.setBadgeText({ tabId, text }).catch(() => {});
  }
}
