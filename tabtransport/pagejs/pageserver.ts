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
// it has done so before this one was there is unknown, so a server that lists tools is taken
// as it is.

import { Limit, Values } from "./values.ts";

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  progress: ((p: Progress) => void) | undefined;
}

export class PageServer implements Source {
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
  static #kinds: ["tools", "resources", "prompts"] = ["tools", "resources", "prompts"];

  #state: "idle" | "connecting" | "ready" = "idle";
  #started = false;
  #announced = false;
  #next = 0;
  #waiting = new Map<string, Waiting>();
  /** Whether the page has a client of its own. */
  #shared = false;
  /** By kind; of a kind that the server does not have there is none. */
  #capabilities: Record<string, any> = {};
  #offer: { tools: object[]; resources: object[]; prompts: object[] } = { tools: [], resources: [], prompts: [] };
  #polling: ReturnType<typeof setInterval> | undefined;
  /** The kinds whose list is being read, and whether it must be read again then. */
  #reading = new Map<"tools" | "resources" | "prompts", boolean>();
  /** Counts the connections, so that what an earlier one still reads is dropped. */
  #connection = 0;
  #target;
  #origin;
  #channel;
  #client;

  /**
   * @param target the page's own window, or a child frame's
   * @param origin its origin, the only one that messages are for
   */
  constructor(target: Window, origin: string, channel: "mcp-default" | "mcp-iframe", client: PageClient) {
    this.#target = target;
    this.#origin = origin;
    this.#channel = channel;
    this.#client = client;
  }

  /** The origin that the server was found at. */
  get origin() {
    return this.#origin;
  }

  /** The payload of an envelope that a server sent, or undefined. */
  static payload(data: unknown, channel: string): unknown {
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

  has(name: string) {
    return this.#offer.tools.some((tool) => (tool as Partial<Item> | null)?.name === name); // a page may list anything
  }

  hasResource(uri: string) {
    return this.#offer.resources.some((resource) => (resource as Partial<Item> | null)?.uri === uri);
  }

  /** @param payload as {@link payload} returned it */
  heard(payload: unknown) {
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

  #message({ id, method, params, result, error }: Record<string, unknown>) {
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

  /** Answers what the server asks, if no other client does. */
  #asked(id: unknown, method: string) {
    if (this.#state !== "ready" || this.#shared) return;
    const answer = method === "ping" ? { result: {} } : { error: { code: -32601, message: `no such method: ${method}` } };
    this.#post({ jsonrpc: "2.0", id, ...answer });
  }

  #notified(method: string, params: Record<string, unknown>) {
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

  #listChanged(kind: "tools" | "resources" | "prompts") {
    this.#capabilities[kind] = { listChanged: true };
    void this.#read(kind);
  }

  async #connect(timeout: number) {
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

  /** @returns the server's capabilities */
  async #initialize(timeout: number): Promise<Record<string, any>> {
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
   */
  async #read(kind: "tools" | "resources" | "prompts") {
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

  /** Prompts or templates, of which the hub learns whether the server completes their arguments. */
  #completed(items: object[]) {
    return this.#capabilities.completions ? items.map((item) => ({ ...item, completes: true })) : items;
  }

  async #list(method: string, key: string, timeout: number = PageServer.#requestTimeout): Promise<object[]> {
    const items: object[] = [];
    let cursor;
    do {
      const result = await this.#request(method, cursor === undefined ? {} : { cursor }, { timeout });
      if (!Values.isObject(result) || !Array.isArray(result[key])) break;
      items.push(...result[key].slice(0, Limit.items + 1 - items.length));
      cursor = typeof result.nextCursor === "string" ? result.nextCursor : undefined;
    } while (cursor !== undefined && items.length <= Limit.items);
    return items;
  }

  async call(name: string, args: object, options: CallOptions): Promise<string> {
    const result = await this.#request("tools/call", { name, arguments: args }, options);
    return JSON.stringify(result ?? {});
  }

  async read(uri: string, options: CallOptions) {
    return JSON.stringify((await this.#request("resources/read", { uri }, options)) ?? {});
  }

  async subscribe(uri: string, on: boolean, options: CallOptions) {
    await this.#request(on ? "resources/subscribe" : "resources/unsubscribe", { uri }, options);
  }

  async prompt(name: string, args: object | undefined, options: CallOptions) {
    return JSON.stringify((await this.#request("prompts/get", { name, arguments: args }, options)) ?? {});
  }

  async complete(about: Completion, options: CallOptions) {
    return JSON.stringify((await this.#request("completion/complete", { ...about }, options)) ?? {});
  }

  /**
   * @param options a request with a signal takes as
   * long as its caller lets it
   */
  async #request(method: string, params: Record<string, unknown>, { signal, progress, extensions: { traceparent } = {}, timeout = PageServer.#requestTimeout }: Partial<CallOptions> & { timeout?: number } = {}): Promise<unknown> {
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

  #post(payload: unknown) {
    this.#target.postMessage(
      { channel: this.#channel, type: "mcp", direction: "client-to-server", payload },
      this.#origin,
    );
  }

  #reset(reason: Error) {
    this.#state = "idle";
    this.#connection++;
    this.#reading.clear();
    this.#capabilities = {};
    this.#offer = { tools: [], resources: [], prompts: [] };
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }
}

/** The page's server took too long, as in a page that is too busy. */
class NoAnswer extends Error {}
