// One tab: its frames, what they offer, and what the hub was told of it.

import { withoutSecret } from "./invitations.js";
import { keeps, permitsPage } from "./settings.js";

/** Numbers of servers in child frames begin here, beyond those of the browser's frames. */
const THROUGH = 2 ** 40;
const MAX_KEY = 1000;
/** Below the hub's limit of 32 MiB a frame. */
const MAX_REGISTRATION = 24 << 20;

/** @type {["tools", "resources", "prompts"]} */
export const KINDS = ["tools", "resources", "prompts"];

/** @type {Offer} */
const NOTHING = { tools: [], resources: [], prompts: [], rejected: [] };

/**
 * A document with its content script, or a server in a child frame that is reached
 * through the document around it.
 */
export class Frame {
  /** @type {chrome.runtime.Port | undefined} */
  #port;
  documentId = "";
  /** As the browser gives it. */
  origin = "";
  offer = NOTHING;
  /** The number of the offer, by the frame's own count. */
  count = 0;
  /** Whether the offer is that of the document before this one. */
  stale = false;
  /**
   * Until when a stale offer stands against one of this document that lacks some of it, as
   * Date.now() has it; 0 until this document has made an offer.
   */
  until = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;

  /**
   * @param {number} id
   * @param {{frame: Frame, key: number}} [through] for a server: the document around it, and what
   *   that one calls it
   */
  constructor(id, through) {
    this.id = id;
    this.through = through;
  }

  /** @returns {chrome.runtime.Port | undefined} */
  get port() {
    return this.through ? this.through.frame.port : this.#port;
  }

  set port(port) {
    this.#port = port;
  }

  /**
   * Whether an offer lacks something of the one that the frame has.
   *
   * @param {Offer} offer
   */
  lacks(offer) {
    return KINDS.some((kind) => {
      const names = new Set(offer[kind].map(nameOf));
      return this.offer[kind].some((item) => !names.has(nameOf(item)));
    });
  }

  get empty() {
    const { tools, resources, prompts } = this.offer;
    return tools.length + resources.length + prompts.length === 0;
  }
}

/** @param {Item} item */
function nameOf(item) {
  return String(item.uri ?? item.uriTemplate ?? item.name);
}

export class Tab {
  /** @type {Map<number, Frame>} */
  frames = new Map();
  /** What the hub was told over the connection that is open now, as JSON. */
  sent = { tools: "", resources: "", prompts: "", state: "" };
  /** Whether the hub was ever told of the tab. */
  known = false;
  /** Whether the hub is moving it to another page. */
  moving = false;
  /** @type {Rejection[]} the hub's, of the latest registration */
  rejected = [];
  /** @type {Rejection[]} the same, of parts of what it took */
  warnings = [];
  /** @type {Set<number> | undefined} frames that are waited for after the worker was restarted */
  missing;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  /** When the hub may be told again what it offers, as Date.now() has it. */
  rests = 0;
  /** What the browser says of the tab. */
  url = "";
  title = "";
  active = false;
  loading = false;
  windowId = -1;

  /** @param {number} id */
  constructor(id) {
    this.id = id;
  }

  /**
   * The server in a child frame that a frame speaks of.
   *
   * @param {Frame} frame
   * @param {{key: number, origin: string}} child
   */
  through(frame, { key, origin }) {
    const id = THROUGH + frame.id * MAX_KEY + (key % MAX_KEY);
    let child = this.frames.get(id);
    if (!child) {
      child = new Frame(id, { frame, key });
      this.frames.set(id, child);
    }
    child.origin = origin;
    return child;
  }

  /**
   * Forgets what a frame offered, and what was reached through it.
   *
   * @param {Frame} frame
   */
  forget(frame) {
    clearTimeout(frame.timer);
    frame.offer = NOTHING;
    frame.stale = false;
    for (const other of this.frames.values()) {
      const below = other.through?.frame === frame || (frame.id === 0 && !other.port && other !== frame);
      if (below) this.frames.delete(other.id);
    }
  }

  /**
   * The frames whose offers count, documents first: what another frame says of a server
   * counts only while the browser knows a frame of that origin in the tab, and the user
   * permits it.
   *
   * @param {(origin: string) => boolean} permitted
   */
  offering(permitted) {
    const frames = [...this.frames.values()].sort((a, b) => a.id - b.id);
    const there = new Set(frames.filter((frame) => !frame.through).map((frame) => frame.origin));
    return frames.filter(({ through, origin }) => !through || (there.has(origin) && permitted(origin)));
  }

  /**
   * What the hub rejected of a frame's offer. A name that other frames offer, too, is
   * left out: it may be theirs.
   *
   * @param {Frame} frame
   */
  rejectedOf(frame) {
    const namesOf = (/** @type {Frame} */ { offer }) => KINDS.flatMap((kind) => offer[kind].map((item) => String(item.uri ?? item.uriTemplate ?? item.name)));
    const own = new Set(namesOf(frame));
    for (const other of this.frames.values()) if (other !== frame) for (const name of namesOf(other)) own.delete(name);
    return this.rejected.filter(({ name }) => own.has(name));
  }

  /**
   * Returns what tells frames that the hub has what they offer now.
   *
   * @param {Frame[]} frames
   */
  confirming(frames) {
    const offers = frames.filter(({ through }) => !through).map((frame) => ({ frame, port: frame.port, count: frame.count }));
    return () => {
      for (const { frame, port, count } of offers) {
        if (frame.port === port) tell(port, { type: "registered", count, rejected: this.rejectedOf(frame) });
      }
    };
  }

  /**
   * What the hub is told of the page; nothing if the user does not share it.
   *
   * @param {Settings} settings
   * @returns {{url?: string, title?: string}}
   */
  page(settings) {
    return permitsPage(settings, this.url) ? { url: withoutSecret(this.url).slice(0, 2048), title: withoutSecret(this.title).slice(0, 4096) } : {};
  }

  /**
   * The parameters of browser/tabState.
   *
   * @param {number} focused the window that had the focus last
   * @param {Settings} settings
   * @returns {ToHub["browser/tabState"]["params"]}
   */
  state(focused, settings) {
    const page = this.page(settings);
    return {
      ...page,
      active: this.active,
      windowId: this.windowId,
      windowFocused: this.windowId === focused,
      keepTools: !!page.url && keeps(settings, page.url),
    };
  }
}

/**
 * The items of a tab's frames, each with its frame and the origin that the browser
 * vouches for.
 *
 * @param {Frame[]} frames documents first
 */
export function merge(frames) {
  /** @type {Rejection[]} */
  const rejected = [];
  const list = (/** @type {"tools" | "resources" | "prompts"} */ kind) => {
    let size = 0;
    let left = 0;
    const texts = [];
    // A document's own word goes before that of a server in it.
    const own = new Set();
    for (const { id, origin, offer, through } of frames) {
      for (const item of offer[kind]) {
        const key = `${origin} ${item.uri ?? item.uriTemplate ?? item.name}`;
        if (through ? own.has(key) : !own.add(key)) continue;
        const text = JSON.stringify({ ...item, frameId: id, origin });
        size += text.length + 1;
        if (size > MAX_REGISTRATION) left++;
        else texts.push(text);
      }
    }
    if (left) rejected.push({ name: `${left} ${kind}`, reason: "the tab offers too much in all" });
    return { text: `[${texts.join()}]`, count: texts.length };
  };
  return { lists: { tools: list("tools"), resources: list("resources"), prompts: list("prompts") }, rejected };
}

/**
 * Says something to a frame, whose document may just have gone.
 *
 * @param {chrome.runtime.Port | undefined} port
 * @param {WorkerToFrame} message
 */
export function tell(port, message) {
  try {
    port?.postMessage(message);
  } catch {
    // Its end will be told.
  }
}
