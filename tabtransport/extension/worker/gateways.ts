// Places the gateway in the tabs' top documents (README.md, "Where nothing is, nothing runs").
// While it loads no such document has a script in the extension's own world, which would take
// time from its load, unless it takes long. The signs that it gives by then wait for the gateway.

import { permits, permitsAll, sharesNone } from "./settings.ts";

import { lookForWebMCP } from "./webmcp.ts";

/** How long after its load a page is asked whether it has given signs, in ms, */
const LOADED = 30;
/** and how long after that it gets its gateway if it has not. */
const QUIET = 70;
/** How long a page may be loading before it gets its gateway, in ms: of so long a load it takes little. */
const LOADING = 100;
/** A page that is loading for longer than that may be another one by then: it is looked at again, for so long. */
const MAX_LOADING = 30_000;
/** How long a page, or a frame of it, that loads again and again can put off what is to be done, in ms. */
const PUT_OFF = 300;
/** How long ago the user has been at the tabs that a worker looks at when it starts, in ms. */
const RECENT = 60_000;

/** Also in a document that is loading. */
const AT_ONCE = { injectImmediately: true };

export class Gateways {
  #settings;
  /** What is to be done next in a tab, by its id. */
  #next = new Map<number, { since: number; timer: ReturnType<typeof setTimeout> }>();

  constructor(settings: () => Settings) {
    this.#settings = settings;
  }

  /** Takes what the browser says of a tab. */
  seen(id: number, { status }: { status?: string }) {
    if (!status || sharesNone(this.#settings())) return;
    if (status === "loading") this.#whileLoading(id, LOADING);
    else this.#after(id, LOADED, () => this.#loaded(id));
  }

  /**
   * Places the gateway in all tabs that have loaded.
   * @param which only in those that the user was at lately
   */
  async everywhere({ recent = false }: { recent?: boolean } = {}) {
    if (sharesNone(this.#settings())) return;
    const since = recent ? Date.now() - RECENT : 0;
    for (const { id, lastAccessed = Infinity } of await chrome.tabs.query({ status: "complete", discarded: false })) {
      if (id !== undefined && lastAccessed >= since) void this.place(id);
    }
  }

  /**
   * Places the gateway in a tab's top document, where it starts once and is passed the signs that
   * were given before.
   * @returns false if the document is closed to extensions
   */
  async place(id: number): Promise<boolean> {
    try {
      const { documentId } = await run({ target: { tabId: id }, files: ["content/gateway.js"], ...AT_ONCE });
      const target = { tabId: id, documentIds: [documentId] };
      void lookForWebMCP(target);
      const settings = this.#settings();
      const shared = permitsAll(settings) || permits(settings, String((await run({ target, func: () => self.origin, ...AT_ONCE })).result));
      if (shared && (await hasSigns(target))) await run({ target, func: () => globalThis.tabhubGateway?.join(), ...AT_ONCE });
      return true;
    } catch {
      return false;
    }
  }

  #whileLoading(id: number, ms: number) {
    this.#after(id, ms, async () => {
      await this.place(id);
      const tab = await chrome.tabs.get(id).catch(() => undefined);
      if (tab?.status === "loading" && ms < MAX_LOADING) this.#whileLoading(id, ms * 2);
    });
  }

  async #loaded(id: number) {
    // While a site is switched off the page may be of it, and nothing runs in its own world.
    const signs = !permitsAll(this.#settings()) || (await hasSigns({ tabId: id }).catch(() => false));
    if (signs) await this.place(id);
    else this.#after(id, QUIET, () => this.place(id));
  }

  /** Acts in a tab after a time, instead of what was to be done there next. */
  #after(id: number, ms: number, act: () => void) {
    const now = Date.now();
    const { since = now, timer } = this.#next.get(id) ?? {};
    clearTimeout(timer);
    const then = () => {
      this.#next.delete(id);
      act();
    };
    this.#next.set(id, { since, timer: setTimeout(then, Math.min(ms, since + PUT_OFF - now)) });
  }
}

/**
 * Whether a tab's top document has given signs before there was a gateway: then it has the sentinel's
 * mark, which cannot be deleted. To try that is the one way to look that calls nothing of the page.
 */
async function hasSigns(target: chrome.scripting.InjectionTarget) {
  const look = () => {
    "use strict";
    try {
      return !delete ((window as any).tabhubSigns);
    } catch {
      return true;
    }
  };
  return (await run({ target, world: "MAIN", func: look, ...AT_ONCE })).result === true;
}

/** Runs a script in one document. */
async function run(injection: chrome.scripting.ScriptInjection<[], unknown>) {
  const [done] = await chrome.scripting.executeScript(injection);
  return done;
}
