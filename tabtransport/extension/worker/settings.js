// What the user has chosen, kept in chrome.storage.local, and who this browser is.

/** @type {Settings} */
const DEFAULTS = {
  hub: "ws://127.0.0.1:3300/tabs",
  token: "",
  mode: "all",
  allowed: [],
  off: [],
  keep: [],
};

/**
 * A copy of the extension that a hub wrote for a browser that it starts itself says
 * which hub that is, and proves it.
 *
 * @typedef {{hub: string, nonce: string}} Instance
 */

/** @type {Promise<Instance | undefined>} */
export const instance = fetch(chrome.runtime.getURL("instance.json"))
  .then((response) => response.json())
  .catch(() => undefined);

/** @returns {Promise<Settings>} */
export async function loadSettings() {
  const { settings } = await chrome.storage.local.get("settings");
  const own = await instance;
  /** @type {Settings} */
  const all = { ...DEFAULTS, ...(own && { hub: own.hub }), ...(settings ?? {}) };
  const [allowed, off, keep] = [all.allowed, all.off, all.keep].map((list) => [...new Set(list.map(canonical))]);
  return { ...all, allowed, off, keep };
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
function webOrigin(url) {
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

/**
 * Who this browser is to a hub: an id made once, and the secret that the hub gave for it.
 * A hub on this computer may have been started on another port, so where it has given
 * none at this address, the latest of the same host is tried, and before it that of the
 * same port.
 *
 * @param {string} hub
 */
export async function identity(hub) {
  let { browserId } = await chrome.storage.local.get("browserId");
  if (typeof browserId !== "string") {
    browserId = crypto.randomUUID();
    await chrome.storage.local.set({ browserId, secrets: {} });
  }
  const secrets = await secretsKept();
  const sameHost = Object.keys(secrets).filter((other) => hostOf(other) === hostOf(hub));
  const samePort = sameHost.filter((other) => new URL(other).port === new URL(hub).port);
  const secret = secrets[hub] ?? secrets[samePort.at(-1) ?? sameHost.at(-1) ?? ""];
  return { browserId: String(browserId), secret };
}

/** The host of a hub; the names of this computer are one. */
function hostOf(/** @type {string} */ hub) {
  const { hostname } = new URL(hub);
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname) ? "localhost" : hostname;
}

/** @returns {Promise<Record<string, string>>} by the hub's address, the latest last */
async function secretsKept() {
  const { secrets } = await chrome.storage.local.get("secrets");
  return /** @type {Record<string, string>} */ (secrets ?? {});
}

/**
 * Keeps the secret that a hub has given this browser.
 *
 * @param {string} hub
 * @param {string} secret
 */
export async function keepSecret(hub, secret) {
  const { [hub]: _, ...others } = await secretsKept();
  await chrome.storage.local.set({ secrets: { ...others, [hub]: secret } });
}

/** Makes the hub take this browser for a new one. */
export function forgetIdentity() {
  return chrome.storage.local.remove(["browserId", "secrets"]);
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
