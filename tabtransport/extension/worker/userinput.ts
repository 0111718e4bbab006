// Whether the owner uses a tab: input that the browser itself vouches for, which no script
// of a page can make. Only tabs where this matters are watched.

import { permitsPage } from "./settings.ts";

import { isAsleep } from "./tab.ts";

/** After this time without input, in ms, the owner uses the tab no more. */
const INPUT_QUIET = 10_000;
/** How long what a page says of input may take to come, in ms. */
const LATE = 300;
/** How often a page says so while there is input, in ms. */
const EVERY = 1_000;

export class UserInput {
  /** The tabs that are used, each with the timer of its end. */
  #at = new Map<number, ReturnType<typeof setTimeout>>();
  /** Tabs that are given input by this extension, and how often at once. */
  #own = new Map<number, number>();
  #settings;
  #watched;
  #changed;

  /**
   * @param watched whether a tab is to be watched
   * @param changed called when the owner begins or ends to use a tab
   */
  constructor(settings: () => Settings, watched: (tabId: number) => boolean, changed: (tabId: number) => void) {
    this.#settings = settings;
    this.#watched = watched;
    this.#changed = changed;
  }

  isActive(tabId: number) {
    return this.#at.has(tabId);
  }

  /**
   * From now on input in a tab is not the owner's.
   * @returns what ends that
   */
  own(tabId: number) {
    const add = (n: number) => {
      const times = (this.#own.get(tabId) ?? 0) + n;
      if (times) this.#own.set(tabId, times);
      else this.#own.delete(tabId);
    };
    add(1);
    return () => void setTimeout(add, LATE, -1);
  }

  /**
   * Looks at a tab that is watched from now on, or shows other documents. A page that is loading is not
   * waited for.
   */
  async watch(tabId: number) {
    if (!this.#watched(tabId)) return;
    try {
      const tab = await chrome.tabs.get(tabId);
      if (isAsleep(tab) || !permitsPage(this.#settings(), tab.url ?? "")) return;
      await chrome.scripting.executeScript({ target: { tabId, allFrames: true }, func: listen, args: [EVERY], injectImmediately: true });
    } catch {
      // It is closed, or closed to extensions: there is no telling whether it is used.
    }
  }

  /**
   * A page has had input.
   * @param inFrame it went to a frame, which may not be looked at yet
   * @returns whether to go on
   */
  input(tabId: number, inFrame: boolean): boolean {
    if (!this.#watched(tabId)) return false;
    if (inFrame) {
      void this.watch(tabId);
      return true;
    }
    if (this.#own.has(tabId)) return true;
    const was = this.#at.get(tabId);
    clearTimeout(was);
    this.#at.set(tabId, setTimeout(() => this.ended(tabId), INPUT_QUIET));
    if (was === undefined) this.#changed(tabId);
    return true;
  }

  /** The owner uses a tab no more, which may be closed. */
  ended(tabId: number) {
    if (!this.#at.has(tabId)) return;
    clearTimeout(this.#at.get(tabId));
    this.#at.delete(tabId);
    this.#changed(tabId);
  }

  /** Another tab came to the front, or another window: tabs that are not in front are not used any more. */
  async tabChanged() {
    for (const tabId of this.#at.keys()) if (!(await isInFront(tabId))) this.ended(tabId);
  }
}

/** Whether a tab is the one that the owner looks at in this browser. */
export async function isInFront(tabId: number) {
  try {
    const { active, windowId } = await chrome.tabs.get(tabId);
    return active && (await chrome.windows.get(windowId)).focused;
  } catch {
    return false; // it has just been closed
  }
}

/** Runs in each document of the tab, in the extension's own world. */
function listen(every: number) {
  if (globalThis.tabhubUserInput) return;
  const stop = new AbortController();
  globalThis.tabhubUserInput = stop;
  const options = { capture: true, passive: true, signal: stop.signal };
  const notify = async (inFrame: boolean) => {
    const goOn = await chrome.runtime.sendMessage({ type: "userInput", inFrame }).catch(() => false);
    if (goOn) return;
    stop.abort();
    globalThis.tabhubUserInput = undefined;
  };
  let last = 0;
  const heard = ({ isTrusted }: Event) => {
    const now = Date.now();
    if (!isTrusted || now - last < every) return;
    last = now;
    void notify(false);
  };
  for (const type of ["pointerdown", "keydown", "wheel", "drop"]) addEventListener(type, heard, options);
  // What happens in a frame no document around it hears.
  addEventListener("blur", () => document.activeElement instanceof HTMLIFrameElement && void notify(true), options);
}
