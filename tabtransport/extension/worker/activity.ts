// Which clients use which tab, and what they did there last. A tab in which one is at work has
// the overlay. No call waits for anything here, and nothing here knows what is passed to a page or back.

import { Stored } from "./stored.ts";

/** A tab has the overlay once a request takes longer than this, in ms, or comes with others, */
const SLOW = 300;
/** and for so long after the last one has ended. */
const LINGER = 3_000;
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
  users: string[]; // the clients that the overlay names; none: the tab has none
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
   * @param showOverlay called with the clients that the overlay of a tab names
   * @param changed called when working is another
   */
  constructor(showOverlay: (tabId: number, users: string[]) => void, changed: () => void) {
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

  /** The clients that the overlay of a tab names. */
  users(tabId: number) {
    return this.#tabs.get(tabId)?.users ?? [];
  }

  /** The tabs that have the overlay, with the clients that use them. */
  get marked() {
    return [...this.#tabs].filter(([, { users }]) => users.length).map(([tabId, { users }]) => ({ tabId, users }));
  }

  /**
   * A request of a client, or of the owner, has reached a tab.
   * @param name of what is used
   * @param app the client's name, "" if it is the owner's own
   */
  begun(id: string, tabId: number, kind: Activity["kind"], name: string, app: string = UNNAMED) {
    const use: Activity = { id, kind, name, app, at: Date.now() };
    const tab = this.#of(tabId);
    tab.recent.unshift(use);
    if (tab.recent.length > RECENT) tab.recent.pop();
    this.#opened(tabId, tab, use);
    this.#look(tabId, tab);
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
    if (tab.users.length) this.#look(tabId, tab);
    if (this.#working) this.#work();
    this.#stored.save();
  }

  /** A tab shows another document, or the same anew: nothing of a mark is left there. */
  loaded(tabId: number) {
    const users = this.#tabs.get(tabId)?.users ?? [];
    if (users.length) this.#showOverlay(tabId, users);
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
      tab = { recent: [], open: new Set(), last: 0, users: [] };
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
    const lately = tab.recent.filter(({ app, at, took = now - at }) => app && at + took > now - LINGER);
    const [oldest] = tab.open;
    const shows = tab.users.length ? oldest || now - tab.last < LINGER : oldest && (lately.length > 1 || now - oldest.at >= SLOW);
    const seen = tab.open.size ? [...tab.open] : lately;
    const users = shows ? [...new Set(seen.map(({ app }) => app))] : [];
    if (users.join("\n") !== tab.users.join("\n")) {
      tab.users = users;
      this.#showOverlay(tabId, users);
    }
    if (shows ? !oldest : oldest) {
      const next = oldest ? oldest.at + SLOW : tab.last + LINGER;
      tab.timer = setTimeout(() => this.#look(tabId, tab), next - now);
    }
  }
}

/** How a call has ended, by what its document has answered. */
export function endOf({ result = "", error }: { result?: string; error?: RpcError }): NonNullable<Activity["ended"]> {
  // No text in the JSON has these characters: there its quotes are escaped.
  return error || result.startsWith('{"success":false') || result.includes('"isError":true') ? "failed" : "done";
}
