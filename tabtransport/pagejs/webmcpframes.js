// Tools across the documents of a tab (webmcp.js): each sees those of its own origin, and those that
// are exposed to it. A document of another origin than the one around it needs that one's leave, as
// the browser's policy "tools" has it.
"use strict";

/**
 * What a document asks one of another origin, and is told. A page may forge it; of whom it is the
 * browser says, and whether that one may ask the document around it says: of itself, as of the frame
 * that asks, or of another frame in it.
 *
 * @typedef {{ask: "permitted", of?: {index: number, origin: string}} | {ask: "tools", id: string} | {ask: "told", id: string, tools: ListedTool[]}
 *   | {ask: "run", name: string, input: string} | {ask: "changed"}} FrameMessage
 */

class ToolFrames {
  /** For a document of another origin to answer, in ms. */
  static #TIMEOUT = 2_000;

  #tools;
  #makeTool;
  /** What was listed last, by the tool of a document here, or by its window and its text. @type {WeakMap<object, {[text: string]: RegisteredTool | undefined}>} */
  #listed = new WeakMap();
  start;
  /** @type {boolean | Promise<boolean> | undefined} */
  #permitted;
  /** Questions that documents have not answered, by id. @type {Record<string, (source: Window, origin: string, tools: unknown) => void>} */
  #asked = Before.create(null);
  /** Of the windows in this document; null for one that is not found. @type {WeakMap<Window, Element | null>} */
  #elements = new WeakMap();

  /**
   * @param {() => DocumentTools | undefined} tools those of this document, once it has begun to use the API
   * @param {() => DocumentTools} start has it begin, so that its forms are found
   * @param {(seen: SeenTool) => RegisteredTool} makeTool
   */
  constructor(tools, start, makeTool) {
    this.#tools = tools;
    this.start = start;
    this.#makeTool = makeTool;
  }

  /**
   * Answers a document of the same origin that looks for this one's.
   *
   * @param {Event} event
   */
  met(event) {
    Before.detailOf(event).frames = this;
  }

  /**
   * Those of another window; undefined if it is of another origin.
   *
   * @param {Window} other
   * @returns {ToolFrames | undefined}
   */
  static #of(other) {
    /** @type {{frames?: ToolFrames}} */
    const met = {};
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

  /**
   * Whether the document may have tools and call some.
   *
   * @returns {boolean | Promise<boolean>}
   */
  permitted() {
    this.#permitted ??= this.#ask();
    return this.#permitted;
  }

  /** @returns {boolean | Promise<boolean>} */
  #ask() {
    if (window === top) return true;
    const around = Before.frameElement(window);
    if (around) return delegates(around, self.origin, true) && (ToolFrames.#of(window.parent)?.permitted() ?? true);
    return new Before.Promise((resolve) => {
      const settle = (/** @type {boolean} */ permitted) => resolve((this.#permitted = permitted));
      askLeave(window.parent, { ask: "permitted" }, settle);
      // Nobody answers where the page around is of a site that has no part in this.
      Before.setTimeout(() => typeof this.#permitted === "boolean" || settle(false), ToolFrames.#TIMEOUT);
    });
  }

  /**
   * Whether a document of another origin may ask anything.
   *
   * @param {Window} other
   * @param {string} origin its own
   * @returns {boolean | Promise<boolean>}
   */
  #mayAsk(other, origin) {
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
   *
   * @param {Window | undefined} child
   * @param {string} origin the child's
   * @returns {boolean | Promise<boolean>}
   */
  #lets(child, origin) {
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
   *
   * @param {Record<string, true>} origins of which others
   * @returns {Promise<RegisteredTool[]>}
   */
  async list(origins) {
    /** @type {RegisteredTool[]} */
    const all = [];
    /** @type {Promise<void>[]} */
    const asked = [];
    let others = false;
    for (const _ in origins) others = true;
    each(/** @type {Window} */ (top), (other) => {
      const frames = other === window ? this : ToolFrames.#of(other);
      if (frames) this.#gather(all, frames.start().offered(), other, self.origin);
      else if (others) asked[asked.length] = this.#askTools(other, origins, all);
    });
    for (let i = 0; i < asked.length; i++) await asked[i];
    return all;
  }

  /**
   * Adds a document's tools to others, by their names.
   *
   * @param {RegisteredTool[]} all
   * @param {ListedTool[]} tools of a document of another origin they may be anything
   * @param {Window} owner
   * @param {string} origin
   */
  #gather(all, tools, owner, origin) {
    /** @type {{[text: string]: RegisteredTool | undefined}} */
    const now = Before.create(null);
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
   *
   * @param {ListedTool} tool
   * @param {Window} owner
   * @param {string} origin
   * @param {{[text: string]: RegisteredTool | undefined}} now what this listing has of the window's
   * @returns {RegisteredTool | undefined} undefined if it is none
   */
  #toolOf(tool, owner, origin, now) {
    const own = origin === self.origin;
    const text = own ? "" : Before.stringify([origin, listed(tool)]);
    const seen = this.#listed.get(own ? tool : owner)?.[text] ?? now[text] ?? this.#see(tool, owner, origin, own ? /** @type {DocumentTool} */ (tool) : undefined);
    if (own) this.#listed.set(tool, { [text]: seen });
    else now[text] = seen;
    return seen;
  }

  /**
   * @param {ListedTool} tool
   * @param {Window} owner
   * @param {string} origin
   * @param {DocumentTool} [of]
   * @returns {RegisteredTool | undefined}
   */
  #see({ name, title, description, schema, output, annotations: hints }, owner, origin, of) {
    const inputSchema = schema === undefined ? undefined : Before.parse(schema);
    const outputSchema = output === undefined ? undefined : Before.parse(output);
    if (!isSchema(inputSchema) || !isSchema(outputSchema)) return undefined;
    const annotations = hints && { ...Idl.dictionary(Idl.annotations, hints) };
    return this.#makeTool({ name: `${name}`, title: `${title}`, description: `${description}`, inputSchema, outputSchema, annotations, origin, window: owner, of });
  }

  /**
   * @param {Window} other
   * @param {Record<string, true>} origins
   * @param {RegisteredTool[]} all what is told is added to these
   * @returns {Promise<void>}
   */
  #askTools(other, origins, all) {
    return new Before.Promise((resolve) => {
      const id = `${Before.random()}`;
      const done = () => {
        delete this.#asked[id];
        resolve(undefined);
      };
      this.#asked[id] = (source, origin, tools) => {
        if (source !== other) return;
        done(); // whatever is told
        if (origins[origin] && Before.isArray(tools)) this.#gather(all, tools, other, origin);
      };
      Before.setTimeout(done, ToolFrames.#TIMEOUT);
      post(other, { ask: "tools", id }, "*");
    });
  }

  /**
   * Tells the other documents that may see a tool that the tools have changed.
   *
   * @param {Record<string, true>} exposed to which other origins
   */
  changed(exposed) {
    each(/** @type {Window} */ (top), (other) => {
      if (other === window) return;
      const frames = ToolFrames.#of(other);
      if (frames) frames.tools?.changed();
      else for (const origin in exposed) post(other, { ask: "changed" }, origin);
    });
  }

  // ---- Run

  /**
   * Runs a tool of any document of the tab.
   *
   * @param {Window} target
   * @param {string} origin that the target must have
   * @param {{name: string, of?: DocumentTool}} tool as of DocumentTools
   * @param {string} input JSON
   * @param {AbortSignal} signal
   * @param {AbortSignal} [caller] the one that the page gave
   * @returns {Promise<ToolOutcome>}
   */
  async run(target, origin, tool, input, signal, caller) {
    if (target.top !== top) return FAILED;
    const frames = target === window ? this : ToolFrames.#of(target);
    if (!frames) return this.#runFar(target, origin, { ask: "run", name: tool.name, input }, signal);
    const { tools } = frames;
    if (!tools || origin !== self.origin) return FAILED;
    if (frames === this) return tools.run(tool, input, signal, { caller });
    return new Before.Promise((resolve) => {
      const controller = new Before.AbortController();
      // Who goes first ends it for the other.
      Before.addEventListener(target, "pagehide", () => resolve(FAILED), { once: true });
      Before.addEventListener(window, "pagehide", () => controller.abort(), { once: true });
      Before.addEventListener(signal, "abort", () => controller.abort(), { once: true });
      void tools.run(tool, input, controller.signal).then(resolve);
    });
  }

  /**
   * Uses up a token that a document of this origin in the tab has taken.
   *
   * @param {string} token
   * @returns {Resumed | undefined}
   */
  redeem(token) {
    /** @type {Resumed | undefined} */
    let resumed;
    each(/** @type {Window} */ (top), (other) => {
      const frames = other === window ? this : ToolFrames.#of(other);
      const tokens = frames?.tools?.tokens;
      if (!tokens || !(token in tokens)) return;
      const held = (resumed = tokens[token].redeem());
      // The other waits for this document, which may go first.
      if (frames !== this) Before.addEventListener(window, "pagehide", () => held.end(FAILED), { once: true });
    });
    return resumed;
  }

  /**
   * @param {Window} target
   * @param {string} origin
   * @param {FrameMessage} message
   * @param {AbortSignal} signal
   * @returns {Promise<ToolOutcome>}
   */
  #runFar(target, origin, message, signal) {
    return new Before.Promise((resolve) => {
      const { port1, port2 } = new Before.MessageChannel();
      // The target runs nothing before it is told that it is still waited for.
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

  /**
   * Takes what a document of another origin asks or says.
   *
   * @param {MessageEvent} event
   */
  heard(event) {
    /** @type {FrameMessage} */
    const message = Before.dataOf(event);
    /** @type {Window | null} */
    const source = Before.sourceOf(event);
    /** @type {string} */
    const origin = Before.originOf(event);
    /** @type {MessagePort | undefined} */
    const port = Before.portsOf(event)[0];
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

  /**
   * @param {Window | undefined} child
   * @param {string} origin the child's
   * @param {MessagePort} port
   */
  async #answer(child, origin, port) {
    Before.postMessage(port, await this.#lets(child, origin));
  }

  /**
   * @param {Window} other
   * @param {string} origin the other's
   * @param {string} id
   */
  async #tell(other, origin, id) {
    /** @type {ListedTool[]} */
    const tools = [];
    const offered = this.tools?.offered(origin) ?? [];
    const may = offered.length > 0 && (await this.#mayAsk(other, origin));
    for (let i = 0; may && i < offered.length; i++) tools[i] = listed(offered[i]);
    post(other, { ask: "told", id, tools }, origin);
  }

  /**
   * @param {Window} other
   * @param {string} origin the other's
   * @param {Extract<FrameMessage, {ask: "run"}>} message
   * @param {MessagePort} port
   */
  async #runFor(other, origin, { name, input }, port) {
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

/**
 * What of an outcome another document is told.
 *
 * @param {ToolOutcome} outcome
 * @returns {ToolOutcome}
 */
function told(outcome) {
  return "failed" in outcome ? { failed: outcome.failed } : outcome;
}

/** What a caller is told that is told no reason. @type {ToolOutcome} */
var FAILED = { failed: "The operation failed for an unknown transient reason (e.g. out of memory)." };

/**
 * @param {Window} to
 * @param {FrameMessage} message
 * @param {string} origin
 * @param {MessagePort} [port]
 */
function post(to, message, origin, port) {
  to.postMessage({ tabhub: "webmcp", ...message }, origin, port ? [port] : []);
}

/**
 * Asks a document whether it lets one in it use tools.
 *
 * @param {Window} around
 * @param {Extract<FrameMessage, {ask: "permitted"}>} message
 * @param {(lets: boolean) => void} answered
 */
function askLeave(around, message, answered) {
  const { port1, port2 } = new Before.MessageChannel();
  port1.onmessage = ({ data }) => answered(data === true);
  post(around, message, "*", port2);
}

/**
 * A frame of this document; undefined for anything but its number.
 *
 * @param {unknown} index
 * @returns {Window | undefined}
 */
function framed(index) {
  return typeof index === "number" ? window[index] : undefined;
}

/**
 * Visits a window and all that are in it.
 *
 * @param {Window} at
 * @param {(at: Window) => void} visit
 */
function each(at, visit) {
  visit(at);
  for (let i = 0; i < Before.framesIn(at); i++) each(at[i], visit);
}

/**
 * What others may know of a tool.
 *
 * @param {ListedTool} tool
 * @returns {ListedTool}
 */
function listed({ name, title, description, schema, output, annotations }) {
  return { name, title, description, schema, output, annotations };
}

/** @param {unknown} schema */
function isSchema(schema) {
  return schema === undefined || (typeof schema === "object" && schema !== null);
}

/**
 * The frame element of a child window; one in a closed shadow tree is not found.
 *
 * @param {Window} child
 * @param {ParentNode} within
 * @returns {Element | undefined}
 */
function elementOf(child, within) {
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
 *
 * @param {Element} frame
 * @param {string} origin of the frame's document
 * @param {boolean} same whether that is this document's, too
 */
function delegates(frame, origin, same) {
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

/**
 * Whether a frame has the document that its element names.
 *
 * @param {Element} frame
 * @param {string} origin
 * @param {boolean} same
 */
function isSource(frame, origin, same) {
  if (same || origin === "null") return true;
  const src = Before.getAttribute(frame, "src") ?? "";
  return Before.URL.canParse(src, document.baseURI) && new Before.URL(src, document.baseURI).origin === origin;
}
