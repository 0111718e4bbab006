// The tab groups of clients' sessions: one each, in the background, with the tabs that the
// session has opened. What the owner does to a group counts: a group that has another name or is
// elsewhere stays so, and one that was dissolved is not made again.

import { permitsPage } from "./settings.ts";
import { Stored } from "./stored.ts";

import { unlessStopping } from "./stopping.ts";

interface StoredGroup {
  title: string;
  place?: number; // the group's id, once there is one
  dissolved?: boolean; // the owner has dissolved the group
  tabs: number[]; // that the client has opened
  byHand: number[]; // those of them that the owner has used
}

/** Grey is for groups that have ended. */
const COLOURS: `${chrome.tabGroups.Color}`[] = ["blue", "red", "yellow", "green", "pink", "purple", "cyan", "orange"];
/** How many groups are known: hubs may come and go without a word. */
const MAX_GROUPS = 256;

export class TabGroups {
  #groups = new Map<string, StoredGroup>();
  /** What is done next in a group comes after this. */
  #last = new Map<string, Promise<unknown>>();
  #stored = new Stored<Record<string, StoredGroup>>("rooms", () => Object.fromEntries(this.#groups));
  #settings;

  constructor(settings: () => Settings) {
    this.#settings = settings;
  }

  async load() {
    for (const [id, room] of Object.entries((await this.#stored.load()) ?? {})) this.#groups.set(id, room);
  }

  /** Whether a session has opened a tab in its group. */
  has(tabId: number) {
    return this.#of(tabId) !== undefined;
  }

  /**
   * Opens a tab in a session's group, which it makes if need be.
   * @param active whether the tab is to be the active one of its window
   */
  open({ id, title }: Room, url: string, active: boolean): Promise<chrome.tabs.Tab | undefined> {
    return this.#next(id, async () => {
      let room = this.#groups.get(id);
      if (!room) {
        if (this.#groups.size >= MAX_GROUPS) this.#groups.delete(String(this.#groups.keys().next().value));
        room = { title, tabs: [], byHand: [] };
        this.#groups.set(id, room);
      }
      return this.#openInGroup(id, room, url, active);
    });
  }

  /** Ends a group, whose session is gone. */
  end(id: string, close: boolean): Promise<{ closed: number; kept: number }> {
    return this.#next(id, async () => {
      const room = this.#groups.get(id);
      if (!room) return { closed: 0, kept: 0 };
      const open = (await chrome.tabs.query({})).filter((tab) => tab.id !== undefined && room.tabs.includes(tab.id));
      let closed = 0;
      for (const tab of close ? open : []) {
        // Where nothing watches for user input there may have been some.
        const unseen = !permitsPage(this.#settings(), tab.url ?? "");
        if (tab.id === undefined || unseen || belongsToOwner(tab, tab.id, room)) continue;
        await unlessStopping(chrome.tabs.remove(tab.id), () => {});
        closed++;
      }
      if (room.place !== undefined) await markEnded(id, room, room.place);
      this.#groups.delete(id);
      await this.#stored.write();
      return { closed, kept: open.length - closed };
    });
  }

  /** The owner has used a tab. */
  usedByHand(tabId: number) {
    const room = this.#of(tabId);
    if (!room || room.byHand.includes(tabId)) return;
    room.byHand.push(tabId);
    this.#stored.save();
  }

  closed(tabId: number) {
    const room = this.#of(tabId);
    if (!room) return;
    room.tabs = room.tabs.filter((id) => id !== tabId);
    room.byHand = room.byHand.filter((id) => id !== tabId);
    this.#stored.save();
  }

  /** A tab has another number now. */
  replaced(tabId: number, before: number) {
    const room = this.#of(before);
    if (!room) return;
    const now = (id: number) => (id === before ? tabId : id);
    room.tabs = room.tabs.map(now);
    room.byHand = room.byHand.map(now);
    this.#stored.save();
  }

  #of(tabId: number) {
    for (const room of this.#groups.values()) if (room.tabs.includes(tabId)) return room;
    return undefined;
  }

  #next<T>(id: string, act: () => Promise<T>): Promise<T> {
    const done = (this.#last.get(id) ?? Promise.resolve()).then(act);
    const settled: Promise<unknown> = done.catch(() => {}).then(() => this.#last.get(id) === settled && this.#last.delete(id));
    this.#last.set(id, settled);
    return done;
  }

  async #opened(room: StoredGroup, tab: chrome.tabs.Tab | undefined) {
    if (tab?.id !== undefined) room.tabs.push(tab.id);
    await this.#stored.write(); // before the next worker could make another group
    return tab;
  }

  async #openInGroup(id: string, room: StoredGroup, url: string, active: boolean) {
    const group = await this.#group(id, room);
    const tab = await create(url, active, group?.windowId);
    await this.#opened(room, tab);
    if (tab?.id === undefined || room.dissolved || !chrome.tabGroups) return tab;
    if (group) await chrome.tabs.group({ groupId: group.id, tabIds: tab.id });
    else {
      room.place = await chrome.tabs.group({ tabIds: tab.id, createProperties: { windowId: tab.windowId } });
      await this.#stored.write();
      await chrome.tabGroups.update(room.place, { title: room.title, color: colourOf(id) });
    }
    return tab;
  }

  /** The browser's group, if there is one. */
  async #group(id: string, room: StoredGroup) {
    if (!chrome.tabGroups) return undefined;
    if (room.place === undefined) {
      // The browser brings groups back when it is started again, with other ids.
      const known = new Set([...this.#groups.values()].map(({ place }) => place));
      const alike = await chrome.tabGroups.query({ color: colourOf(id) });
      const group = alike.find((group) => group.title === room.title && !known.has(group.id));
      room.place = group?.id;
      return group;
    }
    const group = await unlessStopping(chrome.tabGroups.get(room.place), () => undefined);
    if (group) return group;
    // Where all its tabs are closed the owner has not dissolved it.
    room.dissolved = room.tabs.length > 0;
    if (!room.dissolved) room.place = undefined;
    return undefined;
  }
}

/** Opens a tab in a window, or in whichever there is. */
export async function create(url: string, active: boolean, windowId?: number) {
  if ((await chrome.windows.getAll({ windowTypes: ["normal"] })).length) return chrome.tabs.create({ url, active, windowId });
  return (await chrome.windows.create({ url, focused: active }))?.tabs?.[0];
}

/** Whether the owner has made a tab of a client theirs, or looks at it. */
function belongsToOwner(tab: chrome.tabs.Tab, tabId: number, { place, byHand }: StoredGroup) {
  return byHand.includes(tabId) || tab.pinned || tab.active || tab.groupId !== place;
}

/** Has a group say that its client is gone, unless the owner has made it another's. */
async function markEnded(id: string, { title }: StoredGroup, place: number) {
  const group = await unlessStopping(chrome.tabGroups.get(place), () => undefined); // it may have gone with its tabs
  if (!group) return;
  const changes = {
    ...(group.title === title && { title: `${title} (ended)` }),
    ...(group.color === colourOf(id) && { color: "grey" as const }),
  };
  await unlessStopping(chrome.tabGroups.update(place, changes), () => {});
}

/** @param id of a session's group */
function colourOf(id: string) {
  const sum = [...id].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  return COLOURS[sum % COLOURS.length];
}
