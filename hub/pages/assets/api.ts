// window.tabhub: how a page offers tools, resources and prompts to the hub itself.

import { KIND_NAMES } from "./connection.ts";
import { ToolCalls } from "../../../tabtransport/pagejs/toolcalls.ts";
import { Values } from "../../../tabtransport/pagejs/values.ts";

import type { Page } from "./page.ts";

export class APISource implements Source {
  #tools = new Map<string, PageTool>();
  /** By URI or URI template. */
  #resources = new Map<string, PageResource>();
  #prompts = new Map<string, PagePrompt>();
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

  has(name: string) {
    return this.#tools.has(name);
  }

  /** Adds an item and returns the function that removes it again. */
  add(kind: Kind, item: JSONObject, signal?: AbortSignal) {
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

  async call(name: string, args: object, options: CallOptions) {
    return this.#asking.call(async (options) => {
      const tool = this.#tools.get(name);
      if (!tool) throw new Error(`the page has no tool ${name} any more`);
      return resultText(await tool.execute(args, contextOf(options)));
    }, options);
  }

  async read(uri: string, options: CallOptions) {
    const resource = this.#resource(uri);
    const result = await resource.read(uri, contextOf(options));
    if (Values.isObject(result) && Array.isArray(result.contents)) return JSON.stringify(result);
    const text = typeof result === "string" ? result : JSON.stringify(result ?? null);
    return JSON.stringify({ contents: [{ uri, ...(resource.mimeType ? { mimeType: resource.mimeType } : {}), text }] });
  }

  async subscribe(uri: string) {
    this.#resource(uri);
  }

  async prompt(name: string, args: JSONObject, options: CallOptions) {
    const prompt = this.#prompts.get(name);
    if (!prompt) throw new Error(`the page has no prompt ${name} any more`);
    const result = await prompt.get(args, contextOf(options));
    if (Values.isObject(result) && Array.isArray(result.messages)) return JSON.stringify(result);
    return JSON.stringify({ messages: [{ role: "user", content: { type: "text", text: String(result) } }] });
  }

  #resource(uri: string) {
    const exact = this.#resources.get(uri);
    if (exact?.uri) return exact;
    for (const resource of this.#resources.values()) {
      if (resource.uriTemplate && templatePattern(resource.uriTemplate).test(uri)) return resource;
    }
    throw new Error(`the page has no resource ${uri}`);
  }

  #of(kind: Kind): Map<string, any> {
    return { tool: this.#tools, resource: this.#resources, prompt: this.#prompts }[kind];
  }
}

/** What a page's function may use of a call. */
function contextOf({ signal, progress, waiting, ask }: CallOptions): CallContext {
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

/** What a URI template (RFC 6570) can expand to. */
export function templatePattern(template: string) {
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
 */
function resultText(value: unknown) {
  if (value === undefined || value === null) return '{"content":[]}';
  if (typeof value === "string") return Values.textResult(value);
  const json = JSON.stringify(value);
  if (json === undefined) throw new TypeError(`the tool returned a ${typeof value}, which is not JSON`);
  return Values.callToolResult(json);
}

/** What a page sees as window.tabhub. Events: "status", "call" (detail: CallStep). */
export class PageAPI extends EventTarget {
  #own;
  #page;

  constructor(own: APISource, page: Page) {
    super();
    this.#own = own;
    this.#page = page;
  }

  /**
   * Offers a tool: an MCP Tool with execute(args, {signal, progress, waiting}).
   * @param options aborting signal takes the tool back
   */
  registerTool(tool: PageTool, { signal }: { signal?: AbortSignal } = {}) {
    return { unregister: this.#own.add("tool", tool, signal) };
  }

  /**
   * Offers a resource or, with uriTemplate, many: read(uri, {signal}) returns a
   * string, a ReadResourceResult or anything that is JSON.
   */
  registerResource(resource: PageResource, { signal }: { signal?: AbortSignal } = {}) {
    const unregister = this.#own.add("resource", resource, signal);
    return { unregister, updated: (uri = resource.uri) => uri && this.#page.resourceUpdated(uri) };
  }

  /** Offers a prompt: get(args, {signal}) returns a string or a GetPromptResult. */
  registerPrompt(prompt: PagePrompt, { signal }: { signal?: AbortSignal } = {}) {
    return { unregister: this.#own.add("prompt", prompt, signal) };
  }

  get status() {
    return this.#page.status();
  }
}
