// Pages that join the hub by its script /tab.js: where the extension serves the page at
// the same hub, the script offers over a port to this one what the page gave to it, and
// keeps no connection of its own. So the page is one tab for the hub.
//
// The port carries the frames of tabhub.v1, and this end answers as a hub does. Beyond
// them there are tabhub/carried (this end tells how the page is offered), tabhub/leave
// (this end offers it no more, and what runs may end) and the request tabhub/settle,
// answered when the hub has all that the page has offered so far. All that comes is the
// page's word.
//
// Scripts of the page can fire and hear the events by which the two find each other. So
// this end answers and announces itself only in a page that has the script of the hub that
// the extension is set to, or a link that names that hub, where the user shares the site. A copy
// of the script puts the link there: of a module, or one in a bundle, there is no element.

import { PageScript, Unknown } from "./pagescript.ts";
import { Shape } from "./shape.ts";

import { Limit, Values } from "../../pagejs/values.ts";

export class EmbeddedSource implements Source {
  static #files = ["/tab.js", "/embed.js"];
  /** How the port closes where a newer copy of this script may follow. */
  static #goingAway = 1001;
  static #declined = 4100;
  static #maxSettling = 8;
  /** How often a script that is connected checks for the extension. */
  static #checkEvery = 2_000;
  static #kinds: Record<string, "tools" | "resources" | "prompts"> = {
    "browser/registerTools": "tools",
    "browser/updateTools": "tools",
    "browser/registerResources": "resources",
    "browser/updateResources": "resources",
    "browser/registerPrompts": "prompts",
    "browser/updatePrompts": "prompts",
  };

  #script: PageScript | undefined;
  /** The hub that the page's script came from; the first that it says is the one. */
  #origin: string | undefined;
  /** Whether the user lets the hub see this site; undefined: not known yet. */
  #on: boolean | undefined;
  #hub: Extract<WorkerToFrame, { type: "hub" }> | undefined;
  /** What the page says that it has. */
  #offer: { tools: object[]; resources: object[]; prompts: object[] } = { tools: [], resources: [], prompts: [] };
  /** What of it is offered. */
  #items: { tools: Item[]; resources: Item[]; prompts: Item[] } = { tools: [], resources: [], prompts: [] };
  /** Whether the page has said something that was not published yet. */
  #dirty = false;
  /** Of all that the frame offers: how many offers the worker has, how many of them the hub has. */
  #published = { count: 0, tools: 0, resources: 0, prompts: 0 };
  #registered = 0;
  /** By the hub. */
  #refused: Offered<Refused> | undefined;
  /** Requests for tabhub/settle that wait. */
  #settling: (string | number)[] = [];
  #soon: ReturnType<typeof setTimeout> | undefined;
  #changed;
  #updated;

  /**
   * @param changed called when what is offered may differ
   * @param updated called when a resource's content has changed
   * @param gone aborted when the extension goes away
   */
  constructor(changed: () => void, updated: (uri: string) => void, gone: AbortSignal) {
    this.#changed = changed;
    this.#updated = updated;
    addEventListener("tabhub-page", (event) => this.#join(event), { signal: gone });
    // The browser does not always say that it has removed the extension.
    const check = setInterval(() => {
      if (!chrome.runtime?.id) this.#drop(EmbeddedSource.#goingAway);
    }, EmbeddedSource.#checkEvery);
    gone.addEventListener("abort", () => {
      clearInterval(check);
      this.#drop(EmbeddedSource.#goingAway);
    });
  }

  // ---- Whether the page is connected

  start() {
    this.#on = true;
    this.#decide();
  }

  stop() {
    this.#on = false;
    this.#decide();
  }

  /** The worker says which hub the extension is set to, and how it stands with it. */
  hub(hub: Extract<WorkerToFrame, { type: "hub" }>) {
    this.#hub = hub;
    this.#decide();
    this.#say();
  }

  /** The page goes, or is kept for going back: it asks again when it is back. */
  away() {
    this.#on = undefined;
    this.#hub = undefined;
    this.#drop(EmbeddedSource.#goingAway);
  }

  /** Undefined where it is not known, or may change soon: a connected page stays connected. */
  get #serves() {
    if (this.#on === undefined || !this.#hub) return undefined;
    const { address, state } = this.#hub;
    if (!this.#on || state === "refused" || state === "replaced") return false;
    if (this.#origin !== undefined && !sameHub(this.#origin, address)) return false;
    return state === "connected" || undefined;
  }

  /** Whether the page names the extension's hub: no other page learns that the extension is there. */
  get #invited() {
    const address = this.#hub?.address ?? "";
    const isScript = (src: string) => URL.canParse(src) && EmbeddedSource.#files.includes(new URL(src).pathname) && sameHub(src, address);
    const links: NodeListOf<HTMLLinkElement> = document.querySelectorAll("link[rel=tabhub]");
    return [...document.scripts].some(({ src }) => isScript(src)) || [...links].some(({ href }) => sameHub(href, address));
  }

  #decide() {
    const serves = this.#serves;
    const script = this.#script;
    if (serves === false) {
      if (script?.served) this.#leave();
      else if (script?.waits) this.#drop(EmbeddedSource.#declined);
    } else if (serves && !script) {
      if (this.#invited) dispatchEvent(new Event("tabhub-extension"));
    } else if (serves && script?.waits) {
      const { hub, version } = this.#hub as { hub: string; version: string };
      script.serve({ hub, version, limits: { maxFrame: Limit.answer, maxTools: Limit.items } });
      this.#say();
    }
  }

  /** @param event of the page's script, or of a script that pretends to be it */
  #join(event: Event) {
    if (!(event instanceof MessageEvent) || event.defaultPrevented) return;
    const port = event.ports[0];
    // Of an extension that was removed nothing is left but this script.
    if (!port || !chrome.runtime?.id) return;
    const hub = typeof event.data === "string" ? event.data.slice(0, Limit.uri) : "";
    // A page must not find out by trying where the extension's hub is: its first word counts.
    this.#origin ??= hub;
    if (!this.#on || this.#serves === false || hub !== this.#origin || !this.#invited) return;
    event.preventDefault();
    this.#drop(EmbeddedSource.#declined);
    const script: PageScript = new PageScript(port, {
      hello: () => this.#decide(),
      request: (id, method, params) => script === this.#script && this.#requested(id, method, params),
      updated: (uri) => this.#updated(uri),
      closed: () => script === this.#script && this.#forget(),
    });
    this.#script = script;
  }

  #leave() {
    const script = this.#script;
    this.#forget();
    script?.leave();
  }

  #drop(code: number) {
    const script = this.#script;
    this.#forget();
    script?.close(code);
  }

  #forget() {
    if (!this.#script) return;
    this.#script = undefined;
    this.#offer = { tools: [], resources: [], prompts: [] };
    this.#items = { tools: [], resources: [], prompts: [] };
    this.#settling = [];
    this.#changed();
  }

  // ---- Messages from and to the page

  #requested(id: string | number, method: string, params: Record<string, unknown>) {
    const kind = Object.hasOwn(EmbeddedSource.#kinds, method) ? EmbeddedSource.#kinds[method] : undefined;
    if (kind) {
      const list = Array.isArray(params[kind]) ? params[kind].slice(0, Limit.items + 1) : [];
      const { items, rejected } = Shape[kind](list);
      this.#offer = { ...this.#offer, [kind]: list };
      this.#items = { ...this.#items, [kind]: items };
      this.#dirty = true;
      this.#script?.answer(id, { accepted: items.length, rejected });
      // Lists that come together are published together.
      this.#soon ??= setTimeout(() => {
        this.#soon = undefined;
        this.#changed();
      });
    } else if (method === "tabhub/settle" && this.#settling.length < EmbeddedSource.#maxSettling) {
      this.#settling.push(id);
      this.#settle();
    }
  }

  /**
   * The worker has all that the frame offers.
   * @param count of offers that the worker has
   */
  published({ tools, resources, prompts }: Offer, count: number) {
    this.#published = { count, tools: tools.length, resources: resources.length, prompts: prompts.length };
    this.#say();
    this.#settle();
  }

  /**
   * The hub has what the worker was sent.
   * @param count as that of {@link published}
   * @param refused what of it the hub does not offer, or lists otherwise
   * @returns whether the page's script is notified, which writes it to the console
   */
  registered(count: number, refused: Offered<Refused>): boolean {
    this.#registered = count;
    this.#refused = refused;
    this.#say();
    this.#settle();
    return this.#script?.served === true;
  }

  #settle() {
    if (this.#dirty || this.#registered < this.#published.count) return;
    for (const id of this.#settling.splice(0)) this.#script?.answer(id, {});
  }

  /** Tells the page's script how the page is offered. */
  #say() {
    if (!this.#script?.served) return;
    const { tools, resources, prompts } = this.#published;
    const connected = this.#hub?.state === "connected";
    const refused = this.#refused;
    const rejected = Object.values(refused ?? {}).flatMap((of) => of.rejected);
    this.#script.tell("tabhub/carried", { connected, tools, resources, prompts, rejected, refused });
  }

  // ---- What the page is asked

  async offer() {
    this.#dirty = false;
    return this.#offer;
  }

  has(name: string) {
    return this.#items.tools.some((tool) => tool.name === name);
  }

  /** Whether the page has a resource: it lists the URI, or a template that may fit. */
  hasResource(uri: string): "listed" | "perhaps" | undefined {
    if (this.#items.resources.some((resource) => resource.uri === uri)) return "listed";
    return this.#items.resources.some((resource) => resource.uriTemplate !== undefined) ? "perhaps" : undefined;
  }

  hasPrompt(name: string) {
    return this.#items.prompts.some((prompt) => prompt.name === name);
  }

  async call(name: string, args: object, options: CallOptions) {
    const result = await this.#ask("browser/executeTool", { toolName: name, args }, options);
    if (Values.isObject(result) && result.success === true) return JSON.stringify(result.payload ?? { content: [] });
    const said = Values.isObject(result) ? result.payload : undefined;
    throw new Error(typeof said === "string" ? said : JSON.stringify(said));
  }

  async read(uri: string, options: CallOptions) {
    return JSON.stringify((await this.#ask("browser/readResource", { uri }, options)) ?? {});
  }

  async subscribe(uri: string, on: boolean, options: CallOptions) {
    await this.#ask("browser/subscribeResource", { uri, subscribe: on }, options);
  }

  async prompt(name: string, args: object | undefined, options: CallOptions) {
    return JSON.stringify((await this.#ask("browser/getPrompt", { name, args }, options)) ?? {});
  }

  #ask(method: string, params: object, options: CallOptions) {
    if (!this.#script?.served) throw new Unknown("the page's tabhub script has gone");
    const { extensions } = options;
    return this.#script.ask(method, extensions ? { ...params, extensions } : params, options);
  }
}

/**
 * Whether the hub that a page's script came from is the one at an address. The names of
 * this computer are one.
 */
function sameHub(origin: string, address: string) {
  if (!URL.canParse(origin) || !URL.canParse(address)) return false;
  const [page, own] = [new URL(origin), new URL(address)];
  const loopback = (host: string) => /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(host);
  return (
    page.protocol.replace("http", "ws") === own.protocol &&
    page.port === own.port &&
    (page.hostname === own.hostname || (loopback(page.hostname) && loopback(own.hostname)))
  );
}
