// addresses.ts
function isLoopback(hostname) {
  return /^((.*\.)?localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

// words.ts
var waitsForYou = (holder) => `${holder} waits for you to finish`;

// worker/stopping.ts
function unlessStopping(asked2, failed) {
  return asked2.catch((error) => /^Error: No SW\b/.test(String(error)) ? new Promise(() => {
  }) : failed(error));
}

// worker/documents.ts
function askDocuments(script2, timeout) {
  const asked2 = unlessStopping(chrome.scripting.executeScript({ ...script2, injectImmediately: true }), () => []);
  return timeout === void 0 ? asked2 : Promise.race([asked2, new Promise((done) => setTimeout(done, timeout, []))]);
}

// worker/pairing.ts
var PROTOCOL = "tabhub.v1";
var MAX_KEPT = 16;
var INVITATION_LIFE = 10 * 6e4;
var embedded = fetch(chrome.runtime.getURL("pairing.json")).then((response) => response.json()).catch(() => void 0);
async function embeddedAddress() {
  return (await embedded)?.address;
}
async function pairingsFor(address) {
  const kept = (await load()).filter((pairing) => !pairing.until || pairing.until > Date.now());
  const host = new URL(address).hostname;
  const here = kept.filter((pairing) => pairing.address === address);
  const moved = kept.filter((pairing) => pairing.address !== address && new URL(pairing.address).hostname === host);
  const copy = await embedded;
  return [...here, ...copy ? [copy] : [], ...moved];
}
async function keepInvitation(invited) {
  const known = (await load()).find(({ pairing }) => pairing === invited.pairing);
  if (!known || known.until) await keep({ ...invited, until: Date.now() + INVITATION_LIFE });
}
async function confirm(pairing) {
  if (!pairing.next) return;
  const { pairing: id, hub: hub2, next, address } = pairing;
  await keep({ pairing: id, hub: hub2, key: next, address });
}
async function load() {
  const { pairings } = await chrome.storage.local.get("pairings");
  return pairings ?? [];
}
var keeping = Promise.resolve();
function keep(pairing) {
  const kept = keeping.then(async () => {
    const others = (await load()).filter((other) => other.pairing !== pairing.pairing);
    await chrome.storage.local.set({ pairings: [pairing, ...others].slice(0, MAX_KEPT) });
  });
  keeping = kept.catch(() => {
  });
  return kept;
}
var Handshake = class {
  #pairing;
  #address;
  /** The keys that the hub may have, imported before it answers: after an invitation it has the next one if it got this side's last proof. */
  #keys;
  #nonce = encode(crypto.getRandomValues(new Uint8Array(32)));
  /** @param address that is dialed; the hub must know itself by it */
  constructor(pairing, address) {
    const { protocol, host } = new URL(address);
    this.#pairing = pairing;
    this.#address = `${protocol}//${host}`;
    const { key, next } = pairing;
    this.#keys = (next ? [next, key] : [key]).map((text4) => ({ text: text4, ready: hmac(text4) }));
  }
  /** The parameters of browser/pair. */
  get request() {
    return { protocolVersion: PROTOCOL, pairing: this.#pairing.pairing, nonce: this.#nonce };
  }
  /**
   * Checks what the hub answers.
   * @returns this side's proof;
   * undefined if the other does not have the key
   */
  async answer(result) {
    const { pairing, next, address } = this.#pairing;
    const hub2 = String(result?.hub ?? "");
    const transcript = { pairing, hub: hub2, address: this.#address, browserNonce: this.#nonce, hubNonce: String(result?.nonce ?? "") };
    if (/[\n]/.test(hub2 + transcript.hubNonce)) return void 0;
    const shown = decode(String(result?.proof ?? ""));
    for (const { text: key, ready: ready2 } of this.#keys) {
      const [right, proof] = await Promise.all([
        verify(await ready2, lines("hub", transcript), shown),
        mac(await ready2, lines("browser", transcript))
      ]);
      if (!right) continue;
      const proved = { ...this.#pairing, hub: hub2 };
      if (proved.until) {
        proved.next = key === next ? next : await mac(await ready2, lines("key", transcript));
        await keep({ ...proved, address });
      }
      return { pairing: proved, proof };
    }
    return void 0;
  }
};
async function codeOf(pairing, secret) {
  const [a, b, c] = decode(await mac(await hmac(secret), ["code", pairing]));
  const code = String((a << 16 | b << 8 | c) % 1e6).padStart(6, "0");
  return `${code.slice(0, 3)} ${code.slice(3)}`;
}
function lines(purpose, { pairing, hub: hub2, address, browserNonce, hubNonce }) {
  return [`${PROTOCOL} ${purpose}`, pairing, hub2, address, browserNonce, hubNonce];
}
function hmac(key) {
  return crypto.subtle.importKey("raw", decode(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}
async function mac(key, lines2) {
  return encode(new Uint8Array(await crypto.subtle.sign("HMAC", key, text(lines2))));
}
function verify(key, lines2, shown) {
  return crypto.subtle.verify("HMAC", key, shown, text(lines2));
}
function text(lines2) {
  return new TextEncoder().encode(lines2.join("\n"));
}
function encode(bytes) {
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}
function decode(text4) {
  try {
    return Uint8Array.from(atob(text4.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

// worker/settings.ts
var DEFAULTS = {
  hub: "ws://127.0.0.1:3300/tabs",
  mode: "all",
  allowed: [],
  off: [],
  keep: [],
  plain: [],
  mark: true
};
var EVENT = 5e3;
async function loadSettings() {
  const { settings } = await chrome.storage.local.get("settings");
  const hub2 = await embeddedAddress();
  const all = { ...DEFAULTS, ...hub2 && { hub: hub2 }, ...settings ?? {} };
  const lists = [all.allowed, all.off, all.keep, all.plain];
  const [allowed, off, keep2, plain] = lists.map((list2) => [...new Set(list2.map(canonical))]);
  return { ...all, allowed, off, keep: keep2, plain };
}
async function saveSettings(part) {
  const { settings } = await chrome.storage.local.get("settings");
  await chrome.storage.local.set({ settings: { ...settings ?? {}, ...part } });
  return loadSettings();
}
function canonical(origin) {
  if (!URL.canParse(origin)) return origin;
  const { protocol, hostname, port } = new URL(origin);
  return `${protocol}//${hostname.replace(/\.$/, "")}${port && `:${port}`}`;
}
function permits(settings, origin) {
  if (permitsAll(settings)) return true;
  const site = canonical(origin);
  if (settings.off.includes(site)) return false;
  return settings.mode === "all" || settings.allowed.includes(site);
}
function permitsAll({ mode, off }) {
  return mode === "all" && !off.length;
}
function sharesNone({ mode, allowed }) {
  return mode === "allowed" && !allowed.length;
}
function permitsPage(settings, url) {
  const site = webOrigin(url);
  return site === "" || permits(settings, site);
}
function permitsDocument(settings, { origin = "", url = "", frameId = 0 }) {
  if (permitsAll(settings)) return true;
  const site = webOrigin(origin) || webOrigin(url);
  if (site !== "") return permits(settings, site);
  if (/^about:/.test(url)) return frameId !== 0;
  return url !== "" && !/^(data|blob):/.test(url);
}
function webOrigin(url) {
  const origin = URL.canParse(url) ? new URL(url).origin : "";
  return /^https?:/.test(origin) ? origin : "";
}
function keeps(settings, origin) {
  return settings.keep.includes(canonical(origin));
}
function givesWebMCP(settings, origin) {
  return !settings.plain.includes(canonical(origin));
}
function pattern(origin) {
  const { protocol, hostname, port } = new URL(origin);
  return `${protocol}//${hostname}:${port || (protocol === "https:" ? 443 : 80)}/*`;
}
function withSite(settings, origin, on) {
  return {
    off: toggled(settings.off, origin, !on),
    allowed: settings.mode === "allowed" ? toggled(settings.allowed, origin, on) : settings.allowed
  };
}
function toggled(list2, origin, on) {
  const site = canonical(origin);
  const rest = list2.filter((other) => other !== site);
  return on ? [...rest, site].sort() : rest;
}
function dashboard(hub2) {
  const url = new URL("/", hub2);
  url.protocol = url.protocol === "wss:" ? "https:" : "http:";
  return url.href;
}
async function browserId() {
  const { browserId: browserId2 } = await chrome.storage.local.get("browserId");
  if (typeof browserId2 === "string") return browserId2;
  const made = crypto.randomUUID();
  await chrome.storage.local.set({ browserId: made });
  return made;
}
function forgetIdentity() {
  return chrome.storage.local.remove("browserId");
}
var session = (async () => {
  const updated = new Promise((resolve) => {
    chrome.runtime.onInstalled.addListener(({ reason }) => resolve(reason === "update"));
    chrome.runtime.onStartup.addListener(() => resolve(false));
    setTimeout(resolve, EVENT, false);
  });
  const kept = await chrome.storage.session.get("session");
  if (typeof kept.session === "string") return kept.session;
  const before = await chrome.storage.local.get("session");
  const value = await updated && typeof before.session === "string" ? before.session : crypto.randomUUID();
  await Promise.all([chrome.storage.session.set({ session: value }), chrome.storage.local.set({ session: value })]);
  return value;
})();

// patterns.ts
function matchesAny(patterns2, address) {
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  return patterns2.some((pattern2) => matches(pattern2, url));
}
function matches(pattern2, { href, protocol, hostname, port, pathname, search }) {
  const parts = /^(https?):\/\/(\*\.)?(\[[^\]/]*\]|[^:/*]+)(?::(\d+))?(\/.*)$/.exec(pattern2);
  if (!parts) return false;
  const [, scheme, below, host, onPort, path] = parts;
  if (protocol !== `${scheme}:`) return false;
  if (onPort && onPort !== (port || (scheme === "https" ? "443" : "80"))) return false;
  const at = hostname.replace(/\.$/, "");
  if (at !== host && !(below && at.endsWith(`.${host}`))) return false;
  const query = search || (/^[^#]*\?/.test(href) ? "?" : "");
  return `${pathname}${query}/*` === path || glob(path, pathname + query);
}
function glob(pattern2, text4) {
  const [head, ...rest] = pattern2.split("*");
  if (!rest.length) return text4 === pattern2;
  if (!text4.startsWith(head)) return false;
  let at = head.length;
  const tail = rest.pop();
  for (const part of rest) {
    const found2 = text4.indexOf(part, at);
    if (found2 < 0) return false;
    at = found2 + part.length;
  }
  return text4.length - at >= tail.length && text4.endsWith(tail);
}
function overlap(some, others) {
  const hosts = (patterns2) => patterns2.map((pattern2) => hostOf(pattern2));
  return hosts(some).some((a) => hosts(others).some((b) => a === b || isBelow(a, b) || isBelow(b, a)));
}
function hostOf(pattern2) {
  return /^[^:]*:\/\/(\[[^\]]*\]|[^:/]*)/.exec(pattern2)?.[1] ?? "";
}
function isBelow(host, pattern2) {
  return pattern2.startsWith("*.") && `.${host.replace(/^\*\./, "")}`.endsWith(pattern2.slice(1));
}
function within(pattern2, origin) {
  const [, scheme, rest, path = ""] = /^([^:]*:\/\/)([^/]*)(\/.*)$/.exec(pattern2) ?? [];
  if (!matchesAny([`${scheme}${rest}/*`], `${origin}/`)) return void 0;
  const { protocol, hostname, port } = new URL(origin);
  return `${protocol}//${hostname}:${port || (protocol === "https:" ? 443 : 80)}${path}`;
}

// worker/packs.ts
var SOON = 1e4;
var NONE = { pairing: "", packs: [], choices: {} };
var Packs = class {
  #kept = NONE;
  /** Settled when the hub of this connection has said which packs there are. */
  #current = Promise.resolve();
  #settle = () => {
  };
  #isLocal;
  #changed;
  /**
   * @param isLocal whether the hub is on this computer
   * @param changed called when other tools may be offered
   */
  constructor(isLocal, changed) {
    this.#isLocal = isLocal;
    this.#changed = changed;
  }
  async load() {
    const { packs: packs2 } = await chrome.storage.local.get("packs");
    if (packs2) this.#kept = packs2;
  }
  /** A hub has said hello. It says next which packs there are. */
  opened(pairing) {
    if (this.#kept.pairing !== pairing) this.drop();
    this.#current = new Promise((settle) => this.#settle = settle);
  }
  /** Takes what the hub says. */
  take(pairing, packs2) {
    const stays = (hash) => packs2.some((pack) => pack.hash === hash && this.#kept.packs.some((before) => isSame(before, pack)));
    const choices = Object.fromEntries(Object.entries(this.#kept.choices).filter(([hash]) => stays(hash)));
    this.#keep(packs2.length ? { pairing, packs: packs2, choices } : NONE);
    this.#settle();
  }
  /** The hub is not this browser's any more. */
  drop() {
    this.#keep(NONE);
  }
  /** The person in front of this browser lets it offer a pack, or not. */
  choose(hash, on) {
    this.#keep({ ...this.#kept, choices: { ...this.#kept.choices, [hash]: on } });
  }
  #keep(kept) {
    if (JSON.stringify(kept) === JSON.stringify(this.#kept)) return;
    this.#kept = kept;
    void (kept === NONE ? chrome.storage.local.remove("packs") : chrome.storage.local.set({ packs: kept }));
    this.#changed();
  }
  /** Resolves once what is known of packs is what the hub that is connected has said, or when it is late. */
  get current() {
    return Promise.race([this.#current, new Promise((late) => setTimeout(late, SOON))]);
  }
  /**
   * Whether this browser offers a pack. A hub elsewhere, or a script that can do anything in its pages,
   * needs the word of the person in front of it.
   */
  #isOn({ hash, script: script2 }) {
    return this.#kept.choices[hash] ?? (!script2 && this.#isLocal());
  }
  get #on() {
    return this.#kept.packs.filter((pack) => this.#isOn(pack));
  }
  /** The packs that this browser does not offer, and why. */
  get off() {
    const off = this.#kept.packs.filter((pack) => !this.#isOn(pack));
    return off.map((pack) => ({ name: pack.name, hash: pack.hash, why: this.#why(pack) }));
  }
  #why({ hash, script: script2 }) {
    if (this.#kept.choices[hash] === false) return "it is switched off in the extension’s popup";
    return `${script2 ? "it is a script" : "the hub is on another computer"}: on one of its pages, the extension’s popup has the switch`;
  }
  /** Whether there are some, be they on or off. */
  get any() {
    return this.#kept.packs.length > 0;
  }
  /** The patterns of the pages that have tools of steps. */
  get match() {
    return [...new Set(this.#on.filter(({ script: script2 }) => !script2).flatMap(({ match }) => match))];
  }
  /** The scripts that the person in front of this browser has allowed. */
  get scripts() {
    return this.#on.filter(({ script: script2 }) => script2);
  }
  /** A pack of exactly this version, if this browser offers it. */
  find({ name, hash }) {
    return this.#on.find((pack) => pack.name === name && pack.hash === hash);
  }
  /** Why a version of a pack has no tools here, "" if it has. */
  refusal(ref) {
    if (this.find(ref)) return "";
    const known = this.#kept.packs.find(({ name }) => name === ref.name);
    if (!known) return `the pack ${ref.name} has been removed`;
    return known.hash === ref.hash ? `the pack ${ref.name} is off in this browser; the extension's popup has a switch for it` : `the pack ${ref.name} has changed`;
  }
  /** The tools of the page at an address: the hub knows what they are. */
  tools(url) {
    const here = this.#on.filter(({ script: script2, match }) => !script2 && matchesAny(match, url));
    return here.flatMap(({ name, hash, tools }) => {
      const offered = tools.filter(({ on }) => !on?.length || matchesAny(on, url));
      return offered.map((tool) => ({ name: tool.name, pack: { name, hash } }));
    });
  }
  /** What the popup shows of the packs for the page at an address. */
  views(url) {
    const here = this.#kept.packs.filter(({ match }) => matchesAny(match, url));
    return here.map((pack) => {
      const { name, hash, title = "", script: script2 = false, match } = pack;
      return { name, hash, title, script: script2, sites: [...new Set(match.map(hostOf))], on: this.#isOn(pack) };
    });
  }
};
function isSame(a, b) {
  const shown = ({ name, hash, match, script: script2 = false }) => JSON.stringify([name, hash, match, script2]);
  return shown(a) === shown(b);
}
function packOf(item) {
  return item.pack;
}

// worker/frame.ts
var KINDS = ["tools", "resources", "prompts"];
var NOTHING = { tools: [], resources: [], prompts: [], rejected: [] };
var Frame = class {
  #port;
  documentId = "";
  /** As the browser gives it. */
  origin = "";
  /** The document's address. */
  url = "";
  /** The origin that the tab showed then. */
  site = "";
  /** The dialog that its page has open. */
  dialog;
  /** Whether its document does not answer. */
  silent = false;
  /** What its document offers, and the tools that packs give it. */
  offer = NOTHING;
  /** The number of the offer, by the document's own count; 0: it has made none yet. */
  count = 0;
  /** The number of the offer that the hub has. */
  registered = 0;
  /** What documents before this one have offered, and it has not yet. */
  past = NOTHING;
  /** Since when there is something in the past, as Date.now() has it. */
  since = 0;
  /** Ends the past. */
  timer;
  id;
  through;
  /**
   * @param through for a server: the document around it, and what
   * that one calls it
   */
  constructor(id, through) {
    this.id = id;
    this.through = through;
  }
  get port() {
    return this.through ? this.through.frame.port : this.#port;
  }
  set port(port) {
    this.#port = port;
    this.dialog = void 0;
    this.silent = false;
  }
  /** Takes what the document offers now: no page says that a tool is a pack's. */
  take(offer, count) {
    const own = offer.tools.map((tool) => ({ ...tool, pack: void 0 }));
    this.offer = { ...offer, tools: [...own, ...this.#packed(this.offer)] };
    this.count = count;
    this.past = lacking(this.past, this.offer);
  }
  /**
   * Takes the tools that packs give the document.
   * @param stay whether such a tool of a document before it may still come back
   * @returns whether they are others
   */
  takePacked(tools, stay) {
    const before = JSON.stringify([this.#packed(this.offer), this.#packed(this.past)]);
    const without = (offer, left) => ({ ...offer, tools: [...offer.tools.filter((tool) => !packOf(tool)), ...left] });
    this.offer = without(this.offer, tools);
    this.past = without(this.past, this.#packed(lacking(this.past, this.offer)).filter(stay));
    return before !== JSON.stringify([this.#packed(this.offer), this.#packed(this.past)]);
  }
  #packed({ tools }) {
    return tools.filter((tool) => packOf(tool));
  }
  /** The document has gone. */
  unload() {
    const { offer, past } = this;
    if (isEmpty(past)) this.since = Date.now();
    this.past = perKind((kind) => [...offer[kind], ...lacking(past, offer)[kind]]);
    this.offer = NOTHING;
    this.count = this.registered = 0;
  }
  /** What its unloaded documents have offered will not come back. */
  settle() {
    clearTimeout(this.timer);
    this.past = NOTHING;
  }
  /** Says that nothing of the frame counts. */
  clear() {
    this.settle();
    this.offer = NOTHING;
  }
  /** Whether there is nothing that the frame offers, or has offered. */
  get empty() {
    return isEmpty(this.offer) && isEmpty(this.past);
  }
  /** Whether an unloaded document has offered something. */
  get waits() {
    return !isEmpty(this.past);
  }
  /** Whether it has a document that has not made an offer yet. */
  get awaited() {
    return !!this.port && this.count === 0;
  }
};
function isEmpty({ tools, resources, prompts }) {
  return tools.length + resources.length + prompts.length === 0;
}
function lacking(offer, other) {
  if (isEmpty(offer)) return NOTHING;
  return perKind((kind) => {
    const keyOf = (item) => `${packOf(item)?.name ?? ""} ${nameOf(item)}`;
    const names = new Set(other[kind].map(keyOf));
    return offer[kind].filter((item) => !names.has(keyOf(item)));
  });
}
function perKind(items) {
  return { tools: items("tools"), resources: items("resources"), prompts: items("prompts"), rejected: [] };
}
function nameOf(item) {
  return String(item.uri ?? item.uriTemplate ?? item.name);
}

// worker/invitations.ts
var WIDTH = 480;
var HEIGHT = 420;
var PAUSE = 3e4;
var LINK = /^(https:\/\/[^?#]+|http:\/\/(?:127(?:\.\d+){3}|\[::1\]|(?:[a-z0-9-]+\.)*localhost)(?::\d+)?)\/pair#(browser\.[a-z0-9]{8,64})\.([A-Za-z0-9_-]{22})\.(\d{10})$/;
function withoutSecret(text4) {
  return /#(browser\.|code=)/.test(text4) ? text4.slice(0, text4.indexOf("#")) : text4;
}
var Invitations = class {
  /** Whether the user is just being asked about another. */
  #asking = false;
  /** Those that were answered. */
  #done = /* @__PURE__ */ new Set();
  #pausedUntil = 0;
  #accepted;
  /** @param accepted called when the hub at an address is the one to be with */
  constructor(accepted) {
    this.#accepted = accepted;
    chrome.windows.onRemoved.addListener(async (closed) => {
      const invitation = await open();
      if (invitation && closed === invitation.windowId) await this.answer(invitation.id, false);
    });
  }
  /**
   * A tab shows another address. Only that of a hub on this computer, in the tab in front,
   * has the user asked: any site can send its tabs to a hub of its own.
   */
  async seen(tab, url) {
    const invitation = tab.active && url.startsWith("http:") ? read(url) : void 0;
    if (!invitation || this.#done.has(invitation.id) || Date.now() < this.#pausedUntil) return;
    await this.#ask({ ...invitation, tabId: tab.id });
  }
  /**
   * The user has pasted an address.
   * @returns what is wrong with it
   */
  async pasted(url) {
    const invitation = read(url);
    if (!invitation) return "This is no address of “tabhub browser pair”, or one that is over: run it again.";
    if (this.#done.has(invitation.id)) return "This address was used already: run “tabhub browser pair” again.";
    if (await this.#ask(invitation)) return "";
    return "You are being asked about another address already: answer in that window, then paste this one again.";
  }
  /** @returns false if the user is being asked about another */
  async #ask(invitation) {
    if (this.#asking) return false;
    this.#asking = true;
    try {
      if (await open()) return false;
      const { id } = invitation;
      await chrome.storage.session.set({ invitation });
      const page = `invite.html?${encodeURIComponent(id)}`;
      const made = await chrome.windows.create({ url: page, type: "popup", width: WIDTH, height: HEIGHT, focused: true });
      await chrome.storage.session.set({ invitation: { ...invitation, windowId: made?.id } });
      return true;
    } catch (error) {
      await chrome.storage.session.remove("invitation");
      throw error;
    } finally {
      this.#asking = false;
    }
  }
  /** What the user is asked about. */
  async view(id) {
    const invitation = await open();
    if (invitation?.id !== id) return void 0;
    return { address: invitation.address, code: await codeOf(invitation.id, invitation.secret) };
  }
  async answer(id, accept) {
    const invitation = await open();
    if (invitation?.id !== id) return;
    await chrome.storage.session.remove("invitation");
    this.#done.add(id);
    if (invitation.windowId !== void 0) chrome.windows.remove(invitation.windowId).catch(() => {
    });
    void tell(invitation, accept);
    if (!accept) {
      this.#pausedUntil = Date.now() + PAUSE;
      return;
    }
    await keepInvitation({ pairing: invitation.id, hub: "", key: invitation.secret, address: invitation.address });
    await this.#accepted(invitation.address);
  }
};
function read(url) {
  const [, origin, id, secret, until] = LINK.exec(url) ?? [];
  if (!origin || Number(until) * 1e3 < Date.now()) return void 0;
  const address = new URL(`${origin.replace(/^http/, "ws")}/tabs`);
  if (address.protocol === "ws:" && address.hostname.endsWith("localhost")) address.hostname = "127.0.0.1";
  return { id, address: address.href, secret };
}
async function open() {
  return (await chrome.storage.session.get("invitation")).invitation;
}
async function tell({ id, tabId, address }, accepted) {
  if (tabId === void 0) return;
  const tab = await chrome.tabs.get(tabId).catch(() => void 0);
  if (LINK.exec(tab?.url ?? "")?.[2] !== id) return;
  const url = new URL(`pair#${accepted ? "accepted" : "declined"}`, address.replace(/^ws/, "http"));
  chrome.tabs.update(tabId, { url: url.href }).catch(() => {
  });
}

// worker/tab.ts
var THROUGH = 2 ** 40;
var MAX_KEY = 1e3;
var MAX_REGISTRATION = 24 << 20;
function isAsleep({ discarded, status }) {
  return discarded || status === "unloaded";
}
var NONE2 = { rejected: [], warnings: [] };
var Tab = class {
  frames = /* @__PURE__ */ new Map();
  /** What the hub was sent over the connection that is open now, as JSON. */
  sent = { tools: "", resources: "", prompts: "", state: "" };
  /** Whether the hub has ever heard of the tab. */
  known = false;
  /** What the hub has refused of the latest registration of each kind. */
  refused = { tools: NONE2, resources: NONE2, prompts: NONE2 };
  /** The ports of documents without an origin, which may offer something. */
  opaque = /* @__PURE__ */ new Set();
  /** What it was not sent. */
  unsent = [];
  /** Frames that are waited for after the worker was restarted. */
  missing;
  /** Ends that. */
  returning;
  timer;
  /** Settles when the hub has all that it was sent. */
  telling;
  /** When the hub may be sent again what it offers, as Date.now() has it. */
  nextAt = 0;
  /** The number that it had before, if any. */
  replaces;
  /** What the browser says of the tab. */
  url = "";
  title = "";
  active = false;
  loading = false;
  /** Whether it is there without a document, to save memory. */
  discarded = false;
  windowId = -1;
  /** How many tools the hub was sent. */
  tools = 0;
  /** Whether a call waits for the person in front of it. */
  waiting = false;
  id;
  constructor(id) {
    this.id = id;
  }
  /** The server in a child frame that a frame speaks of. */
  through(frame, { key, origin }) {
    const id = THROUGH + frame.id * MAX_KEY + key % MAX_KEY;
    let child = this.frames.get(id);
    if (!child) {
      child = new Frame(id, { frame, key });
      this.frames.set(id, child);
    }
    child.origin = origin;
    return child;
  }
  /** The origin of its page, as far as the address tells. */
  get site() {
    return URL.canParse(this.url) ? new URL(this.url).origin : "";
  }
  /** A frame, and the servers that are reached through it. */
  with(frame) {
    return [...this.frames.values()].filter((other) => other === frame || other.through?.frame === frame);
  }
  /**
   * The frame that offers what was offered by one. A frame of a page that was reloaded has
   * another number than before, but the same origin.
   */
  find({ frameId, origin }, offers) {
    const frames = [...this.frames.values()].filter((frame) => frame.port && offers(frame));
    if (frameId === void 0) return frames[0];
    const same2 = frames.find(({ id }) => id === frameId);
    if (same2 || frameId === 0 || this.frames.get(frameId)?.port) return same2;
    const others = frames.filter((frame) => frame.id !== 0 && frame.origin === origin);
    return others.length === 1 ? others[0] : void 0;
  }
  /** Whether a frame offers something that a test finds, may do so soon, or did before. */
  expects(offers) {
    return !!this.missing?.size || [...this.frames.values()].some((frame) => frame.awaited || offers(frame.offer) || offers(frame.past));
  }
  /**
   * The frames whose offers count, documents first: what another frame says of a server
   * counts only while the browser knows a frame of that origin in the tab, and the user
   * permits it.
   */
  offering(permitted) {
    const frames = [...this.frames.values()].sort((a, b) => a.id - b.id);
    const there = new Set(frames.filter((frame) => !frame.through).map((frame) => frame.origin));
    return frames.filter(({ through, origin }) => !through || there.has(origin) && permitted(origin));
  }
  /** Why what documents without an origin offer is not listed. */
  get leftOut() {
    return [...this.opaque].map(({ sender }) => ({
      name: `frame ${(sender?.url ?? "").split(/[?#]/)[0].slice(0, 60)}`,
      reason: "it has no origin by which its tools could be told from those of others, as it is sandboxed or a data: address; register them in the page around it, or give its sandbox allow-same-origin"
    }));
  }
  /** What of the tab's offer the hub does not have. */
  get rejected() {
    return [...this.unsent, ...KINDS.flatMap((kind) => this.refused[kind].rejected)];
  }
  /** What is wrong with parts of what the hub has taken. */
  get warnings() {
    return KINDS.flatMap((kind) => this.refused[kind].warnings);
  }
  /**
   * What the hub has refused of a frame's offer. A name that other frames offer, too, is
   * left out: it may be theirs.
   */
  refusedOf(frame, kind) {
    const own = new Set(frame.offer[kind].map(nameOf));
    for (const other of this.frames.values()) if (other !== frame) for (const item of other.offer[kind]) own.delete(nameOf(item));
    const ofFrame = ({ name }) => own.has(name);
    const { rejected, warnings } = this.refused[kind];
    return { rejected: rejected.filter(ofFrame), warnings: warnings.filter(ofFrame) };
  }
  /** Returns what tells frames that the hub has what they offer now. */
  confirming(frames) {
    const offers = frames.filter(({ through }) => !through).map((frame) => ({ frame, port: frame.port, count: frame.count }));
    return () => {
      for (const { frame, port, count } of offers) {
        if (frame.port !== port) continue;
        frame.registered = count;
        const of = (kind) => this.refusedOf(frame, kind);
        post(port, { type: "registered", count, refused: { tools: of("tools"), resources: of("resources"), prompts: of("prompts") } });
      }
    };
  }
  /** The dialog that blocks it. One that is not known may be open where a document does not answer. */
  get #dialog() {
    const frames = [...this.frames.values()];
    return frames.find(({ dialog }) => dialog)?.dialog ?? { type: frames.some(({ silent }) => silent) ? "unknown" : "" };
  }
  /** What the hub learns of the page; nothing if the user does not share it. */
  page(settings) {
    return pageOf(settings, this);
  }
  /**
   * The parameters of browser/tabState.
   * @param focused the window that had the focus last
   */
  state(focused, settings) {
    const page = this.page(settings);
    return {
      ...page,
      active: this.active,
      windowId: this.windowId,
      windowFocused: this.windowId === focused,
      discarded: this.discarded,
      replaces: this.replaces,
      keepTools: !!page.url && keeps(settings, page.url),
      waiting: this.waiting,
      dialog: this.#dialog
    };
  }
};
function pageOf(settings, { url = "", title = "" }) {
  return permitsPage(settings, url) ? { url: withoutSecret(url).slice(0, 2048), title: withoutSecret(title).slice(0, 4096) } : {};
}
function merge(frames) {
  const rejected = [];
  const list2 = (kind) => {
    let size2 = 0;
    let left = 0;
    const texts = [];
    const seen2 = /* @__PURE__ */ new Set();
    const own = /* @__PURE__ */ new Set();
    const add = (item, { id, origin }, departed) => {
      const text4 = JSON.stringify({ ...item, frameId: id, origin, departed: departed || void 0 });
      size2 += text4.length + 1;
      if (size2 > MAX_REGISTRATION) left++;
      else texts.push(text4);
    };
    const packed = [];
    for (const departed of [false, true]) {
      for (const frame of frames) {
        for (const item of (departed ? frame.past : frame.offer)[kind]) {
          if (packOf(item)) {
            packed.push({ item, frame, departed });
            continue;
          }
          const key = `${frame.origin} ${nameOf(item)}`;
          if (departed ? seen2.has(key) : frame.through && own.has(key)) continue;
          seen2.add(key);
          if (!frame.through) own.add(key);
          add(item, frame, departed);
        }
      }
    }
    const given = /* @__PURE__ */ new Set();
    for (const { item, frame, departed } of packed) {
      const key = `${frame.origin} ${nameOf(item)}`;
      const { name } = packOf(item);
      if (given.has(`${name} ${key}`)) continue;
      given.add(`${name} ${key}`);
      if (!seen2.has(key)) add(item, frame, departed);
      else rejected.push({ name: item.name, reason: `of the pack ${name}: the site has a tool of that name` });
    }
    if (left) rejected.push({ name: `${left} ${kind}`, reason: "the tab offers too much in all" });
    return { text: `[${texts.join()}]`, count: texts.length };
  };
  return { lists: { tools: list2("tools"), resources: list2("resources"), prompts: list2("prompts") }, rejected };
}
function post(port, message2) {
  try {
    port?.postMessage(message2);
  } catch {
  }
}
function isAt(url = "", origin) {
  return !origin || URL.canParse(url) && new URL(url).origin === origin;
}

// worker/navigations.ts
var TIMEOUT = 1e4;
var STAYS = 300;
var SETTLED = 500;
var LOOK = 50;
var MAX_DATA = 30 << 20;
var MAX_PAGE = 8192;
var BUSY = 2e3;
var Navigations = class {
  #tabs;
  #settings;
  constructor(tabs2, settings) {
    this.#tabs = tabs2;
    this.#settings = settings;
  }
  /** What follows if the browser could not show it. */
  failed({ url, error }) {
    return { page: { ...pageOf(this.#settings(), { url }), error: error.replace(/^net::/, "").slice(0, 128) }, data: "", read: false };
  }
  /** Where a call is. */
  async here({ tabId, frameId }) {
    const there = await look(tabId, frameId);
    return there && permits(this.#settings(), there.origin) ? pageOf(this.#settings(), there) : {};
  }
  /**
   * Waits until the document that follows one is loaded and the hub has its tools.
   * @param left the one before
   * @returns undefined if none follows
   */
  async after({ tabId, frameId, documentId, origin }, wanted) {
    const until = Date.now() + TIMEOUT;
    let quiet = 0;
    let last;
    let data = "";
    for (; wanted() && Date.now() < until; await new Promise((done) => setTimeout(done, LOOK))) {
      const there = await look(tabId, frameId);
      const tab = await unlessStopping(chrome.tabs.get(tabId), () => void 0);
      if (!tab) return void 0;
      if (there && there.documentId !== documentId) {
        if (last?.documentId !== there.documentId) quiet = 0;
        last = there;
        if (!permits(this.#settings(), there.origin)) break;
        if (!there.parsed) continue;
        if (there.origin === origin) data ||= await said(tabId, there.documentId);
        const told = this.#tabs.told(tabId, there.documentId);
        if (there.complete) quiet ||= Date.now();
        if (told || told === void 0 && quiet && Date.now() - quiet > SETTLED) break;
      } else if (!last) {
        quiet = tab.status === "loading" ? 0 : quiet || Date.now();
        if (!quiet || Date.now() - quiet < STAYS) continue;
        return there || frameId ? void 0 : { page: pageOf(this.#settings(), tab), data: "", read: false };
      }
    }
    return last && { page: permits(this.#settings(), last.origin) ? pageOf(this.#settings(), last) : {}, data, read: true };
  }
};
async function look(tabId, frameId) {
  const target = { tabId, frameIds: [frameId] };
  const func = (max) => ({
    origin: self.origin,
    url: location.href.slice(0, max),
    title: typeof document.title === "string" ? document.title.slice(0, max) : "",
    // an element may have the name
    parsed: document.readyState !== "loading",
    complete: document.readyState === "complete"
  });
  const [there] = await askDocuments({ target, func, args: [MAX_PAGE] }, BUSY);
  return there?.result && { documentId: there.documentId, ...there.result };
}
async function said(tabId, documentId) {
  const target = { tabId, documentIds: [documentId] };
  const func = (max) => {
    const texts2 = [...document.scripts].filter(({ type }) => type === "application/ld+json").map(({ text: text4 }) => text4);
    return texts2.join("").length <= max ? texts2 : [];
  };
  const [answer2] = await askDocuments({ target, func, args: [MAX_DATA] }, BUSY);
  const texts = answer2?.result ?? [];
  const data = texts.flatMap((text4) => {
    try {
      return [JSON.stringify(JSON.parse(text4.replace(COMMENT, "$1")))];
    } catch {
      return [];
    }
  });
  const json = data.length ? `[${data.join()}]` : "";
  return json.length <= MAX_DATA ? json : "";
}
var COMMENT = /("(?:[^"\\]+|\\[^]?)*(?:"|$))|\/\*[^]*?(?:\*\/|$)|\/\/.*/g;

// worker/heartbeat.ts
var FIRST = 2e3;
var NEXT = 5e3;
var TIMEOUT2 = 5e3;
var Heartbeat = class {
  /** The ports of the documents that are looked at. */
  #watched = /* @__PURE__ */ new Set();
  #runs;
  #silent;
  /**
   * @param runs whether a document has a call
   * @param silent called when one does not answer, and when it does
   */
  constructor(runs2, silent) {
    this.#runs = runs2;
    this.#silent = silent;
  }
  /** Looks at a document for as long as it has calls, and until it answers. */
  async watch(port) {
    if (this.#watched.has(port)) return;
    this.#watched.add(port);
    for (let wait = FIRST; ; wait = NEXT) {
      await new Promise((done) => setTimeout(done, wait));
      if (!this.#runs(port)) break;
      const timer = setTimeout(() => this.#silent(port, true), TIMEOUT2);
      const { tab, documentId = "" } = port.sender ?? {};
      await askDocuments({ target: { tabId: tab?.id ?? 0, documentIds: [documentId] }, func: () => {
      } });
      clearTimeout(timer);
      this.#silent(port, false);
    }
    this.#watched.delete(port);
  }
};

// worker/refusal.ts
var Code = {
  MethodNotFound: -32601,
  InvalidParams: -32602,
  Internal: -32603,
  TabNotFound: -32001,
  Limit: -32003,
  Unsupported: -32004,
  Unpaired: -32005
};
var Refusal = class extends Error {
  code;
  data;
  constructor(code, message2, data) {
    super(message2);
    this.code = code;
    this.data = data;
  }
};
function elsewhere() {
  return new Refusal(Code.TabNotFound, "the tab shows another site by now", { delivered: false });
}
function notShared() {
  return new Refusal(Code.Unsupported, "the user does not share this site with the hub");
}

// worker/stored.ts
var Stored = class {
  #key;
  #read;
  #delay;
  #written = "";
  /** Settles when that has been written. */
  #writing = Promise.resolve(true);
  #timer;
  /**
   * @param read the value of the moment
   * @param delay changes within this time, in ms, are one write
   */
  constructor(key, read2, delay = 5) {
    this.#key = key;
    this.#read = read2;
    this.#delay = delay;
  }
  /** @returns what an earlier worker has written */
  async load() {
    return (await chrome.storage.session.get(this.#key))[this.#key];
  }
  /** Writes the value, soon, if it has changed. */
  save() {
    this.#timer ??= setTimeout(() => void this.write(), this.#delay);
  }
  /**
   * Writes the value at once if it has changed.
   * @returns whether the next worker has it
   */
  async write() {
    clearTimeout(this.#timer);
    this.#timer = void 0;
    const value = this.#read();
    const text4 = JSON.stringify(value);
    if (text4 !== this.#written) {
      this.#written = text4;
      this.#writing = chrome.storage.session.set({ [this.#key]: value }).then(
        () => true,
        () => false
      );
    }
    return this.#writing;
  }
};

// states.ts
var STATES = {
  // The browser and the hub.
  connected: ["Connected", "good", ""],
  connecting: ["Connecting…", "good", ""],
  working: ["At work", "good", ""],
  waiting: ["Waiting for you", "wait", ""],
  paused: ["Paused", "wait", "II"],
  absent: ["The hub is not running", "off", "off"],
  unpaired: ["Not paired with the hub", "bad", "!"],
  unproved: ["Not your hub", "bad", "!"],
  outdated: ["The hub is older than the extension", "bad", "!"],
  refused: ["The hub refused this browser", "bad", "!"],
  replaced: ["Another browser took this one’s place", "bad", "!"],
  // Tabs, clients and what they have called.
  active: ["Active", "good"],
  ok: ["Ok", "good"],
  changing: ["Changing page", "wait"],
  dialog: ["Has a dialog open", "wait"],
  inUse: ["In use by you", "wait"],
  away: ["Away", "bad"],
  missing: ["Not there", "bad"],
  open: ["Open", "off"],
  asleep: ["Asleep", "off"],
  cached: ["Cached", "off"],
  closed: ["Closed", "off"]
};

// status.ts
var COLOURS = { good: "#1f5fbf", wait: "#9a6700", bad: "#b3261e", off: "#5f6673" };
function stateOf({ hub: hub2, owner: owner2, waiting, working }) {
  if (waiting) return "waiting";
  if (hub2.state !== "connected") return hub2.state;
  if (owner2.waiting) return "waiting";
  if (owner2.paused) return "paused";
  return working ? "working" : "connected";
}
function button(standing2, tab) {
  const state = stateOf(standing2);
  const [name, look3, badge] = STATES[state];
  const colour = COLOURS[look3];
  const title = `tabhub: ${name}`;
  if (tab?.recording) return RECORDING[tab.recording];
  if (tab?.waiting) return { text: "you", colour: COLOURS.wait, title: "tabhub: a form in this tab waits for you to submit it" };
  if (tab?.holder) return { text: "you", colour: COLOURS.wait, title: `tabhub: ${waitsForYou(tab.holder)}` };
  switch (state) {
    case "waiting":
      return { text: String(questions(standing2)), colour, title };
    case "connected":
    case "working":
      if (tab?.users.length) return { text: badgeOfWork(1), colour, title: `tabhub: ${using(tab.users)} this tab` };
  }
  const text4 = state === "working" ? badgeOfWork(standing2.working) : badge;
  return { text: text4 || (tab?.tools ? String(tab.tools) : ""), colour, title };
}
var RECORDING = {
  asked: { text: "rec?", colour: COLOURS.wait, title: "tabhub: you are asked whether to record what you do in this tab" },
  on: { text: "rec", colour: COLOURS.bad, title: "tabhub: what you do in this tab is written down" },
  ended: { text: "rec!", colour: COLOURS.wait, title: "tabhub: what you have recorded waits for you to send it" }
};
var badgeOfWork = (calls2) => calls2 > 1 ? `${calls2}…` : "…";
var questions = ({ owner: owner2, waiting }) => Math.max(waiting, owner2.waiting);
function using(users) {
  const [first, second, ...more] = users;
  if (!second) return `${first} is using`;
  return `${first} and ${more.length ? `${more.length + 1} others` : second} are using`;
}
function didWords([{ app, kind, name }, ...more]) {
  const words = kind === "browser" ? `${app} opened this page` : kind === "acts" ? `${app} ${name || "used this page"}` : `${app} used ${name}`;
  return more.length ? `${words}, and ${more.length} more` : words;
}

// worker/activity.ts
var SLOW = 300;
var LINGER = 3e3;
var USED = 1500;
var LONG = 1e3;
var RECENT = 20;
var DELAY = 1e3;
var UNNAMED = "An app";
var ActivityLog = class {
  #tabs = /* @__PURE__ */ new Map();
  /** By the ids of their requests. */
  #open = /* @__PURE__ */ new Map();
  #working = 0;
  #stored = new Stored("uses", () => Object.fromEntries([...this.#tabs].map(([id, { recent }]) => [id, recent])), DELAY);
  #showOverlay;
  #changed;
  /**
   * @param showOverlay called with the clients that are at work in a tab, and with what its overlay says
   * @param changed called when working is another
   */
  constructor(showOverlay2, changed) {
    this.#showOverlay = showOverlay2;
    this.#changed = changed;
  }
  /**
   * Remembers what an earlier worker has seen.
   * @param runs whether a request is still under way
   */
  async load(runs2) {
    for (const [key, before] of Object.entries(await this.#stored.load() ?? {})) {
      const tabId = Number(key);
      const tab = this.#of(tabId);
      for (const use of before) {
        if (use.took === void 0 && runs2(use.id)) this.#opened(tabId, tab, use);
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
  recent(tabId) {
    return this.#tabs.get(tabId)?.recent ?? [];
  }
  /** What the overlay of a tab says of clients, "" for nothing. */
  label(tabId) {
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
  begun(id, tabId, kind, name, acts, app = UNNAMED) {
    const use = { id, kind, name, app, acts, at: Date.now() };
    const tab = this.#of(tabId);
    tab.recent.unshift(use);
    if (tab.recent.length > RECENT) tab.recent.pop();
    this.#opened(tabId, tab, use);
    this.#look(tabId, tab);
    this.#stored.save();
  }
  /** A client's own run has done a step. @param words what was done, such as clicked button "Order" */
  did(id, words) {
    const open2 = this.#open.get(id);
    if (!open2 || open2.use.kind !== "acts") return;
    open2.use.name = words;
    this.#stored.save();
  }
  /** A request is over, or is not known. */
  ended(id, ended) {
    const open2 = this.#open.get(id);
    if (!open2) return;
    const { tabId, use } = open2;
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
  loaded(tabId) {
    const tab = this.#tabs.get(tabId);
    if (tab?.label) this.#showOverlay(tabId, tab.users, tab.label);
  }
  closed(tabId) {
    const tab = this.#tabs.get(tabId);
    if (!tab) return;
    clearTimeout(tab.timer);
    this.#tabs.delete(tabId);
    for (const [id, open2] of this.#open) if (open2.tabId === tabId) this.#open.delete(id);
    this.#work();
    this.#stored.save();
  }
  #opened(tabId, tab, use) {
    this.#open.set(use.id, { tabId, use });
    if (!use.app) return;
    tab.open.add(use);
    setTimeout(() => this.#work(), LONG);
  }
  #of(tabId) {
    let tab = this.#tabs.get(tabId);
    if (!tab) {
      tab = { recent: [], open: /* @__PURE__ */ new Set(), last: 0, users: [], label: "" };
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
  #look(tabId, tab) {
    clearTimeout(tab.timer);
    const now = Date.now();
    const since = (time) => tab.recent.filter(({ app, at: at2, took: took2 = now - at2 }) => app && at2 + took2 > time);
    const lately = since(now - LINGER);
    const [oldest] = tab.open;
    const [latest] = lately;
    const lingers = latest?.acts ? SLOW : LINGER;
    const stays = tab.users.length && now - tab.last < lingers;
    const works = oldest ? tab.users.length || lately.length > 1 || now - oldest.at >= SLOW : stays;
    const seen2 = tab.open.size ? [...tab.open] : lately;
    const users = works ? [...new Set(seen2.map(({ app }) => app))] : [];
    const hasActed = ({ acts, took: took2 }) => acts && took2 !== void 0;
    const { at = 0, took = 0 } = since(now - USED).find(hasActed) ?? {};
    const did = at ? since(at + took - USED).filter(hasActed) : [];
    const label = users.length ? `${using(users)} this page` : did.length ? didWords(did) : "";
    if (label !== tab.label || users.join("\n") !== tab.users.join("\n")) {
      [tab.users, tab.label] = [users, label];
      this.#showOverlay(tabId, users, label);
    }
    const next = oldest ? works ? 0 : oldest.at + SLOW : stays ? tab.last + lingers : at ? at + took + USED : 0;
    if (next) tab.timer = setTimeout(() => this.#look(tabId, tab), Math.max(0, next - now));
  }
};
function endOf({ result = "", error }) {
  return error || result.startsWith('{"success":false') || result.includes('"isError":true') ? "failed" : "done";
}

// worker/retention.ts
var LOADING = 15e3;
var MOMENT = 1500;
var ANSWER = 1e3;
var RETURN = 2e3;
var Retention = class {
  #registrar;
  /** @param registrar notified of changes */
  constructor(registrar) {
    this.#registrar = registrar;
  }
  /** A frame's document has gone, and with it what was reached through it. */
  depart(tab, frame) {
    for (const each of tab.with(frame)) {
      each.unload();
      if (each.empty && !each.port) tab.frames.delete(each.id);
    }
    this.wait(tab, frame);
    if (!frame.port && frame.id !== 0) void this.#lookFor(tab, frame);
    if (frame.id === 0) this.#registrar.next(tab);
    else this.#registrar.soon(tab);
  }
  /**
   * Waits for a frame's document to offer what those before it have offered. One without
   * tools says nothing, and one in a tab that sleeps is not there yet.
   */
  wait(tab, frame) {
    clearTimeout(frame.timer);
    if (tab.discarded || !tab.with(frame).some((each) => each.waits)) return;
    const elsewhere2 = !frame.port && frame.site !== tab.site;
    const loaded = !tab.loading && !frame.awaited;
    frame.timer = setTimeout(() => this.#settle(tab, frame), elsewhere2 ? 0 : loaded ? MOMENT : frame.since + LOADING - Date.now());
  }
  /** The browser says something else of a tab, on which it depends how long is waited. */
  waitAnew(tab, { woken = false } = {}) {
    for (const frame of tab.frames.values()) {
      if (woken) frame.since = Date.now();
      if (!frame.through) this.wait(tab, frame);
    }
    this.awaitMissing(tab);
  }
  /** Waits for the frames that an earlier worker knew. */
  awaitMissing(tab) {
    clearTimeout(tab.returning);
    if (!tab.missing || tab.discarded) return;
    const over = () => {
      tab.missing = void 0;
      this.#registrar.soon(tab);
    };
    tab.returning = setTimeout(over, tab.loading ? LOADING : RETURN);
  }
  /** Waits no longer for a frame whose document has gone if it was removed, and not the whole page. */
  async #lookFor(tab, frame) {
    const [there, info] = await Promise.all([
      documents({ tabId: tab.id, frameIds: [frame.id] }),
      chrome.tabs.get(tab.id).catch(() => void 0)
    ]);
    if (!there.length && !frame.port && info?.status === "complete") this.#settle(tab, frame);
  }
  /** What a frame's unloaded document has offered will not come back. */
  #settle(tab, frame) {
    const over = tab.with(frame);
    if (frame.id === 0) over.push(...[...tab.frames.values()].filter(({ port }) => !port));
    for (const each of over) {
      each.settle();
      if (each.empty && (!each.port || each.through)) tab.frames.delete(each.id);
    }
    this.#registrar.soon(tab);
  }
};
async function documents(target) {
  const answers3 = await askDocuments({ target, func: () => {
  } }, ANSWER);
  return answers3.map(({ documentId }) => documentId);
}

// worker/registrar.ts
var GATHER = 50;
var RATE = 1024;
var MAX_REST = 3e4;
var MAX_REJECTED = 100;
var RETRY = 1e3;
var METHODS = {
  tools: { register: "browser/registerTools", update: "browser/updateTools" },
  resources: { register: "browser/registerResources", update: "browser/updateResources" },
  prompts: { register: "browser/registerPrompts", update: "browser/updatePrompts" }
};
var Registrar = class {
  #hub;
  #settings;
  #sent;
  /**
   * @param sent called with the number of a tab's tools after
   * the hub has them, if it is connected
   */
  constructor(hub2, settings, sent) {
    this.#hub = hub2;
    this.#settings = settings;
    this.#sent = sent;
  }
  /**
   * Sends the hub soon what a tab offers, and of a new tab at once. A tab that offers much is sent
   * more rarely, so that one which does so again and again takes no time from the calls of others.
   */
  soon(tab) {
    tab.timer ??= setTimeout(() => this.#due(tab), Math.max(tab.known ? GATHER : 0, tab.nextAt - Date.now()));
  }
  /** Sends the hub next what a tab offers, however much it was sent of the tab before. */
  next(tab) {
    clearTimeout(tab.timer);
    tab.timer = setTimeout(() => this.#due(tab));
  }
  /** Sends the hub now what it does not have of a tab, and resolves when it has all of it. */
  async now(tab) {
    if (tab.timer !== void 0) this.#due(tab);
    await tab.telling;
  }
  #due(tab) {
    clearTimeout(tab.timer);
    tab.timer = void 0;
    if (!tab.missing?.size) this.#register(tab);
  }
  /** The frames of a tab whose offers count. */
  offering(tab) {
    return tab.offering((origin) => permits(this.#settings(), origin));
  }
  #register(tab) {
    const frames = this.offering(tab);
    const merged = merge(frames);
    const { lists } = merged;
    const size2 = KINDS.reduce((sum, kind) => sum + lists[kind].text.length, 0);
    tab.nextAt = Date.now() + Math.min(size2 / RATE, MAX_REST);
    if (this.#hub.connected) this.#tell(tab, frames, merged);
    this.#sent(tab, lists.tools.count);
  }
  /** @param merged what they offer */
  #tell(tab, frames, { lists, rejected }) {
    const { known } = tab;
    const telling = [];
    tab.unsent = tab.page(this.#settings()).url ? [...rejected, ...tab.leftOut].slice(0, MAX_REJECTED) : rejected;
    for (const kind of KINDS) {
      const text4 = lists[kind].text + (kind === "tools" && tab.unsent.length ? `,"rejected":${JSON.stringify(tab.unsent)}` : "");
      if (text4 === tab.sent[kind]) continue;
      const verb = tab.sent[kind] === "" ? "register" : "update";
      tab.sent[kind] = text4;
      if (text4 === "[]" && verb === "register" && !known) continue;
      tab.known = true;
      tab.refused[kind] = { rejected: [], warnings: [] };
      telling.push(this.#send(tab, kind, METHODS[kind][verb], text4));
    }
    const confirm2 = tab.confirming(frames);
    const told = Promise.all(telling).then((done) => done.includes(false) || confirm2());
    if (telling.length) tab.telling = told;
  }
  /**
   * @param text the list, and what of it is left out
   * @returns whether the hub has it
   */
  async #send(tab, kind, method, text4) {
    const { url, title } = tab.page(this.#settings());
    const page = JSON.stringify({ tabUrl: url, title }).slice(1);
    try {
      const answer2 = await this.#hub.request(method, `{"${kind}":${text4}${page === "}" ? "" : ","}${page}`, tab.id);
      if (tab.sent[kind] === text4) tab.refused[kind] = { rejected: answer2.rejected ?? [], warnings: answer2.warnings ?? [] };
      return true;
    } catch (error) {
      if (tab.sent[kind] !== text4 || !this.#hub.connected) return false;
      tab.refused[kind] = { rejected: [{ name: kind, reason: error instanceof Error ? error.message : String(error) }], warnings: [] };
      if (!(error instanceof Refusal && error.code === Code.Limit)) return false;
      tab.sent[kind] = "";
      setTimeout(() => this.soon(tab), RETRY);
      return false;
    }
  }
};

// worker/tabs.ts
var Tabs = class {
  #tabs = /* @__PURE__ */ new Map();
  /** Tabs that were closed while the hub was not connected. */
  #closed = /* @__PURE__ */ new Set();
  /** The numbers that tabs were given in place of others since the worker was started. */
  #numbers = /* @__PURE__ */ new Map();
  #focused = -1;
  /** The tabs that the hub knows. */
  #stored = new Stored("tabs", () => this.#remembered());
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
  constructor(hub2, standing2, settings, packs2, scripts2, show3) {
    this.#hub = hub2;
    this.#standing = standing2;
    this.#settings = settings;
    this.#packs = packs2;
    this.#scripts = scripts2;
    this.#show = show3;
    this.#registrar = new Registrar(hub2, settings, (tab, tools) => {
      tab.tools = tools;
      show3(tab);
      this.#state(tab);
      this.#stored.save();
    });
    this.#retention = new Retention(this.#registrar);
  }
  /** Remembers the tabs of an earlier worker, and learns which of them are left. */
  async load() {
    const before = await this.#stored.load() ?? {};
    const [open2, last] = await Promise.all([
      chrome.tabs.query({}),
      chrome.windows.getLastFocused({ windowTypes: ["normal"] }).catch(() => void 0)
    ]);
    this.#focused = last?.id ?? -1;
    const ids = new Set(open2.map((tab) => tab.id));
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
    for (const info of open2) this.seen(info);
    for (const tab of this.#tabs.values()) this.#retention.awaitMissing(tab);
  }
  /** Tells a hub that has just said hello all there is. */
  opened() {
    for (const id of this.#closed) this.#hub.notify("browser/tabClosed", {}, id);
    this.#closed.clear();
    for (const tab of this.#tabs.values()) {
      tab.sent = { tools: "", resources: "", prompts: "", state: "" };
      if (tab.discarded) this.#state(tab);
      this.#registrar.next(tab);
    }
  }
  // ---- What the browser says
  seen(info) {
    const tab = info.id === void 0 ? void 0 : this.#tabs.get(info.id);
    if (!tab) return;
    const { site, loading, discarded } = tab;
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
  activated(tabId, windowId) {
    for (const tab of this.#tabs.values()) {
      if (tab.id === tabId) tab.windowId = windowId;
      if (tab.windowId !== windowId) continue;
      tab.active = tab.id === tabId;
      this.#state(tab);
    }
  }
  /** A window of this browser got the focus. When all lose it, the last one counts. */
  focused(windowId) {
    if (windowId === chrome.windows.WINDOW_ID_NONE) return;
    this.#focused = windowId;
    for (const tab of this.#tabs.values()) this.#state(tab);
  }
  removed(tabId) {
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
  async replaced(tabId, before, ready2) {
    this.#numbers.set(before, tabId);
    await ready2;
    const tab = this.#tabs.get(before);
    if (!tab) return;
    this.#tabs.delete(before);
    this.#tabs.set(tabId, tab);
    await this.#stored.write();
    if (this.#tabs.get(tabId) !== tab) return;
    tab.id = tabId;
    tab.replaces = before;
    this.#state(tab);
    for (const frame of tab.frames.values()) {
      if (!frame.port) continue;
      frame.port = void 0;
      this.#retention.depart(tab, frame);
    }
    this.#stored.save();
    this.seen(await chrome.tabs.get(tabId));
  }
  /**
   * Resolves once the hub knows what is there of the documents that a tab shows now, and what has
   * departed.
   */
  async settled(tabId) {
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
  async connected(port) {
    const { tab: info, frameId, documentId, origin } = port.sender ?? {};
    port.postMessage({ type: "hub", ...this.#standing() });
    if (info?.id === void 0 || frameId === void 0 || !origin || !/^https?:/.test(origin)) {
      port.postMessage({ type: "off" });
      if (info && origin === "null") this.#leaveOut(info, port);
      return void 0;
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
  moved({ tabId, frameId, documentId, url }) {
    const tab = this.#tabs.get(tabId);
    const frame = tab?.frames.get(frameId);
    if (!tab || !frame?.port || frame.documentId !== documentId) return this.#packs.tools(url).length > 0 && permitsPage(this.#settings(), url);
    frame.url = url;
    this.#givePacks(tab, frame);
    return false;
  }
  /** Learns where a frame is: its port knows only what the address was when the script came. */
  async #locate(tab, frame) {
    if (this.#packs.any && frame.port) {
      const there = await chrome.webNavigation.getFrame({ tabId: tab.id, frameId: frame.id }).catch(() => null);
      if (there && there.documentId === frame.documentId) frame.url = there.url;
    }
    this.#givePacks(tab, frame);
  }
  /** Gives a frame the tools that packs have for the page that it shows. */
  #givePacks(tab, frame) {
    const { url, origin, documentId } = frame;
    const here = frame.port && isAt(url, origin) && permits(this.#settings(), origin) ? [...this.#packs.tools(url), ...this.#scripts.tools(documentId)] : [];
    const isActive = (tool) => this.#packs.find(packOf(tool)) !== void 0;
    if (frame.takePacked(here, isActive)) this.#registrar.soon(tab);
  }
  /**
   * The script of a pack has other tools in a document.
   * @returns whether the extension is there, so that they are offered
   */
  scripted({ tabId, frameId, documentId }) {
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
  #leaveOut(info, port) {
    if (info.id === void 0) return;
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
  disconnected(frame, port) {
    const tab = this.#tabOf(frame);
    if (!tab || frame.port !== port) return;
    frame.port = void 0;
    this.#state(tab);
    for (const other of tab.frames.values()) {
      if (other.through && other.origin === frame.origin) other.port?.postMessage({ type: "check", origin: frame.origin });
    }
    this.#retention.depart(tab, frame);
  }
  /** A page has opened or closed a dialog. */
  dialog(frame, dialog) {
    const tab = this.#tabOf(frame);
    if (!tab || !permits(this.#settings(), frame.origin)) return;
    frame.dialog = dialog.type ? dialog : void 0;
    this.#state(tab);
  }
  /** A document that runs a call does not answer, or does again. */
  silent(port, silent) {
    const tab = this.#tabs.get(port.sender?.tab?.id ?? chrome.tabs.TAB_ID_NONE);
    const frame = [...tab?.frames.values() ?? []].find((frame2) => !frame2.through && frame2.port === port);
    if (!tab || !frame || frame.silent === silent) return;
    frame.silent = silent;
    this.#state(tab);
  }
  /** @param said about the frame, or the server in a child frame */
  offered(frame, said2) {
    const tab = this.#tabOf(frame);
    if (!tab || !permits(this.#settings(), frame.origin)) return;
    const about = said2.child ? tab.through(frame, said2.child) : frame;
    const first = about.awaited;
    about.take(said2.offer, said2.count);
    if (first && !said2.child) this.#retention.wait(tab, about);
    if (said2.child && about.empty) tab.frames.delete(about.id);
    tab.missing?.delete(about.id);
    this.#registrar.soon(tab);
  }
  /** Tells all frames which hub the browser is to be with, and whether it is. */
  hubChanged() {
    const standing2 = this.#standing();
    for (const tab of this.#tabs.values()) {
      for (const frame of tab.frames.values()) if (!frame.through) post(frame.port, { type: "hub", ...standing2 });
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
  async route(tabId, at, offers, timeout) {
    const asleep = this.#tabs.get(tabId)?.discarded;
    const until = Date.now() + (asleep ? LOADING : timeout);
    for (; ; ) {
      const tab = this.#tabs.get(tabId);
      if (tab?.discarded) await this.#wake(tab);
      const frame = tab?.find(at, (each) => this.permitted(each) && offers(each.offer));
      if (frame?.port && (!frame.through || this.permitted(frame.through.frame))) return { frame, port: frame.port, child: frame.through?.key };
      if (!tab || Date.now() > until || !(asleep || tab.expects(offers))) return void 0;
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  /**
   * Whether the hub has what a document offers; undefined if the document has not said that it
   * may offer anything.
   */
  told(tabId, documentId) {
    const frames = this.#tabs.get(tabId)?.frames.values() ?? [];
    const frame = [...frames].find((frame2) => frame2.port && frame2.documentId === documentId);
    return frame && frame.count > 0 && frame.registered === frame.count;
  }
  /** Whether a call waits for the person in front of a tab. */
  waits(tabId, waiting) {
    const tab = this.#tabs.get(tabId);
    if (!tab || tab.waiting === waiting) return;
    tab.waiting = waiting;
    this.#state(tab);
    this.#show(tab);
  }
  /** Has the browser load a tab that sleeps, which brings it nowhere else. */
  async #wake(tab) {
    tab.discarded = false;
    tab.loading = true;
    this.#retention.waitAnew(tab, { woken: true });
    this.#state(tab);
    await chrome.tabs.reload(tab.id).catch(() => {
    });
  }
  /** Whether the user lets the hub see a frame. */
  permitted({ origin }) {
    return permits(this.#settings(), origin);
  }
  /**
   * What the popup shows of a tab.
   * @param reaches whether the extension is in the tab's top document
   */
  sites(tabId, url, reaches) {
    const settings = this.#settings();
    const tab = this.#tabs.get(tabId);
    const sites = /* @__PURE__ */ new Map();
    const site = (origin) => {
      const known = sites.get(origin);
      if (known) return known;
      const reached = [...tab?.frames.values() ?? []].some((frame) => frame.port && frame.origin === origin);
      const [on, keep2, webmcp] = [permits(settings, origin), keeps(settings, origin), givesWebMCP(settings, origin)];
      const view = { origin, on, keep: keep2, webmcp, reached, tools: [], packs: [], rejected: [] };
      sites.set(origin, view);
      return view;
    };
    if (/^https?:/.test(url)) site(new URL(url).origin).reached ||= reaches;
    const addresses = /* @__PURE__ */ new Set([url, ...[...tab?.frames.values() ?? []].filter(({ port }) => port).map((frame) => frame.url)]);
    for (const address of addresses) {
      for (const pack of this.#packs.views(address)) {
        const { packs: packs2 } = site(new URL(address).origin);
        const problem = pack.on && pack.script ? this.#scripts.problem(pack.hash) : void 0;
        if (!packs2.some(({ hash }) => hash === pack.hash)) packs2.push({ ...pack, problem });
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
  schema({ tabId, frameId, name }) {
    const frame = this.#tabs.get(tabId)?.frames.get(frameId);
    return frame && this.permitted(frame) ? frame.offer.tools.find(isPageTool(name))?.inputSchema : void 0;
  }
  // ---- What is known of them
  #tab(id) {
    let tab = this.#tabs.get(id);
    if (!tab) {
      tab = new Tab(id);
      this.#tabs.set(id, tab);
    }
    return tab;
  }
  #tabOf(frame) {
    const id = frame.port?.sender?.tab?.id;
    for (const tab of id === void 0 ? this.#tabs.values() : [this.#tabs.get(id)]) {
      if (tab?.frames.get(frame.id) === frame) return tab;
    }
    return void 0;
  }
  /** Forgets what a frame offered, as its site may not or does not count any more. */
  #forget(tab, frame) {
    for (const each of tab.with(frame)) {
      each.clear();
      if (each !== frame) tab.frames.delete(each.id);
    }
    if (frame.id === 0) this.#registrar.next(tab);
    else this.#registrar.soon(tab);
  }
  #state(tab) {
    if (!tab.known || !this.#hub.connected || tab.missing?.size && !tab.discarded) return;
    const params = tab.state(this.#focused, this.#settings());
    const text4 = JSON.stringify(params);
    if (text4 === tab.sent.state) return;
    tab.sent.state = text4;
    this.#hub.notify("browser/tabState", params, tab.id);
  }
  #remembered() {
    const out = {};
    for (const [id, tab] of this.#tabs) {
      if (!tab.known) continue;
      const frames = [...tab.frames.values()].filter((frame) => !frame.empty).map((frame) => frame.id);
      out[id] = { frames: [...frames, ...tab.missing ?? []], replaces: tab.id === id ? tab.replaces : tab.id };
    }
    return out;
  }
};
var isPageTool = (name) => (tool) => tool.name === name && !packOf(tool);
function classOf(annotations) {
  const { destructiveHint, consequentialHint, readOnlyHint } = annotations ?? {};
  if (destructiveHint === true || consequentialHint === true) return "destructive";
  return readOnlyHint === true ? "read" : "write";
}

// worker/calls.ts
var LOADING2 = 5e3;
var RETURN2 = 1e4;
var LOOK2 = 50;
var REMIND = 1e4;
var TOKEN = 6e4;
var MAX_INPUT = 1 << 20;
var SHORT = 5;
var MAX_HELD = 64 << 20;
var ABORTED = "ERR_ABORTED";
var MAY_HAVE = "it may have taken effect";
var Calls = class {
  #open = /* @__PURE__ */ new Map();
  /** The frames that run them. */
  #ports = /* @__PURE__ */ new Map();
  #held = /* @__PURE__ */ new Map();
  /** Calls whose document is being looked for. */
  #starting = /* @__PURE__ */ new Set();
  /** Why calls were cancelled whose document was not found yet, or is not back yet. */
  #cancelled = /* @__PURE__ */ new Map();
  #size = 0;
  #stored = new Stored("calls", () => this.#lasting());
  #confirming = false;
  /** Calls whose next document is waited for. */
  #following = /* @__PURE__ */ new Set();
  #reminder;
  #heartbeat = new Heartbeat(
    (port) => [...this.#ports.values()].includes(port),
    (port, silent) => this.#tabs.silent(port, silent)
  );
  #tabs;
  #hub;
  #navigations;
  #activity;
  constructor(tabs2, hub2, navigations2, activity2) {
    this.#tabs = tabs2;
    this.#hub = hub2;
    this.#navigations = navigations2;
    this.#activity = activity2;
  }
  /** Whether a call is under way. */
  runs = (id) => this.#open.has(id);
  /** Remembers the calls of an earlier worker; their documents will come back. */
  async load() {
    const before = Object.entries(await this.#stored.load() ?? {});
    for (const [id, call] of before) if (!this.#open.has(id)) this.#open.set(id, call);
    if (!before.length) return;
    for (const [id] of before) void this.#follow(id, true);
    setTimeout(() => {
      for (const [id, call] of before) if (this.#open.get(id) === call && !this.#ports.has(id) && !isHeld(call)) this.#gone(id);
    }, RETURN2);
  }
  /**
   * Gives a request of the hub to the frame that it is for.
   *
   * One that the hub sends again, because the connection was lost, was sent first at sentAt
   * or later, as Date.now() has it: an earlier worker may have had it.
   */
  async start(message2, sentAt2) {
    const { id = "", tabId, params } = message2;
    if (this.#starting.has(id) || this.#knows(id)) return;
    const asked2 = question(message2);
    this.#starting.add(id);
    const route = await this.#tabs.route(tabId, params, asked2.offers, LOADING2);
    this.#starting.delete(id);
    if (this.#cancelled.delete(id) || this.#knows(id)) return;
    const elsewhere2 = route && "origin" in params && params.origin && route.frame.origin !== params.origin;
    if (!route || elsewhere2) {
      const reason = elsewhere2 ? "the tab shows another site by now" : "the tab, or the frame in it, is not there";
      const error = sentAt2 === void 0 ? { code: Code.TabNotFound, message: reason, data: { delivered: false } } : { code: Code.TabNotFound, message: `${reason}; the call was sent before, and ${MAY_HAVE}` };
      this.#answer(id, tabId, { error });
      return;
    }
    const { port, child } = route;
    this.#take(id, port, message2.method === "browser/executeTool", sentAt2);
    const extensions = "extensions" in params ? params.extensions : void 0;
    port.postMessage({ type: "request", id, child, sentAt: sentAt2, extensions, ...asked2.request });
    if (asked2.kind) {
      const acts = asked2.kind === "tool" && classOf(route.frame.offer.tools.find(({ name }) => name === asked2.request.name)?.annotations) !== "read";
      this.#activity.begun(id, tabId, asked2.kind, asked2.request.name, acts, message2.for);
    }
  }
  /**
   * Notes that a document has a call.
   * @param at when it was sent first
   */
  #take(id, port, tool, at = Date.now()) {
    const { tab, documentId = "", frameId = 0, origin = "" } = port.sender ?? {};
    const call = { tabId: tab?.id ?? 0, frameId, documentId, origin, tool, at, progress: 0 };
    this.#open.set(id, call);
    this.#ports.set(id, port);
    void this.#heartbeat.watch(port);
    this.#stored.save();
    return call;
  }
  #knows(id) {
    return this.#open.has(id) || this.#held.has(id);
  }
  cancel(id, reason) {
    const port = this.#ports.get(id);
    if (port) port.postMessage({ type: "cancel", id, reason });
    else if (!this.#held.has(id)) this.#remember(id, reason);
    this.#close(id);
    this.#activity.ended(id, "cancelled");
  }
  #remember(id, reason) {
    this.#cancelled.set(id, reason);
    setTimeout(() => this.#cancelled.delete(id), LOADING2 * 2);
  }
  // ---- What frames say
  /**
   * A frame has opened its port and says which calls it has.
   * @param hello since when calls come to its script
   */
  hello(port, { calls: calls2, since }) {
    const { tab, documentId } = port.sender ?? {};
    for (const id of calls2) {
      const reason = this.#isElsewhere(id, port) ? "the call goes on in another document" : this.#cancelled.get(id);
      if (reason !== void 0) port.postMessage({ type: "cancel", id, reason });
    }
    for (const [id, call] of this.#open) {
      if (call.tabId !== tab?.id || call.documentId !== documentId) continue;
      if (calls2.includes(id)) {
        this.#ports.set(id, port);
        void this.#heartbeat.watch(port);
        call.leaving = call.submitted = false;
      } else if (!this.#ports.has(id)) {
        if (since < call.at) this.#fail(id, "the call did not reach the page", { delivered: false });
        else this.#fail(id, `the page's script was replaced after the call was sent; ${MAY_HAVE}`);
      }
    }
  }
  answered(port, answer2) {
    const { id } = answer2;
    const held = this.#held.get(id);
    if (held) held.port = port;
    const tabId = port.sender?.tab?.id;
    if (held || tabId === void 0 || this.#isElsewhere(id, port)) return;
    if (this.#open.get(id)?.resumed && answer2.result && !answer2.leaving) return void this.#answerHere(id, answer2, port);
    if (answer2.leaving && answer2.result) {
      const call = this.#open.get(id) ?? this.#take(id, port, true);
      call.leaving = true;
      call.answer = answer2;
      void this.#follow(id);
    } else this.#answer(id, tabId, answer2, port);
  }
  progressed(port, { id, progress, total, message: message2 }) {
    const call = this.#open.get(id);
    if (!call || this.#isElsewhere(id, port)) return;
    call.progress = progress;
    this.#hub.notify("browser/progress", { requestId: id, progress, total, message: message2 }, port.sender?.tab?.id);
  }
  /** Whether a document beside the one of a port has a call. */
  #isElsewhere(id, port) {
    const call = this.#open.get(id);
    return call !== void 0 && call.documentId !== port.sender?.documentId;
  }
  /** A call waits for the person in front of its tab, or does not any more. */
  waits(port, { id, on }) {
    const call = this.#open.get(id);
    if (!call || this.#isElsewhere(id, port)) return;
    call.waiting = on;
    this.#stored.save();
    if (!on) {
      this.#tellWaiting(call.tabId);
      this.#report(id, call, { message: "the person has answered" });
      return;
    }
    this.#tabs.waits(call.tabId, true);
    this.#remind(id, call);
  }
  #remindAll() {
    const waiting = [...this.#open].filter(([, call]) => call.waiting || isHeld(call));
    for (const [id, call] of waiting) this.#remind(id, call);
    if (waiting.length) return;
    clearInterval(this.#reminder);
    this.#reminder = void 0;
  }
  #remind(id, call) {
    this.#reminder ??= setInterval(() => this.#remindAll(), REMIND);
    const forPerson = { waiting: true, message: "waiting for the person in front of the tab" };
    this.#report(id, call, call.waiting ? forPerson : { message: "the tool goes on in another document of the page" });
  }
  #report(id, call, what) {
    call.progress++;
    this.#hub.notify("browser/progress", { requestId: id, progress: call.progress, ...what }, call.tabId);
  }
  /** A call leads to another document. */
  leaving(port, { id, submitted }) {
    const call = this.#open.get(id);
    if (!call?.tool || this.#isElsewhere(id, port)) return;
    call.leaving = true;
    call.submitted = submitted;
    this.#stored.save();
  }
  /** The tool of a call has taken a token. The page gets it once that is written down: it may go at once. */
  async took(port, { id, token, input }) {
    const call = this.#open.get(id);
    const kept = call?.tool === true && !this.#isElsewhere(id, port) && input.length <= MAX_INPUT;
    if (kept) {
      call.token = { value: token, until: Date.now() + TOKEN, input };
      this.#remind(id, call);
      await this.#stored.write();
    }
    post(port, { type: "kept", token, kept });
  }
  /**
   * A document resumes a call with its token: from here the call is that document's, unless it is
   * beside the one that has it.
   */
  async resume(port, { token, beside }) {
    const { tab, documentId = "", frameId = 0, origin } = port.sender ?? {};
    const isMeant = (call2) => call2.token?.value === token && call2.tabId === tab?.id && call2.origin === origin;
    const [id, call] = [...this.#open].find(([, call2]) => isMeant(call2)) ?? [];
    if (!id || !call || !isHeld(call)) {
      post(port, { type: "resumed", token });
      return;
    }
    const { input } = call.token;
    call.token = void 0;
    if (!beside) {
      const left = this.#ports.get(id);
      if (left && left !== port) post(left, { type: "done", ids: [id] });
      Object.assign(call, { documentId, frameId, resumed: true, waiting: false, leaving: false, submitted: false, answer: void 0, failed: void 0 });
      this.#tellWaiting(call.tabId);
      this.#ports.set(id, port);
      void this.#heartbeat.watch(port);
    }
    await this.#stored.write();
    post(port, { type: "resumed", token, id, input });
  }
  /** A document stays that was to give way to another one. */
  staying(port) {
    for (const [id, call] of this.#open) if (this.#ports.get(id) === port) call.leaving = call.submitted = false;
    this.#stored.save();
  }
  /**
   * The browser could not show a document. It loads such an address again by itself, and a load of
   * that kind that is given up says nothing.
   */
  failed({ tabId, frameId, url, error }) {
    for (const call of this.#open.values()) {
      if (call.failed && error === `net::${ABORTED}`) continue;
      if (call.tool && call.tabId === tabId && call.frameId === frameId) call.failed = { url, error };
    }
  }
  /** The port of a document was closed: the page has gone, or sleeps in the cache. */
  disconnected(port) {
    for (const [id, other] of this.#ports) {
      if (other !== port) continue;
      this.#ports.delete(id);
      void this.#follow(id);
    }
    for (const held of this.#held.values()) if (held.port === port) held.port = void 0;
  }
  // ---- What the hub has
  /** A connection is open: the hub may have missed what was sent over the last one. */
  opened() {
    for (const held of this.#held.values()) held.sent = this.#hub.send(held.text);
  }
  /** Lets go, from time to time, of the answers that the hub has. */
  async confirm() {
    const sent = [...this.#held].filter(([, held]) => held.sent);
    if (this.#confirming || !sent.length) return;
    this.#confirming = true;
    const arrived = await this.#hub.request("browser/ping", {}).then(
      () => true,
      () => false
    );
    this.#confirming = false;
    const done = /* @__PURE__ */ new Map();
    for (const [id, held] of arrived ? sent : []) if (this.#held.get(id) === held) this.#drop(id, done);
    for (const [port, ids] of done) post(port, { type: "done", ids });
  }
  /**
   * Answers a call whose document gives way to another one, or has, with what that one brings. If
   * none follows, the call ends as its document says, or went away.
   * @param restored of an earlier worker: its document may come back
   */
  async #follow(id, restored = false) {
    const call = this.#open.get(id);
    if (!call || this.#following.has(id)) return;
    if (!call.tool) {
      if (!restored) this.#gone(id);
      return;
    }
    this.#following.add(id);
    if (!restored) this.#report(id, call, { message: "the page is loading another one" });
    const wanted = () => this.#open.get(id) === call && (!this.#ports.has(id) || call.leaving === true && call.answer !== void 0);
    const left = { ...call };
    while (isHeld(call) && wanted()) await new Promise((done) => setTimeout(done, LOOK2));
    const found2 = await this.#navigations.after(left, wanted);
    this.#following.delete(id);
    if (this.#open.get(id) !== call) return;
    const { tabId, leaving, submitted, answer: answer2, failed, token } = call;
    const port = this.#ports.get(id);
    const next = failed && !found2?.read ? this.#navigations.failed(failed) : found2;
    const error = next?.page.error !== void 0 && next.page.error !== ABORTED;
    const nothing2 = answer2 ? answer2.nothing : submitted;
    if (next?.data && (nothing2 || leaving && !answer2)) {
      this.#answer(id, tabId, { result: outcome(true, { content: [{ type: "text", text: next.data }] }, next) }, port);
    } else if (port && !answer2) {
      return;
    } else if (next && error && nothing2) {
      this.#answer(id, tabId, { result: outcome(false, submitted ? "the form was submitted, but its page did not load" : "the tool led to a page that did not load", next) }, port);
    } else if (next && error && answer2) {
      this.#answer(id, tabId, { result: withPage(answer2.result?.replace(/^\{"success":true/, '{"success":false'), next) }, port);
    } else if (next?.read && nothing2) {
      this.#answer(id, tabId, { result: outcome(true, { content: [] }, next) }, port);
    } else if (answer2) {
      this.#answer(id, tabId, { result: next ? withPage(answer2.result, next) : answer2.result }, port);
    } else if (next?.read || next && error) {
      const why = token ? "the page went to another document, which has not resumed the call with its token" : "the page went to another document before the tool answered";
      this.#answer(id, tabId, { result: outcome(false, `${why}; ${MAY_HAVE}`, next) });
    } else if (!restored || token) {
      this.#gone(id);
    }
  }
  /** Answers a call in another document than that which it was sent to. */
  async #answerHere(id, answer2, port) {
    const call = this.#open.get(id);
    const page = await this.#navigations.here(call);
    if (this.#open.get(id) === call) this.#answer(id, call.tabId, { result: withPage(answer2.result, { page }) }, port);
  }
  #gone(id) {
    this.#fail(id, `the page went away after the call was sent; ${MAY_HAVE}`);
  }
  #fail(id, message2, data) {
    const tabId = this.#open.get(id)?.tabId ?? 0;
    this.#answer(id, tabId, { error: { code: Code.TabNotFound, message: message2, data } });
  }
  #answer(id, tabId, answer2, port) {
    this.#close(id);
    this.hold(id, tabId, answer2, { ended: endOf(answer2), port });
  }
  /**
   * Answers a request of the hub, and keeps the answer until the hub has it.
   * @param held how it has ended, and who keeps it, too
   */
  hold(id, tabId, { result, error }, { ended, ...held }) {
    const body = error ? `"error":${JSON.stringify(error)}` : `"result":${result ?? "{}"}`;
    const text4 = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"tabId":${tabId},${body}}`;
    this.#held.set(id, { text: text4, ...held, sent: this.#hub.send(text4) });
    this.#size += text4.length;
    for (const oldest of this.#held.keys()) {
      if (this.#size <= MAX_HELD) break;
      this.#drop(oldest, /* @__PURE__ */ new Map());
    }
    this.#activity.ended(id, ended);
  }
  /**
   * The calls that the next worker must know of. Most end so soon that they need not be written,
   * and results never are.
   */
  #lasting() {
    const now = Date.now();
    const lasting = [...this.#open].filter(([, { at, token }]) => token || now - at >= SHORT);
    if (lasting.length < this.#open.size) this.#stored.save();
    return Object.fromEntries(lasting.map(([id, { answer: _, ...call }]) => [id, call]));
  }
  #close(id) {
    this.#ports.delete(id);
    const call = this.#open.get(id);
    if (!call) return;
    this.#open.delete(id);
    this.#stored.save();
    if (call.waiting) this.#tellWaiting(call.tabId);
  }
  #tellWaiting(tabId) {
    this.#tabs.waits(tabId, [...this.#open.values()].some((call) => call.waiting && call.tabId === tabId));
  }
  #drop(id, done) {
    const held = this.#held.get(id);
    if (!held) return;
    this.#held.delete(id);
    this.#size -= held.text.length;
    held.confirmed?.();
    if (!held.port) return;
    const ids = done.get(held.port) ?? [];
    ids.push(id);
    done.set(held.port, ids);
  }
};
function question({ method, params }) {
  switch (method) {
    case "browser/readResource":
      return { offers: servesResources, request: { ask: "read", name: params.uri }, kind: "resource" };
    case "browser/subscribeResource":
      return { offers: servesResources, request: { ask: "subscribe", name: params.uri, on: params.subscribe } };
    case "browser/getPrompt":
      return {
        offers: ({ prompts }) => prompts.some(({ name }) => name === params.name),
        request: { ask: "prompt", name: params.name, args: params.args },
        kind: "prompt"
      };
    case "browser/complete": {
      const { ref, argument, context } = params;
      const name = ref.name ?? ref.uri ?? "";
      return {
        offers: ({ prompts, resources }) => [...prompts, ...resources].some((item) => (item.uriTemplate ?? item.name) === name),
        request: { ask: "complete", name, about: { ref, argument, context } }
      };
    }
    case "browser/executeTool":
      return {
        offers: ({ tools }) => tools.some(isPageTool(params.toolName)),
        request: { ask: "tool", name: params.toolName, args: params.args },
        kind: "tool"
      };
  }
}
function outcome(success, payload, { page }) {
  return JSON.stringify({ success, payload, page });
}
function withPage(result, { page }) {
  return `${result?.slice(0, -1)},"page":${JSON.stringify(page)}}`;
}
function isHeld({ token }) {
  return token !== void 0 && Date.now() < token.until;
}
function servesResources(offer) {
  return offer.resources.length > 0;
}

// worker/pageidle.ts
var QUIET = 1e3;
var QUIET_HIDDEN = 1500;
var LOOK3 = 100;
var LOOK_LATER = 250;
var LATER = 5e3;
var BUSY2 = 2e3;
var REFUSALS = 10;
async function waitUntilIdle({ tabId, waitMs, check, refused }, signal) {
  const began = performance.now();
  let quiet = began;
  let changes2 = 0;
  let refusals = 0;
  let before = {};
  for (; ; ) {
    const tab = await check();
    const now = await look2(tabId);
    if (signal.aborted) return await new Promise(() => {
    });
    const loading = tab.status !== "complete" || !!tab.pendingUrl || !now.ready;
    if (now.refused && !loading && ++refusals > REFUSALS) throw refused();
    if (!now.refused) refusals = 0;
    const time = performance.now();
    if (loading || now.document !== before.document || now.changes !== before.changes || now.requests !== before.requests) quiet = time;
    if (now.document === before.document) changes2 += (now.changes ?? 0) - (before.changes ?? 0);
    before = now;
    const enough = now.hidden ? QUIET_HIDDEN : QUIET;
    if (!now.refused && time - quiet >= enough) return { rested: true };
    if (time - began >= waitMs) return { rested: false, loading, busy: !!now.busy, changes: changes2 };
    await new Promise((resolve) => setTimeout(resolve, time - began < LATER ? LOOK3 : LOOK_LATER));
  }
}
function look2(tabId) {
  const seen2 = chrome.scripting.executeScript({ target: { tabId }, injectImmediately: true, func: seeDocument }).then(
    ([frame]) => frame?.result ?? { refused: true },
    () => ({ refused: true, ready: true })
  );
  return Promise.race([seen2, new Promise((resolve) => setTimeout(resolve, BUSY2, { busy: true }))]);
}
function seeDocument() {
  const world = globalThis;
  if (!world.tabhubSeen) {
    const seen2 = { document: Math.random(), changes: 0, requests: 0, asked: 0 };
    world.tabhubSeen = seen2;
    const stopLate = () => {
      if (performance.now() - seen2.asked < 1e4) return;
      mutations.disconnect();
      requests2.disconnect();
      delete world.tabhubSeen;
    };
    const requests2 = new PerformanceObserver((ended) => {
      seen2.requests += ended.getEntries().length;
      stopLate();
    });
    requests2.observe({ type: "resource" });
    const mutations = new MutationObserver((changes3) => {
      seen2.changes += changes3.length;
      stopLate();
    });
    mutations.observe(document, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
      attributeFilter: ["aria-busy", "disabled", "hidden", "src"]
      // others change with every animation
    });
  }
  world.tabhubSeen.asked = performance.now();
  const { document: number3, changes: changes2, requests } = world.tabhubSeen;
  return { document: number3, changes: changes2, requests, ready: document.readyState === "complete", hidden: document.hidden };
}

// worker/tabgroups.ts
var COLOURS2 = ["blue", "red", "yellow", "green", "pink", "purple", "cyan", "orange"];
var MAX_GROUPS = 256;
var TabGroups = class {
  #groups = /* @__PURE__ */ new Map();
  /** What is done next in a group comes after this. */
  #last = /* @__PURE__ */ new Map();
  #stored = new Stored("rooms", () => Object.fromEntries(this.#groups));
  #settings;
  constructor(settings) {
    this.#settings = settings;
  }
  async load() {
    for (const [id, room] of Object.entries(await this.#stored.load() ?? {})) this.#groups.set(id, room);
  }
  /** Whether a session has opened a tab in its group. */
  has(tabId) {
    return this.#of(tabId) !== void 0;
  }
  /**
   * Opens a tab in a session's group, which it makes if need be.
   * @param active whether the tab is to be the active one of its window
   */
  open({ id, title }, url, active) {
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
  end(id, close) {
    return this.#next(id, async () => {
      const room = this.#groups.get(id);
      if (!room) return { closed: 0, kept: 0 };
      const open2 = (await chrome.tabs.query({})).filter((tab) => tab.id !== void 0 && room.tabs.includes(tab.id));
      let closed = 0;
      for (const tab of close ? open2 : []) {
        const unseen = !permitsPage(this.#settings(), tab.url ?? "");
        if (tab.id === void 0 || unseen || belongsToOwner(tab, tab.id, room)) continue;
        await unlessStopping(chrome.tabs.remove(tab.id), () => {
        });
        closed++;
      }
      if (room.place !== void 0) await markEnded(id, room, room.place);
      this.#groups.delete(id);
      await this.#stored.write();
      return { closed, kept: open2.length - closed };
    });
  }
  /** The owner has used a tab. */
  usedByHand(tabId) {
    const room = this.#of(tabId);
    if (!room || room.byHand.includes(tabId)) return;
    room.byHand.push(tabId);
    this.#stored.save();
  }
  closed(tabId) {
    const room = this.#of(tabId);
    if (!room) return;
    room.tabs = room.tabs.filter((id) => id !== tabId);
    room.byHand = room.byHand.filter((id) => id !== tabId);
    this.#stored.save();
  }
  /** A tab has another number now. */
  replaced(tabId, before) {
    const room = this.#of(before);
    if (!room) return;
    const now = (id) => id === before ? tabId : id;
    room.tabs = room.tabs.map(now);
    room.byHand = room.byHand.map(now);
    this.#stored.save();
  }
  #of(tabId) {
    for (const room of this.#groups.values()) if (room.tabs.includes(tabId)) return room;
    return void 0;
  }
  #next(id, act) {
    const done = (this.#last.get(id) ?? Promise.resolve()).then(act);
    const settled = done.catch(() => {
    }).then(() => this.#last.get(id) === settled && this.#last.delete(id));
    this.#last.set(id, settled);
    return done;
  }
  async #opened(room, tab) {
    if (tab?.id !== void 0) room.tabs.push(tab.id);
    await this.#stored.write();
    return tab;
  }
  async #openInGroup(id, room, url, active) {
    const group = await this.#group(id, room);
    const tab = await create(url, active, group?.windowId);
    await this.#opened(room, tab);
    if (tab?.id === void 0 || room.dissolved || !chrome.tabGroups) return tab;
    if (group) await chrome.tabs.group({ groupId: group.id, tabIds: tab.id });
    else {
      room.place = await chrome.tabs.group({ tabIds: tab.id, createProperties: { windowId: tab.windowId } });
      await this.#stored.write();
      await chrome.tabGroups.update(room.place, { title: room.title, color: colourOf(id) });
    }
    return tab;
  }
  /** The browser's group, if there is one. */
  async #group(id, room) {
    if (!chrome.tabGroups) return void 0;
    if (room.place === void 0) {
      const known = new Set([...this.#groups.values()].map(({ place: place2 }) => place2));
      const alike = await chrome.tabGroups.query({ color: colourOf(id) });
      const group2 = alike.find((group3) => group3.title === room.title && !known.has(group3.id));
      room.place = group2?.id;
      return group2;
    }
    const group = await unlessStopping(chrome.tabGroups.get(room.place), () => void 0);
    if (group) return group;
    room.dissolved = room.tabs.length > 0;
    if (!room.dissolved) room.place = void 0;
    return void 0;
  }
};
async function create(url, active, windowId) {
  if ((await chrome.windows.getAll({ windowTypes: ["normal"] })).length) return chrome.tabs.create({ url, active, windowId });
  return (await chrome.windows.create({ url, focused: active }))?.tabs?.[0];
}
function belongsToOwner(tab, tabId, { place: place2, byHand }) {
  return byHand.includes(tabId) || tab.pinned || tab.active || tab.groupId !== place2;
}
async function markEnded(id, { title }, place2) {
  const group = await unlessStopping(chrome.tabGroups.get(place2), () => void 0);
  if (!group) return;
  const changes2 = {
    ...group.title === title && { title: `${title} (ended)` },
    ...group.color === colourOf(id) && { color: "grey" }
  };
  await unlessStopping(chrome.tabGroups.update(place2, changes2), () => {
  });
}
function colourOf(id) {
  const sum = [...id].reduce((sum2, letter) => sum2 + letter.charCodeAt(0), 0);
  return COLOURS2[sum % COLOURS2.length];
}

// worker/control.ts
var LOAD = 5e3;
var MAX_TEXT = 2 << 20;
var METHODS2 = {
  "browser/openTab": openTab,
  "browser/endRoom": (_, { room, close = false }, __, rooms) => rooms.end(room, close),
  "browser/activateTab": activateTab,
  "browser/closeTab": closeTab,
  "browser/listTabs": listTabs,
  "browser/navigate": navigate,
  "browser/text": text2,
  "browser/rest": pageIdle
};
var hasTrustedInput = chrome.runtime.getManifest().permissions?.includes("debugger") === true;
var CAPABILITIES = [
  "openTab",
  "activateTab",
  "closeTab",
  "listTabs",
  "navigate",
  "screenshot",
  "text",
  "rest",
  "resume",
  "room",
  "hold",
  "packs",
  "look"
];
if (hasTrustedInput) CAPABILITIES.push("trustedInput");
if (!navigator.userAgent.includes("HeadlessChrome")) CAPABILITIES.push("ask");
function control({ method, tabId, params }, settings, rooms, signal) {
  if (!Object.hasOwn(METHODS2, method)) return void 0;
  const does = METHODS2[method];
  return does(tabId, params, settings, rooms, signal);
}
function webAddress(url, settings) {
  if (typeof url !== "string" || !URL.canParse(url) || !/^https?:/.test(new URL(url).protocol)) {
    throw new Refusal(Code.InvalidParams, "only http and https addresses can be opened");
  }
  if (!permitsPage(settings(), url)) throw notShared();
  return url;
}
async function existing(tabId, ifOrigin) {
  const tab = await unlessStopping(chrome.tabs.get(tabId), () => {
    throw new Refusal(Code.TabNotFound, "the tab is not open");
  });
  if (!isAt(tab.url, ifOrigin)) throw elsewhere();
  return tab;
}
async function opened(tabId) {
  const isEmpty2 = ({ url, status }) => status === "loading" && (!url || url === "about:blank");
  if (!isEmpty2(await existing(tabId))) return;
  const loaded = loads(tabId);
  if (isEmpty2(await existing(tabId))) await loaded;
}
async function awake(tabId) {
  if (!isAsleep(await existing(tabId))) return;
  const loaded = loads(tabId);
  await chrome.tabs.reload(tabId);
  await loaded;
}
async function openTab(_, { url, active, wake, room }, settings, rooms) {
  const address = webAddress(url, settings);
  const asleep = wake ? await sleeping(address) : void 0;
  if (asleep?.id !== void 0) {
    await chrome.tabs.reload(asleep.id);
    if (active) await activateTab(asleep.id, {});
    return { tabId: asleep.id };
  }
  const tab = await (room ? rooms.open(room, address, active) : create(address, active));
  if (active && tab) await chrome.windows.update(tab.windowId, { focused: true });
  if (tab?.id === void 0) throw new Refusal(Code.Internal, "the browser opened no tab");
  return { tabId: tab.id };
}
async function sleeping(address) {
  const { href, origin } = new URL(address);
  const tabs2 = (await chrome.tabs.query({})).filter((tab) => isAsleep(tab) && URL.canParse(tab.url ?? ""));
  const at = (tab) => new URL(tab.url ?? "");
  const page = (url) => url.split("#")[0];
  return tabs2.find((tab) => page(at(tab).href) === page(href)) ?? (href === `${origin}/` ? tabs2.find((tab) => at(tab).origin === origin) : void 0);
}
async function activateTab(tabId, { ifOrigin }) {
  const { windowId } = await existing(tabId, ifOrigin);
  await chrome.tabs.update(tabId, { active: true });
  await chrome.windows.update(windowId, { focused: true });
  return {};
}
async function closeTab(tabId, { ifOrigin }) {
  await existing(tabId, ifOrigin);
  await chrome.tabs.remove(tabId);
  return {};
}
async function listTabs(_, __, settings) {
  const tabs2 = await chrome.tabs.query({});
  return {
    tabs: tabs2.map((tab) => {
      const { id = chrome.tabs.TAB_ID_NONE, windowId, index, url = "", title = "", active } = tab;
      const said2 = permitsPage(settings(), url) ? { url: withoutSecret(url), title: withoutSecret(title) } : { url: "", title: "" };
      return { tabId: id, windowId, index, ...said2, active, discarded: isAsleep(tab), navigating: !!tab.pendingUrl };
    })
  };
}
async function navigate(tabId, { url, back, forward, reload, ifOrigin }, settings) {
  const before = await existing(tabId, ifOrigin);
  if (!url && !back && !forward && !reload) throw new Refusal(Code.InvalidParams, "say one of url, back, forward and reload");
  const address = url ? webAddress(url, settings) : "";
  const other = before.status === "loading" ? before.pendingUrl ?? before.url : void 0;
  const loaded = loads(tabId, address && other !== address ? other : void 0);
  let reason = "the browser shows an error instead";
  const failed = (what) => {
    if (what.tabId === tabId && what.frameId === 0 && what.error !== "net::ERR_ABORTED") reason = what.error.replace(/^net::/, "");
  };
  chrome.webNavigation.onErrorOccurred.addListener(failed);
  void loaded.then(() => chrome.webNavigation.onErrorOccurred.removeListener(failed));
  if (address) await chrome.tabs.update(tabId, { url: address });
  else if (reload) await chrome.tabs.reload(tabId);
  else await travel(tabId, back ? -1 : 1);
  if (await loaded) {
    if (await isErrorPage(tabId)) throw new Refusal(Code.Internal, `the page cannot be loaded: ${reason}`);
    return {};
  }
  if (back || forward) throw new Refusal(Code.InvalidParams, "there is no page to go to");
  const { url: shown, status } = await existing(tabId);
  await answers(tabId);
  if (status === "loading" && address && shown !== address && (shown === before.url || shown === other)) {
    throw new Refusal(Code.Internal, `the address has not answered within ${LOAD / 1e3} s; the tab goes on waiting for it`);
  }
  if (status === "complete") {
    throw new Refusal(Code.Internal, "the address led to no page (it may be a download); the tab shows what it did before");
  }
  return {};
}
var BLOCKED = "the page does not answer: it is busy, or a dialog of it (or its question whether to leave) is open in the tab, which the person there has to answer";
async function answers(tabId) {
  const tried = chrome.scripting.executeScript({ target: { tabId }, injectImmediately: true, func: () => {
  } }).then(
    () => true,
    () => true
  );
  if (!await Promise.race([tried, new Promise((resolve) => setTimeout(resolve, 1e3, false))])) throw new Refusal(Code.Internal, BLOCKED);
}
function isErrorPage(tabId) {
  const tried = chrome.scripting.executeScript({ target: { tabId }, injectImmediately: true, func: () => true }).then(() => false).catch((error) => /error page/.test(String(error)));
  return Promise.race([tried, new Promise((resolve) => setTimeout(resolve, 1e3, false))]);
}
async function travel(tabId, step) {
  try {
    await (step < 0 ? chrome.tabs.goBack(tabId) : chrome.tabs.goForward(tabId));
  } catch {
    await chrome.scripting.executeScript({ target: { tabId }, func: (n) => history.go(n), args: [step] }).catch(() => {
      throw new Refusal(Code.Unsupported, "the browser does not let extensions move this tab");
    });
  }
}
function loads(tabId, other) {
  return new Promise((resolve) => {
    const listener = (id, info, tab) => {
      if (id === tabId && info.status === "complete" && !tab.pendingUrl && (!other || tab.url !== other)) stop(true);
    };
    const stop = (loaded) => {
      clearTimeout(timer);
      chrome.tabs.onUpdated.removeListener(listener);
      resolve(loaded);
    };
    const timer = setTimeout(stop, LOAD, false);
    chrome.tabs.onUpdated.addListener(listener);
  });
}
async function text2(tabId, { ifOrigin }, settings) {
  await awake(tabId);
  await answers(tabId);
  const read2 = chrome.scripting.executeScript({
    target: { tabId },
    injectImmediately: true,
    // not when the page has loaded, which may be never
    func: (limit) => ({
      origin: self.origin,
      url: location.href,
      text: (document.body?.innerText ?? "").slice(0, limit)
    }),
    args: [MAX_TEXT]
  });
  const [frame] = await unlessStopping(read2, () => {
    throw new Refusal(Code.Unsupported, "the browser does not let extensions read this page");
  });
  if (!frame?.result || !permitsDocument(settings(), frame.result)) throw notShared();
  if (!isAt(frame.result.url, ifOrigin)) throw elsewhere();
  return { text: String(frame.result.text) };
}
async function pageIdle(tabId, { waitMs, ifOrigin }, settings, _, signal) {
  await awake(tabId);
  const check = async () => {
    const tab = await existing(tabId, ifOrigin);
    if (!permitsPage(settings(), tab.url ?? "")) throw notShared();
    return tab;
  };
  const refused = () => new Refusal(Code.Unsupported, "the browser does not let extensions look at this page: it may be an error of the browser, or a page of its own");
  return waitUntilIdle({ tabId, waitMs, check, refused }, signal);
}

// worker/webmcp.ts
var BUSY3 = 300;
var seen = false;
async function webMCPProvider() {
  const known = async () => (await chrome.storage.local.get("webmcp")).webmcp;
  if (!await known()) {
    const [tab] = await chrome.tabs.query({ url: ["https://*/*", "http://localhost/*", "http://127.0.0.1/*"], discarded: false });
    const looked = tab?.id !== void 0 && lookForWebMCP({ tabId: tab.id });
    await Promise.race([looked, new Promise((done) => setTimeout(done, BUSY3))]);
  }
  return known();
}
async function lookForWebMCP(target) {
  if (seen) return;
  try {
    const func = () => isSecureContext ? Object.hasOwn(window, "ModelContext") ? "browser" : "extension" : void 0;
    const [{ result }] = await chrome.scripting.executeScript({ target, func, injectImmediately: true });
    if (!result || seen) return;
    seen = true;
    await chrome.storage.local.set({ webmcp: result });
  } catch {
  }
}

// worker/gateways.ts
var LOADED = 30;
var QUIET2 = 70;
var LOADING3 = 100;
var MAX_LOADING = 3e4;
var PUT_OFF = 300;
var RECENT2 = 6e4;
var AT_ONCE = { injectImmediately: true };
var Gateways = class {
  #settings;
  /** What is to be done next in a tab, by its id. */
  #next = /* @__PURE__ */ new Map();
  constructor(settings) {
    this.#settings = settings;
  }
  /** Takes what the browser says of a tab. */
  seen(id, { status }) {
    if (!status || sharesNone(this.#settings())) return;
    if (status === "loading") this.#whileLoading(id, LOADING3);
    else this.#after(id, LOADED, () => this.#loaded(id));
  }
  /**
   * Places the gateway in all tabs that have loaded.
   * @param which only in those that the user was at lately
   */
  async everywhere({ recent = false } = {}) {
    if (sharesNone(this.#settings())) return;
    const since = recent ? Date.now() - RECENT2 : 0;
    for (const { id, lastAccessed = Infinity } of await chrome.tabs.query({ status: "complete", discarded: false })) {
      if (id !== void 0 && lastAccessed >= since) void this.place(id);
    }
  }
  /**
   * Places the gateway in a tab's top document, where it starts once and is passed the signs that
   * were given before.
   * @returns false if the document is closed to extensions
   */
  async place(id) {
    try {
      const { documentId } = await run({ target: { tabId: id }, files: ["content/gateway.js"], ...AT_ONCE });
      const target = { tabId: id, documentIds: [documentId] };
      void lookForWebMCP(target);
      const settings = this.#settings();
      const shared2 = permitsAll(settings) || permits(settings, String((await run({ target, func: () => self.origin, ...AT_ONCE })).result));
      if (shared2 && await hasSigns(target)) await run({ target, func: () => globalThis.tabhubGateway?.join(), ...AT_ONCE });
      return true;
    } catch {
      return false;
    }
  }
  #whileLoading(id, ms) {
    this.#after(id, ms, async () => {
      await this.place(id);
      const tab = await chrome.tabs.get(id).catch(() => void 0);
      if (tab?.status === "loading" && ms < MAX_LOADING) this.#whileLoading(id, ms * 2);
    });
  }
  async #loaded(id) {
    const signs = !permitsAll(this.#settings()) || await hasSigns({ tabId: id }).catch(() => false);
    if (signs) await this.place(id);
    else this.#after(id, QUIET2, () => this.place(id));
  }
  /** Acts in a tab after a time, instead of what was to be done there next. */
  #after(id, ms, act) {
    const now = Date.now();
    const { since = now, timer } = this.#next.get(id) ?? {};
    clearTimeout(timer);
    const then = () => {
      this.#next.delete(id);
      act();
    };
    this.#next.set(id, { since, timer: setTimeout(then, Math.min(ms, since + PUT_OFF - now)) });
  }
};
async function hasSigns(target) {
  const look3 = () => {
    "use strict";
    try {
      return !delete window.tabhubSigns;
    } catch {
      return true;
    }
  };
  return (await run({ target, world: "MAIN", func: look3, ...AT_ONCE })).result === true;
}
async function run(injection) {
  const [done] = await chrome.scripting.executeScript(injection);
  return done;
}

// worker/userinput.ts
var INPUT_QUIET = 1e4;
var LATE = 300;
var EVERY = 1e3;
var UserInput = class {
  /** The tabs that are used, each with the timer of its end. */
  #at = /* @__PURE__ */ new Map();
  /** Tabs that are given input by this extension, and how often at once. */
  #own = /* @__PURE__ */ new Map();
  #settings;
  #watched;
  #changed;
  /**
   * @param watched whether a tab is to be watched
   * @param changed called when the owner begins or ends to use a tab
   */
  constructor(settings, watched, changed) {
    this.#settings = settings;
    this.#watched = watched;
    this.#changed = changed;
  }
  isActive(tabId) {
    return this.#at.has(tabId);
  }
  /**
   * From now on input in a tab is not the owner's.
   * @returns what ends that
   */
  own(tabId) {
    const add = (n) => {
      const times = (this.#own.get(tabId) ?? 0) + n;
      if (times) this.#own.set(tabId, times);
      else this.#own.delete(tabId);
    };
    add(1);
    return () => void setTimeout(add, LATE, -1);
  }
  /**
   * Looks at a tab that is watched from now on, or shows other documents. A page that is loading is not
   * waited for.
   */
  async watch(tabId) {
    if (!this.#watched(tabId)) return;
    try {
      const tab = await chrome.tabs.get(tabId);
      if (isAsleep(tab) || !permitsPage(this.#settings(), tab.url ?? "")) return;
      await chrome.scripting.executeScript({ target: { tabId, allFrames: true }, func: listen, args: [EVERY], injectImmediately: true });
    } catch {
    }
  }
  /**
   * A page has had input.
   * @param inFrame it went to a frame, which may not be looked at yet
   * @returns whether to go on
   */
  input(tabId, inFrame) {
    if (!this.#watched(tabId)) return false;
    if (inFrame) {
      void this.watch(tabId);
      return true;
    }
    if (this.#own.has(tabId)) return true;
    const was = this.#at.get(tabId);
    clearTimeout(was);
    this.#at.set(tabId, setTimeout(() => this.ended(tabId), INPUT_QUIET));
    if (was === void 0) this.#changed(tabId);
    return true;
  }
  /** The owner uses a tab no more, which may be closed. */
  ended(tabId) {
    if (!this.#at.has(tabId)) return;
    clearTimeout(this.#at.get(tabId));
    this.#at.delete(tabId);
    this.#changed(tabId);
  }
  /** Another tab came to the front, or another window: tabs that are not in front are not used any more. */
  async tabChanged() {
    for (const tabId of this.#at.keys()) if (!await isInFront(tabId)) this.ended(tabId);
  }
};
async function isInFront(tabId) {
  try {
    const { active, windowId } = await chrome.tabs.get(tabId);
    return active && (await chrome.windows.get(windowId)).focused;
  } catch {
    return false;
  }
}
function listen(every) {
  if (globalThis.tabhubUserInput) return;
  const stop = new AbortController();
  globalThis.tabhubUserInput = stop;
  const options = { capture: true, passive: true, signal: stop.signal };
  const notify = async (inFrame) => {
    const goOn = await chrome.runtime.sendMessage({ type: "userInput", inFrame }).catch(() => false);
    if (goOn) return;
    stop.abort();
    globalThis.tabhubUserInput = void 0;
  };
  let last = 0;
  const heard2 = ({ isTrusted }) => {
    const now = Date.now();
    if (!isTrusted || now - last < every) return;
    last = now;
    void notify(false);
  };
  for (const type of ["pointerdown", "keydown", "wheel", "drop"]) addEventListener(type, heard2, options);
  addEventListener("blur", () => document.activeElement instanceof HTMLIFrameElement && void notify(true), options);
}

// worker/leases.ts
var Leases = class {
  #leases = /* @__PURE__ */ new Map();
  /** The tabs of which the hub knows that the owner uses them. */
  #notified = /* @__PURE__ */ new Set();
  #hub;
  #hasInput;
  #changed;
  /**
   * @param hasInput whether the owner uses a tab
   * @param changed called when a tab is leased by another client, or waits for the owner or does no longer
   */
  constructor(hub2, hasInput, changed) {
    this.#hub = hub2;
    this.#hasInput = hasInput;
    this.#changed = changed;
  }
  of(tabId) {
    return this.#leases.get(tabId);
  }
  /** Takes the leases that the hub reports. */
  take(held) {
    const before = this.#leases;
    const now = Date.now();
    this.#leases = new Map(held.map(({ tabId, by, untilMs, waiting = false }) => [tabId, { by, until: now + untilMs, waiting }]));
    for (const tabId of /* @__PURE__ */ new Set([...before.keys(), ...this.#leases.keys()])) {
      const [was, is] = [before.get(tabId), this.#leases.get(tabId)];
      if (was?.by !== is?.by || was?.waiting !== is?.waiting) this.#changed(tabId);
      this.userInput(tabId);
    }
  }
  /** A hub has just said hello: it knows nothing of user input. */
  opened() {
    this.#notified.clear();
  }
  /** Tells the hub whether the owner uses a tab, if the tab is leased. */
  userInput(tabId) {
    const inUse = this.#leases.has(tabId) && this.#hasInput(tabId);
    if (inUse === this.#notified.has(tabId) || !this.#hub.notify("browser/tabState", { inUse }, tabId)) return;
    if (inUse) this.#notified.add(tabId);
    else this.#notified.delete(tabId);
  }
};

// worker/hub.ts
var Hub = class {
  #link;
  #pending = /* @__PURE__ */ new Map();
  constructor(link2) {
    this.#link = link2;
  }
  /** Whether messages reach the hub now. */
  get connected() {
    return this.#link.open;
  }
  /**
   * Sends a frame.
   * @returns whether the hub is connected
   */
  send(text4) {
    return this.#link.send(text4);
  }
  /**
   * Sends a message without waiting for an answer.
   * @returns whether the hub is connected
   */
  notify(method, params, tabId) {
    return this.send(JSON.stringify({ jsonrpc: "2.0", tabId, method, params }));
  }
  /**
   * Sends a request and waits for its answer, or for the end of the connection.
   * @param params or their JSON
   */
  request(method, params, tabId) {
    const id = crypto.randomUUID();
    const head = JSON.stringify({ jsonrpc: "2.0", id, tabId, method });
    const text4 = typeof params === "string" ? params : JSON.stringify(params);
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      if (!this.send(`${head.slice(0, -1)},"params":${text4}}`)) reject(new Error("the hub is not connected"));
    }).finally(() => this.#pending.delete(id));
  }
  answered({ id, result, error }) {
    const pending = this.#pending.get(id);
    if (error) pending?.reject(new Refusal(error.code, String(error.message)));
    else pending?.resolve(result);
  }
  /** The connection has ended. */
  disconnected() {
    for (const { reject } of this.#pending.values()) reject(new Error("the hub went away"));
  }
};

// worker/inject.ts
var SCRIPTS = { page: "content/page.js", plain: "content/plain.js" };
var WEB = ["http://*/*", "https://*/*"];
var changing = Promise.resolve();
function placeScripts(settings, packed) {
  changing = changing.then(() => place(settings, packed)).catch((error) => {
    if (packed.length) console.error("tools of packs are not offered:", error);
    return place(settings, []);
  }).catch((error) => {
    console.error("the sentinel cannot be placed:", error);
    return chrome.scripting.unregisterContentScripts().catch(() => {
    });
  });
  return changing;
}
async function place({ mode, allowed, off, plain }, packed) {
  const registered = await chrome.scripting.getRegisteredContentScripts();
  const shared2 = mode === "all" ? WEB : patterns(allowed);
  const without = patterns(mode === "all" ? plain : plain.filter((origin) => allowed.includes(origin)));
  const wanted = [
    { ...script("page"), matches: shared2, excludeMatches: [...patterns(off), ...without] },
    { ...script("plain"), matches: without, excludeMatches: patterns(off) },
    { ...PACKED, ...sharedPages({ mode, allowed, off }, packed) }
  ].filter(({ matches: matches2 }) => matches2.length > 0);
  const gone = registered.map(({ id }) => id).filter((id) => !wanted.some((script2) => script2.id === id));
  if (gone.length) await chrome.scripting.unregisterContentScripts({ ids: gone });
  for (const script2 of wanted) {
    const before = registered.find(({ id }) => id === script2.id);
    if (!before) await chrome.scripting.registerContentScripts([script2]);
    else if (differs(before, script2)) await chrome.scripting.updateContentScripts([script2]);
  }
}
function script(id) {
  return { id, js: [SCRIPTS[id]], world: "MAIN", runAt: "document_start", allFrames: true, matchOriginAsFallback: true };
}
var PACKED = { id: "packs", js: ["content/frame.js"], world: "ISOLATED", runAt: "document_end", allFrames: true };
function sharedPages({ mode, allowed, off }, match) {
  const matches2 = mode === "all" ? match : allowed.flatMap((origin) => match.flatMap((pattern2) => within(pattern2, origin) ?? []));
  return { matches: matches2, excludeMatches: patterns(off) };
}
function patterns(origins) {
  return origins.filter((origin) => /^https?:/.test(origin) && URL.canParse(origin)).map(pattern);
}
function differs(a, b) {
  const places = ({ matches: matches2, excludeMatches }) => JSON.stringify([[...matches2 ?? []].sort(), [...excludeMatches ?? []].sort()]);
  return places(a) !== places(b);
}
async function bring(sign, { tab, documentId }, settings) {
  const { path, kind, child } = sign;
  if (tab?.id === void 0 || !documentId) return;
  if (child) for (const id of await documentsAt(tab.id, [...path, child.index], settings)) await start(documentTarget(tab.id, id));
  for (const id of path.length ? await documentsAt(tab.id, path, settings) : [documentId]) {
    const target = documentTarget(tab.id, id);
    if (NEEDS_PAGE_HALF.includes(kind) && await isShared(target, settings)) {
      await chrome.scripting.executeScript({ target, world: "MAIN", files: ["content/library.js"], injectImmediately: true });
    }
    await start(target);
    await chrome.scripting.executeScript({
      target,
      args: [sign],
      func: (sign2) => globalThis.tabhubFrame?.signed(sign2),
      injectImmediately: true
    });
  }
}
async function bringAnswers({ tab, documentId }, settings) {
  if (tab?.id === void 0) return;
  const target = documentTarget(tab.id, documentId);
  if (!await isShared(target, settings)) return;
  await chrome.scripting.executeScript({ target, world: "MAIN", files: ["content/answers.js"], injectImmediately: true });
}
var NEEDS_PAGE_HALF = ["tools", "server", "child"];
async function isShared(target, settings) {
  if (permitsAll(settings)) return true;
  const [{ result }] = await chrome.scripting.executeScript({ target, func: () => self.origin, injectImmediately: true });
  return permits(settings, String(result));
}
async function start(target) {
  await chrome.scripting.executeScript({ target, files: ["content/frame.js"], injectImmediately: true });
}
function documentTarget(tabId, documentId) {
  if (documentId === void 0) throw new Error("the frame has gone");
  return { tabId, documentIds: [documentId] };
}
async function documentsAt(tabId, path, settings) {
  const asked2 = await chrome.scripting.executeScript({
    target: { tabId, allFrames: true },
    world: permitsAll(settings) ? "MAIN" : "ISOLATED",
    args: [path],
    func: (path2) => {
      let at = window;
      for (const expected of path2.reverse()) {
        if (at === top) return false;
        const { parent: parent2 } = at;
        let index = parent2.length - 1;
        while (index >= 0 && parent2[index] !== at) index--;
        if (index !== expected) return false;
        at = parent2;
      }
      return at === top;
    },
    injectImmediately: true
  });
  return asked2.filter(({ result }) => result).map(({ documentId }) => documentId);
}
async function bringTo(settings, wanted) {
  for (const { id } of await chrome.tabs.query({ url: WEB })) {
    const frames = id !== void 0 && await chrome.webNavigation.getAllFrames({ tabId: id }).catch(() => null) || [];
    for (const { url, documentId } of frames) {
      if (wanted(url) && permitsPage(settings, url)) void start(documentTarget(id, documentId)).catch(() => {
      });
    }
  }
}
async function bringToDocument(tabId, documentId) {
  await start(documentTarget(tabId, documentId)).catch(() => {
  });
}
async function bringToOpenPages(settings, before) {
  for (const { id, url = "" } of await chrome.tabs.query({ url: WEB })) {
    if (id === void 0 || before && (permitsPage(before, url) || !permitsPage(settings, url))) continue;
    chrome.scripting.executeScript({ target: { tabId: id, allFrames: true }, files: ["content/openedearlier.js", "content/frame.js"] }).catch(() => {
    });
  }
}

// worker/link.ts
var SUBPROTOCOL = "tabhub.v1";
var FIRST_DELAY = 500;
var MAX_DELAY = 15e3;
var HELLO_TIMEOUT = 1e4;
var MAX_FAILURES = 2;
var Link = class {
  #socket;
  #state = { state: "connecting" };
  #open = false;
  /** The handshake that is under way on the socket. */
  #handshake;
  /** What the hub is sent once it has proved itself. */
  #hello = { protocolVersion: SUBPROTOCOL };
  /** The pairing that the hub has proved. */
  #proved;
  /** What the hub has answered to browser/hello if that was an error. */
  #refusal = "";
  /** Which of the pairings is tried next. */
  #nextPairing = 0;
  #failures = 0;
  #greetedAt = 0;
  #timer;
  #maxSilence = 45e3;
  /** When the hub was heard last, as performance.now() has it. */
  #heardAt = 0;
  #owner;
  constructor(owner2) {
    this.#owner = owner2;
  }
  get state() {
    return this.#state;
  }
  /** Whether messages reach the hub now. */
  get open() {
    return this.#open;
  }
  /** The id of the pairing that the hub has proved, "" if it has not. */
  get pairing() {
    return this.#proved?.pairing ?? "";
  }
  /** When this end said hello, before anything came over the connection. */
  get greetedAt() {
    return this.#greetedAt;
  }
  /** Connects unless that is done, under way, or pointless until something changes. */
  async ensure() {
    if (this.#socket || this.#timer !== void 0) return;
    const { halted } = await chrome.storage.session.get("halted");
    if (halted) this.#become(halted);
    else await this.#connect();
  }
  /** Connects anew, whatever was before: something has changed. */
  async restart() {
    this.#become({ state: "connecting" });
    await chrome.storage.session.remove("halted");
    clearTimeout(this.#timer);
    this.#timer = void 0;
    this.#failures = 0;
    this.#nextPairing = 0;
    this.#drop();
    await this.#connect();
  }
  /** Sends a frame. It returns false if there is no connection. */
  send(text4) {
    if (!this.#open || !this.#socket) return false;
    this.#socket.send(text4);
    return true;
  }
  async #connect() {
    const url = dialed(this.#owner.address());
    const [pairings, params] = await Promise.all([pairingsFor(url), this.#owner.hello()]);
    if (this.#socket || url !== dialed(this.#owner.address())) return;
    if (!pairings.length) {
      this.#become({ state: "unpaired", reason: "" });
      return;
    }
    let socket;
    try {
      socket = new WebSocket(url, [SUBPROTOCOL]);
    } catch {
      this.#become({ state: "refused", reason: `${url} is not the address of a hub` });
      return;
    }
    const handshake = new Handshake(pairings[this.#nextPairing % pairings.length], url);
    this.#socket = socket;
    this.#handshake = handshake;
    this.#hello = params;
    this.#watch(socket, HELLO_TIMEOUT);
    let reached = false;
    socket.onopen = () => {
      reached = true;
      ask(socket, "pair", handshake.request);
    };
    let last = Promise.resolve();
    socket.onmessage = ({ data }) => {
      if (this.#open) this.#received(socket, data);
      else last = last.then(() => this.#received(socket, data));
    };
    socket.onclose = (event) => {
      if (this.#socket !== socket) return;
      const proved = this.#proved !== void 0;
      const refusal = this.#refusal;
      this.#drop();
      void this.#closed(url, reached, proved, event, refusal);
    };
  }
  /** Lets go of the socket. */
  #drop() {
    const socket = this.#socket;
    this.#socket = void 0;
    this.#handshake = void 0;
    this.#proved = void 0;
    this.#refusal = "";
    this.#open = false;
    clearTimeout(this.#timer);
    this.#timer = void 0;
    socket?.close(1e3);
  }
  #received(socket, data) {
    if (this.#socket !== socket) return void 0;
    let message2;
    try {
      message2 = JSON.parse(String(data));
    } catch {
      return void 0;
    }
    if (this.#open) {
      this.#heardAt = performance.now();
      this.#owner.message(message2);
      return void 0;
    }
    if (message2?.method !== void 0) return void 0;
    if (message2?.id === "pair" && !this.#proved) return this.#answered(socket, message2);
    if (message2?.id === "hello" && this.#proved) this.#greeted(socket, message2);
    return void 0;
  }
  /** Whatever is at the address has answered browser/pair. */
  async #answered(socket, { result, error }) {
    const proved = error ? void 0 : await this.#handshake?.answer(result);
    if (this.#socket !== socket) return;
    if (!proved) {
      this.#drop();
      this.#again();
      if (error?.code === Code.MethodNotFound) {
        this.#become({ state: "outdated" });
      } else if (error?.code === Code.Unpaired) {
        this.#nextPairing++;
        this.#become({ state: "unpaired", reason: String(error.message) });
      } else {
        this.#nextPairing++;
        this.#become({ state: "unproved" });
      }
      return;
    }
    this.#proved = proved.pairing;
    this.#greetedAt = Date.now();
    ask(socket, "hello", { ...this.#hello, proof: proved.proof });
  }
  /** The hub has answered browser/hello. */
  #greeted(socket, { result, error }) {
    if (error) {
      this.#refusal = String(error.message);
      return;
    }
    const { hub: hub2, version, keepAliveMs } = result ?? {};
    this.#open = true;
    this.#failures = 0;
    this.#nextPairing = 0;
    if (this.#proved) void confirm(this.#proved);
    if (keepAliveMs > 0) this.#maxSilence = 3 * keepAliveMs;
    this.#watch(socket, this.#maxSilence);
    this.#become({ state: "connected", hub: String(hub2 ?? ""), version: String(version ?? "") });
    this.#owner.opened();
  }
  /** Gives the connection up if it stays silent for so long. */
  #watch(socket, silence) {
    clearTimeout(this.#timer);
    this.#heardAt = performance.now();
    const look3 = () => {
      const left = this.#heardAt + silence - performance.now();
      if (left > 0) {
        this.#timer = setTimeout(look3, left);
        return;
      }
      socket.onclose?.(new CloseEvent("close", { code: 1006 }));
      socket.close();
    };
    look3();
  }
  /**
   * @param reached whether a WebSocket was open
   * @param proved whether the remote end was the hub
   * @param refusal what it has answered to browser/hello, if that was an error
   */
  async #closed(url, reached, proved, event, refusal) {
    if (proved && event.code === 4101) {
      await this.#halt({ state: "replaced" });
      return;
    }
    if (proved && event.code >= 4100 && event.code < 4200) {
      await this.#halt({ state: "refused", reason: refusal || event.reason || "the hub gave no reason" });
      return;
    }
    this.#again();
    const answering = { state: proved || this.#failures < MAX_FAILURES ? "connecting" : "unproved" };
    if (reached) {
      this.#become(answering);
    } else if (await answers2(url)) {
      if (!this.#socket) this.#become(answering);
    } else if (!this.#socket) {
      this.#become({ state: "absent" });
    }
  }
  /** Connects again after a while, which grows. */
  #again() {
    const delay = Math.min(FIRST_DELAY * 2 ** this.#failures++, MAX_DELAY) * (0.5 + Math.random() / 2);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = void 0;
      void this.ensure();
    }, delay);
  }
  /** Stops trying until something changes, also if the worker is restarted. */
  async #halt(state) {
    this.#drop();
    await chrome.storage.session.set({ halted: state });
    this.#become(state);
  }
  #become(state) {
    if (JSON.stringify(state) === JSON.stringify(this.#state)) return;
    this.#state = state;
    this.#owner.changed();
  }
};
function ask(socket, what, params) {
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: what, method: `browser/${what}`, params }));
}
function dialed(address) {
  const url = new URL(address);
  if (url.protocol === "ws:" && /^(.*\.)?localhost$/.test(url.hostname)) url.hostname = "127.0.0.1";
  return url.href;
}
async function answers2(url) {
  try {
    await fetch(new URL("healthz", dashboard(url)), { signal: AbortSignal.timeout(2e3), cache: "no-store" });
    return true;
  } catch {
    return false;
  }
}

// tokens.ts
var RUNS = [
  ["[A-Z]?[a-z]+", 0.85, 0.17],
  ["[A-Z]+", 0.65, 0.5],
  ["\\d+", 0.7, 1 / 3],
  [" +", 0, 0.08],
  ["\\n", 0, 1],
  ["[!-~]", 0, 0.85],
  ["[\\u00a0-\\u024f]+", 0.5, 0.8],
  ["[\\u0400-\\u04ff]+", 0.4, 0.7],
  ["[\\u0600-\\u06ff]+", 0.4, 1.05],
  ["[\\u0370-\\u03ff]+", 0.5, 1.2],
  ["[\\u3000-\\u9fff\\uac00-\\ud7af]+", 0, 1.6],
  ["[^]", 0, 1.9]
];
var ANY = new RegExp(RUNS.map(([signs]) => `(${signs})`).join("|"), "g");
function tokensIn(text4) {
  let count = 0;
  for (const [run3, ...of] of text4.matchAll(ANY)) {
    const [, once, each] = RUNS[of.findIndex((part) => part !== void 0)];
    count += once + each * run3.length;
  }
  return Math.ceil(count);
}

// looklines.ts
var MAX_ALIKE = 10;
var FOLDED = 4;
var MAX_FOUND = 30;
var IN_VIEW = 0.4;
var NOTE = 16;
var KINDS2 = { a: "act", p: "place", t: "text", f: "frame" };
function decode2(text4) {
  if (!text4) return [];
  return text4.split("\n").map((line) => {
    const [, depth, kind, view, ref, frame, rest] = /^(\d+) (\w) ([01]) (\w*) (-?\d*) (.*)$/s.exec(line);
    return { depth: Number(depth), kind: KINDS2[kind], view: view === "1", ref, text: rest, ...frame && { frame: Number(frame) } };
  });
}
function show(all, { depth = 0, find = "", maxTokens, before, scoped = false }) {
  if (find) return found(all, find, maxTokens);
  const flat = depth ? all.filter((line) => line.depth < depth) : all;
  const whole = within2(scoped ? flat : folded(flat), maxTokens, all.length - flat.length);
  if (!before) return whole;
  const changed = within2(changes(before, all), maxTokens, 0);
  return size(changed) < size(whole) ? { ...changed, changes: true } : whole;
}
function size({ lines: lines2 }) {
  return lines2.reduce((sum, { text: text4 }) => sum + text4.length + 1, 0);
}
function indented({ depth, text: text4 }) {
  return "  ".repeat(Math.min(depth, 40)) + text4;
}
function parentsOf(lines2) {
  const open2 = [];
  return lines2.map(({ depth }, i) => {
    while (open2.length && lines2[open2[open2.length - 1]].depth >= depth) open2.pop();
    const parent2 = open2.length ? open2[open2.length - 1] : -1;
    open2.push(i);
    return parent2;
  });
}
function folded(lines2) {
  const out = [];
  for (let i = 0; i < lines2.length; ) {
    let end2 = i;
    while (end2 < lines2.length && isAlike(lines2[i], lines2[end2])) end2++;
    const alike = end2 - i;
    if (alike <= MAX_ALIKE + FOLDED) {
      out.push(...lines2.slice(i, Math.max(end2, i + 1)));
      i = Math.max(end2, i + 1);
      continue;
    }
    out.push(...lines2.slice(i, i + MAX_ALIKE));
    out.push({ ...lines2[i], ref: "", view: false, more: alike - MAX_ALIKE, text: leftOut(alike - MAX_ALIKE, "like these ", placeOf(lines2, i)) });
    i = end2;
  }
  return out;
}
function isAlike(a, b) {
  return a.kind === "text" && b.kind === "text" && a.depth === b.depth && a.of === b.of && kindOf(a.text) === kindOf(b.text);
}
function kindOf(text4) {
  return /^[^"\d]*/.exec(text4)?.[0] ?? "";
}
function placeOf(lines2, at) {
  let { depth } = lines2[at];
  for (let i = at - 1; i >= 0 && depth > 0; i--) {
    if (lines2[i].depth >= depth) continue;
    if (lines2[i].ref) return lines2[i].ref;
    depth = lines2[i].depth;
  }
  return "";
}
function leftOut(count, what, ref) {
  return `... ${count} more ${what}${count === 1 ? "line" : "lines"}${ref ? `, scope ${ref}` : ""}`;
}
function within2(lines2, maxTokens, deeper) {
  const cost = (line) => tokensIn(`${indented(line)}
`);
  const least = lines2.reduce((sum, { text: text4 }) => sum + text4.length / 20, 0);
  if (least <= maxTokens && lines2.reduce((sum, line) => sum + cost(line), 0) <= maxTokens) return { lines: lines2.map((line) => ({ of: line.of ?? 0, text: indented(line) })), left: lines2.reduce((sum, { more = 0 }) => sum + more, deeper), changes: false };
  const parents = parentsOf(lines2);
  const places = new Set(parents);
  const taken = new Uint8Array(lines2.length);
  let left = Math.max(0, maxTokens - NOTE * 3);
  const take2 = (i, floor) => {
    let needed = 0;
    const path = [];
    for (let at = i; at >= 0 && !taken[at]; at = parents[at]) {
      path.push(at);
      needed += cost(lines2[at]);
      if (lines2[at].ref && places.has(at)) needed += NOTE;
    }
    if (left - needed < floor) return false;
    for (const at of path) taken[at] = 1;
    left -= needed;
    return true;
  };
  const whole = left;
  const rounds = [
    [({ kind, view }) => view && kind === "act", 0],
    [({ kind, view }) => view && (kind === "place" || kind === "frame"), whole * (1 - IN_VIEW)],
    [({ view }) => view, whole * (1 - IN_VIEW)],
    [({ kind }) => kind === "act" || kind === "frame", 0],
    [({ kind }) => kind === "place", 0],
    [() => true, 0]
  ];
  const fill = () => {
    for (const [fits, floor] of rounds) {
      let misses = 0;
      for (let i = 0; i < lines2.length && misses < 20; i++) if (!taken[i] && !lines2[i].more && fits(lines2[i]) && !take2(i, floor)) misses++;
    }
    for (let i = 1; i < lines2.length; i++) if (lines2[i].more && !taken[i] && taken[i - 1]) take2(i, 0);
  };
  fill();
  const lacking2 = /* @__PURE__ */ new Set();
  for (let i = 0; i < lines2.length; i++) if (!taken[i]) for (let at = parents[i]; at >= 0 && !lacking2.has(at); at = parents[at]) lacking2.add(at);
  for (let i = 0; i < lines2.length; i++) if (taken[i] && lines2[i].ref && places.has(i) && !lacking2.has(i)) left += NOTE;
  fill();
  return withNotes(lines2, parents, taken, deeper);
}
function withNotes(lines2, parents, taken, deeper) {
  const missing = /* @__PURE__ */ new Map();
  const last = /* @__PURE__ */ new Map();
  let count = 0;
  lines2.forEach(({ more = 0 }, i) => {
    let place2 = parents[i];
    while (place2 >= 0 && !(taken[place2] && lines2[place2].ref)) place2 = parents[place2];
    if (taken[i]) {
      for (let at = place2; ; at = parents[at]) {
        last.set(at, i);
        if (at < 0) break;
      }
      count += more;
      return;
    }
    count += more || 1;
    missing.set(place2, (missing.get(place2) ?? 0) + (more || 1));
  });
  const notes = /* @__PURE__ */ new Map();
  for (const place2 of missing.keys()) {
    const after = last.get(place2) ?? place2;
    notes.set(after, [place2, ...notes.get(after) ?? []]);
  }
  const out = [];
  const note = (place2) => {
    const depth = place2 < 0 ? 0 : lines2[place2].depth + 1;
    out.push({ of: place2 < 0 ? 0 : lines2[place2].of ?? 0, text: indented({ ...lines2[Math.max(place2, 0)], depth, text: leftOut(missing.get(place2) ?? 0, "", place2 < 0 ? "" : lines2[place2].ref) }) });
  };
  lines2.forEach((line, i) => {
    if (!taken[i]) return;
    out.push({ of: line.of ?? 0, text: indented(line) });
    for (const place2 of (notes.get(i) ?? []).sort((a, b) => b - a)) note(place2);
  });
  if (missing.has(-1) && !last.has(-1)) note(-1);
  return { lines: out, left: count + deeper, changes: false };
}
function wordsOf(find) {
  return find.toLowerCase().split(/\s+/).filter(Boolean);
}
function found(lines2, find, maxTokens) {
  const words = wordsOf(find);
  const parents = parentsOf(lines2);
  const hits = lines2.flatMap(({ text: text4 }, i) => {
    const said2 = text4.replace(REF, "").toLowerCase();
    return words.every((word) => said2.includes(word)) ? [i] : [];
  });
  const out = [];
  let left = maxTokens;
  for (const hit of hits) {
    const path = [lines2[hit].text];
    for (let at = parents[hit]; at >= 0; at = parents[at]) path.unshift(short(lines2[at].text));
    const text4 = path.join(" > ");
    left -= tokensIn(text4) + 1;
    if (left < 0 || out.length === MAX_FOUND) break;
    out.push({ of: lines2[hit].of ?? 0, text: text4 });
  }
  return { lines: out, left: hits.length - out.length, changes: false };
}
function short(text4) {
  return /^(?:[^":]|"(?:[^"\\]|\\.)*")*/.exec(text4)?.[0].trim() || text4;
}
function changes(before, now) {
  const [parentsBefore, parents] = [parentsOf(before), parentsOf(now)];
  const [old, fresh] = [keysOf(before, parentsBefore), keysOf(now, parents)];
  const [were, are] = [countOf(old), countOf(fresh)];
  const news = fresh.map((key) => !take(were, key));
  const there = new Set(fresh);
  const refs = new Set(now.flatMap(({ text: text4 }) => text4.match(REF) ?? []));
  const kinds = countOf(now.flatMap((line, i) => news[i] ? [kindIn(line, now, parents[i])] : []));
  const gone = before.filter((line, i) => {
    if (take(are, old[i])) return false;
    if (parentsBefore[i] >= 0 && !there.has(old[parentsBefore[i]])) return false;
    const own = line.text.match(REF) ?? [];
    return own.length ? !own.every((ref) => refs.has(ref)) : !take(kinds, kindIn(line, before, parentsBefore[i]));
  });
  const out = [];
  const depths = /* @__PURE__ */ new Map();
  let place2 = -1;
  now.forEach((line, i) => {
    if (!news[i]) return;
    let at = parents[i];
    while (at >= 0 && !depths.has(at) && !NAMED.test(now[at].text)) at = parents[at];
    if (at >= 0 && !depths.has(at) && at !== place2) out.push({ ...now[at], depth: 0 });
    if (at < 0 || !depths.has(at)) place2 = at;
    const depth = at < 0 ? 0 : (depths.get(at) ?? 0) + 1;
    depths.set(i, depth);
    out.push({ ...line, depth });
  });
  return [...out, ...gone.map((line) => ({ ...line, depth: 0, ref: "", text: `- ${line.text}` }))];
}
var REF = /\b[a-z]{3,8}\d+\b(?=[^"]*(?:"(?:[^"\\]|\\.)*"[^"]*)*$)/g;
var NAMED = /^(?!main\b)[^"]*"/;
function take(counts, key) {
  const count = counts.get(key) ?? 0;
  if (count) counts.set(key, count - 1);
  return count > 0;
}
function kindIn({ text: text4, of = 0 }, lines2, parent2) {
  return `${of} ${parent2 >= 0 ? short(lines2[parent2].text) : ""}
${text4.replace(REF, "").replace(/"(?:[^"\\]|\\.)*"/g, '"')}`;
}
function keysOf(lines2, parents) {
  return lines2.map(({ text: text4, of = 0 }, i) => `${parents[i] >= 0 ? short(lines2[parents[i]].text) : ""}
${of} ${text4.replace(/ focused(?=$|,| \|)/, "")}`);
}
function countOf(keys) {
  const counts = /* @__PURE__ */ new Map();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

// worker/look.ts
var FIRST2 = 1e4;
var FRAMES = 2500;
var AT_ONCE2 = 4;
var MAX_FRAMES = 60;
var TOGETHER = 1e3;
var MAX_DOCUMENTS = 1e3;
var MAX_TEXT2 = 4e3;
var MAX_TAGS = 4e3;
var MAX_LOOKS = 32;
var MAX_KEPT2 = 2 << 20;
var TOKENS = 4e3;
var LETTERS = "abcdefghijklmnopqrstuvwxyz";
var Looks = class {
  #settings;
  #next = -1;
  #tags = /* @__PURE__ */ new Map();
  #documents = /* @__PURE__ */ new Map();
  /** The lines of the last look of a viewer at a tab. */
  #before = /* @__PURE__ */ new Map();
  #stored = new Stored("looks", () => ({ next: this.#next, tags: [...this.#tags].map(([tag, { tabId, documentId }]) => [tag, tabId, documentId]) }));
  constructor(settings) {
    this.#settings = settings;
  }
  async load() {
    const before = await this.#stored.load();
    if (!before) return;
    this.#next = before.next;
    for (const [tag, tabId, documentId] of before.tags) this.#know(tag, tabId, documentId);
  }
  async look(tabId, { scope, depth, find, maxTokens, changes: changes2, viewer, ifOrigin }) {
    await awake(tabId);
    await opened(tabId);
    const all = await documentsIn(tabId);
    const at = scope ? this.#of(scope, tabId, all) : all.find(({ frameId }) => frameId === 0);
    if (!at) throw new Refusal(Code.Unsupported, "the browser does not let extensions look at this page");
    const words = find ? { find } : {};
    let root = await this.#ask(at, FIRST2, void 0, { scope, ...words });
    if (!root.part) {
      if (root.problem === NOT_SHARED) throw notShared();
      await answers(tabId);
      if (!scope && await isErrorPage(tabId)) throw new Refusal(Code.Unsupported, "the browser shows an error in place of the page: it could not be loaded; go to another one, back, or reload it");
      throw new Refusal(Code.Unsupported, `the page cannot be looked at: it ${root.problem}`);
    }
    if (root.part.stale) throw stale(root.part.stale.message, root.part.stale.near);
    let within3 = { tagged: root, children: /* @__PURE__ */ new Map() };
    if (root.part.frame !== void 0) {
      const framed = await this.#children(root, all, words, root.part.frame);
      const inner = childAt(framed, root.part.frame, 0);
      if (!inner?.part) throw inner?.problem === NOT_SHARED ? notShared() : new Refusal(Code.Unsupported, `what the frame shows cannot be looked at: it ${inner?.problem || "is empty"}`);
      root = inner;
      within3 = { tagged: root, children: /* @__PURE__ */ new Map() };
    }
    if (ifOrigin && root.origin !== ifOrigin && !isAt(root.document.url, ifOrigin)) throw elsewhere();
    await this.#descend(root, all, within3.children, words);
    const { frames, lines: lines2 } = compose(root, within3.children);
    const key = JSON.stringify([viewer, tabId, scope]);
    const before = changes2 && viewer ? this.#before.get(key) : void 0;
    const shown = show(lines2, { depth, find, maxTokens: maxTokens || TOKENS, before, scoped: scope !== void 0 });
    if (viewer && !find) this.#keep(key, lines2);
    return {
      frames,
      lines: shown.lines.map(({ of, text: text4 }) => ({ ...of && { frame: of }, text: text4.slice(0, MAX_TEXT2) })),
      ...shown.left && { left: shown.left },
      ...shown.changes && { changes: true }
    };
  }
  async refs(tabId, { refs }) {
    await awake(tabId);
    const all = await documentsIn(tabId);
    const documents2 = new Set(refs.map((ref) => this.#tags.get(tagOf(ref))?.documentId));
    if (documents2.size > 1) throw new Refusal(Code.InvalidParams, "the references are of several documents: use those of one frame at a time");
    const at = all.find(({ documentId }) => documents2.has(documentId));
    if (!at) return { frameId: 0, origin: "", url: "", refs: refs.map((ref) => ({ ref, stale: this.#gone(ref, tabId) })) };
    if (!permitsDocument(this.#settings(), at)) throw notShared();
    const [answer2] = await askDocuments({
      target: { tabId, documentIds: [at.documentId] },
      func: (refs2) => {
        const steps = Object.hasOwn(globalThis, "tabhubSteps") ? globalThis.tabhubSteps : void 0;
        return steps?.document === document ? { origin: self.origin, url: location.href, refs: steps.refs(refs2) } : null;
      },
      args: [refs]
    }, FRAMES);
    const result = answer2?.result;
    if (!result) {
      await answers(tabId);
      return { frameId: at.frameId, origin: "", url: "", refs: refs.map((ref) => ({ ref, stale: `${ref} is of a page that has been loaded anew` })) };
    }
    if (!permitsDocument(this.#settings(), { ...at, ...result })) throw notShared();
    return { frameId: at.frameId, origin: originOf(result.origin, result.url, all, at), url: result.url.slice(0, 2048), refs: await Promise.all(result.refs.map(({ index, ...ref }) => index === void 0 ? ref : this.#withFrame(ref, index, all, at))) };
  }
  /** Says of a frame's element which document it shows. */
  async #withFrame(ref, index, all, around) {
    const children = all.filter(({ parentFrameId }) => parentFrameId === around.frameId);
    const asked2 = children.map(async (at) => {
      if (!permitsDocument(this.#settings(), at)) return void 0;
      const [answer2] = await askDocuments({ target: { tabId: at.tabId, documentIds: [at.documentId] }, func: sizeOf }, FRAMES);
      return answer2?.result?.index === index ? { frameId: at.frameId, origin: originOf(answer2.result.origin, answer2.result.url, all, at), url: answer2.result.url.slice(0, 2048) } : void 0;
    });
    const frame = (await Promise.all(asked2)).find(Boolean);
    return { ...ref, ...frame && { frame } };
  }
  // ---- Pictures
  /** The document that has a reference. */
  async documentOf(tabId, ref) {
    const at = this.#of(ref, tabId, await documentsIn(tabId));
    if (!permitsDocument(this.#settings(), at)) throw notShared();
    return at;
  }
  /** What can be acted on in a tab: the line of each, its reference and the document that has it. */
  async acting(tabId) {
    const all = await documentsIn(tabId);
    const top2 = all.find(({ frameId }) => frameId === 0);
    const root = top2 && await this.#ask(top2, FIRST2, void 0, {});
    if (!root?.part) throw root?.problem === NOT_SHARED ? notShared() : new Refusal(Code.Unsupported, "the page cannot be looked at");
    const children = /* @__PURE__ */ new Map();
    await this.#descend(root, all, children, {});
    const { lines: lines2, documents: documents2 } = compose(root, children);
    return lines2.flatMap(({ kind, ref, text: text4, of }) => kind === "act" && ref ? [{ text: text4.trim(), ref, document: documents2[of ?? 0] }] : []);
  }
  // ---- Tags
  /** What the references of a document begin with, be it looked at or not. */
  tag(tabId, documentId) {
    const known = this.#documents.get(documentId);
    if (known) return known;
    const tag = this.#newTag();
    this.#know(tag, tabId, documentId);
    this.#stored.save();
    return tag;
  }
  #know(tag, tabId, documentId) {
    const before = this.#documents.get(documentId);
    if (before && before !== tag) this.#tags.delete(before);
    this.#tags.set(tag, { tabId, documentId });
    this.#documents.set(documentId, tag);
    for (const [old, { documentId: of }] of this.#tags) {
      if (this.#tags.size <= MAX_TAGS) break;
      this.#tags.delete(old);
      this.#documents.delete(of);
    }
  }
  /** A tag that no document has had. */
  #newTag() {
    if (this.#next < 0) this.#next = crypto.getRandomValues(new Uint32Array(1))[0] % 17576;
    let tag = "";
    for (let rest = this.#next++, i = 0; i < 3 || rest > 0; rest = Math.floor(rest / 26), i++) tag = LETTERS[rest % 26] + tag;
    return tag;
  }
  #of(ref, tabId, all) {
    const { documentId = "" } = this.#tags.get(tagOf(ref)) ?? {};
    const at = all.find((document2) => document2.documentId === documentId);
    if (!at) throw stale(this.#gone(ref, tabId), []);
    return at;
  }
  /** Why there is no document with a reference in a tab. */
  #gone(ref, tabId) {
    const of = this.#tags.get(tagOf(ref));
    if (!of) return `${ref.slice(0, 16)} is no reference of a look at this browser's tabs, or of one long ago`;
    return of.tabId === tabId ? `${ref} is of a page that the tab does not show any more` : `${ref} is of another tab`;
  }
  #keep(key, lines2) {
    this.#before.delete(key);
    let size2 = 0;
    for (const { text: text4 } of lines2) size2 += text4.length + 40;
    if (size2 > MAX_KEPT2) return;
    this.#before.set(key, lines2);
    for (const old of this.#before.keys()) if (this.#before.size > MAX_LOOKS) this.#before.delete(old);
  }
  // ---- Documents
  /** Looks at the frames in a document in which some are seen, and those in them, all at once. */
  async #descend(of, all, children, options) {
    if (children.size > MAX_DOCUMENTS || !of.part || !decode2(of.part.lines).some(({ kind }) => kind === "frame")) return;
    const inner = await this.#children(of, all, options);
    children.set(of.document.frameId, inner);
    for (const child of inner) await this.#descend(child, all, children, options);
  }
  /** Looks at the frames of a document, those in view first; without words that are to be found only so many. */
  async #children({ document: { tabId, frameId }, origin, part }, all, options, only = -1) {
    const there = all.filter((document2) => document2.parentFrameId === frameId);
    const inView = new Set(decode2(part?.lines ?? "").filter(({ kind, view }) => kind === "frame" && view).map(({ frame }) => frame));
    const shared2 = there.filter((at) => permitsDocument(this.#settings(), at));
    const probe = (documentIds, timeout) => askDocuments({ target: { tabId, documentIds }, func: sizeOf }, timeout);
    const together = shared2.length ? await probe(shared2.map(({ documentId }) => documentId), TOGETHER) : [];
    const alone = together.length ? [] : (await atOnce(shared2, ({ documentId }) => probe([documentId], FRAMES))).flat();
    const said2 = new Map([...together, ...alone].map(({ documentId, result }) => [documentId, result]));
    const sized = there.map((at) => {
      if (!shared2.includes(at)) return { at, index: void 0, problem: NOT_SHARED };
      const answer2 = said2.get(at.documentId);
      return { at, index: answer2?.index, problem: answer2 ? answer2.small ? "" : void 0 : NO_ANSWER };
    });
    sized.sort((a, b) => Number(inView.has(b.index)) - Number(inView.has(a.index)));
    let asked2 = 0;
    return atOnce(only < 0 ? sized : sized.filter(({ index }) => index === only), async ({ at, index, problem }) => {
      const late = problem === void 0 && !options.find && ++asked2 > MAX_FRAMES;
      if (problem === void 0 && !late) return { ...await this.#ask(at, FRAMES, origin, options), index };
      return { document: at, part: void 0, index, origin: originOf("", at.url, all, at), problem: late ? LATE2 : problem ?? "" };
    });
  }
  /** Asks a document what it shows. */
  async #ask(at, timeout, around, options) {
    const { tabId, documentId } = at;
    const looked = (part2, problem) => ({
      document: at,
      part: part2,
      origin: webOrigin(part2?.origin ?? "") || webOrigin(part2?.url ?? at.url) || (around !== void 0 && /^about:/.test(at.url) ? around : "null"),
      problem
    });
    if (!permitsDocument(this.#settings(), at)) return looked(void 0, NOT_SHARED);
    const until = Date.now() + timeout;
    const left = () => Math.max(1, until - Date.now());
    const target = { tabId, documentIds: [documentId] };
    const known = this.#documents.get(documentId);
    const tag = known ?? this.#newTag();
    const look3 = async () => {
      const [answer2] = await askDocuments({
        target,
        func: (options2) => {
          const steps = Object.hasOwn(globalThis, "tabhubSteps") ? globalThis.tabhubSteps : void 0;
          return steps?.document === document ? steps.look(options2) : null;
        },
        args: [{ tag, ...options.scope && { scope: options.scope }, ...options.find && { find: options.find } }]
      }, left());
      return answer2?.result ?? void 0;
    };
    let part = known ? await look3() : void 0;
    if (!part) {
      await askDocuments({ target, files: ["content/steps.js"] }, left());
      part = await look3();
    }
    if (!part) return looked(void 0, NO_ANSWER);
    if (!permitsDocument(this.#settings(), { ...at, origin: part.origin, url: part.url })) return looked(void 0, NOT_SHARED);
    if (part.tag !== known) {
      this.#know(part.tag, tabId, documentId);
      this.#stored.save();
    }
    return looked(part, "");
  }
};
var LATE2 = "is not looked at yet, use it as scope";
var NOT_SHARED = "is of a site that is not shared";
var NO_ANSWER = "does not answer";
function sizeOf() {
  const { parent: parent2 } = window;
  let index = parent2.length - 1;
  while (index >= 0 && parent2[index] !== window) index--;
  return { index, small: innerWidth < 2 || innerHeight < 2, origin: self.origin, url: location.href };
}
async function atOnce(all, does) {
  const out = [];
  let next = 0;
  const some = async () => {
    while (next < all.length) {
      const i = next++;
      out[i] = await does(all[i]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE2 }, some));
  return out;
}
function tagOf(ref) {
  return /^[a-z]+/.exec(ref)?.[0] ?? "";
}
function stale(message2, near) {
  return new Refusal(Code.InvalidParams, `STALE_REF: ${message2}${near.length ? `. The nearest that there are: ${near.join("; ")}` : ""}`);
}
function originOf(origin, url, all, at) {
  const own = webOrigin(origin) || webOrigin(url);
  const parent2 = all.find(({ frameId }) => frameId === at.parentFrameId);
  return own || (/^about:/.test(url) && parent2 ? originOf("", parent2.url, all, parent2) : "null");
}
async function documentsIn(tabId) {
  const all = await unlessStopping(chrome.webNavigation.getAllFrames({ tabId }), () => null) ?? [];
  return all.flatMap(({ frameId, parentFrameId, documentId, documentLifecycle, url }) => documentId && (documentLifecycle ?? "active") === "active" ? [{ tabId, frameId, parentFrameId, documentId, url }] : []);
}
function childAt(children, index, nth) {
  const fits = children.filter((child) => child.index === index);
  return fits[index < 0 ? nth : 0];
}
function compose(root, children) {
  const frames = [];
  const documents2 = [];
  const lines2 = [];
  const add = (looked, depth, view, ref) => {
    const { part, document: document2, origin } = looked;
    if (!part || frames.length === MAX_DOCUMENTS) return;
    const of = frames.push({ origin: origin.slice(0, 2048), url: part.url, ...part.title && { title: part.title }, ...ref && { ref } }) - 1;
    documents2.push(document2);
    const inner = children.get(document2.frameId) ?? [];
    let shadowed = 0;
    for (const line of decode2(part.lines)) {
      const at = { ...line, depth: line.depth + depth, view: line.view && view, of };
      if (line.kind !== "frame") {
        lines2.push(at);
        continue;
      }
      const child = childAt(inner, line.frame ?? -1, line.frame === -1 ? shadowed++ : 0) ?? problemOf(inner);
      if (!child || !child.part && !child.problem) continue;
      const other = child.origin !== origin && child.origin !== "null" ? ` of ${new URL(child.origin).host}` : "";
      at.text = `${line.text.slice(0, line.text.length - line.ref.length).trimEnd()}${other} ${line.ref}${child.part ? "" : `: ${child.problem}`}`;
      lines2.push(at);
      const before = lines2.length;
      add(child, at.depth + 1, at.view, line.ref);
      if (child.part && lines2.length === before) lines2.pop();
    }
  };
  add(root, 0, true, "");
  return { frames, lines: lines2, documents: documents2 };
}
function problemOf(children) {
  const at = children.findIndex(({ part, index, problem }) => !part && index === void 0 && problem);
  return at < 0 ? void 0 : children.splice(at, 1)[0];
}

// worker/overlay.ts
var LASTS = 15e3;
var RENEW = 1e4;
var RING = 1500;
var DRAWN = 300;
var BUSY4 = 2e3;
var Overlay = class {
  /** What is said of tabs, by their ids. */
  #labels = /* @__PURE__ */ new Map();
  /** Tabs that are being pictured, and how often at once. */
  #pictured = /* @__PURE__ */ new Map();
  /** What is done next in a tab comes after this; false if the page was too busy. */
  #last = /* @__PURE__ */ new Map();
  /** When a step has acted in tabs, whose documents may show where. */
  #ringed = /* @__PURE__ */ new Map();
  #renewing;
  #settings;
  constructor(settings) {
    this.#settings = settings;
  }
  /**
   * Says what a client does in a tab.
   * @param label "": none does anything
   */
  show(tabId, label) {
    const was = this.#labels.get(tabId);
    if (label) this.#labels.set(tabId, label);
    else this.#labels.delete(tabId);
    if (label || was !== void 0) this.renew(tabId);
    if (this.#labels.size) this.#renewing ??= setInterval(() => this.renewAll(), RENEW);
  }
  /** The settings are others, or time has gone by. */
  renewAll() {
    for (const tabId of this.#labels.keys()) this.renew(tabId);
    if (this.#labels.size) return;
    clearInterval(this.#renewing);
    this.#renewing = void 0;
  }
  /** Draws a tab's overlay, which it may have already, or removes it. Its document may be another. */
  renew(tabId) {
    const label = this.#labels.get(tabId);
    const marked = label !== void 0 && this.#settings().mark && !this.#pictured.has(tabId);
    void this.#next(tabId, () => marked ? this.#draw(tabId, label) : this.#erase(tabId));
  }
  /** A step has just acted in a tab. */
  ringed(tabId) {
    this.#ringed.set(tabId, Date.now());
  }
  /** Does something for which a tab must not have its overlay. */
  async without(tabId, act) {
    const times = (this.#pictured.get(tabId) ?? 0) + 1;
    this.#pictured.set(tabId, times);
    try {
      if ((this.#last.has(tabId) || this.#hasRing(tabId)) && !await this.#next(tabId, () => this.#erase(tabId))) {
        throw new Refusal(Code.Internal, "the page is too busy to be pictured; try again when it is not");
      }
      return await act();
    } finally {
      const left = (this.#pictured.get(tabId) ?? 1) - 1;
      if (left) this.#pictured.set(tabId, left);
      else this.#pictured.delete(tabId);
      if (this.#labels.has(tabId)) this.renew(tabId);
    }
  }
  closed(tabId) {
    this.#ringed.delete(tabId);
    this.#labels.delete(tabId);
  }
  #next(tabId, act) {
    const acted = async () => {
      await act().catch(() => {
      });
      return true;
    };
    const done = (this.#last.get(tabId) ?? Promise.resolve()).then(() => Promise.race([acted(), timedOut()]));
    this.#last.set(tabId, done);
    void done.then(() => this.#last.get(tabId) === done && !this.#labels.has(tabId) && this.#last.delete(tabId));
    return done;
  }
  async #draw(tabId, label) {
    const tab = await chrome.tabs.get(tabId);
    const origin = webOrigin(tab.url ?? "");
    if (!origin || isAsleep(tab)) return;
    if (permitsPage(this.#settings(), origin)) await run2(tabId, draw, [label, origin, LASTS]);
    else await this.#erase(tabId);
  }
  async #erase(tabId) {
    await run2(tabId, erase, [DRAWN], this.#hasRing(tabId));
  }
  #hasRing(tabId) {
    return Date.now() - (this.#ringed.get(tabId) ?? 0) < RING;
  }
};
function timedOut() {
  return new Promise((resolve) => setTimeout(resolve, BUSY4, false));
}
async function run2(tabId, func, args, allFrames = false) {
  await chrome.scripting.executeScript({ target: { tabId, allFrames }, func, args, injectImmediately: true });
}
function draw(label, origin, lasts) {
  if (self.origin !== origin || !(document.documentElement instanceof HTMLHtmlElement)) return;
  const make = () => {
    const host = document.createElement("div");
    host.setAttribute("aria-hidden", "true");
    host.inert = true;
    host.style.cssText = "all: initial !important; position: fixed !important; inset: 0 !important; z-index: 2147483647 !important; pointer-events: none !important;";
    const root = host.attachShadow({ mode: "closed" });
    const look3 = new CSSStyleSheet();
    look3.replaceSync(`
      div { position: absolute; inset: 0; border: 3px solid #1f5fbf; box-shadow: inset 0 0 0 1px #ffffffb3; }
      p {
        position: absolute; right: 12px; bottom: 0; max-width: calc(100% - 24px); margin: 0; padding: 3px 12px 4px;
        overflow: hidden; border-radius: 8px 8px 0 0; background: #1f5fbf; color: #fff;
        font: 12px/1.4 system-ui, sans-serif; text-overflow: ellipsis; white-space: nowrap;
      }
      @media (prefers-reduced-motion: no-preference) {
        div, p { animation: appear 0.15s; }
        @keyframes appear { from { opacity: 0; } }
      }
      @media print { div, p { display: none; } }
    `);
    root.adoptedStyleSheets = [look3];
    const words = document.createElement("p");
    root.append(document.createElement("div"), words);
    return { host, words, timer: 0 };
  };
  if (!Object.hasOwn(globalThis, "tabhubOverlay")) globalThis.tabhubOverlay = make();
  const overlay2 = globalThis.tabhubOverlay;
  overlay2.words.textContent = label;
  if (!overlay2.host.isConnected) document.documentElement.append(overlay2.host);
  clearTimeout(overlay2.timer);
  overlay2.timer = setTimeout(() => overlay2.host.remove(), lasts);
}
function erase(drawn2) {
  const ring = Object.hasOwn(globalThis, "tabhubRing") ? globalThis.tabhubRing : void 0;
  ring?.remove();
  const overlay2 = Object.hasOwn(globalThis, "tabhubOverlay") ? globalThis.tabhubOverlay : void 0;
  if (!ring && !overlay2?.host.isConnected) return void 0;
  clearTimeout(overlay2?.timer);
  overlay2?.host.remove();
  return Promise.race([
    new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(void 0)))),
    new Promise((done) => setTimeout(done, drawn2))
  ]);
}

// worker/questions.ts
var PAGE = "ask.html";
var WIDTH2 = 640;
var HEIGHT2 = 480;
var MAX_OPEN = 16;
var Questions = class {
  /** By their ids, in the order in which they came. */
  #questions = /* @__PURE__ */ new Map();
  #stored = new Stored("questions", () => [...this.#questions.values()]);
  /** The ids of those that were asked over the connection that there is. */
  #asked = /* @__PURE__ */ new Set();
  /** Whether a window is being opened. */
  #opening = false;
  #hub;
  #changed;
  /** @param changed called when another number waits */
  constructor(hub2, changed) {
    this.#hub = hub2;
    this.#changed = changed;
  }
  /** Remembers the questions of an earlier worker. A window that is gone by now is a no. */
  async load() {
    const before = await this.#stored.load() ?? [];
    const shown = await windows();
    for (const question2 of before) {
      const { id } = question2.ask;
      this.#questions.set(id, question2);
      this.#expires(question2);
      const windowId = shown.get(id);
      if (question2.windowId !== void 0 && windowId === void 0) await this.closed(question2.windowId);
      question2.windowId = windowId;
    }
    void this.#next();
    this.#changed();
  }
  /** How many wait for the owner. */
  get waiting() {
    return this.#waiting().length;
  }
  #waiting() {
    return [...this.#questions.values()].filter(isOpen);
  }
  /** The hub asks. It may have asked the same before, over another connection. */
  async ask({ id: request = "", params: ask2 }) {
    const known = this.#questions.get(ask2.id);
    if (!known && this.waiting >= MAX_OPEN) {
      this.#tell(request, { error: new Refusal(Code.Limit, "too many questions wait for the owner already") });
      return;
    }
    const question2 = known ?? { ask: ask2, request, until: Date.now() + ask2.expiresMs };
    question2.request = request;
    question2.until = Math.max(question2.until, Date.now() + ask2.expiresMs);
    this.#asked.add(ask2.id);
    if (question2.answer) {
      this.#tell(request, { result: question2.answer });
      return;
    }
    question2.withdrawn = false;
    if (!known) {
      this.#questions.set(ask2.id, question2);
      this.#expires(question2);
      for (const other of this.#waiting()) if (!this.#asked.has(other.ask.id)) other.withdrawn = true;
    }
    await this.#save();
    void this.#next();
  }
  /** The hub waits no longer for the answer to a request. */
  async cancel(request) {
    const question2 = this.#waiting().find((question3) => question3.request === request);
    if (question2) await this.#withdraw(question2);
  }
  /** @param ids of the questions whose client has given up */
  async gone(ids) {
    const changed = [...this.#questions.values()].filter((question2) => !!question2.gone !== ids.includes(question2.ask.id));
    for (const question2 of changed) question2.gone = !question2.gone;
    if (changed.length) await this.#save();
  }
  /** A connection to the hub was made: it may not have the answers that were sent over an earlier one. */
  opened() {
    this.#asked.clear();
    for (const { request, answer: answer2 } of this.#questions.values()) {
      if (answer2) this.#tell(request, { result: answer2 });
    }
  }
  /**
   * What a window shows.
   * @returns undefined if the question is no longer asked
   */
  view(id) {
    const question2 = this.#questions.get(id);
    if (!question2 || !isOpen(question2)) return void 0;
    const { ask: ask2, until, gone } = question2;
    return { ask: ask2, until, gone, waiting: this.waiting - 1 + (ask2.waiting ?? 0) };
  }
  /** Brings the window with the question to the front. */
  async front() {
    const shown = this.#waiting().find(({ windowId }) => windowId !== void 0);
    if (shown?.windowId !== void 0) await chrome.windows.update(shown.windowId, { focused: true });
  }
  /** The owner has answered. */
  async answer(id, answer2) {
    const question2 = this.#questions.get(id);
    if (!question2 || !isOpen(question2)) return;
    if (answer2.reach !== "no" && !question2.ask.reaches.includes(answer2.reach)) return;
    question2.answer = answer2;
    await this.#save();
    this.#tell(question2.request, { result: answer2 });
    if (question2.windowId !== void 0) chrome.windows.remove(question2.windowId).catch(() => {
    });
  }
  /** Opens the window of the next question, unless there is one. */
  async #next() {
    const waiting = this.#waiting();
    const [next] = waiting;
    if (!next || this.#opening || waiting.some(({ windowId }) => windowId !== void 0)) return;
    this.#opening = true;
    const url = `${PAGE}?${encodeURIComponent(next.ask.id)}`;
    const made = await chrome.windows.create({ url, type: "popup", width: WIDTH2, height: HEIGHT2, focused: true }).catch(() => void 0);
    this.#opening = false;
    next.windowId = made?.id;
    if (next.windowId === void 0) {
      this.#questions.delete(next.ask.id);
      this.#tell(next.request, { error: new Refusal(Code.Unsupported, "the browser opens no window to ask its owner in") });
    }
    await this.#save();
  }
  /** A window was closed, which means no while the client waits. What it no longer waits for stays open elsewhere. */
  async closed(windowId) {
    const question2 = [...this.#questions.values()].find((question3) => question3.windowId === windowId);
    if (!question2) return;
    question2.windowId = void 0;
    if (question2.gone) await this.#withdraw(question2);
    else await this.answer(question2.ask.id, { reach: "no" });
    await this.#next();
  }
  async #withdraw(question2) {
    question2.withdrawn = true;
    await this.#save();
    await this.#next();
  }
  /** Forgets all: they are those of a hub that this browser has left. */
  async leave() {
    this.#questions.clear();
    await this.#save();
  }
  #save() {
    this.#changed();
    return this.#stored.write();
  }
  #expires(question2) {
    setTimeout(async () => {
      if (Date.now() < question2.until) return this.#expires(question2);
      this.#questions.delete(question2.ask.id);
      await this.#withdraw(question2);
    }, question2.until - Date.now());
  }
  #tell(request, outcome3) {
    const body = "error" in outcome3 ? { error: { code: outcome3.error.code, message: outcome3.error.message } } : outcome3;
    this.#hub.send(JSON.stringify({ jsonrpc: "2.0", id: request, ...body }));
  }
};
function isOpen({ answer: answer2, withdrawn, until }) {
  return !answer2 && !withdrawn && Date.now() < until;
}
async function windows() {
  const page = chrome.runtime.getURL(`${PAGE}?`);
  const contexts = await chrome.runtime.getContexts({ contextTypes: ["TAB"] });
  const shown = contexts.filter(({ documentUrl }) => documentUrl?.startsWith(page));
  return new Map(shown.map(({ documentUrl = "", windowId }) => [decodeURIComponent(documentUrl.slice(page.length)), windowId]));
}

// worker/bounds.ts
var LOADING4 = 5e3;
var Bounds = class {
  #tabs;
  #packs;
  #settings;
  constructor(tabs2, packs2, settings) {
    this.#tabs = tabs2;
    this.#packs = packs2;
    this.#settings = settings;
  }
  /** Resolves once it is known how far a run may reach. */
  async current({ pack }) {
    if (pack) await this.#packs.current;
  }
  /** The document that a run begins in, or why there is none. */
  async begin(tabId, params) {
    const place2 = await (params.pack ? this.#offering(tabId, params, params.pack) : this.#showing(tabId, params));
    return typeof place2 !== "string" && place2.origin !== params.origin ? "the tab shows another site by now" : place2;
  }
  /** The document that offers a pack's tool. */
  async #offering(tabId, { toolName, frameId, origin }, pack) {
    const offers = ({ tools }) => tools.some((tool) => tool.name === toolName && packOf(tool)?.hash === pack.hash);
    const route = await this.#tabs.route(tabId, { frameId, origin }, offers, LOADING4);
    if (!route) return `the tab does not show a page of the pack ${pack.name}, or not in that frame`;
    const { documentId, origin: at, id } = route.frame;
    return { documentId, origin: at, frameId: id };
  }
  /** The document that a frame shows. */
  async #showing(tabId, { frameId = 0, origin }) {
    if (!permits(this.#settings(), origin)) return "the user does not share this site";
    await awake(tabId).catch(() => {
    });
    const there = await look(tabId, frameId);
    if (!there && await isErrorPage(tabId)) return "the browser shows an error in place of the page, which could not be loaded: reload it, or go to another one";
    return there ? { documentId: there.documentId, origin: there.origin, frameId, url: pageOf(this.#settings(), there).url } : "the tab, or the frame in it, is not there or does not answer";
  }
  /** Why a run may not go on, "" if it may. */
  refusal({ pack }) {
    return pack ? this.#packs.refusal(pack) : "";
  }
  /** What a document learns of it. */
  reach({ params: { pack, reach = [] }, origin }) {
    return pack ? { match: this.#packs.find(pack)?.match ?? [] } : { match: [], origins: [origin, ...reach] };
  }
  /** Whether a run may go on in a page. An empty document has the origin of the one that made it. */
  reaches({ params: { pack }, origin }, url) {
    if (/^about:(blank|srcdoc)/.test(url)) return !pack;
    return URL.canParse(url) && new URL(url).origin === origin && (!pack || matchesAny(this.#packs.find(pack)?.match ?? [], url));
  }
  /** Says of an address, as far as the user shares it, that a run does not reach it. */
  outside({ params: { pack } }, url) {
    const address = pageOf(this.#settings(), { url }).url?.slice(0, 200) || "a page that is not shared";
    return `${address}, ${pack ? "where the pack does not reach" : "which is not on this site"}`;
  }
};

// worker/dialogs.ts
var BUSY5 = 1e3;
async function hookDialogs(tabId, documentId, trusted) {
  const name = crypto.randomUUID();
  const hooked = chrome.scripting.executeScript({ target: { tabId, documentIds: [documentId] }, world: "MAIN", injectImmediately: true, func: hook, args: [name, trusted] }).then(() => name);
  return Promise.race([unlessStopping(hooked, () => void 0), new Promise((late) => setTimeout(late, BUSY5))]);
}
function hook(name, trusted) {
  let until = 0;
  let answer2;
  const undo = [];
  const text4 = (value) => {
    try {
      return String(value).slice(0, 1e3);
    } catch {
      return "";
    }
  };
  const said2 = (asked2) => document.dispatchEvent(new CustomEvent(`${name} asked`, { detail: JSON.stringify(asked2) }));
  const isPersons = () => window.event?.isTrusted === true && /^(click|dblclick|contextmenu|(mouse|pointer|key|touch))/.test(window.event.type);
  const answered = (kind, native, view, args) => {
    if (performance.now() > until || !trusted && isPersons()) return Reflect.apply(native, view, args);
    if (kind === "open") {
      const opened3 = Reflect.apply(native, view, args);
      if (!opened3) said2({ kind, message: text4(args[0] ?? ""), got: "" });
      return opened3;
    }
    const given = kind === "confirm" || kind === "prompt" ? answer2 : void 0;
    if (given) answer2 = void 0;
    const accept = kind === "alert" || given?.accept === true;
    const value = kind === "prompt" && accept ? given?.text ?? text4(args[1] ?? "") : void 0;
    said2({ kind, message: text4(args[0] ?? ""), got: value ?? (accept ? "OK" : "Cancel"), told: given !== void 0 });
    return kind === "confirm" ? accept : kind === "prompt" ? value ?? null : void 0;
  };
  const put = (view) => {
    for (const kind of ["alert", "confirm", "prompt", "print", "open"]) {
      const own = Object.getOwnPropertyDescriptor(view, kind);
      const native = own?.value;
      if (!own?.configurable || typeof native !== "function" || !/\[native code\]/.test(Function.prototype.toString.call(native))) continue;
      const instead = { [kind]: (...args) => answered(kind, native, view, args) }[kind];
      Object.defineProperty(view, kind, { ...own, value: instead });
      undo.push(() => view[kind] === instead && Object.defineProperty(view, kind, own));
    }
    if (!trusted) capture(view);
    for (let i = 0; i < view.length && i < 100; i++) {
      try {
        if (view[i].document) put(view[i]);
      } catch {
      }
    }
  };
  let captured;
  const capture = (view) => {
    const proto = view.Element.prototype;
    const mouse = 1;
    const instead = {
      setPointerCapture(id) {
        if (id !== mouse || performance.now() > until || isPersons()) return void Reflect.apply(natives.setPointerCapture, this, [id]);
        captured = this;
        this.dispatchEvent(new CustomEvent(`${name} captured`, { bubbles: true, composed: true }));
      },
      releasePointerCapture(id) {
        if (id !== mouse || captured !== this) return void Reflect.apply(natives.releasePointerCapture, this, [id]);
        captured = void 0;
        document.dispatchEvent(new CustomEvent(`${name} captured`));
      },
      hasPointerCapture(id) {
        return id === mouse && captured === this || Reflect.apply(natives.hasPointerCapture, this, [id]);
      }
    };
    const natives = {};
    for (const member of ["setPointerCapture", "releasePointerCapture", "hasPointerCapture"]) {
      const own = Object.getOwnPropertyDescriptor(proto, member);
      if (!own?.configurable || typeof own.value !== "function") continue;
      Object.assign(natives, { [member]: own.value });
      Object.defineProperty(proto, member, { ...own, value: instead[member] });
      undo.push(() => proto[member] === instead[member] && Object.defineProperty(proto, member, own));
    }
  };
  const told = (event) => {
    const { detail } = event;
    const { lasts, next } = JSON.parse(detail);
    answer2 = next;
    captured = void 0;
    until = performance.now() + lasts;
    if (lasts > 0) return;
    document.removeEventListener(`${name} answer`, told);
    for (const back of undo) back();
  };
  document.addEventListener(`${name} answer`, told);
  put(window);
}

// worker/follow.ts
var NEXT2 = 1e4;
var ABORTED2 = "ERR_ABORTED";
var LOOK4 = 50;
var STAYS2 = 300;
var PARSED = 2e3;
async function nextDocument(run3, goesOn) {
  const { tabId, frameId, documentId: left } = run3;
  const until = run3.leads?.until ?? Date.now() + NEXT2;
  let last;
  let found2 = 0;
  let quiet = 0;
  for (; goesOn(); await new Promise((done) => setTimeout(done, LOOK4))) {
    const there = await look(tabId, frameId);
    const tab = await unlessStopping(chrome.tabs.get(tabId), () => void 0);
    if (!tab) return "closed";
    if (!there && run3.error && run3.error.error !== ABORTED2 && !run3.params.pack) return "failed";
    const now = Date.now();
    const other = there && there.documentId !== left && there.parsed ? there : void 0;
    if (other?.documentId !== last?.documentId) [found2, quiet] = [now, 0];
    last = other;
    quiet = tab.status === "loading" || tab.pendingUrl || there && !there.complete ? 0 : quiet || now;
    const stays = quiet > 0 && now - quiet >= STAYS2;
    if (last && (stays || now - found2 >= PARSED || now > until)) return last;
    if (!last && (now > until || run3.leads && !run3.leads.declared && stays && there?.documentId === left)) return "stays";
  }
  return void 0;
}

// steps.ts
var ACTING = ["open", "click", "fill", "press", "select", "hover", "scroll", "drag", "upload"];
var VERBS = ["request", ...ACTING, "read", "wait", "dialog", "look"];
function isActing(step) {
  const { request } = step;
  return ACTING.some((verb) => step[verb] !== void 0) || request !== void 0 && ((request.method ?? "GET") !== "GET" || request.token !== void 0);
}
function verbOf(step) {
  return VERBS.find((verb) => verb in step) ?? "";
}

// worker/run.ts
function stepsOf({ params: { steps = [] } }) {
  return steps;
}
function stepsFrom(run3) {
  const steps = stepsOf(run3);
  const acted = steps.findLastIndex((step, i) => i < run3.from && isActing(step));
  return steps.map((step, i) => i < run3.from && !(step.dialog && i > acted) ? {} : step);
}
function isCall({ pack, steps }) {
  return pack !== void 0 && !steps?.length;
}
function isBlind(run3) {
  const { script: script2, documentId } = run3;
  return script2 !== void 0 && script2.known !== documentId && isActing(stepsOf(run3).at(-1) ?? {});
}
function placeOfRun({ documentId, params }) {
  return params.pack && isCall(params) ? placeOf2(documentId, params.pack) : documentId;
}
function placeOf2(documentId = "", { hash }) {
  return `${documentId} ${hash}`;
}
function reported(run3, i) {
  const { reports, granted, did } = run3;
  const step = stepsOf(run3)[i];
  const done = i <= did || i < granted && !isActing(step);
  return reports[i] ?? { verb: verbOf(step), did: done ? "yes" : i === granted ? "perhaps" : "no" };
}
function givesRefs(step) {
  return step.look !== void 0 || step.read !== void 0 && JSON.stringify(step.read).includes('"give":"ref"');
}
function withoutFiles(run3) {
  const steps = stepsOf(run3);
  if (!steps.some(({ upload }) => upload)) return run3;
  const bare = (step) => step.upload ? { ...step, upload: { ...step.upload, files: [] } } : step;
  return { ...run3, params: { ...run3.params, steps: steps.map(bare) } };
}
function lacksFiles(run3) {
  return stepsOf(run3).slice(run3.did + 1).some(({ upload }) => upload && !upload.files.length);
}
function withoutValue(text4) {
  const { steps, page } = JSON.parse(text4);
  const failed = { step: Math.max(0, steps.length - 1), code: "STEP_LOST", message: "all steps were done, and the result was lost with the extension's worker, which the browser stopped" };
  return JSON.stringify({ steps, page, failed });
}
function say(port, message2) {
  try {
    port?.postMessage(message2);
  } catch {
  }
}

// worker/grants.ts
var WAIT = 5 * 6e4;
var Grants = class {
  /** Those that are being decided. */
  #asked = /* @__PURE__ */ new Set();
  #runs;
  #bounds;
  #userInput;
  #settings;
  constructor(runs2, bounds, userInput2, settings) {
    this.#runs = runs2;
    this.#bounds = bounds;
    this.#userInput = userInput2;
    this.#settings = settings;
  }
  /**
   * Gives a script the call of one of its tools, once.
   * @param undone called with why it may not have it
   */
  async call(id, run3, undone) {
    const isOpen2 = () => this.#runs.isOpen(id, run3) && run3.granted < 0;
    if (this.#asked.has(id)) return;
    this.#asked.add(id);
    try {
      const refusal = await this.#mayNot(id, run3, isOpen2);
      if (!isOpen2()) return;
      const port = this.#runs.portOf(run3);
      if (refusal || !port) return undone(refusal?.reason ?? "the page went away");
      run3.granted = 0;
      const written = await this.#runs.write();
      if (!this.#runs.isOpen(id, run3)) return;
      if (written) say(port, { type: "run", id, tool: run3.params.toolName ?? "", args: run3.params.args });
      else undone("the browser cannot write down what is done");
    } finally {
      this.#asked.delete(id);
    }
  }
  /** Lets a document do a step, once. */
  async step(id, run3, step) {
    const { documentId } = run3;
    const key = `${id} ${step}`;
    const isOpen2 = () => this.#runs.isOpen(id, run3) && run3.documentId === documentId && !run3.leads;
    if (this.#asked.has(key) || !isOpen2() || step <= run3.did || step >= stepsOf(run3).length) return;
    this.#asked.add(key);
    try {
      const refusal = await this.#mayNot(id, run3, isOpen2);
      if (!isOpen2()) return;
      if (refusal) return say(this.#runs.portOf(run3), { type: "refused", id, step, ...refusal });
      await this.#runs.prepare(run3, step);
      if (!isOpen2()) return;
      const before = run3.granted;
      run3.granted = Math.max(before, step);
      const written = await this.#runs.write();
      if (!isOpen2()) return;
      if (written) return say(this.#runs.portOf(run3), { type: "go", id, step });
      run3.granted = before;
      say(this.#runs.portOf(run3), { type: "refused", id, step, code: "STEP_STOPPED", reason: "the browser cannot write down what is done" });
    } finally {
      this.#asked.delete(key);
    }
  }
  /** Why a step may not be done, once the person in front of the tab does not use it. */
  async #mayNot(id, run3, isOpen2) {
    const { tabId, frameId, documentId, params } = run3;
    for (const until = Date.now() + WAIT; isOpen2(); ) {
      while (this.#userInput.isActive(tabId) && isOpen2()) {
        if (Date.now() > until) return { code: "STEP_STOPPED", reason: "the person in front of the tab goes on using it" };
        this.#runs.waits(id, run3, "waits until the person in front of the tab does not use it");
        await this.#runs.change();
      }
      if (this.#runs.connected) await this.#bounds.current(params);
      const there = await chrome.webNavigation.getFrame({ tabId, frameId }).catch(() => null);
      if (this.#userInput.isActive(tabId)) continue;
      const refusal = this.#bounds.refusal(params);
      if (refusal) return { code: "STEP_STOPPED", reason: refusal };
      if (there?.documentId !== documentId) return { code: "STEP_STOPPED", reason: "the tab shows another page" };
      if (!permits(this.#settings(), run3.origin)) return { code: "STEP_STOPPED", reason: "the user does not share this site" };
      if (!this.#bounds.reaches(run3, there.url)) return { code: "STEP_REFUSED", reason: `the page is at ${this.#bounds.outside(run3, there.url)}` };
      return void 0;
    }
    return void 0;
  }
};

// worker/framebox.ts
var TIMEOUT3 = 2e3;
async function inTab(tabId, frameId, point, seen2 = true) {
  const frames = await chrome.webNavigation.getAllFrames({ tabId }).catch(() => null) ?? [];
  let at = point;
  for (let id = frameId; id !== 0; ) {
    const frame = frames.find((one) => one.frameId === id);
    if (!frame) return "its frame is gone";
    const [inner] = await askDocuments({ target: { tabId, documentIds: [frame.documentId] }, func: whichFrame }, TIMEOUT3);
    const parent2 = frames.find((one) => one.frameId === frame.parentFrameId);
    if (!inner?.result || !parent2) return "its frame does not answer";
    const [outer] = await askDocuments({ target: { tabId, documentIds: [parent2.documentId] }, func: outward, args: [inner.result, at, seen2] }, TIMEOUT3);
    if (!outer?.result) return "the page around its frame does not answer";
    if (typeof outer.result === "string") return outer.result;
    at = outer.result;
    id = frame.parentFrameId;
  }
  return at;
}
function whichFrame() {
  let index = parent.length - 1;
  while (index >= 0 && parent[index] !== self) index--;
  return { index, width: innerWidth, height: innerHeight };
}
function outward({ index, width, height }, { x, y }, seen2) {
  const frames = [];
  const find = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (/^i?frame$|^object$|^embed$/.test(element.localName)) frames.push(element);
      const shadow = chrome.dom.openOrClosedShadowRoot(element);
      if (shadow) find(shadow);
    }
  };
  find(document);
  const listed = Array.from({ length: self.length }, (_, i) => self[i]);
  const found2 = frames.filter(({ contentWindow }) => contentWindow && (index < 0 ? !listed.includes(contentWindow) : contentWindow === listed[index]));
  if (found2.length !== 1) return "its frame cannot be told from others on the page";
  const [frame] = found2;
  const place2 = () => {
    const rect = frame.getBoundingClientRect();
    const style = getComputedStyle(frame);
    const [left, right, top2, bottom] = [style.paddingLeft, style.paddingRight, style.paddingTop, style.paddingBottom].map(parseFloat);
    const [sx, sy] = [rect.width / frame.offsetWidth, rect.height / frame.offsetHeight];
    return {
      x: rect.left + (frame.clientLeft + left) * sx + x * (frame.clientWidth - left - right) * sx / width,
      y: rect.top + (frame.clientTop + top2) * sy + y * (frame.clientHeight - top2 - bottom) * sy / height
    };
  };
  const isSeen = ({ x: x2, y: y2 }) => x2 >= 0 && y2 >= 0 && x2 < innerWidth && y2 < innerHeight;
  let at = place2();
  if (!seen2) return at;
  if (!isSeen(at)) {
    frame.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    at = place2();
    if (!isSeen(at)) scrollBy({ left: at.x - innerWidth / 2, top: at.y - innerHeight / 2, behavior: "instant" });
    at = place2();
  }
  if (!isSeen(at)) return "its frame is outside of what the page shows";
  let hit = document.elementFromPoint(at.x, at.y);
  for (let inner = hit; inner; ) {
    hit = inner;
    const next = chrome.dom.openOrClosedShadowRoot(hit)?.elementFromPoint(at.x, at.y) ?? null;
    inner = next === hit ? null : next;
  }
  return hit === frame ? at : "something covers its frame";
}

// worker/inputs.ts
var Inputs = class {
  /** What is being given, by the ids of runs. */
  #given = /* @__PURE__ */ new Map();
  #userInput;
  constructor(userInput2) {
    this.#userInput = userInput2;
  }
  /** Settles when no input is being given for a run; undefined if none is. */
  of(id) {
    return this.#given.get(id);
  }
  /** Attaches the debugger for a step that has a place on the screen: its bar moves what is there. */
  async prepare(run3, step) {
    const { click, hover, drag } = stepsOf(run3)[step] ?? {};
    if (click || hover || drag) await globalThis.tabhubTrustedInput?.ready(run3.tabId).catch(() => {
    });
  }
  /**
   * Gives a tab the input of a step.
   * @returns why it has none, or not all of it
   */
  give(id, run3, step, input) {
    const given = this.#give(run3, stepsOf(run3)[step]?.upload?.files ?? [], input);
    this.#given.set(id, given);
    void given.then(() => this.#given.get(id) === given && this.#given.delete(id));
    return given;
  }
  async #give({ tabId, frameId }, files, input) {
    const trusted = globalThis.tabhubTrustedInput;
    if (!trusted) return { code: "NEEDS_TRUSTED_INPUT", reason: "this browser gives no input of its own", begun: false };
    let covered = "";
    let release2 = () => {
    };
    const place2 = async (point) => {
      const at = await inTab(tabId, frameId, point);
      if (typeof at !== "string") return at;
      covered = at;
      throw new Error(at);
    };
    try {
      await trusted.act(tabId, input, files, place2, () => release2 = this.#userInput.own(tabId));
      return void 0;
    } catch (error) {
      const { message: message2, begun } = error;
      return { code: covered ? "STEP_REFUSED" : "STEP_STOPPED", reason: covered || message2, begun };
    } finally {
      release2();
    }
  }
};

// roles.ts
var HEADING = "h1,h2,h3,h4,h5,h6";
var IMPLICIT = {
  article: "article",
  banner: "header",
  blockquote: "blockquote",
  button: "button,summary,input",
  caption: "caption",
  cell: "td",
  checkbox: "input",
  code: "code",
  columnheader: "th",
  combobox: "select,input",
  complementary: "aside",
  contentinfo: "footer",
  definition: "dd",
  deletion: "del,s",
  dialog: "dialog",
  document: "html",
  emphasis: "em",
  figure: "figure",
  form: "form",
  group: "fieldset,details,optgroup",
  gridcell: "td",
  heading: HEADING,
  img: "img",
  insertion: "ins",
  link: "a,area",
  list: "ul,ol,menu",
  listbox: "select,datalist",
  listitem: "li",
  main: "main",
  meter: "meter",
  navigation: "nav",
  option: "option",
  paragraph: "p",
  progressbar: "progress",
  radio: "input",
  region: "section",
  row: "tr",
  rowgroup: "thead,tbody,tfoot",
  rowheader: "th",
  search: "search",
  searchbox: "input",
  separator: "hr",
  slider: "input",
  spinbutton: "input",
  status: "output",
  strong: "strong",
  subscript: "sub",
  superscript: "sup",
  table: "table",
  term: "dt",
  textbox: "textarea,input,[contenteditable]",
  time: "time"
};
var CLAIMED = `alert alertdialog application directory feed generic grid log marquee math menu menubar menuitem menuitemcheckbox menuitemradio none note
presentation progressbar radiogroup scrollbar switch tab tablist tabpanel timer toolbar tooltip tree treegrid treeitem image`.split(/\s+/);
var ROLES = /* @__PURE__ */ new Set([...Object.keys(IMPLICIT), ...CLAIMED]);

// targets.ts
var STRING = String.raw`"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"`;
var REF2 = new RegExp(String.raw`^(?:[a-z]+(?:\s+${STRING})?\s+)?([a-z]{3,8}[1-9]\d{0,8})$`);
var PART = new RegExp(String.raw`^([a-z]+)(?:\s+(${STRING}))?(?:\s+#(-?[1-9]\d{0,3}))?(?:\s+in\s+|$)`);
function parseTarget(text4) {
  const [, ref] = REF2.exec(text4.trim()) ?? [];
  return ref ? { ref } : parsePart(text4.trim());
}
function parsePart(text4) {
  const [part, role, quoted, nth] = PART.exec(text4) ?? [];
  if (!part) return void 0;
  const isInner = /\sin\s+$/.test(part);
  const outer = isInner ? parsePart(text4.slice(part.length)) : void 0;
  const name = quoted === void 0 ? void 0 : JSON.parse(quoted);
  const isKnown = role === "field" ? name !== void 0 : ROLES.has(role);
  if (!isKnown || isInner && !outer || name === "") return void 0;
  const named = role === "field" ? { label: name } : { role, ...name ? { name } : {} };
  return { ...named, ...nth ? { nth: Number(nth) } : {}, ...outer ? { in: outer } : {} };
}

// worker/pagecalls.ts
var BadCall = class extends Error {
};
var FOUND = { ref: { give: "ref" }, role: { give: "role" }, name: { give: "name" }, text: { optional: true }, value: { give: "value", optional: true } };
var GIVES = ["text", "number", "value", "checked", "link", "attribute", "ref", "role", "name"];
var MAX_TIMEOUT = 60;
var METHODS3 = {
  click: (target, options) => {
    const { count, button: button2 } = members(options, "count", "button");
    if (count !== void 0 && count !== 1 && count !== 2) throw new BadCall("count is 1 or 2");
    if (button2 !== void 0 && button2 !== "left" && button2 !== "right") throw new BadCall('button is "left" or "right"');
    return { step: { click: { target: targetOf(target), ...count === 2 ? { count } : {}, ...button2 === "right" ? { button: button2 } : {} } } };
  },
  fill: (target, value) => {
    const isMany = value === void 0 && typeof target === "object" && target !== null && !Array.isArray(target);
    const fields = isMany ? Object.entries(target).map(([text4, value2]) => fieldOf(text4, value2)) : [fieldOf(target, value)];
    return { step: { fill: { fields } } };
  },
  select: (target, labels) => ({ step: { select: { target: targetOf(target), options: list(labels).map((label) => text3(label, "what is chosen")) } } }),
  press: (key, target) => ({ step: { press: { key: text3(key, "the key"), ...target === void 0 ? {} : { target: targetOf(target) } } } }),
  hover: (target) => ({ step: { hover: { target: targetOf(target) } } }),
  scroll: (to, pages) => {
    if (typeof to === "number") return { step: { scroll: { pages: to } } };
    return { step: { scroll: { ...to === void 0 ? {} : { target: targetOf(to) }, ...pages === void 0 ? {} : { pages: number(pages, "pages") } } } };
  },
  drag: (target, to) => ({ step: { drag: { target: targetOf(target), to: targetOf(to) } } }),
  dialog: (accept, answer2) => {
    if (typeof accept !== "boolean") throw new BadCall("the first argument is true, to accept, or false");
    return { step: { dialog: { accept, ...answer2 === void 0 ? {} : { text: text3(answer2, "the answer") } } } };
  },
  open: (path) => ({ step: { open: { path: text3(path, "the path") } } }),
  wait: (target, options) => {
    const { gone, timeout } = members(options, "gone", "timeout");
    const seconds = timeout === void 0 ? {} : { timeout: number(timeout, "timeout, in seconds,") };
    if ((seconds.timeout ?? 1) < 1 || (seconds.timeout ?? 1) > MAX_TIMEOUT) throw new BadCall(`timeout is 1 to ${MAX_TIMEOUT} seconds`);
    return { step: { wait: gone === true ? { gone: targetOf(target) } : { for: targetOf(target) }, ...seconds } };
  },
  text: (target) => ({ step: { read: { fields: { text: { target: target === void 0 ? { selector: "body" } : targetOf(target) } } } }, gives: "text" }),
  find: (target) => ({ step: { read: { list: targetOf(target), fields: FOUND } }, none: true }),
  read: (what) => {
    const { list: list2, fields, table, max } = members(what, "list", "fields", "table", "max");
    const limit = max === void 0 ? {} : { max: number(max, "max") };
    if (table !== void 0) return { step: { read: { table: tableOf(table), ...limit } } };
    const all = Object.entries(members(fields)).map(([name, field]) => [name, readFieldOf(field)]);
    if (!all.length) throw new BadCall("it has fields, or a table");
    return { step: { read: { ...list2 === void 0 ? {} : { list: targetOf(list2) }, fields: Object.fromEntries(all), ...limit } } };
  },
  look: (options) => {
    const { find, scope, depth } = members(options, "find", "scope", "depth");
    const look3 = {
      ...find === void 0 ? {} : { find: text3(find, "find") },
      ...scope === void 0 ? {} : { target: targetOf(scope) },
      ...depth === void 0 ? {} : { depth: number(depth, "depth") }
    };
    return { step: { look: look3 } };
  }
};
function pageCall(verb, args) {
  try {
    const given = JSON.parse(args, (_, value) => value === null ? void 0 : value);
    if (!Object.hasOwn(METHODS3, verb) || !Array.isArray(given)) throw new BadCall("there is no such method");
    return METHODS3[verb](...given);
  } catch (error) {
    throw new BadCall(`page.${verb.slice(0, 20)}: ${error instanceof Error ? error.message : error}`);
  }
}
function pauseOf(verb, args) {
  const ms = verb === "wait" ? JSON.parse(args)[0] : void 0;
  return typeof ms === "number" ? Math.min(Math.max(0, ms), MAX_TIMEOUT * 1e3) : void 0;
}
function targetOf(value) {
  if (typeof value === "string") {
    const target2 = parseTarget(value);
    if (target2) return target2;
    throw new BadCall(`${JSON.stringify(value.slice(0, 100))} is no target: one is a reference, such as kfa3, or a role and a name, such as button "Order" or button "Remove" in row "Tea..."`);
  }
  const { in: outer, nth, ...texts } = members(value, "ref", "role", "name", "label", "selector", "nth", "in");
  const target = Object.fromEntries(Object.entries(texts).filter(([, member]) => member !== void 0).map(([name, member]) => [name, text3(member, name)]));
  if (!Object.keys(target).length) throw new BadCall("a target is a text, or an object with ref, role and name, label or selector");
  return { ...target, ...nth === void 0 ? {} : { nth: number(nth, "nth") }, ...outer === void 0 ? {} : { in: targetOf(outer) } };
}
function fieldOf(target, value) {
  const isValue = ["string", "number", "boolean"].includes(typeof value) || Array.isArray(value) && value.every((one) => typeof one === "string");
  if (!isValue) throw new BadCall("a field is filled with a text, a number, true or false, or a list of texts");
  return { target: targetOf(target), value };
}
function readFieldOf(field) {
  if (typeof field === "string") return { target: targetOf(field) };
  const { target, give, attribute, optional } = members(field, "target", "give", "attribute", "optional");
  if (give !== void 0 && !GIVES.includes(give)) throw new BadCall(`give is one of ${GIVES.join(", ")}`);
  return {
    ...target === void 0 ? {} : { target: targetOf(target) },
    ...give === void 0 ? {} : { give },
    ...attribute === void 0 ? {} : { attribute: text3(attribute, "attribute") },
    ...optional === true ? { optional } : {}
  };
}
function tableOf(table) {
  if (typeof table === "string") return { target: targetOf(table) };
  const { target, columns } = members(table, "target", "columns");
  const named = Object.entries(members(columns)).map(([name, header]) => [name, text3(header, "a column")]);
  return { target: targetOf(target), ...named.length ? { columns: Object.fromEntries(named) } : {} };
}
function members(value, ...names) {
  if (value === void 0) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new BadCall(`${JSON.stringify(value)?.slice(0, 100)} is no object${names.length ? ` with ${names.join(", ")}` : ""}`);
  const other = names.length ? Object.keys(value).find((name) => !names.includes(name)) : void 0;
  if (other !== void 0) throw new BadCall(`there is no ${JSON.stringify(other.slice(0, 50))}, only ${names.join(", ")}`);
  return value;
}
function list(value) {
  return Array.isArray(value) ? value : [value];
}
function text3(value, what) {
  if (typeof value !== "string") throw new BadCall(`${what} is a text`);
  return value;
}
function number(value, what) {
  if (typeof value !== "number") throw new BadCall(`${what} is a number`);
  return value;
}

// worker/sandbox.ts
var THINKS = 6e4;
var MAX_CALLS = 200;
var OPENS = 1e4;
var GONE = "the script is gone: the browser has ended it, as when it takes too much memory";
var Sandbox = class {
  #scripts = /* @__PURE__ */ new Map();
  #port;
  #opened = () => {
  };
  /** Settled when what was begun last, opening or closing the document, is done. */
  #last = Promise.resolve();
  #on;
  constructor(on) {
    this.#on = on;
  }
  /** Runs a script, once. */
  start(id, code) {
    this.#scripts.set(id, { code, queue: [], calls: 0, call: 0, busy: false });
    this.#thinks(id);
    this.#last = this.#last.then(() => this.#open(id));
  }
  /**
   * There is a script of an earlier worker.
   * @param call the latest that was handed on
   */
  expect(id, call) {
    const script2 = { queue: [], calls: 0, call, busy: call > 0 };
    this.#scripts.set(id, script2);
    script2.timer = setTimeout(() => this.#fail(id, "STEP_SCRIPT", GONE), OPENS);
  }
  /** @param value what the latest call has given, as JSON */
  answer(id, value) {
    const script2 = this.#scripts.get(id);
    if (!script2?.busy || script2.pauses) return;
    if (!this.#port && script2.queue[0]?.type !== "gone") {
      script2.answer = value;
      return;
    }
    script2.busy = false;
    this.#post({ type: "answer", id, call: script2.call, value });
    this.#thinks(id);
    this.#next(id);
  }
  /** Whether a script waits for a step that it has called for. */
  waits(id) {
    const { busy = false, pauses = false } = this.#scripts.get(id) ?? {};
    return busy && !pauses;
  }
  stop(id) {
    const script2 = this.#scripts.get(id);
    if (!script2) return;
    clearTimeout(script2.timer);
    this.#scripts.delete(id);
    this.#post({ type: "stop", id });
    if (!this.#scripts.size) this.#last = this.#last.then(() => this.#scripts.size ? void 0 : this.#close());
  }
  // ---- The document
  async #open(id) {
    if (!this.#scripts.has(id)) return;
    try {
      if (!this.#port) {
        await this.#close();
        const opened3 = new Promise((done) => this.#opened = done);
        await chrome.offscreen.createDocument({ url: "offscreen.html", reasons: [chrome.offscreen.Reason.WORKERS], justification: "runs a short script of an app in a worker, apart from all pages" });
        await Promise.race([opened3, new Promise((late) => setTimeout(late, OPENS))]);
        if (!this.#port) throw new Error("its page for scripts did not open in time");
      }
      const script2 = this.#scripts.get(id);
      if (!script2?.code) return;
      this.#post({ type: "start", id, code: script2.code });
      script2.code = void 0;
    } catch (error) {
      this.#fail(id, "STEP_SCRIPT", `the browser runs no script: ${error instanceof Error ? error.message : error}`);
    }
  }
  async #close() {
    this.#port = void 0;
    const contexts = await chrome.runtime.getContexts({ contextTypes: [chrome.runtime.ContextType.OFFSCREEN_DOCUMENT] });
    if (contexts.length) await chrome.offscreen.closeDocument().catch(() => {
    });
  }
  /**
   * The document has opened its port.
   * @param ready resolved once the scripts of an earlier worker are known
   */
  connected(port, ready2) {
    let gone = false;
    port.onMessage.addListener((message2) => void ready2.then(() => gone || this.#heard(port, message2)));
    port.onDisconnect.addListener(() => {
      void chrome.runtime.lastError;
      gone = true;
      if (this.#port !== port) return;
      this.#port = void 0;
      for (const [id, { code }] of this.#scripts) if (code === void 0) this.#said(id, { type: "gone" });
    });
  }
  #heard(port, message2) {
    if (message2.type === "said") {
      if (this.#port === port) this.#said(message2.id, message2.says);
      return;
    }
    this.#port = port;
    this.#opened();
    const there = new Map(message2.scripts.map(({ id, said: said2 }) => [id, said2]));
    for (const id of there.keys()) if (!this.#scripts.has(id)) this.#post({ type: "stop", id });
    for (const [id, script2] of this.#scripts) {
      const said2 = there.get(id);
      if (said2) this.#resume(id, script2, said2);
      else if (script2.code === void 0) this.#fail(id, "STEP_SCRIPT", GONE);
    }
  }
  #post(message2) {
    try {
      this.#port?.postMessage(message2);
    } catch {
    }
  }
  // ---- What scripts say
  #resume(id, script2, said2) {
    clearTimeout(script2.timer);
    const [first] = said2;
    const isOpen2 = first?.type === "call" && first.call === script2.call;
    if (!isOpen2) script2.busy = false;
    script2.calls = script2.call + said2.length;
    script2.queue = isOpen2 ? said2.slice(1) : said2;
    const { answer: answer2 } = script2;
    script2.answer = void 0;
    if (script2.busy && answer2 !== void 0) return this.answer(id, answer2);
    if (!script2.busy) this.#thinks(id);
    this.#next(id);
  }
  #said(id, says) {
    const script2 = this.#scripts.get(id);
    if (!script2) return this.#post({ type: "stop", id });
    if (says.type === "call" && ++script2.calls > MAX_CALLS) says = { type: "threw", message: `a script may take ${MAX_CALLS} steps` };
    if (says.type === "call" || says.type === "ended") script2.queue.push(says);
    else script2.queue = [says];
    this.#next(id);
  }
  #next(id) {
    const script2 = this.#scripts.get(id);
    const says = script2?.busy ? void 0 : script2?.queue.shift();
    if (!script2 || !says) return;
    clearTimeout(script2.timer);
    if (says.type === "ended") return this.#on.ended(id, says.value);
    if (says.type === "threw") return this.#fail(id, "STEP_SCRIPT", says.message);
    if (says.type === "gone") return this.#fail(id, "STEP_SCRIPT", GONE);
    script2.call = says.call;
    script2.busy = true;
    const pause2 = pauseOf(says.verb, says.args);
    if (pause2 === void 0) return this.#on.called(id, says.call, says.verb, says.args);
    script2.pauses = true;
    script2.timer = setTimeout(() => {
      script2.pauses = false;
      this.answer(id, "null");
    }, pause2);
  }
  /** It goes on without a step, for a while. */
  #thinks(id) {
    const script2 = this.#scripts.get(id);
    if (!script2) return;
    clearTimeout(script2.timer);
    script2.timer = setTimeout(() => this.#fail(id, "STEP_TIMEOUT", `the script went on for ${THINKS / 1e3} s without a step`), THINKS);
  }
  #fail(id, code, message2) {
    if (!this.#scripts.has(id)) return;
    this.stop(id);
    this.#on.failed(id, code, message2);
  }
};

// worker/runs.ts
var LIFE = 9 * 6e4;
var RETURN3 = 1e4;
var REMIND2 = 1e4;
var MAX_VALUES = 1 << 20;
var MAX_KEPT3 = 256 << 10;
var Runs = class {
  #open = /* @__PURE__ */ new Map();
  /** The answers that the hub may not have. */
  #ended = /* @__PURE__ */ new Map();
  #since = 0;
  /** Runs that have no document yet, with what ends their waiting. */
  #starting = /* @__PURE__ */ new Map();
  /** The ports of the documents with the script. */
  #ports = /* @__PURE__ */ new Map();
  #following = /* @__PURE__ */ new Set();
  #hooking = /* @__PURE__ */ new Map();
  /** Called when a run has ended, or a person has left a tab. */
  #wakes = /* @__PURE__ */ new Set();
  #reminder;
  #stored = new Stored("runs", () => this.#kept());
  #bounds;
  #grants;
  #sandbox;
  #inputs;
  #calls;
  #hub;
  #navigations;
  #activity;
  #userInput;
  #settings;
  #looks;
  #ringed;
  /**
   * @param ringed called when a step has acted in a tab, which shows where */
  constructor(tabs2, packs2, calls2, hub2, navigations2, activity2, userInput2, settings, looks2, ringed) {
    this.#looks = looks2;
    this.#bounds = new Bounds(tabs2, packs2, settings);
    this.#calls = calls2;
    this.#hub = hub2;
    this.#navigations = navigations2;
    this.#activity = activity2;
    this.#userInput = userInput2;
    this.#settings = settings;
    this.#ringed = ringed;
    const ledger = {
      isOpen: (id, run3) => this.#open.get(id) === run3,
      portOf: (run3) => this.#portOf(run3),
      write: () => this.#stored.write(),
      prepare: (run3, step) => this.#inputs.prepare(run3, step),
      waits: (id, run3, words) => this.#report(id, run3, words, true),
      change: () => this.#change(),
      get connected() {
        return hub2.connected;
      }
    };
    this.#grants = new Grants(ledger, this.#bounds, userInput2, settings);
    this.#sandbox = new Sandbox({
      called: (id, call, verb, args) => void this.#called(id, call, verb, args),
      ended: (id, value) => this.#returned(id, value),
      failed: (id, code, message2) => {
        const run3 = this.#open.get(id);
        if (run3) this.#fail(id, run3, code, message2);
      }
    });
    this.#inputs = new Inputs(userInput2);
  }
  /** Remembers the runs of an earlier worker. */
  async load() {
    const before = await this.#stored.load();
    if (!before) return;
    this.#since = before.since;
    for (const [id, { tabId, text: text4 }] of Object.entries(before.ended)) this.#hold(id, tabId, text4, "done");
    for (const [id, run3] of Object.entries(before.runs)) {
      this.#open.set(id, run3);
      if (run3.script) this.#sandbox.expect(id, run3.script.call);
      if (run3.script && !this.#sandbox.waits(id)) continue;
      if (run3.leads) void this.#follow(id);
      else if (!this.#ports.has(run3.documentId)) void this.#bring(id, run3);
    }
    if (this.#open.size) this.#remindSoon();
  }
  /** There are packs: from now on it is written down what is begun. */
  expect() {
    if (this.#since) return;
    this.#since = Date.now();
    void this.#stored.write();
  }
  /** Whether a run is under way. */
  runs = (id) => this.#open.has(id);
  /** Whether a run, or its answer, is here. */
  knows(id) {
    return this.#open.has(id) || this.#starting.has(id) || this.#ended.has(id);
  }
  /** Whether a run acts in a tab. */
  actsIn(tabId) {
    return [...this.#open.values()].some((run3) => run3.acts && run3.tabId === tabId);
  }
  /** A person has begun or ended to use a tab. */
  userInput() {
    this.#wake();
  }
  // ---- What the hub says
  /**
   * Begins a run.
   * @param sentAt of one that the hub sends again: it was sent first at this time or later, as Date.now() has it
   */
  async start(message2, sentAt2) {
    const { id = "", tabId } = message2;
    if (this.knows(id)) return;
    const stop = new AbortController();
    this.#starting.set(id, stop);
    const refusal = await this.#begin(id, message2, sentAt2, stop.signal);
    this.#starting.delete(id);
    if (refusal === void 0 || stop.signal.aborted) return;
    const uncertain = sentAt2 !== void 0 && sentAt2 <= this.#since;
    const error = uncertain ? { code: Code.TabNotFound, message: `${refusal}; the call was sent before, and it may have taken effect` } : { code: Code.TabNotFound, message: refusal, data: { delivered: false } };
    this.#calls.hold(id, tabId, { error }, { ended: "failed" });
  }
  /** @returns why a document is not given the run */
  async #begin(id, message2, sentAt2, signal) {
    const { tabId, params, for: client } = message2;
    if (sentAt2 !== void 0 && sentAt2 <= this.#since) return "the extension was started anew";
    await this.#bounds.current(params);
    const steps = params.steps ?? [];
    const acts = isCall(params) || params.script !== void 0 || steps.some(isActing);
    if (acts && !await this.#turn(id, tabId, signal)) return `another call was still at work in the tab after ${WAIT / 6e4} minutes`;
    if (signal.aborted) return void 0;
    const refusal = this.#bounds.refusal(params);
    if (refusal) return refusal;
    const place2 = await this.#bounds.begin(tabId, params);
    if (signal.aborted) return void 0;
    if (typeof place2 === "string") return place2;
    if (acts && this.actsIn(tabId)) return this.#begin(id, message2, sentAt2, signal);
    const { script: code, ...bare } = params;
    const script2 = code === void 0 ? void 0 : { call: 0, known: place2.documentId };
    const run3 = { tabId, ...place2, params: bare, script: script2, acts, at: Date.now(), progress: 0, words: "it begins", from: 0, granted: -1, did: -1, stayed: -1, reports: [], values: {} };
    this.#open.set(id, run3);
    this.#starting.delete(id);
    if (!await this.#stored.write()) {
      this.#close(id);
      return "the browser cannot write down what is done";
    }
    if (this.#open.get(id) !== run3) return void 0;
    this.#activity.begun(id, tabId, params.pack ? "tool" : "acts", params.toolName ?? (script2 ? "ran a script" : ""), acts, client);
    if (acts) void this.#userInput.watch(tabId);
    this.#remindSoon();
    if (code === void 0) void this.#bring(id, run3);
    else this.#sandbox.start(id, code);
    return void 0;
  }
  /** Waits until no other run acts in a tab. @returns whether that is so in time */
  async #turn(id, tabId, signal) {
    let told = 0;
    for (const until = Date.now() + WAIT; this.actsIn(tabId) && !signal.aborted; ) {
      if (Date.now() > until) return false;
      this.#hub.notify("browser/progress", { requestId: id, progress: ++told, message: "waits for another call that is at work in the tab" }, tabId);
      await this.#change();
    }
    return true;
  }
  /** Cancels a run. @returns whether there is one */
  cancel(id, reason) {
    this.#starting.get(id)?.abort();
    const run3 = this.#open.get(id);
    if (run3) {
      say(this.#portOf(run3), { type: "stop", id, reason });
      this.#close(id);
      this.#activity.ended(id, "cancelled");
    }
    this.#wake();
    return this.knows(id) || run3 !== void 0;
  }
  /** Ends the runs that may not go on: of packs that are not offered any more, and of sites that are switched off. */
  check() {
    for (const [id, run3] of this.#open) {
      const refusal = permits(this.#settings(), run3.origin) ? this.#bounds.refusal(run3.params) : "the user has switched this site off";
      if (refusal) this.#fail(id, run3, "STEP_STOPPED", refusal);
    }
  }
  // ---- What documents say
  /**
   * A document with the script has opened its port.
   * @param ready resolved once the runs of an earlier worker are known
   */
  connected(port, ready2) {
    const { documentId = "" } = port.sender ?? {};
    this.#ports.set(documentId, port);
    port.onMessage.addListener((message2) => void ready2.then(() => this.#heard(port, documentId, message2)));
    port.onDisconnect.addListener(() => {
      if (this.#ports.get(documentId) !== port) return;
      this.#ports.delete(documentId);
      void ready2.then(() => this.#without(documentId));
    });
  }
  /** The document of clients' scripts has opened its port. */
  scripts(port, ready2) {
    this.#sandbox.connected(port, ready2);
  }
  /** A pack's script in a document has opened its port, or says what came of its calls. */
  script(port, pack, message2) {
    const place2 = placeOf2(port.sender?.documentId, pack);
    if (message2) this.#heard(port, place2, message2);
    else this.#ports.set(place2, port);
  }
  /** The port of a pack's script was closed. */
  scriptLeft(port, pack) {
    const place2 = placeOf2(port.sender?.documentId, pack);
    if (this.#ports.get(place2) !== port) return;
    this.#ports.delete(place2);
    this.#without(place2);
  }
  /** There is no port any more of what has runs. */
  #without(place2) {
    for (const [id, run3] of this.#open) if (placeOfRun(run3) === place2 && !this.#ports.has(place2)) this.#left(id, run3);
  }
  #portOf(run3) {
    return this.#ports.get(placeOfRun(run3));
  }
  /** @param place where the port leads: a document, or a script in it */
  #heard(port, place2, message2) {
    const isHere = (run4) => run4 !== void 0 && placeOfRun(run4) === place2;
    if (message2.type === "hello") {
      for (const id2 of message2.runs) if (!isHere(this.#open.get(id2))) say(port, { type: "stop", id: id2, reason: "the call is not wanted here any more" });
      for (const [id2, run4] of this.#open) if (isHere(run4) && !message2.runs.includes(id2)) void this.#give(id2, run4, port);
      return;
    }
    const { id } = message2;
    const run3 = this.#open.get(id);
    if (!isHere(run3)) {
      if (message2.type === "end") say(port, { type: "stop", id, reason: "" });
      return;
    }
    switch (message2.type) {
      case "grant":
        void this.#grants.step(id, run3, message2.step);
        break;
      case "did":
        this.#did(id, run3, message2);
        break;
      case "input":
        void this.#input(id, run3, message2);
        break;
      case "progress":
        if (message2.step >= run3.did) run3.stayed = run3.did;
        this.#stored.save();
        this.#report(id, run3, message2.words);
        break;
      case "end":
        if (run3.leads && !message2.result.failed) break;
        if (run3.script && message2.from !== stepsOf(run3).length - 1) return void this.#give(id, run3, port);
        if (run3.script && !message2.result.failed) return this.#stepped(id, run3, message2.result);
        say(port, { type: "stop", id, reason: "" });
        this.#finish(id, run3, message2.result);
    }
  }
  /** A step was done. */
  #did(id, run3, { step, report, values, navigates }) {
    if (step >= stepsOf(run3).length) return;
    run3.did = Math.max(run3.did, step);
    run3.granted = Math.max(run3.granted, step);
    run3.reports[step] = report;
    this.#activity.did(id, report.words ?? "");
    if (!run3.script) run3.values = JSON.stringify(values).length <= MAX_VALUES ? values : void 0;
    this.#ringed(run3.tabId);
    if (navigates && step === run3.did) this.#leads(id, run3, step);
    void this.#stored.write();
  }
  /** Gives the page the input of a step that may be done. */
  async #input(id, run3, { step, input, done }) {
    if (step !== run3.granted || step <= run3.did || this.#inputs.of(id)) return;
    const { documentId } = run3;
    const error = await this.#inputs.give(id, run3, step, input);
    if (this.#open.get(id) !== run3) return;
    if (done && !error) this.#did(id, run3, { step, ...done });
    const port = this.#ports.get(documentId);
    if (port) say(port, { type: "input", id, step, error });
    else if (run3.documentId === documentId) this.#left(id, run3);
  }
  /** The person in front of the browser has ended its debugger in a tab: what acts there ends, too. */
  debuggerEnded(tabId) {
    for (const [id, run3] of this.#open) if (run3.tabId === tabId && run3.acts) this.#fail(id, run3, "STEP_STOPPED", "the person in front of the browser has ended its debugger in the tab");
  }
  /** Brings the script to the document that has a run. */
  async #bring(id, run3) {
    const { tabId, frameId, documentId } = run3;
    const port = this.#portOf(run3);
    if (port) return this.#give(id, run3, port);
    if (isCall(run3.params)) {
      setTimeout(() => this.#open.get(id) === run3 && !this.#portOf(run3) && this.#left(id, run3), RETURN3);
      return;
    }
    const target = { tabId, documentIds: [documentId] };
    const shown = await unlessStopping(chrome.webNavigation.getFrame({ tabId, frameId }), () => null);
    if (shown?.documentId === documentId) {
      const brought = chrome.scripting.executeScript({ target, files: ["content/steps.js"], injectImmediately: true });
      await Promise.race([unlessStopping(brought, () => void 0), new Promise((late) => setTimeout(late, NEXT2))]);
      if (this.#open.get(id) !== run3 || run3.documentId !== documentId || this.#ports.has(documentId)) return;
      await new Promise((done) => setTimeout(done, STAYS2));
    }
    if (this.#open.get(id) === run3 && run3.documentId === documentId && !this.#ports.has(documentId)) this.#left(id, run3);
  }
  /** Gives a run to the document that is to have it. */
  async #give(id, run3, port) {
    if (run3.leads || run3.script && !this.#sandbox.waits(id)) return;
    const last = stepsOf(run3).length - 1;
    if (run3.script && run3.did === last) return this.#answer(id, run3, null);
    if (isBlind(run3)) {
      return this.#fail(id, run3, "STEP_LOST", "the page gave way to another one, to which no step had led: a script looks there before it acts, by page.wait, page.find or page.look; nothing more was done");
    }
    if (run3.granted > run3.did) return this.#lost(id, run3, "the script in the page was started anew");
    const { params, values } = run3;
    if (isCall(params)) return void this.#grants.call(id, run3, (why) => this.#undone(id, run3, why));
    if (lacksFiles(run3)) return this.#fail(id, run3, "STEP_STOPPED", "the browser stopped the extension's worker, which had the files");
    if (!values) return this.#fail(id, run3, "STEP_REFUSED", `what the steps gave is more than the ${MAX_VALUES >> 20} MiB that a run may take to another page`);
    const refusal = this.#bounds.refusal(params);
    if (refusal) return this.#fail(id, run3, "STEP_STOPPED", refusal);
    const [dialogs, isShown] = await Promise.all([this.#hooked(id, run3), this.#isShown(run3)]);
    if (this.#open.get(id) !== run3 || this.#portOf(run3) !== port || run3.leads || run3.granted > run3.did) return;
    if (!isShown) return this.#leftUnsaid(id, run3);
    run3.from = run3.script ? last : run3.did + 1;
    void this.#stored.write();
    const tag = !params.pack && stepsOf(run3).slice(run3.from).some(givesRefs) ? this.#looks.tag(run3.tabId, run3.documentId) : void 0;
    say(port, { type: "run", id, from: run3.from, steps: stepsFrom(run3), more: run3.script && true, none: run3.script?.none, args: params.args, result: params.result, values, ...this.#bounds.reach(run3), tag, mark: this.#settings().mark, dialogs, trusted: globalThis.tabhubTrustedInput !== void 0 });
  }
  /** Has the dialogs of a document answered while a client's own steps act there. @returns what their events are called */
  #hooked(id, run3) {
    const { tabId, documentId, params, did } = run3;
    if (params.pack || !stepsOf(run3).slice(did + 1).some(isActing)) return void 0;
    const key = `${id} ${documentId}`;
    const hooked = this.#hooking.get(key) ?? hookDialogs(tabId, documentId, globalThis.tabhubTrustedInput !== void 0).finally(() => this.#hooking.delete(key));
    this.#hooking.set(key, hooked);
    return hooked;
  }
  // ---- What scripts say
  /** A script calls a method of page. */
  async #called(id, call, verb, args) {
    const run3 = this.#open.get(id);
    if (!run3?.script) return;
    try {
      const { step, gives, none } = pageCall(verb, args);
      run3.params.steps = [...stepsOf(run3), step];
      run3.script = { ...run3.script, call, gives, none };
    } catch (error) {
      return this.#fail(id, run3, "STEP_SCRIPT", error.message);
    }
    if (run3.script.left) return this.#fail(id, run3, "STEP_REFUSED", run3.script.left);
    const { tabId, frameId, documentId } = run3;
    const [, there] = await Promise.all([this.#stored.write(), chrome.webNavigation.getFrame({ tabId, frameId }).catch(() => null)]);
    if (this.#open.get(id) !== run3) return;
    if (there?.documentId === documentId) await this.#bring(id, run3);
    else await this.#follow(id);
  }
  /** A document has done a script's step. */
  #stepped(id, run3, { steps: [report], value }) {
    const { gives } = run3.script ?? {};
    run3.reports[stepsOf(run3).length - 1] = report;
    this.#answer(id, run3, gives ? value?.[gives] : value);
  }
  #answer(id, run3, value) {
    if (run3.script) run3.script.known = run3.documentId;
    this.#stored.save();
    this.#sandbox.answer(id, JSON.stringify(value ?? null));
  }
  #returned(id, value) {
    const run3 = this.#open.get(id);
    if (!run3) return;
    run3.from = stepsOf(run3).length;
    this.#finish(id, run3, { steps: [], value: JSON.parse(value) });
  }
  // ---- From one document to the next
  /** A step leads to another document. */
  #leads(id, run3, step) {
    if (run3.leads) return;
    const { open: open2, click, press, timeout } = stepsOf(run3)[step];
    const declared = open2 !== void 0 || click?.navigates === true || press?.navigates === true;
    run3.leads = { until: Date.now() + (timeout ? timeout * 1e3 : open2 || !declared ? NEXT2 : NEXT2 / 2), declared };
    void this.#follow(id);
  }
  /** The document that has a run has gone. */
  #left(id, run3) {
    if (this.#inputs.of(id)) return;
    if (run3.script && !this.#sandbox.waits(id)) return;
    const why = isCall(run3.params) && this.#bounds.refusal(run3.params) || "the page went away";
    if (run3.granted > run3.did || isCall(run3.params)) this.#lost(id, run3, why);
    else void this.#follow(id);
  }
  /** Whether the document that has a run is the one that its frame shows. */
  async #isShown({ tabId, frameId, documentId }) {
    const there = await unlessStopping(chrome.webNavigation.getFrame({ tabId, frameId }), () => null);
    return there?.documentId === documentId;
  }
  /** The document of a run has gone, and its port stays: it was opened while the browser put the document aside. */
  #leftUnsaid(id, run3) {
    this.#ports.delete(placeOfRun(run3));
    this.#left(id, run3);
  }
  /** Gives a run to the document that follows the one that has it. */
  async #follow(id) {
    const run3 = this.#open.get(id);
    if (!run3 || this.#following.has(id)) return;
    this.#following.add(id);
    const next = await nextDocument(run3, () => this.#open.get(id) === run3 && (run3.leads !== void 0 || !this.#ports.has(run3.documentId)));
    this.#following.delete(id);
    if (this.#open.get(id) !== run3 || !next) return;
    const { leads } = run3;
    if (next === "closed") return this.#lost(id, run3, "the tab was closed");
    if (next === "failed") {
      run3.page = run3.error && this.#navigations.failed(run3.error).page;
      return this.#goesNoFurther(id, run3, `step ${run3.did + 1} led to a page that could not be loaded (${run3.error?.error})`);
    }
    if (next === "stays" && leads?.declared) {
      return this.#fail(id, run3, "STEP_TIMEOUT", `it was to lead to another page, and ${run3.error ? `that did not load (${run3.error.error})` : "none came in time"}`, run3.did);
    }
    if (next === "stays") {
      if (!leads) return this.#lost(id, run3, "the page went away");
      run3.leads = void 0;
      return this.#bring(id, run3);
    }
    const { documentId, url, origin } = next;
    if (!leads && this.#wasLed(run3)) {
      return this.#lost(id, run3, "the page gave way to another one", "; a step that leads to another page after a while has to say so with navigates");
    }
    if (!permits(this.#settings(), origin) || origin !== run3.origin || !this.#bounds.reaches(run3, url)) {
      run3.moved = true;
      const why = this.#bounds.refusal(run3.params);
      if (why) return this.#fail(id, run3, "STEP_STOPPED", why);
      if (run3.params.reach?.includes(origin)) return this.#goesNoFurther(id, run3, `step ${run3.did + 1} led to ${this.#bounds.outside(run3, url)}`);
      const led = run3.did < 0 ? "the page went" : `step ${run3.did + 1} led`;
      return this.#fail(id, run3, "STEP_REFUSED", `${led} to ${this.#bounds.outside(run3, url)}`);
    }
    Object.assign(run3, { documentId, from: run3.did + 1, leads: void 0, error: void 0, moved: true });
    if (leads && run3.script) run3.script.known = documentId;
    await this.#stored.write();
    if (this.#open.get(id) === run3) await this.#bring(id, run3);
  }
  /** Whether somebody else has led a run to another document, in which what it did, such as filling in, may count for nothing. */
  #wasLed({ did, stayed, script: script2, params: { steps = [] } }) {
    if (script2) return false;
    return did >= 0 && (stayed === did || steps[did].fill !== void 0) && steps.slice(did + 1).some(isActing);
  }
  /** A step has led where no other one can be done: that ends the run well if it was the last. */
  #goesNoFurther(id, run3, why) {
    const last = stepsOf(run3).length - 1;
    if (run3.did !== last) return this.#fail(id, run3, "STEP_REFUSED", why);
    if (run3.script) {
      run3.script.left = why;
      run3.leads = void 0;
      return this.#answer(id, run3, null);
    }
    run3.from = last + 1;
    return this.#finish(id, run3, { steps: [], value: null });
  }
  /** The browser could not show a document. */
  failed({ tabId, frameId, url, error }) {
    for (const run3 of this.#open.values()) if (run3.tabId === tabId && run3.frameId === frameId) run3.error = { url, error: error.replace(/^net::/, "") };
  }
  // ---- How a run ends
  /** The document of a run has gone, or its script: what was begun there may have been done. */
  #lost(id, run3, why, hint = "") {
    if (run3.did < 0 && run3.granted < 0) return this.#undone(id, run3, why);
    if (isCall(run3.params)) return this.#fail(id, run3, "STEP_LOST", `${why} before the script had answered`, 0);
    const begun = run3.granted > run3.did ? `${why} while step ${run3.granted + 1} was done: it may have been done, and nothing after it was` : `${why} after step ${run3.did + 1}; nothing after it was done${hint}`;
    this.#fail(id, run3, "STEP_LOST", begun);
  }
  /** Ends a run of which nothing was done. */
  #undone(id, run3, why) {
    this.#close(id);
    this.#calls.hold(id, run3.tabId, { error: { code: Code.TabNotFound, message: why, data: { delivered: false } } }, { ended: "failed" });
  }
  /** Ends a run whose document cannot. @param step at which it ended */
  #fail(id, run3, code, message2, step = Math.min(run3.script ? Infinity : Math.max(run3.granted, run3.did + 1), stepsOf(run3).length - 1)) {
    const steps = stepsOf(run3).slice(0, Math.max(run3.granted, run3.did, step) + 1).map((_, i) => reported(run3, i));
    run3.from = 0;
    say(this.#portOf(run3), { type: "stop", id, reason: message2 });
    this.#finish(id, run3, { steps, failed: { step: Math.max(0, step), code, message: message2 } });
  }
  /** @param result of the document that has it, or from the first step on */
  async #finish(id, run3, result) {
    const before = stepsOf(run3).slice(0, run3.from).map((_, i) => reported(run3, i));
    const whole = { ...result, steps: [...before, ...result.steps] };
    this.#close(id);
    const page = run3.page ?? (run3.moved || run3.acts && run3.url ? await this.#navigations.here(run3) : void 0);
    if (run3.page || run3.moved || page?.url && page.url !== run3.url) whole.page = page;
    this.#hold(id, run3.tabId, JSON.stringify(whole), whole.failed ? "failed" : "done");
  }
  /** Keeps an answer until the hub has it. */
  #hold(id, tabId, text4, ended) {
    this.#ended.set(id, { tabId, text: text4 });
    void this.#stored.write();
    const confirmed = () => {
      this.#ended.delete(id);
      this.#stored.save();
    };
    this.#calls.hold(id, tabId, { result: text4 }, { ended, confirmed });
  }
  #close(id) {
    this.#open.delete(id);
    this.#sandbox.stop(id);
    this.#stored.save();
    this.#wake();
    if (this.#open.size) return;
    clearInterval(this.#reminder);
    this.#reminder = void 0;
  }
  // ---- While it goes on
  #report(id, run3, words, waiting) {
    run3.words = words;
    this.#hub.notify("browser/progress", { requestId: id, progress: ++run3.progress, waiting, message: words }, run3.tabId);
  }
  #remindSoon() {
    this.#reminder ??= setInterval(() => this.#remind(), REMIND2);
  }
  #remind() {
    for (const [id, run3] of this.#open) {
      const { documentId } = run3;
      void this.#isShown(run3).then((is) => !is && this.#open.get(id) === run3 && run3.documentId === documentId && !run3.leads && !this.#following.has(id) && this.#leftUnsaid(id, run3));
      if (Date.now() - run3.at < LIFE) this.#report(id, run3, run3.words);
      else this.#fail(id, run3, "STEP_TIMEOUT", `the run has taken ${LIFE / 6e4} minutes`);
    }
  }
  /** Resolves when something has changed that a run may wait for, or after a while. */
  #change() {
    return new Promise((done) => {
      const timer = setTimeout(() => wake(), REMIND2);
      const wake = () => {
        clearTimeout(timer);
        this.#wakes.delete(wake);
        done();
      };
      this.#wakes.add(wake);
    });
  }
  #wake() {
    for (const wake of [...this.#wakes]) wake();
  }
  #kept() {
    const runs2 = Object.fromEntries([...this.#open].map(([id, run3]) => [id, withoutFiles(run3)]));
    const short2 = ({ tabId, text: text4 }) => ({ tabId, text: text4.length <= MAX_KEPT3 ? text4 : withoutValue(text4) });
    const ended = [...this.#ended].map(([id, answer2]) => [id, short2(answer2)]);
    return { since: this.#since, runs: runs2, ended: Object.fromEntries(ended) };
  }
};

// secretnames.ts
var NAMES = new RegExp(
  "(^|[^a-z])(" + [
    "pass(word|wd|phrase|code)|pwd|pin( ?code)?|cvc|cvv|cvv2|csc|otp|totp|tan|ssn|social security( (no|number))?|(credit |debit )?card ?(no|num|number)|cc ?(no|num|number)",
    "security ?code|verification ?code|one ?time ?(code|password|pin)|secret|2fa|mfa ?code|(api |access |auth |security )?token|(api|access|private|recovery|backup) ?(key|code)",
    "passwort|kennwort|geheimzahl|kartennummer|pruf(ziffer|nummer)|mot de passe|code (de securite|secret)|numero de (carte|tarjeta)|contrasena|clave|senha|wachtwoord|haslo"
  ].join("|") + ")([^a-z]|$)"
);
function isSecretName(name) {
  return NAMES.test(apart(name));
}
function apart(text4) {
  const plain = text4.normalize("NFD").replace(/\p{M}/gu, "");
  return plain.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[\s_.[\]-]+/g, " ").toLowerCase();
}
function hasCardNumber(text4) {
  return (text4.match(/\d(?:[ -]?\d){12,}/g) ?? []).some((digits) => {
    const all = digits.replace(/\D/g, "");
    for (let from = 0; from + 13 <= all.length; from++) {
      for (let length = 13; length <= 19 && from + length <= all.length; length++) if (isCard(all.slice(from, from + length))) return true;
      if (all.length <= 19) return false;
    }
    return false;
  });
}
function isCard(digits) {
  if (/^0+$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const twice = Number(digits.at(-1 - i)) * (i % 2 ? 2 : 1);
    sum += twice > 9 ? twice - 9 : twice;
  }
  return sum % 10 === 0;
}
function withoutKeys(address) {
  const url = new URL(address);
  url.hash = url.username = url.password = "";
  for (const [name, value] of [...url.searchParams]) {
    const isKey = isSecretName(name) || KEYS.test(name) || hasCardNumber(value) || /^[\w.~+/=-]{24,}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value);
    if (isKey) url.searchParams.delete(name);
  }
  return url.href;
}
var KEYS = /^(sid|session\w*|auth\w*|key|sig|signature|code|state|nonce|hash|ticket|jwt)$/i;

// worker/recordings.ts
var LIFE2 = 10 * 6e4;
var ASKED = 15 * 6e4;
var MAX_STEPS = 64;
var LEADS = 1e4;
var LAST_WORDS = 1e3;
var ALARM = "recording";
var Recordings = class {
  #now;
  #stored = new Stored("recording", () => this.#now, 0);
  #hub;
  #settings;
  #changed;
  /** @param changed called when a tab is recorded, or no longer */
  constructor(hub2, settings, changed) {
    this.#hub = hub2;
    this.#settings = settings;
    this.#changed = changed;
  }
  async load() {
    this.#now = await this.#stored.load();
    this.late();
    this.#show();
  }
  /** Whether a tab is recorded. */
  get on() {
    return this.#now?.state === "on";
  }
  #show() {
    if (this.#now && this.#now.tabId >= 0) this.#changed(this.#now.tabId, this.#now.draft ? "" : this.#now.state);
  }
  #save() {
    this.#stored.save();
    this.#show();
  }
  // ---- What the hub and the popup ask
  /** The hub has the person asked whether to record. */
  async ask({ tabId, params }) {
    this.late();
    if (this.#now?.state === "on") throw new Refusal(Code.Unsupported, "a recording is under way in this browser");
    if (this.#now?.state === "ended" && !this.#now.draft) throw new Refusal(Code.Unsupported, "a recording waits in the extension's popup: send or discard it there first");
    const [front] = tabId > 0 ? [await chrome.tabs.get(tabId).catch(() => void 0)] : await chrome.tabs.query({ active: true, lastFocusedWindow: true });
    const problem = this.#problem(front);
    if (problem || front?.id === void 0) throw new Refusal(Code.Unsupported, `the tab in front cannot be recorded: ${problem}`);
    this.#clear();
    this.#now = { ...this.#blank(front.id, params.name), state: "asked" };
    this.#save();
    openPopup();
    return {};
  }
  /**
   * The person wants what they do in a tab recorded.
   * @returns what went wrong
   */
  async start(tabId) {
    if (this.#now?.state === "on") return "a recording is under way";
    const tab = await chrome.tabs.get(tabId).catch(() => void 0);
    const problem = this.#problem(tab);
    if (problem) return problem;
    const { url = "", title = "" } = tab ?? {};
    const document2 = await chrome.webNavigation.getFrame({ tabId, frameId: 0 }).catch(() => null);
    if (!document2 || webOrigin(document2.url) !== webOrigin(url)) return "the page is being loaded; try again";
    const name = this.#now?.state === "asked" ? this.#now.name : "";
    this.#clear();
    this.#now = { ...this.#blank(tabId, name), state: "on", documentId: document2.documentId, origin: webOrigin(url) ?? "", url: withoutKeys(url).slice(0, 2048), title: title.slice(0, 1024) };
    await this.#stored.write();
    void chrome.alarms.create(ALARM, { when: Date.now() + LIFE2 });
    this.#show();
    if (await this.#bring()) return "";
    this.discard();
    return "the browser lets no extension into this page";
  }
  #blank(tabId, name) {
    return { state: "on", name, tabId, at: Date.now(), documentId: "", origin: "", url: "", title: "", steps: [], acted: 0, secrets: [], missed: [], reason: "", draft: "" };
  }
  /** Why a tab cannot be recorded, "" if it can. */
  #problem(tab) {
    const origin = webOrigin(tab?.url ?? "");
    if (!tab || !origin) return "it shows no website";
    const { protocol, hostname } = new URL(origin);
    if (protocol !== "https:" && !isLoopback(hostname)) return "it was loaded over http, where no pack has tools";
    return permitsPage(this.#settings(), tab.url ?? "") ? "" : "you do not share its site";
  }
  /** The person ends it, or declines it. */
  async stop() {
    if (this.#now?.state === "asked") return this.discard();
    await this.#end("");
  }
  discard() {
    this.#clear();
    this.#save();
  }
  #clear() {
    if (this.#now && this.#now.tabId >= 0) this.#changed(this.#now.tabId, "");
    this.#now = void 0;
    void chrome.alarms.clear(ALARM);
  }
  /** Leaves a step, or one of the fields of a fill, out. */
  remove(step, field) {
    const { state, steps } = this.#now ?? {};
    if (state !== "ended" || !steps) return;
    const fields = steps[step]?.fill?.fields;
    if (field !== void 0 && fields && fields.length > 1) fields.splice(field, 1);
    else steps.splice(step, 1);
    this.#save();
  }
  /**
   * Sends what was recorded to the hub.
   * @returns what went wrong
   */
  async send(name) {
    const now = this.#now;
    if (now?.state !== "ended" || now.draft) return "";
    const { url, title, steps, secrets } = now;
    now.name = name;
    try {
      now.draft = (await this.#hub.request("browser/recorded", { name, url, title, steps, secrets: secrets.slice(0, MAX_STEPS) })).name;
      now.steps = [];
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      this.#save();
    }
    return "";
  }
  get view() {
    this.late();
    if (!this.#now) return void 0;
    const { state, name, tabId, origin, steps, secrets, missed, reason, draft } = this.#now;
    return { state, name, tabId, host: origin && new URL(origin).host, steps, secrets, missed, reason, draft };
  }
  // ---- What the tab says
  /**
   * Notes what a document says.
   * @returns whether it is to go on
   */
  said({ tab, frameId, documentId = "", origin }, says) {
    const now = this.#now;
    if (now?.state !== "on" || tab?.id !== now.tabId || frameId !== 0 || origin !== now.origin) return false;
    if (this.late()) return false;
    if (!permitsPage(this.#settings(), origin)) {
      void this.#end("you do not share the site any more");
      return false;
    }
    if ("here" in says) {
      if (documentId !== now.documentId) this.#led(now, documentId, false);
    } else if ("ended" in says) void this.#end("").then(openPopup);
    else this.#take(now, says);
    this.#save();
    return this.#now?.state === "on";
  }
  #take(now, says) {
    if ("missed" in says) now.missed = [.../* @__PURE__ */ new Set([...now.missed, says.missed.slice(0, 200)])];
    if ("secret" in says) {
      now.secrets = [.../* @__PURE__ */ new Set([...now.secrets, says.secret.slice(0, 256)])];
      for (const { fill } of now.steps) if (fill) fill.fields = fill.fields.filter(({ target }) => !same(target, says.target));
      now.steps = now.steps.filter(({ fill }) => !fill || fill.fields.length > 0);
    }
    if (!("step" in says)) return;
    const { step, joins = false } = says;
    const before = now.steps.at(-1)?.fill?.fields;
    const [field] = step.fill?.fields ?? [];
    const index = before && field ? before.findIndex(({ target }) => same(target, field.target)) : -1;
    if (before && index >= 0) before[index] = field;
    else if (before && field && joins) before.push(field);
    else now.steps.push(step);
    now.acted = Date.now();
    if (now.steps.length >= MAX_STEPS) void this.#end(`it has ${MAX_STEPS} steps`);
  }
  /** Another document is in the tab. */
  committed({ tabId, frameId, url, documentId = "", documentLifecycle, transitionType, transitionQualifiers }) {
    const now = this.#now;
    if (now?.state !== "on" || tabId !== now.tabId || frameId !== 0 || documentLifecycle === "prerender" || documentId === now.documentId) return;
    const chosen = /^(typed|auto_bookmark|generated|keyword|keyword_generated|reload)$/.test(transitionType) || transitionQualifiers.some((what) => /^(from_address_bar|forward_back)$/.test(what));
    const origin = webOrigin(url) ?? "";
    if (origin !== now.origin) {
      const led = chosen ? void 0 : actOf(now.steps.at(-1));
      if (led) now.steps.pop();
      const where2 = origin ? new URL(origin).host : "another page";
      void this.#end(`the tab went to ${where2}, where nothing is written down${led ? "; the step that led there is left out" : ""}`);
      return;
    }
    if (chosen) {
      const { pathname, searchParams } = new URL(withoutKeys(url));
      now.steps.push({ open: { path: pathname, ...searchParams.size && { query: Object.fromEntries(searchParams) } } });
      now.acted = Date.now();
      now.documentId = documentId;
    } else this.#led(now, documentId, transitionQualifiers.includes("client_redirect"));
    this.#save();
    void this.#bring();
  }
  /** A document has given way to another one, by the last step if by one. */
  #led(now, documentId, byItself) {
    now.documentId = documentId;
    const act = actOf(now.steps.at(-1));
    if (act && (!byItself || Date.now() - now.acted < LEADS)) act.navigates = true;
  }
  /** A tab has changed: a document that was prepared before it was shown is not told of otherwise. */
  seen(tabId, { status, url }) {
    if (this.#now?.state === "on" && this.#now.tabId === tabId && (status === "complete" || url)) void this.#bring();
  }
  closed(tabId) {
    if (this.#now?.tabId !== tabId) return;
    if (this.#now.state === "asked") this.discard();
    else {
      this.#now.tabId = chrome.tabs.TAB_ID_NONE;
      void this.#end("the tab was closed");
    }
  }
  replaced(tabId, before) {
    if (this.#now?.tabId !== before) return;
    this.#now.tabId = tabId;
    this.#save();
    if (this.#now.state === "on") void this.#bring();
  }
  /** @returns whether the recording has lasted as long as one may */
  late() {
    const now = this.#now;
    if (now?.state === "asked" && Date.now() - now.at > ASKED) this.discard();
    if (now?.state !== "on" || Date.now() - now.at < LIFE2) return false;
    void this.#end(`it took longer than ${LIFE2 / 6e4} minutes`);
    return true;
  }
  /** Has the document that the tab shows write down what is done there. */
  async #bring() {
    const { tabId = -1, origin = "" } = this.#now ?? {};
    try {
      const frame = await chrome.webNavigation.getFrame({ tabId, frameId: 0 });
      if (!frame || webOrigin(frame.url) !== origin) return false;
      await chrome.scripting.executeScript({ target: { tabId, documentIds: [frame.documentId] }, files: ["content/recorder.js"], injectImmediately: true });
      return true;
    } catch {
      return false;
    }
  }
  async #end(reason) {
    const now = this.#now;
    if (now?.state !== "on") return;
    now.state = "ended";
    now.reason = reason;
    void chrome.alarms.clear(ALARM);
    this.#save();
    if (now.tabId < 0) return;
    const asked2 = unlessStopping(chrome.tabs.sendMessage(now.tabId, { type: "endRecording" }, { documentId: now.documentId }), () => void 0);
    const rest = await Promise.race([asked2, new Promise((done) => setTimeout(done, LAST_WORDS))]).catch(() => void 0);
    for (const says of rest ?? []) if (this.#now === now && now.steps.length < MAX_STEPS) this.#take(now, says);
    this.#save();
  }
};
function openPopup() {
  void chrome.action.openPopup?.().catch(() => {
  });
}
function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}
function actOf(step) {
  return step?.click ?? step?.press;
}

// worker/pageview.ts
function begin() {
  const LASTS2 = 1e4;
  const BY_HAND = "the person in front of the tab uses it; take the screenshot later, or without full";
  if (Object.hasOwn(globalThis, "tabhubView")) globalThis.tabhubView?.end();
  const all = function* (root2) {
    for (const element of root2.querySelectorAll("*")) {
      yield element;
      const shadow = chrome.dom.openOrClosedShadowRoot(element);
      if (shadow) yield* all(shadow);
    }
  };
  const moreOf = (element) => element.scrollHeight - element.clientHeight;
  const boxOf = (element) => {
    const { left, top: top2 } = element.getBoundingClientRect();
    return { left: left + element.clientLeft, top: top2 + element.clientTop, width: element.clientWidth, height: element.clientHeight };
  };
  const root = document.scrollingElement ?? document.documentElement;
  const scroller = (() => {
    if (moreOf(root) > 0) return root;
    let best = root;
    let size2 = innerWidth * innerHeight * 0.3;
    for (const element of all(document)) {
      if (moreOf(element) < 1 || element.clientWidth * element.clientHeight < size2 || !/auto|scroll|overlay/.test(getComputedStyle(element).overflowY)) continue;
      const { left, top: top2, width, height } = boxOf(element);
      if (left < 0 || top2 < 0 || left + width > innerWidth + 1 || top2 + height > innerHeight + 1 || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      [best, size2] = [element, width * height];
    }
    return best;
  })();
  const more = Math.max(0, moreOf(scroller));
  const pane = scroller === root ? { left: 0, top: 0, width: innerWidth, height: innerHeight } : boxOf(scroller);
  const before = scroller.scrollTop;
  const byHand = new AbortController();
  let used = false;
  for (const type of ["wheel", "pointerdown", "touchstart", "keydown"]) {
    addEventListener(type, ({ isTrusted }) => void (used ||= isTrusted), { capture: true, passive: true, signal: byHand.signal });
  }
  const apart2 = /* @__PURE__ */ new Map();
  let hidden = [];
  const show3 = () => {
    for (const animation of hidden) animation.cancel();
    hidden = [];
  };
  const snaps = scroller.animate({ scrollSnapType: ["none", "none"] }, { duration: 1, fill: "both" });
  let timer;
  const view = {
    async scroll(to, first, last) {
      clearTimeout(timer);
      timer = setTimeout(view.end, LASTS2);
      if (used) return { refused: BY_HAND };
      show3();
      scroller.scrollTo({ top: to, behavior: "instant" });
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const at = scroller.scrollTop;
      for (const element of all(document)) {
        const { position } = getComputedStyle(element);
        if (position !== "fixed" && position !== "sticky") continue;
        const { top: top2, height } = element.getBoundingClientRect();
        const known = apart2.get(element);
        if (!known) apart2.set(element, { top: top2 + at, low: height < innerHeight / 2 && top2 + height / 2 > innerHeight / 2 });
        const moved = known ? Math.abs(top2 + at - known.top) > 1 : !first && position === "fixed";
        const low = position === "fixed" && apart2.get(element)?.low;
        if (low ? last : first || !moved) continue;
        hidden.push(element.animate({ opacity: [0, 0], visibility: ["hidden", "hidden"] }, { duration: 1, fill: "both" }));
      }
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      return at;
    },
    where: () => ({ at: scroller.scrollTop, width: innerWidth, tall: innerHeight, more: moreOf(scroller), ...used && { refused: BY_HAND } }),
    end() {
      clearTimeout(timer);
      byHand.abort();
      show3();
      snaps.cancel();
      if (!used) scroller.scrollTo({ top: before, behavior: "instant" });
      if (globalThis.tabhubView === view) globalThis.tabhubView = void 0;
    }
  };
  globalThis.tabhubView = view;
  timer = setTimeout(view.end, LASTS2);
  const sticks = [...all(document)].map((element) => {
    const { position, top: top2 } = getComputedStyle(element);
    return position === "sticky" && top2 !== "auto" ? Math.max(0, parseFloat(top2)) + element.getBoundingClientRect().height : 0;
  });
  const seam = Math.ceil(Math.min(pane.height * 0.4, sticks.reduce((a, b) => Math.max(a, b), 0)));
  const pinched = (visualViewport?.scale ?? 1) > 1.01;
  return { width: innerWidth, height: innerHeight, pane, more, seam, ...pinched && { refused: "the person in front of the tab has zoomed into the page with two fingers" } };
}

// worker/picture.ts
var TRIES = 6;
var PAUSE2 = 600;
var TIMEOUT4 = 2e3;
var FRAMES2 = 5;
async function picture(tabId, settings, ifOrigin) {
  for (let tries = 1; tries <= TRIES; tries++) {
    const taken = await attempt(tabId, settings, ifOrigin);
    if (taken !== void 0) return taken;
    await new Promise((done) => setTimeout(done, PAUSE2));
  }
  throw new Refusal(Code.Unsupported, "the browser cannot picture this tab: what it shows does not come to rest");
}
async function attempt(tabId, settings, ifOrigin) {
  const change = new Change(tabId, settings, ifOrigin);
  try {
    const { windowId } = await inFront(tabId, ifOrigin);
    const before = await shared(tabId, settings);
    if (!await drawn(tabId, settings)) return void 0;
    const taken = await chrome.tabs.captureVisibleTab(windowId, { format: "png" }).catch(passing);
    const after = await inFront(tabId, ifOrigin);
    const same2 = after.windowId === windowId && await shared(tabId, settings) === before;
    return same2 && !change.happened ? taken : void 0;
  } finally {
    change.stop();
  }
}
async function inFront(tabId, ifOrigin) {
  const tab = await chrome.tabs.get(tabId);
  if (!isAt(tab.url, ifOrigin)) throw elsewhere();
  if (tab.active) return tab;
  throw new Refusal(Code.Unsupported, "the browser can only picture the tab in front of its window; activate it first");
}
function passing(error) {
  if (/readback|quota/i.test(String(error))) return void 0;
  throw new Refusal(Code.Unsupported, "the browser does not let extensions picture this tab");
}
async function drawn(tabId, settings) {
  if (permitsAll(settings())) return true;
  const func = (frames) => new Promise((done) => {
    const next = (left) => {
      if (left) requestAnimationFrame(() => next(left - 1));
      else done(!document.activeViewTransition);
    };
    next(frames);
  });
  const [answer2] = await askDocuments({ target: { tabId }, func, args: [FRAMES2] }, TIMEOUT4);
  return answer2?.result === true;
}
async function shared(tabId, settings) {
  if (permitsAll(settings())) return "";
  const { url = "" } = await chrome.tabs.get(tabId);
  const documents2 = await documentsOf(tabId);
  const all = permitsPage(settings(), url) && documents2?.every((document2) => permitsDocument(settings(), document2));
  if (!all) throw notShared();
  return documents2?.find(({ frameId }) => frameId === 0)?.documentId ?? "";
}
function documentsOf(tabId) {
  const asked2 = chrome.scripting.executeScript({
    target: { tabId, allFrames: true },
    injectImmediately: true,
    func: () => ({ origin: self.origin, url: location.href })
  }).then((frames) => frames.map(({ result, frameId, documentId }) => ({ ...result, frameId, documentId }))).catch(() => []);
  return Promise.race([asked2, new Promise((late) => setTimeout(late, TIMEOUT4))]);
}
var nothing = () => {
};
chrome.webNavigation.onCommitted.addListener(nothing);
chrome.webNavigation.onCommitted.removeListener(nothing);
var Change = class {
  happened = false;
  #tabId;
  #settings;
  #ifOrigin;
  constructor(tabId, settings, ifOrigin) {
    this.#tabId = tabId;
    this.#settings = settings;
    this.#ifOrigin = ifOrigin;
    chrome.tabs.onActivated.addListener(this.#activated);
    chrome.webNavigation.onCommitted.addListener(this.#committed);
  }
  stop() {
    chrome.tabs.onActivated.removeListener(this.#activated);
    chrome.webNavigation.onCommitted.removeListener(this.#committed);
  }
  /** In any window: a tab may be moved to another one. */
  #activated = () => {
    this.happened = true;
  };
  /** A document has come, perhaps to go at once: one in a frame announces itself nowhere else. */
  #committed = (document2) => {
    if (document2.tabId !== this.#tabId) return;
    const another = document2.frameId === 0 && !isAt(document2.url, this.#ifOrigin);
    if (another || !permitsDocument(this.#settings(), document2)) this.happened = true;
  };
};

// worker/screenshot.ts
var MAX_SIDE = 8e3;
var MAX_BYTES = 3 << 20;
var BETWEEN = 550;
var TIMEOUT5 = 2e3;
var AROUND = 4;
var MAX_LINES = 1e3;
async function screenshot(tabId, { ref, full, numbered, ifOrigin }, settings, looks2) {
  await awake(tabId);
  const capture = () => picture(tabId, settings, ifOrigin);
  if (!ref && !full && !numbered) return { mimeType: "image/png", data: base64Of(await capture()) };
  await capture();
  const numbers = numbered ? new Numbers(tabId, await looks2.acting(tabId)) : void 0;
  const view = await inPage(tabId, begin, []);
  try {
    const { region, still } = ref ? await regionOf(tabId, ref, view, looks2) : { region: { left: 0, top: 0, width: view.width, height: full ? view.height + view.more : view.height }, still: !full };
    const taken = still ? await cropped(tabId, view, region, capture, numbers) : await stitched(tabId, view, region, ref !== void 0, capture, numbers);
    return { ...taken, ...numbers && { lines: numbers.lines } };
  } finally {
    await Promise.all([numbers?.remove(), askDocuments({ target: { tabId }, func: () => globalThis.tabhubView?.end() }, TIMEOUT5)]);
  }
}
var Numbers = class {
  #tabId;
  #acting;
  #seen = /* @__PURE__ */ new Set();
  constructor(tabId, acting) {
    this.#tabId = tabId;
    this.#acting = acting;
  }
  /** Draws those of what is seen now. */
  async draw(view) {
    await this.#each(async (target, frameId, refs) => {
      const part = frameId === 0 ? void 0 : await this.#seenOf(frameId, view);
      const [drawn2] = await askDocuments({ target, func: number2, args: part ? [refs, part] : [refs] }, TIMEOUT5);
      for (const ref of drawn2?.result ?? []) this.#seen.add(ref);
    });
  }
  get lines() {
    return this.#acting.filter(({ ref }) => this.#seen.has(ref)).slice(0, MAX_LINES).map(({ text: text4 }) => text4);
  }
  async remove() {
    await this.#each((target) => askDocuments({ target, func: () => globalThis.tabhubNumbers?.remove() }, TIMEOUT5));
  }
  async #each(act) {
    const documents2 = new Map(this.#acting.map(({ document: document2 }) => [document2.documentId, document2.frameId]));
    await Promise.all([...documents2].map(([id, frameId]) => act({ tabId: this.#tabId, documentIds: [id] }, frameId, this.#acting.filter(({ document: document2 }) => document2.documentId === id).map(({ ref }) => ref))));
  }
  /** The part of a frame's viewport that the tab shows. */
  async #seenOf(frameId, view) {
    const [from, to] = await Promise.all([0, 100].map((at) => inTab(this.#tabId, frameId, { x: at, y: at }, false)));
    if (typeof from === "string" || typeof to === "string") return { left: 0, top: 0, width: 0, height: 0 };
    const [across, down] = [(to.x - from.x) / 100, (to.y - from.y) / 100];
    return { left: -from.x / across, top: -from.y / down, width: view.width / across, height: view.height / down };
  }
};
async function regionOf(tabId, ref, view, looks2) {
  const { documentId, frameId } = await looks2.documentOf(tabId, ref);
  const [shown] = await askDocuments({ target: { tabId, documentIds: [documentId] }, func: show2, args: [ref] }, TIMEOUT5);
  if (!shown?.result) throw new Refusal(Code.Unsupported, "the page is too busy to be pictured; try again");
  if ("stale" in shown.result) throw stale(shown.result.stale, shown.result.near);
  const { left, top: top2, width, height, stays } = shown.result;
  await inTab(tabId, frameId, { x: left + width / 2, y: top2 + height / 2 });
  const place2 = async (x, y) => {
    const at2 = await inTab(tabId, frameId, { x, y }, false);
    if (typeof at2 === "string") throw new Refusal(Code.Unsupported, `the element cannot be pictured: ${at2}`);
    return at2;
  };
  const [from, to] = [await place2(left, top2), await place2(left + width, top2 + height)];
  const { at } = await inPage(tabId, where, []);
  const region = { left: Math.max(0, from.x - AROUND), top: from.y - AROUND, width: 0, height: 0 };
  region.width = Math.max(1, Math.min(view.width, to.x + AROUND) - region.left);
  region.height = to.y + AROUND - region.top;
  const fits = region.top >= 0 && region.top + region.height <= view.height;
  if (fits || stays || frameId !== 0) {
    const cut = Math.max(0, region.top);
    return { region: { ...region, top: cut, height: Math.max(1, Math.min(view.height, to.y + AROUND) - cut) }, still: true };
  }
  const whole = Math.max(0, region.top + at);
  return { region: { ...region, top: whole, height: Math.min(view.height + view.more - whole, region.height) }, still: false };
}
async function cropped(tabId, view, region, capture, numbers) {
  await numbers?.draw(view);
  await new Promise((done) => setTimeout(done, BETWEEN));
  const bitmap = await bitmapOf(await capture());
  await inPage(tabId, where, []);
  const dense = bitmap.width / view.width;
  const scale = Math.min(dense, MAX_SIDE / region.width, MAX_SIDE / region.height);
  const canvas = new OffscreenCanvas(Math.max(1, Math.round(region.width * scale)), Math.max(1, Math.round(region.height * scale)));
  canvas.getContext("2d")?.drawImage(bitmap, region.left * dense, region.top * dense, region.width * dense, region.height * dense, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return encoded(canvas);
}
async function stitched(tabId, view, region, part, capture, numbers) {
  const { pane, seam } = view;
  let canvas;
  let scale = 1;
  let height = 0;
  let grown = false;
  const last = Math.min(view.more, Math.max(0, region.top + region.height - pane.top - pane.height));
  for (let at = Math.min(Math.max(0, region.top - pane.top), last), first = true; ; first = false) {
    const end2 = at >= last;
    const before = await inPage(tabId, scroll, [at, first && !part, end2 && !part]);
    await numbers?.draw(view);
    await new Promise((done) => setTimeout(done, BETWEEN));
    const bitmap = await bitmapOf(await capture());
    const now = await inPage(tabId, where, []);
    if (now.at !== before || now.width !== view.width || now.tall !== view.height) throw new Refusal(Code.Unsupported, "the page scrolls or changes its size by itself, so it cannot be pictured whole; take a screenshot without full");
    grown = now.more > view.more + 1;
    const dense = bitmap.width / view.width;
    if (!canvas) {
      scale = Math.min(dense, 1, MAX_SIDE / region.width);
      height = Math.min(region.height, Math.floor(MAX_SIDE / scale));
      canvas = new OffscreenCanvas(Math.max(1, Math.round(region.width * scale)), Math.max(1, Math.round(height * scale)));
    }
    const context = canvas.getContext("2d");
    const draw2 = (part2, down) => {
      const top2 = Math.round((part2.top + down - region.top) * scale);
      const bottom = Math.round((part2.top + part2.height + down - region.top) * scale);
      context.drawImage(bitmap, part2.left * dense, part2.top * dense, part2.width * dense, part2.height * dense, Math.round((part2.left - region.left) * scale), top2, Math.round(part2.width * scale), bottom - top2);
    };
    const below = pane.top + pane.height;
    if (first) draw2({ left: 0, top: 0, width: view.width, height: below }, before);
    else draw2({ ...pane, top: pane.top + seam, height: pane.height - seam }, before);
    if (end2 && below < view.height) draw2({ left: 0, top: below, width: view.width, height: view.height - below }, before);
    bitmap.close();
    if (end2 || before + below - region.top >= height) break;
    if (before < at - 1) {
      grown = true;
      break;
    }
    at = Math.min(last, before + Math.floor(pane.height - seam));
  }
  return { ...await encoded(canvas), ...(grown || height < region.height) && { cut: true } };
}
async function encoded(canvas) {
  let blob = await canvas.convertToBlob({ type: "image/png" });
  for (let quality = 0.85; blob.size > MAX_BYTES && quality > 0.2; quality -= 0.2) blob = await canvas.convertToBlob({ type: "image/jpeg", quality });
  if (blob.size > MAX_BYTES) throw new Refusal(Code.Limit, "the picture is too large; take one of an element, or without full");
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text4 = "";
  for (let i = 0; i < bytes.length; i += 1 << 15) text4 += String.fromCharCode(...bytes.subarray(i, i + (1 << 15)));
  return { mimeType: blob.type, data: btoa(text4) };
}
function base64Of(dataURL) {
  return dataURL.slice(dataURL.indexOf(",") + 1);
}
function bitmapOf(dataURL) {
  return createImageBitmap(new Blob([Uint8Array.from(atob(base64Of(dataURL)), (character) => character.charCodeAt(0))]));
}
async function inPage(tabId, func, args) {
  const [done] = await askDocuments({ target: { tabId }, func, args }, TIMEOUT5);
  if (!done) throw new Refusal(Code.Unsupported, "the page is too busy to be pictured, or may not be scrolled; try again, or without full");
  if (done.result === null || done.result === void 0) throw elsewhere();
  const refused = done.result.refused;
  if (refused) throw new Refusal(Code.Unsupported, refused);
  return done.result;
}
function scroll(to, first, last) {
  return globalThis.tabhubView?.scroll(to, first, last);
}
function show2(ref) {
  return globalThis.tabhubSteps?.show(ref);
}
function number2(refs, part) {
  return globalThis.tabhubSteps?.number(refs, part);
}
function where() {
  return globalThis.tabhubView?.where();
}

// ../pagejs/values.ts
var Limit = Object.freeze({
  items: 1024,
  // of each kind
  name: 128,
  title: 256,
  description: 4096,
  schema: 64 << 10,
  other: 16 << 10,
  // annotations, _meta, icons
  uri: 2048,
  offer: 8 << 20,
  // all items of one kind together
  answer: 30 << 20,
  // one result
  error: 16e3,
  // an error's text
  message: 4096
  // that of a progress notice
});
var Values = class _Values {
  /** How much of what the hub leaves out is said in the console of a document. */
  static #maxWarned = 1e3;
  /** What was said of that. */
  static #warned = /* @__PURE__ */ new Set();
  static isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
  }
  /**
   * Makes the JSON of a CallToolResult from what executeTool of WebMCP resolves to. The browser's
   * gives a text: an object as JSON, all else as it is. A library may give the value itself, which
   * is first made the text that the browser would make of it.
   *
   *   text of the browser                   content                   structuredContent
   *   {"content":[{…},…],…}                 its own                   its own
   *   {"structuredContent":{…},…}           its own                   its own
   *   a question (MCP's input_required)     its own                   its own
   *   {…}                                   the text                  the object
   *   else: a string, [1,2], 5, undefined   the text                  none
   *
   * The hub mends what in its own content is no block of MCP.
   */
  static callToolResult(given) {
    const text4 = _Values.#text(given);
    let value;
    try {
      value = JSON.parse(text4);
    } catch {
      return _Values.textResult(text4);
    }
    if (!_Values.isObject(value)) return _Values.textResult(text4);
    if (Array.isArray(value.content) && value.content.every(_Values.isObject)) return text4;
    if (_Values.isObject(value.structuredContent)) return text4;
    if (value.resultType === "input_required" && _Values.isObject(value.inputRequests)) return text4;
    return `{"content":[{"type":"text","text":${JSON.stringify(text4)}}],"structuredContent":${text4}}`;
  }
  /**
   * Whether a tool gave nothing, by its result: if the document then gives way to another one,
   * what that one says is the result.
   */
  static isNothing(result) {
    return result === _Values.SUBMITTED || result === _Values.textResult("undefined") || result === _Values.textResult("null");
  }
  static #text(given) {
    if (typeof given === "string") return given;
    const structured = typeof given === "object" && given !== null || typeof given === "function";
    return String(structured ? JSON.stringify(given) : given);
  }
  /** An id that cannot be guessed. crypto.randomUUID exists in secure contexts only. */
  static randomID() {
    return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
  }
  static textResult(text4) {
    return JSON.stringify({ content: [{ type: "text", text: text4 }] });
  }
  /** The result of a form that was submitted and leads elsewhere, for which the browser has none. */
  static SUBMITTED = this.textResult("The form was submitted.");
  /**
   * Says in the page's console what the hub has left out of a registration or lists otherwise, each
   * of it once.
   * @param answer the hub's
   */
  static warn(kind, { rejected, warnings }) {
    for (const { name, reason } of rejected ?? []) {
      if (_Values.#isFirst(kind, name, reason)) console.warn(`tabhub: ${kind} ${name} is not offered: ${reason}`);
    }
    for (const { name, reason } of warnings ?? []) {
      if (_Values.#isFirst(kind, name, reason)) console.warn(`tabhub: of ${kind} ${name}, a part is left out or listed otherwise: ${reason}`);
    }
  }
  static warnOf({ tools, resources, prompts }) {
    _Values.warn("tool", tools);
    _Values.warn("resource", resources);
    _Values.warn("prompt", prompts);
  }
  static #isFirst(...what) {
    const key = JSON.stringify(what);
    if (_Values.#warned.has(key) || _Values.#warned.size >= _Values.#maxWarned) return false;
    _Values.#warned.add(key);
    return true;
  }
  /** The text of something thrown, be it an error, what some libraries throw instead, or a word. */
  static errorText(error) {
    let text4 = "";
    try {
      const { message: message2 } = Object(error);
      text4 = typeof message2 === "string" && message2 || String(error);
      if (Object(error) === error && !(error instanceof Error) && (Array.isArray(error) || text4.startsWith("[object "))) {
        text4 = "";
        text4 = JSON.stringify(error) ?? "";
        if (text4 === "{}") text4 = "";
      }
    } catch {
    }
    return (text4 || "the page's tool failed without saying why").slice(0, Limit.error);
  }
};

// content/shape.ts
var Shape = class _Shape {
  /** Takes from list the tools that the protocol can carry. */
  static tools(list2) {
    return _Shape.#check(list2, "tool", (item, out, leaveOut) => {
      out.name = _Shape.#required(item.name, "name", Limit.name);
      _Shape.#texts(item, out);
      _Shape.#part(out, "inputSchema", parsed(item.inputSchema), Limit.schema, leaveOut);
      _Shape.#part(out, "outputSchema", item.outputSchema, Limit.schema, leaveOut);
      _Shape.#part(out, "annotations", item.annotations, Limit.other, leaveOut);
      _Shape.#part(out, "_meta", item._meta, Limit.other, leaveOut);
    });
  }
  /** Takes from list the resources and resource templates. */
  static resources(list2) {
    return _Shape.#check(list2, "resource", (item, out, leaveOut) => {
      const key = "uriTemplate" in item ? "uriTemplate" : "uri";
      out[key] = _Shape.#required(item[key], key, Limit.uri);
      out.name = _Shape.#required(item.name, "name", Limit.name);
      _Shape.#texts(item, out);
      if (typeof item.mimeType === "string") out.mimeType = item.mimeType.slice(0, Limit.name);
      if (typeof item.size === "number") out.size = item.size;
      if (item.completes === true) out.completes = true;
      _Shape.#part(out, "annotations", item.annotations, Limit.other, leaveOut);
      _Shape.#part(out, "_meta", item._meta, Limit.other, leaveOut);
    });
  }
  /** Takes from list the prompts. */
  static prompts(list2) {
    return _Shape.#check(list2, "prompt", (item, out, leaveOut) => {
      out.name = _Shape.#required(item.name, "name", Limit.name);
      _Shape.#texts(item, out);
      _Shape.#part(out, "arguments", item.arguments, Limit.schema, leaveOut);
      if (item.completes === true) out.completes = true;
      _Shape.#part(out, "_meta", item._meta, Limit.other, leaveOut);
    });
  }
  static #check(list2, kind, pick) {
    const checked = { items: [], rejected: [], texts: [] };
    if (!Array.isArray(list2)) return checked;
    let room = Limit.offer;
    for (const item of list2.slice(0, Limit.items)) {
      const out = { name: "" };
      const reject = (reason) => {
        if (checked.rejected.length >= 100) return;
        const name = Values.isObject(item) && typeof item.name === "string" ? item.name : kind;
        checked.rejected.push({ name: name.slice(0, Limit.name), reason });
      };
      try {
        if (!Values.isObject(item)) throw new Error(`it is not an object`);
        pick(item, out, reject);
        const text4 = JSON.stringify(out);
        if (text4.length > room) throw new Error("the page offers too much in all");
        room -= text4.length;
        checked.items.push(out);
        checked.texts.push(text4);
      } catch (error) {
        reject(Values.errorText(error));
      }
    }
    if (list2.length > Limit.items) {
      const over = list2.length - Limit.items;
      checked.rejected.push({ name: `${over} more`, reason: `a page may offer ${Limit.items} of a kind` });
    }
    return checked;
  }
  static #required(value, key, limit) {
    if (typeof value !== "string" || value === "") throw new Error(`its ${key} is missing`);
    if (value.length > limit) throw new Error(`its ${key} is longer than ${limit}`);
    return value;
  }
  static #texts(item, out) {
    if (typeof item.title === "string" && item.title) out.title = item.title.slice(0, Limit.title);
    if (typeof item.description === "string") out.description = item.description.slice(0, Limit.description);
  }
  /**
   * Takes a part of an item, valid or not: the hub says what is wrong with it. One that
   * cannot be carried is left out.
   */
  static #part(out, key, value, limit, leaveOut) {
    if (value === void 0 || value === null) return;
    try {
      const text4 = JSON.stringify(value);
      if (text4 === void 0) return;
      if (text4.length > limit) throw new Error(`it is larger than ${limit >> 10} KiB`);
      out[key] = JSON.parse(text4);
    } catch (error) {
      leaveOut(`its ${key}: ${Values.errorText(error)}`);
    }
  }
};
function parsed(schema) {
  if (typeof schema !== "string") return schema;
  try {
    return JSON.parse(schema);
  } catch {
    return schema;
  }
}

// worker/scripts.ts
var RETURN4 = 1e4;
var MAX_WORLDS = 9;
var SWITCH = { kind: "switch", words: "The browser does not let this extension run user scripts yet" };
var Scripts = class {
  #registered = {};
  #problems = /* @__PURE__ */ new Map();
  #running = [];
  #stored = new Stored("scripts", () => this.#running.map(({ port: _, ...running }) => running));
  /** The latest change of what is registered: the next one waits for it. */
  #changing = Promise.resolve();
  /** The next one, until it begins. */
  #next;
  #hub;
  #packs;
  #settings;
  #changed;
  /** @param changed called when the tools of a document may be others */
  constructor(hub2, packs2, settings, changed) {
    this.#hub = hub2;
    this.#packs = packs2;
    this.#settings = settings;
    this.#changed = changed;
  }
  async load() {
    const { scripts: scripts2 } = await chrome.storage.local.get("scripts");
    if (scripts2) this.#registered = scripts2;
    const before = await this.#stored.load() ?? [];
    if (!before.length) return;
    this.#running = before;
    setTimeout(() => this.#without((running) => before.includes(running) && !running.port), RETURN4);
  }
  // ---- What the browser runs
  /** Makes the browser run what the person has allowed, and nothing else. No event says that Chrome's switch was used. */
  sync() {
    if (this.#next) return this.#next;
    const place2 = async () => {
      this.#next = void 0;
      const problems = /* @__PURE__ */ new Map();
      await this.#place(problems);
      this.#problems = problems;
    };
    this.#next = this.#changing = this.#changing.then(place2).catch((error) => console.error("scripts of packs:", error));
    return this.#changing;
  }
  async #place(problems) {
    const allowed = this.#packs.scripts;
    if (!allowed.length && !Object.keys(this.#registered).length) return;
    const there = await chrome.userScripts?.getScripts().catch(() => void 0);
    if (!there) {
      for (const { hash } of allowed) problems.set(hash, SWITCH);
      return this.#endOthers();
    }
    const wanted = [];
    for (const { name, hash, ...said2 } of allowed) {
      const { match } = this.#registered[hash] ?? said2;
      const beside = wanted.filter((other) => overlap(match, other.match));
      if (beside.length < MAX_WORLDS) wanted.push({ ref: { name, hash }, match });
      else problems.set(hash, { kind: "other", words: `It does not run: the browser keeps at most ${MAX_WORLDS} scripts in a page apart. Switch off one of ${beside.map(({ ref }) => ref.name).join(", ")}` });
    }
    const gone = there.map(({ id }) => id).filter((id) => !wanted.some(({ ref }) => ref.hash === id));
    if (gone.length) await chrome.userScripts.unregister({ ids: gone });
    for (const id of gone) await chrome.userScripts.resetWorldConfiguration?.(id);
    await this.#keep(wanted.map(({ ref }) => ref.hash));
    for (const { ref } of wanted) {
      const words = await this.#register(ref, there.find(({ id }) => id === ref.hash)).catch((error) => `It does not run: ${error instanceof Error ? error.message : error}`);
      if (words) problems.set(ref.hash, { kind: "other", words });
    }
  }
  /** @returns why it does not run */
  async #register(ref, before) {
    const { hash } = ref;
    let known = this.#registered[hash];
    let script2;
    if (!known || !before) {
      if (!this.#hub.connected) return "It runs when the hub is connected again";
      const { document: document2 } = await this.#hub.request("browser/packScript", { pack: ref });
      if (await sha256(document2) !== hash) throw new Error("the hub has sent another document than the one that was allowed");
      const pack = JSON.parse(document2);
      const said2 = this.#packs.find(ref)?.match ?? [];
      if (JSON.stringify(pack.match) !== JSON.stringify(said2)) throw new Error("the hub has said other pages than the document has");
      script2 = pack.script;
      known = { secret: crypto.randomUUID(), match: pack.match };
    }
    const pages = sharedPages(this.#settings(), known.match);
    if (!pages.matches.length) {
      if (before) await chrome.userScripts.unregister({ ids: [hash] });
      return "";
    }
    if (script2 === void 0) {
      if (differs2(before, pages)) await chrome.userScripts.update([{ id: hash, ...pages }]);
      return "";
    }
    if (before) await chrome.userScripts.unregister({ ids: [hash] });
    this.#registered[hash] = known;
    await this.#keep(Object.keys(this.#registered));
    await chrome.userScripts.configureWorld({ worldId: hash, messaging: true });
    const prefix = await (await fetch(chrome.runtime.getURL("content/userscript.js"))).text();
    const js = [{ code: `globalThis.tabhubScript = { secret: ${JSON.stringify(known.secret)} };
${prefix}` }, { code: script2 }];
    await chrome.userScripts.register([{ id: hash, ...pages, js, world: "USER_SCRIPT", worldId: hash, runAt: "document_idle", allFrames: true }]);
    return "";
  }
  /** Forgets the other packs, also what runs of them. */
  async #keep(hashes) {
    this.#registered = Object.fromEntries(Object.entries(this.#registered).filter(([hash]) => hashes.includes(hash)));
    const has = Object.keys(this.#registered).length > 0;
    await (has ? chrome.storage.local.set({ scripts: this.#registered }) : chrome.storage.local.remove("scripts"));
    this.#endOthers();
  }
  /** Ends what runs of packs that are not allowed, as far as it can be ended. */
  #endOthers() {
    for (const { ref, port } of this.#running) if (port && !this.#packs.find(ref)) end(port);
    this.#without(({ ref }) => !this.#packs.find(ref));
  }
  /** Which of the scripts that are allowed do not run, and why. */
  get off() {
    return this.#packs.scripts.flatMap(({ name, hash }) => {
      const { kind, words } = this.problem(hash) ?? {};
      return words ? [{ name, hash, why: kind === "switch" ? `${words}; the extension’s popup shows how` : words }] : [];
    });
  }
  /** Why a script that is allowed does not run. */
  problem(hash) {
    return this.#problems.get(hash);
  }
  // ---- What runs
  /**
   * A script in a document has opened its port.
   * @returns the pack that it is of; undefined if it is none that counts
   */
  connected(port) {
    const [hash] = Object.entries(this.#registered).find(([, { secret }]) => secret === port.name) ?? [];
    const pack = this.#packs.scripts.find((pack2) => pack2.hash === hash);
    const { tab, frameId, documentId } = port.sender ?? {};
    if (!pack || tab?.id === void 0 || frameId === void 0 || documentId === void 0) {
      end(port);
      void this.sync();
      return void 0;
    }
    const ref = { name: pack.name, hash: pack.hash };
    const at = { tabId: tab.id, frameId, documentId };
    const before = this.#running.find((other) => other.ref.hash === hash && other.at.documentId === documentId);
    if (before) Object.assign(before, { port, at });
    else this.#running.push({ ref, port, at, tools: [] });
    return ref;
  }
  /** A script has other tools. */
  offered(port, tools) {
    const running = this.#running.find((running2) => running2.port === port);
    if (!running) return;
    running.tools = Shape.tools(tools).items;
    this.#stored.save();
    this.#changed(running.at);
  }
  disconnected(port) {
    this.#without((running) => running.port === port);
  }
  #without(gone) {
    const left = this.#running.filter(gone);
    this.#running = this.#running.filter((running) => !left.includes(running));
    if (left.length) this.#stored.save();
    for (const { at } of left) this.#changed(at);
  }
  /** The tools that scripts have registered in a document. */
  tools(document2) {
    const here = this.#running.filter(({ ref, at }) => at.documentId === document2 && this.#packs.find(ref));
    return here.flatMap(({ ref, tools }) => tools.map((tool) => ({ ...tool, pack: ref })));
  }
};
function end(port) {
  const over = { type: "over" };
  try {
    port.postMessage(over);
  } catch {
  }
}
async function sha256(text4) {
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text4));
  return [...new Uint8Array(sum)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
function differs2({ matches: matches2, excludeMatches }, pages) {
  const places = (a = [], b = []) => JSON.stringify([[...a].sort(), [...b].sort()]);
  return places(matches2, excludeMatches) !== places(pages.matches, pages.excludeMatches);
}

// worker/toolbar.ts
var Toolbar = class {
  #tabs = /* @__PURE__ */ new Map();
  /** The tabs with a title and a colour of their own, which stay for as long as their page. */
  #own = /* @__PURE__ */ new Set();
  #standing;
  #shown = "";
  show(standing2) {
    this.#standing = standing2;
    const { text: text4, colour, title } = button(standing2);
    const shown = JSON.stringify([text4, colour, title]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    void chrome.action.setBadgeBackgroundColor({ color: colour });
    void chrome.action.setTitle({ title });
    void chrome.action.setBadgeText({ text: text4 });
    for (const tabId of this.#tabs.keys()) this.#tab(tabId, {});
  }
  /** @param tab with other tools, or one that waits for a person or no longer */
  tab({ id, tools, waiting }) {
    this.#tab(id, { tools, waiting });
  }
  used(tabId, users) {
    this.#tab(tabId, { users });
  }
  /** @param holder the client that waits for the owner to leave the tab, "" for none */
  held(tabId, holder) {
    if (holder !== (this.#tabs.get(tabId)?.holder ?? "")) this.#tab(tabId, { holder });
  }
  /** @param recording how far a recording of the tab is */
  recorded(tabId, recording) {
    if (recording !== (this.#tabs.get(tabId)?.recording ?? "")) this.#tab(tabId, { recording });
  }
  closed(tabId) {
    this.#tabs.delete(tabId);
    this.#own.delete(tabId);
  }
  #tab(tabId, change) {
    const tab = { tools: 0, waiting: false, users: [], holder: "", recording: "", ...this.#tabs.get(tabId), ...change };
    this.#tabs.set(tabId, tab);
    if (!this.#standing) return;
    const all = button(this.#standing);
    const { text: text4, colour, title } = button(this.#standing, tab);
    chrome.action.setBadgeText({ tabId, text: text4 === all.text ? void 0 : text4 }).catch(() => {
    });
    const own = colour !== all.colour || title !== all.title;
    if (!own && !this.#own.has(tabId)) return;
    if (own) this.#own.add(tabId);
    chrome.action.setBadgeBackgroundColor({ tabId, color: colour }).catch(() => {
    });
    chrome.action.setTitle({ tabId, title }).catch(() => {
    });
  }
};

// worker/manualcalls.ts
var LOADING5 = 5e3;
var ManualCalls = class {
  #open = /* @__PURE__ */ new Map();
  #tabs;
  #activity;
  constructor(tabs2, activity2) {
    this.#tabs = tabs2;
    this.#activity = activity2;
  }
  /**
   * Calls a tool of a page, and resolves when it has ended.
   * @param id by which it can be cancelled
   */
  async call(id, { tabId, frameId, origin, name }, args) {
    if (this.#open.has(id)) return { error: "This call is under way already." };
    const outcome3 = new Promise((end2) => this.#open.set(id, { end: end2 }));
    const open2 = this.#open.get(id);
    const route = await this.#tabs.route(tabId, { frameId, origin }, ({ tools }) => tools.some(isPageTool(name)), LOADING5);
    if (!open2 || this.#open.get(id) !== open2) return outcome3;
    if (!route || route.frame.origin !== origin) {
      this.#open.delete(id);
      return { error: "The page does not offer this tool any more." };
    }
    const { port, child } = route;
    open2.port = port;
    port.postMessage({ type: "request", id, ask: "tool", name, args, child });
    this.#activity.begun(id, tabId, "tool", name, false, "");
    return outcome3;
  }
  cancel(id) {
    const port = this.#open.get(id)?.port;
    post(port, { type: "cancel", id, reason: "cancelled by the person in front of the tab" });
    this.#end(id, { error: `You have cancelled it. ${port ? "It may have taken effect" : "The page was not asked"}.` }, "cancelled");
  }
  /** Takes a frame's answer if it is to a call of the owner's. */
  answered(port, answer2) {
    const { id, result, error } = answer2;
    if (!this.#open.has(id)) return false;
    post(port, { type: "done", ids: [id] });
    this.#end(id, result === void 0 ? { error: error?.message ?? "" } : outcome2(result), endOf(answer2));
    return true;
  }
  /** A document gives way to another one. If a call of the owner's has led there, it has done its work. */
  leaving(id) {
    const open2 = this.#open.get(id);
    if (open2) open2.leads = true;
  }
  disconnected(port) {
    for (const [id, open2] of this.#open) {
      if (open2.port !== port) continue;
      const text4 = `The page went to another one${open2.leads ? "" : ". It may have taken effect"}.`;
      this.#end(id, open2.leads ? { result: { content: [{ type: "text", text: text4 }] } } : { error: text4 }, open2.leads ? "done" : "failed");
    }
  }
  #end(id, outcome3, ended) {
    const open2 = this.#open.get(id);
    this.#open.delete(id);
    this.#activity.ended(id, ended);
    open2?.end(outcome3);
  }
};
function outcome2(result) {
  const { success, payload } = JSON.parse(result);
  return success ? { result: payload } : { error: String(payload) };
}

// worker/main.ts
var current;
var changing2 = Promise.resolve();
var link = new Link({ address: () => current.hub, hello, opened: opened2, message, changed: stateChanged });
var hub = new Hub(link);
var toolbar = new Toolbar();
var packs = new Packs(() => isLoopback(new URL(current.hub).hostname), packsChanged);
var scripts = new Scripts(hub, packs, () => current, (at) => {
  if (!tabs.scripted(at) && scripts.tools(at.documentId).length) void bringToDocument(at.tabId, at.documentId);
});
var tabs = new Tabs(hub, standing, () => current, packs, scripts, (tab) => toolbar.tab(tab));
var overlay = new Overlay(() => current);
var activity = new ActivityLog((tabId, users) => {
  toolbar.used(tabId, users);
  showOverlay(tabId);
}, showState);
var tabGroups = new TabGroups(() => current);
var userInput = new UserInput(() => current, (tabId) => leases.of(tabId) !== void 0 || tabGroups.has(tabId) || runs.actsIn(tabId), (tabId) => {
  if (userInput.isActive(tabId)) tabGroups.usedByHand(tabId);
  leases.userInput(tabId);
  runs.userInput();
});
var leases = new Leases(hub, (tabId) => userInput.isActive(tabId), (tabId) => {
  const lease = leases.of(tabId);
  toolbar.held(tabId, lease?.waiting ? lease.by : "");
  showOverlay(tabId);
  void userInput.watch(tabId);
});
var navigations = new Navigations(tabs, () => current);
var calls = new Calls(tabs, hub, navigations, activity);
var looks = new Looks(() => current);
var runs = new Runs(tabs, packs, calls, hub, navigations, activity, userInput, () => current, looks, (tabId) => overlay.ringed(tabId));
var manualCalls = new ManualCalls(tabs, activity);
var gateways = new Gateways(() => current);
var questions2 = new Questions(hub, showState);
var recordings = new Recordings(hub, () => current, (tabId, shown) => {
  toolbar.recorded(tabId, shown);
  hearCommits(shown === "on");
});
var invitations = new Invitations(async (address) => {
  const here = address === current.hub;
  await apply(() => ({ hub: address }));
  if (here) await link.restart();
});
var NO_OWNER_STATE = { paused: false, waiting: 0 };
var owner = NO_OWNER_STATE;
var ready = start2();
async function start2() {
  await chrome.storage.local.setAccessLevel({ accessLevel: "TRUSTED_CONTEXTS" });
  current = await loadSettings();
  await packs.load();
  await scripts.load();
  await Promise.all([tabs.load(), calls.load(), runs.load(), questions2.load(), tabGroups.load(), recordings.load(), looks.load(), placeScripts(current, packs.match)]);
  if (packs.any) runs.expect();
  if (globalThis.tabhubTrustedInput) globalThis.tabhubTrustedInput.cancelled = (tabId) => runs.debuggerEnded(tabId);
  await activity.load((id) => calls.runs(id) || runs.runs(id));
  void gateways.everywhere({ recent: true });
  void link.ensure();
  void scripts.sync();
}
async function hello() {
  const [browserId2, session2, webmcp] = await Promise.all([browserId(), session, webMCPProvider()]);
  return {
    protocolVersion: "tabhub.v1",
    browserId: browserId2,
    browserName: browserName(),
    session: session2,
    capabilities: CAPABILITIES,
    ...webmcp && { webmcp }
  };
}
function browserName() {
  const brands = navigator.userAgentData?.brands ?? [];
  const named = brands.filter(({ brand: brand2 }) => !/not.?a.?brand/i.test(brand2));
  const { brand, version } = named.find(({ brand: brand2 }) => brand2 !== "Chromium") ?? named[0] ?? { brand: "Browser", version: "" };
  return `${brand} ${version}`.trim() + (hasTrustedInput ? " (trusted input)" : "");
}
function opened2() {
  packs.opened(link.pairing);
  calls.opened();
  tabs.opened();
  questions2.opened();
  leases.opened();
  for (const wait of waits.values()) wait.abort();
}
var waits = /* @__PURE__ */ new Map();
function message(message2) {
  switch (message2.method) {
    case void 0:
      hub.answered(message2);
      break;
    case "browser/ping":
      answer(message2, Promise.resolve({}));
      void calls.confirm();
      break;
    case "browser/cancel": {
      const { requestId, reason } = message2.params;
      void ready.then(() => {
        if (!runs.cancel(requestId, reason)) calls.cancel(requestId, reason);
      });
      waits.get(requestId)?.abort();
      void ready.then(() => questions2.cancel(requestId));
      break;
    }
    case "browser/executeTool":
    case "browser/readResource":
    case "browser/subscribeResource":
    case "browser/getPrompt":
    case "browser/complete":
      if (message2.id === void 0) break;
      void ready.then(() => {
        if (!runs.knows(message2.id ?? "")) void calls.start(message2, sentAt(message2));
      });
      break;
    case "browser/run":
      if (message2.id !== void 0) void ready.then(() => runs.start(message2, sentAt(message2)));
      break;
    case "browser/ownerState":
      owner = { ...message2.params, at: Date.now() };
      void ready.then(() => leases.take(owner.held ?? []));
      void ready.then(() => questions2.gone(owner.gone ?? []));
      showState();
      break;
    case "browser/packs": {
      const { pairing } = link;
      void ready.then(() => {
        packs.take(pairing, message2.params.packs);
        void scripts.sync();
        tabs.registerPacked();
      });
      break;
    }
    case "browser/listPacks":
      if (message2.id !== void 0) answer(message2, ready.then(() => ({ off: [...packs.off, ...scripts.off] })));
      break;
    case "browser/look":
      if (message2.id !== void 0) answer(message2, noted(message2, ready.then(() => looks.look(message2.tabId, message2.params))));
      break;
    case "browser/screenshot":
      if (message2.id !== void 0) {
        answer(message2, noted(message2, ready.then(() => overlay.without(message2.tabId, () => screenshot(message2.tabId, message2.params, () => current, looks)))));
      }
      break;
    case "browser/refs":
      if (message2.id !== void 0) answer(message2, ready.then(() => looks.refs(message2.tabId, message2.params)));
      break;
    case "browser/record":
      if (message2.id !== void 0) answer(message2, ready.then(() => recordings.ask(message2)));
      break;
    case "browser/ask":
      if (message2.id !== void 0) void ready.then(() => questions2.ask(message2));
      break;
    default: {
      if (message2.id === void 0) break;
      const outcome3 = controlled(message2);
      const known = message2.method === "browser/navigate" ? outcome3?.finally(() => tabs.settled(message2.tabId)) : outcome3;
      answer(message2, known ?? Promise.reject(new Refusal(Code.MethodNotFound, `no such method: ${message2.method}`)));
    }
  }
}
function sentAt({ sentMs }) {
  return sentMs === void 0 ? void 0 : link.greetedAt - sentMs;
}
var SHOWN_IN_OVERLAY = /* @__PURE__ */ new Set(["browser/navigate", "browser/activateTab", "browser/screenshot", "browser/text", "browser/look"]);
function controlled(message2) {
  const { id = "", method } = message2;
  const wait = new AbortController();
  const outcome3 = control(message2, () => current, tabGroups, wait.signal);
  if (method === "browser/rest") {
    waits.set(id, wait);
    const over = () => void (waits.get(id) === wait && waits.delete(id));
    wait.signal.addEventListener("abort", over);
    outcome3?.then(over, over);
  }
  return outcome3 && noted(message2, outcome3);
}
function noted({ id = "", method, tabId, for: client }, outcome3) {
  if (client === void 0 || !SHOWN_IN_OVERLAY.has(method)) return outcome3;
  activity.begun(id, tabId, "browser", method.slice("browser/".length), method === "browser/navigate", client);
  outcome3.then(
    () => activity.ended(id, "done"),
    () => activity.ended(id, "failed")
  );
  return outcome3;
}
function answer({ id, tabId }, outcome3) {
  const send = (body) => hub.send(JSON.stringify({ jsonrpc: "2.0", id, tabId, ...body }));
  outcome3.then(
    (result) => send({ result }),
    (error) => {
      const { code, data } = error instanceof Refusal ? error : { code: Code.Internal, data: void 0 };
      send({ error: { code, message: error instanceof Error ? error.message : String(error), data } });
    }
  );
}
chrome.runtime.onConnect.addListener((port) => {
  if (port.name === "scripts" && port.sender?.id === chrome.runtime.id && port.sender.origin === location.origin) runs.scripts(port, ready);
  if (port.name === "run" && port.sender?.id === chrome.runtime.id) runs.connected(port, ready);
  if (port.name !== "frame" || port.sender?.id !== chrome.runtime.id) return;
  const frame = ready.then(() => tabs.connected(port));
  let last = frame;
  port.onMessage.addListener((message2) => {
    last = last.then((frame2) => {
      if (frame2?.port === port) heard(frame2, port, message2);
      return frame2;
    });
  });
  port.onDisconnect.addListener(() => {
    last = last.then((frame2) => {
      calls.disconnected(port);
      manualCalls.disconnected(port);
      if (frame2) tabs.disconnected(frame2, port);
      return frame2;
    });
  });
});
chrome.runtime.onUserScriptConnect?.addListener((port) => {
  const of = ready.then(() => {
    const pack = scripts.connected(port);
    if (pack) runs.script(port, pack);
    return pack;
  });
  port.onMessage.addListener((message2) => void of.then((pack) => {
    if (pack && message2.type === "tools") scripts.offered(port, message2.tools);
    else if (pack && message2.type !== "tools") runs.script(port, pack, message2);
  }));
  port.onDisconnect.addListener(() => void of.then((pack) => {
    scripts.disconnected(port);
    if (pack) runs.scriptLeft(port, pack);
  }));
});
function heard(frame, port, message2) {
  switch (message2.type) {
    case "hello":
      calls.hello(port, message2);
      break;
    case "offer":
      tabs.offered(frame, message2);
      break;
    case "answer":
      if (!manualCalls.answered(port, message2)) calls.answered(port, message2);
      break;
    case "progress":
      calls.progressed(port, message2);
      break;
    case "waiting":
      calls.waits(port, message2);
      break;
    case "leaving":
      manualCalls.leaving(message2.id);
      calls.leaving(port, message2);
      break;
    case "token":
      void calls.took(port, message2);
      break;
    case "resume":
      void calls.resume(port, message2);
      break;
    case "staying":
      calls.staying(port);
      break;
    case "dialog":
      tabs.dialog(frame, message2.dialog);
      break;
    case "updated":
      if (tabs.permitted(frame)) {
        hub.notify("browser/resourceUpdated", { uri: message2.uri }, port.sender?.tab?.id);
      }
      break;
  }
}
chrome.tabs.onUpdated.addListener((id, change, tab) => {
  void ready.then(() => {
    tabs.seen(tab);
    gateways.seen(id, change);
    recordings.seen(id, change);
    if (change.status) activity.loaded(id);
    if (change.status) void userInput.watch(id);
    if (change.url) void invitations.seen(tab, change.url);
  });
});
chrome.webNavigation.onErrorOccurred.addListener((what) => void ready.then(() => {
  calls.failed(what);
  runs.failed(what);
}));
var hearCommits = whileNeeded([chrome.webNavigation.onCommitted], (what) => recordings.committed(what));
var hearMoves = whileNeeded([chrome.webNavigation.onHistoryStateUpdated, chrome.webNavigation.onReferenceFragmentUpdated], (what) => {
  if (tabs.moved(what)) void bringToDocument(what.tabId, what.documentId);
});
void ready.then(() => {
  hearCommits(recordings.on);
  hearMoves(packs.any);
});
function whileNeeded(events, hear) {
  const heard2 = (what) => void ready.then(() => hear(what));
  const listen2 = (needed) => {
    for (const event of events) {
      if (needed) event.addListener(heard2);
      else event.removeListener(heard2);
    }
  };
  listen2(true);
  return listen2;
}
chrome.tabs.onCreated.addListener(({ id = -1, status }) => void ready.then(() => gateways.seen(id, { status })));
chrome.tabs.onActivated.addListener(({ tabId, windowId }) => {
  void ready.then(() => {
    tabs.activated(tabId, windowId);
    void userInput.tabChanged();
  });
});
chrome.tabs.onAttached.addListener((tabId) => void ready.then(async () => tabs.seen(await chrome.tabs.get(tabId))));
chrome.tabs.onRemoved.addListener((tabId) => {
  void ready.then(() => {
    tabs.removed(tabId);
    recordings.closed(tabId);
    forget(tabId);
  });
});
chrome.tabs.onReplaced.addListener((id, before) => {
  void tabs.replaced(id, before, ready);
  void ready.then(() => {
    tabGroups.replaced(id, before);
    recordings.replaced(id, before);
    forget(before);
  });
});
function forget(tabId) {
  activity.closed(tabId);
  overlay.closed(tabId);
  toolbar.closed(tabId);
  userInput.ended(tabId);
  tabGroups.closed(tabId);
}
chrome.windows.onFocusChanged.addListener(
  (windowId) => {
    void ready.then(() => {
      tabs.focused(windowId);
      void userInput.tabChanged();
    });
  },
  { windowTypes: ["normal"] }
);
chrome.windows.onRemoved.addListener((windowId) => void ready.then(() => questions2.closed(windowId)));
chrome.alarms.onAlarm.addListener(({ name }) => void ready.then(() => void (name === ALARM ? recordings.late() : link.ensure())));
void chrome.alarms.create("awake", { periodInMinutes: 0.5 });
chrome.runtime.onStartup.addListener(() => void ready.then(() => gateways.everywhere()));
var reachOpenPages = () => void ready.then(() => Promise.all([gateways.everywhere(), bringToOpenPages(current), bringToPacked()]));
chrome.runtime.onInstalled.addListener(reachOpenPages);
chrome.permissions.onAdded.addListener(reachOpenPages);
chrome.runtime.onMessage.addListener((message2, sender, respond) => {
  if (sender.id === chrome.runtime.id && message2.type === "sign") {
    void ready.then(() => bring(message2.sign, sender, current)).catch(() => {
    });
  }
  if (sender.id === chrome.runtime.id && message2.type === "answers") {
    void ready.then(() => bringAnswers(sender, current)).catch(() => {
    }).then(respond);
    return true;
  }
  const { tab } = sender;
  if (sender.id === chrome.runtime.id && message2.type === "userInput" && tab?.id !== void 0) {
    const { id } = tab;
    void ready.then(() => respond(userInput.input(id, message2.inFrame)));
    return true;
  }
  if (sender.id === chrome.runtime.id && message2.type === "recorded") {
    void ready.then(() => respond(recordings.said(sender, message2.says)));
    return true;
  }
  if (sender.id !== chrome.runtime.id || sender.origin !== location.origin) return false;
  void ready.then(() => asked(message2)).then(respond);
  return true;
});
async function asked(request) {
  switch (request.ask) {
    case "status": {
      void scripts.sync();
      const { tabId = chrome.tabs.TAB_ID_NONE } = request;
      const tab = tabId < 0 ? void 0 : await chrome.tabs.get(tabId).catch(() => void 0);
      const url = tab ? await addressOf(tab) : "";
      const page = await pageView(tab, url);
      const sites = tabs.sites(tabId, url, page.reached);
      return { ...stands(), address: current.hub, settings: current, page, sites, recent: activity.recent(tabId), used: await usedTabs(), lease: leases.of(tabId), recording: recordings.view };
    }
    case "site": {
      const { origin, on, keep: keep2, webmcp } = request;
      if (on !== void 0) await apply((chosen) => withSite(chosen, origin, on));
      if (keep2 !== void 0) await apply(({ keep: kept }) => ({ keep: toggled(kept, origin, keep2) }));
      if (webmcp !== void 0) await apply(({ plain }) => ({ plain: toggled(plain, origin, !webmcp) }));
      return current;
    }
    case "pack":
      return packs.choose(request.hash, request.on);
    case "record":
      return recordings.start(request.tabId);
    case "recorded":
      switch (request.does) {
        case "stop":
          return recordings.stop();
        case "discard":
          return recordings.discard();
        case "remove":
          return recordings.remove(request.step, request.field);
        case "send":
          return recordings.send(request.name);
      }
      break;
    case "settings":
      return current;
    case "save":
      await apply(() => request.settings);
      return current;
    case "dashboard":
      return openDashboard();
    case "pause":
      return pause(request.on);
    case "release":
      return release(request.tabId);
    case "front":
      return questions2.front();
    case "tool":
      return tabs.schema(request.tool);
    case "try":
      return manualCalls.call(request.id, request.tool, request.args);
    case "cancel":
      return manualCalls.cancel(request.id);
    case "paste":
      return invitations.pasted(request.link);
    case "invitation":
      return invitations.view(request.id);
    case "accept":
      return invitations.answer(request.id, request.accept);
    case "reconnect":
      await link.restart();
      return link.state;
    case "forget":
      await forgetIdentity();
      await link.restart();
      return link.state;
    case "question":
      return questions2.view(request.id);
    case "answer":
      return questions2.answer(request.id, request.answer);
  }
}
async function addressOf({ id: tabId, url }) {
  if (url || tabId === void 0) return url ?? "";
  const document2 = await chrome.webNavigation.getFrame({ tabId, frameId: 0 }).catch(() => null);
  return document2?.url ?? "";
}
async function pageView(tab, url) {
  const origin = webOrigin(url);
  if (!tab?.id || !origin) return { web: false, secure: false, allowed: false, reached: false, bare: false, loading: false, asleep: false };
  const { protocol, hostname } = new URL(origin);
  const secure = protocol === "https:" || isLoopback(hostname);
  const asleep = isAsleep(tab);
  const allowed = await chrome.permissions.contains({ origins: [`${protocol}//${hostname}/*`] });
  const reached = allowed && !asleep && await gateways.place(tab.id);
  const bare = reached && !await hasModelContext(tab.id);
  return { web: true, secure, allowed, reached, bare, loading: tab.status === "loading", asleep };
}
async function hasModelContext(tabId) {
  const look3 = () => "modelContext" in document || "modelContext" in navigator;
  const [done] = await chrome.scripting.executeScript({ target: { tabId }, world: "MAIN", func: look3, injectImmediately: true }).catch(() => []);
  return done?.result !== false;
}
async function usedTabs() {
  const tabs2 = activity.marked.map(async ({ tabId, users }) => {
    const { title = "" } = await chrome.tabs.get(tabId).catch(() => ({ title: "" }));
    return { tabId, title, users };
  });
  return Promise.all(tabs2);
}
async function openDashboard() {
  try {
    const { url } = await hub.request("browser/dashboard", {});
    if (!/^https?:/.test(url)) throw new Error("the hub has no dashboard");
    await chrome.tabs.create({ url });
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
function showOverlay(tabId) {
  const lease = leases.of(tabId);
  overlay.show(tabId, lease?.waiting ? waitsForYou(lease.by) : activity.label(tabId));
}
async function release(tabId) {
  try {
    await hub.request("browser/release", {}, tabId);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
async function pause(on) {
  try {
    await hub.request("browser/pause", { on });
    owner = { ...owner, paused: on };
    showState();
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
function packsChanged() {
  hearMoves(packs.any);
  if (packs.any) runs.expect();
  tabs.packsChanged();
  runs.check();
  void scripts.sync();
  void placeScripts(current, packs.match).then(bringToPacked);
}
async function bringToPacked() {
  if (packs.match.length) await bringTo(current, (url) => packs.tools(url).length > 0);
}
async function apply(change) {
  const saved = changing2.then(async () => {
    const before2 = current;
    current = await saveSettings(change(before2));
    return before2;
  });
  changing2 = saved.catch(() => {
  });
  const before = await saved;
  tabs.settingsChanged();
  runs.check();
  overlay.renewAll();
  await placeScripts(current, packs.match);
  void scripts.sync();
  void gateways.everywhere();
  void bringToOpenPages(current, before);
  if (current.hub === before.hub) return;
  packs.drop();
  await questions2.leave();
  const restarted = link.restart();
  tabs.hubChanged();
  await restarted;
}
function standing() {
  const { state } = link.state;
  const { hub: hub2, version } = link.state.state === "connected" ? link.state : { hub: "", version: "" };
  return { address: current.hub, state, hub: hub2, version };
}
function stateChanged() {
  if (link.state.state === "unpaired") packs.drop();
  tabs.hubChanged();
  showState();
}
function showState() {
  if (link.state.state !== "connected") {
    hub.disconnected();
    owner = NO_OWNER_STATE;
    leases.take([]);
  }
  toolbar.show(stands());
}
function stands() {
  return { hub: link.state, owner, waiting: questions2.waiting, working: activity.working };
}
