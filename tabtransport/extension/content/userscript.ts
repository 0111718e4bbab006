// Runs before the script of a pack, in the world of its own that the pack has in a document: gives it a modelContext
// whose tools the extension offers as the pack's. Neither the page nor another pack's script reaches this world.

import { Shape } from "./shape.ts";

import { Values } from "../../pagejs/values.ts";

interface ScriptTool {
  item: Item;
  execute: Function;
}

/** What is under way, or has ended and is not known to have arrived. */
interface ScriptCall {
  controller: AbortController;
  result?: RunResult;
}

/** The tools of the script, and its port to the service worker. */
class ScriptTools {
  tools = new Map<string, ScriptTool>();
  #calls = new Map<string, ScriptCall>();
  #port: chrome.runtime.Port | undefined;
  #telling = false;
  #stopped = false;
  #opened = 0;
  #retry = 0;
  #secret;

  /** @param secret by which the worker knows the pack */
  constructor(secret: string) {
    this.#secret = secret;
    addEventListener("pageshow", (event) => void (event.persisted && this.#connect()));
    if (document.prerendering) document.addEventListener("prerenderingchange", () => this.#connect(), { once: true });
    else this.#connect();
  }

  /** The tools are others. */
  changed() {
    if (this.#telling) return;
    this.#telling = true;
    queueMicrotask(() => {
      this.#telling = false;
      this.#tell();
    });
  }

  #connect() {
    if (this.#port || this.#stopped) return;
    try {
      this.#port = chrome.runtime.connect({ name: this.#secret });
    } catch {
      this.#stopped = true; // the extension was updated or removed
      return;
    }
    const port = this.#port;
    this.#opened = Date.now();
    port.onMessage.addListener((message: WorkerToScript) => this.#heard(message));
    port.onDisconnect.addListener(() => this.#disconnected(port));
    this.#post({ type: "hello", runs: [...this.#calls.keys()] });
    if (this.tools.size) this.#tell();
    for (const [id, { result }] of this.#calls) if (result) this.#post({ type: "end", id, result });
  }

  #disconnected(port: chrome.runtime.Port) {
    if (this.#port !== port) return;
    this.#port = undefined;
    // At once, because this is what wakes a stopped worker; slower if it keeps failing.
    this.#retry = Date.now() - this.#opened > 1000 ? 0 : Math.min(this.#retry * 2 + 100, 5000);
    setTimeout(() => this.#connect(), this.#retry);
  }

  #post(message: ScriptToWorker) {
    this.#port?.postMessage(message);
  }

  #tell() {
    this.#post({ type: "tools", tools: [...this.tools.values()].map(({ item }) => item) });
  }

  #heard(message: WorkerToScript) {
    switch (message.type) {
      case "run":
        void this.#run(message);
        break;
      case "stop": {
        const { id, reason } = message;
        const call = this.#calls.get(id);
        this.#calls.delete(id);
        if (!call?.result) call?.controller.abort(new DOMException(reason, "AbortError"));
        break;
      }
      case "over":
        this.#stopped = true;
        for (const { controller, result } of this.#calls.values()) if (!result) controller.abort(new DOMException("The pack is not offered here any more.", "AbortError"));
        this.#port?.disconnect();
        this.#port = undefined;
    }
  }

  /** Runs a call once, however often it is asked for. */
  async #run({ id, tool, args }: Extract<WorkerToScript, { type: "run" }>) {
    if (this.#calls.has(id)) return;
    const call: ScriptCall = { controller: new AbortController() };
    this.#calls.set(id, call);
    call.result = await this.#result(tool, args, call.controller.signal);
    if (this.#calls.get(id) === call) this.#post({ type: "end", id, result: call.result });
  }

  async #result(name: string, args: object, signal: AbortSignal): Promise<RunResult> {
    try {
      const tool = this.tools.get(name);
      if (!tool) throw new Error(`the script has taken the tool ${name} back`);
      const given = await tool.execute(args, { signal, requestUserInteraction: async (callback: () => unknown) => callback() });
      return { steps: [], value: JSON.parse(Values.callToolResult(given)) };
    } catch (error) {
      return { steps: [], failed: { step: 0, code: "STEP_SCRIPT", message: Values.errorText(error) } };
    }
  }
}

/** What the script finds as document.modelContext and navigator.modelContext. */
class ScriptContext extends EventTarget {
  #of;

  /** @param of undefined if no tool can be offered */
  constructor(of: ScriptTools | undefined) {
    super();
    this.#of = of;
  }

  get #tools() {
    if (!this.#of) throw new DOMException("tabhub offers no tools of this script: too many scripts run in the page.", "NotAllowedError");
    return this.#of.tools;
  }

  async registerTool(tool: unknown, { signal }: { signal?: AbortSignal } = {}) {
    const { name, description, execute } = Object(tool);
    if (typeof execute !== "function") throw new TypeError("the tool has no function execute");
    if (typeof description !== "string" || !description) throw new TypeError("the tool has no description");
    const { items, rejected } = Shape.tools([tool]);
    if (rejected.length) throw new TypeError(`the tool ${name}: ${rejected[0].reason}`);
    if (!/^[A-Za-z0-9_.-]{1,128}$/.test(name)) throw new DOMException("Invalid tool name", "InvalidStateError");
    if (this.#tools.has(name)) throw new DOMException("Duplicate tool name", "InvalidStateError");
    signal?.throwIfAborted();
    const registered = { item: items[0], execute: execute.bind(tool) };
    this.#tools.set(name, registered);
    signal?.addEventListener("abort", () => void (this.#tools.get(name) === registered && this.unregisterTool(name)), { once: true });
    this.#changed();
  }

  unregisterTool(name: string) {
    if (this.#tools.delete(name)) this.#changed();
  }

  /** As earlier versions of WebMCP have it: these tools, and no others. */
  provideContext({ tools = [] }: { tools?: unknown[] } = {}) {
    this.clearContext();
    for (const tool of tools) void this.registerTool(tool);
  }

  clearContext() {
    this.#tools.clear();
    this.#changed();
  }

  async getTools() {
    return [...this.#tools.values()].map(({ item }) => ({ ...item, origin: self.origin, window }));
  }

  #changed() {
    this.#of?.changed();
    this.dispatchEvent(new Event("toolchange"));
  }
}

{
  const { secret } = globalThis.tabhubScript as { secret: string };
  delete globalThis.tabhubScript;
  // Where there are too many, the browser runs further ones together in a world that cannot connect.
  const isOwn = globalThis.tabhubScriptWorld?.document !== document && typeof chrome.runtime?.connect === "function";
  globalThis.tabhubScriptWorld = { document };
  const context = new ScriptContext(isOwn ? new ScriptTools(secret) : undefined);
  for (const place of [document, navigator]) Object.defineProperty(place, "modelContext", { value: context, enumerable: true });
}
