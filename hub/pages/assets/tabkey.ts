// A tab's key: the name under which the hub knows the tab over reloads. It is kept
// in sessionStorage, which the browser copies when a tab is duplicated; a lock on
// the key tells the copy from the original.

import { Values } from "../../../tabtransport/pagejs/values.ts";

// A reload may start before the browser has freed the old document's lock, and a busy
// machine takes its time. A duplicate of a tab is offered that much later.
const KEY_LOCK_WAIT_MS = 2_000;
// Without locks a key may be in use. A document in the background of a busy
// machine takes its time to say that it has it.
const KEY_ASK_WAIT_MS = 1_000;

export class TabKey {
  value = "";
  /** Whether an earlier document of this tab had the key. */
  returning = false;

  // Documents of one site in one tab, such as frames, share a sessionStorage.
  #slot = window === window.top ? "tabhub.tabKey" : `tabhub.tabKey:${location.pathname}`;
  #release = () => {};

  /** Takes the tab's key, or a new one if another document has it. */
  async take() {
    this.#release();
    const stored = this.value || this.#load();
    this.returning = stored !== "" && (await this.#lock(stored));
    this.value = this.returning ? stored : Values.randomID();
    if (!this.returning) await this.#lock(this.value, 0);
    this.#store(this.value);
  }

  /** Lets another document have the key: the page goes away, perhaps to return. */
  release() {
    this.#release();
    this.#release = () => {};
  }

  #load() {
    try {
      return sessionStorage.getItem(this.#slot) ?? "";
    } catch {
      return "";
    }
  }

  #store(key: string) {
    try {
      sessionStorage.setItem(this.#slot, key);
    } catch {
      // Storage is forbidden here: the key lasts as long as the document.
    }
  }

  /**
   * @param wait for others to say that they have it, where there are no locks; in ms
   * @returns whether the key is now ours
   */
  #lock(key: string, wait: number = KEY_ASK_WAIT_MS): Promise<boolean> {
    return navigator.locks ? this.#lockBrowser(key) : this.#lockByAsking(key, wait);
  }

  #lockBrowser(key: string): Promise<boolean> {
    return new Promise((resolve) => {
      const wait = new AbortController();
      const timer = setTimeout(() => wait.abort(), KEY_LOCK_WAIT_MS);
      navigator.locks
        .request(`tabhub:${key}`, { signal: wait.signal }, () => {
          clearTimeout(timer);
          const held = new Promise((done) => {
            this.#release = () => done(undefined);
          });
          resolve(true);
          return held;
        })
        // AbortError: another document holds it. Anything else means that locks do
        // not work here (an opaque origin), where nothing can be shared either.
        .catch((error) => resolve(error?.name !== "AbortError"));
    });
  }

  // Outside secure contexts there are no locks: ask the site's other documents.
  #lockByAsking(key: string, wait: number): Promise<boolean> {
    if (typeof BroadcastChannel === "undefined") return Promise.resolve(true);
    const channel = new BroadcastChannel("tabhub.tabKey");
    const self = Values.randomID();
    let settled = false;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        settled = true;
        this.#release = () => channel.close();
        resolve(true);
      }, wait);
      channel.onmessage = ({ data }) => {
        if (data?.key !== key) return;
        // Of two that ask at the same time the one with the lower id has it.
        if (data.ask && (settled || self < data.ask)) channel.postMessage({ key, taken: data.ask });
        if (data.taken !== self || settled) return;
        clearTimeout(timer);
        channel.close();
        resolve(false);
      };
      channel.postMessage({ key, ask: self });
    });
  }
}
