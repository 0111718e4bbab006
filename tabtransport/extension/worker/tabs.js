// The tabs with something to offer: what the browser and their frames say of them.

import { Registrar } from "./registrar.js";
import { givesWebMCP, keeps, permits } from "./settings.js";
import { Stored } from "./stored.js";
import { Frame, Tab, tell } from "./tab.js";

/** How long what a frame offered stays after its document has gone, in ms: the next document may offer the same. */
const GONE = 3_000;
/** How long a new document of the same origin may take to make an offer, in ms. */
const LOADING = 10_000;
/** How long a new document may take to offer all that the one before it did, in ms. */
const WHOLE = 1_500;
/** How long a restarted worker waits for the frames that an earlier one knew, in ms. */
const RETURN = 2_000;

export class Tabs {
  /** @type {Map<number, Tab>} */
  #tabs = new Map();
  /** Tabs that were closed while the hub could not be told. */
  #closed = new Set();
  #focused = -1;
  /** @type {Stored<Record<number, number[]>>} the frames of each tab that the hub was told of */
  #stored = new Stored("tabs", () => this.#remembered());
  #hub;
  #standing;
  #settings;
  #registrar;

  /**
   * @param {import("./hub.js").Hub} hub
   * @param {() => {address: string, state: HubState["state"], hub: string, version: string}} standing
   *   where the hub is, and how this browser stands with it
   * @param {() => Settings} settings
   * @param {(tabId: number, tools: number) => void} badge told how many tools a tab has
   */
  constructor(hub, standing, settings, badge) {
    this.#hub = hub;
    this.#standing = standing;
    this.#settings = settings;
    this.#registrar = new Registrar(hub, settings, (tab, tools) => {
      badge(tab.id, tools);
      this.#state(tab);
      this.#stored.save();
    });
  }

  /** Remembers the tabs of an earlier worker, and learns which of them are left. */
  async load() {
    const before = (await this.#stored.load()) ?? {};
    const [open, last] = await Promise.all([
      chrome.tabs.query({}),
      chrome.windows.getLastFocused({ windowTypes: ["normal"] }).catch(() => undefined),
    ]);
    this.#focused = last?.id ?? -1;
    const ids = new Set(open.map((tab) => tab.id));
    for (const [key, frames] of Object.entries(before)) {
      const id = Number(key);
      if (!ids.has(id)) {
        this.#closed.add(id);
        continue;
      }
      const tab = this.#tab(id);
      tab.known = true;
      tab.missing = new Set(frames);
      for (const frame of frames) if (tab.frames.get(frame)?.port) tab.missing.delete(frame);
      setTimeout(() => {
        tab.missing = undefined;
        this.#registrar.soon(tab);
      }, RETURN);
    }
    for (const info of open) this.seen(info);
  }

  /** Tells a hub that has just said hello all there is. */
  opened() {
    for (const id of this.#closed) this.#hub.notify("browser/tabClosed", {}, id);
    this.#closed.clear();
    for (const tab of this.#tabs.values()) {
      tab.sent = { tools: "", resources: "", prompts: "", state: "" };
      this.#registrar.next(tab);
    }
  }

  // ---- What the browser says

  /** @param {chrome.tabs.Tab} info */
  seen(info) {
    const tab = info.id === undefined ? undefined : this.#tabs.get(info.id);
    if (!tab) return;
    // Of some pages, such as about:blank, the browser says neither.
    tab.url = info.url ?? "";
    tab.title = info.title ?? "";
    tab.windowId = info.windowId;
    tab.active = info.active;
    tab.loading = info.status === "loading";
    const top = tab.frames.get(0);
    if (top && !top.port) this.#gone(tab, top);
    this.#state(tab);
  }

  /** A tab came to the front of its window. */
  activated(/** @type {number} */ tabId, /** @type {number} */ windowId) {
    for (const tab of this.#tabs.values()) {
      if (tab.id === tabId) tab.windowId = windowId;
      if (tab.windowId !== windowId) continue;
      tab.active = tab.id === tabId;
      this.#state(tab);
    }
  }

  /** A window of this browser got the focus. When all lose it, the last one counts. */
  focused(/** @type {number} */ windowId) {
    if (windowId === chrome.windows.WINDOW_ID_NONE) return;
    this.#focused = windowId;
    for (const tab of this.#tabs.values()) this.#state(tab);
  }

  /** @param {number} tabId */
  removed(tabId) {
    const tab = this.#tabs.get(tabId);
    if (!tab) return;
    clearTimeout(tab.timer);
    for (const frame of tab.frames.values()) clearTimeout(frame.timer);
    this.#tabs.delete(tabId);
    this.#stored.save();
    if (!tab.known) return;
    if (!this.#hub.notify("browser/tabClosed", {}, tabId)) this.#closed.add(tabId);
  }

  /**
   * The hub moves a tab to another page, until outcome is known. It asks next for what is
   * there, so what the page before it offered is forgotten.
   *
   * @param {number} tabId
   * @param {Promise<unknown>} outcome
   */
  moving(tabId, outcome) {
    const tab = this.#tabs.get(tabId);
    if (!tab) return;
    tab.moving = true;
    const over = () => (tab.moving = false);
    outcome.then(over, over);
  }

  // ---- What frames say

  /**
   * A frame has opened its port.
   *
   * @param {chrome.runtime.Port} port
   * @returns {Frame | undefined} undefined if it cannot offer anything
   */
  connected(port) {
    const { tab: info, frameId, documentId, origin } = port.sender ?? {};
    port.postMessage({ type: "hub", ...this.#standing() });
    if (info?.id === undefined || frameId === undefined || !origin || !/^https?:/.test(origin)) {
      port.postMessage({ type: "off" });
      return undefined;
    }
    const tab = this.#tab(info.id);
    this.seen(info);
    let frame = tab.frames.get(frameId);
    if (!frame) {
      frame = new Frame(frameId);
      tab.frames.set(frameId, frame);
    }
    clearTimeout(frame.timer);
    frame.port = port;
    if (frame.documentId !== documentId) {
      if (frame.origin !== origin || (tab.moving && frameId === 0)) this.#forget(tab, frame);
      else frame.timer = setTimeout(() => this.#forget(tab, /** @type {Frame} */ (frame)), LOADING);
      frame.stale = !frame.empty;
      frame.until = 0;
      frame.count = 0;
    }
    frame.documentId = documentId ?? "";
    frame.origin = origin;
    port.postMessage({ type: permits(this.#settings(), origin) ? "on" : "off" });
    return frame;
  }

  /**
   * @param {Frame} frame
   * @param {chrome.runtime.Port} port
   */
  disconnected(frame, port) {
    const tab = this.#tabOf(frame);
    if (!tab || frame.port !== port) return;
    frame.port = undefined;
    for (const other of tab.frames.values()) {
      // A server there may have gone with it.
      if (other.through && other.origin === frame.origin) other.port?.postMessage({ type: "check", origin: frame.origin });
    }
    this.#gone(tab, frame);
  }

  /**
   * Forgets what a frame offered whose document has gone, when the next one has had its time
   * to offer something: one without tools says nothing.
   *
   * @param {Tab} tab
   * @param {Frame} frame
   */
  #gone(tab, frame) {
    const elsewhere = frame.id === 0 && (tab.moving || (URL.canParse(tab.url) && new URL(tab.url).origin !== frame.origin));
    clearTimeout(frame.timer);
    frame.timer = setTimeout(
      () => {
        this.#forget(tab, frame);
        tab.frames.delete(frame.id);
      },
      elsewhere ? 0 : tab.loading ? LOADING : GONE,
    );
  }

  /**
   * @param {Frame} frame
   * @param {{offer: Offer, count: number, child?: {key: number, origin: string}}} said about the frame, or the server in a child frame
   */
  offered(frame, said) {
    const tab = this.#tabOf(frame);
    if (!tab || !permits(this.#settings(), frame.origin)) return;
    const about = said.child ? tab.through(frame, said.child) : frame;
    clearTimeout(about.timer);
    if (about.stale && about.lacks(said.offer)) {
      // A page that was reloaded registers its tools one by one.
      about.until ||= Date.now() + WHOLE;
      about.timer = setTimeout(() => this.#take(tab, about, said), Math.max(0, about.until - Date.now()));
      return;
    }
    this.#take(tab, about, said);
  }

  /**
   * @param {Tab} tab
   * @param {Frame} about
   * @param {{offer: Offer, count: number, child?: object}} said
   */
  #take(tab, about, { offer, count, child }) {
    about.offer = offer;
    about.count = count;
    about.stale = false;
    if (child && about.empty) tab.frames.delete(about.id);
    tab.missing?.delete(about.id);
    this.#registrar.soon(tab);
  }

  /** Tells all frames which hub the browser is to be with, and whether it is. */
  hubChanged() {
    const standing = this.#standing();
    for (const tab of this.#tabs.values()) {
      for (const frame of tab.frames.values()) if (!frame.through) tell(frame.port, { type: "hub", ...standing });
    }
  }

  /** Applies changed settings: frames are switched on and off. */
  settingsChanged() {
    for (const tab of this.#tabs.values()) {
      for (const frame of tab.frames.values()) {
        if (frame.through) continue;
        const on = permits(this.#settings(), frame.origin);
        if (!on) this.#forget(tab, frame);
        frame.port?.postMessage({ type: on ? "on" : "off" });
      }
      this.#registrar.next(tab);
      this.#state(tab);
    }
  }

  // ---- What others ask

  /**
   * The frame that a request is for, and the port that leads there; in a tab that has
   * frames it waits for one that is just being loaded. A site that the user does not share
   * has none.
   *
   * @param {number} tabId
   * @param {number | undefined} frameId
   * @param {(offer: Offer) => boolean} offers whether an offer has what is asked for
   * @param {number} timeout in ms
   */
  async route(tabId, frameId, offers, timeout) {
    const until = Date.now() + timeout;
    for (;;) {
      const all = [...(this.#tabs.get(tabId)?.frames.values() ?? [])];
      const frames = all.filter((f) => this.permitted(f) && (!f.through || this.permitted(f.through.frame)));
      const frame =
        frameId === undefined ? frames.find((f) => f.port && offers(f.offer)) : frames.find((f) => f.id === frameId);
      if (frame?.port) return { frame, port: frame.port, child: frame.through?.key };
      if (Date.now() > until || !this.#tabs.has(tabId)) return undefined;
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  /**
   * Whether the user lets the hub see a frame.
   *
   * @param {Frame} frame
   */
  permitted({ origin }) {
    return permits(this.#settings(), origin);
  }

  /**
   * What the popup shows of a tab.
   *
   * @param {number} tabId
   * @param {string} url
   * @param {boolean} reaches whether the extension is in the tab's top document
   */
  sites(tabId, url, reaches) {
    const settings = this.#settings();
    const tab = this.#tabs.get(tabId);
    /** @type {Map<string, SiteView>} */
    const sites = new Map();
    const site = (/** @type {string} */ origin) => {
      const known = sites.get(origin);
      if (known) return known;
      const reached = [...(tab?.frames.values() ?? [])].some((frame) => frame.port && frame.origin === origin);
      const [on, keep, webmcp] = [permits(settings, origin), keeps(settings, origin), givesWebMCP(settings, origin)];
      /** @type {SiteView} */
      const view = { origin, on, keep, webmcp, reached, tools: [], rejected: [] };
      sites.set(origin, view);
      return view;
    };
    if (/^https?:/.test(url)) site(new URL(url).origin).reached ||= reaches;
    for (const frame of tab ? this.#registrar.offering(tab) : []) {
      if (frame.empty && !frame.offer.rejected.length) continue;
      const view = site(frame.origin);
      for (const { name, title, description } of frame.offer.tools) {
        view.tools.push({ name, title: String(title ?? ""), description: String(description ?? "") });
      }
      view.rejected.push(...frame.offer.rejected);
    }
    const all = [...sites.values()];
    all[0]?.rejected.push(...(tab?.rejected ?? []));
    return all;
  }

  // ---- What is known of them

  /** @param {number} id */
  #tab(id) {
    let tab = this.#tabs.get(id);
    if (!tab) {
      tab = new Tab(id);
      this.#tabs.set(id, tab);
    }
    return tab;
  }

  /** @param {Frame} frame */
  #tabOf(frame) {
    const id = frame.port?.sender?.tab?.id;
    for (const tab of id === undefined ? this.#tabs.values() : [this.#tabs.get(id)]) {
      if (tab?.frames.get(frame.id) === frame) return tab;
    }
    return undefined;
  }

  /**
   * Forgets what a frame offered.
   *
   * @param {Tab} tab
   * @param {Frame} frame
   */
  #forget(tab, frame) {
    tab.forget(frame);
    if (frame.id === 0) this.#registrar.next(tab);
    else this.#registrar.soon(tab);
  }

  /** @param {Tab} tab */
  #state(tab) {
    if (!tab.known || !this.#hub.connected || tab.missing?.size) return;
    const params = tab.state(this.#focused, this.#settings());
    const text = JSON.stringify(params);
    if (text === tab.sent.state) return;
    tab.sent.state = text;
    this.#hub.notify("browser/tabState", params, tab.id);
  }

  #remembered() {
    /** @type {Record<number, number[]>} */
    const out = {};
    for (const tab of this.#tabs.values()) {
      if (!tab.known) continue;
      out[tab.id] = [...tab.frames.values()].filter((frame) => !frame.empty).map((frame) => frame.id);
    }
    return out;
  }
}
