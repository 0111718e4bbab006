// Which clients use which tab, and what they did there last. A tab in which one is at work, or has just
// done something, has the overlay. No call waits for anything here, and nothing here knows what is passed
// to a page or back.

import { didWords, using } from "../status.ts";
import { Stored } from "./stored.ts";

/** A tab has the overlay once a request takes longer than this, in ms, or comes with others, */
const SLOW = 300;
/** and for so long after the last one has ended. */
const LINGER = 3_000;
/** For how long the overlay says what a call has done that acts, in ms, however short it was. */
const USED = 1_500;
/** A request that takes longer than this, in ms, is at work. */
const LONG = 1_000;
/** How many requests are remembered of a tab. */
const RECENT = 20;
/** How late what is remembered may be written, in ms. */
const DELAY = 1_000;
/** The client of a request where the hub, an older one, names none. */
const UNNAMED = "An app";

interface TabActivity {
  recent: Activity[]; // the latest first
  open: Set<Activity>; // of clients, not of the owner
  last: number; // when one has ended, as Date.now() has it
  users: string[]; // the clients that are at work, as the overlay says
  label: string; // what the overlay says; "": the tab has none
  timer?: ReturnType<typeof setTimeout>;
}

export class ActivityLog {
  #tabs: Map<number, TabActivity> = new Map();
  /** By the ids of their requests. */
  #open = new Map<string, { tabId: number; use: Activity }>();
  #working = 0;
  #stored = new Stored<Record<number, Activity[]>>("uses", () => Object.fromEntries([...this.#tabs].map(([id, { recent }]) => [id, recent])), DELAY);
  #showOverlay;
  #changed;

  /**
   * @param showOverlay called with the clients that are at work in a tab, and with what its overlay says
   * @param changed called when working is another
   */
  constructor(showOverlay: (tabId: number, users: string[], label: string) => void, changed: () => void) {
    this.#showOverlay = showOverlay;
    this.#changed = changed;
  }

  /**
   * Remembers what an earlier worker has seen.
   * @param runs whether a request is still under way
   */
  async load(runs: (id: string) => boolean) {
    for (const [key, before] of Object.entries((await this.#stored.load()) ?? {})) {
      const tabId = Number(key);
      const tab = this.#of(tabId);
      for (const use of before) {
        if (use.took === undefined && runs(use.id)) this.#opened(tabId, tab, use);
        else use.took ??= 0;
      }
      tab.recent = [...tab.recent, ...before].slice(0, RECENT);
      this.#look(tabId, tab);
    }
  }

  /** How many requests take long. */
  get working() {
    return this.#working;
  }

  /** What was done in a tab, the latest first. */
  recent(tabId: number) {
    return this.#tabs.get(tabId)?.recent ?? [];
  }

  /** What the overlay of a tab says of clients, "" for nothing. */
  label(tabId: number) {
    return this.#tabs.get(tabId)?.label ?? "";
  }

  /** The tabs that have the overlay, with the clients that use them. */
  get marked() {
    return [...this.#tabs].filter(([, { users }]) => users.length).map(([tabId, { users }]) => ({ tabId, users }));
  }

  /**
   * A request of a client, or of the owner, has reached a tab.
   * @param name of what is used
   * @param acts whether it may change something
   * @param app the client's name, "" if it is the owner's own
   */
  begun(id: string, tabId: number, kind: Activity["kind"], name: string, acts: boolean, app: string = UNNAMED) {
    const use: Activity = { id, kind, name, app, acts, at: Date.now() };
    const tab = this.#of(tabId);
    tab.recent.unshift(use);
    if (tab.recent.length > RECENT) tab.recent.pop();
    this.#opened(tabId, tab, use);
    this.#look(tabId, tab);
    this.#stored.save();
  }

  /** A client's own run has done a step. @param words what was done, such as clicked button "Order" */
  did(id: string, words: string) {
    const open = this.#open.get(id);
    if (!open || open.use.kind !== "acts") return;
    open.use.name = words;
    this.#stored.save();
  }

  /** A request is over, or is not known. */
  ended(id: string, ended: NonNullable<Activity["ended"]>) {
    const open = this.#open.get(id);
    if (!open) return;
    const { tabId, use } = open;
    const tab = this.#of(tabId);
    this.#open.delete(id);
    tab.open.delete(use);
    const now = Date.now();
    if (use.app) tab.last = now;
    use.took = now - use.at;
    use.ended = ended;
    if (use.app && (use.acts || tab.label)) this.#look(tabId, tab);
    if (this.#working) this.#work();
    this.#stored.save();
  }

  /** A tab shows another document, or the same anew: nothing of a mark is left there. */
  loaded(tabId: number) {
    const tab = this.#tabs.get(tabId);
    if (tab?.label) this.#showOverlay(tabId, tab.users, tab.label);
  }

  closed(tabId: number) {
    const tab = this.#tabs.get(tabId);
    if (!tab) return;
    clearTimeout(tab.timer);
    this.#tabs.delete(tabId);
    for (const [id, open] of this.#open) if (open.tabId === tabId) this.#open.delete(id); // they end after the tab
    this.#work();
    this.#stored.save();
  }

  #opened(tabId: number, tab: TabActivity, use: Activity) {
    this.#open.set(use.id, { tabId, use });
    if (!use.app) return;
    tab.open.add(use);
    setTimeout(() => this.#work(), LONG);
  }

  #of(tabId: number) {
    let tab = this.#tabs.get(tabId);
    if (!tab) {
      tab = { recent: [], open: new Set(), last: 0, users: [], label: "" };
      this.#tabs.set(tabId, tab);
    }
    return tab;
  }

  #work() {
    const long = Date.now() - LONG;
    let working = 0;
    for (const { use } of this.#open.values()) if (use.app && use.at <= long) working++;
    if (working === this.#working) return;
    this.#working = working;
    this.#changed();
  }

  /** Marks a tab or takes the mark away, and looks again when time may change that. */
  #look(tabId: number, tab: TabActivity) {
    clearTimeout(tab.timer);
    const now = Date.now();
    const since = (time: number) => tab.recent.filter(({ app, at, took = now - at }) => app && at + took > time);
    const lately = since(now - LINGER);
    const [oldest] = tab.open;
    const [latest] = lately;
    // Calls that come one after the other are one use: the words do not change with each.
    const lingers = latest?.acts ? SLOW : LINGER;
    const stays = tab.users.length && now - tab.last < lingers;
    const works = oldest ? tab.users.length || lately.length > 1 || now - oldest.at >= SLOW : stays;
    const seen = tab.open.size ? [...tab.open] : lately;
    const users = works ? [...new Set(seen.map(({ app }) => app))] : [];
    const hasActed = ({ acts, took }: Activity) => acts && took !== undefined;
    const { at = 0, took = 0 } = since(now - USED).find(hasActed) ?? {};
    const did = at ? since(at + took - USED).filter(hasActed) : [];
    const label = users.length ? `${using(users)} this page` : did.length ? didWords(did) : "";
    if (label !== tab.label || users.join("\n") !== tab.users.join("\n")) {
      [tab.users, tab.label] = [users, label];
      this.#showOverlay(tabId, users, label);
    }
    const next = oldest ? (works ? 0 : oldest.at + SLOW) : stays ? tab.last + lingers : at ? at + took + USED : 0;
    if (next) tab.timer = setTimeout(() => this.#look(tabId, tab), Math.max(0, next - now));
  }
}

/** How a call has ended, by what its document has answered. */
export function endOf({ result = "", error }: { result?: string; error?: RpcError }): NonNullable<Activity["ended"]> {
  // No text in the JSON has these characters: there its quotes are escaped.
  return error || result.startsWith('{"success":false') || result.includes('"isError":true') ? "failed" : "done";
}
