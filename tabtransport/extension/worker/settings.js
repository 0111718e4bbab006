// What the user has chosen, kept in chrome.storage.local, and who this browser is.

import { ownAddress } from "./pairing.js";

/** @type {Settings} */
const DEFAULTS = {
  hub: "ws://127.0.0.1:3300/tabs",
  mode: "all",
  allowed: [],
  off: [],
  keep: [],
};

/** @returns {Promise<Settings>} */
export async function loadSettings() {
  const { settings } = await chrome.storage.local.get("settings");
  const hub = await ownAddress();
  return { ...DEFAULTS, ...(hub && { hub }), ...(settings ?? {}) };
}

/**
 * Changes some settings and returns all.
 *
 * @param {Partial<Settings>} part
 */
export async function saveSettings(part) {
  const { settings } = await chrome.storage.local.get("settings");
  await chrome.storage.local.set({ settings: { ...(settings ?? {}), ...part } });
  return loadSettings();
}

/**
 * Whether the user lets the hub see an origin's tools.
 *
 * @param {Settings} settings
 * @param {string} origin
 */
export function permits(settings, origin) {
  if (settings.off.includes(origin)) return false;
  return settings.mode === "all" || settings.allowed.includes(origin);
}

/**
 * Whether the user lets the hub see the page at an address. Pages of the browser itself
 * are nobody's site.
 *
 * @param {Settings} settings
 * @param {string} url
 */
export function permitsPage(settings, url) {
  return !/^https?:/.test(url) || permits(settings, new URL(url).origin);
}

/**
 * Settings with an origin switched on or off.
 *
 * @param {Settings} settings
 * @param {string} origin
 * @param {boolean} on
 */
export function withSite(settings, origin, on) {
  return {
    off: toggled(settings.off, origin, !on),
    allowed: settings.mode === "allowed" ? toggled(settings.allowed, origin, on) : settings.allowed,
  };
}

/**
 * @param {string[]} list
 * @param {string} origin
 * @param {boolean} on
 */
export function toggled(list, origin, on) {
  const rest = list.filter((other) => other !== origin);
  return on ? [...rest, origin].sort() : rest;
}

/** The address of the hub's pages, from that of its WebSocket. */
export function dashboard(/** @type {string} */ hub) {
  const url = new URL("/", hub);
  url.protocol = url.protocol === "wss:" ? "https:" : "http:";
  return url.href;
}

/** Who this browser is to a hub: an id made once. */
export async function browserId() {
  const { browserId } = await chrome.storage.local.get("browserId");
  if (typeof browserId === "string") return browserId;
  const made = crypto.randomUUID();
  await chrome.storage.local.set({ browserId: made });
  return made;
}

/** Makes hubs take this browser for a new one. */
export function forgetIdentity() {
  return chrome.storage.local.remove("browserId");
}

/** What an earlier version kept: secrets that were sent to whatever held the hub's port. */
export async function dropSecrets() {
  const { settings } = await chrome.storage.local.get("settings");
  const { token, ...rest } = /** @type {Partial<Settings> & {token?: string}} */ (settings ?? {});
  if (token !== undefined) await chrome.storage.local.set({ settings: rest });
  await chrome.storage.local.remove("secrets");
}

/**
 * A value that is new whenever tab ids are: with each start of the browser. It outlives
 * an update of the extension, which empties chrome.storage.session.
 *
 * @type {Promise<string>}
 */
export const session = (async () => {
  // Listeners must be there before the first await.
  const updated = new Promise((resolve) => {
    chrome.runtime.onInstalled.addListener(({ reason }) => resolve(reason === "update"));
    chrome.runtime.onStartup.addListener(() => resolve(false));
    setTimeout(resolve, 300, false);
  });
  const kept = await chrome.storage.session.get("session");
  if (typeof kept.session === "string") return kept.session;
  const before = await chrome.storage.local.get("session");
  const value = (await updated) && typeof before.session === "string" ? before.session : crypto.randomUUID();
  await Promise.all([chrome.storage.session.set({ session: value }), chrome.storage.local.set({ session: value })]);
  return value;
})();
