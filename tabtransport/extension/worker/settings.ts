// What the user has chosen, kept in chrome.storage.local, and this browser's identity.

import { embeddedAddress } from "./pairing.ts";

const DEFAULTS: Settings = {
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

export async function loadSettings(): Promise<Settings> {
  const { settings } = await chrome.storage.local.get("settings");
  const hub = await embeddedAddress();
  const all: Settings = { ...DEFAULTS, ...(hub && { hub }), ...(settings ?? {}) };
  const lists = [all.allowed, all.off, all.keep, all.plain];
  const [allowed, off, keep, plain] = lists.map((list) => [...new Set(list.map(canonical))]);
  return { ...all, allowed, off, keep, plain };
}

/** Changes some settings and returns all. */
export async function saveSettings(part: Partial<Settings>) {
  const { settings } = await chrome.storage.local.get("settings");
  await chrome.storage.local.set({ settings: { ...(settings ?? {}), ...part } });
  return loadSettings();
}

/**
 * An origin as browsers write it, so that two spellings of it are equal. A dot at the end
 * of the host makes no other site.
 */
function canonical(origin: string) {
  if (!URL.canParse(origin)) return origin;
  const { protocol, hostname, port } = new URL(origin);
  return `${protocol}//${hostname.replace(/\.$/, "")}${port && `:${port}`}`;
}

/** Whether the user lets the hub see an origin's tools. */
export function permits(settings: Settings, origin: string) {
  if (permitsAll(settings)) return true; // each call asks: no address is parsed for it
  const site = canonical(origin);
  if (settings.off.includes(site)) return false;
  return settings.mode === "all" || settings.allowed.includes(site);
}

/** Whether no site is hidden from the hub. */
export function permitsAll({ mode, off }: Settings) {
  return mode === "all" && !off.length;
}

/** Whether every site is hidden from the hub. */
export function sharesNone({ mode, allowed }: Settings) {
  return mode === "allowed" && !allowed.length;
}

/**
 * Whether the user lets the hub see the page at an address. Pages of the browser itself
 * belong to no site.
 */
export function permitsPage(settings: Settings, url: string) {
  const site = webOrigin(url);
  return site === "" || permits(settings, site);
}

/**
 * Whether the user lets the hub see a document. Its origin says whose it is, also where
 * its address does not: about:blank and blob: have the origin of the document that made them. A sandboxed
 * document has no origin and is of the site at its address; an empty one in a frame is
 * made of what the documents around it say. Of any other the site is not known.
 * @param document as the browser describes it
 */
export function permitsDocument(settings: Settings, { origin = "", url = "", frameId = 0 }: { origin?: string; url?: string; frameId?: number }) {
  if (permitsAll(settings)) return true;
  const site = webOrigin(origin) || webOrigin(url);
  if (site !== "") return permits(settings, site);
  if (/^about:/.test(url)) return frameId !== 0;
  return url !== "" && !/^(data|blob):/.test(url);
}

/** The http or https origin of an address, "" if it has none. */
export function webOrigin(url: string) {
  const origin = URL.canParse(url) ? new URL(url).origin : "";
  return /^https?:/.test(origin) ? origin : "";
}

/** Whether the user wants a site's tools to be kept when its tabs are closed. */
export function keeps(settings: Settings, origin: string) {
  return settings.keep.includes(canonical(origin));
}

/** Whether a site's pages get the extension's WebMCP where the browser has none. */
export function givesWebMCP(settings: Settings, origin: string) {
  return !settings.plain.includes(canonical(origin));
}

/** The match pattern of an origin's documents. */
export function pattern(origin: string) {
  const { protocol, hostname, port } = new URL(origin);
  return `${protocol}//${hostname}:${port || (protocol === "https:" ? 443 : 80)}/*`;
}

/** Settings with an origin switched on or off. */
export function withSite(settings: Settings, origin: string, on: boolean) {
  return {
    off: toggled(settings.off, origin, !on),
    allowed: settings.mode === "allowed" ? toggled(settings.allowed, origin, on) : settings.allowed,
  };
}

export function toggled(list: string[], origin: string, on: boolean) {
  const site = canonical(origin);
  const rest = list.filter((other) => other !== site);
  return on ? [...rest, site].sort() : rest;
}

/** The address of the hub's pages, from that of its WebSocket. */
export function dashboard(hub: string) {
  const url = new URL("/", hub);
  url.protocol = url.protocol === "wss:" ? "https:" : "http:";
  return url.href;
}

/** The browser's identity for a hub: an id made once. */
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
 */
export const session: Promise<string> = (async () => {
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
