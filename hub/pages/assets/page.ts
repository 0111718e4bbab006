// A page as one tab of the hub: connected by the companion extension where that serves
// the page at the same hub, else by a connection of the page's own.

import { HUB } from "./hub.ts";
import { EXTENSION_EVENT, dialExtension, nameHub } from "./extension.ts";
import { pageSources, nativeContext } from "./sources.ts";
import { WebMCPSource } from "./webmcpsource.ts";
import { APISource, PageAPI } from "./api.ts";
import { Connection } from "./connection.ts";
import { TabKey } from "./tabkey.ts";
import { TabState } from "./tabstate.ts";
import { Values } from "../../../tabtransport/pagejs/values.ts";

// A reloaded page waits this long for its own tools before it comes back, so that
// the hub sees the same list as before. It is well within the time that the hub waits.
const RELOAD_WAIT_MS = 1_500;
const RELOAD_QUIET_MS = 250;

// How long the companion extension may take to say whether it connects the page.
const EXTENSION_WAIT_MS = 1_500;
// An extension that was updated is back after about as long.
const SUCCESSOR_WAIT_MS = 1_000;
// How long the extension may take to tell the hub, before the page's own tab is closed.
const TAKEOVER_WAIT_MS = 3_000;
/** The close code with which an extension that was updated or removed takes its leave. */
const CLOSE_GOING_AWAY = 1001;

export class Page {
  /** What the page gives to this script. */
  #own: Source[];
  /** The sources that the companion extension has, too. */
  #others: Source[] = [];
  #hub;
  #tell;
  #state;
  #key = new TabKey();
  #session = Values.randomID();
  /** The page's own connection. */
  #direct;
  /** The companion extension, while it is asked or connects the page. */
  #extension: Connection | null = null;
  /** What the extension says of the page. */
  #said: JSONObject = {};
  /** Whether the page is shown, or could be: it is neither loaded ahead nor kept for going back. */
  #present = false;
  /** Whether the page may connect by itself. */
  #ready = false;
  #searching = false;
  /** Whether an extension has announced itself since #extension was asked. */
  #announced = false;
  /** Whether the last that was asked would not carry the page: the next must not keep it waiting. */
  #declined = false;

  /**
   * @param own what the page gives to tabhub itself
   * @param hub the origin of the hub
   */
  constructor(own: APISource, native: ModelContext | undefined, given: WebMCPSource | undefined, hub: string, dial: () => LinkSocket, tell: (event: "status" | "call", detail: TabStatus | CallStep) => void) {
    this.#own = given ? [own, given] : [own];
    this.#hub = hub;
    this.#tell = tell;
    this.#others = pageSources(
      native,
      given,
      () => this.#direct.changed(),
      (uri) => this.#direct.link.notify("browser/resourceUpdated", { uri }),
      (token) => this.#direct.resume(token),
    );
    this.#direct = new Connection({
      sources: [...this.#own, ...this.#others],
      dial,
      hello: () => ({
        protocolVersion: "tabhub.v1",
        tabKey: this.#key.value,
        session: this.#session,
        capabilities: ["text", "navigate", "rest", "resume"],
      }),
      fresh: () => !this.#key.returning,
      opened: () => this.#state.tellAll(),
      changed: () => this.#changed(),
      step: (step) => this.#tell("call", step),
      unanswered: () => console.warn(`tabhub: ${unanswered(this.#hub)}`),
      waits: (waiting) => this.#state.waits(waiting),
    });
    this.#state = new TabState(this.#direct.link);
    const changed = () => {
      this.#direct.changed();
      this.#extension?.changed();
    };
    own.changed = changed;
    if (given) {
      given.changed = changed;
      given.resume = (token) => this.#direct.resume(token);
    }
  }

  async start() {
    // A page that the browser loads ahead is no tab until the user goes there.
    if ((document as any).prerendering) {
      await new Promise((shown) => document.addEventListener("prerenderingchange", shown, { once: true }));
    }
    this.#present = true;
    window.addEventListener(EXTENSION_EVENT, () => {
      const before = this.#extension;
      if (before && before.link.state !== "open") {
        this.#announced = true;
        return;
      }
      // The extension that connects the page does not announce itself: this is a successor, heard
      // before its predecessor's farewell, or instead of it.
      this.#extension = null;
      this.#ask();
      before?.link.stop();
      if (before && !this.#extension) this.#joinDirectly();
    });
    this.#ask();
    if (!this.#extension) this.#search();
    // A page that is kept for going back must not hold a socket or the key. A page
    // that goes away says nothing more: it may be a reload, and the hub waits
    // a few seconds for it.
    window.addEventListener("pagehide", () => {
      this.#present = this.#ready = false;
      this.#extension?.link.stop();
      this.#extension = null;
      this.#direct.link.stop();
      this.#key.release();
    });
    window.addEventListener("pageshow", (event) => {
      if (!event.persisted) return;
      this.#present = true;
      this.#ask();
      void this.#prepare(false);
    });
    const now = () => {
      if (this.#direct.link.state === "waiting" && document.visibilityState === "visible") this.#direct.link.start();
    };
    window.addEventListener("online", now);
    document.addEventListener("visibilitychange", now);
    await this.#prepare(true);
  }

  status(): TabStatus {
    const { owners } = this.#direct;
    const carried = this.#extension?.link.state === "open";
    const path = carried && this.#extension ? this.#extension : this.#direct;
    const { state, reason, hub } = path.link;
    const said = this.#said;
    const rejected = [...path.rejected.tool, ...path.rejected.resource, ...path.rejected.prompt];
    if (carried && Array.isArray(said.rejected)) rejected.push(...said.rejected);
    return {
      state: !carried ? (this.#extension && state === "off" ? "connecting" : state) : said.connected === false ? "waiting" : "open",
      reason,
      by: carried ? "extension" : "page",
      hub: [hub.hub, hub.version].filter(Boolean).join(" "),
      tabKey: this.#key.value,
      tools: carried ? Number(said.tools ?? 0) : owners.tool.size,
      resources: carried ? Number(said.resources ?? 0) : owners.resource.size,
      prompts: carried ? Number(said.prompts ?? 0) : owners.prompt.size,
      rejected,
    };
  }

  resourceUpdated(uri: string) {
    const path = this.#extension?.link.state === "open" ? this.#extension : this.#direct;
    path.link.notify("browser/resourceUpdated", { uri });
  }

  #changed() {
    this.#tell("status", this.status());
  }

  /** Takes the tab's key, and connects if the extension does not. */
  async #prepare(first: boolean) {
    await this.#key.take();
    if (first && this.#key.returning) await settled();
    if (!this.#present) return;
    this.#ready = true;
    this.#joinDirectly();
  }

  /** Connects by itself, unless the extension connects the page or is being asked. */
  #joinDirectly() {
    const asking = this.#extension && (this.#extension.link.state === "open" || !this.#declined);
    if (!this.#ready || asking) return;
    this.#search();
    this.#direct.start();
  }

  /** Looks for what the page offers otherwise, as the extension does where it connects the page. */
  #search() {
    if (this.#searching) return;
    this.#searching = true;
    this.#state.watch();
    for (const source of this.#others) source.start();
  }

  /** Asks the companion extension, if there is one, to carry the page. */
  #ask() {
    if (this.#extension || !this.#present) return;
    const socket = dialExtension(this.#hub);
    if (!socket) return;
    let served = false;
    const path = new Connection({
      // The extension finds the others itself, and offers them after these.
      sources: this.#own,
      dial: () => socket,
      hello: () => ({ protocolVersion: "tabhub.v1" }),
      once: EXTENSION_WAIT_MS,
      fresh: () => true,
      opened: (registered) => {
        served = true;
        void this.#takeOver(path, registered);
      },
      changed: () => this.#changed(),
      lost: (code) => {
        this.#declined = !served && code !== CLOSE_GOING_AWAY;
        this.#leave(path, code === CLOSE_GOING_AWAY ? SUCCESSOR_WAIT_MS : 0);
      },
      notice: (method, params) => this.#hear(path, method, params),
      step: (step) => this.#tell("call", step),
    });
    this.#said = {};
    this.#announced = false;
    this.#extension = path;
    path.start();
  }

  /**
   * The extension connects the page: its own tab is closed when the hub knows what
   * the extension offers.
   */
  async #takeOver(path: Connection, registered: Promise<unknown>) {
    if (this.#direct.link.state === "open") {
      const late = new Promise((resolve) => setTimeout(resolve, TAKEOVER_WAIT_MS));
      const told = registered.then(() => path.link.request("tabhub/settle", {}));
      await Promise.race([told.catch(() => {}), late]);
    }
    if (path === this.#extension) void this.#direct.retire();
  }

  #hear(path: Connection, method: string, params: JSONObject) {
    if (path !== this.#extension) return;
    if (method === "tabhub/carried") {
      this.#said = params;
      this.#changed();
      if (params.refused) Values.warnOf(params.refused);
    } else if (method === "tabhub/leave") this.#leave(path, 0);
  }

  /**
   * The extension does not carry the page any more; path is closed when what runs on
   * it is answered.
   * @param wait ms for its successor
   */
  #leave(path: Connection, wait: number) {
    if (path !== this.#extension) return;
    this.#extension = null;
    if (this.#announced) this.#ask();
    this.#search();
    setTimeout(() => this.#joinDirectly(), wait);
    this.#changed();
  }
}

/**
 * What to do where the hub has not answered: the browser does not tell one that refuses the page from
 * one that does not run.
 */
function unanswered(hub: string) {
  const works = `No hub answers at ${hub}. The page works without one, and joins when one comes: tabhub serve.`;
  if (location.protocol === "file:") return `${works} A file has no address that the hub could know: serve its directory, as python3 -m http.server does, and open it at http://localhost.`;
  if (self.origin === "null") return `${works} This document has no origin that the hub could know: it is sandboxed, or part of another one.`;
  if (/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(location.hostname)) return works;
  return `${works} One that runs refuses this site without --allow-origin ${self.origin}, and the browser may ask the user whether the page may connect to this machine.`;
}

/** Waits until a reloaded page has had time to register what it has. */
function settled() {
  return new Promise((resolve) => {
    setTimeout(resolve, RELOAD_WAIT_MS);
    whenLoaded(() => setTimeout(resolve, RELOAD_QUIET_MS));
  });
}

function whenLoaded(f: () => void) {
  if (document.readyState === "complete") f();
  else window.addEventListener("load", f, { once: true });
}

/**
 * Gives the page the standard's API where there is none, and joins the document to the hub, once.
 * @param dial takes the origin of the hub
 */
export function joinHub(dial: (hub: string) => LinkSocket) {
  // An element with this id is a member of the window, too.
  if (Object.hasOwn(window, "tabhub")) {
    console.warn("tabhub: this page has joined already; the second script does nothing");
    return;
  }
  const native = nativeContext();
  // Where Firefox has the API, it is at navigator alone.
  const has = "modelContext" in document || ("ModelContext" in window && !("modelContext" in navigator));
  const given = native || has ? undefined : new WebMCPSource();
  const hub = hubOrigin();
  nameHub(hub);
  const own = new APISource();
  const tell = (event: string, detail: TabStatus | CallStep) => tabhub.dispatchEvent(new CustomEvent(event, { detail }));
  const page = new Page(own, native, given, hub, () => dial(hub), tell);
  const tabhub = (window.tabhub = (new PageAPI(own, page) as object) as PublicPage);
  void page.start();
}

/**
 * The hub to join: what this script's element says, or one in the page's head as a module has none, else
 * the one that served this script, from wherever the page has its copy. In the body an element may be
 * what others have written.
 */
function hubOrigin() {
  const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript : null;
  const inHead: HTMLElement | null = document.querySelector(":root > head > script[data-hub]"); // document.head may be an element of that name
  const said = script?.dataset.hub ?? inHead?.dataset.hub;
  if (said !== undefined) {
    const url = URL.canParse(said) ? new URL(said) : undefined;
    if (url && /^https?:$/.test(url.protocol)) return url.origin;
    console.error(`tabhub: data-hub="${said}" is not an address such as "http://127.0.0.1:3300"; the page joins ${HUB}`);
  }
  // A hub behind a proxy need not know that the page came over TLS.
  if (script?.src && new URL(script.src).host === new URL(HUB).host) return new URL(script.src).origin;
  return HUB;
}
