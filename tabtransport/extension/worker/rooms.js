// The rooms of clients: a tab group each, in the background, with the tabs that the
// client has opened. What the owner does to a room counts: a group that has another name or is
// elsewhere stays so, and one that was dissolved is not made again.

import { permitsPage } from "./settings.js";
import { Stored } from "./stored.js";
import { unlessStopping } from "./stopping.js";

/**
 * @typedef {object} Kept what is known of a room
 * @property {string} title
 * @property {number} [place] the group's id, once there is one
 * @property {boolean} [dissolved] the owner has dissolved the group
 * @property {number[]} tabs that the client has opened
 * @property {number[]} byHand those of them that the owner has used
 */

/** Grey is for rooms that have ended. @type {`${chrome.tabGroups.Color}`[]} */
const COLOURS = ["blue", "red", "yellow", "green", "pink", "purple", "cyan", "orange"];
/** How many rooms are known: hubs may come and go without a word. */
const MAX_ROOMS = 256;

export class Rooms {
  /** @type {Map<string, Kept>} */
  #rooms = new Map();
  /** What is done next in a room comes after this. @type {Map<string, Promise<unknown>>} */
  #last = new Map();
  /** @type {Stored<Record<string, Kept>>} */
  #stored = new Stored("rooms", () => Object.fromEntries(this.#rooms));
  #settings;

  /** @param {() => Settings} settings */
  constructor(settings) {
    this.#settings = settings;
  }

  async load() {
    for (const [id, room] of Object.entries((await this.#stored.load()) ?? {})) this.#rooms.set(id, room);
  }

  /**
   * Whether a client has opened a tab in its room.
   *
   * @param {number} tabId
   */
  has(tabId) {
    return this.#of(tabId) !== undefined;
  }

  /**
   * Opens a tab in a room, which it makes if need be.
   *
   * @param {Room} room
   * @param {string} url
   * @param {boolean} active whether the tab is to be the active one of its window
   * @returns {Promise<chrome.tabs.Tab | undefined>}
   */
  open({ id, title }, url, active) {
    return this.#next(id, async () => {
      let room = this.#rooms.get(id);
      if (!room) {
        if (this.#rooms.size >= MAX_ROOMS) this.#rooms.delete(String(this.#rooms.keys().next().value));
        room = { title, tabs: [], byHand: [] };
        this.#rooms.set(id, room);
      }
      return this.#openInGroup(id, room, url, active);
    });
  }

  /**
   * Ends a room, whose client is gone.
   *
   * @param {string} id
   * @param {boolean} close
   * @returns {Promise<{closed: number, kept: number}>}
   */
  end(id, close) {
    return this.#next(id, async () => {
      const room = this.#rooms.get(id);
      if (!room) return { closed: 0, kept: 0 };
      const open = (await chrome.tabs.query({})).filter((tab) => tab.id !== undefined && room.tabs.includes(tab.id));
      let closed = 0;
      for (const tab of close ? open : []) {
        // Where nobody looks for the owner's hand it may have been.
        const unseen = !permitsPage(this.#settings(), tab.url ?? "");
        if (tab.id === undefined || unseen || isOwners(tab, tab.id, room)) continue;
        await unlessStopping(chrome.tabs.remove(tab.id), () => {});
        closed++;
      }
      if (room.place !== undefined) await markEnded(id, room, room.place);
      this.#rooms.delete(id);
      await this.#stored.write();
      return { closed, kept: open.length - closed };
    });
  }

  /**
   * The owner has used a tab.
   *
   * @param {number} tabId
   */
  usedByHand(tabId) {
    const room = this.#of(tabId);
    if (!room || room.byHand.includes(tabId)) return;
    room.byHand.push(tabId);
    this.#stored.save();
  }

  /** @param {number} tabId */
  closed(tabId) {
    const room = this.#of(tabId);
    if (!room) return;
    room.tabs = room.tabs.filter((id) => id !== tabId);
    room.byHand = room.byHand.filter((id) => id !== tabId);
    this.#stored.save();
  }

  /**
   * A tab has another number now.
   *
   * @param {number} tabId
   * @param {number} before
   */
  replaced(tabId, before) {
    const room = this.#of(before);
    if (!room) return;
    const now = (/** @type {number} */ id) => (id === before ? tabId : id);
    room.tabs = room.tabs.map(now);
    room.byHand = room.byHand.map(now);
    this.#stored.save();
  }

  /** @param {number} tabId */
  #of(tabId) {
    for (const room of this.#rooms.values()) if (room.tabs.includes(tabId)) return room;
    return undefined;
  }

  /**
   * @template T
   * @param {string} id
   * @param {() => Promise<T>} act
   * @returns {Promise<T>}
   */
  #next(id, act) {
    const done = (this.#last.get(id) ?? Promise.resolve()).then(act);
    /** @type {Promise<unknown>} */
    const settled = done.catch(() => {}).then(() => this.#last.get(id) === settled && this.#last.delete(id));
    this.#last.set(id, settled);
    return done;
  }

  /**
   * @param {Kept} room
   * @param {chrome.tabs.Tab | undefined} tab
   */
  async #opened(room, tab) {
    if (tab?.id !== undefined) room.tabs.push(tab.id);
    await this.#stored.write(); // before the next worker could make another room
    return tab;
  }

  /**
   * @param {string} id
   * @param {Kept} room
   * @param {string} url
   * @param {boolean} active
   */
  async #openInGroup(id, room, url, active) {
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

  /**
   * The group of a room, if there is one.
   *
   * @param {string} id
   * @param {Kept} room
   */
  async #group(id, room) {
    if (!chrome.tabGroups) return undefined;
    if (room.place === undefined) {
      // The browser brings groups back when it is started again, with other ids.
      const known = new Set([...this.#rooms.values()].map(({ place }) => place));
      const alike = await chrome.tabGroups.query({ color: colourOf(id) });
      const group = alike.find((group) => group.title === room.title && !known.has(group.id));
      room.place = group?.id;
      return group;
    }
    const group = await unlessStopping(chrome.tabGroups.get(room.place), () => undefined);
    if (group) return group;
    // Where all its tabs are closed nobody has dissolved it.
    room.dissolved = room.tabs.length > 0;
    if (!room.dissolved) room.place = undefined;
    return undefined;
  }
}

/**
 * Opens a tab in a window, or in whichever there is.
 *
 * @param {string} url
 * @param {boolean} active
 * @param {number} [windowId]
 */
export async function create(url, active, windowId) {
  if ((await chrome.windows.getAll({ windowTypes: ["normal"] })).length) return chrome.tabs.create({ url, active, windowId });
  return (await chrome.windows.create({ url, focused: active }))?.tabs?.[0];
}

/**
 * Whether the owner has made a tab of a client theirs, or looks at it.
 *
 * @param {chrome.tabs.Tab} tab
 * @param {number} tabId
 * @param {Kept} room
 */
function isOwners(tab, tabId, { place, byHand }) {
  return byHand.includes(tabId) || tab.pinned || tab.active || tab.groupId !== place;
}

/**
 * Has a group say that its client is gone, unless the owner has made it another's.
 *
 * @param {string} id
 * @param {Kept} room
 * @param {number} place
 */
async function markEnded(id, { title }, place) {
  const group = await unlessStopping(chrome.tabGroups.get(place), () => undefined); // it may have gone with its tabs
  if (!group) return;
  const changes = {
    ...(group.title === title && { title: `${title} (ended)` }),
    ...(group.color === colourOf(id) && { color: /** @type {const} */ ("grey") }),
  };
  await unlessStopping(chrome.tabGroups.update(place, changes), () => {});
}

/** @param {string} id of a room */
function colourOf(id) {
  const sum = [...id].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  return COLOURS[sum % COLOURS.length];
}
