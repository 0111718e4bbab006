// window.tabhub: how a page offers tools, resources and prompts to the hub itself.

/** @implements {Source} */
class OwnSource {
  /** @type {Map<string, PageTool>} */
  #tools = new Map();
  /** By URI or URI template. @type {Map<string, PageResource>} */
  #resources = new Map();
  /** @type {Map<string, PagePrompt>} */
  #prompts = new Map();
  /** @type {(kind: Kind) => void} */
  #changed = () => {};

  /** @param {(kind: Kind) => void} changed */
  start(changed) {
    this.#changed = changed;
  }

  /** @param {Kind} kind @returns {Promise<JSONObject[]>} */
  async list(kind) {
    return [...this.#of(kind).values()].map(({ execute, read, get, ...object }) => object);
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
    this.#changed(kind);
    const remove = () => {
      if (items.get(name) !== item) return;
      items.delete(name);
      this.#changed(kind);
    };
    signal?.addEventListener("abort", remove, { once: true });
    return remove;
  }

  /** @param {string} name @param {JSONObject} args @param {CallContext} context */
  async callTool(name, args, context) {
    const tool = this.#tools.get(name);
    if (!tool) throw new Error(`the page has no tool ${name} any more`);
    return resultText(await tool.execute(args, context));
  }

  /** @param {string} uri @param {CallContext} context */
  async readResource(uri, context) {
    const resource = this.#resource(uri);
    const result = await resource.read(uri, context);
    if (isObject(result) && Array.isArray(result.contents)) return result;
    const text = typeof result === "string" ? result : JSON.stringify(result ?? null);
    return { contents: [{ uri, ...(resource.mimeType ? { mimeType: resource.mimeType } : {}), text }] };
  }

  /** @param {string} uri */
  async subscribe(uri) {
    this.#resource(uri);
  }

  /** @param {string} name @param {JSONObject} args @param {CallContext} context */
  async getPrompt(name, args, context) {
    const prompt = this.#prompts.get(name);
    if (!prompt) throw new Error(`the page has no prompt ${name} any more`);
    const result = await prompt.get(args, context);
    if (isObject(result) && Array.isArray(result.messages)) return result;
    return { messages: [{ role: "user", content: { type: "text", text: String(result) } }] };
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

/** @param {unknown} value @returns {value is JSONObject} */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A tool's return value as the JSON text of a CallToolResult. One that is a
 * CallToolResult already stays what it is.
 * @param {unknown} value
 * @param {string} [raw] the JSON text that value was parsed from
 */
function resultText(value, raw) {
  if (value === undefined || value === null) return '{"content":[]}';
  if (typeof value === "string") return textResult(value);
  const json = raw ?? JSON.stringify(value);
  if (json === undefined) throw new TypeError(`the tool returned a ${typeof value}, which is not JSON`);
  if (!isObject(value)) return textResult(json);
  if (Array.isArray(value.content)) return json;
  if (isObject(value.structuredContent)) {
    return JSON.stringify({ content: [{ type: "text", text: JSON.stringify(value.structuredContent) }], ...value });
  }
  return `{"content":[{"type":"text","text":${JSON.stringify(json)}}],"structuredContent":${json}}`;
}

/** @param {string} text */
function textResult(text) {
  return `{"content":[{"type":"text","text":${JSON.stringify(text)}}]}`;
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
   * Offers a tool: an MCP Tool with execute(args, {signal, progress}).
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
