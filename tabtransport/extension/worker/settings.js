// What the user has chosen, kept in chrome.storage.local, and who this browser is.

import { ownAddress } from "./pairing.js";

/** @type {Settings} */
const DEFAULTS = {
  hub: "ws://127.0.0.1:3300/tabs",
  mode: "all",
  allowed: [],
  off: [],
  keep: [],
  plain: [],
  mark: true,
};

/** How long the browser may take to say why it has started the worker, in ms. After a restart it always says so, if late. */
const EVENT = 5_000;

/** @returns {Promise<Settings>} */
export async function loadSettings() {
  const { settings } = await chrome.storage.local.get("settings");
  const hub = await ownAddress();
  /** @type {Settings} */
  const all = { ...DEFAULTS, ...(hub && { hub }), ...(settings ?? {}) };
  const lists = [all.allowed, all.off, all.keep, all.plain];
  const [allowed, off, keep, plain] = lists.map((list) => [...new Set(list.map(canonical))]);
  return { ...all, allowed, off, keep, plain };
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
 * An origin as browsers write it, so that two spellings of it are equal. A dot at the end
 * of the host makes no other site.
 *
 * @param {string} origin
 */
function canonical(origin) {
  if (!URL.canParse(origin)) return origin;
  const { protocol, hostname, port } = new URL(origin);
  return `${protocol}//${hostname.replace(/\.$/, "")}${port && `:${port}`}`;
}

/**
 * Whether the user lets the hub see an origin's tools.
 *
 * @param {Settings} settings
 * @param {string} origin
 */
export function permits(settings, origin) {
  if (permitsAll(settings)) return true; // each call asks: no address is parsed for it
  const site = canonical(origin);
  if (settings.off.includes(site)) return false;
  return settings.mode === "all" || settings.allowed.includes(site);
}

/**
 * Whether no site is hidden from the hub.
 *
 * @param {Settings} settings
 */
export function permitsAll({ mode, off }) {
  return mode === "all" && !off.length;
}

/**
 * Whether every site is hidden from the hub.
 *
 * @param {Settings} settings
 */
export function sharesNone({ mode, allowed }) {
  return mode === "allowed" && !allowed.length;
}

/**
 * Whether the user lets the hub see the page at an address. Pages of the browser itself
 * are nobody's site.
 *
 * @param {Settings} settings
 * @param {string} url
 */
export function permitsPage(settings, url) {
  const site = webOrigin(url);
  return site === "" || permits(settings, site);
}

/**
 * Whether the user lets the hub see a document. Its origin says whose it is, also where
 * its address does not: about:blank and blob: have the origin of who made them. A sandboxed
 * document has no origin and is of the site at its address; an empty one in a frame is
 * made of what the documents around it say. Of any other the site cannot be told.
 *
 * @param {Settings} settings
 * @param {{origin?: string, url?: string, frameId?: number}} document as the browser describes it
 */
export function permitsDocument(settings, { origin = "", url = "", frameId = 0 }) {
  if (permitsAll(settings)) return true;
  const site = webOrigin(origin) || webOrigin(url);
  if (site !== "") return permits(settings, site);
  if (/^about:/.test(url)) return frameId !== 0;
  return url !== "" && !/^(data|blob):/.test(url);
}

/**
 * The http or https origin of an address, "" if it has none.
 *
 * @param {string} url
 */
export function webOrigin(url) {
  const origin = URL.canParse(url) ? new URL(url).origin : "";
  return /^https?:/.test(origin) ? origin : "";
}

/**
 * Whether the user wants a site's tools to be kept when its tabs are closed.
 *
 * @param {Settings} settings
 * @param {string} origin
 */
export function keeps(settings, origin) {
  return settings.keep.includes(canonical(origin));
}

/**
 * Whether a site's pages get the extension's WebMCP where the browser has none.
 *
 * @param {Settings} settings
 * @param {string} origin
 */
export function givesWebMCP(settings, origin) {
  return !settings.plain.includes(canonical(origin));
}

/**
 * The match pattern of an origin's documents.
 *
 * @param {string} origin
 */
export function pattern(origin) {
  const { protocol, hostname, port } = new URL(origin);
  return `${protocol}//${hostname}:${port || (protocol === "https:" ? 443 : 80)}/*`;
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
  const site = canonical(origin);
  const rest = list.filter((other) => other !== site);
  return on ? [...rest, site].sort() : rest;
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
    setTimeout(resolve, EVENT, false);
  });
  const kept = await chrome.storage.session.get("session");
  if (typeof kept.session === "string") return kept.session;
  const before = await chrome.storage.local.get("session");
  const value = (await updated) && typeof before.session === "string" ? before.session : crypto.randomUUID();
  await Promise.all([chrome.storage.session.set({ session: value }), chrome.storage.local.set({ session: value })]);
  return value;
})();
