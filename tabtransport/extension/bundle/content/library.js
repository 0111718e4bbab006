"use strict";
(() => {
  // ../pagejs/dialogs.ts
  function notifyOfDialogs(tell) {
    const { apply } = Reflect;
    for (const type of ["alert", "confirm", "prompt"]) {
      const value = new Proxy(window[type], {
        apply: (show, context, args) => {
          const [message] = args;
          tell({ type, message: typeof message === "string" || typeof message === "number" ? `${message}`.slice(0, 1e3) : "" });
          try {
            return apply(show, context, args);
          } finally {
            tell({ type: "", message: "" });
          }
        }
      });
      Object.defineProperty(window, type, { configurable: true, enumerable: true, writable: true, value });
    }
  }

  // ../pagejs/shapes.ts
  function sourceOf(tool) {
    return tool.source ?? tool.window ?? void 0;
  }
  var HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "untrustedContentHint", "consequentialHint", "debugging", "cache"];
  var TRUE_HINTS = ["destructiveHint", "openWorldHint"];
  function mcpTool(tool) {
    const { name, title, description, annotations } = tool;
    const item = { name, description: description ?? void 0, inputSchema: schemaOf(tool.inputSchema) };
    if (title) item.title = title;
    if (tool.outputSchema) item.outputSchema = schemaOf(tool.outputSchema);
    const given = { ...annotations };
    for (const hint of HINTS) given[hint] = annotations?.[hint];
    const hints = Object.entries(given).filter(([hint, value]) => value || value === false && TRUE_HINTS.includes(hint));
    if (hints.length) item.annotations = Object.fromEntries(hints);
    return item;
  }
  function schemaOf(schema) {
    if (typeof schema !== "string") return schema ?? void 0;
    try {
      return schema === "" ? void 0 : JSON.parse(schema);
    } catch {
      return schema;
    }
  }
  function isInterface(tool) {
    return !Object.hasOwn(tool, "name");
  }
  async function takesObject(context) {
    const nobody = { name: "tabhub-no-such-tool", description: "none", window, source: window, origin: self.origin };
    const refuses = async (input) => {
      try {
        await context.executeTool(nobody, input);
        return false;
      } catch (error) {
        return error instanceof TypeError;
      }
    };
    return await refuses("{}") && !await refuses({});
  }
  function adapted(made, changed) {
    if (typeof made.getTools !== "function") return void 0;
    const executes = typeof made.executeTool === "function";
    if (!executes && typeof made.invokeTool !== "function") return void 0;
    const tells = typeof made.addEventListener === "function";
    if (!tells) for (const method of ["registerTool", "unregisterTool"]) watch(made, method, changed);
    const events = tells ? made : new EventTarget();
    return {
      getTools: () => made.getTools(),
      executeTool: (...args) => {
        if (executes) return made.executeTool(...args);
        const [{ name }, input] = args;
        return made.invokeTool(name, typeof input === "string" ? JSON.parse(input) : input);
      },
      addEventListener: (...args) => events.addEventListener(...args),
      removeEventListener: (...args) => events.removeEventListener?.(...args)
    };
  }
  function watch(object, method, called) {
    let owner = object;
    while (owner && !Object.hasOwn(owner, method)) owner = Object.getPrototypeOf(owner);
    const property = owner && Object.getOwnPropertyDescriptor(owner, method);
    if (typeof property?.value !== "function" || !property.configurable) return;
    const value = new Proxy(property.value, {
      apply(run, context, args) {
        setTimeout(called);
        return Reflect.apply(run, context, args);
      }
    });
    Object.defineProperty(owner, method, { ...property, value });
  }

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

  // ../pagejs/modelcontext.ts
  var ModelContextTools = class _ModelContextTools {
    /** How long the next call of a form waits, in ms, once it was submitted: the document may be about to go. */
    static #leaving = 2e3;
    #tools = /* @__PURE__ */ new Map();
    /** Whether they may have changed since they were read. */
    #stale = false;
    /** The names of tools of other documents. */
    #otherDocuments = /* @__PURE__ */ new Set();
    /** What the context takes for tools that are dictionaries. */
    #takesObject;
    /** The tools that run now, and what they threw that no call has reported yet. */
    #running = /* @__PURE__ */ new Map();
    /** The end of the latest call of each form. */
    #forms = /* @__PURE__ */ new Map();
    /** The forms in shadow trees, once one was looked for since there was a new tool. */
    #shadowForms;
    #context;
    #changed;
    #isOfDocument;
    /**
     * @param changed called when the tools may differ
     * @param isOfDocument tells the tools of this document from those
     * of frames of the same origin, which are listed, too
     */
    constructor(context, changed, isOfDocument = (tool) => sourceOf(tool) === window) {
      this.#context = context;
      this.#changed = changed;
      this.#isOfDocument = isOfDocument;
    }
    start() {
      this.#context.addEventListener("toolchange", this.#toolsChanged);
    }
    stop() {
      this.#context.removeEventListener("toolchange", this.#toolsChanged);
    }
    #toolsChanged = () => {
      this.#stale = true;
      this.#changed();
    };
    async offer() {
      this.#stale = false;
      const all = (await this.#context.getTools()).filter((tool) => Object(tool) === tool);
      const tools = all.filter(this.#isOfDocument);
      this.#otherDocuments = new Set(all.filter((tool) => !tools.includes(tool)).map(({ name }) => name));
      if (tools.some(({ name }) => !this.#tools.has(name))) this.#shadowForms = void 0;
      this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
      return { tools: tools.map(mcpTool), resources: [], prompts: [] };
    }
    /** Whether another document has a tool of that name. */
    isOfAnother(name) {
      return this.#otherDocuments.has(name);
    }
    has(name) {
      return this.#tools.has(name);
    }
    async call(name, args, options) {
      const form = this.#formOf(name);
      if (!form) return this.#run(name, args, options);
      if (!form.hasAttribute("toolautosubmit")) options.waiting?.();
      const before = this.#forms.get(name);
      const call = Promise.resolve(before).then(() => {
        options.signal.throwIfAborted();
        return this.#run(name, args, options);
      });
      const over = call.then(
        (result) => result === Values.SUBMITTED && new Promise((done) => setTimeout(done, _ModelContextTools.#leaving)),
        () => {
        }
      );
      this.#forms.set(name, over);
      return call;
    }
    async #run(name, args, options) {
      const { signal } = options;
      if (this.#stale) await this.offer();
      const tool = this.#tools.get(name);
      if (!tool) throw new Error(`the page has no tool ${name}`);
      const input = await this.#takes(tool) ? args : JSON.stringify(args);
      const running = this.#running.get(name) ?? { calls: [], thrown: [] };
      this.#running.set(name, running);
      const call = { args, options };
      running.calls.push(call);
      try {
        const given = await this.#context.executeTool(tool, input, { signal });
        return given === null && this.#formOf(name) ? Values.SUBMITTED : Values.callToolResult(given);
      } catch (error) {
        if (signal.aborted) throw error;
        const said = await thrownBy(running, JSON.stringify(args));
        throw said === void 0 ? error : new Error(said);
      } finally {
        running.calls.splice(running.calls.indexOf(call), 1);
        if (running.calls.length === 0) this.#running.delete(name);
      }
    }
    /** Whether an object is to be given to a tool, or its JSON. No tool of the page is run to find out. */
    #takes(tool) {
      if (isInterface(tool)) return typeof tool.inputSchema !== "string";
      return this.#takesObject ??= takesObject(this.#context);
    }
    /** The form of the document that is a tool. */
    #formOf(name) {
      for (const form of document.getElementsByTagName("form")) {
        if (Element.prototype.getAttribute.call(form, "toolname") === name) return form;
      }
      this.#shadowForms ??= new Map(shadowTrees(document).flatMap((tree) => toolForms(tree)));
      return this.#shadowForms.get(name);
    }
    /**
     * Tells what a tool of the page has thrown.
     * @param input JSON
     */
    threw(name, input, message) {
      const thrown = this.#running.get(name)?.thrown;
      if (thrown && thrown.length < 64) thrown.push({ input, message });
    }
    /**
     * A tool of the page has taken a token. Equal calls cannot be told apart: the first is meant.
     * @param input JSON
     */
    async took(name, input, token) {
      await this.#running.get(name)?.calls.find(({ args }) => JSON.stringify(args) === input)?.options.token?.(token);
    }
  };
  async function thrownBy(running, input) {
    const index = () => running.thrown.findIndex((told) => told.input === input);
    if (index() < 0) await new Promise((done) => setTimeout(done, 30));
    const at = index();
    if (at < 0 && running.calls.length > 1) return void 0;
    return running.thrown.splice(at, 1)[0]?.message;
  }
  function toolForms(tree) {
    return [...tree.querySelectorAll("form[toolname]")].map((form) => [form.getAttribute("toolname") ?? "", form]);
  }
  function shadowTrees(root) {
    const { dom } = globalThis.chrome ?? {};
    const trees = [];
    for (const element of root.querySelectorAll("*")) {
      const tree = dom && element instanceof HTMLElement ? dom.openOrClosedShadowRoot(element) : element.shadowRoot;
      if (tree) trees.push(tree, ...shadowTrees(tree));
    }
    return trees;
  }

  // ../pagejs/library.ts
  var Early = {
    hasOwn: Object.hasOwn,
    getOwnPropertyDescriptor: Object.getOwnPropertyDescriptor,
    min: Math.min,
    setTimeout: window.setTimeout.bind(window)
  };
  var LibraryTools = class _LibraryTools {
    static #places = [
      { object: document, prototype: Document.prototype },
      { object: navigator, prototype: Navigator.prototype }
    ];
    static #firstWait = 250;
    static #maxWait = 6e4;
    #tools;
    #ours = [];
    #changed;
    #isOfDocument;
    /**
     * @param changed called when there is a modelContext, and when its tools may differ
     * @param isOfDocument as of ModelContextTools
     */
    constructor(changed, isOfDocument = (tool) => !sourceOf(tool) || sourceOf(tool) === window) {
      this.#changed = changed;
      this.#isOfDocument = isOfDocument;
    }
    /**
     * Begins to look for a modelContext: now, then ever more rarely, as a page may load it late.
     * @param ours getters of the places that were given to the page: what they
     * lead to is no library's
     */
    start(ours = []) {
      this.#ours = ours;
      this.#look(_LibraryTools.#firstWait);
    }
    stop() {
    }
    async offer() {
      return this.#tools ? this.#tools.offer() : { tools: [], resources: [], prompts: [] };
    }
    has(name) {
      return this.#tools?.has(name) === true;
    }
    async call(name, args, options) {
      if (!this.#tools) throw new Error(`the page has no tool ${name}`);
      return this.#tools.call(name, args, options);
    }
    /** @param wait in ms, until it looks again */
    #look(wait) {
      if (!this.#tools) {
        const context = _LibraryTools.#find(this.#ours, this.#changed);
        if (context) {
          this.#tools = new ModelContextTools(context, this.#changed, this.#isOfDocument);
          this.#tools.start();
          wait = _LibraryTools.#firstWait;
        }
      }
      if (this.#tools) this.#changed();
      Early.setTimeout(() => this.#look(Early.min(wait * 2, _LibraryTools.#maxWait)), wait);
    }
    /**
     * Returns what the page made, if it is something that only its own world can reach. A
     * server that answers over messages is reached that way, and keeps its results' full form.
     */
    static #find(ours, changed) {
      const made = _LibraryTools.#modelContext(ours);
      if (!made || made.__isBrowserMcpServer || window.__mcpBridge) return void 0;
      const context = adapted(made, changed);
      if (context) return context;
      const testing = navigator.modelContextTesting;
      if (typeof testing?.listTools !== "function" || typeof testing.executeTool !== "function") return void 0;
      const events = [testing, made].find(({ addEventListener: addEventListener2 }) => typeof addEventListener2 === "function");
      return adapted(
        {
          getTools: async () => testing.listTools(),
          executeTool: (tool, input, options) => testing.executeTool(tool.name, typeof input === "string" ? input : JSON.stringify(input), options),
          addEventListener: events?.addEventListener.bind(events),
          removeEventListener: events?.removeEventListener.bind(events)
        },
        changed
      );
    }
    /** Whatever a script of the page has put at document.modelContext or navigator.modelContext. */
    static #modelContext(ours) {
      for (let i = 0; i < 2; i++) {
        const { object, prototype } = _LibraryTools.#places[i];
        const inherited = Early.getOwnPropertyDescriptor(prototype, "modelContext");
        const there = Early.hasOwn(object, "modelContext") || inherited && !(inherited.get && ours.includes(inherited.get));
        const made = there ? object.modelContext : void 0;
        if (made) return made;
      }
      return void 0;
    }
  };

  // ../pagejs/toolcalls.ts
  var ToolCalls = class _ToolCalls {
    /** Begins the states of questions asked here: no tool is called with one. */
    static #prefix = "tabhub-asked-";
    static #max = 64;
    /** The calls that wait for an answer, by the states of their questions. */
    #asking = /* @__PURE__ */ new Map();
    /** What calls may do, by the signals that their tools were given. */
    #options = /* @__PURE__ */ new WeakMap();
    /**
     * Calls a tool, or goes on with a call that has asked.
     * @param run calls the tool
     * @returns the JSON of its result, or of its question
     */
    async call(run, options) {
      const state = options.extensions?.requestState;
      if (typeof state === "string" && state.startsWith(_ToolCalls.#prefix)) {
        const call = this.#asking.get(state);
        if (!call) throw new Error("the page does not wait for this answer any more; what it was about to do may have taken effect");
        return call.answered(options);
      }
      return new ToolCall(this).begin((options2) => {
        this.#options.set(options2.signal, options2);
        return run(options2);
      }, options);
    }
    /** As of WebMCPOwner. */
    took = async (caller, token) => {
      const keep = this.#options.get(caller)?.token;
      await keep?.(token);
      return keep !== void 0;
    };
    /** As of WebMCPOwner. */
    ask = async (caller, request, interact) => {
      const { ask } = this.#options.get(caller) ?? {};
      if (!ask) throw new DOMException("The tool's caller cannot be asked.", "NotSupportedError");
      return ask(request, interact);
    };
    /** A call of an earlier document, as WebMCP goes on with it in this one. */
    async resumed(call) {
      if (!call) return void 0;
      const { input, run } = call;
      return new Promise((resumed) => {
        const work = (signal) => new Promise((resolve, reject) => {
          const end = (outcome) => {
            if ("failed" in outcome) reject(outcome.error ?? new Error(outcome.failed));
            else resolve(outcome.text === null ? Values.SUBMITTED : Values.callToolResult(outcome.text));
          };
          resumed({ input, signal, caller: signal, end });
        });
        run((options) => this.call(({ signal }) => work(signal), options));
      });
    }
    /** @returns the state of its question */
    asks(call) {
      if (this.#asking.size >= _ToolCalls.#max) throw new DOMException("Too many tools of this document ask.", "QuotaExceededError");
      const state = _ToolCalls.#prefix + Values.randomID();
      this.#asking.set(state, call);
      return state;
    }
    asked(state) {
      this.#asking.delete(state);
    }
  };
  var ToolCall = class _ToolCall {
    /** How long an answer is waited for, in ms. */
    static #timeout = 6e5;
    /** The key of the one question of a request. */
    static #key = "input";
    #calls;
    #controller = new AbortController();
    /** Those of the request under way, or of the latest. */
    #options = { signal: this.#controller.signal };
    #result;
    /** Ends the request under way with a question. */
    #ask = () => {
    };
    /** Takes the answer. */
    #answer = () => {
    };
    /** The end of the question before. */
    #before = Promise.resolve();
    /** Whether the tool has returned or thrown. */
    #over = false;
    /** How much of what the tool does waits for the person in front of the tab. */
    #atPerson = 0;
    /** Says that the request under way does not wait for the person any more. */
    #answered = void 0;
    constructor(calls) {
      this.#calls = calls;
    }
    begin(run, options) {
      this.#options = options;
      const result = this.#result = run({
        signal: this.#controller.signal,
        progress: (progress) => this.#options.progress?.(progress),
        waiting: () => this.#waits(),
        token: async (token) => this.#options.token?.(token),
        ask: (request, interact) => this.#requested(request, interact)
      });
      const over = () => this.#over = true;
      result.then(over, over);
      return this.#await(options);
    }
    #await(options) {
      this.#options = options;
      if (this.#atPerson > 0) this.#answered = options.waiting?.();
      const { signal } = options;
      const abort = () => this.#controller.abort(signal.reason);
      if (signal.aborted) abort();
      signal.addEventListener("abort", abort, { once: true });
      return new Promise((resolve, reject) => {
        this.#ask = resolve;
        this.#result?.then(resolve, reject);
      });
    }
    /** The hub has the answer. */
    answered(options) {
      const responses = options.extensions?.inputResponses;
      const next = this.#await(options);
      this.#answer(Values.isObject(responses) ? responses[_ToolCall.#key] : void 0);
      return next;
    }
    /** Waits for the person in front of the tab, until what it returns is called or the tool is over. */
    #waits() {
      if (++this.#atPerson === 1) this.#answered = this.#options.waiting?.();
      let waits = true;
      return () => {
        if (waits && --this.#atPerson === 0) this.#answered?.();
        waits = false;
      };
    }
    #checkRuns() {
      this.#controller.signal.throwIfAborted();
      if (this.#over) throw new DOMException("The tool does not run any more.", "InvalidStateError");
    }
    async #requested(request, interact) {
      const { mode = "form", ...given } = Object(request);
      if (mode === "interactive") return this.#interactive(interact ?? given.callback);
      const params = _ToolCall.#params(String(mode), given);
      const asked = this.#before.then(() => this.#elicit(String(mode), params));
      this.#before = asked.catch(() => {
      });
      return asked;
    }
    /** The page asks by itself: the call waits for the person in front of the tab. */
    async #interactive(interact) {
      if (typeof interact !== "function") throw new TypeError("requestUserInput of the mode interactive needs a function that asks");
      this.#checkRuns();
      const { signal } = this.#controller;
      const answered = this.#waits();
      try {
        const aborted = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
        return await Promise.race([interact(), aborted]);
      } finally {
        answered();
      }
    }
    /** The parameters of MCP's elicitation/create. */
    static #params(mode, { message, requestedSchema, url }) {
      if (typeof message !== "string" || message === "") throw new TypeError("requestUserInput needs a message");
      switch (mode) {
        case "form":
          if (!Values.isObject(requestedSchema) || requestedSchema.type !== "object" || !Values.isObject(requestedSchema.properties)) {
            throw new TypeError('requestUserInput of the mode form needs a requestedSchema: {type: "object", properties: {…}}');
          }
          return { message, requestedSchema };
        case "url": {
          const address = typeof url === "string" && URL.canParse(url, location.href) ? new URL(url, location.href) : void 0;
          if (!address || !/^https?:$/.test(address.protocol)) throw new TypeError("requestUserInput of the mode url needs a url with https or http");
          return { mode, message, url: address.href, elicitationId: Values.randomID() };
        }
      }
      throw new TypeError(`requestUserInput has no mode ${mode}: there are interactive, form and url`);
    }
    async #elicit(mode, params) {
      this.#checkRuns();
      const { signal } = this.#controller;
      const can = this.#options.extensions?.clientCapabilities?.elicitation;
      if (!can || !(can[mode] ?? (mode === "form" && !can.url))) {
        throw new DOMException(`The agent's client cannot ask its user in the mode ${mode}.`, "NotSupportedError");
      }
      const state = this.#calls.asks(this);
      const late = () => this.#controller.abort(new DOMException("Nobody has answered.", "AbortError"));
      const timer = setTimeout(late, _ToolCall.#timeout);
      try {
        const response = await new Promise((resolve, reject) => {
          this.#answer = resolve;
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
          const inputRequests = { [_ToolCall.#key]: { method: "elicitation/create", params } };
          this.#ask(JSON.stringify({ resultType: "input_required", inputRequests, requestState: state }));
        });
        const { action, content } = Object(response);
        const accepted = action === "accept";
        return { action: accepted || action === "decline" ? action : "cancel", ...accepted && Values.isObject(content) && { content } };
      } finally {
        clearTimeout(timer);
        this.#calls.asked(state);
      }
    }
  };

  // content/library.ts
  var LibraryPort = class _LibraryPort {
    static #maxTools = 1025;
    /** How long the extension's own world may take to answer, in ms. */
    static #timeout = 5e3;
    #calls = /* @__PURE__ */ new Map();
    #asking = new ToolCalls();
    took = this.#asking.took;
    ask = this.#asking.ask;
    /** What waits for an answer of the extension's own world, by the tokens. */
    #asked = /* @__PURE__ */ new Map();
    /** The tools that were sent last, as JSON. */
    #sent = "";
    #library = new LibraryTools(() => void this.#list());
    /** The tools of the page's own modelContext, if it was given one. */
    #offered;
    #port;
    /** What could not be said yet. */
    #unsaid = [];
    /**
     * Begins to look for tools.
     * @param given what the page was given
     */
    look(given) {
      if (given) {
        this.#offered = new ModelContextTools(given.context(), () => void this.#list());
        this.#offered.start();
      }
      this.#library.start(given?.getters);
    }
    /** Takes what a tool has thrown, which its caller does not see. */
    threw(name, input, error) {
      const message = Values.errorText(error);
      if (this.#offered) this.#offered.threw(name, input, message);
      else this.#send({ type: "threw", name, input, message });
    }
    /** Offers the extension's own world a port. */
    join() {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data }) => this.#received(data);
      this.#port = port1;
      dispatchEvent(new MessageEvent("tabhub-port", { ports: [port2] }));
    }
    #send(message) {
      this.#port?.postMessage(message);
    }
    #received(request) {
      switch (request.type) {
        case "start":
          this.#sent = "";
          void this.#list();
          for (const message of this.#unsaid.splice(0)) this.#send(message);
          break;
        case "call": {
          const { id, name, args, extensions } = request;
          const source = () => this.#offered?.has(name) ? this.#offered : this.#library;
          const run = (options) => source().call(name, args, options);
          void this.#run(id, (options) => this.#asking.call(run, { ...options, extensions }));
          break;
        }
        case "cancel":
          this.#calls.get(request.id)?.abort(new DOMException(request.reason, "AbortError"));
          break;
        case "kept":
        case "resumed":
          this.#answered(request);
      }
    }
    /** @param answer about a token */
    #answered(answer) {
      const waits = this.#asked.get(answer.token);
      if (waits) waits(answer);
      else if (answer.type === "resumed" && answer.id !== void 0) this.#send({ type: "error", id: answer.id, message: "the page that was to go on with the call does not wait for it any more" });
    }
    async #list() {
      let text = "[]";
      try {
        const given = this.#offered ? (await this.#offered.offer()).tools : [];
        const { tools } = await this.#library.offer();
        const more = tools.filter(({ name }) => !this.#offered?.has(name));
        text = JSON.stringify([...given, ...more].slice(0, _LibraryPort.#maxTools));
      } catch {
      }
      if (text === this.#sent) return;
      this.#sent = text;
      this.#send({ type: "tools", tools: text });
    }
    /** Runs a part of a call in this document, and tells its result. */
    async #run(id, work) {
      const controller = new AbortController();
      this.#calls.set(id, controller);
      try {
        const text = await work({
          signal: controller.signal,
          waiting: () => {
            this.#send({ type: "waiting", id, on: true });
            return () => this.#send({ type: "waiting", id, on: false });
          },
          token: async (token) => {
            const { kept } = await this.#ask({ type: "token", id, token });
            if (!kept) throw new DOMException("The call cannot go on in another document.", "NotSupportedError");
          }
        });
        this.#send({ type: "result", id, text });
      } catch (error) {
        this.#send({ type: "error", id, message: Values.errorText(error) });
      } finally {
        this.#calls.delete(id);
      }
    }
    // ---- Tokens
    async tookNatively(name, input, token) {
      await this.#ask({ type: "token", name, input, token });
    }
    async resume(token) {
      const { id, input } = await this.#ask({ type: "resume", token, beside: false });
      return this.#asking.resumed(id === void 0 ? void 0 : { input, run: (work) => void this.#run(id, work) });
    }
    async release(token) {
      const { id } = await this.#ask({ type: "resume", token, beside: true });
      return id !== void 0;
    }
    /**
     * Asks the extension's own world about a token.
     * @returns its answer, without anything if there is none in time
     */
    async #ask(message) {
      const { token } = message;
      if (this.#asked.has(token)) return {};
      try {
        return await new Promise((resolve) => {
          this.#asked.set(token, resolve);
          setTimeout(resolve, _LibraryPort.#timeout, {});
          if (this.#port) this.#send(message);
          else this.#unsaid.push(message);
        });
      } finally {
        this.#asked.delete(token);
      }
    }
  };
  {
    const end = new LibraryPort();
    const first = !dispatchEvent(new CustomEvent("tabhub-half", { cancelable: true, detail: end }));
    if (first) {
      addEventListener("tabhub-frame", () => end.join());
      const { stringify } = JSON;
      const { dispatchEvent: dispatchEvent2, CustomEvent: CustomEvent2 } = window;
      notifyOfDialogs((dialog) => void dispatchEvent2(new CustomEvent2("tabhub-dialog", { detail: stringify(dialog) })));
    }
  }
})();
