// The tabs with something to offer: what the browser and their frames say of them, told
// to the hub when it differs from what the hub knows.

import { Kept } from "./kept.js";
import { keeps, permits } from "./settings.js";
import { Frame, KINDS, Tab, merge, tell } from "./tab.js";

/** How long what a frame offered stays after its document went, for the next one to say. */
const GONE = 3_000;
/** How long a new document of the same origin may take to say what it offers. */
const LOADING = 10_000;
/** How long a new document may take to offer all that the one before it did. */
const WHOLE = 1_500;
/** How long a restarted worker waits for the frames that it knew. */
const RETURN = 2_000;
/** Changes of a tab's frames within this time are one message. */
const GATHER = 50;
/** What a tab offers may be told again after a ms for so many characters of it, */
const RATE = 1024;
/** and at the latest after so long. */
const LAST = 30_000;

const METHOD = { tools: "Tools", resources: "Resources", prompts: "Prompts" };

/**
 * @typedef {object} Hub
 * @property {(message: object) => boolean} notify
 * @property {(message: object, params?: string) => Promise<any>} request params are JSON
 * @property {() => boolean} open
 * @property {() => {address: string, state: HubState["state"], hub: string, version: string}} standing where it is, and how this browser stands with it
 */

export class Tabs {
  /** @type {Map<number, Tab>} */
  #tabs = new Map();
  /** Tabs that were closed while the hub could not be told. */
  #closed = new Set();
  #focused = -1;
  /** @type {Kept<Record<number, number[]>>} the frames of each tab that the hub was told of */
  #kept = new Kept("tabs", () => this.#remembered());
  #hub;
  #settings;
  #badge;

  /**
   * @param {Hub} hub
   * @param {() => Settings} settings
   * @param {(tabId: number, tools: number) => void} badge told how many tools a tab has
   */
  constructor(hub, settings, badge) {
    this.#hub = hub;
    this.#settings = settings;
    this.#badge = badge;
  }

  /** Remembers the tabs of an earlier worker, and learns which of them are left. */
  async load() {
    const before = (await this.#kept.load()) ?? {};
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
        this.#touch(tab);
      }, RETURN);
    }
    for (const info of open) this.seen(info);
  }

  /** Tells a hub that has just said hello all there is. */
  opened() {
    for (const id of this.#closed) this.#hub.notify({ tabId: id, method: "browser/tabClosed", params: {} });
    this.#closed.clear();
    for (const tab of this.#tabs.values()) {
      tab.sent = { tools: "", resources: "", prompts: "", state: "" };
      this.#touchNow(tab);
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
    this.#kept.save();
    if (!tab.known) return;
    if (!this.#hub.notify({ tabId, method: "browser/tabClosed", params: {} })) this.#closed.add(tabId);
  }

  /**
   * The hub moves a tab to another page, until outcome is known. It asks next for what is
   * there, so nothing is kept of what the page before it offered.
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
    port.postMessage({ type: "hub", ...this.#hub.standing() });
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
    this.#touch(tab);
  }

  /** Tells all frames which hub the browser is to be with, and whether it is. */
  hubChanged() {
    const standing = this.#hub.standing();
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
      this.#touchNow(tab);
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
   * @param {number} patience in ms
   */
  async route(tabId, frameId, offers, patience) {
    const until = Date.now() + patience;
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
      const view = { origin, on: permits(settings, origin), keep: keeps(settings, origin), reached, tools: [], rejected: [] };
      sites.set(origin, view);
      return view;
    };
    if (/^https?:/.test(url)) site(new URL(url).origin).reached ||= reaches;
    for (const frame of tab ? this.#offering(tab) : []) {
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

  // ---- What the hub is told

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
    if (frame.id === 0) this.#touchNow(tab);
    else this.#touch(tab);
  }

  /**
   * Tells the hub soon what a tab offers. A tab that offers much is told more rarely, so that
   * one which does so again and again takes no time from the calls of others.
   *
   * @param {Tab} tab
   */
  #touch(tab) {
    tab.timer ??= setTimeout(() => {
      tab.timer = undefined;
      if (!tab.missing?.size) this.#register(tab);
    }, Math.max(GATHER, tab.rests - Date.now()));
  }

  /** @param {Tab} tab */
  #touchNow(tab) {
    clearTimeout(tab.timer);
    tab.timer = undefined;
    tab.rests = 0;
    this.#touch(tab);
  }

  /** @param {Tab} tab */
  #offering(tab) {
    return tab.offering((origin) => permits(this.#settings(), origin));
  }

  /** @param {Tab} tab */
  #register(tab) {
    const frames = this.#offering(tab);
    const { lists, rejected } = merge(frames);
    const size = KINDS.reduce((sum, kind) => sum + lists[kind].text.length, 0);
    tab.rests = Date.now() + Math.min(size / RATE, LAST);
    this.#badge(tab.id, lists.tools.count);
    if (!this.#hub.open()) return;
    const { known } = tab;
    const telling = [];
    for (const kind of KINDS) {
      const { text } = lists[kind];
      if (text === tab.sent[kind]) continue;
      const verb = tab.sent[kind] === "" ? "register" : "update";
      tab.sent[kind] = text;
      // Of a tab that never had anything the hub need not know.
      if (text === "[]" && verb === "register" && !known) continue;
      tab.known = true;
      if (kind === "tools") tab.rejected = rejected;
      telling.push(this.#send(tab, kind, `browser/${verb}${METHOD[kind]}`, text));
    }
    const confirm = tab.confirming(frames);
    void Promise.all(telling).then((done) => done.includes(false) || confirm());
    this.#state(tab);
    this.#kept.save();
  }

  /**
   * @param {Tab} tab
   * @param {"tools" | "resources" | "prompts"} kind
   * @param {string} method
   * @param {string} text
   * @returns {Promise<boolean>} whether the hub has it
   */
  async #send(tab, kind, method, text) {
    const { url, title } = tab.page(this.#settings());
    const page = JSON.stringify({ tabUrl: url, title }).slice(1);
    try {
      const answer = await this.#hub.request({ tabId: tab.id, method }, `{"${kind}":${text}${page === "}" ? "" : ","}${page}`);
      if (tab.sent[kind] === text) tab.rejected.push(...(answer?.rejected ?? []));
      return true;
    } catch (error) {
      if (tab.sent[kind] !== text || !this.#hub.open()) return false;
      tab.rejected = [{ name: kind, reason: error instanceof Error ? error.message : String(error) }];
      // Too many registrations at once: the newest state is told a little later.
      if (/** @type {{code?: number}} */ (error).code !== -32003) return false;
      tab.sent[kind] = "";
      setTimeout(() => this.#touch(tab), 1000);
      return false;
    }
  }

  /** @param {Tab} tab */
  #state(tab) {
    if (!tab.known || !this.#hub.open() || tab.missing?.size) return;
    const params = tab.state(this.#focused, this.#settings());
    const text = JSON.stringify(params);
    if (text === tab.sent.state) return;
    tab.sent.state = text;
    this.#hub.notify({ tabId: tab.id, method: "browser/tabState", params });
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
