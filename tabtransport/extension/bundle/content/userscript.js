"use strict";
(() => {
  // ../pagejs/values.ts
  var Limit = Object.freeze({
    items: 1024,
    // of each kind
    name: 128,
    title: 256,
    description: 4096,
    schema: 64 << 10,
    other: 16 << 10,
    // annotations, _meta, icons
    uri: 2048,
    offer: 8 << 20,
    // all items of one kind together
    answer: 30 << 20,
    // one result
    error: 16e3,
    // an error's text
    message: 4096
    // that of a progress notice
  });
  var Values = class _Values {
    /** How much of what the hub leaves out is said in the console of a document. */
    static #maxWarned = 1e3;
    /** What was said of that. */
    static #warned = /* @__PURE__ */ new Set();
    static isObject(value) {
      return typeof value === "object" && value !== null && !Array.isArray(value);
    }
    /**
     * Makes the JSON of a CallToolResult from what executeTool of WebMCP resolves to. The browser's
     * gives a text: an object as JSON, all else as it is. A library may give the value itself, which
     * is first made the text that the browser would make of it.
     *
     *   text of the browser                   content                   structuredContent
     *   {"content":[{…},…],…}                 its own                   its own
     *   {"structuredContent":{…},…}           its own                   its own
     *   a question (MCP's input_required)     its own                   its own
     *   {…}                                   the text                  the object
     *   else: a string, [1,2], 5, undefined   the text                  none
     *
     * The hub mends what in its own content is no block of MCP.
     */
    static callToolResult(given) {
      const text = _Values.#text(given);
      let value;
      try {
        value = JSON.parse(text);
      } catch {
        return _Values.textResult(text);
      }
      if (!_Values.isObject(value)) return _Values.textResult(text);
      if (Array.isArray(value.content) && value.content.every(_Values.isObject)) return text;
      if (_Values.isObject(value.structuredContent)) return text;
      if (value.resultType === "input_required" && _Values.isObject(value.inputRequests)) return text;
      return `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text}}`;
    }
    /**
     * Whether a tool gave nothing, by its result: if the document then gives way to another one,
     * what that one says is the result.
     */
    static isNothing(result) {
      return result === _Values.SUBMITTED || result === _Values.textResult("undefined") || result === _Values.textResult("null");
    }
    static #text(given) {
      if (typeof given === "string") return given;
      const structured = typeof given === "object" && given !== null || typeof given === "function";
      return String(structured ? JSON.stringify(given) : given);
    }
    /** An id that cannot be guessed. crypto.randomUUID exists in secure contexts only. */
    static randomID() {
      return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
    }
    static textResult(text) {
      return JSON.stringify({ content: [{ type: "text", text }] });
    }
    /** The result of a form that was submitted and leads elsewhere, for which the browser has none. */
    static SUBMITTED = this.textResult("The form was submitted.");
    /**
     * Says in the page's console what the hub has left out of a registration or lists otherwise, each
     * of it once.
     * @param answer the hub's
     */
    static warn(kind, { rejected, warnings }) {
      for (const { name, reason } of rejected ?? []) {
        if (_Values.#isFirst(kind, name, reason)) console.warn(`tabhub: ${kind} ${name} is not offered: ${reason}`);
      }
      for (const { name, reason } of warnings ?? []) {
        if (_Values.#isFirst(kind, name, reason)) console.warn(`tabhub: of ${kind} ${name}, a part is left out or listed otherwise: ${reason}`);
      }
    }
    static warnOf({ tools, resources, prompts }) {
      _Values.warn("tool", tools);
      _Values.warn("resource", resources);
      _Values.warn("prompt", prompts);
    }
    static #isFirst(...what) {
      const key = JSON.stringify(what);
      if (_Values.#warned.has(key) || _Values.#warned.size >= _Values.#maxWarned) return false;
      _Values.#warned.add(key);
      return true;
    }
    /** The text of something thrown, be it an error, what some libraries throw instead, or a word. */
    static errorText(error) {
      let text = "";
      try {
        const { message } = Object(error);
        text = typeof message === "string" && message || String(error);
        if (Object(error) === error && !(error instanceof Error) && (Array.isArray(error) || text.startsWith("[object "))) {
          text = "";
          text = JSON.stringify(error) ?? "";
          if (text === "{}") text = "";
        }
      } catch {
      }
      return (text || "the page's tool failed without saying why").slice(0, Limit.error);
    }
  };

  // content/shape.ts
  var Shape = class _Shape {
    /** Takes from list the tools that the protocol can carry. */
    static tools(list) {
      return _Shape.#check(list, "tool", (item, out, leaveOut) => {
        out.name = _Shape.#required(item.name, "name", Limit.name);
        _Shape.#texts(item, out);
        _Shape.#part(out, "inputSchema", parsed(item.inputSchema), Limit.schema, leaveOut);
        _Shape.#part(out, "outputSchema", item.outputSchema, Limit.schema, leaveOut);
        _Shape.#part(out, "annotations", item.annotations, Limit.other, leaveOut);
        _Shape.#part(out, "_meta", item._meta, Limit.other, leaveOut);
      });
    }
    /** Takes from list the resources and resource templates. */
    static resources(list) {
      return _Shape.#check(list, "resource", (item, out, leaveOut) => {
        const key = "uriTemplate" in item ? "uriTemplate" : "uri";
        out[key] = _Shape.#required(item[key], key, Limit.uri);
        out.name = _Shape.#required(item.name, "name", Limit.name);
        _Shape.#texts(item, out);
        if (typeof item.mimeType === "string") out.mimeType = item.mimeType.slice(0, Limit.name);
        if (typeof item.size === "number") out.size = item.size;
        if (item.completes === true) out.completes = true;
        _Shape.#part(out, "annotations", item.annotations, Limit.other, leaveOut);
        _Shape.#part(out, "_meta", item._meta, Limit.other, leaveOut);
      });
    }
    /** Takes from list the prompts. */
    static prompts(list) {
      return _Shape.#check(list, "prompt", (item, out, leaveOut) => {
        out.name = _Shape.#required(item.name, "name", Limit.name);
        _Shape.#texts(item, out);
        _Shape.#part(out, "arguments", item.arguments, Limit.schema, leaveOut);
        if (item.completes === true) out.completes = true;
        _Shape.#part(out, "_meta", item._meta, Limit.other, leaveOut);
      });
    }
    static #check(list, kind, pick) {
      const checked = { items: [], rejected: [], texts: [] };
      if (!Array.isArray(list)) return checked;
      let room = Limit.offer;
      for (const item of list.slice(0, Limit.items)) {
        const out = { name: "" };
        const reject = (reason) => {
          if (checked.rejected.length >= 100) return;
          const name = Values.isObject(item) && typeof item.name === "string" ? item.name : kind;
          checked.rejected.push({ name: name.slice(0, Limit.name), reason });
        };
        try {
          if (!Values.isObject(item)) throw new Error(`it is not an object`);
          pick(item, out, reject);
          const text = JSON.stringify(out);
          if (text.length > room) throw new Error("the page offers too much in all");
          room -= text.length;
          checked.items.push(out);
          checked.texts.push(text);
        } catch (error) {
          reject(Values.errorText(error));
        }
      }
      if (list.length > Limit.items) {
        const over = list.length - Limit.items;
        checked.rejected.push({ name: `${over} more`, reason: `a page may offer ${Limit.items} of a kind` });
      }
      return checked;
    }
    static #required(value, key, limit) {
      if (typeof value !== "string" || value === "") throw new Error(`its ${key} is missing`);
      if (value.length > limit) throw new Error(`its ${key} is longer than ${limit}`);
      return value;
    }
    static #texts(item, out) {
      if (typeof item.title === "string" && item.title) out.title = item.title.slice(0, Limit.title);
      if (typeof item.description === "string") out.description = item.description.slice(0, Limit.description);
    }
    /**
     * Takes a part of an item, valid or not: the hub says what is wrong with it. One that
     * cannot be carried is left out.
     */
    static #part(out, key, value, limit, leaveOut) {
      if (value === void 0 || value === null) return;
      try {
        const text = JSON.stringify(value);
        if (text === void 0) return;
        if (text.length > limit) throw new Error(`it is larger than ${limit >> 10} KiB`);
        out[key] = JSON.parse(text);
      } catch (error) {
        leaveOut(`its ${key}: ${Values.errorText(error)}`);
      }
    }
  };
  function parsed(schema) {
    if (typeof schema !== "string") return schema;
    try {
      return JSON.parse(schema);
    } catch {
      return schema;
    }
  }

  // content/userscript.ts
  var ScriptTools = class {
    tools = /* @__PURE__ */ new Map();
    #calls = /* @__PURE__ */ new Map();
    #port;
    #telling = false;
    #stopped = false;
    #opened = 0;
    #retry = 0;
    #secret;
    /** @param secret by which the worker knows the pack */
    constructor(secret) {
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
        this.#stopped = true;
        return;
      }
      const port = this.#port;
      this.#opened = Date.now();
      port.onMessage.addListener((message) => this.#heard(message));
      port.onDisconnect.addListener(() => this.#disconnected(port));
      this.#post({ type: "hello", runs: [...this.#calls.keys()] });
      if (this.tools.size) this.#tell();
      for (const [id, { result }] of this.#calls) if (result) this.#post({ type: "end", id, result });
    }
    #disconnected(port) {
      if (this.#port !== port) return;
      this.#port = void 0;
      this.#retry = Date.now() - this.#opened > 1e3 ? 0 : Math.min(this.#retry * 2 + 100, 5e3);
      setTimeout(() => this.#connect(), this.#retry);
    }
    #post(message) {
      this.#port?.postMessage(message);
    }
    #tell() {
      this.#post({ type: "tools", tools: [...this.tools.values()].map(({ item }) => item) });
    }
    #heard(message) {
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
          this.#port = void 0;
      }
    }
    /** Runs a call once, however often it is asked for. */
    async #run({ id, tool, args }) {
      if (this.#calls.has(id)) return;
      const call = { controller: new AbortController() };
      this.#calls.set(id, call);
      call.result = await this.#result(tool, args, call.controller.signal);
      if (this.#calls.get(id) === call) this.#post({ type: "end", id, result: call.result });
    }
    async #result(name, args, signal) {
      try {
        const tool = this.tools.get(name);
        if (!tool) throw new Error(`the script has taken the tool ${name} back`);
        const given = await tool.execute(args, { signal, requestUserInteraction: async (callback) => callback() });
        return { steps: [], value: JSON.parse(Values.callToolResult(given)) };
      } catch (error) {
        return { steps: [], failed: { step: 0, code: "STEP_SCRIPT", message: Values.errorText(error) } };
      }
    }
  };
  var ScriptContext = class extends EventTarget {
    #of;
    /** @param of undefined if no tool can be offered */
    constructor(of) {
      super();
      this.#of = of;
    }
    get #tools() {
      if (!this.#of) throw new DOMException("tabhub offers no tools of this script: too many scripts run in the page.", "NotAllowedError");
      return this.#of.tools;
    }
    async registerTool(tool, { signal } = {}) {
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
    unregisterTool(name) {
      if (this.#tools.delete(name)) this.#changed();
    }
    /** As earlier versions of WebMCP have it: these tools, and no others. */
    provideContext({ tools = [] } = {}) {
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
  };
  {
    const { secret } = globalThis.tabhubScript;
    delete globalThis.tabhubScript;
    const isOwn = globalThis.tabhubScriptWorld?.document !== document && typeof chrome.runtime?.connect === "function";
    globalThis.tabhubScriptWorld = { document };
    const context = new ScriptContext(isOwn ? new ScriptTools(secret) : void 0);
    for (const place of [document, navigator]) Object.defineProperty(place, "modelContext", { value: context, enumerable: true });
  }
})();
