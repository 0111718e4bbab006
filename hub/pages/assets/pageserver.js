// An MCP-B page server: an MCP server in the page that is spoken to with messages
// which the window posts to itself.

const PAGE_CHANNEL = "mcp-default";
const PAGE_REQUEST_MS = 10_000;
const PAGE_ANNOUNCE_MS = 500;
const PAGE_POLL_MS = 60_000;
const PAGE_LIST_PAGES = 50;

/** @implements {Source} */
class PageServerSource {
  /** @type {(kind: Kind) => void} */
  #changed = () => {};
  /** What initialize answered; null while there is no server. @type {JSONObject | null} */
  #capabilities = null;
  #announced = false;
  #connecting = 0;
  // Every client on the page sees every answer: ids must not be guessed or met by chance.
  #session = randomID();
  #next = 0;
  /** @type {Map<string, {resolve: (result: any) => void, reject: (error: Error) => void, progress?: CallContext["progress"]}>} */
  #pending = new Map();

  /** @type {(uri: string) => void} */
  #updated = () => {};

  /** @param {(kind: Kind) => void} changed @param {(uri: string) => void} updated */
  start(changed, updated) {
    this.#changed = changed;
    this.#updated = updated;
    window.addEventListener("message", (event) => {
      // In an event that a script has made, the source is whatever it says.
      if (event.isTrusted && event.source === window) this.#receive(event.data);
    });
    const look = () => {
      if (!this.#capabilities) this.#post("mcp-check-ready");
    };
    look();
    document.addEventListener("DOMContentLoaded", look);
    // Servers older than 1.0 announce themselves once, perhaps before this script
    // ran, and do not answer the question above.
    whenLoaded(() => {
      look();
      setTimeout(() => this.#announced || void this.#connect(), PAGE_ANNOUNCE_MS);
    });
    setInterval(() => {
      // One that announced itself and did not answer then may have been too busy.
      if (this.#announced) this.#ensure();
      for (const [kind, member] of CAPABILITY_OF) {
        if (this.#capabilities?.[member] && !this.#capabilities[member].listChanged) changed(kind);
      }
    }, PAGE_POLL_MS);
  }

  /** @param {Kind} kind @returns {Promise<JSONObject[]>} */
  async list(kind) {
    const capabilities = this.#capabilities;
    if (!capabilities) return [];
    // Old servers do not declare all that they have.
    if (kind === "tool") return this.#all("tools/list", "tools");
    if (kind === "prompt") return capabilities.prompts ? this.#all("prompts/list", "prompts") : [];
    if (!capabilities.resources) return [];
    const templates = this.#all("resources/templates/list", "resourceTemplates").catch(() => []);
    return [...(await this.#all("resources/list", "resources")), ...(await templates)];
  }

  /** @param {string} name @param {JSONObject} args @param {CallContext} context */
  async callTool(name, args, context) {
    return resultText(await this.#request("tools/call", { name, arguments: args }, context));
  }

  /** @param {string} uri @param {CallContext} context */
  readResource(uri, context) {
    return this.#request("resources/read", { uri }, context);
  }

  /** @param {string} uri @param {boolean} on */
  async subscribe(uri, on) {
    if (!this.#capabilities?.resources?.subscribe) return;
    await this.#request(on ? "resources/subscribe" : "resources/unsubscribe", { uri });
  }

  /** @param {string} name @param {JSONObject} args @param {CallContext} context */
  getPrompt(name, args, context) {
    return this.#request("prompts/get", { name, arguments: args }, context);
  }

  #ensure() {
    if (!this.#capabilities && this.#connecting === 0) void this.#connect();
  }

  async #connect() {
    this.#connecting++;
    try {
      const result = await this.#request("initialize", {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "tabhub", version: "1" },
      });
      this.#capabilities = isObject(result.capabilities) ? result.capabilities : {};
      this.#post({ jsonrpc: "2.0", method: "notifications/initialized" });
      for (const [kind] of CAPABILITY_OF) this.#changed(kind);
    } catch {
      // Most pages have no page server, and one that comes later says so.
    }
    this.#connecting--;
  }

  #disconnect() {
    this.#announced = false;
    this.#capabilities = null;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(new Error("the page's MCP server stopped"));
    for (const [kind] of CAPABILITY_OF) this.#changed(kind);
  }

  /** @param {string} method @param {string} member @returns {Promise<JSONObject[]>} */
  async #all(method, member) {
    /** @type {JSONObject[]} */
    const out = [];
    let cursor;
    for (let page = 0; page < PAGE_LIST_PAGES; page++) {
      const result = await this.#request(method, cursor === undefined ? {} : { cursor });
      if (Array.isArray(result?.[member])) out.push(...result[member].filter(isObject));
      cursor = result?.nextCursor;
      if (typeof cursor !== "string") break;
    }
    return out;
  }

  /**
   * @param {string} method
   * @param {JSONObject} params
   * @param {CallContext} [context] of a call, which may take its time
   * @returns {Promise<any>}
   */
  #request(method, params, context) {
    const id = `tabhub-${this.#session}-${this.#next++}`;
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#pending.delete(id);
        clearTimeout(timer);
        context?.signal.removeEventListener("abort", cancel);
      };
      const cancel = () => {
        this.#post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason: "cancelled" } });
        end();
        reject(new Error("cancelled"));
      };
      const timer = context
        ? undefined
        : setTimeout(() => {
            end();
            reject(new Error(`the page's MCP server did not answer ${method}`));
          }, PAGE_REQUEST_MS);
      context?.signal.addEventListener("abort", cancel);
      this.#pending.set(id, {
        progress: context?.progress,
        resolve: (result) => {
          end();
          resolve(result);
        },
        reject: (error) => {
          end();
          reject(error);
        },
      });
      if (method === "tools/call") params = { ...params, _meta: { progressToken: id } };
      this.#post({ jsonrpc: "2.0", id, method, params });
    });
  }

  /** @param {unknown} payload */
  #post(payload) {
    const target = location.origin === "null" ? "*" : location.origin;
    window.postMessage({ channel: PAGE_CHANNEL, type: "mcp", direction: "client-to-server", payload }, target);
  }

  /** @param {unknown} data */
  #receive(data) {
    if (!isObject(data) || data.channel !== PAGE_CHANNEL || data.type !== "mcp" || data.direction !== "server-to-client") return;
    const message = data.payload;
    if (message === "mcp-server-ready") {
      // What was sent blindly before may not have been heard.
      if (!this.#announced) void this.#connect();
      this.#announced = true;
      this.#ensure();
      // It may be another one, which took the place of the first without a word.
      if (this.#capabilities) for (const [kind] of CAPABILITY_OF) this.#changed(kind);
    } else if (message === "mcp-server-stopped") this.#disconnect();
    if (!isObject(message)) return;
    if (typeof message.method === "string") {
      this.#notice(message.method, isObject(message.params) ? message.params : {});
      return;
    }
    const waiting = this.#pending.get(message.id);
    if (!waiting) return;
    if (message.error) waiting.reject(new Error(String(message.error?.message ?? "the page's MCP server refused")));
    else waiting.resolve(message.result);
  }

  /** @param {string} method @param {JSONObject} params */
  #notice(method, params) {
    switch (method) {
      case "notifications/tools/list_changed":
        return this.#changed("tool");
      case "notifications/resources/list_changed":
        return this.#changed("resource");
      case "notifications/prompts/list_changed":
        return this.#changed("prompt");
      case "notifications/resources/updated":
        return this.#updated(String(params.uri));
      case "notifications/progress":
        return this.#pending.get(params.progressToken)?.progress?.(params.progress, params.total, params.message);
    }
  }
}

/** @type {[Kind, string][]} */
const CAPABILITY_OF = [
  ["tool", "tools"],
  ["resource", "resources"],
  ["prompt", "prompts"],
];
