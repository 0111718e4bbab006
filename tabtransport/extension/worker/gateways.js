// Brings the gateway to the tabs' top documents (README.md, "Where nothing is, nothing runs").
// No such document has a script in the extension's own world while it loads, as that would take
// time from its load. The signs that it has given by then wait for the gateway.

import { permits, permitsAll, permitsPage, sharesNone, webOrigin } from "./settings.js";

/** How long after its load a page is asked whether it has given signs, in ms, */
const LOADED = 30;
/** and how long after that it gets its gateway if it has not. */
const QUIET = 300;
/** How long a page may be loading before it gets its gateway, in ms: of so long a load it takes little. */
const LOADING = 250;
/** A page that is loading for longer than that may be another one by then: it is looked at again, for so long. */
const MAX_LOADING = 30_000;

/** Also in a document that is loading. */
const AT_ONCE = { injectImmediately: true };

export class Gateways {
  #settings;
  /** What is to be done next in a tab, by its id. @type {Map<number, ReturnType<typeof setTimeout>>} */
  #timers = new Map();

  /** @param {() => Settings} settings */
  constructor(settings) {
    this.#settings = settings;
  }

  /**
   * Takes what the browser says of a tab.
   *
   * @param {number} id
   * @param {{status?: string}} change
   * @param {chrome.tabs.Tab} tab
   */
  seen(id, { status }, { url = "" }) {
    const settings = this.#settings();
    if (!status || sharesNone(settings)) return;
    const shared = permitsAll(settings) || (webOrigin(url) !== "" && permitsPage(settings, url));
    if (status === "loading") this.#whileLoading(id, LOADING);
    else if (shared) this.#loaded(id);
    else void this.bring(id); // no sentinel is there to keep the signs of frames of other sites
  }

  /** Brings the gateway to all tabs. */
  async everywhere() {
    if (sharesNone(this.#settings())) return;
    for (const { id } of await chrome.tabs.query({ discarded: false })) if (id !== undefined) void this.bring(id);
  }

  /**
   * Brings the gateway to a tab's top document, where it starts once, and has it take the signs that
   * were given before.
   *
   * @param {number} id
   * @returns {Promise<boolean>} false if the document is closed to extensions
   */
  async bring(id) {
    try {
      const { documentId } = await run({ target: { tabId: id }, files: ["content/top.js"], ...AT_ONCE });
      const target = { tabId: id, documentIds: [documentId] };
      const settings = this.#settings();
      const shared = permitsAll(settings) || permits(settings, String((await run({ target, func: () => self.origin, ...AT_ONCE })).result));
      if (shared && (await hasSigns(target))) await run({ target, func: () => void dispatchEvent(new Event("tabhub-gateway")), ...AT_ONCE });
      return true;
    } catch {
      return false;
    }
  }

  /**
   * @param {number} id
   * @param {number} ms
   */
  #whileLoading(id, ms) {
    this.#after(id, ms, async () => {
      await this.bring(id);
      const tab = await chrome.tabs.get(id).catch(() => undefined);
      if (tab?.status === "loading" && ms < MAX_LOADING && !this.#timers.has(id)) this.#whileLoading(id, ms * 2);
    });
  }

  /** @param {number} id */
  #loaded(id) {
    this.#after(id, LOADED, async () => {
      // Should the tab have another page by now, this looks whether it has one property, which no page can see.
      if (await hasSigns({ tabId: id }).catch(() => false)) await this.bring(id);
      else if (!this.#timers.has(id)) this.#after(id, QUIET, () => this.bring(id));
    });
  }

  /**
   * @param {number} id
   * @param {number} ms
   * @param {() => void} act
   */
  #after(id, ms, act) {
    clearTimeout(this.#timers.get(id));
    const timer = setTimeout(() => {
      this.#timers.delete(id);
      act();
    }, ms);
    this.#timers.set(id, timer);
  }
}

/**
 * Whether a top document has given signs that no gateway was there for.
 *
 * @param {chrome.scripting.InjectionTarget} target
 */
async function hasSigns(target) {
  return (await run({ target, world: "MAIN", func: () => Symbol.for("tabhub.signs") in window, ...AT_ONCE })).result === true;
}

/**
 * Runs a script in one document at once.
 *
 * @param {chrome.scripting.ScriptInjection<[], unknown>} injection
 */
async function run(injection) {
  const [done] = await chrome.scripting.executeScript(injection);
  return done;
}
