// A client of the MCP server that a page runs with MCP-B's tab transport: JSON-RPC in
// postMessage envelopes, on the channel mcp-default with the page itself and on
// mcp-iframe with the page in a child frame.
//
// All scripts of the page see these messages. So a server speaks first: it announces itself
// when it starts. One that has done so unheard is asked where the owner of the client says so,
// or a script in the page names the channel.
//
// The page may have a client of its own, as <mcp-iframe> is one, and the server takes the two for
// one. So the page's client must not hear the answers to this one: it takes an answer with an
// unknown id for an error. It alone answers what the server asks. And it alone initializes the
// server, which would forget the page's client, and what that one can do, for another. Whether
// it has done so before this one was there nobody knows, so a server that lists tools is taken
// as it is.
"use strict";

/**
 * @typedef {object} Waiting
 * @property {(result: unknown) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {((p: Progress) => void) | undefined} progress
 */

/** @implements {Source} */
var PageServer = class {
  static #version = "2025-06-18";
  static #requestTimeout = 10_000;
  /** How long a server is given to show that it is still there. */
  static #aliveTimeout = 2_000;
  static #pollEvery = 60_000;
  /** The capabilities of a server that was not asked for them: it may have all, and says what it lacks. */
  static #unknown = { tools: {}, resources: {}, prompts: {}, completions: {} };
  /** Between two reads of a list, */
  static #pause = 300;
  /** and before one that was not answered is tried again. */
  static #retry = 2_000;
  /** @type {["tools", "resources", "prompts"]} */
  static #kinds = ["tools", "resources", "prompts"];

  /** @type {"idle" | "connecting" | "ready"} */
  #state = "idle";
  #started = false;
  #announced = false;
  #next = 0;
  /** @type {Map<string, Waiting>} */
  #waiting = new Map();
  /** Whether the page has a client of its own. */
  #shared = false;
  /** By kind; of a kind that the server does not have there is none. @type {Record<string, any>} */
  #capabilities = {};
  /** @type {{tools: object[], resources: object[], prompts: object[]}} */
  #offer = { tools: [], resources: [], prompts: [] };
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #polling;
  /** The kinds whose list is being read, and whether it must be read again then. */
  /** @type {Map<"tools" | "resources" | "prompts", boolean>} */
  #reading = new Map();
  /** Counts the connections, so that what an earlier one still reads is dropped. */
  #connection = 0;
  #target;
  #origin;
  #channel;
  #client;

  /**
   * @param {Window} target the page's own window, or a child frame's
   * @param {string} origin its origin, the only one that messages are for
   * @param {"mcp-default" | "mcp-iframe"} channel
   * @param {PageClient} client
   */
  constructor(target, origin, channel, client) {
    this.#target = target;
    this.#origin = origin;
    this.#channel = channel;
    this.#client = client;
  }

  /** The origin that the server was found at. */
  get origin() {
    return this.#origin;
  }

  /**
   * The payload of an envelope that a server sent, or undefined.
   *
   * @param {unknown} data
   * @param {string} channel
   * @returns {unknown}
   */
  static payload(data, channel) {
    const fits =
      Values.isObject(data) && data.channel === channel && data.type === "mcp" && data.direction === "server-to-client";
    return fits ? data.payload : undefined;
  }

  start() {
    if (this.#started) return;
    this.#started = true;
    if (this.#announced) void this.#connect(PageServer.#requestTimeout);
    else if (this.#client.asks) this.#post("mcp-check-ready");
    this.#polling = setInterval(() => this.#poll(), PageServer.#pollEvery);
    if (this.#channel === "mcp-iframe") return;
    if (document.readyState === "complete") this.#tryUnheard();
    else addEventListener("load", () => this.#tryUnheard(), { once: true });
  }

  /** Tries a server that was not heard, if the client tries all or a script in the page names the channel. */
  #tryUnheard() {
    if (!this.#started || this.#announced || this.#state !== "idle") return;
    const named = () => [...document.scripts].some((script) => !script.src && script.text.includes(this.#channel));
    if (!this.#client.tries && !named()) return;
    void this.#connect(PageServer.#aliveTimeout);
  }

  stop() {
    this.#started = false;
    clearInterval(this.#polling);
    this.#reset(new Error("tabhub has left the page"));
  }

  /** Makes sure that the server is still there, after the page was away. */
  revive() {
    if (!this.#started || !this.#announced) return;
    this.#reset(new Error("the page was away"));
    void this.#connect(PageServer.#requestTimeout);
  }

  /**
   * Makes sure that the server is still there, after a document of its origin went, which
   * may have been another: what runs goes on where the server answers.
   */
  async check() {
    const connection = this.#connection;
    const running = [...this.#waiting.values()].some(({ progress }) => progress);
    const ask = () => this.#request("tools/list", {}, { timeout: PageServer.#aliveTimeout });
    const alive = running && (await ask().then(() => true, () => false));
    if (connection !== this.#connection) return;
    if (alive) this.#readAll();
    else this.revive();
  }

  async offer() {
    return this.#offer;
  }

  /** @param {string} name */
  has(name) {
    return this.#offer.tools.some((tool) => /** @type {Partial<Item> | null} */ (tool)?.name === name); // a page may list anything
  }

  /** @param {string} uri */
  hasResource(uri) {
    return this.#offer.resources.some((resource) => /** @type {Partial<Item> | null} */ (resource)?.uri === uri);
  }

  /** @param {unknown} payload as {@link payload} returned it */
  heard(payload) {
    if (payload === "mcp-server-ready") {
      this.#announced = true;
      // It may not have been there to hear what it was asked.
      if (this.#state === "connecting") this.#reset(new Error("the page's server has started again"));
      if (this.#started) void this.#connect(PageServer.#requestTimeout);
      // It may be another one, which took the place of the first without a word.
      this.#readAll();
    } else if (payload === "mcp-server-stopped") {
      this.#announced = false;
      this.#reset(new Error("the page's server has stopped"));
      this.#client.changed();
    } else if (Values.isObject(payload) && payload.jsonrpc === "2.0") {
      this.#message(payload);
    }
  }

  /** @param {Record<string, unknown>} message */
  #message({ id, method, params, result, error }) {
    if (typeof method === "string") {
      if (id === undefined) this.#notified(method, Values.isObject(params) ? params : {});
      else this.#asked(id, method);
      return;
    }
    if (typeof id !== "string" || !id.startsWith(this.#client.prefix)) {
      this.#shared = true;
      return;
    }
    const waiting = this.#waiting.get(id);
    if (Values.isObject(error)) waiting?.reject(new Error(String(error.message ?? "unknown error")));
    else waiting?.resolve(result);
  }

  /**
   * Answers what the server asks, if nobody else does.
   *
   * @param {unknown} id
   * @param {string} method
   */
  #asked(id, method) {
    if (this.#state !== "ready" || this.#shared) return;
    const answer = method === "ping" ? { result: {} } : { error: { code: -32601, message: `no such method: ${method}` } };
    this.#post({ jsonrpc: "2.0", id, ...answer });
  }

  /**
   * @param {string} method
   * @param {Record<string, unknown>} params
   */
  #notified(method, params) {
    if (this.#state !== "ready") return;
    switch (method) {
      case "notifications/tools/list_changed":
        this.#listChanged("tools");
        break;
      case "notifications/resources/list_changed":
        this.#listChanged("resources");
        break;
      case "notifications/prompts/list_changed":
        this.#listChanged("prompts");
        break;
      case "notifications/resources/updated":
        if (typeof params.uri === "string") this.#client.updated(params.uri.slice(0, Limit.uri));
        break;
      case "notifications/progress": {
        const { progressToken, progress, total, message } = params;
        if (typeof progress !== "number") break;
        this.#waiting.get(String(progressToken))?.progress?.({
          progress,
          total: typeof total === "number" ? total : undefined,
          message: typeof message === "string" ? message.slice(0, Limit.message) : undefined,
        });
        break;
      }
    }
  }

  /** @param {"tools" | "resources" | "prompts"} kind */
  #listChanged(kind) {
    this.#capabilities[kind] = { listChanged: true };
    void this.#read(kind);
  }

  /** @param {number} timeout */
  async #connect(timeout) {
    if (this.#state !== "idle") return;
    this.#state = "connecting";
    const connection = this.#connection;
    try {
      await this.#client.hidden();
      if (connection !== this.#connection) return;
      const serves = await this.#list("tools/list", "tools", timeout).then((tools) => tools.length > 0, () => false);
      if (connection !== this.#connection) return;
      const capabilities = serves || this.#shared ? { ...PageServer.#unknown } : await this.#initialize(timeout);
      if (connection !== this.#connection) return;
      this.#capabilities = capabilities;
      this.#state = "ready";
      this.#readAll();
    } catch {
      if (connection === this.#connection) this.#state = "idle";
    }
  }

  /**
   * @param {number} timeout
   * @returns {Promise<Record<string, any>>} the server's capabilities
   */
  async #initialize(timeout) {
    const params = {
      protocolVersion: PageServer.#version,
      capabilities: {},
      clientInfo: { name: "tabhub", version: this.#client.version },
    };
    const result = await this.#request("initialize", params, { timeout });
    this.#post({ jsonrpc: "2.0", method: "notifications/initialized" });
    return Values.isObject(result) && Values.isObject(result.capabilities) ? result.capabilities : { tools: {} };
  }

  /**
   * Reads the lists anew that the server does not tell changes of. One that announced itself
   * and did not answer then, as in a page that was too busy, is asked again.
   */
  #poll() {
    if (this.#announced) void this.#connect(PageServer.#requestTimeout);
    for (const kind of PageServer.#kinds) {
      if (!this.#capabilities[kind]?.listChanged) void this.#read(kind);
    }
  }

  #readAll() {
    for (const kind of PageServer.#kinds) void this.#read(kind);
  }

  /**
   * Reads one list. Notices that come meanwhile are one more read, a moment later, and so is
   * a list that the server does not answer with.
   *
   * @param {"tools" | "resources" | "prompts"} kind
   */
  async #read(kind) {
    // Some old servers have tools and do not say so.
    if (this.#state !== "ready" || (kind !== "tools" && !this.#capabilities[kind])) return;
    if (this.#reading.has(kind)) {
      this.#reading.set(kind, true);
      return;
    }
    this.#reading.set(kind, false);
    const connection = this.#connection;
    let answered = true;
    const unknown = kind !== "tools" && this.#capabilities[kind] === PageServer.#unknown[kind];
    try {
      const items = await this.#list(`${kind}/list`, kind);
      // Many servers with resources know no templates.
      const more = kind === "resources" ? await this.#list("resources/templates/list", "resourceTemplates").catch(() => []) : [];
      if (connection !== this.#connection) return;
      const list = kind === "prompts" ? this.#completed(items) : [...items, ...this.#completed(more)];
      this.#offer = { ...this.#offer, [kind]: list };
      this.#client.changed();
    } catch (error) {
      // A kind that the server does not have it need not answer for.
      answered = unknown || !(error instanceof NoAnswer);
      if (unknown && connection === this.#connection) delete this.#capabilities[kind];
    }
    await new Promise((done) => setTimeout(done, answered ? PageServer.#pause : PageServer.#retry));
    if (connection !== this.#connection) return;
    const again = this.#reading.get(kind) || !answered;
    this.#reading.delete(kind);
    if (again) void this.#read(kind);
  }

  /**
   * Prompts or templates, which the hub is told if the server completes their arguments.
   *
   * @param {object[]} items
   */
  #completed(items) {
    return this.#capabilities.completions ? items.map((item) => ({ ...item, completes: true })) : items;
  }

  /**
   * @param {string} method
   * @param {string} key
   * @param {number} [timeout]
   * @returns {Promise<object[]>}
   */
  async #list(method, key, timeout = PageServer.#requestTimeout) {
    /** @type {object[]} */
    const items = [];
    let cursor;
    do {
      const result = await this.#request(method, cursor === undefined ? {} : { cursor }, { timeout });
      if (!Values.isObject(result) || !Array.isArray(result[key])) break;
      items.push(...result[key].slice(0, Limit.items + 1 - items.length));
      cursor = typeof result.nextCursor === "string" ? result.nextCursor : undefined;
    } while (cursor !== undefined && items.length <= Limit.items);
    return items;
  }

  /**
   * @param {string} name
   * @param {object} args
   * @param {CallOptions} options
   * @returns {Promise<string>}
   */
  async call(name, args, options) {
    const result = await this.#request("tools/call", { name, arguments: args }, options);
    return JSON.stringify(result ?? {});
  }

  /**
   * @param {string} uri
   * @param {CallOptions} options
   */
  async read(uri, options) {
    return JSON.stringify((await this.#request("resources/read", { uri }, options)) ?? {});
  }

  /**
   * @param {string} uri
   * @param {boolean} on
   * @param {CallOptions} options
   */
  async subscribe(uri, on, options) {
    await this.#request(on ? "resources/subscribe" : "resources/unsubscribe", { uri }, options);
  }

  /**
   * @param {string} name
   * @param {object | undefined} args
   * @param {CallOptions} options
   */
  async prompt(name, args, options) {
    return JSON.stringify((await this.#request("prompts/get", { name, arguments: args }, options)) ?? {});
  }

  /**
   * @param {Completion} about
   * @param {CallOptions} options
   */
  async complete(about, options) {
    return JSON.stringify((await this.#request("completion/complete", { ...about }, options)) ?? {});
  }

  /**
   * @param {string} method
   * @param {Record<string, unknown>} params
   * @param {Partial<CallOptions> & {timeout?: number}} [options] a request with a signal takes as
   *   long as its caller lets it
   * @returns {Promise<unknown>}
   */
  async #request(method, params, { signal, progress, extensions: { traceparent } = {}, timeout = PageServer.#requestTimeout } = {}) {
    const id = this.#client.prefix + this.#next++;
    const cancelled = () => {
      const reason = Values.errorText(signal?.reason);
      this.#post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } });
      this.#waiting.get(id)?.reject(signal?.reason);
    };
    const late = () => this.#waiting.get(id)?.reject(new NoAnswer(`the page's server did not answer ${method}`));
    const timer = signal ? undefined : setTimeout(late, timeout);
    signal?.addEventListener("abort", cancelled);
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject, progress });
        const meta = { ...(progress && { progressToken: id }), ...(traceparent && { traceparent }) };
        this.#post({ jsonrpc: "2.0", id, method, params: { ...params, ...(Object.keys(meta).length > 0 && { _meta: meta }) } });
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancelled);
      this.#waiting.delete(id);
    }
  }

  /** @param {unknown} payload */
  #post(payload) {
    this.#target.postMessage(
      { channel: this.#channel, type: "mcp", direction: "client-to-server", payload },
      this.#origin,
    );
  }

  /** @param {Error} reason */
  #reset(reason) {
    this.#state = "idle";
    this.#connection++;
    this.#reading.clear();
    this.#capabilities = {};
    this.#offer = { tools: [], resources: [], prompts: [] };
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }
};

/** The page's server took too long, as in a page that is too busy. */
var NoAnswer = class extends Error {};
