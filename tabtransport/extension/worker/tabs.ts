// The tabs with something to offer: what the browser and their frames say of them.

import { Retention, LOADING, documents } from "./retention.ts";
import { Frame } from "./frame.ts";
import { packOf, type Packs } from "./packs.ts";
import { Registrar } from "./registrar.ts";
import type { Scripts } from "./scripts.ts";
import { givesWebMCP, keeps, permits, permitsPage } from "./settings.ts";
import { Stored } from "./stored.ts";
import { Tab, isAsleep, isAt, post } from "./tab.ts";

import type { Hub } from "./hub.ts";

export class Tabs {
  #tabs = new Map<number, Tab>();
  /** Tabs that were closed while the hub was not connected. */
  #closed = new Set<number>();
  /** The numbers that tabs were given in place of others since the worker was started. */
  #numbers = new Map<number, number>();
  #focused = -1;
  /** The tabs that the hub knows. */
  #stored = new Stored<Record<number, { frames: number[]; replaces?: number }>>("tabs", () => this.#remembered());
  #hub;
  #standing;
  #settings;
  #packs;
  #scripts;
  #show;
  #registrar;
  #retention;

  /**
   * @param standing where the hub is, and how this browser stands with it
   * @param show called when a tab has other tools, or waits for a person
   */
  constructor(hub: Hub, standing: () => { address: string; state: HubState["state"]; hub: string; version: string }, settings: () => Settings, packs: Packs, scripts: Pick<Scripts, "tools" | "problem">, show: (tab: Tab) => void) {
    this.#hub = hub;
    this.#standing = standing;
    this.#settings = settings;
    this.#packs = packs;
    this.#scripts = scripts;
    this.#show = show;
    this.#registrar = new Registrar(hub, settings, (tab, tools) => {
      tab.tools = tools;
      show(tab);
      this.#state(tab);
      this.#stored.save();
    });
    this.#retention = new Retention(this.#registrar);
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
    for (const [key, { frames, replaces }] of Object.entries(before)) {
      const id = this.#numbers.get(Number(key)) ?? Number(key);
      if (!ids.has(id)) {
        this.#closed.add(id);
        continue;
      }
      const tab = this.#tab(id);
      tab.known = true;
      tab.replaces = id === Number(key) ? replaces : Number(key);
      tab.missing = new Set(frames);
      for (const frame of frames) if (tab.frames.get(frame)?.port) tab.missing.delete(frame);
    }
    for (const info of open) this.seen(info);
    for (const tab of this.#tabs.values()) this.#retention.awaitMissing(tab);
  }

  /** Tells a hub that has just said hello all there is. */
  opened() {
    for (const id of this.#closed) this.#hub.notify("browser/tabClosed", {}, id);
    this.#closed.clear();
    for (const tab of this.#tabs.values()) {
      tab.sent = { tools: "", resources: "", prompts: "", state: "" };
      if (tab.discarded) this.#state(tab); // it may be all that is known of it
      this.#registrar.next(tab);
    }
  }

  // ---- What the browser says

  seen(info: chrome.tabs.Tab) {
    const tab = info.id === undefined ? undefined : this.#tabs.get(info.id);
    if (!tab) return;
    const { site, loading, discarded } = tab;
    // Of some pages, such as about:blank, the browser says neither.
    tab.url = info.url ?? "";
    tab.title = info.title ?? "";
    tab.windowId = info.windowId;
    tab.active = info.active;
    tab.loading = info.status === "loading";
    tab.discarded = isAsleep(info);
    if (tab.site !== site || tab.loading !== loading || tab.discarded !== discarded) this.#retention.waitAnew(tab, { woken: discarded && !tab.discarded });
    this.#state(tab);
  }

  /** A tab came to the front of its window. */
  activated(tabId: number, windowId: number) {
    for (const tab of this.#tabs.values()) {
      if (tab.id === tabId) tab.windowId = windowId;
      if (tab.windowId !== windowId) continue;
      tab.active = tab.id === tabId;
      this.#state(tab);
    }
  }

  /** A window of this browser got the focus. When all lose it, the last one counts. */
  focused(windowId: number) {
    if (windowId === chrome.windows.WINDOW_ID_NONE) return;
    this.#focused = windowId;
    for (const tab of this.#tabs.values()) this.#state(tab);
  }

  removed(tabId: number) {
    const tab = this.#tabs.get(tabId);
    if (!tab) return;
    clearTimeout(tab.timer);
    clearTimeout(tab.returning);
    for (const frame of tab.frames.values()) clearTimeout(frame.timer);
    this.#tabs.delete(tabId);
    this.#stored.save();
    if (!tab.known) return;
    if (!this.#hub.notify("browser/tabClosed", {}, tab.id)) this.#closed.add(tab.id);
  }

  /**
   * A tab has another number now, as it was put to sleep. This is said also before what an earlier
   * worker knew is loaded.
   */
  async replaced(tabId: number, before: number, ready: Promise<void>) {
    this.#numbers.set(before, tabId);
    await ready;
    const tab = this.#tabs.get(before);
    if (!tab) return;
    this.#tabs.delete(before);
    this.#tabs.set(tabId, tab);
    // The hub is sent what the next worker will know: one that knew only the number before would
    // take the tab for closed.
    await this.#stored.write();
    if (this.#tabs.get(tabId) !== tab) return;
    tab.id = tabId;
    tab.replaces = before;
    this.#state(tab); // before anything else is said of it
    for (const frame of tab.frames.values()) {
      if (!frame.port) continue;
      frame.port = undefined;
      this.#retention.depart(tab, frame);
    }
    this.#stored.save();
    this.seen(await chrome.tabs.get(tabId));
  }

  /**
   * Resolves once the hub knows what is there of the documents that a tab shows now, and what has
   * departed.
   */
  async settled(tabId: number) {
    const tab = this.#tabs.get(tabId);
    if (!tab) return;
    const there = await documents({ tabId, allFrames: true });
    for (const frame of tab.frames.values()) {
      if (there.length && frame.port && !frame.through && !there.includes(frame.documentId)) this.disconnected(frame, frame.port);
    }
    await this.#registrar.now(tab);
  }

  // ---- What frames say

  /**
   * A frame has opened its port. What it says next is heard once it is known what packs give it.
   * @returns undefined if it cannot offer anything
   */
  async connected(port: chrome.runtime.Port): Promise<Frame | undefined> {
    const { tab: info, frameId, documentId, origin } = port.sender ?? {};
    port.postMessage({ type: "hub", ...this.#standing() });
    if (info?.id === undefined || frameId === undefined || !origin || !/^https?:/.test(origin)) {
      port.postMessage({ type: "off" });
      if (info && origin === "null") this.#leaveOut(info, port);
      return undefined;
    }
    const tab = this.#tab(info.id);
    this.seen(info);
    let frame = tab.frames.get(frameId);
    if (!frame) {
      frame = new Frame(frameId);
      tab.frames.set(frameId, frame);
    }
    frame.port = port;
    this.#state(tab);
    if (frame.documentId && frame.documentId !== documentId) this.#retention.depart(tab, frame);
    if (frame.origin && frame.origin !== origin) this.#forget(tab, frame);
    frame.documentId = documentId ?? "";
    frame.origin = origin;
    frame.site = tab.site;
    frame.url = "";
    this.#retention.wait(tab, frame);
    port.postMessage({ type: permits(this.#settings(), origin) ? "on" : "off" });
    await this.#locate(tab, frame);
    return frame;
  }

  /**
   * A document has another address than it was loaded from.
   * @returns whether packs may have tools for it and it is not reached yet
   */
  moved({ tabId, frameId, documentId, url }: { tabId: number; frameId: number; documentId?: string; url: string }) {
    const tab = this.#tabs.get(tabId);
    const frame = tab?.frames.get(frameId);
    if (!tab || !frame?.port || frame.documentId !== documentId) return this.#packs.tools(url).length > 0 && permitsPage(this.#settings(), url);
    frame.url = url;
    this.#givePacks(tab, frame);
    return false;
  }

  /** Learns where a frame is: its port knows only what the address was when the script came. */
  async #locate(tab: Tab, frame: Frame) {
    if (this.#packs.any && frame.port) {
      const there = await chrome.webNavigation.getFrame({ tabId: tab.id, frameId: frame.id }).catch(() => null);
      if (there && there.documentId === frame.documentId) frame.url = there.url;
    }
    this.#givePacks(tab, frame);
  }

  /** Gives a frame the tools that packs have for the page that it shows. */
  #givePacks(tab: Tab, frame: Frame) {
    const { url, origin, documentId } = frame;
    const here = frame.port && isAt(url, origin) && permits(this.#settings(), origin) ? [...this.#packs.tools(url), ...this.#scripts.tools(documentId)] : [];
    const isActive = (tool: Item) => this.#packs.find(packOf(tool) as { name: string; hash: string }) !== undefined;
    if (frame.takePacked(here, isActive)) this.#registrar.soon(tab);
  }

  /**
   * The script of a pack has other tools in a document.
   * @returns whether the extension is there, so that they are offered
   */
  scripted({ tabId, frameId, documentId }: { tabId: number; frameId: number; documentId: string }) {
    const tab = this.#tabs.get(tabId);
    const frame = tab?.frames.get(frameId);
    if (!tab || !frame?.port || frame.documentId !== documentId) return false;
    void this.#locate(tab, frame);
    return true;
  }

  /** Other packs count now. */
  packsChanged() {
    for (const tab of this.#tabs.values()) {
      for (const frame of tab.frames.values()) if (!frame.through) void this.#locate(tab, frame);
    }
  }

  /** Registers anew what packs give: the hub has dropped it if it has removed a pack meanwhile. */
  registerPacked() {
    for (const tab of this.#tabs.values()) {
      if (![...tab.frames.values()].some(({ offer }) => offer.tools.some(packOf))) continue;
      tab.sent.tools = "";
      this.#registrar.soon(tab);
    }
  }

  /** Says of a document without an origin why what it offers is not listed, for as long as it is there. */
  #leaveOut(info: chrome.tabs.Tab, port: chrome.runtime.Port) {
    if (info.id === undefined) return;
    const tab = this.#tab(info.id);
    this.seen(info);
    const changed = () => void (this.#tabs.get(tab.id) === tab && this.#registrar.soon(tab));
    tab.opaque.add(port);
    port.onDisconnect.addListener(() => {
      tab.opaque.delete(port);
      changed();
    });
    changed();
  }

  disconnected(frame: Frame, port: chrome.runtime.Port) {
    const tab = this.#tabOf(frame);
    if (!tab || frame.port !== port) return;
    frame.port = undefined;
    this.#state(tab);
    for (const other of tab.frames.values()) {
      // A server there may have gone with it.
      if (other.through && other.origin === frame.origin) other.port?.postMessage({ type: "check", origin: frame.origin });
    }
    this.#retention.depart(tab, frame);
  }

  /** A page has opened or closed a dialog. */
  dialog(frame: Frame, dialog: Dialog) {
    const tab = this.#tabOf(frame);
    if (!tab || !permits(this.#settings(), frame.origin)) return;
    frame.dialog = dialog.type ? dialog : undefined;
    this.#state(tab);
  }

  /** A document that runs a call does not answer, or does again. */
  silent(port: chrome.runtime.Port, silent: boolean) {
    const tab = this.#tabs.get(port.sender?.tab?.id ?? chrome.tabs.TAB_ID_NONE);
    const frame = [...(tab?.frames.values() ?? [])].find((frame) => !frame.through && frame.port === port);
    if (!tab || !frame || frame.silent === silent) return;
    frame.silent = silent;
    this.#state(tab);
  }

  /** @param said about the frame, or the server in a child frame */
  offered(frame: Frame, said: { offer: Offer; count: number; child?: { key: number; origin: string } }) {
    const tab = this.#tabOf(frame);
    if (!tab || !permits(this.#settings(), frame.origin)) return;
    const about = said.child ? tab.through(frame, said.child) : frame;
    const first = about.awaited;
    about.take(said.offer, said.count);
    if (first && !said.child) this.#retention.wait(tab, about);
    if (said.child && about.empty) tab.frames.delete(about.id);
    tab.missing?.delete(about.id);
    this.#registrar.soon(tab);
  }

  /** Tells all frames which hub the browser is to be with, and whether it is. */
  hubChanged() {
    const standing = this.#standing();
    for (const tab of this.#tabs.values()) {
      for (const frame of tab.frames.values()) if (!frame.through) post(frame.port, { type: "hub", ...standing });
    }
  }

  /** Applies changed settings: frames are switched on and off. */
  settingsChanged() {
    for (const tab of this.#tabs.values()) {
      for (const frame of tab.frames.values()) {
        if (frame.through) continue;
        const on = permits(this.#settings(), frame.origin);
        if (!on) this.#forget(tab, frame);
        this.#givePacks(tab, frame);
        frame.port?.postMessage({ type: on ? "on" : "off" });
      }
      this.#registrar.next(tab);
      this.#state(tab);
    }
  }

  // ---- What others ask

  /**
   * The frame that a request is for, and the port that leads there. A tab that sleeps is woken
   * and has time to load, and a document that is just being loaded is waited for. A site that
   * the user does not share has none.
   * @param at where it was offered, as far as that is known
   * @param offers whether an offer has what is asked for
   * @param timeout in ms
   */
  async route(tabId: number, at: { frameId?: number; origin?: string }, offers: (offer: Offer) => boolean, timeout: number) {
    const asleep = this.#tabs.get(tabId)?.discarded;
    const until = Date.now() + (asleep ? LOADING : timeout);
    for (;;) {
      const tab = this.#tabs.get(tabId);
      if (tab?.discarded) await this.#wake(tab);
      const frame = tab?.find(at, (each) => this.permitted(each) && offers(each.offer));
      if (frame?.port && (!frame.through || this.permitted(frame.through.frame))) return { frame, port: frame.port, child: frame.through?.key };
      if (!tab || Date.now() > until || !(asleep || tab.expects(offers))) return undefined;
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  /**
   * Whether the hub has what a document offers; undefined if the document has not said that it
   * may offer anything.
   */
  told(tabId: number, documentId: string) {
    const frames = this.#tabs.get(tabId)?.frames.values() ?? [];
    const frame = [...frames].find((frame) => frame.port && frame.documentId === documentId);
    return frame && frame.count > 0 && frame.registered === frame.count;
  }

  /** Whether a call waits for the person in front of a tab. */
  waits(tabId: number, waiting: boolean) {
    const tab = this.#tabs.get(tabId);
    if (!tab || tab.waiting === waiting) return;
    tab.waiting = waiting;
    this.#state(tab);
    this.#show(tab);
  }

  /** Has the browser load a tab that sleeps, which brings it nowhere else. */
  async #wake(tab: Tab) {
    tab.discarded = false;
    tab.loading = true;
    this.#retention.waitAnew(tab, { woken: true });
    this.#state(tab);
    await chrome.tabs.reload(tab.id).catch(() => {}); // it may just have been closed
  }

  /** Whether the user lets the hub see a frame. */
  permitted({ origin }: Frame) {
    return permits(this.#settings(), origin);
  }

  /**
   * What the popup shows of a tab.
   * @param reaches whether the extension is in the tab's top document
   */
  sites(tabId: number, url: string, reaches: boolean) {
    const settings = this.#settings();
    const tab = this.#tabs.get(tabId);
    const sites = new Map<string, SiteView>();
    const site = (origin: string) => {
      const known = sites.get(origin);
      if (known) return known;
      const reached = [...(tab?.frames.values() ?? [])].some((frame) => frame.port && frame.origin === origin);
      const [on, keep, webmcp] = [permits(settings, origin), keeps(settings, origin), givesWebMCP(settings, origin)];
      const view: SiteView = { origin, on, keep, webmcp, reached, tools: [], packs: [], rejected: [] };
      sites.set(origin, view);
      return view;
    };
    if (/^https?:/.test(url)) site(new URL(url).origin).reached ||= reaches;
    const addresses = new Set([url, ...[...(tab?.frames.values() ?? [])].filter(({ port }) => port).map((frame) => frame.url)]);
    for (const address of addresses) {
      for (const pack of this.#packs.views(address)) {
        const { packs } = site(new URL(address).origin);
        const problem = pack.on && pack.script ? this.#scripts.problem(pack.hash) : undefined;
        if (!packs.some(({ hash }) => hash === pack.hash)) packs.push({ ...pack, problem });
      }
    }
    for (const frame of tab ? this.#registrar.offering(tab) : []) {
      if (frame.empty && !frame.offer.rejected.length) continue;
      const view = site(frame.origin);
      const refused = new Set(tab?.refusedOf(frame, "tools").rejected.map(({ name }) => name));
      for (const tool of frame.offer.tools) {
        const { name, title, description, annotations } = tool;
        if (refused.has(name)) continue;
        view.tools.push({ frameId: frame.id, name, title: String(title ?? ""), description: String(description ?? ""), class: classOf(annotations), pack: packOf(tool)?.name });
      }
      view.rejected.push(...frame.offer.rejected);
    }
    const all = [...sites.values()];
    if (tab) all[0]?.rejected.push(...tab.rejected, ...tab.warnings.map(({ name, reason }) => ({ name, reason: `a part of it: ${reason}` })));
    return all;
  }

  /** What a page says that a tool takes. */
  schema({ tabId, frameId, name }: ToolAt) {
    const frame = this.#tabs.get(tabId)?.frames.get(frameId);
    return frame && this.permitted(frame) ? frame.offer.tools.find(isPageTool(name))?.inputSchema : undefined;
  }

  // ---- What is known of them

  #tab(id: number) {
    let tab = this.#tabs.get(id);
    if (!tab) {
      tab = new Tab(id);
      this.#tabs.set(id, tab);
    }
    return tab;
  }

  #tabOf(frame: Frame) {
    const id = frame.port?.sender?.tab?.id;
    for (const tab of id === undefined ? this.#tabs.values() : [this.#tabs.get(id)]) {
      if (tab?.frames.get(frame.id) === frame) return tab;
    }
    return undefined;
  }

  /** Forgets what a frame offered, as its site may not or does not count any more. */
  #forget(tab: Tab, frame: Frame) {
    for (const each of tab.with(frame)) {
      each.clear();
      if (each !== frame) tab.frames.delete(each.id);
    }
    if (frame.id === 0) this.#registrar.next(tab);
    else this.#registrar.soon(tab);
  }

  #state(tab: Tab) {
    if (!tab.known || !this.#hub.connected || (tab.missing?.size && !tab.discarded)) return;
    const params = tab.state(this.#focused, this.#settings());
    const text = JSON.stringify(params);
    if (text === tab.sent.state) return;
    tab.sent.state = text;
    this.#hub.notify("browser/tabState", params, tab.id);
  }

  #remembered() {
    const out: Record<number, { frames: number[]; replaces?: number }> = {};
    for (const [id, tab] of this.#tabs) {
      if (!tab.known) continue;
      const frames = [...tab.frames.values()].filter((frame) => !frame.empty).map((frame) => frame.id);
      out[id] = { frames: [...frames, ...(tab.missing ?? [])], replaces: tab.id === id ? tab.replaces : tab.id };
    }
    return out;
  }
}

/** Tells the tool of a name that the page itself offers. */
export const isPageTool = (name: string) => (tool: Item) => tool.name === name && !packOf(tool);

/**
 * What a tool may change, as the hub reads what the page says. Of a tool of which both is said the
 * worse counts.
 */
export function classOf(annotations: unknown): ToolClass {
  const { destructiveHint, consequentialHint, readOnlyHint } = (annotations ?? {}) as Record<string, unknown>;
  if (destructiveHint === true || consequentialHint === true) return "destructive";
  return readOnlyHint === true ? "read" : "write";
}
