// Tools across the documents of a tab (webmcp.ts): each sees those of its own origin, and those that
// are exposed to it. A document of another origin than the one around it needs that one's leave, as
// the browser's policy "tools" has it.

import { Before } from "./webmcp.ts";
import { Idl } from "./webmcpidl.ts";
import { MEET } from "./webmcpstub.ts";
import type { Resumed } from "./webmcpinvocation.ts";

import type { DocumentTools } from "./webmcptools.ts";

/**
 * What a document asks one of another origin, and learns. A page may forge it; whose it is, the
 * browser says, and whether that one may ask the document around it says: of itself, as of the frame
 * that asks, or of another frame in it.
 */
type FrameMessage = { ask: "permitted"; of?: { index: number; origin: string } } | { ask: "tools"; id: string } | { ask: "told"; id: string; tools: ListedTool[] }
  | { ask: "run"; name: string; input: string } | { ask: "changed" };

export class ToolFrames {
  /** For a document of another origin to answer, in ms. */
  static #TIMEOUT = 2_000;

  #tools;
  #makeTool;
  /** What was listed last, by the tool of a document here, or by its window and its text. */
  #listed = new WeakMap<object, { [text: string]: RegisteredTool | undefined }>();
  start;
  #permitted: boolean | Promise<boolean> | undefined;
  /** Questions that documents have not answered, by id. */
  #asked: Record<string, (source: Window, origin: string, tools: unknown) => void> = Before.create(null);
  /** Of the windows in this document; null for one that is not found. */
  #elements = new WeakMap<Window, Element | null>();

  /**
   * @param tools those of this document, once it has begun to use the API
   * @param start has it begin, so that its forms are found
   */
  constructor(tools: () => DocumentTools | undefined, start: () => DocumentTools, makeTool: (seen: SeenTool) => RegisteredTool) {
    this.#tools = tools;
    this.start = start;
    this.#makeTool = makeTool;
  }

  /** Answers a document of the same origin that looks for this one's. */
  met(event: Event) {
    Before.detailOf(event).frames = this;
  }

  /** Those of another window; undefined if it is of another origin. */
  static #of(other: Window): ToolFrames | undefined {
    const met: { frames?: ToolFrames } = {};
    try {
      Before.dispatchEvent(other, new Before.CustomEvent(MEET, { detail: met }));
    } catch {
      // Only the browser's own methods are there.
    }
    return met.frames;
  }

  get tools() {
    return this.#tools();
  }

  // ---- Leave

  /** Whether the document may have tools and call some. */
  permitted(): boolean | Promise<boolean> {
    this.#permitted ??= this.#ask();
    return this.#permitted;
  }

  #ask(): boolean | Promise<boolean> {
    if (window === top) return true;
    const around = Before.frameElement(window);
    if (around) return delegates(around, self.origin, true) && (ToolFrames.#of(window.parent)?.permitted() ?? true);
    return new Before.Promise((resolve) => {
      const settle = (permitted: boolean) => resolve((this.#permitted = permitted));
      askLeave(window.parent, { ask: "permitted" }, settle);
      // No answer comes where the page around is of a site that has no part in this.
      Before.setTimeout(() => typeof this.#permitted === "boolean" || settle(false), ToolFrames.#TIMEOUT);
    });
  }

  /**
   * Whether a document of another origin may ask anything.
   * @param origin its own
   */
  #mayAsk(other: Window, origin: string): boolean | Promise<boolean> {
    const { parent } = other;
    if (other === top || !parent) return other === top;
    if (parent === window) return this.#lets(other, origin);
    let index = Before.framesIn(parent) - 1;
    while (index >= 0 && parent[index] !== other) index--;
    return new Before.Promise((resolve) => {
      askLeave(parent, { ask: "permitted", of: { index, origin } }, resolve);
      Before.setTimeout(() => resolve(false), ToolFrames.#TIMEOUT);
    });
  }

  /**
   * Whether this document lets one in it use tools.
   * @param origin the child's
   */
  #lets(child: Window | undefined, origin: string): boolean | Promise<boolean> {
    if (child?.parent !== window) return false;
    let element = this.#elements.get(child);
    if (element === undefined || (element && Before.contentWindow(element) !== child)) {
      element = elementOf(child, document) ?? null;
      this.#elements.set(child, element);
    }
    return element !== null && delegates(element, origin, origin !== "null" && origin === self.origin) && this.permitted();
  }

  // ---- Listed

  /**
   * All tools that this document may see, its own and those of documents of its origin included.
   * @param origins of which others
   */
  async list(origins: Record<string, true>): Promise<RegisteredTool[]> {
    const all: RegisteredTool[] = [];
    const asked: Promise<void>[] = [];
    let others = false;
    for (const _ in origins) others = true;
    each(top as Window, (other) => {
      const frames = other === window ? this : ToolFrames.#of(other);
      if (frames) this.#gather(all, frames.start().offered(), other, self.origin);
      else if (others) asked[asked.length] = this.#askTools(other, origins, all);
    });
    for (let i = 0; i < asked.length; i++) await asked[i];
    return all;
  }

  /**
   * Adds a document's tools to others, by their names.
   * @param tools of a document of another origin they may be anything
   */
  #gather(all: RegisteredTool[], tools: ListedTool[], owner: Window, origin: string) {
    const now: { [text: string]: RegisteredTool | undefined } = Before.create(null);
    for (let i = 0; i < tools.length; i++) {
      const tool = this.#toolOf(tools[i], owner, origin, now);
      if (!tool) continue;
      let at = all.length;
      for (; at > 0 && all[at - 1].name > tool.name; at--) all[at] = all[at - 1];
      all[at] = tool;
    }
    if (origin !== self.origin) this.#listed.set(owner, now);
  }

  /**
   * The same object for the same tool as long as it says the same.
   * @param now what this listing has of the window's
   * @returns undefined if it is none
   */
  #toolOf(tool: ListedTool, owner: Window, origin: string, now: { [text: string]: RegisteredTool | undefined }): RegisteredTool | undefined {
    const own = origin === self.origin;
    const text = own ? "" : Before.stringify([origin, listed(tool)]);
    const seen = this.#listed.get(own ? tool : owner)?.[text] ?? now[text] ?? this.#see(tool, owner, origin, own ? (tool as DocumentTool) : undefined);
    if (own) this.#listed.set(tool, { [text]: seen });
    else now[text] = seen;
    return seen;
  }

  #see({ name, title, description, schema, output, annotations: hints }: ListedTool, owner: Window, origin: string, of?: DocumentTool): RegisteredTool | undefined {
    const inputSchema = schema === undefined ? undefined : Before.parse(schema);
    const outputSchema = output === undefined ? undefined : Before.parse(output);
    if (!isSchema(inputSchema) || !isSchema(outputSchema)) return undefined;
    const annotations = hints && { ...Idl.dictionary(Idl.annotations, hints) };
    return this.#makeTool({ name: `${name}`, title: `${title}`, description: `${description}`, inputSchema, outputSchema, annotations, origin, window: owner, of });
  }

  /** @param all the tools that are learnt of are added to these */
  #askTools(other: Window, origins: Record<string, true>, all: RegisteredTool[]): Promise<void> {
    return new Before.Promise((resolve) => {
      const id = `${Before.random()}`;
      const done = () => {
        delete this.#asked[id];
        resolve(undefined);
      };
      this.#asked[id] = (source, origin, tools) => {
        if (source !== other) return;
        done(); // whatever the answer is
        if (origins[origin] && Before.isArray(tools)) this.#gather(all, tools, other, origin);
      };
      Before.setTimeout(done, ToolFrames.#TIMEOUT);
      post(other, { ask: "tools", id }, "*");
    });
  }

  /**
   * Tells the other documents that may see a tool that the tools have changed.
   * @param exposed to which other origins
   */
  changed(exposed: Record<string, true>) {
    each(top as Window, (other) => {
      if (other === window) return;
      const frames = ToolFrames.#of(other);
      if (frames) frames.tools?.changed();
      else for (const origin in exposed) post(other, { ask: "changed" }, origin);
    });
  }

  // ---- Run

  /**
   * Runs a tool of any document of the tab.
   * @param origin that the target must have
   * @param tool as of DocumentTools
   * @param input JSON
   * @param caller the one that the page gave
   */
  async run(target: Window, origin: string, tool: { name: string; of?: DocumentTool }, input: string, signal: AbortSignal, caller?: AbortSignal): Promise<ToolOutcome> {
    if (target.top !== top) return FAILED;
    const frames = target === window ? this : ToolFrames.#of(target);
    if (!frames) return this.#runFar(target, origin, { ask: "run", name: tool.name, input }, signal);
    const { tools } = frames;
    if (!tools || origin !== self.origin) return FAILED;
    if (frames === this) return tools.run(tool, input, signal, { caller });
    return new Before.Promise((resolve) => {
      const controller = new Before.AbortController();
      // The first to go ends it for the other.
      Before.addEventListener(target, "pagehide", () => resolve(FAILED), { once: true });
      Before.addEventListener(window, "pagehide", () => controller.abort(), { once: true });
      Before.addEventListener(signal, "abort", () => controller.abort(), { once: true });
      void tools.run(tool, input, controller.signal).then(resolve);
    });
  }

  /** Uses up a token that a document of this origin in the tab has taken. */
  redeem(token: string): Resumed | undefined {
    let resumed: Resumed | undefined;
    each(top as Window, (other) => {
      const frames = other === window ? this : ToolFrames.#of(other);
      const tokens = frames?.tools?.tokens;
      if (!tokens || !(token in tokens)) return;
      const held = (resumed = tokens[token].redeem());
      // The other waits for this document, which may go first.
      if (frames !== this) Before.addEventListener(window, "pagehide", () => held.end(FAILED), { once: true });
    });
    return resumed;
  }

  #runFar(target: Window, origin: string, message: FrameMessage, signal: AbortSignal): Promise<ToolOutcome> {
    return new Before.Promise((resolve) => {
      const { port1, port2 } = new Before.MessageChannel();
      // The target runs nothing before it knows that it is still waited for.
      let waits = true;
      Before.setTimeout(() => {
        if (!waits) return;
        Before.close(port1);
        resolve(FAILED);
      }, ToolFrames.#TIMEOUT);
      port1.onmessage = ({ data }) => {
        if (!waits) return resolve(data);
        waits = false;
        Before.postMessage(port1, "run");
      };
      Before.addEventListener(port1, "close", () => resolve(FAILED)); // the target has gone
      Before.addEventListener(signal, "abort", () => Before.postMessage(port1, "cancel"), { once: true });
      post(target, message, origin, port2);
    });
  }

  /** Takes what a document of another origin asks or says. */
  heard(event: MessageEvent) {
    const message: FrameMessage = Before.dataOf(event);
    const source: Window | null = Before.sourceOf(event);
    const origin: string = Before.originOf(event);
    const port: MessagePort | undefined = Before.portsOf(event)[0];
    switch (message.ask) {
      case "permitted": {
        const { of } = message;
        if (port && source) void this.#answer(of ? framed(of.index) : source, of ? of.origin : origin, port);
        break;
      }
      case "tools":
        if (source && origin !== "null") void this.#tell(source, origin, message.id);
        break;
      case "told":
        if (source && typeof message.id === "string") this.#asked[message.id]?.(source, origin, message.tools);
        break;
      case "run":
        if (port && source && typeof message.name === "string" && typeof message.input === "string") void this.#runFor(source, origin, message, port);
        break;
      case "changed":
        if (this.#permitted === true) this.tools?.changed();
    }
  }

  /** @param origin the child's */
  async #answer(child: Window | undefined, origin: string, port: MessagePort) {
    Before.postMessage(port, await this.#lets(child, origin));
  }

  /** @param origin the other's */
  async #tell(other: Window, origin: string, id: string) {
    const tools: ListedTool[] = [];
    const offered = this.tools?.offered(origin) ?? [];
    const may = offered.length > 0 && (await this.#mayAsk(other, origin));
    for (let i = 0; may && i < offered.length; i++) tools[i] = listed(offered[i]);
    post(other, { ask: "told", id, tools }, origin);
  }

  /** @param origin the other's */
  async #runFor(other: Window, origin: string, { name, input }: Extract<FrameMessage, { ask: "run" }>, port: MessagePort) {
    const controller = new Before.AbortController();
    const tools = (await this.#mayAsk(other, origin)) ? this.tools : undefined;
    port.onmessage = async ({ data }) => {
      if (data === "cancel") controller.abort();
      else Before.postMessage(port, told((await tools?.run({ name }, input, controller.signal, { origin })) ?? FAILED));
    };
    Before.addEventListener(port, "close", () => controller.abort()); // the caller has gone
    Before.postMessage(port, "ready");
  }
}

/** What of an outcome another document learns. */
function told(outcome: ToolOutcome): ToolOutcome {
  return "failed" in outcome ? { failed: outcome.failed } : outcome;
}

/** What a caller learns where it learns no reason. */
export const FAILED: ToolOutcome = { failed: "The operation failed for an unknown transient reason (e.g. out of memory)." };

function post(to: Window, message: FrameMessage, origin: string, port?: MessagePort) {
  to.postMessage({ tabhub: "webmcp", ...message }, origin, port ? [port] : []);
}

/** Asks a document whether it lets one in it use tools. */
function askLeave(around: Window, message: Extract<FrameMessage, { ask: "permitted" }>, answered: (lets: boolean) => void) {
  const { port1, port2 } = new Before.MessageChannel();
  port1.onmessage = ({ data }) => answered(data === true);
  post(around, message, "*", port2);
}

/** A frame of this document; undefined for anything but its number. */
function framed(index: unknown): Window | undefined {
  return typeof index === "number" ? window[index] : undefined;
}

/** Visits a window and all that are in it. */
function each(at: Window, visit: (at: Window) => void) {
  visit(at);
  for (let i = 0; i < Before.framesIn(at); i++) each(at[i], visit);
}

/** What others may know of a tool. */
function listed({ name, title, description, schema, output, annotations }: ListedTool): ListedTool {
  return { name, title, description, schema, output, annotations };
}

function isSchema(schema: unknown) {
  return schema === undefined || (typeof schema === "object" && schema !== null);
}

/** The frame element of a child window; one in a closed shadow tree is not found. */
function elementOf(child: Window, within: ParentNode): Element | undefined {
  const elements = (within === document ? Before.allInDocument : Before.allInFragment)(within, "*");
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i];
    if (element instanceof HTMLIFrameElement && Before.contentWindow(element) === child) return element;
    const shadow = Before.shadowOf(element);
    const found = shadow && elementOf(child, shadow);
    if (found) return found;
  }
  return undefined;
}

/**
 * Whether a frame's element lets its document use tools.
 * @param origin of the frame's document
 * @param same whether that is this document's, too
 */
function delegates(frame: Element, origin: string, same: boolean) {
  const directives = `${Before.getAttribute(frame, "allow") ?? ""}`.split(";");
  for (let i = 0; i < directives.length; i++) {
    const words = directives[i].trim().split(/\s+/);
    if (words[0].toLowerCase() !== "tools") continue;
    if (words.length === 1) return isSource(frame, origin, same);
    for (let j = 1; j < words.length; j++) {
      if (words[j] === "*" || (words[j] === "'self'" && same) || (words[j] === "'src'" && isSource(frame, origin, same))) return true;
      if (Before.URL.canParse(words[j]) && new Before.URL(words[j]).origin === origin) return true;
    }
    return false;
  }
  return same;
}

/** Whether a frame has the document that its element names. */
function isSource(frame: Element, origin: string, same: boolean) {
  if (same || origin === "null") return true;
  const src = Before.getAttribute(frame, "src") ?? "";
  return Before.URL.canParse(src, document.baseURI) && new Before.URL(src, document.baseURI).origin === origin;
}
