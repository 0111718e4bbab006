// One tab: its frames, what they offer, and what the hub has of it.

import { Frame, KINDS, nameOf } from "./frame.ts";
import { withoutSecret } from "./invitations.ts";
import { packOf } from "./packs.ts";

import { keeps, permitsPage } from "./settings.ts";

/** Numbers of servers in child frames begin here, beyond those of the browser's frames. */
const THROUGH = 2 ** 40;
const MAX_KEY = 1000;
/** Below the hub's limit of 32 MiB a frame. */
const MAX_REGISTRATION = 24 << 20;

/** Whether a tab is there without a document, to save memory, or since it was restored. */
export function isAsleep({ discarded, status }: chrome.tabs.Tab) {
  return discarded || status === "unloaded";
}

const NONE: Refused = { rejected: [], warnings: [] };

export class Tab {
  frames = new Map<number, Frame>();
  /** What the hub was sent over the connection that is open now, as JSON. */
  sent = { tools: "", resources: "", prompts: "", state: "" };
  /** Whether the hub has ever heard of the tab. */
  known = false;
  /** What the hub has refused of the latest registration of each kind. */
  refused: Offered<Refused> = { tools: NONE, resources: NONE, prompts: NONE };
  /** The ports of documents without an origin, which may offer something. */
  opaque = new Set<chrome.runtime.Port>();
  /** What it was not sent. */
  unsent: Rejection[] = [];
  /** Frames that are waited for after the worker was restarted. */
  missing: Set<number> | undefined;
  /** Ends that. */
  returning: ReturnType<typeof setTimeout> | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Settles when the hub has all that it was sent. */
  telling: Promise<unknown> | undefined;
  /** When the hub may be sent again what it offers, as Date.now() has it. */
  nextAt = 0;
  /** The number that it had before, if any. */
  replaces: number | undefined;
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

  constructor(id: number) {
    this.id = id;
  }

  /** The server in a child frame that a frame speaks of. */
  through(frame: Frame, { key, origin }: { key: number; origin: string }) {
    const id = THROUGH + frame.id * MAX_KEY + (key % MAX_KEY);
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
  with(frame: Frame) {
    return [...this.frames.values()].filter((other) => other === frame || other.through?.frame === frame);
  }

  /**
   * The frame that offers what was offered by one. A frame of a page that was reloaded has
   * another number than before, but the same origin.
   */
  find({ frameId, origin }: { frameId?: number; origin?: string }, offers: (frame: Frame) => boolean) {
    const frames = [...this.frames.values()].filter((frame) => frame.port && offers(frame));
    if (frameId === undefined) return frames[0];
    const same = frames.find(({ id }) => id === frameId);
    if (same || frameId === 0 || this.frames.get(frameId)?.port) return same;
    const others = frames.filter((frame) => frame.id !== 0 && frame.origin === origin);
    return others.length === 1 ? others[0] : undefined;
  }

  /** Whether a frame offers something that a test finds, may do so soon, or did before. */
  expects(offers: (offer: Offer) => boolean) {
    return !!this.missing?.size || [...this.frames.values()].some((frame) => frame.awaited || offers(frame.offer) || offers(frame.past));
  }

  /**
   * The frames whose offers count, documents first: what another frame says of a server
   * counts only while the browser knows a frame of that origin in the tab, and the user
   * permits it.
   */
  offering(permitted: (origin: string) => boolean) {
    const frames = [...this.frames.values()].sort((a, b) => a.id - b.id);
    const there = new Set(frames.filter((frame) => !frame.through).map((frame) => frame.origin));
    return frames.filter(({ through, origin }) => !through || (there.has(origin) && permitted(origin)));
  }

  /** Why what documents without an origin offer is not listed. */
  get leftOut() {
    return [...this.opaque].map(({ sender }) => ({
      name: `frame ${(sender?.url ?? "").split(/[?#]/)[0].slice(0, 60)}`,
      reason: "it has no origin by which its tools could be told from those of others, as it is sandboxed or a data: address; register them in the page around it, or give its sandbox allow-same-origin",
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
  refusedOf(frame: Frame, kind: typeof KINDS[number]): Refused {
    const own = new Set(frame.offer[kind].map(nameOf));
    for (const other of this.frames.values()) if (other !== frame) for (const item of other.offer[kind]) own.delete(nameOf(item));
    const ofFrame = ({ name }: Rejection) => own.has(name);
    const { rejected, warnings } = this.refused[kind];
    return { rejected: rejected.filter(ofFrame), warnings: warnings.filter(ofFrame) };
  }

  /** Returns what tells frames that the hub has what they offer now. */
  confirming(frames: Frame[]) {
    const offers = frames.filter(({ through }) => !through).map((frame) => ({ frame, port: frame.port, count: frame.count }));
    return () => {
      for (const { frame, port, count } of offers) {
        if (frame.port !== port) continue;
        frame.registered = count;
        const of = (kind: typeof KINDS[number]) => this.refusedOf(frame, kind);
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
  page(settings: Settings): { url?: string; title?: string } {
    return pageOf(settings, this);
  }

  /**
   * The parameters of browser/tabState.
   * @param focused the window that had the focus last
   */
  state(focused: number, settings: Settings): ToHub["browser/tabState"]["params"] {
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
      dialog: this.#dialog,
    };
  }
}

/** What the hub learns of a page; nothing if the user does not share it. */
export function pageOf(settings: Settings, { url = "", title = "" }: { url?: string; title?: string }): { url?: string; title?: string } {
  return permitsPage(settings, url) ? { url: withoutSecret(url).slice(0, 2048), title: withoutSecret(title).slice(0, 4096) } : {};
}

/**
 * The items of a tab's frames, each with its frame and the origin that the browser
 * vouches for. What an unloaded document has offered counts if no document of the origin in the tab offers it, as
 * frames have other numbers after a reload. A tool of a pack counts if the site has none of its name.
 * @param frames documents first
 */
export function merge(frames: Frame[]) {
  const rejected: Rejection[] = [];
  const list = (kind: "tools" | "resources" | "prompts") => {
    let size = 0;
    let left = 0;
    const texts: string[] = [];
    const seen = new Set<string>();
    const own = new Set<string>();
    const add = (item: Item, { id, origin }: Frame, departed: boolean) => {
      const text = JSON.stringify({ ...item, frameId: id, origin, departed: departed || undefined });
      size += text.length + 1;
      if (size > MAX_REGISTRATION) left++;
      else texts.push(text);
    };
    const packed: { item: Item; frame: Frame; departed: boolean }[] = [];
    for (const departed of [false, true]) {
      for (const frame of frames) {
        for (const item of (departed ? frame.past : frame.offer)[kind]) {
          if (packOf(item)) {
            packed.push({ item, frame, departed });
            continue;
          }
          const key = `${frame.origin} ${nameOf(item)}`;
          // A document's own word goes before that of a server in it.
          if (departed ? seen.has(key) : frame.through && own.has(key)) continue;
          seen.add(key);
          if (!frame.through) own.add(key);
          add(item, frame, departed);
        }
      }
    }
    const given = new Set<string>();
    for (const { item, frame, departed } of packed) {
      const key = `${frame.origin} ${nameOf(item)}`;
      const { name } = packOf(item) as { name: string };
      if (given.has(`${name} ${key}`)) continue; // of a frame before it
      given.add(`${name} ${key}`);
      if (!seen.has(key)) add(item, frame, departed);
      else rejected.push({ name: item.name, reason: `of the pack ${name}: the site has a tool of that name` });
    }
    if (left) rejected.push({ name: `${left} ${kind}`, reason: "the tab offers too much in all" });
    return { text: `[${texts.join()}]`, count: texts.length };
  };
  return { lists: { tools: list("tools"), resources: list("resources"), prompts: list("prompts") }, rejected };
}

/** Says something to a frame, whose document may just have gone. */
export function post(port: chrome.runtime.Port | undefined, message: WorkerToFrame) {
  try {
    port?.postMessage(message);
  } catch {
    // The browser will report its end.
  }
}

/** Whether an address is of an origin; each is if there is none to be of. */
export function isAt(url = "", origin?: string) {
  return !origin || (URL.canParse(url) && new URL(url).origin === origin);
}
