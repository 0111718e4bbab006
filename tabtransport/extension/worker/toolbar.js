// The button in the browser's toolbar: how things stand, and in a tab what it offers and who uses it.

import { button } from "../states.js";

/** @typedef {{tools: number, waiting: boolean, users: string[], holder: string}} Shown */

export class Toolbar {
  /** @type {Map<number, Shown>} */
  #tabs = new Map();
  /** The tabs with a title and a colour of their own, which stay for as long as their page. */
  #own = new Set();
  /** @type {Standing | undefined} */
  #standing;
  #shown = "";

  /** @param {Standing} standing */
  show(standing) {
    this.#standing = standing;
    const { text, colour, title } = button(standing);
    const shown = JSON.stringify([text, colour, title]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    void chrome.action.setBadgeBackgroundColor({ color: colour });
    void chrome.action.setTitle({ title });
    void chrome.action.setBadgeText({ text });
    for (const tabId of this.#tabs.keys()) this.#tab(tabId, {});
  }

  /** @param {import("./tab.js").Tab} tab with other tools, or one that waits for a person or no longer */
  tab({ id, tools, waiting }) {
    this.#tab(id, { tools, waiting });
  }

  /**
   * @param {number} tabId
   * @param {string[]} users
   */
  used(tabId, users) {
    this.#tab(tabId, { users });
  }

  /**
   * @param {number} tabId
   * @param {string} holder who waits for the owner to leave the tab, "" if nobody does
   */
  held(tabId, holder) {
    if (holder !== (this.#tabs.get(tabId)?.holder ?? "")) this.#tab(tabId, { holder });
  }

  /** @param {number} tabId */
  closed(tabId) {
    this.#tabs.delete(tabId);
    this.#own.delete(tabId);
  }

  /**
   * @param {number} tabId
   * @param {Partial<Shown>} change
   */
  #tab(tabId, change) {
    const tab = { tools: 0, waiting: false, users: [], holder: "", ...this.#tabs.get(tabId), ...change };
    this.#tabs.set(tabId, tab);
    if (!this.#standing) return;
    const all = button(this.#standing);
    const { text, colour, title } = button(this.#standing, tab);
    // What a tab shows hides what the whole does, so it has its own only where that differs.
    chrome.action.setBadgeText({ tabId, text: text === all.text ? undefined : text }).catch(() => {}); // it may just have been closed
    const own = colour !== all.colour || title !== all.title;
    if (!own && !this.#own.has(tabId)) return;
    if (own) this.#own.add(tabId);
    chrome.action.setBadgeBackgroundColor({ tabId, color: colour }).catch(() => {});
    chrome.action.setTitle({ tabId, title }).catch(() => {});
  }
}
