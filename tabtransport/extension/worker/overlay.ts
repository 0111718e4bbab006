// The frame around a page that a client uses, and the words at its edge. They are drawn by the
// extension's own world in the page: the page's scripts cannot look into them, a click goes through
// them, and no picture that a client gets has them.

import { Code, Refusal } from "./refusal.ts";
import { permitsPage, webOrigin } from "./settings.ts";

import { isAsleep } from "./tab.ts";

/** An overlay that the worker has not renewed goes away by itself, in ms; it is renewed before. */
const LASTS = 15_000;
const RENEW = 10_000;
/** How long a page may show where a step has acted, in ms (content/steps/ring.ts). */
const RING = 1_500;
/** How long a page may take to draw what is left when the overlay has gone, in ms. */
const DRAWN = 300;
/** How long a page may be too busy to do anything, in ms. */
const BUSY = 2_000;

export class Overlay {
  /** What is said of tabs, by their ids. */
  #labels = new Map<number, string>();
  /** Tabs that are being pictured, and how often at once. */
  #pictured = new Map<number, number>();
  /** What is done next in a tab comes after this; false if the page was too busy. */
  #last = new Map<number, Promise<boolean>>();
  /** When a step has acted in tabs, whose documents may show where. */
  #ringed = new Map<number, number>();
  #renewing: ReturnType<typeof setInterval> | undefined;
  #settings;

  constructor(settings: () => Settings) {
    this.#settings = settings;
  }

  /**
   * Says what a client does in a tab.
   * @param label "": none does anything
   */
  show(tabId: number, label: string) {
    const was = this.#labels.get(tabId);
    if (label) this.#labels.set(tabId, label);
    else this.#labels.delete(tabId);
    if (label || was !== undefined) this.renew(tabId);
    if (this.#labels.size) this.#renewing ??= setInterval(() => this.renewAll(), RENEW);
  }

  /** The settings are others, or time has gone by. */
  renewAll() {
    for (const tabId of this.#labels.keys()) this.renew(tabId);
    if (this.#labels.size) return;
    clearInterval(this.#renewing);
    this.#renewing = undefined;
  }

  /** Draws a tab's overlay, which it may have already, or removes it. Its document may be another. */
  renew(tabId: number) {
    const label = this.#labels.get(tabId);
    const marked = label !== undefined && this.#settings().mark && !this.#pictured.has(tabId);
    void this.#next(tabId, () => (marked ? this.#draw(tabId, label) : this.#erase(tabId)));
  }

  /** A step has just acted in a tab. */
  ringed(tabId: number) {
    this.#ringed.set(tabId, Date.now());
  }

  /** Does something for which a tab must not have its overlay. */
  async without<T>(tabId: number, act: () => Promise<T>): Promise<T> {
    const times = (this.#pictured.get(tabId) ?? 0) + 1;
    this.#pictured.set(tabId, times);
    try {
      if ((this.#last.has(tabId) || this.#hasRing(tabId)) && !(await this.#next(tabId, () => this.#erase(tabId)))) {
        throw new Refusal(Code.Internal, "the page is too busy to be pictured; try again when it is not");
      }
      return await act();
    } finally {
      const left = (this.#pictured.get(tabId) ?? 1) - 1;
      if (left) this.#pictured.set(tabId, left);
      else this.#pictured.delete(tabId);
      if (this.#labels.has(tabId)) this.renew(tabId);
    }
  }

  closed(tabId: number) {
    this.#ringed.delete(tabId);
    this.#labels.delete(tabId);
  }

  #next(tabId: number, act: () => Promise<unknown>) {
    const acted = async () => {
      await act().catch(() => {}); // the tab may be closed to extensions
      return true;
    };
    const done = (this.#last.get(tabId) ?? Promise.resolve()).then(() => Promise.race([acted(), timedOut()]));
    this.#last.set(tabId, done);
    void done.then(() => this.#last.get(tabId) === done && !this.#labels.has(tabId) && this.#last.delete(tabId));
    return done;
  }

  async #draw(tabId: number, label: string) {
    const tab = await chrome.tabs.get(tabId);
    const origin = webOrigin(tab.url ?? "");
    if (!origin || isAsleep(tab)) return;
    if (permitsPage(this.#settings(), origin)) await run(tabId, draw, [label, origin, LASTS]);
    else await this.#erase(tabId);
  }

  async #erase(tabId: number) {
    await run(tabId, erase, [DRAWN], this.#hasRing(tabId));
  }

  #hasRing(tabId: number) {
    return Date.now() - (this.#ringed.get(tabId) ?? 0) < RING;
  }
}

function timedOut(): Promise<boolean> {
  return new Promise((resolve) => setTimeout(resolve, BUSY, false));
}

/** Runs a function in a tab's top document, or in all. It waits for no page that is loading. */
async function run<A extends unknown[]>(tabId: number, func: (...args: A) => unknown, args: A, allFrames = false) {
  await chrome.scripting.executeScript({ target: { tabId, allFrames }, func, args, injectImmediately: true });
}

// These run in the page.

/** @param origin of the document that is meant */
function draw(label: string, origin: string, lasts: number) {
  if (self.origin !== origin || !(document.documentElement instanceof HTMLHtmlElement)) return;
  const make = () => {
    const host = document.createElement("div");
    host.setAttribute("aria-hidden", "true");
    host.inert = true; // or window.find would find the words, and select them for the page
    host.style.cssText =
      "all: initial !important; position: fixed !important; inset: 0 !important; z-index: 2147483647 !important; pointer-events: none !important;";
    const root = host.attachShadow({ mode: "closed" });
    const look = new CSSStyleSheet(); // a page's policy may forbid any other way
    look.replaceSync(`
      div { position: absolute; inset: 0; border: 3px solid #1f5fbf; box-shadow: inset 0 0 0 1px #ffffffb3; }
      p {
        position: absolute; right: 12px; bottom: 0; max-width: calc(100% - 24px); margin: 0; padding: 3px 12px 4px;
        overflow: hidden; border-radius: 8px 8px 0 0; background: #1f5fbf; color: #fff;
        font: 12px/1.4 system-ui, sans-serif; text-overflow: ellipsis; white-space: nowrap;
      }
      @media (prefers-reduced-motion: no-preference) {
        div, p { animation: appear 0.15s; }
        @keyframes appear { from { opacity: 0; } }
      }
      @media print { div, p { display: none; } }
    `);
    root.adoptedStyleSheets = [look];
    const words = document.createElement("p");
    root.append(document.createElement("div"), words);
    return { host, words, timer: 0 };
  };
  if (!Object.hasOwn(globalThis, "tabhubOverlay")) globalThis.tabhubOverlay = make();
  const overlay = globalThis.tabhubOverlay as NonNullable<typeof tabhubOverlay>;
  overlay.words.textContent = label;
  if (!overlay.host.isConnected) document.documentElement.append(overlay.host);
  clearTimeout(overlay.timer);
  overlay.timer = setTimeout(() => overlay.host.remove(), lasts);
}

/**
 * Resolves once the page shows the overlay no more, if it had one, nor where a step has acted.
 * @param drawn how long it may take
 */
function erase(drawn: number) {
  const ring = Object.hasOwn(globalThis, "tabhubRing") ? globalThis.tabhubRing : undefined;
  ring?.remove();
  const overlay = Object.hasOwn(globalThis, "tabhubOverlay") ? globalThis.tabhubOverlay : undefined;
  if (!ring && !overlay?.host.isConnected) return undefined;
  clearTimeout(overlay?.timer);
  overlay?.host.remove();
  return Promise.race([
    new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(undefined)))),
    new Promise((done) => setTimeout(done, drawn)),
  ]);
}
