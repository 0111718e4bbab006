// The button in the browser's toolbar: how things stand, and in a tab what it offers and which clients use it.

import { button } from "../status.ts";

import type { Tab } from "./tab.ts";

type Shown = { tools: number; waiting: boolean; users: string[]; holder: string; recording: "" | RecordingView["state"] };

export class Toolbar {
  #tabs = new Map<number, Shown>();
  /** The tabs with a title and a colour of their own, which stay for as long as their page. */
  #own = new Set<number>();
  #standing: Standing | undefined;
  #shown = "";

  show(standing: Standing) {
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

  /** @param tab with other tools, or one that waits for a person or no longer */
  tab({ id, tools, waiting }: Tab) {
    this.#tab(id, { tools, waiting });
  }

  used(tabId: number, users: string[]) {
    this.#tab(tabId, { users });
  }

  /** @param holder the client that waits for the owner to leave the tab, "" for none */
  held(tabId: number, holder: string) {
    if (holder !== (this.#tabs.get(tabId)?.holder ?? "")) this.#tab(tabId, { holder });
  }

  /** @param recording how far a recording of the tab is */
  recorded(tabId: number, recording: Shown["recording"]) {
    if (recording !== (this.#tabs.get(tabId)?.recording ?? "")) this.#tab(tabId, { recording });
  }

  closed(tabId: number) {
    this.#tabs.delete(tabId);
    this.#own.delete(tabId);
  }

  #tab(tabId: number, change: Partial<Shown>) {
    const tab = { tools: 0, waiting: false, users: [], holder: "", recording: "" as const, ...this.#tabs.get(tabId), ...change };
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
