// window.tabhub: how a page offers tools, resources and prompts to the hub itself.

/** @implements {Source} */
class OwnSource {
  /** @type {Map<string, PageTool>} */
  #tools = new Map();
  /** By URI or URI template. @type {Map<string, PageResource>} */
  #resources = new Map();
  /** @type {Map<string, PagePrompt>} */
  #prompts = new Map();
  #asking = new ToolCalls();
  /** Called when the lists differ. */
  changed = () => {};

  start() {}

  stop() {}

  async offer() {
    const [tools, resources, prompts] = KIND_NAMES.map((kind) =>
      [...this.#of(kind).values()].map(({ execute, read, get, ...object }) => object),
    );
    return { tools, resources, prompts };
  }

  /** @param {string} name */
  has(name) {
    return this.#tools.has(name);
  }

  /**
   * Adds an item and returns the function that removes it again.
   * @param {Kind} kind
   * @param {JSONObject} item
   * @param {AbortSignal} [signal]
   */
  add(kind, item, signal) {
    const [run, ...names] = { tool: ["execute", "name"], resource: ["read", "uri", "uriTemplate"], prompt: ["get", "name"] }[kind];
    const name = names.map((member) => item?.[member]).find((value) => typeof value === "string" && value !== "");
    if (!name) throw new TypeError(`a ${kind} needs a ${names.join(" or ")}`);
    if (typeof item[run] !== "function") throw new TypeError(`${kind} ${name} needs a function ${run}`);
    const items = this.#of(kind);
    if (items.has(name)) throw new Error(`${kind} ${name} is registered already`);
    signal?.throwIfAborted();
    items.set(name, item);
    this.changed();
    const remove = () => {
      if (items.get(name) !== item) return;
      items.delete(name);
      this.changed();
    };
    signal?.addEventListener("abort", remove, { once: true });
    return remove;
  }

  /** @param {string} name @param {object} args @param {CallOptions} options */
  async call(name, args, options) {
    return this.#asking.call(async (options) => {
      const tool = this.#tools.get(name);
      if (!tool) throw new Error(`the page has no tool ${name} any more`);
      return resultText(await tool.execute(args, contextOf(options)));
    }, options);
  }

  /** @param {string} uri @param {CallOptions} options */
  async read(uri, options) {
    const resource = this.#resource(uri);
    const result = await resource.read(uri, contextOf(options));
    if (Values.isObject(result) && Array.isArray(result.contents)) return JSON.stringify(result);
    const text = typeof result === "string" ? result : JSON.stringify(result ?? null);
    return JSON.stringify({ contents: [{ uri, ...(resource.mimeType ? { mimeType: resource.mimeType } : {}), text }] });
  }

  /** @param {string} uri */
  async subscribe(uri) {
    this.#resource(uri);
  }

  /** @param {string} name @param {JSONObject} args @param {CallOptions} options */
  async prompt(name, args, options) {
    const prompt = this.#prompts.get(name);
    if (!prompt) throw new Error(`the page has no prompt ${name} any more`);
    const result = await prompt.get(args, contextOf(options));
    if (Values.isObject(result) && Array.isArray(result.messages)) return JSON.stringify(result);
    return JSON.stringify({ messages: [{ role: "user", content: { type: "text", text: String(result) } }] });
  }

  /** @param {string} uri */
  #resource(uri) {
    const exact = this.#resources.get(uri);
    if (exact?.uri) return exact;
    for (const resource of this.#resources.values()) {
      if (resource.uriTemplate && templatePattern(resource.uriTemplate).test(uri)) return resource;
    }
    throw new Error(`the page has no resource ${uri}`);
  }

  /** @param {Kind} kind @returns {Map<string, any>} */
  #of(kind) {
    return { tool: this.#tools, resource: this.#resources, prompt: this.#prompts }[kind];
  }
}

/**
 * What a page's function may use of a call.
 * @param {CallOptions} options
 * @returns {CallContext}
 */
function contextOf({ signal, progress, waiting, ask }) {
  return {
    signal,
    progress: (done, total, message) => progress?.({ progress: done, total, message }),
    waiting: () => waiting?.(),
    async requestUserInput(request, interact) {
      if (!ask) throw new DOMException("Only a tool can ask.", "NotSupportedError");
      return ask(request, interact);
    },
  };
}

/**
 * What a URI template (RFC 6570) can expand to.
 * @param {string} template
 */
function templatePattern(template) {
  const parts = template.split(/\{([^{}]*)\}/);
  return new RegExp(
    `^${parts
      .map((part, i) => {
        if (i % 2 === 0) return part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
        return /^[+#/?&;]/.test(part) || part.endsWith("*") ? ".*" : "[^/?#]*";
      })
      .join("")}$`,
  );
}

/**
 * A tool's return value as the JSON text of a CallToolResult. One that is a
 * CallToolResult already stays what it is.
 * @param {unknown} value
 */
function resultText(value) {
  if (value === undefined || value === null) return '{"content":[]}';
  if (typeof value === "string") return Values.textResult(value);
  const json = JSON.stringify(value);
  if (json === undefined) throw new TypeError(`the tool returned a ${typeof value}, which is not JSON`);
  return Values.callToolResult(json);
}

/** What a page sees as window.tabhub. Events: "status", "call" (detail: CallStep). */
class PageAPI extends EventTarget {
  #own;
  #page;

  /** @param {OwnSource} own @param {Page} page */
  constructor(own, page) {
    super();
    this.#own = own;
    this.#page = page;
  }

  /**
   * Offers a tool: an MCP Tool with execute(args, {signal, progress, waiting}).
   * @param {PageTool} tool
   * @param {{signal?: AbortSignal}} [options] aborting signal takes the tool back
   */
  registerTool(tool, { signal } = {}) {
    return { unregister: this.#own.add("tool", tool, signal) };
  }

  /**
   * Offers a resource or, with uriTemplate, many: read(uri, {signal}) returns a
   * string, a ReadResourceResult or anything that is JSON.
   * @param {PageResource} resource
   * @param {{signal?: AbortSignal}} [options]
   */
  registerResource(resource, { signal } = {}) {
    const unregister = this.#own.add("resource", resource, signal);
    return { unregister, updated: (uri = resource.uri) => uri && this.#page.resourceUpdated(uri) };
  }

  /**
   * Offers a prompt: get(args, {signal}) returns a string or a GetPromptResult.
   * @param {PagePrompt} prompt
   * @param {{signal?: AbortSignal}} [options]
   */
  registerPrompt(prompt, { signal } = {}) {
    return { unregister: this.#own.add("prompt", prompt, signal) };
  }

  get status() {
    return this.#page.status();
  }
}
