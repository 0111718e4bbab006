// What unloaded documents have offered: how long a document is waited for that may offer what the one before it
// did.

import { askDocuments } from "./documents.ts";
import type { Registrar } from "./registrar.ts";
import type { Tab } from "./tab.ts";

import type { Frame } from "./frame.ts";

/** How long a document may take to load and to make its first offer, in ms, until that of the one before it is forgotten, */
export const LOADING = 15_000;
/** and how long after that it may take to offer all that the one before it did. */
const MOMENT = 1_500;
/** How long a document may take to say that it is there, in ms. */
const ANSWER = 1_000;
/** How long a restarted worker waits for the frames that an earlier one knew, in ms. */
const RETURN = 2_000;

export class Retention {
  #registrar;

  /** @param registrar notified of changes */
  constructor(registrar: Registrar) {
    this.#registrar = registrar;
  }

  /** A frame's document has gone, and with it what was reached through it. */
  depart(tab: Tab, frame: Frame) {
    for (const each of tab.with(frame)) {
      each.unload();
      if (each.empty && !each.port) tab.frames.delete(each.id);
    }
    this.wait(tab, frame);
    if (!frame.port && frame.id !== 0) void this.#lookFor(tab, frame);
    if (frame.id === 0) this.#registrar.next(tab);
    else this.#registrar.soon(tab);
  }

  /**
   * Waits for a frame's document to offer what those before it have offered. One without
   * tools says nothing, and one in a tab that sleeps is not there yet.
   */
  wait(tab: Tab, frame: Frame) {
    clearTimeout(frame.timer);
    if (tab.discarded || !tab.with(frame).some((each) => each.waits)) return;
    const elsewhere = !frame.port && frame.site !== tab.site;
    const loaded = !tab.loading && !frame.awaited;
    frame.timer = setTimeout(() => this.#settle(tab, frame), elsewhere ? 0 : loaded ? MOMENT : frame.since + LOADING - Date.now());
  }

  /** The browser says something else of a tab, on which it depends how long is waited. */
  waitAnew(tab: Tab, { woken = false }: { woken?: boolean } = {}) {
    for (const frame of tab.frames.values()) {
      if (woken) frame.since = Date.now();
      if (!frame.through) this.wait(tab, frame);
    }
    this.awaitMissing(tab);
  }

  /** Waits for the frames that an earlier worker knew. */
  awaitMissing(tab: Tab) {
    clearTimeout(tab.returning);
    if (!tab.missing || tab.discarded) return;
    const over = () => {
      tab.missing = undefined;
      this.#registrar.soon(tab);
    };
    tab.returning = setTimeout(over, tab.loading ? LOADING : RETURN);
  }

  /** Waits no longer for a frame whose document has gone if it was removed, and not the whole page. */
  async #lookFor(tab: Tab, frame: Frame) {
    const [there, info] = await Promise.all([
      documents({ tabId: tab.id, frameIds: [frame.id] }),
      chrome.tabs.get(tab.id).catch(() => undefined),
    ]);
    if (!there.length && !frame.port && info?.status === "complete") this.#settle(tab, frame);
  }

  /** What a frame's unloaded document has offered will not come back. */
  #settle(tab: Tab, frame: Frame) {
    const over = tab.with(frame);
    // With the page go its frames.
    if (frame.id === 0) over.push(...[...tab.frames.values()].filter(({ port }) => !port));
    for (const each of over) {
      each.settle();
      if (each.empty && (!each.port || each.through)) tab.frames.delete(each.id);
    }
    this.#registrar.soon(tab);
  }
}

/** The documents that there are in a tab, or in frames of it; a page that does not answer has none. */
export async function documents(target: chrome.scripting.InjectionTarget): Promise<string[]> {
  const answers = await askDocuments({ target, func: () => {} }, ANSWER);
  return answers.map(({ documentId }) => documentId);
}
