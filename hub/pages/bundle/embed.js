"use strict";
(() => {
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __esm = (fn, res, err) => function __init() {
    if (err) throw err[0];
    try {
      return fn && (res = (0, fn[__getOwnPropNames(fn)[0]])(fn = 0)), res;
    } catch (e) {
      throw err = [e], e;
    }
  };
  var __export = (target, all) => {
    for (var name in all)
      __defProp(target, name, { get: all[name], enumerable: true });
  };
  var __copyProps = (to, from, except, desc) => {
    if (from && typeof from === "object" || typeof from === "function") {
      for (let key of __getOwnPropNames(from))
        if (!__hasOwnProp.call(to, key) && key !== except)
          __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
    }
    return to;
  };
  var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

  // assets/portsocket.ts
  var PortSocket;
  var init_portsocket = __esm({
    "assets/portsocket.ts"() {
      "use strict";
      PortSocket = class {
        onopen = null;
        onmessage = null;
        onclose = null;
        // What fails closes, too.
        onerror = null;
        closed = false;
        #port;
        constructor(port) {
          this.#port = port;
          port.onmessage = ({ data }) => {
            if (data.open) this.onopen?.(data);
            else if (typeof data.frame === "string") this.onmessage?.({ data: data.frame });
            else if (typeof data.code === "number") this.end(data.code, String(data.reason ?? ""));
          };
        }
        send(frame) {
          this.#port.postMessage({ frame });
        }
        close() {
          this.#port.postMessage({ close: true });
          this.closed = true;
          this.#port.close();
        }
        /** Closes, as the remote end does. */
        end(code, reason) {
          if (this.closed) return;
          this.close();
          this.onclose?.({ code, reason });
        }
      };
    }
  });

  // ../../tabtransport/pagejs/values.ts
  var Limit, Values;
  var init_values = __esm({
    "../../tabtransport/pagejs/values.ts"() {
      Limit = Object.freeze({
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
      Values = class _Values {
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
    }
  });

  // assets/dialwidget.ts
  var dialwidget_exports = {};
  __export(dialwidget_exports, {
    dialWidget: () => dialWidget
  });
  function dialWidget(hub) {
    const { port1, port2 } = new MessageChannel();
    const socket = new PortSocket(port1);
    (widget ??= insertWidget(hub)).then(
      (frame) => socket.closed || frame.postMessage("tabhub.connect", hub, [port2]),
      (error) => socket.end(1006, Values.errorText(error))
    );
    return socket;
  }
  function insertWidget(hub) {
    return new Promise((resolve, reject) => {
      const insert = () => {
        const frame = document.createElement("iframe");
        frame.hidden = true;
        frame.title = "tabhub";
        frame.setAttribute("aria-hidden", "true");
        frame.allow = "loopback-network; local-network; local-network-access";
        frame.src = `${hub}/widget.html`;
        window.addEventListener("message", function ready(event) {
          if (!event.isTrusted || event.source !== frame.contentWindow || event.origin !== hub || event.data !== "tabhub.ready") return;
          window.removeEventListener("message", ready);
          resolve(frame.contentWindow);
        });
        setTimeout(() => reject(new Error(`the frame ${frame.src} does not load`)), WIDGET_WAIT_MS);
        document.body.append(frame);
      };
      if (document.body) insert();
      else document.addEventListener("DOMContentLoaded", insert, { once: true });
    });
  }
  var WIDGET_WAIT_MS, widget;
  var init_dialwidget = __esm({
    "assets/dialwidget.ts"() {
      "use strict";
      init_portsocket();
      init_values();
      WIDGET_WAIT_MS = 1e4;
    }
  });

  // assets/hub.ts
  var HUB;
  var init_hub = __esm({
    "assets/hub.ts"() {
      "use strict";
      HUB = "{hub}";
    }
  });

  // assets/extension.ts
  function dialExtension(hub) {
    const { port1, port2 } = new MessageChannel();
    const heard = !window.dispatchEvent(new MessageEvent(PAGE_EVENT, { cancelable: true, data: hub, ports: [port2] }));
    return heard ? new PortSocket(port1) : null;
  }
  function nameHub(hub) {
    const named = [...document.scripts].some(({ src }) => src === `${hub}/tab.js` || src === `${hub}/embed.js`);
    if (named) return;
    const link = document.createElement("link");
    link.rel = "tabhub";
    link.href = hub;
    (document.head ?? document.documentElement).append(link);
  }
  var PAGE_EVENT, EXTENSION_EVENT;
  var init_extension = __esm({
    "assets/extension.ts"() {
      "use strict";
      init_portsocket();
      PAGE_EVENT = "tabhub-page";
      EXTENSION_EVENT = "tabhub-extension";
    }
  });

  // ../../tabtransport/pagejs/answers.ts
  function hideAnswers(prefix) {
    const { apply } = Reflect;
    const { startsWith } = String.prototype;
    const data = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data");
    const read = data.get;
    const isOwn = (id) => typeof id === "string" && apply(startsWith, id, [prefix]);
    const get = new Proxy(read, {
      apply(_, event, args) {
        const data2 = apply(read, event, args);
        const payload = event.isTrusted && data2?.direction === "server-to-client" ? data2.payload : void 0;
        return isOwn(payload?.id) || isOwn(payload?.params?.progressToken) ? {} : data2;
      }
    });
    Object.defineProperty(MessageEvent.prototype, "data", { ...data, get });
    return (event) => apply(read, event, []);
  }
  var init_answers = __esm({
    "../../tabtransport/pagejs/answers.ts"() {
    }
  });

  // ../../tabtransport/pagejs/shapes.ts
  function sourceOf(tool) {
    return tool.source ?? tool.window ?? void 0;
  }
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
  var HINTS, TRUE_HINTS;
  var init_shapes = __esm({
    "../../tabtransport/pagejs/shapes.ts"() {
      HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "untrustedContentHint", "consequentialHint", "debugging", "cache"];
      TRUE_HINTS = ["destructiveHint", "openWorldHint"];
    }
  });

  // ../../tabtransport/pagejs/modelcontext.ts
  async function thrownBy(running, input) {
    const index = () => running.thrown.findIndex((told2) => told2.input === input);
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
  var ModelContextTools;
  var init_modelcontext = __esm({
    "../../tabtransport/pagejs/modelcontext.ts"() {
      init_shapes();
      init_values();
      ModelContextTools = class _ModelContextTools {
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
    }
  });

  // ../../tabtransport/pagejs/library.ts
  var Early, LibraryTools;
  var init_library = __esm({
    "../../tabtransport/pagejs/library.ts"() {
      init_modelcontext();
      init_shapes();
      Early = {
        hasOwn: Object.hasOwn,
        getOwnPropertyDescriptor: Object.getOwnPropertyDescriptor,
        min: Math.min,
        setTimeout: window.setTimeout.bind(window)
      };
      LibraryTools = class _LibraryTools {
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
    }
  });

  // ../../tabtransport/pagejs/pageserver.ts
  var PageServer, NoAnswer;
  var init_pageserver = __esm({
    "../../tabtransport/pagejs/pageserver.ts"() {
      init_values();
      PageServer = class _PageServer {
        static #version = "2025-06-18";
        static #requestTimeout = 1e4;
        /** How long a server is given to show that it is still there. */
        static #aliveTimeout = 2e3;
        static #pollEvery = 6e4;
        /** The capabilities of a server that was not asked for them: it may have all, and says what it lacks. */
        static #unknown = { tools: {}, resources: {}, prompts: {}, completions: {} };
        /** Between two reads of a list, */
        static #pause = 300;
        /** and before one that was not answered is tried again. */
        static #retry = 2e3;
        static #kinds = ["tools", "resources", "prompts"];
        #state = "idle";
        #started = false;
        #announced = false;
        #next = 0;
        #waiting = /* @__PURE__ */ new Map();
        /** Whether the page has a client of its own. */
        #shared = false;
        /** By kind; of a kind that the server does not have there is none. */
        #capabilities = {};
        #offer = { tools: [], resources: [], prompts: [] };
        #polling;
        /** The kinds whose list is being read, and whether it must be read again then. */
        #reading = /* @__PURE__ */ new Map();
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
        /** The payload of an envelope that a server sent, or undefined. */
        static payload(data, channel) {
          const fits = Values.isObject(data) && data.channel === channel && data.type === "mcp" && data.direction === "server-to-client";
          return fits ? data.payload : void 0;
        }
        start() {
          if (this.#started) return;
          this.#started = true;
          if (this.#announced) void this.#connect(_PageServer.#requestTimeout);
          else if (this.#client.asks) this.#post("mcp-check-ready");
          this.#polling = setInterval(() => this.#poll(), _PageServer.#pollEvery);
          if (this.#channel === "mcp-iframe") return;
          if (document.readyState === "complete") this.#tryUnheard();
          else addEventListener("load", () => this.#tryUnheard(), { once: true });
        }
        /** Tries a server that was not heard, if the client tries all or a script in the page names the channel. */
        #tryUnheard() {
          if (!this.#started || this.#announced || this.#state !== "idle") return;
          const named = () => [...document.scripts].some((script) => !script.src && script.text.includes(this.#channel));
          if (!this.#client.tries && !named()) return;
          void this.#connect(_PageServer.#aliveTimeout);
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
          void this.#connect(_PageServer.#requestTimeout);
        }
        /**
         * Makes sure that the server is still there, after a document of its origin went, which
         * may have been another: what runs goes on where the server answers.
         */
        async check() {
          const connection = this.#connection;
          const running = [...this.#waiting.values()].some(({ progress }) => progress);
          const ask = () => this.#request("tools/list", {}, { timeout: _PageServer.#aliveTimeout });
          const alive = running && await ask().then(() => true, () => false);
          if (connection !== this.#connection) return;
          if (alive) this.#readAll();
          else this.revive();
        }
        async offer() {
          return this.#offer;
        }
        has(name) {
          return this.#offer.tools.some((tool) => tool?.name === name);
        }
        hasResource(uri) {
          return this.#offer.resources.some((resource) => resource?.uri === uri);
        }
        /** @param payload as {@link payload} returned it */
        heard(payload) {
          if (payload === "mcp-server-ready") {
            this.#announced = true;
            if (this.#state === "connecting") this.#reset(new Error("the page's server has started again"));
            if (this.#started) void this.#connect(_PageServer.#requestTimeout);
            this.#readAll();
          } else if (payload === "mcp-server-stopped") {
            this.#announced = false;
            this.#reset(new Error("the page's server has stopped"));
            this.#client.changed();
          } else if (Values.isObject(payload) && payload.jsonrpc === "2.0") {
            this.#message(payload);
          }
        }
        #message({ id, method, params, result, error }) {
          if (typeof method === "string") {
            if (id === void 0) this.#notified(method, Values.isObject(params) ? params : {});
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
        #asked(id, method) {
          if (this.#state !== "ready" || this.#shared) return;
          const answer = method === "ping" ? { result: {} } : { error: { code: -32601, message: `no such method: ${method}` } };
          this.#post({ jsonrpc: "2.0", id, ...answer });
        }
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
                total: typeof total === "number" ? total : void 0,
                message: typeof message === "string" ? message.slice(0, Limit.message) : void 0
              });
              break;
            }
          }
        }
        #listChanged(kind) {
          this.#capabilities[kind] = { listChanged: true };
          void this.#read(kind);
        }
        async #connect(timeout) {
          if (this.#state !== "idle") return;
          this.#state = "connecting";
          const connection = this.#connection;
          try {
            await this.#client.hidden();
            if (connection !== this.#connection) return;
            const serves = await this.#list("tools/list", "tools", timeout).then((tools) => tools.length > 0, () => false);
            if (connection !== this.#connection) return;
            const capabilities = serves || this.#shared ? { ..._PageServer.#unknown } : await this.#initialize(timeout);
            if (connection !== this.#connection) return;
            this.#capabilities = capabilities;
            this.#state = "ready";
            this.#readAll();
          } catch {
            if (connection === this.#connection) this.#state = "idle";
          }
        }
        /** @returns the server's capabilities */
        async #initialize(timeout) {
          const params = {
            protocolVersion: _PageServer.#version,
            capabilities: {},
            clientInfo: { name: "tabhub", version: this.#client.version }
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
          if (this.#announced) void this.#connect(_PageServer.#requestTimeout);
          for (const kind of _PageServer.#kinds) {
            if (!this.#capabilities[kind]?.listChanged) void this.#read(kind);
          }
        }
        #readAll() {
          for (const kind of _PageServer.#kinds) void this.#read(kind);
        }
        /**
         * Reads one list. Notices that come meanwhile are one more read, a moment later, and so is
         * a list that the server does not answer with.
         */
        async #read(kind) {
          if (this.#state !== "ready" || kind !== "tools" && !this.#capabilities[kind]) return;
          if (this.#reading.has(kind)) {
            this.#reading.set(kind, true);
            return;
          }
          this.#reading.set(kind, false);
          const connection = this.#connection;
          let answered = true;
          const unknown = kind !== "tools" && this.#capabilities[kind] === _PageServer.#unknown[kind];
          try {
            const items = await this.#list(`${kind}/list`, kind);
            const more = kind === "resources" ? await this.#list("resources/templates/list", "resourceTemplates").catch(() => []) : [];
            if (connection !== this.#connection) return;
            const list = kind === "prompts" ? this.#completed(items) : [...items, ...this.#completed(more)];
            this.#offer = { ...this.#offer, [kind]: list };
            this.#client.changed();
          } catch (error) {
            answered = unknown || !(error instanceof NoAnswer);
            if (unknown && connection === this.#connection) delete this.#capabilities[kind];
          }
          await new Promise((done) => setTimeout(done, answered ? _PageServer.#pause : _PageServer.#retry));
          if (connection !== this.#connection) return;
          const again = this.#reading.get(kind) || !answered;
          this.#reading.delete(kind);
          if (again) void this.#read(kind);
        }
        /** Prompts or templates, of which the hub learns whether the server completes their arguments. */
        #completed(items) {
          return this.#capabilities.completions ? items.map((item) => ({ ...item, completes: true })) : items;
        }
        async #list(method, key, timeout = _PageServer.#requestTimeout) {
          const items = [];
          let cursor;
          do {
            const result = await this.#request(method, cursor === void 0 ? {} : { cursor }, { timeout });
            if (!Values.isObject(result) || !Array.isArray(result[key])) break;
            items.push(...result[key].slice(0, Limit.items + 1 - items.length));
            cursor = typeof result.nextCursor === "string" ? result.nextCursor : void 0;
          } while (cursor !== void 0 && items.length <= Limit.items);
          return items;
        }
        async call(name, args, options) {
          const result = await this.#request("tools/call", { name, arguments: args }, options);
          return JSON.stringify(result ?? {});
        }
        async read(uri, options) {
          return JSON.stringify(await this.#request("resources/read", { uri }, options) ?? {});
        }
        async subscribe(uri, on, options) {
          await this.#request(on ? "resources/subscribe" : "resources/unsubscribe", { uri }, options);
        }
        async prompt(name, args, options) {
          return JSON.stringify(await this.#request("prompts/get", { name, arguments: args }, options) ?? {});
        }
        async complete(about, options) {
          return JSON.stringify(await this.#request("completion/complete", { ...about }, options) ?? {});
        }
        /**
         * @param options a request with a signal takes as
         * long as its caller lets it
         */
        async #request(method, params, { signal, progress, extensions: { traceparent } = {}, timeout = _PageServer.#requestTimeout } = {}) {
          const id = this.#client.prefix + this.#next++;
          const cancelled = () => {
            const reason = Values.errorText(signal?.reason);
            this.#post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } });
            this.#waiting.get(id)?.reject(signal?.reason);
          };
          const late = () => this.#waiting.get(id)?.reject(new NoAnswer(`the page's server did not answer ${method}`));
          const timer = signal ? void 0 : setTimeout(late, timeout);
          signal?.addEventListener("abort", cancelled);
          try {
            return await new Promise((resolve, reject) => {
              this.#waiting.set(id, { resolve, reject, progress });
              const meta = { ...progress && { progressToken: id }, ...traceparent && { traceparent } };
              this.#post({ jsonrpc: "2.0", id, method, params: { ...params, ...Object.keys(meta).length > 0 && { _meta: meta } } });
            });
          } finally {
            clearTimeout(timer);
            signal?.removeEventListener("abort", cancelled);
            this.#waiting.delete(id);
          }
        }
        #post(payload) {
          this.#target.postMessage(
            { channel: this.#channel, type: "mcp", direction: "client-to-server", payload },
            this.#origin
          );
        }
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
      NoAnswer = class extends Error {
      };
    }
  });

  // ../../tabtransport/pagejs/toolcalls.ts
  var ToolCalls, ToolCall;
  var init_toolcalls = __esm({
    "../../tabtransport/pagejs/toolcalls.ts"() {
      init_values();
      ToolCalls = class _ToolCalls {
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
      ToolCall = class _ToolCall {
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
    }
  });

  // ../../tabtransport/pagejs/watchtools.ts
  function watchTools(prototype, watcher) {
    const { apply } = Reflect;
    const calls = /* @__PURE__ */ new WeakMap();
    wrap(prototype, "registerTool", (register, context, args) => {
      watcher.registers();
      return apply(register, context, args.length ? [noting(args[0], watcher, calls), ...args.slice(1)] : args);
    });
    const invocations = window.ModelContextToolInvocation?.prototype;
    if (typeof invocations?.requestToken !== "function" || typeof prototype.resumeTool !== "function") return;
    wrap(invocations, "requestToken", async (request, invocation, args) => {
      const token = await apply(request, invocation, args);
      const call = calls.get(invocation);
      if (call && "caller" in call) call.took = true;
      if (call) await watcher.took(call, String(token)).catch(() => {
      });
      return token;
    });
    wrap(prototype, "resumeTool", async (resume, context, args) => {
      const [token, callback] = args;
      const resumed = typeof callback === "function" ? await watcher.resume(String(token)) : void 0;
      if (!resumed) return apply(resume, context, args);
      let begun = false;
      const run = async (input, options) => {
        begun = true;
        const call = { caller: resumed.caller };
        const invocation = options?.invocation;
        if (Object(invocation) === invocation) calls.set(invocation, call);
        try {
          const value = await callback(input, options);
          const end = () => resumed.end({ text: typeof value === "object" || typeof value === "function" ? Unchanged.stringify(value) ?? "undefined" : `${value}` });
          if (call.took) setTimeout(end, KEPT);
          else end();
          return value;
        } catch (error) {
          resumed.end({ failed: "the tool failed", error });
          throw error;
        }
      };
      try {
        await apply(resume, context, [token, run]);
      } catch (error) {
        if (begun) throw error;
        run(Unchanged.parse(resumed.input), { signal: resumed.signal }).catch(() => {
        });
      }
    });
  }
  function wrap(object, method, instead) {
    const value = new Proxy(object[method], { apply: instead });
    Object.defineProperty(object, method, { configurable: true, enumerable: true, writable: true, value });
  }
  function noting(tool, watcher, calls) {
    if (Object(tool) !== tool) return tool;
    const get = () => {
      const { execute } = tool;
      if (typeof execute !== "function") return execute;
      return async (...args) => {
        const name = String(tool.name);
        const invocation = args[1]?.invocation;
        if (Object(invocation) === invocation) calls.set(invocation, { name, input: jsonOf(args[0]) });
        try {
          return await execute(...args);
        } catch (error) {
          watcher.threw(name, jsonOf(args[0]), error);
          throw error;
        }
      };
    };
    return Object.create(tool, { execute: { get } });
  }
  function jsonOf(input) {
    try {
      return Unchanged.stringify(input) ?? "";
    } catch {
      return "";
    }
  }
  var Unchanged, KEPT;
  var init_watchtools = __esm({
    "../../tabtransport/pagejs/watchtools.ts"() {
      Unchanged = { stringify: JSON.stringify, parse: JSON.parse };
      KEPT = 6e4;
    }
  });

  // assets/sources.ts
  function pageSources(native, given, changed, updated, resume) {
    const prefix = `tabhub-${Values.randomID()}-`;
    const read = hideAnswers(prefix);
    const server = new PageServer(window, self.origin === "null" ? "*" : self.origin, "mcp-default", {
      version: "1",
      prefix,
      hidden: async () => {
      },
      asks: true,
      tries: true,
      changed,
      updated
    });
    addEventListener("message", (event) => {
      if (event.isTrusted && event.source === window) server.heard(PageServer.payload(read(event), "mcp-default"));
    });
    if (native) {
      const tools = new ModelContextTools(native, changed, isOfThisDocument);
      const calls = new ToolCalls();
      watchTools(Object.getPrototypeOf(native), {
        registers: () => {
        },
        threw: (name, input, error) => tools.threw(name, input, Values.errorText(error)),
        took: async (call, token) => "caller" in call ? calls.took(call.caller, token) : tools.took(call.name, call.input, token),
        resume: async (token) => calls.resumed(await resume(token))
      });
      return [tools, server];
    }
    const library = class extends LibraryTools {
      start() {
        super.start(given?.getters);
      }
    };
    return [server, new library(changed, isOfThisDocument)];
  }
  function nativeContext() {
    const getter = Object.getOwnPropertyDescriptor(Document.prototype, "modelContext")?.get;
    try {
      getter?.call({});
    } catch {
      return getter?.call(document);
    }
    return void 0;
  }
  function isOfThisDocument(tool) {
    const source = sourceOf(tool);
    if (source === window || !source) return true;
    if (tool.origin !== void 0 && tool.origin !== self.origin) return false;
    try {
      return !source.tabhub;
    } catch {
      return false;
    }
  }
  var init_sources = __esm({
    "assets/sources.ts"() {
      "use strict";
      init_answers();
      init_library();
      init_modelcontext();
      init_pageserver();
      init_shapes();
      init_toolcalls();
      init_values();
      init_watchtools();
    }
  });

  // assets/tokens.ts
  function keepToken(token, id) {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(TOKEN_PREFIX) && callOf(key) === void 0) sessionStorage.removeItem(key);
    sessionStorage.setItem(TOKEN_PREFIX + token, JSON.stringify({ id, until: Date.now() + KEPT }));
  }
  function takeToken(token) {
    const id = callOf(TOKEN_PREFIX + token);
    if (id !== void 0) sessionStorage.removeItem(TOKEN_PREFIX + token);
    return id;
  }
  function callOf(key) {
    try {
      const { id, until } = JSON.parse(sessionStorage.getItem(key) ?? "{}");
      return Date.now() < until ? id : void 0;
    } catch {
      return void 0;
    }
  }
  var TOKEN_PREFIX;
  var init_tokens = __esm({
    "assets/tokens.ts"() {
      "use strict";
      init_watchtools();
      TOKEN_PREFIX = "tabhub.token.";
    }
  });

  // ../../tabtransport/pagejs/webmcpfields.ts
  function describe(field) {
    return Before.getAttribute(field, "toolparamdescription") || labelOf(field) || (Before.getAttribute(field, "aria-description") ?? "");
  }
  function describeGroup(field) {
    const set = Before.closest(field, "fieldset");
    return set ? Before.getAttribute(set, "toolparamdescription") ?? "" : "";
  }
  function labelOf(field) {
    const labels = field.labels ?? [];
    let text = "";
    for (let i = 0; i < labels.length; i++) text += `${i ? "; " : ""}${wordsOf(labels[i]).trim()}`;
    return text;
  }
  function wordsOf(node) {
    if (node.nodeType === 3) return node.nodeValue ?? "";
    let text = "";
    for (let at = node.firstChild; at; at = at.nextSibling) {
      if (!/^(button|input|meter|output|progress|select|textarea)$/i.test(at.nodeName)) text += wordsOf(at);
    }
    return text;
  }
  function patternOf(field) {
    const pattern = Before.getAttribute(field, "pattern");
    if (pattern === null || field.type === "textarea") return {};
    try {
      new RegExp(pattern, "v");
      return { pattern };
    } catch {
      return {};
    }
  }
  function seconds(field) {
    const step = +(Before.getAttribute(field, "step") ?? "");
    if (!(step > 0) || step >= 60) return "";
    return step < 1 ? "(:[0-5][0-9](\\.[0-9]{1,3})?)?" : "(:[0-5][0-9])?";
  }
  function isMultiple(value, step) {
    const places = (n) => `${n}`.split(".")[1]?.length ?? 0;
    const scale = 10 ** Math.max(places(value), places(step));
    return Math.round(value * scale) % Math.round(step * scale) === 0;
  }
  function choices(fields) {
    const anyOf = [];
    const values = [];
    const add = (value, title, always) => {
      anyOf[anyOf.length] = { type: "string", const: value, ...(title || always) && { title } };
      values[values.length] = value;
    };
    if ("options" in fields[0]) {
      const { options } = fields[0];
      for (let i = 0; i < options.length; i++) add(options[i].value, options[i].textContent ?? "", true);
    } else {
      for (let i = 0; i < fields.length; i++) add(fields[i].value, labelOf(fields[i]), false);
    }
    return { anyOf, enum: values };
  }
  function valuesOf(fields) {
    const all = "options" in fields[0] ? fields[0].options : fields;
    const values = Before.create(null);
    for (let i = 0; i < all.length; i++) values[all[i].value] = true;
    return values;
  }
  function listOf(list) {
    const texts = Before.create(null);
    for (let i = 0; i < list.length; i++) texts[textOf(list[i]) ?? ""] = true;
    return texts;
  }
  function textOf(value) {
    return /^(string|number|boolean)$/.test(typeof value) ? `${value}` : void 0;
  }
  function truthOf(value) {
    if (typeof value === "number") return value % 1 === 0 ? value !== 0 : void 0;
    const text = `${textOf(value)}`.toLowerCase();
    if (text === "true" || text === "1") return true;
    return text === "false" || text === "0" ? false : void 0;
  }
  function isTaken(field, text) {
    if (field.type === "textarea") return true;
    const twin = Before.createElement(document, "input");
    twin.type = field.type;
    Before.setValue(twin, text);
    return twin.value !== "";
  }
  function check(field, checked) {
    if (field.checked !== checked) Before.click(field);
    else tell(field, false);
  }
  function tell(field, changed) {
    if (changed) Before.dispatchEvent(field, new Before.Event("input", { bubbles: true, composed: true }));
    Before.dispatchEvent(field, new Before.Event("change", { bubbles: true }));
  }
  var FormFields;
  var init_webmcpfields = __esm({
    "../../tabtransport/pagejs/webmcpfields.ts"() {
      init_webmcp();
      FormFields = class _FormFields {
        static #DATE = "[0-9]{4}-(0[1-9]|1[0-2])-[0-9]{2}";
        static #TIME = "([01][0-9]|2[0-3]):[0-5][0-9]";
        /** Types that can be made unchangeable. */
        static #READ_ONLY = /^(text|search|tel|url|email|password|textarea|date|month|week|time|datetime-local|number)$/;
        static #TEXT = /^(text|search|tel|url|email|password|textarea)$/;
        static #NUMBER = /^-?(\d+|\d*\.\d+)(e[-+]?\d+)?$/i;
        #form;
        /** All that have a name, in their order. */
        #named = Before.create(null);
        #button;
        constructor(form) {
          this.#form = form;
          const controls = Before.elementsOf(form);
          for (let i = 0; i < controls.length; i++) {
            const control = controls[i];
            const { type } = control;
            if (Before.matches(control, ":disabled")) continue;
            if (type === "submit") this.#button ??= control;
            if (Before.hasAttribute(control, "readonly") && _FormFields.#READ_ONLY.test(type)) continue;
            const named = this.#named[Before.getAttribute(control, "name") ?? ""] ??= [];
            named[named.length] = control;
          }
        }
        /** The button that submits the form. */
        get submitter() {
          if (this.#button) return this.#button;
          const images = Before.allInDocument(document, "input[type=image]");
          for (let i = 0; i < images.length; i++) if (images[i].form === this.#form && !Before.matches(images[i], ":disabled")) return images[i];
          return void 0;
        }
        // ---- Schema
        schema() {
          const properties = Before.create(null);
          const required = [];
          for (const name in this.#named) {
            const fields = this.#named[name];
            const schema = this.#property(fields);
            if (!schema) continue;
            properties[name] = schema;
            for (let i = 0; i < fields.length; i++) {
              if (required[required.length - 1] !== name && Before.hasAttribute(fields[i], "required")) required[required.length] = name;
            }
          }
          return { type: "object", properties, required };
        }
        /** What values there are for fields of one name; undefined if they are no parameter. */
        #property(fields) {
          const kind = _FormFields.#kind(fields);
          const [field] = [fields[0]];
          const description = fields.length === 1 ? describe(field) : describeGroup(field);
          const described = (schema, extra = "") => {
            const text = extra && description ? `${description} (${extra})` : extra || description;
            return text ? { ...schema, description: text } : schema;
          };
          switch (kind) {
            case "text":
              return described({ type: "string", ...patternOf(field) });
            case "date":
              return described({ type: "string", format: "date" }, "Dates MUST be provided in 'YYYY-MM-DD' format.");
            case "datetime-local":
              return described({ type: "string", format: `^${_FormFields.#DATE}T${_FormFields.#TIME}${seconds(field)}$` });
            case "month":
              return described({ type: "string", format: "^[0-9]{4}-(0[1-9]|1[0-2])$" });
            case "week":
              return described({ type: "string", format: "^[0-9]{4}-W(0[1-9]|[1-4][0-9]|5[0-3])$" });
            case "time":
              return described({ type: "string", format: `^${_FormFields.#TIME}${seconds(field)}$` });
            case "number":
              return described({ type: "number", ..._FormFields.#range(field, void 0, void 0), ...patternOf(field) });
            case "range":
              return described({ type: "number", ..._FormFields.#range(field, 0, 100) });
            case "color":
              return described({ type: "string", format: "^#[0-9a-zA-Z]{6}$" });
            case "checkbox":
              return described({ type: "boolean" });
            case "checkboxes":
            case "select-multiple":
              return described({ type: "array", items: { type: "string", ...choices(fields) }, uniqueItems: true });
            case "radio":
            case "select-one":
              return described({ type: "string", ...choices(fields) });
          }
          return void 0;
        }
        /**
         * @param fields of one name
         * @returns undefined if they are no parameter
         */
        static #kind(fields) {
          const { type } = fields[0];
          for (let i = 1; i < fields.length; i++) if (fields[i].type !== type) return void 0;
          if (type === "radio") return type;
          if (type === "checkbox") return fields.length === 1 ? type : "checkboxes";
          if (fields.length > 1) return void 0;
          if (_FormFields.#TEXT.test(type)) return "text";
          if (type === "hidden") return Before.getAttribute(fields[0], "toolparamdescription") ? "text" : void 0;
          return /^(date|datetime-local|month|week|time|number|range|color|select-one|select-multiple)$/.test(type) ? type : void 0;
        }
        static #range(field, least, most) {
          const minimum = _FormFields.#number(field, "min") ?? least;
          let maximum = _FormFields.#number(field, "max") ?? most;
          if (most !== void 0 && minimum !== void 0 && maximum !== void 0 && maximum < minimum) maximum = minimum;
          const given = _FormFields.#number(field, "step") ?? 0;
          const any = (Before.getAttribute(field, "step") ?? "").toLowerCase() === "any" && most === void 0;
          const step = given > 0 ? given : 1;
          const base = _FormFields.#number(field, "min") ?? _FormFields.#number(field, "value") ?? least ?? 0;
          return {
            ...minimum !== void 0 && { minimum },
            ...maximum !== void 0 && { maximum },
            ...!any && isMultiple(base, step) && { multipleOf: step }
          };
        }
        static #number(field, attribute) {
          const text = Before.getAttribute(field, attribute) ?? "";
          return _FormFields.#NUMBER.test(text) ? +text : void 0;
        }
        // ---- Filled in
        /**
         * Fills the form in, if all of the input fits.
         * @returns why it does not
         */
        fill(input, autosubmit) {
          if (typeof input !== "object" || input === null || Before.isArray(input)) return "JSON input arguments must be an object";
          if (!this.submitter && !autosubmit) {
            return "No submit button was found, but for a form without `toolautosubmit`, there must be a submit button";
          }
          const names = Before.keys(input);
          for (let i = 0; i < names.length; i++) {
            const name = names[i];
            const fields = this.#named[name];
            if (!fields) return `Input contains a parameter "${name}" but there is no such parameter for the tool`;
            if (_FormFields.#fits(fields, input[name])) continue;
            const text = textOf(input[name]);
            return text === void 0 ? `Invalid value for parameter ${name}` : `Invalid value "${text}" for parameter ${name}`;
          }
          for (let i = 0; i < names.length; i++) _FormFields.#set(this.#named[names[i]], input[names[i]]);
          return void 0;
        }
        static #fits(fields, value) {
          const kind = _FormFields.#kind(fields);
          const text = textOf(value);
          switch (kind) {
            case void 0:
              return false;
            case "checkbox":
              return truthOf(value) !== void 0;
            case "radio":
            case "select-one":
              return text !== void 0 && text in valuesOf(fields);
            case "checkboxes":
            case "select-multiple": {
              if (!Before.isArray(value)) return false;
              const left = valuesOf(fields);
              for (let i = 0; i < value.length; i++) {
                const one = textOf(value[i]);
                if (one === void 0 || !(one in left)) return false;
                delete left[one];
              }
              return true;
            }
            default:
              if (text === void 0) return false;
              return text === "" ? kind !== "number" && kind !== "range" : isTaken(fields[0], text);
          }
        }
        /** @param value one that fits */
        static #set(fields, value) {
          const field = fields[0];
          const text = textOf(value) ?? "";
          switch (_FormFields.#kind(fields)) {
            case "checkbox":
              check(field, truthOf(value) === true);
              break;
            case "checkboxes": {
              const wanted = listOf(value);
              for (let i = 0; i < fields.length; i++) check(fields[i], fields[i].value in wanted);
              break;
            }
            case "radio":
              for (let i = 0; i < fields.length; i++) if (fields[i].value === text) check(fields[i], true);
              break;
            case "select-one":
              if (field.value === text) break;
              Before.setSelected(field, text);
              tell(field, true);
              break;
            case "select-multiple": {
              const wanted = listOf(value);
              const { options } = field;
              let changed = false;
              for (let i = 0; i < options.length; i++) {
                const selected = options[i].value in wanted;
                changed ||= options[i].selected !== selected;
                options[i].selected = selected;
              }
              if (changed) tell(field, true);
              break;
            }
            default: {
              const before = field.value;
              if (field.type === "textarea") Before.setText(field, text);
              else Before.setValue(field, text);
              if (field.value !== before && field.type !== "hidden") tell(field, true);
            }
          }
        }
        /** What keeps the form from being submitted; "" if nothing does. */
        complaint() {
          let text = "";
          const controls = Before.elementsOf(this.#form);
          for (let i = 0; i < controls.length; i++) {
            const { willValidate, validity, validationMessage } = controls[i];
            if (willValidate && !validity.valid) text += `${Before.getAttribute(controls[i], "name") ?? ""}: ${validationMessage}. `;
          }
          return text && `Form validation failed: ${text}`;
        }
      };
    }
  });

  // ../../tabtransport/pagejs/webmcpidl.ts
  var Idl;
  var init_webmcpidl = __esm({
    "../../tabtransport/pagejs/webmcpidl.ts"() {
      init_webmcp();
      Idl = class _Idl {
        static string = (value) => `${value}`;
        static #scalars = (value) => `${value}`.toWellFormed();
        static tool = {
          type: "ModelContextTool",
          required: ["description", "execute", "name"],
          members: {
            annotations: (value) => _Idl.dictionary(_Idl.annotations, value ?? {}),
            description: _Idl.string,
            execute: _Idl.callback,
            inputSchema: _Idl.#object,
            name: _Idl.string,
            outputSchema: _Idl.#object,
            title: _Idl.#scalars
          }
        };
        static annotations = {
          type: "ToolAnnotations",
          required: [],
          members: { consequentialHint: Boolean, debugging: Boolean, readOnlyHint: Boolean, untrustedContentHint: Boolean }
        };
        static registeredTool = {
          type: "RegisteredTool",
          required: ["description", "name", "origin", "window"],
          members: {
            annotations: _Idl.tool.members.annotations,
            description: _Idl.string,
            inputSchema: _Idl.#object,
            name: _Idl.string,
            origin: _Idl.#scalars,
            title: _Idl.string,
            window: _Idl.#window
          }
        };
        static registerOptions = { type: "ModelContextRegisterToolOptions", required: [], members: { exposedTo: _Idl.#strings, signal: _Idl.#signal } };
        static getOptions = { type: "ModelContextGetToolOptions", required: [], members: { fromOrigins: _Idl.#strings } };
        static executeOptions = { type: "ExecuteToolOptions", required: [], members: { signal: _Idl.#signal } };
        static dictionary({ type, required, members }, given) {
          _Idl.#object(given, type);
          const taken = Before.create(null);
          const names = Before.keys(members);
          for (let i = 0; i < names.length; i++) {
            const name = names[i];
            const value = given[name];
            if (value !== void 0) taken[name] = members[name](value, name);
            else if (members === _Idl.annotations.members) taken[name] = false;
            else if (required.includes(name)) throw new TypeError(`${type}: ${name} is undefined`);
          }
          return taken;
        }
        /** The JSON of an object. */
        static json(value) {
          const text = Before.stringify(_Idl.#object(value, "input"));
          if (text === void 0) throw new TypeError("toJSON() returns undefined");
          return text;
        }
        /**
         * The origins of addresses, all of which the browser must trust.
         * @param list its name
         */
        static origins(addresses, list) {
          const origins = Before.create(null);
          for (let i = 0; i < addresses.length; i++) {
            const origin = _Idl.#origin(addresses[i]);
            if (!origin) throw new Before.DOMException(`Only secure origins are allowed in the ${list} list.`, "SecurityError");
            origins[origin] = true;
          }
          return origins;
        }
        static #origin(address) {
          try {
            const { origin, protocol } = new Before.URL(address);
            if (protocol === "file:") return "file://";
            const trusted = /^(https|wss|chrome-extension):|^(http|ws):\/\/(localhost|[^/]+\.localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/;
            return trusted.test(origin) ? origin : "";
          } catch {
            return "";
          }
        }
        static callback(value, name) {
          if (typeof value !== "function") throw new TypeError(`${name} is not a function`);
          return value;
        }
        static #object(value, name) {
          if (typeof value !== "object" && typeof value !== "function" || value === null) throw new TypeError(`${name} is not an object`);
          return value;
        }
        static #signal(value) {
          Before.aborted(value);
          return value;
        }
        static #window(value) {
          let itself = false;
          try {
            itself = value.window === value && typeof value.postMessage === "function";
          } catch {
          }
          if (!itself) throw new TypeError("not a window");
          return value;
        }
        static #strings(value, name) {
          if (typeof value !== "object" || typeof value?.[Symbol.iterator] !== "function") throw new TypeError(`${name} is not a list`);
          const strings = [];
          for (const one of value) strings[strings.length] = _Idl.#scalars(one);
          return strings;
        }
      };
    }
  });

  // ../../tabtransport/pagejs/webmcpframes.ts
  function told(outcome) {
    return "failed" in outcome ? { failed: outcome.failed } : outcome;
  }
  function post(to, message, origin, port) {
    to.postMessage({ tabhub: "webmcp", ...message }, origin, port ? [port] : []);
  }
  function askLeave(around, message, answered) {
    const { port1, port2 } = new Before.MessageChannel();
    port1.onmessage = ({ data }) => answered(data === true);
    post(around, message, "*", port2);
  }
  function framed(index) {
    return typeof index === "number" ? window[index] : void 0;
  }
  function each(at, visit) {
    visit(at);
    for (let i = 0; i < Before.framesIn(at); i++) each(at[i], visit);
  }
  function listed({ name, title, description, schema, output, annotations }) {
    return { name, title, description, schema, output, annotations };
  }
  function isSchema(schema) {
    return schema === void 0 || typeof schema === "object" && schema !== null;
  }
  function elementOf(child, within) {
    const elements = (within === document ? Before.allInDocument : Before.allInFragment)(within, "*");
    for (let i = 0; i < elements.length; i++) {
      const element = elements[i];
      if (element instanceof HTMLIFrameElement && Before.contentWindow(element) === child) return element;
      const shadow = Before.shadowOf(element);
      const found = shadow && elementOf(child, shadow);
      if (found) return found;
    }
    return void 0;
  }
  function delegates(frame, origin, same) {
    const directives = `${Before.getAttribute(frame, "allow") ?? ""}`.split(";");
    for (let i = 0; i < directives.length; i++) {
      const words = directives[i].trim().split(/\s+/);
      if (words[0].toLowerCase() !== "tools") continue;
      if (words.length === 1) return isSource(frame, origin, same);
      for (let j = 1; j < words.length; j++) {
        if (words[j] === "*" || words[j] === "'self'" && same || words[j] === "'src'" && isSource(frame, origin, same)) return true;
        if (Before.URL.canParse(words[j]) && new Before.URL(words[j]).origin === origin) return true;
      }
      return false;
    }
    return same;
  }
  function isSource(frame, origin, same) {
    if (same || origin === "null") return true;
    const src = Before.getAttribute(frame, "src") ?? "";
    return Before.URL.canParse(src, document.baseURI) && new Before.URL(src, document.baseURI).origin === origin;
  }
  var ToolFrames, FAILED;
  var init_webmcpframes = __esm({
    "../../tabtransport/pagejs/webmcpframes.ts"() {
      init_webmcp();
      init_webmcpidl();
      init_webmcpstub();
      ToolFrames = class _ToolFrames {
        /** For a document of another origin to answer, in ms. */
        static #TIMEOUT = 2e3;
        #tools;
        #makeTool;
        /** What was listed last, by the tool of a document here, or by its window and its text. */
        #listed = /* @__PURE__ */ new WeakMap();
        start;
        #permitted;
        /** Questions that documents have not answered, by id. */
        #asked = Before.create(null);
        /** Of the windows in this document; null for one that is not found. */
        #elements = /* @__PURE__ */ new WeakMap();
        /**
         * @param tools those of this document, once it has begun to use the API
         * @param start has it begin, so that its forms are found
         */
        constructor(tools, start, makeTool) {
          this.#tools = tools;
          this.start = start;
          this.#makeTool = makeTool;
        }
        /** Answers a document of the same origin that looks for this one's. */
        met(event) {
          Before.detailOf(event).frames = this;
        }
        /** Those of another window; undefined if it is of another origin. */
        static #of(other) {
          const met = {};
          try {
            Before.dispatchEvent(other, new Before.CustomEvent(MEET, { detail: met }));
          } catch {
          }
          return met.frames;
        }
        get tools() {
          return this.#tools();
        }
        // ---- Leave
        /** Whether the document may have tools and call some. */
        permitted() {
          this.#permitted ??= this.#ask();
          return this.#permitted;
        }
        #ask() {
          if (window === top) return true;
          const around = Before.frameElement(window);
          if (around) return delegates(around, self.origin, true) && (_ToolFrames.#of(window.parent)?.permitted() ?? true);
          return new Before.Promise((resolve) => {
            const settle = (permitted) => resolve(this.#permitted = permitted);
            askLeave(window.parent, { ask: "permitted" }, settle);
            Before.setTimeout(() => typeof this.#permitted === "boolean" || settle(false), _ToolFrames.#TIMEOUT);
          });
        }
        /**
         * Whether a document of another origin may ask anything.
         * @param origin its own
         */
        #mayAsk(other, origin) {
          const { parent } = other;
          if (other === top || !parent) return other === top;
          if (parent === window) return this.#lets(other, origin);
          let index = Before.framesIn(parent) - 1;
          while (index >= 0 && parent[index] !== other) index--;
          return new Before.Promise((resolve) => {
            askLeave(parent, { ask: "permitted", of: { index, origin } }, resolve);
            Before.setTimeout(() => resolve(false), _ToolFrames.#TIMEOUT);
          });
        }
        /**
         * Whether this document lets one in it use tools.
         * @param origin the child's
         */
        #lets(child, origin) {
          if (child?.parent !== window) return false;
          let element = this.#elements.get(child);
          if (element === void 0 || element && Before.contentWindow(element) !== child) {
            element = elementOf(child, document) ?? null;
            this.#elements.set(child, element);
          }
          return element !== null && delegates(element, origin, origin !== "null" && origin === self.origin) && this.permitted();
        }
        // ---- Listed
        /**
         * All tools that this document may see, its own and those of documents of its origin included.
         * @param origins of which others
         */
        async list(origins) {
          const all = [];
          const asked = [];
          let others = false;
          for (const _ in origins) others = true;
          each(top, (other) => {
            const frames = other === window ? this : _ToolFrames.#of(other);
            if (frames) this.#gather(all, frames.start().offered(), other, self.origin);
            else if (others) asked[asked.length] = this.#askTools(other, origins, all);
          });
          for (let i = 0; i < asked.length; i++) await asked[i];
          return all;
        }
        /**
         * Adds a document's tools to others, by their names.
         * @param tools of a document of another origin they may be anything
         */
        #gather(all, tools, owner, origin) {
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
         * @param now what this listing has of the window's
         * @returns undefined if it is none
         */
        #toolOf(tool, owner, origin, now) {
          const own = origin === self.origin;
          const text = own ? "" : Before.stringify([origin, listed(tool)]);
          const seen = this.#listed.get(own ? tool : owner)?.[text] ?? now[text] ?? this.#see(tool, owner, origin, own ? tool : void 0);
          if (own) this.#listed.set(tool, { [text]: seen });
          else now[text] = seen;
          return seen;
        }
        #see({ name, title, description, schema, output, annotations: hints }, owner, origin, of) {
          const inputSchema = schema === void 0 ? void 0 : Before.parse(schema);
          const outputSchema = output === void 0 ? void 0 : Before.parse(output);
          if (!isSchema(inputSchema) || !isSchema(outputSchema)) return void 0;
          const annotations = hints && { ...Idl.dictionary(Idl.annotations, hints) };
          return this.#makeTool({ name: `${name}`, title: `${title}`, description: `${description}`, inputSchema, outputSchema, annotations, origin, window: owner, of });
        }
        /** @param all the tools that are learnt of are added to these */
        #askTools(other, origins, all) {
          return new Before.Promise((resolve) => {
            const id = `${Before.random()}`;
            const done = () => {
              delete this.#asked[id];
              resolve(void 0);
            };
            this.#asked[id] = (source, origin, tools) => {
              if (source !== other) return;
              done();
              if (origins[origin] && Before.isArray(tools)) this.#gather(all, tools, other, origin);
            };
            Before.setTimeout(done, _ToolFrames.#TIMEOUT);
            post(other, { ask: "tools", id }, "*");
          });
        }
        /**
         * Tells the other documents that may see a tool that the tools have changed.
         * @param exposed to which other origins
         */
        changed(exposed) {
          each(top, (other) => {
            if (other === window) return;
            const frames = _ToolFrames.#of(other);
            if (frames) frames.tools?.changed();
            else for (const origin in exposed) post(other, { ask: "changed" }, origin);
          });
        }
        // ---- Run
        /**
         * Runs a tool of any document of the tab.
         * @param origin that the target must have
         * @param tool as of DocumentTools
         * @param input JSON
         * @param caller the one that the page gave
         */
        async run(target, origin, tool, input, signal, caller) {
          if (target.top !== top) return FAILED;
          const frames = target === window ? this : _ToolFrames.#of(target);
          if (!frames) return this.#runFar(target, origin, { ask: "run", name: tool.name, input }, signal);
          const { tools } = frames;
          if (!tools || origin !== self.origin) return FAILED;
          if (frames === this) return tools.run(tool, input, signal, { caller });
          return new Before.Promise((resolve) => {
            const controller = new Before.AbortController();
            Before.addEventListener(target, "pagehide", () => resolve(FAILED), { once: true });
            Before.addEventListener(window, "pagehide", () => controller.abort(), { once: true });
            Before.addEventListener(signal, "abort", () => controller.abort(), { once: true });
            void tools.run(tool, input, controller.signal).then(resolve);
          });
        }
        /** Uses up a token that a document of this origin in the tab has taken. */
        redeem(token) {
          let resumed;
          each(top, (other) => {
            const frames = other === window ? this : _ToolFrames.#of(other);
            const tokens = frames?.tools?.tokens;
            if (!tokens || !(token in tokens)) return;
            const held = resumed = tokens[token].redeem();
            if (frames !== this) Before.addEventListener(window, "pagehide", () => held.end(FAILED), { once: true });
          });
          return resumed;
        }
        #runFar(target, origin, message, signal) {
          return new Before.Promise((resolve) => {
            const { port1, port2 } = new Before.MessageChannel();
            let waits = true;
            Before.setTimeout(() => {
              if (!waits) return;
              Before.close(port1);
              resolve(FAILED);
            }, _ToolFrames.#TIMEOUT);
            port1.onmessage = ({ data }) => {
              if (!waits) return resolve(data);
              waits = false;
              Before.postMessage(port1, "run");
            };
            Before.addEventListener(port1, "close", () => resolve(FAILED));
            Before.addEventListener(signal, "abort", () => Before.postMessage(port1, "cancel"), { once: true });
            post(target, message, origin, port2);
          });
        }
        /** Takes what a document of another origin asks or says. */
        heard(event) {
          const message = Before.dataOf(event);
          const source = Before.sourceOf(event);
          const origin = Before.originOf(event);
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
        /** @param origin the child's */
        async #answer(child, origin, port) {
          Before.postMessage(port, await this.#lets(child, origin));
        }
        /** @param origin the other's */
        async #tell(other, origin, id) {
          const tools = [];
          const offered = this.tools?.offered(origin) ?? [];
          const may = offered.length > 0 && await this.#mayAsk(other, origin);
          for (let i = 0; may && i < offered.length; i++) tools[i] = listed(offered[i]);
          post(other, { ask: "told", id, tools }, origin);
        }
        /** @param origin the other's */
        async #runFor(other, origin, { name, input }, port) {
          const controller = new Before.AbortController();
          const tools = await this.#mayAsk(other, origin) ? this.tools : void 0;
          port.onmessage = async ({ data }) => {
            if (data === "cancel") controller.abort();
            else Before.postMessage(port, told(await tools?.run({ name }, input, controller.signal, { origin }) ?? FAILED));
          };
          Before.addEventListener(port, "close", () => controller.abort());
          Before.postMessage(port, "ready");
        }
      };
      FAILED = { failed: "The operation failed for an unknown transient reason (e.g. out of memory)." };
    }
  });

  // ../../tabtransport/pagejs/webmcpinvocation.ts
  function randomToken() {
    const bytes = Before.getRandomValues(new Before.Uint8Array(16));
    let token = "";
    for (let i = 0; i < 16; i++) token += `${i ? "-" : ""}${bytes[i]}`;
    return token;
  }
  var Invocation;
  var init_webmcpinvocation = __esm({
    "../../tabtransport/pagejs/webmcpinvocation.ts"() {
      init_webmcp();
      init_webmcptools();
      Invocation = class _Invocation {
        /** How long a token is good for, in ms. */
        static #LIFETIME = 6e4;
        static #UNRESUMED = { failed: "The tool asked for a token to go on in another document, and none has resumed it in time" };
        #tools;
        #call;
        #running = true;
        #token = "";
        /** Whether a document has resumed the call. */
        #resumed = false;
        #goOn = () => {
        };
        /** What the documents that have resumed the call come to; undefined if none does. */
        #rest;
        #part;
        constructor(tools, call) {
          this.#tools = tools;
          this.#call = call;
          Before.addEventListener(call.signal, "abort", () => this.#void(), { once: true });
        }
        /** Runs the callback, and waits for what follows it. */
        async run(callback) {
          this.#part = this.#runOnce(callback);
          const outcome = await this.#part;
          this.#running = false;
          if ("failed" in outcome) {
            this.#void();
            return outcome;
          }
          const rest = this.#rest;
          return await rest ?? (rest && outcome.text === "undefined" ? _Invocation.#UNRESUMED : outcome);
        }
        async #runOnce(callback) {
          const { name, input, signal } = this.#call;
          const value = Before.parse(input);
          if (typeof value !== "object" || value === null) return { failed: "Failed to parse input arguments" };
          const invocation = this.#tools.owner.handle(this);
          const requestUserInput = (request, interact) => this.ask(request, interact);
          try {
            return { text: DocumentTools.text(await Before.apply(callback, void 0, [value, { signal, invocation, requestUserInput }])) || "Operation succeeded" };
          } catch (error) {
            if (name !== void 0) this.#tools.owner.threw(name, input, error);
            return { failed: "Tool was executed but the invocation failed. For example, the script function threw an error", error };
          }
        }
        /** Takes a token for the next document. */
        async take() {
          if (!this.#running || this.#resumed || Before.aborted(this.#call.signal) || Before.viewOf(document) === null) {
            throw new Before.DOMException("The tool does not run here any more.", "InvalidStateError");
          }
          this.#void();
          const token = randomToken();
          this.#token = token;
          this.#rest = new Before.Promise((resolve) => this.#goOn = resolve);
          this.#tools.tokens[token] = this;
          Before.setTimeout(() => token === this.#token && this.#void(), _Invocation.#LIFETIME);
          const { caller } = this.#call;
          try {
            if (caller && !await this.#tools.owner.took(caller, token)) this.#call = { ...this.#call, caller: void 0 };
          } catch (error) {
            if (token === this.#token) {
              this.#void();
              this.#rest = void 0;
            }
            throw error;
          }
          return token;
        }
        #void() {
          if (!this.#token) return;
          delete this.#tools.tokens[this.#token];
          this.#token = "";
          this.#goOn(void 0);
        }
        /** Uses the token up. */
        redeem() {
          delete this.#tools.tokens[this.#token];
          this.#token = "";
          this.#resumed = true;
          return { ...this.#call, before: this.#part, end: this.#goOn };
        }
        /** Asks the person whose agent has called the tool. */
        async ask(request, interact) {
          const { caller } = this.#call;
          if (!this.#running) throw new Before.DOMException("The tool does not run here any more.", "InvalidStateError");
          if (!caller) throw new Before.DOMException("The tool's caller cannot be asked.", "NotSupportedError");
          return this.#tools.owner.ask(caller, request, interact);
        }
      };
    }
  });

  // ../../tabtransport/pagejs/webmcptools.ts
  var DocumentTools;
  var init_webmcptools = __esm({
    "../../tabtransport/pagejs/webmcptools.ts"() {
      init_webmcp();
      init_webmcpforms();
      init_webmcpframes();
      init_webmcpidl();
      init_webmcpinvocation();
      DocumentTools = class _DocumentTools {
        /** By name. */
        #tools = Before.create(null);
        #tasks;
        #queue = [];
        #fire;
        owner;
        /** The calls that may go on elsewhere, by their tokens. */
        tokens = Before.create(null);
        frames;
        forms;
        /** @param owner fire tells the page, handle makes what a tool gets of its call */
        constructor(frames, owner) {
          this.frames = frames;
          this.owner = owner;
          this.#fire = owner.fire;
          this.forms = new ToolForms(this);
        }
        /**
         * Runs something soon and in turn, as the browser runs what comes from elsewhere. A timer would
         * wait for a second in a page that is out of sight.
         */
        later(task) {
          if (!this.#tasks) {
            this.#tasks = new Before.MessageChannel();
            this.#tasks.port1.onmessage = () => Before.shift(this.#queue)();
          }
          this.#queue[this.#queue.length] = task;
          Before.postMessage(this.#tasks.port2, 0);
        }
        // ---- Registered
        register({ name, title = "", description, inputSchema, outputSchema, annotations, execute }, { signal, exposedTo = [] }) {
          this.forms.settle();
          if (this.has(name)) throw new Before.DOMException("Duplicate tool name", "InvalidStateError");
          if (!_DocumentTools.isName(name)) throw new Before.DOMException("Invalid tool name", "InvalidStateError");
          if (description === "") throw new Before.DOMException("Description is required", "InvalidStateError");
          const schema = inputSchema && Idl.json(inputSchema);
          const output = outputSchema && Idl.json(outputSchema);
          if (signal && Before.aborted(signal)) throw Before.reason(signal);
          const exposed = Idl.origins(exposedTo, "exposedTo");
          const run = (input, signal2, caller) => new Invocation(this, { name, input, signal: signal2, caller }).run(execute);
          const tool = { name, title, description, schema, output, annotations, exposed, run };
          return new Before.Promise((resolve, reject) => {
            const abort = () => {
              if (this.#tools[name] === tool) this.remove(name);
              reject(Before.reason(signal));
            };
            if (signal) Before.addEventListener(signal, "abort", abort, { once: true });
            this.add(tool);
            this.later(() => resolve(void 0));
          });
        }
        static isName(name) {
          return /^[A-Za-z0-9_.-]{1,128}$/.test(name);
        }
        has(name) {
          return name in this.#tools;
        }
        add(tool) {
          this.#tools[tool.name] = tool;
          this.#tell(tool);
        }
        remove(name) {
          const tool = this.#tools[name];
          delete this.#tools[name];
          this.#tell(tool);
        }
        /** Tells all documents that may see a tool that the tools have changed. */
        #tell({ exposed }) {
          this.owner.changed();
          this.later(() => {
            this.changed();
            this.frames.changed(exposed);
          });
        }
        /** Tells this document's page that the tools that it may see have changed. */
        changed() {
          this.#fire("toolchange");
        }
        // ---- Listed
        /** All tools that the page may see. */
        list(fromOrigins = []) {
          const origins = Idl.origins(fromOrigins, "fromOrigins");
          this.forms.settle();
          return new Before.Promise((resolve) => this.later(() => resolve(this.frames.list(origins))));
        }
        /**
         * The document's own tools that a document of another origin may see, or one of its own.
         * @param origin the other
         */
        offered(origin) {
          const offered = [];
          for (const name in this.#tools) {
            if (this.#isOffered(name, origin)) offered[offered.length] = this.#tools[name];
          }
          return offered;
        }
        #isOffered(name, origin) {
          return this.has(name) && (origin === void 0 || this.#tools[name].exposed[origin] === true);
        }
        // ---- Run
        /**
         * Runs a tool of any document that the page may see.
         * @param value its input
         */
        call({ name, window: target, origin, of }, value, signal) {
          const expected = Before.URL.canParse(origin) ? new Before.URL(origin).origin : "";
          if (!expected) throw new Before.DOMException("The provided origin is invalid.", "NotSupportedError");
          if (expected === "null") {
            throw new Before.DOMException("Cannot execute tools that live in a document with an opaque origin.", "NotSupportedError");
          }
          const input = Idl.json(value);
          if (!target.parent) throw new Before.DOMException("Target frame is detached.", "InvalidStateError");
          if (signal && Before.aborted(signal)) throw Before.reason(signal);
          return new Before.Promise((resolve, reject) => {
            const controller = new Before.AbortController();
            const abort = () => {
              reject(Before.reason(signal));
              this.later(() => controller.abort());
            };
            if (signal) Before.addEventListener(signal, "abort", abort, { once: true });
            this.later(async () => {
              const outcome = await this.frames.run(target, expected, { name, of }, input, controller.signal, signal);
              if (signal) Before.removeEventListener(signal, "abort", abort);
              if ("text" in outcome) resolve(outcome.text);
              else reject(new Before.DOMException(outcome.failed, "UnknownError"));
            });
          });
        }
        /**
         * Runs a tool of this document.
         * @param tool of is the one that is meant, if not any of that name
         * @param input JSON
         * @param by the origin of the document that asks, if it is another; else the signal that its page gave
         */
        async run({ name, of }, input, signal, { origin, caller } = {}) {
          if (!this.#isOffered(name, origin) || of && this.#tools[name] !== of) return FAILED;
          const controller = new Before.AbortController();
          const cancel = () => {
            controller.abort();
            this.#fire("toolcancel", name);
          };
          Before.addEventListener(signal, "abort", cancel, { once: true });
          const running = this.#tools[name].run(input, controller.signal, caller);
          this.#fire("toolactivated", name);
          const outcome = await running;
          Before.removeEventListener(signal, "abort", cancel);
          return outcome;
        }
        /** Resumes a call that has taken a token, in this document. */
        async resume(token, callback) {
          const { owner } = this;
          const held = this.frames.redeem(token);
          const resumed = !held ? await owner.resume(token) : !held.caller || await owner.release(token) ? held : void 0;
          if (!resumed) {
            held?.end({ failed: "The call was over when it was to go on" });
            const why = "The token is unknown, too old, or used already, or was taken in a document of another origin or tab.";
            throw new Before.DOMException(why, "InvalidStateError");
          }
          this.later(async () => {
            const before = await resumed.before;
            if (before && "failed" in before) return;
            const cancelled = Before.aborted(resumed.signal);
            resumed.end(cancelled ? { failed: "The call was cancelled before it went on" } : await new Invocation(this, resumed).run(callback));
          });
        }
        /** The text of what a tool has returned. */
        static text(value) {
          return `${typeof value === "object" && value !== null || typeof value === "function" ? Before.stringify(value) : value}`;
        }
      };
    }
  });

  // ../../tabtransport/pagejs/webmcpforms.ts
  function matters({ type, addedNodes, removedNodes }) {
    if (type === "attributes") return true;
    for (let i = 0; i < addedNodes.length; i++) if (addedNodes[i].nodeType === 1) return true;
    for (let i = 0; i < removedNodes.length; i++) if (removedNodes[i].nodeType === 1) return true;
    return false;
  }
  function extendSubmitEvents(forms, place) {
    const members = {
      get agentInvoked() {
        const event = this;
        Before.submitterOf(event);
        return forms()?.isInvoked(event) ?? false;
      },
      respondWith(response) {
        const event = this;
        Before.submitterOf(event);
        const refuse = (why) => new Before.DOMException(why, "InvalidStateError");
        if (!arguments.length) throw new TypeError("respondWith needs an answer");
        if (!forms()?.isInvoked(event)) throw refuse("You can only call respondWith on an submit event that has agentInvoked == true.");
        if (!Before.preventedOf(event)) throw refuse("To call respondWith, you must first call preventDefault.");
        if (!forms()?.awaits(event)) throw refuse("To call respondWith, the event must be currently being dispatched.");
        forms()?.respond(event, (async () => response)());
      }
    };
    for (const name of ["agentInvoked", "respondWith"]) {
      const member = Before.getOwnPropertyDescriptor(members, name);
      place(SubmitEvent.prototype, name, member);
    }
  }
  var ToolForms;
  var init_webmcpforms = __esm({
    "../../tabtransport/pagejs/webmcpforms.ts"() {
      init_webmcp();
      init_webmcpfields();
      init_webmcpframes();
      init_webmcptools();
      ToolForms = class _ToolForms {
        static #SELECTOR = "form[toolname][tooldescription]";
        /** Elements of this name in another namespace are no forms. */
        static #HTML = "http://www.w3.org/1999/xhtml";
        /** What a tool is made of, beside its elements. */
        static #ATTRIBUTES = ["toolname", "tooldescription", "tooltitle", "toolautosubmit", "toolparamdescription"].concat(
          ["name", "type", "required", "pattern", "min", "max", "step", "value", "multiple", "disabled", "readonly"],
          ["form", "for", "id", "aria-description"]
        );
        /** Looking takes this part of the page's time at most, also where all of it changes all the time. */
        static #SHARE = 1 / 20;
        static #CHANGED = "Tool execution cancelled, since tool definition was updated";
        #tools;
        #observer;
        #known = /* @__PURE__ */ new Map();
        #calls = /* @__PURE__ */ new Map();
        /** Submit events of calls. */
        #invoked = /* @__PURE__ */ new WeakSet();
        #looking = false;
        /** When to look again at the earliest, as performance.now() has it. */
        #rests = 0;
        #watching = false;
        constructor(tools) {
          this.#tools = tools;
          this.#observer = new Before.MutationObserver((records) => this.#see(records));
          Before.observe(this.#observer, document, { childList: true, subtree: true, attributeFilter: _ToolForms.#ATTRIBUTES });
          this.#look();
        }
        // ---- Found
        /** Takes in what the page has done with its forms so far, before it is answered. */
        settle() {
          this.#see(Before.takeRecords(this.#observer));
        }
        #see(records) {
          for (let i = 0; i < records.length; i++) if (matters(records[i])) return this.#changed();
        }
        /** What is no tool any more goes at once; what is new, or says something else, comes in a moment. */
        #changed() {
          this.#known.forEach((known) => {
            const { form } = known;
            if (Before.connected(form) && Before.hasAttribute(form, "toolname") && Before.hasAttribute(form, "tooldescription")) return;
            this.#drop(known);
          });
          this.#look();
        }
        #look() {
          if (this.#looking) return;
          this.#looking = true;
          const look = () => {
            this.#looking = false;
            const began = Before.now();
            this.#takeAll();
            const over = Before.now();
            this.#rests = over + (over - began) / _ToolForms.#SHARE;
          };
          const left = this.#rests - Before.now();
          if (left > 0) Before.setTimeout(look, left);
          else this.#tools.later(look);
        }
        #takeAll() {
          const forms = Before.allInDocument(document, _ToolForms.#SELECTOR);
          const permitted = forms.length > 0 && this.#tools.frames.permitted();
          if (permitted instanceof Before.Promise) void permitted.then(() => this.#look());
          else if (permitted) {
            for (let i = 0; i < forms.length; i++) if (Before.namespaceOf(forms[i]) === _ToolForms.#HTML) this.#take(forms[i]);
          }
        }
        #take(form) {
          const attribute = (name2) => Before.getAttribute(form, name2) ?? "";
          const name = attribute("toolname");
          const title = attribute("tooltitle");
          const description = attribute("tooldescription");
          const schema = Before.stringify(new FormFields(form).schema());
          const text = Before.stringify([name, title, description, Before.hasAttribute(form, "toolautosubmit"), schema]);
          const known = this.#known.get(form);
          if (known?.text === text) return;
          if (known) this.#drop(known);
          const offered = DocumentTools.isName(name) && !this.#tools.has(name);
          this.#known.set(form, { form, name, text, offered });
          if (!offered) return;
          const run = (input, signal) => this.#run(form, input, signal);
          this.#tools.add({ name, title, description, schema, exposed: Before.create(null), run });
        }
        #drop({ form, name, offered }) {
          this.#known.delete(form);
          const call = this.#calls.get(form);
          if (call && !call.submitting) call.end({ failed: _ToolForms.#CHANGED });
          if (offered) this.#tools.remove(name);
        }
        // ---- Run
        #run(form, input, signal) {
          return new Before.Promise((resolve) => {
            const fields = new FormFields(form);
            const autosubmit = Before.hasAttribute(form, "toolautosubmit");
            const failed = fields.fill(Before.parse(input), autosubmit);
            if (failed) {
              resolve({ failed });
              return;
            }
            this.#calls.get(form)?.end({ failed: "Tool execution cancelled, since the tool was called again" });
            const call = {
              end: (outcome) => {
                if (this.#calls.get(form) === call) this.#calls.delete(form);
                resolve(outcome);
              },
              submitting: false,
              submitted: false
            };
            this.#calls.set(form, call);
            this.#watch();
            Before.addEventListener(signal, "abort", () => call.end(FAILED), { once: true });
            if (autosubmit) this.#submit(form, call, fields.submitter);
            else Before.focus(fields.submitter);
          });
        }
        #submit(form, call, submitter) {
          Before.requestSubmit(form, submitter);
          if (call.submitting) return;
          const failed = Before.connected(form) ? new FormFields(form).complaint() : _ToolForms.#CHANGED;
          call.end(failed ? { failed } : { text: null });
        }
        /** Watches what becomes of forms, from the first call of one on. */
        #watch() {
          if (this.#watching) return;
          this.#watching = true;
          Before.addEventListener(window, "submit", (event) => {
            const call = this.isInvoked(event) && this.#calls.get(Before.targetOf(event));
            if (!call || call.submitting) return;
            call.submitting = true;
            call.asked = event;
            Before.setTimeout(() => call.asked = void 0);
            this.#tools.later(() => this.#answer(call, event));
          }, true);
          Before.addEventListener(window, "reset", (event) => {
            const call = this.#calls.get(Before.targetOf(event));
            this.#tools.later(() => Before.preventedOf(event) || call?.end({ failed: "Tool execution cancelled by a form reset" }));
          }, true);
          const { submit } = HTMLFormElement.prototype;
          const calls = this.#calls;
          const watched = new Proxy(submit, {
            apply(_, form, given) {
              const call = calls.get(form);
              Before.apply(submit, form, given);
              if (call?.submitting) call.submitted = true;
              else call?.end({ text: null });
            }
          });
          Before.defineProperty(HTMLFormElement.prototype, "submit", { value: watched, writable: true, enumerable: true, configurable: true });
        }
        /** Ends a call whose form was submitted, or will be, or was kept from it by the page. */
        async #answer(call, event) {
          const { response, submitted } = call;
          call.asked = void 0;
          if (response) {
            let value;
            try {
              value = await response;
            } catch (error) {
              reportError(error);
              call.end({ failed: "respondWith promise was rejected" });
              return;
            }
            try {
              call.end({ text: DocumentTools.text(value) });
            } catch {
              call.end({ failed: "respondWith promise resolved with an object that could not be serialized to JSON" });
            }
          } else if (submitted || !Before.preventedOf(event)) {
            call.end({ text: null });
          } else {
            const failed = "The site has a programming error: it called preventDefault() on the 'submit' event, without also calling respondWith() with the tool result";
            call.end({ failed });
          }
        }
        /** Whether a submit event is of a call. */
        isInvoked(event) {
          if (this.#invoked.has(event)) return true;
          const running = event.isTrusted && event.type === "submit" && Before.phaseOf(event) !== 0 && this.#calls.has(Before.targetOf(event));
          if (running) this.#invoked.add(event);
          return running;
        }
        /**
         * Whether the page may still answer a submit event of a call. While the browser runs a page's
         * listener from no script, what the listener awaits goes on before the event is over.
         */
        awaits(event) {
          return Before.phaseOf(event) !== 0 || this.#calls.get(Before.targetOf(event))?.asked === event;
        }
        respond(event, response) {
          const call = this.#calls.get(Before.targetOf(event));
          if (call) call.response = response;
        }
      };
    }
  });

  // ../../tabtransport/pagejs/webmcp.ts
  var webmcp_exports = {};
  __export(webmcp_exports, {
    Before: () => Before,
    makeWebMCP: () => makeWebMCP
  });
  function makeWebMCP(owner, place) {
    const { apply, defineProperty } = Before;
    let making;
    let tools;
    const contexts = /* @__PURE__ */ new WeakMap();
    class ModelContext extends EventTarget {
      /** Undefined in a document that is in no window. */
      #tools;
      /** By event types. */
      #handlers = Before.create(null);
      constructor() {
        if (!making) throw new TypeError("pages make no ModelContext");
        super();
        this.#tools = making.tools;
      }
      /**
       * Does something with the document's tools: at once, as the browser's own, unless it is not known
       * yet whether the document may have some.
       */
      static #with(context, work) {
        const tools2 = context.#tools;
        if (!tools2 || Before.viewOf(document) === null) throw new Before.DOMException("The document is not active.", "InvalidStateError");
        if (!Before.keyed) throw new Before.DOMException("document.modelContext cannot be used when document.domain is enabled.", "SecurityError");
        const permitted = tools2.frames.permitted();
        return permitted instanceof Before.Promise ? ModelContext.#later(permitted, tools2, work) : ModelContext.#now(permitted, tools2, work);
      }
      static #now(permitted, tools2, work) {
        if (!permitted) throw new Before.DOMException('Access to the feature "tools" is disallowed by permissions policy.', "NotAllowedError");
        return work(tools2);
      }
      static async #later(permitted, tools2, work) {
        return ModelContext.#now(await permitted, tools2, work);
      }
      async registerTool(tool) {
        checkContext(#tools in this);
        const given = Idl.dictionary(Idl.tool, tool);
        const options = Idl.dictionary(Idl.registerOptions, arguments[1] ?? {});
        return ModelContext.#with(this, (tools2) => tools2.register(given, options));
      }
      async getTools() {
        checkContext(#tools in this);
        const options = Idl.dictionary(Idl.getOptions, arguments[0] ?? {});
        return ModelContext.#with(this, (tools2) => tools2.list(options.fromOrigins));
      }
      /** @param tool one that getTools has given, or as that was until Chromium 160 a dictionary */
      async executeTool(tool) {
        checkContext(#tools in this);
        const given = seenOf(tool) ?? Idl.dictionary(Idl.registeredTool, tool);
        const options = Idl.dictionary(Idl.executeOptions, arguments[2] ?? {});
        const input = arguments[1] === void 0 ? {} : arguments[1];
        return ModelContext.#with(this, (tools2) => tools2.call(given, input, options.signal));
      }
      async resumeTool(token, callback) {
        checkContext(#tools in this);
        const given = Idl.string(token);
        Idl.callback(callback, "callback");
        return ModelContext.#with(this, (tools2) => tools2.resume(given, callback));
      }
      static {
        for (const type of ["toolchange", "toolactivated", "toolcancel"]) {
          const name = `on${type}`;
          const handler = {
            get [name]() {
              const context = this;
              return context.#handlers[type] ?? null;
            },
            set [name](handler2) {
              const context = this;
              context.#handle(type, handler2);
            }
          };
          defineProperty(this.prototype, name, Before.getOwnPropertyDescriptor(handler, name));
        }
      }
      #handle(type, handler) {
        if (!(type in this.#handlers)) {
          Before.addEventListener(this, type, (event) => {
            const handler2 = this.#handlers[type];
            if (typeof handler2 === "function") apply(handler2, this, [event]);
          });
        }
        this.#handlers[type] = typeof handler === "function" || typeof handler === "object" ? handler : null;
      }
    }
    let seenOf;
    class Tool {
      #seen;
      constructor() {
        if (!making) throw new TypeError("pages make no Tool");
        this.#seen = making;
      }
      static {
        seenOf = (tool) => typeof tool === "object" && tool !== null && #seen in tool ? tool.#seen : void 0;
      }
      get source() {
        return this.#seen.window;
      }
      get name() {
        return this.#seen.name;
      }
      get title() {
        return this.#seen.title;
      }
      get description() {
        return this.#seen.description;
      }
      get inputSchema() {
        return this.#seen.inputSchema ?? null;
      }
      get outputSchema() {
        return this.#seen.outputSchema ?? null;
      }
      get annotations() {
        return this.#seen.annotations ?? null;
      }
      get origin() {
        return this.#seen.origin;
      }
      get window() {
        return this.#seen.window;
      }
    }
    class ModelContextToolInvocation {
      #of;
      constructor() {
        if (!making) throw new TypeError("pages make no ModelContextToolInvocation");
        this.#of = making;
      }
      async requestToken() {
        return this.#of.take();
      }
      async requestUserInput(request) {
        return this.#of.ask(request, arguments[1]);
      }
    }
    function made(interfaced, of) {
      making = of;
      const object = new interfaced();
      making = void 0;
      return object;
    }
    const ToolActivatedEvent = toolEvent("ToolActivatedEvent");
    const ToolCancelEvent = toolEvent("ToolCancelEvent");
    function contextOf2(of) {
      const view = Before.viewOf(of);
      if (view && view !== window) return of.modelContext;
      let context = contexts.get(of);
      if (!context) {
        context = made(ModelContext, { tools: of === document ? start() : void 0 });
        contexts.set(of, context);
      }
      return context;
    }
    function fire(type, toolName) {
      const made2 = {
        toolchange: () => new Before.Event(type),
        toolactivated: () => new ToolActivatedEvent(type, { toolName }),
        toolcancel: () => new ToolCancelEvent(type, { toolName })
      };
      Before.dispatchEvent(contextOf2(document), made2[type]());
    }
    const frames = new ToolFrames(() => tools, start, (seen) => made(Tool, seen));
    function start() {
      tools ??= new DocumentTools(frames, { ...owner, fire, handle: (invocation) => made(ModelContextToolInvocation, invocation) });
      return tools;
    }
    for (const one of [ModelContext, ToolActivatedEvent, ToolCancelEvent]) expose(one, place);
    for (const one of [Tool, ModelContextToolInvocation]) expose(one, (object, name, value) => name in object || defineProperty(object, name, value));
    extendSubmitEvents(() => tools?.forms, place);
    const attribute = {
      get modelContext() {
        return contextOf2(this);
      },
      // The browser's cannot be set. A page that brings its own without looking works in a browser without
      // WebMCP, and is to go on working there.
      set modelContext(value) {
        Before.viewOf(this);
        defineProperty(this, "modelContext", { value, writable: true, enumerable: true, configurable: true });
      }
    };
    const accessor = Before.getOwnPropertyDescriptor(attribute, "modelContext");
    place(Document.prototype, "modelContext", accessor);
    return { context: () => contextOf2(document), start, frames };
  }
  function toolEvent(name) {
    const { [name]: made } = {
      [name]: class extends Event {
        #toolName;
        constructor(type) {
          if (!arguments.length) throw new TypeError(`${name} needs a type`);
          super(type, arguments[1]);
          const { toolName = "" } = arguments[1] ?? {};
          this.#toolName = `${toolName}`;
        }
        get toolName() {
          return this.#toolName;
        }
      }
    };
    return made;
  }
  function expose(made, place) {
    const { prototype, name } = made;
    for (const key of Reflect.ownKeys(prototype)) {
      const property = Before.getOwnPropertyDescriptor(prototype, key);
      property.enumerable = key !== "constructor";
      Before.defineProperty(prototype, key, property);
    }
    Before.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
    place(window, name, { value: made, writable: true, enumerable: false, configurable: true });
  }
  function checkContext(its) {
    if (!its) throw new TypeError("not called on a ModelContext");
  }
  var Before;
  var init_webmcp = __esm({
    "../../tabtransport/pagejs/webmcp.ts"() {
      init_webmcpforms();
      init_webmcpframes();
      init_webmcpidl();
      init_webmcptools();
      Before = (() => {
        const { call } = Function.prototype;
        const method = (taken) => call.bind(taken);
        const getter = (prototype, name) => method(Object.getOwnPropertyDescriptor(prototype, name)?.get);
        const setter = (prototype, name) => method(Object.getOwnPropertyDescriptor(prototype, name)?.set);
        return {
          AbortController,
          CustomEvent,
          DOMException,
          Event,
          MessageChannel,
          MutationObserver,
          Promise,
          URL,
          Uint8Array,
          getRandomValues: crypto.getRandomValues.bind(crypto),
          apply: Reflect.apply,
          create: Object.create,
          defineProperty: Object.defineProperty,
          getOwnPropertyDescriptor: Object.getOwnPropertyDescriptor,
          hasOwn: Object.hasOwn,
          isArray: Array.isArray,
          keys: Object.keys,
          now: performance.now.bind(performance),
          parse: JSON.parse,
          random: Math.random,
          setTimeout: window.setTimeout.bind(window),
          shift: method(Array.prototype.shift),
          stringify: JSON.stringify,
          /** Whether no other document can share the document's origin by document.domain; of no account where the browser itself has no API. Firefox says false of all. */
          keyed: window.originAgentCluster !== false || !("userAgentData" in navigator) || location.protocol === "file:" || !isSecureContext,
          // Windows, documents, events, messages.
          framesIn: getter(window, "length"),
          frameElement: getter(window, "frameElement"),
          viewOf: getter(Document.prototype, "defaultView"),
          createElement: method(Document.prototype.createElement),
          allInDocument: method(Document.prototype.querySelectorAll),
          allInFragment: method(DocumentFragment.prototype.querySelectorAll),
          observe: method(MutationObserver.prototype.observe),
          takeRecords: method(MutationObserver.prototype.takeRecords),
          addEventListener: method(EventTarget.prototype.addEventListener),
          removeEventListener: method(EventTarget.prototype.removeEventListener),
          dispatchEvent: method(EventTarget.prototype.dispatchEvent),
          targetOf: getter(Event.prototype, "target"),
          phaseOf: getter(Event.prototype, "eventPhase"),
          preventedOf: getter(Event.prototype, "defaultPrevented"),
          submitterOf: getter(SubmitEvent.prototype, "submitter"),
          detailOf: getter(CustomEvent.prototype, "detail"),
          dataOf: getter(MessageEvent.prototype, "data"),
          sourceOf: getter(MessageEvent.prototype, "source"),
          originOf: getter(MessageEvent.prototype, "origin"),
          portsOf: getter(MessageEvent.prototype, "ports"),
          postMessage: method(MessagePort.prototype.postMessage),
          close: method(MessagePort.prototype.close),
          aborted: getter(AbortSignal.prototype, "aborted"),
          reason: getter(AbortSignal.prototype, "reason"),
          // Elements: the names of a form's fields hide what the form itself has.
          connected: getter(Node.prototype, "isConnected"),
          shadowOf: getter(Element.prototype, "shadowRoot"),
          namespaceOf: getter(Element.prototype, "namespaceURI"),
          matches: method(Element.prototype.matches),
          closest: method(Element.prototype.closest),
          getAttribute: method(Element.prototype.getAttribute),
          hasAttribute: method(Element.prototype.hasAttribute),
          contentWindow: getter(HTMLIFrameElement.prototype, "contentWindow"),
          click: method(HTMLElement.prototype.click),
          focus: method(HTMLElement.prototype.focus),
          elementsOf: getter(HTMLFormElement.prototype, "elements"),
          requestSubmit: method(HTMLFormElement.prototype.requestSubmit),
          // A library that follows a field's value has put a setter of its own before these.
          setValue: setter(HTMLInputElement.prototype, "value"),
          setText: setter(HTMLTextAreaElement.prototype, "value"),
          setSelected: setter(HTMLSelectElement.prototype, "value")
        };
      })();
    }
  });

  // ../../tabtransport/pagejs/webmcpstub.ts
  function offerWebMCP(owner) {
    const { apply } = Reflect;
    const { defineProperty, getOwnPropertyDescriptor } = Object;
    let made;
    const getters = [];
    const stubs = {};
    const parts = {};
    function make() {
      return made ??= (init_webmcp(), __toCommonJS(webmcp_exports)).makeWebMCP(owner, place);
    }
    function place(object, name, part) {
      parts[name] = part;
      if (getOwnPropertyDescriptor(object, name)?.get !== stubs[name]) return;
      defineProperty(object, name, part);
      if (name === "modelContext" && part.get) getters[getters.length] = part.get;
    }
    function stub(object, name, enumerable) {
      const stands = {
        get [name]() {
          make();
          const { get: get2, value } = parts[name];
          return get2 ? apply(get2, this, []) : value;
        },
        set [name](value) {
          make();
          const part = parts[name];
          if (part.set) apply(part.set, this, [value]);
          else if (!part.get) defineProperty(this, name, { ...part, value });
        }
      };
      const { get, set } = getOwnPropertyDescriptor(stands, name);
      stubs[name] = get;
      defineProperty(object, name, { get, set, enumerable, configurable: true });
    }
    if (!("ModelContext" in window)) stub(window, "ModelContext", false);
    stub(window, "ToolActivatedEvent", false);
    stub(window, "ToolCancelEvent", false);
    stub(SubmitEvent.prototype, "agentInvoked", true);
    stub(SubmitEvent.prototype, "respondWith", true);
    stub(Document.prototype, "modelContext", true);
    getters[0] = stubs.modelContext;
    addEventListener(MEET, (event) => make().frames.met(event));
    return {
      getters,
      context: () => make().context(),
      start: () => void make().start(),
      heard: (event) => make().frames.heard(event)
    };
  }
  var MEET;
  var init_webmcpstub = __esm({
    "../../tabtransport/pagejs/webmcpstub.ts"() {
      MEET = "tabhub-webmcp";
    }
  });

  // assets/webmcpsource.ts
  function hasToolForm(node) {
    return node instanceof Element && (node.matches(TOOL_FORM) || node.querySelector(TOOL_FORM) !== null);
  }
  var WebMCPSource, TOOL_FORM;
  var init_webmcpsource = __esm({
    "assets/webmcpsource.ts"() {
      "use strict";
      init_sources();
      init_tokens();
      init_modelcontext();
      init_toolcalls();
      init_values();
      init_webmcpstub();
      WebMCPSource = class {
        /** Once the page has a tool. */
        #tools;
        #used = false;
        #asking = new ToolCalls();
        #api = offerWebMCP({
          changed: () => {
            this.#used = true;
            this.changed();
          },
          threw: (name, input, error) => this.#tools?.threw(name, input, Values.errorText(error)),
          took: this.#asking.took,
          resume: async (token) => this.#asking.resumed(await this.resume(token)),
          release: async (token) => takeToken(token) !== void 0,
          ask: this.#asking.ask
        });
        /** Called when the tools may differ. */
        changed = () => {
        };
        /** As of Calls. */
        resume = async () => void 0;
        constructor() {
          addEventListener("message", (event) => {
            if (!event.isTrusted || event.data?.tabhub !== "webmcp") return;
            event.stopImmediatePropagation();
            this.#api.heard(event);
          });
          this.#awaitForm();
        }
        /** Those of document.modelContext that lead to this API: anything else there is a library's. */
        get getters() {
          return this.#api.getters;
        }
        start() {
        }
        stop() {
        }
        async offer() {
          if (this.#used && !this.#tools) {
            this.#tools = new ModelContextTools(this.#api.context(), () => {
            }, isOfThisDocument);
            this.#tools.start();
          }
          return this.#tools ? this.#tools.offer() : { tools: [], resources: [], prompts: [] };
        }
        has(name) {
          return this.#tools?.has(name) === true;
        }
        async call(name, args, options) {
          return this.#asking.call(async (options2) => {
            if (!this.#tools) throw new Error(`the page has no tool ${name}`);
            return this.#tools.call(name, args, options2);
          }, options);
        }
        /** Makes the API, which then follows the page's forms, when there is a first one that is a tool. */
        #awaitForm() {
          if (document.querySelector(TOOL_FORM)) return this.#api.start();
          const observer = new MutationObserver((changes) => {
            if (!changes.some(({ type, addedNodes }) => type === "attributes" || [...addedNodes].some(hasToolForm))) return;
            observer.disconnect();
            this.#api.start();
          });
          observer.observe(document, { childList: true, subtree: true, attributeFilter: ["toolname"] });
        }
      };
      TOOL_FORM = "form[toolname]";
    }
  });

  // assets/pageidle.ts
  async function pageRests(waitMs, signal) {
    const began = performance.now();
    let last = began;
    let changes = 0;
    const mutations = new MutationObserver((list) => {
      changes += list.length;
      last = performance.now();
    });
    mutations.observe(document, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
      attributeFilter: ["aria-busy", "disabled", "hidden", "src"]
      // others change with every animation
    });
    const requests = new PerformanceObserver(() => {
      last = performance.now();
    });
    requests.observe({ type: "resource" });
    try {
      for (; ; ) {
        const now = performance.now();
        const loading = document.readyState !== "complete";
        if (loading) last = now;
        if (now - last >= (document.hidden ? REST_HIDDEN_MS : REST_QUIET_MS)) return { rested: true };
        if (signal.aborted || now - began >= waitMs) return { rested: false, loading, changes };
        await new Promise((resolve) => setTimeout(resolve, REST_LOOK_MS));
      }
    } finally {
      mutations.disconnect();
      requests.disconnect();
    }
  }
  var REST_QUIET_MS, REST_HIDDEN_MS, REST_LOOK_MS;
  var init_pageidle = __esm({
    "assets/pageidle.ts"() {
      "use strict";
      REST_QUIET_MS = 1e3;
      REST_HIDDEN_MS = 1500;
      REST_LOOK_MS = 100;
    }
  });

  // assets/calls.ts
  var MAX_CALLS, MAX_ENDED, PROGRESS_PER_SECOND, REMIND_MS, Calls;
  var init_calls = __esm({
    "assets/calls.ts"() {
      "use strict";
      init_pageidle();
      init_tokens();
      init_values();
      init_watchtools();
      MAX_CALLS = 64;
      MAX_ENDED = 1024;
      PROGRESS_PER_SECOND = 50;
      REMIND_MS = 1e4;
      Calls = class {
        #link;
        #ownerOf;
        #step;
        #waits;
        /** What is running, by the hub's id. */
        #running = /* @__PURE__ */ new Map();
        /** What waits until the page is idle, by the hub's id. */
        #rests = /* @__PURE__ */ new Map();
        /** What has ended, by the hub's id, the oldest first. */
        #ended = /* @__PURE__ */ new Set();
        /** What waits until a call ends. */
        #waiting = [];
        /** How many calls wait for the person in front of the tab. */
        #atPerson = 0;
        #keeps;
        /** @param step called with what happens */
        constructor(link, ownerOf, step, { waits, keeps = false } = {}) {
          this.#link = link;
          this.#ownerOf = ownerOf;
          this.#step = step;
          this.#waits = waits;
          this.#keeps = keeps;
        }
        /** @returns whether it is about a call */
        notice(method, params) {
          if (method !== "browser/cancel") return false;
          this.#rests.get(params.requestId)?.abort();
          this.#running.get(params.requestId)?.abort(new DOMException(String(params.reason || "cancelled"), "AbortError"));
          return true;
        }
        /** Resolved when nothing runs. */
        async idle() {
          while (this.#running.size > 0) await new Promise((done) => this.#waiting.push(done));
        }
        async answer({ id, method, params }) {
          switch (method) {
            case "browser/ping":
              return this.#link.answer(id, "{}");
            case "browser/executeTool":
              return this.#run(id, method, "tool", params.toolName, params, (source, context) => {
                return source.call(params.toolName, params.args ?? {}, context);
              });
            case "browser/readResource":
              return this.#run(id, method, "resource", params.uri, params, async (source, context) => {
                return source.read(params.uri, context);
              });
            case "browser/getPrompt":
              return this.#run(id, method, "prompt", params.name, params, async (source, context) => {
                return source.prompt(params.name, params.args ?? {}, context);
              });
            case "browser/complete": {
              const { ref, argument, context } = params;
              const kind = ref.type === "ref/prompt" ? "prompt" : "resource";
              return this.#run(id, method, kind, ref.name ?? ref.uri, params, async (source, options) => {
                return source.complete?.({ ref, argument, context }, options) ?? "{}";
              });
            }
            case "browser/subscribeResource":
              return this.#run(id, method, "resource", params.uri, params, async (source, context) => {
                await source.subscribe(params.uri, params.subscribe === true, context);
                return "{}";
              });
            case "browser/rest":
              return this.#rest(id, params);
            case "browser/text":
              return this.#link.answer(id, JSON.stringify({ text: document.body?.innerText ?? "" }));
            case "browser/navigate":
              return this.#navigate(id, params);
            default:
              return this.#link.fail(id, -32601, `a page cannot answer ${method}`);
          }
        }
        /** Answers when the page is idle, or waitMs have passed. */
        async #rest(id, { waitMs }) {
          const abort = new AbortController();
          this.#rests.set(id, abort);
          const result = await pageRests(Number(waitMs), abort.signal);
          this.#rests.delete(id);
          if (!abort.signal.aborted) this.#link.answer(id, JSON.stringify(result));
        }
        /** @param work returns JSON text */
        async #run(id, method, kind, name, { args, extensions }, work) {
          if (this.#running.has(id) || this.#link.holds(id)) return;
          if (this.#ended.has(id)) return this.#link.fail(id, -32001, "the call has run, but its answer was lost");
          const source = this.#ownerOf(kind, name);
          if (!source) return this.#link.fail(id, -32001, `this page has no ${kind} ${name} now`, { delivered: false });
          if (this.#running.size >= MAX_CALLS) return this.#link.fail(id, -32003, `${MAX_CALLS} calls are running in this page already`);
          await this.#carryOut(id, { method, kind, name, args, extensions }, (options) => work(source, options));
        }
        /**
         * Runs a call, or a part of one, and answers it.
         * @param work returns JSON text
         */
        async #carryOut(id, { method, kind, name, args, extensions }, work) {
          const abort = new AbortController();
          this.#running.set(id, abort);
          this.#step({ id, phase: "start", method, name, args });
          let ok = false;
          let waited;
          const over = () => waited = void waited?.();
          const waiting = () => {
            if (this.#running.get(id) === abort) waited ??= this.#remind(id);
            return over;
          };
          try {
            const result = await work({
              signal: abort.signal,
              progress: this.#progressOf(id, method, name),
              extensions,
              waiting,
              token: (token) => this.#keep(token, id)
            });
            if (abort.signal.aborted) return;
            ok = true;
            this.#link.answer(id, kind === "tool" ? `{"success":true,"payload":${result}}` : result);
          } catch (error) {
            if (abort.signal.aborted) return;
            const message = Values.errorText(error);
            if (kind === "tool") this.#link.answer(id, JSON.stringify({ success: false, payload: message }));
            else this.#link.fail(id, -32603, message);
          } finally {
            over();
            this.#running.delete(id);
            this.#ended.add(id);
            for (const oldest of this.#ended) {
              if (this.#ended.size <= MAX_ENDED) break;
              this.#ended.delete(oldest);
            }
            this.#step({ id, phase: "end", method, name, ok });
            for (const done of this.#waiting.splice(0)) done(void 0);
          }
        }
        /** Has the hub keep a call for the next document. */
        async #keep(token, id) {
          if (!this.#keeps || !this.#running.has(id)) throw new DOMException("The call cannot go on in another document here.", "NotSupportedError");
          keepToken(token, id);
          this.#link.notify("browser/progress", { requestId: String(id), progress: 0, message: "the tool goes on in the tab's next document", continues: true });
          await this.#link.request("browser/ping", {});
        }
        /**
         * Resumes a call of an earlier document of this tab.
         * @returns undefined if there is none
         */
        async resume(token) {
          const id = takeToken(token);
          if (id === void 0) return void 0;
          await Promise.race([this.#link.opened(), new Promise((late) => setTimeout(late, KEPT))]);
          const granted = await this.#link.request("browser/resumeCall", { requestId: String(id) }).catch(() => void 0);
          if (!granted) return void 0;
          return {
            input: JSON.stringify(granted.args),
            run: (work) => void this.#carryOut(id, { method: "browser/executeTool", kind: "tool", name: granted.toolName }, work)
          };
        }
        #progressOf(id, method, name) {
          let since = 0;
          let count = 0;
          return ({ progress, total, message }) => {
            if (!this.#running.has(id) || !Number.isFinite(progress)) return;
            if (Date.now() - since > 1e3) {
              since = Date.now();
              count = 0;
            }
            if (++count > PROGRESS_PER_SECOND) return;
            const params = { requestId: String(id), progress };
            if (Number.isFinite(total)) params.total = total;
            if (message !== void 0) params.message = String(message).slice(0, 4096);
            this.#link.notify("browser/progress", params);
            this.#step({ id, phase: "progress", method, name, progress, total, message });
          };
        }
        /** Tells the hub, until the returned function is called, that a call waits for the person. */
        #remind(id) {
          let progress = 0;
          const tell2 = () => {
            const message = "waiting for the person in front of the tab";
            this.#link.notify("browser/progress", { requestId: String(id), progress: ++progress, message, waiting: true });
          };
          const timer = setInterval(tell2, REMIND_MS);
          tell2();
          if (++this.#atPerson === 1) this.#waits?.(true);
          return () => {
            clearInterval(timer);
            if (this.#running.has(id)) this.#link.notify("browser/progress", { requestId: String(id), progress: ++progress, message: "the person has answered" });
            if (--this.#atPerson === 0) this.#waits?.(false);
          };
        }
        #navigate(id, params) {
          if (params.url !== void 0) {
            let url;
            try {
              url = new URL(params.url, location.href);
            } catch {
              return this.#link.fail(id, -32602, `${params.url} is not a URL`);
            }
            if (url.origin !== location.origin) {
              return this.#link.fail(id, -32002, `a page that joined by script can be navigated within ${location.origin} only`);
            }
            this.#leave(id, () => location.assign(url));
          } else if (params.back) this.#leave(id, () => history.back());
          else if (params.forward) this.#leave(id, () => history.forward());
          else if (params.reload) this.#leave(id, () => location.reload());
          else this.#link.fail(id, -32602, "nothing to navigate to: give url, back, forward or reload");
        }
        #leave(id, go) {
          this.#link.answer(id, "{}");
          setTimeout(go, 0);
        }
      };
    }
  });

  // assets/link.ts
  var RETRY_FIRST_MS, RETRY_LAST_MS, HELLO_WAIT_MS, REFUSED_CLOSE_WAIT_MS, ERROR_CLOSE_WAIT_MS, CONFIRM_MS, ANSWERS_KEPT, ANSWERS_KEPT_CHARS, mayReconnect, HubLink;
  var init_link = __esm({
    "assets/link.ts"() {
      "use strict";
      init_values();
      RETRY_FIRST_MS = 500;
      RETRY_LAST_MS = 15e3;
      HELLO_WAIT_MS = 1e4;
      REFUSED_CLOSE_WAIT_MS = 1e3;
      ERROR_CLOSE_WAIT_MS = 1e3;
      CONFIRM_MS = 5e3;
      ANSWERS_KEPT = 1024;
      ANSWERS_KEPT_CHARS = 32 << 20;
      mayReconnect = (code) => code < 4100 || code >= 4200;
      HubLink = class {
        state = "off";
        /** Why the state is what it is, for people. */
        reason = "";
        /** What the hub said at hello. */
        hub = {};
        #dial;
        #hello;
        #handler;
        #once;
        #socket = null;
        #nextID = 1;
        #pending = /* @__PURE__ */ new Map();
        /** What waits for a connection. */
        #openings = [];
        /** Answers that may not have reached the hub. */
        #answers = /* @__PURE__ */ new Map();
        #confirm;
        #attempts = 0;
        /** Whether it was said that the hub does not answer, since it has last. */
        #missed = false;
        #lastHeard = 0;
        /** What the hub answered to a hello that it refused. */
        #refusal = "";
        #retry;
        #late;
        #watch;
        constructor({ dial, hello, once, handler }) {
          this.#dial = dial;
          this.#hello = hello;
          this.#once = once;
          this.#handler = handler;
        }
        /** Connects, now, unless there is a connection. */
        start() {
          clearTimeout(this.#retry);
          if (this.#socket) return;
          this.#refusal = "";
          this.#set("connecting", "");
          let socket;
          try {
            socket = this.#dial();
          } catch (error) {
            this.#set("refused", Values.errorText(error));
            return;
          }
          this.#socket = socket;
          this.#late = setTimeout(() => {
            if (socket === this.#socket) this.#end(4e3, "the hub does not answer");
          }, this.#once ?? HELLO_WAIT_MS);
          socket.onopen = () => void this.#greet(socket);
          socket.onmessage = (event) => {
            if (socket === this.#socket) this.#receive(event.data);
          };
          socket.onclose = (event) => {
            if (socket === this.#socket) this.#lost(event.code, event.reason);
          };
          socket.onerror = () => setTimeout(() => {
            if (socket === this.#socket) this.#end(1006, "");
          }, ERROR_CLOSE_WAIT_MS);
        }
        /** Disconnects and stays so until start. */
        stop() {
          clearTimeout(this.#retry);
          const socket = this.#socket;
          this.#drop();
          socket?.close(1e3, "");
          this.#set("off", "");
        }
        /** Resolves once there is a connection. */
        async opened() {
          while (this.state !== "open") await new Promise((opened) => this.#openings.push(opened));
        }
        /** Sends a request to the hub; the promise fails when the connection is lost. */
        request(method, params) {
          if (!this.#socket) return Promise.reject(new Error("there is no connection to the hub"));
          const id = this.#nextID++;
          return new Promise((resolve, reject) => {
            this.#pending.set(id, { resolve, reject });
            this.#send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
          });
        }
        /** Sends a notification, if there is a connection. */
        notify(method, params) {
          if (this.state === "open") this.#send(JSON.stringify({ jsonrpc: "2.0", method, params }));
        }
        /**
         * Answers a request of the hub, over this connection or the next one.
         * @param result JSON text
         */
        answer(id, result) {
          this.#keep(id, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
        }
        /** Answers a request of the hub with an error. */
        fail(id, code, message, data) {
          this.#keep(id, JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } }));
        }
        /** Whether there is an answer that may not have reached the hub. */
        holds(id) {
          return this.#answers.has(id);
        }
        #keep(id, frame) {
          const max = this.hub.limits?.maxFrame ?? ANSWERS_KEPT_CHARS;
          if (frame.length > max / 3 && new TextEncoder().encode(frame).length > max) {
            this.fail(id, -32003, `the answer is larger than the ${max} bytes that the hub takes`);
            return;
          }
          const answer = { frame, sent: false };
          this.#answers.set(id, answer);
          let chars = 0;
          for (const kept of this.#answers.values()) chars += kept.frame.length;
          for (const [old, kept] of this.#answers) {
            if (this.#answers.size <= ANSWERS_KEPT && chars <= ANSWERS_KEPT_CHARS) break;
            if (kept === answer) break;
            chars -= kept.frame.length;
            this.#answers.delete(old);
          }
          if (this.state === "open") this.#deliver(answer);
        }
        #deliver(answer) {
          this.#send(answer.frame);
          answer.sent = true;
          this.#confirm ??= setTimeout(() => void this.#letGo(), CONFIRM_MS);
        }
        /** Drops the answers that the hub has. */
        async #letGo() {
          const sent = [...this.#answers].filter(([, answer]) => answer.sent);
          try {
            if (sent.length > 0 && !this.#once) await this.request("browser/ping", {});
            for (const [id, answer] of sent) if (this.#answers.get(id) === answer) this.#answers.delete(id);
          } catch {
          }
          const more = [...this.#answers.values()].some((answer) => answer.sent);
          this.#confirm = more ? setTimeout(() => void this.#letGo(), CONFIRM_MS) : void 0;
        }
        #send(frame) {
          this.#socket?.send(frame);
        }
        async #greet(socket) {
          try {
            this.hub = await this.request("browser/hello", this.#hello());
          } catch (error) {
            this.#refusal = Values.errorText(error);
            setTimeout(() => {
              if (socket === this.#socket) this.#end(4103, this.#refusal);
            }, REFUSED_CLOSE_WAIT_MS);
            return;
          }
          if (socket !== this.#socket) return;
          clearTimeout(this.#late);
          this.#attempts = 0;
          if (!this.#once) {
            const quiet = 3 * (this.hub.keepAliveMs || 15e3);
            this.#watch = setInterval(() => {
              if (Date.now() - this.#lastHeard > quiet) this.#end(4e3, "the hub has gone quiet");
            }, quiet / 3);
          }
          this.#set("open", "");
          for (const opened of this.#openings.splice(0)) opened(void 0);
          this.#handler.opened();
          for (const answer of this.#answers.values()) this.#deliver(answer);
        }
        #receive(data) {
          this.#lastHeard = Date.now();
          let frame;
          try {
            frame = JSON.parse(String(data));
          } catch {
            return;
          }
          if (typeof frame !== "object" || frame === null) return;
          const { id, method, params } = frame;
          if (typeof method === "string") {
            const object = typeof params === "object" && params !== null ? params : {};
            if (id === void 0 || id === null) this.#handler.notice(method, object);
            else this.#handler.request({ id, method, params: object });
            return;
          }
          const waiting = this.#pending.get(id);
          if (!waiting) return;
          this.#pending.delete(id);
          if (frame.error) waiting.reject(new Error(String(frame.error.message ?? "refused by the hub")));
          else waiting.resolve(frame.result ?? {});
        }
        #end(code, reason) {
          const socket = this.#socket;
          this.#lost(code, reason);
          socket?.close(1e3, "");
        }
        #lost(code, reason) {
          const greeted = this.state === "open";
          this.#drop();
          if (this.#once) {
            this.#set("off", reason);
            this.#handler.lost(code);
            return;
          }
          if (!mayReconnect(code)) {
            this.#set("refused", this.#refusal || reason || `the hub closed the connection (${code})`);
            console.error(`tabhub: ${this.reason}. This page's tools are not offered.`);
            return;
          }
          if (!greeted && !this.#missed) this.#handler.unanswered();
          this.#missed = !greeted;
          const step = Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * 2 ** this.#attempts++);
          this.#retry = setTimeout(() => this.start(), step * (0.75 + Math.random() / 2));
          this.#set("waiting", reason);
        }
        #drop() {
          for (const answer of this.#answers.values()) answer.sent = false;
          clearTimeout(this.#late);
          clearInterval(this.#watch);
          this.#socket = null;
          const pending = [...this.#pending.values()];
          this.#pending.clear();
          for (const { reject } of pending) reject(new Error("the connection to the hub was lost"));
        }
        #set(state, reason) {
          this.state = state;
          this.reason = reason;
          this.#handler.changed();
        }
      };
    }
  });

  // ../../tabtransport/pagejs/dialogs.ts
  function notifyOfDialogs(tell2) {
    const { apply } = Reflect;
    for (const type of ["alert", "confirm", "prompt"]) {
      const value = new Proxy(window[type], {
        apply: (show, context, args) => {
          const [message] = args;
          tell2({ type, message: typeof message === "string" || typeof message === "number" ? `${message}`.slice(0, 1e3) : "" });
          try {
            return apply(show, context, args);
          } finally {
            tell2({ type: "", message: "" });
          }
        }
      });
      Object.defineProperty(window, type, { configurable: true, enumerable: true, writable: true, value });
    }
  }
  var init_dialogs = __esm({
    "../../tabtransport/pagejs/dialogs.ts"() {
    }
  });

  // assets/tabstate.ts
  function pageURL() {
    if (location.href.length <= 2048) return location.href;
    const short = location.origin + location.pathname;
    return short.length <= 2048 ? short : location.origin;
  }
  function pageTitle() {
    return document.title.slice(0, 4096);
  }
  var STATE_QUIET_MS, TabState;
  var init_tabstate = __esm({
    "assets/tabstate.ts"() {
      "use strict";
      init_dialogs();
      STATE_QUIET_MS = 100;
      TabState = class {
        #link;
        /** What the hub knows. */
        #told = {};
        #waiting = false;
        /** The dialog that is open; without a type none is. */
        #dialog = { type: "", message: "" };
        #timer;
        constructor(link) {
          this.#link = link;
        }
        /** Begins to tell of changes. */
        watch() {
          notifyOfDialogs((dialog) => {
            this.#dialog = dialog;
            this.#tell();
          });
          const soon = () => {
            clearTimeout(this.#timer);
            this.#timer = setTimeout(() => this.#tell(), STATE_QUIET_MS);
          };
          for (const type of ["focus", "blur", "popstate", "hashchange", "load"]) window.addEventListener(type, soon);
          document.addEventListener("visibilitychange", soon);
          const navigation = window.navigation;
          if (navigation) navigation.addEventListener("currententrychange", soon);
          else setInterval(() => pageURL() !== this.#told.url && soon(), 1e3);
          if (document.head) new MutationObserver(soon).observe(document.head, { childList: true, subtree: true, characterData: true });
        }
        /** @param waiting whether a call waits for the person in front of the tab */
        waits(waiting) {
          this.#waiting = waiting;
          this.#tell();
        }
        /** Tells a hub that has forgotten everything. */
        tellAll() {
          this.#told = {};
          this.#tell();
        }
        #tell() {
          if (this.#link.state !== "open") return;
          const visible = document.visibilityState === "visible";
          const now = { url: pageURL(), title: pageTitle(), active: visible, visible, windowFocused: document.hasFocus(), waiting: this.#waiting, dialog: this.#dialog };
          const news = Object.entries(now).filter(([member, value]) => this.#told[member] !== value);
          if (news.length === 0) return;
          this.#told = now;
          this.#link.notify("browser/tabState", Object.fromEntries(news));
        }
      };
    }
  });

  // assets/connection.ts
  var REGISTER_QUIET_MS, READ_AGAIN_MS, KINDS, Connection, KIND_NAMES;
  var init_connection = __esm({
    "assets/connection.ts"() {
      "use strict";
      init_calls();
      init_link();
      init_api();
      init_tabstate();
      init_values();
      REGISTER_QUIET_MS = 500;
      READ_AGAIN_MS = 2e3;
      KINDS = {
        tool: { register: "browser/registerTools", update: "browser/updateTools", member: "tools", key: (item) => item.name },
        resource: {
          register: "browser/registerResources",
          update: "browser/updateResources",
          member: "resources",
          key: (item) => item.uri ?? item.uriTemplate
        },
        prompt: { register: "browser/registerPrompts", update: "browser/updatePrompts", member: "prompts", key: (item) => item.name }
      };
      Connection = class {
        /** Which source has an item, by kind and key. */
        owners = { tool: /* @__PURE__ */ new Map(), resource: /* @__PURE__ */ new Map(), prompt: /* @__PURE__ */ new Map() };
        rejected = { tool: [], resource: [], prompt: [] };
        link;
        /** In the order of precedence: an item that two of them have is the first one's. */
        #sources;
        #calls;
        #fresh;
        #changed;
        /** Whether another connection serves the page. */
        #retired = false;
        /** The list that the hub has, as JSON text. */
        #sent = { tool: "[]", resource: "[]", prompt: "[]" };
        /** What each source had when it was read last. */
        #read = /* @__PURE__ */ new Map();
        #lastChange = -Infinity;
        #timer;
        #running;
        /** Whether what is offered may differ from what was collected last. */
        #dirty = false;
        constructor({ sources, dial, hello, once, fresh, opened, changed, unanswered: unanswered2, lost, notice, step, waits }) {
          this.#sources = sources;
          this.#fresh = fresh;
          this.#changed = changed;
          this.link = new HubLink({
            dial,
            hello,
            once,
            handler: {
              opened: () => opened(this.#opened()),
              changed,
              unanswered: () => unanswered2?.(),
              lost: (code) => lost?.(code),
              request: (request) => void this.#calls.answer(request),
              notice: (method, params) => {
                if (!this.#calls.notice(method, params)) notice?.(method, params);
              }
            }
          });
          const keeps = once === void 0 && window === window.top;
          this.#calls = new Calls(this.link, (kind, key) => this.#ownerOf(kind, key), step, { waits, keeps });
        }
        /** As of Calls. */
        resume(token) {
          return this.#calls.resume(token);
        }
        /** Connects, and offers what there is. */
        start() {
          const back = this.#retired;
          this.#retired = false;
          if (back && this.link.state === "open") void this.#opened();
          else this.link.start();
        }
        /**
         * Leaves the page to another path: nothing more is offered here, what runs is
         * answered, and then the hub learns that this tab is closed.
         */
        async retire() {
          this.#retired = true;
          if (this.link.state === "open") {
            const withdrawn = KIND_NAMES.filter((kind) => this.#sent[kind] !== "[]").map((kind) => {
              this.#sent[kind] = "[]";
              return this.link.request(KINDS[kind].update, { [KINDS[kind].member]: [] });
            });
            await Promise.allSettled(withdrawn);
          }
          await this.#calls.idle();
          if (!this.#retired) return;
          this.link.notify("browser/tabClosed", {});
          this.link.stop();
        }
        #opened() {
          if (this.#retired) return Promise.resolve();
          for (const kind of KIND_NAMES) this.#sent[kind] = this.#fresh() ? "[]" : "";
          clearTimeout(this.#timer);
          return this.#register();
        }
        /** Registers the first change at once and what follows when it has been quiet. */
        changed() {
          clearTimeout(this.#timer);
          const first = performance.now() - this.#lastChange > REGISTER_QUIET_MS;
          this.#lastChange = performance.now();
          this.#timer = setTimeout(() => void this.#register(), first ? 0 : REGISTER_QUIET_MS);
        }
        /** Brings the hub's lists up to date, one run at a time: an old list never follows a new one. */
        #register() {
          this.#dirty = true;
          this.#running ??= this.#bring();
          return this.#running;
        }
        async #bring() {
          let told2 = [];
          while (this.#dirty) {
            this.#dirty = false;
            const offers = await Promise.all(this.#sources.map((source) => this.#offerOf(source)));
            told2 = KIND_NAMES.map((kind) => this.#send(kind, this.#collect(kind, offers)));
          }
          this.#running = void 0;
          await Promise.all(told2);
        }
        /** @param offers of the sources */
        #collect(kind, offers) {
          const owners = /* @__PURE__ */ new Map();
          const items = [];
          for (const [i, offer] of offers.entries()) {
            for (const item of offer[KINDS[kind].member]) {
              const key = KINDS[kind].key(item);
              if (typeof key !== "string" || owners.has(key)) continue;
              const source = this.#sources[i];
              owners.set(key, source);
              items.push(item);
            }
          }
          this.owners[kind] = owners;
          const max = this.link.hub.limits?.maxTools ?? 1024;
          if (items.length > max) console.warn(`tabhub: only the first ${max} of ${items.length} ${kind}s are offered`);
          return items.slice(0, max);
        }
        /** What a source has. One that fails has what it had, and is asked again. */
        async #offerOf(source) {
          try {
            const offer = await source.offer();
            this.#read.set(source, offer);
            return offer;
          } catch (error) {
            console.warn(`tabhub: what the page offers cannot be read: ${Values.errorText(error)}`);
            setTimeout(() => this.changed(), READ_AGAIN_MS);
            return this.#read.get(source) ?? { tools: [], resources: [], prompts: [] };
          }
        }
        async #send(kind, items) {
          const list = JSON.stringify(items);
          if (this.link.state === "open" && !this.#retired && list !== this.#sent[kind]) {
            const { register, update, member } = KINDS[kind];
            const method = this.#sent[kind] === "[]" ? register : update;
            this.#sent[kind] = list;
            try {
              const answer = await this.link.request(method, { [member]: items, tabUrl: pageURL(), title: pageTitle() });
              this.rejected[kind] = Array.isArray(answer.rejected) ? answer.rejected : [];
              Values.warn(kind, answer);
            } catch (error) {
              if (this.link.state === "open") console.warn(`tabhub: the ${kind}s are not offered: ${Values.errorText(error)}`);
            }
          }
          this.#changed();
        }
        #ownerOf(kind, name) {
          const owner = this.owners[kind].get(name);
          if (owner || kind !== "resource") return owner;
          for (const [template, source] of this.owners.resource) {
            if (template.includes("{") && templatePattern(template).test(name)) return source;
          }
          return void 0;
        }
      };
      KIND_NAMES = ["tool", "resource", "prompt"];
    }
  });

  // assets/api.ts
  function contextOf({ signal, progress, waiting, ask }) {
    return {
      signal,
      progress: (done, total, message) => progress?.({ progress: done, total, message }),
      waiting: () => waiting?.(),
      async requestUserInput(request, interact) {
        if (!ask) throw new DOMException("Only a tool can ask.", "NotSupportedError");
        return ask(request, interact);
      }
    };
  }
  function templatePattern(template) {
    const parts = template.split(/\{([^{}]*)\}/);
    return new RegExp(
      `^${parts.map((part, i) => {
        if (i % 2 === 0) return part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
        return /^[+#/?&;]/.test(part) || part.endsWith("*") ? ".*" : "[^/?#]*";
      }).join("")}$`
    );
  }
  function resultText(value) {
    if (value === void 0 || value === null) return '{"content":[]}';
    if (typeof value === "string") return Values.textResult(value);
    const json = JSON.stringify(value);
    if (json === void 0) throw new TypeError(`the tool returned a ${typeof value}, which is not JSON`);
    return Values.callToolResult(json);
  }
  var APISource, PageAPI;
  var init_api = __esm({
    "assets/api.ts"() {
      "use strict";
      init_connection();
      init_toolcalls();
      init_values();
      APISource = class {
        #tools = /* @__PURE__ */ new Map();
        /** By URI or URI template. */
        #resources = /* @__PURE__ */ new Map();
        #prompts = /* @__PURE__ */ new Map();
        #asking = new ToolCalls();
        /** Called when the lists differ. */
        changed = () => {
        };
        start() {
        }
        stop() {
        }
        async offer() {
          const [tools, resources, prompts] = KIND_NAMES.map(
            (kind) => [...this.#of(kind).values()].map(({ execute, read, get, ...object }) => object)
          );
          return { tools, resources, prompts };
        }
        has(name) {
          return this.#tools.has(name);
        }
        /** Adds an item and returns the function that removes it again. */
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
        async call(name, args, options) {
          return this.#asking.call(async (options2) => {
            const tool = this.#tools.get(name);
            if (!tool) throw new Error(`the page has no tool ${name} any more`);
            return resultText(await tool.execute(args, contextOf(options2)));
          }, options);
        }
        async read(uri, options) {
          const resource = this.#resource(uri);
          const result = await resource.read(uri, contextOf(options));
          if (Values.isObject(result) && Array.isArray(result.contents)) return JSON.stringify(result);
          const text = typeof result === "string" ? result : JSON.stringify(result ?? null);
          return JSON.stringify({ contents: [{ uri, ...resource.mimeType ? { mimeType: resource.mimeType } : {}, text }] });
        }
        async subscribe(uri) {
          this.#resource(uri);
        }
        async prompt(name, args, options) {
          const prompt = this.#prompts.get(name);
          if (!prompt) throw new Error(`the page has no prompt ${name} any more`);
          const result = await prompt.get(args, contextOf(options));
          if (Values.isObject(result) && Array.isArray(result.messages)) return JSON.stringify(result);
          return JSON.stringify({ messages: [{ role: "user", content: { type: "text", text: String(result) } }] });
        }
        #resource(uri) {
          const exact = this.#resources.get(uri);
          if (exact?.uri) return exact;
          for (const resource of this.#resources.values()) {
            if (resource.uriTemplate && templatePattern(resource.uriTemplate).test(uri)) return resource;
          }
          throw new Error(`the page has no resource ${uri}`);
        }
        #of(kind) {
          return { tool: this.#tools, resource: this.#resources, prompt: this.#prompts }[kind];
        }
      };
      PageAPI = class extends EventTarget {
        #own;
        #page;
        constructor(own, page) {
          super();
          this.#own = own;
          this.#page = page;
        }
        /**
         * Offers a tool: an MCP Tool with execute(args, {signal, progress, waiting}).
         * @param options aborting signal takes the tool back
         */
        registerTool(tool, { signal } = {}) {
          return { unregister: this.#own.add("tool", tool, signal) };
        }
        /**
         * Offers a resource or, with uriTemplate, many: read(uri, {signal}) returns a
         * string, a ReadResourceResult or anything that is JSON.
         */
        registerResource(resource, { signal } = {}) {
          const unregister = this.#own.add("resource", resource, signal);
          return { unregister, updated: (uri = resource.uri) => uri && this.#page.resourceUpdated(uri) };
        }
        /** Offers a prompt: get(args, {signal}) returns a string or a GetPromptResult. */
        registerPrompt(prompt, { signal } = {}) {
          return { unregister: this.#own.add("prompt", prompt, signal) };
        }
        get status() {
          return this.#page.status();
        }
      };
    }
  });

  // assets/tabkey.ts
  var KEY_LOCK_WAIT_MS, KEY_ASK_WAIT_MS, TabKey;
  var init_tabkey = __esm({
    "assets/tabkey.ts"() {
      "use strict";
      init_values();
      KEY_LOCK_WAIT_MS = 2e3;
      KEY_ASK_WAIT_MS = 1e3;
      TabKey = class {
        value = "";
        /** Whether an earlier document of this tab had the key. */
        returning = false;
        // Documents of one site in one tab, such as frames, share a sessionStorage.
        #slot = window === window.top ? "tabhub.tabKey" : `tabhub.tabKey:${location.pathname}`;
        #release = () => {
        };
        /** Takes the tab's key, or a new one if another document has it. */
        async take() {
          this.#release();
          const stored = this.value || this.#load();
          this.returning = stored !== "" && await this.#lock(stored);
          this.value = this.returning ? stored : Values.randomID();
          if (!this.returning) await this.#lock(this.value, 0);
          this.#store(this.value);
        }
        /** Lets another document have the key: the page goes away, perhaps to return. */
        release() {
          this.#release();
          this.#release = () => {
          };
        }
        #load() {
          try {
            return sessionStorage.getItem(this.#slot) ?? "";
          } catch {
            return "";
          }
        }
        #store(key) {
          try {
            sessionStorage.setItem(this.#slot, key);
          } catch {
          }
        }
        /**
         * @param wait for others to say that they have it, where there are no locks; in ms
         * @returns whether the key is now ours
         */
        #lock(key, wait = KEY_ASK_WAIT_MS) {
          return navigator.locks ? this.#lockBrowser(key) : this.#lockByAsking(key, wait);
        }
        #lockBrowser(key) {
          return new Promise((resolve) => {
            const wait = new AbortController();
            const timer = setTimeout(() => wait.abort(), KEY_LOCK_WAIT_MS);
            navigator.locks.request(`tabhub:${key}`, { signal: wait.signal }, () => {
              clearTimeout(timer);
              const held = new Promise((done) => {
                this.#release = () => done(void 0);
              });
              resolve(true);
              return held;
            }).catch((error) => resolve(error?.name !== "AbortError"));
          });
        }
        // Outside secure contexts there are no locks: ask the site's other documents.
        #lockByAsking(key, wait) {
          if (typeof BroadcastChannel === "undefined") return Promise.resolve(true);
          const channel = new BroadcastChannel("tabhub.tabKey");
          const self2 = Values.randomID();
          let settled2 = false;
          return new Promise((resolve) => {
            const timer = setTimeout(() => {
              settled2 = true;
              this.#release = () => channel.close();
              resolve(true);
            }, wait);
            channel.onmessage = ({ data }) => {
              if (data?.key !== key) return;
              if (data.ask && (settled2 || self2 < data.ask)) channel.postMessage({ key, taken: data.ask });
              if (data.taken !== self2 || settled2) return;
              clearTimeout(timer);
              channel.close();
              resolve(false);
            };
            channel.postMessage({ key, ask: self2 });
          });
        }
      };
    }
  });

  // assets/page.ts
  var page_exports = {};
  __export(page_exports, {
    Page: () => Page,
    joinHub: () => joinHub
  });
  function unanswered(hub) {
    const works = `No hub answers at ${hub}. The page works without one, and joins when one comes: tabhub serve.`;
    if (location.protocol === "file:") return `${works} A file has no address that the hub could know: serve its directory, as python3 -m http.server does, and open it at http://localhost.`;
    if (self.origin === "null") return `${works} This document has no origin that the hub could know: it is sandboxed, or part of another one.`;
    if (/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(location.hostname)) return works;
    return `${works} One that runs refuses this site without --allow-origin ${self.origin}, and the browser may ask the user whether the page may connect to this machine.`;
  }
  function settled() {
    return new Promise((resolve) => {
      setTimeout(resolve, RELOAD_WAIT_MS);
      whenLoaded(() => setTimeout(resolve, RELOAD_QUIET_MS));
    });
  }
  function whenLoaded(f) {
    if (document.readyState === "complete") f();
    else window.addEventListener("load", f, { once: true });
  }
  function joinHub(dial) {
    if (Object.hasOwn(window, "tabhub")) {
      console.warn("tabhub: this page has joined already; the second script does nothing");
      return;
    }
    const native = nativeContext();
    const has = "modelContext" in document || "ModelContext" in window && !("modelContext" in navigator);
    const given = native || has ? void 0 : new WebMCPSource();
    const hub = hubOrigin();
    nameHub(hub);
    const own = new APISource();
    const tell2 = (event, detail) => tabhub.dispatchEvent(new CustomEvent(event, { detail }));
    const page = new Page(own, native, given, hub, () => dial(hub), tell2);
    const tabhub = window.tabhub = new PageAPI(own, page);
    void page.start();
  }
  function hubOrigin() {
    const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript : null;
    const inHead = document.querySelector(":root > head > script[data-hub]");
    const said = script?.dataset.hub ?? inHead?.dataset.hub;
    if (said !== void 0) {
      const url = URL.canParse(said) ? new URL(said) : void 0;
      if (url && /^https?:$/.test(url.protocol)) return url.origin;
      console.error(`tabhub: data-hub="${said}" is not an address such as "http://127.0.0.1:3300"; the page joins ${HUB}`);
    }
    if (script?.src && new URL(script.src).host === new URL(HUB).host) return new URL(script.src).origin;
    return HUB;
  }
  var RELOAD_WAIT_MS, RELOAD_QUIET_MS, EXTENSION_WAIT_MS, SUCCESSOR_WAIT_MS, TAKEOVER_WAIT_MS, CLOSE_GOING_AWAY, Page;
  var init_page = __esm({
    "assets/page.ts"() {
      "use strict";
      init_hub();
      init_extension();
      init_sources();
      init_webmcpsource();
      init_api();
      init_connection();
      init_tabkey();
      init_tabstate();
      init_values();
      RELOAD_WAIT_MS = 1500;
      RELOAD_QUIET_MS = 250;
      EXTENSION_WAIT_MS = 1500;
      SUCCESSOR_WAIT_MS = 1e3;
      TAKEOVER_WAIT_MS = 3e3;
      CLOSE_GOING_AWAY = 1001;
      Page = class {
        /** What the page gives to this script. */
        #own;
        /** The sources that the companion extension has, too. */
        #others = [];
        #hub;
        #tell;
        #state;
        #key = new TabKey();
        #session = Values.randomID();
        /** The page's own connection. */
        #direct;
        /** The companion extension, while it is asked or connects the page. */
        #extension = null;
        /** What the extension says of the page. */
        #said = {};
        /** Whether the page is shown, or could be: it is neither loaded ahead nor kept for going back. */
        #present = false;
        /** Whether the page may connect by itself. */
        #ready = false;
        #searching = false;
        /** Whether an extension has announced itself since #extension was asked. */
        #announced = false;
        /** Whether the last that was asked would not carry the page: the next must not keep it waiting. */
        #declined = false;
        /**
         * @param own what the page gives to tabhub itself
         * @param hub the origin of the hub
         */
        constructor(own, native, given, hub, dial, tell2) {
          this.#own = given ? [own, given] : [own];
          this.#hub = hub;
          this.#tell = tell2;
          this.#others = pageSources(
            native,
            given,
            () => this.#direct.changed(),
            (uri) => this.#direct.link.notify("browser/resourceUpdated", { uri }),
            (token) => this.#direct.resume(token)
          );
          this.#direct = new Connection({
            sources: [...this.#own, ...this.#others],
            dial,
            hello: () => ({
              protocolVersion: "tabhub.v1",
              tabKey: this.#key.value,
              session: this.#session,
              capabilities: ["text", "navigate", "rest", "resume"]
            }),
            fresh: () => !this.#key.returning,
            opened: () => this.#state.tellAll(),
            changed: () => this.#changed(),
            step: (step) => this.#tell("call", step),
            unanswered: () => console.warn(`tabhub: ${unanswered(this.#hub)}`),
            waits: (waiting) => this.#state.waits(waiting)
          });
          this.#state = new TabState(this.#direct.link);
          const changed = () => {
            this.#direct.changed();
            this.#extension?.changed();
          };
          own.changed = changed;
          if (given) {
            given.changed = changed;
            given.resume = (token) => this.#direct.resume(token);
          }
        }
        async start() {
          if (document.prerendering) {
            await new Promise((shown) => document.addEventListener("prerenderingchange", shown, { once: true }));
          }
          this.#present = true;
          window.addEventListener(EXTENSION_EVENT, () => {
            const before = this.#extension;
            if (before && before.link.state !== "open") {
              this.#announced = true;
              return;
            }
            this.#extension = null;
            this.#ask();
            before?.link.stop();
            if (before && !this.#extension) this.#joinDirectly();
          });
          this.#ask();
          if (!this.#extension) this.#search();
          window.addEventListener("pagehide", () => {
            this.#present = this.#ready = false;
            this.#extension?.link.stop();
            this.#extension = null;
            this.#direct.link.stop();
            this.#key.release();
          });
          window.addEventListener("pageshow", (event) => {
            if (!event.persisted) return;
            this.#present = true;
            this.#ask();
            void this.#prepare(false);
          });
          const now = () => {
            if (this.#direct.link.state === "waiting" && document.visibilityState === "visible") this.#direct.link.start();
          };
          window.addEventListener("online", now);
          document.addEventListener("visibilitychange", now);
          await this.#prepare(true);
        }
        status() {
          const { owners } = this.#direct;
          const carried = this.#extension?.link.state === "open";
          const path = carried && this.#extension ? this.#extension : this.#direct;
          const { state, reason, hub } = path.link;
          const said = this.#said;
          const rejected = [...path.rejected.tool, ...path.rejected.resource, ...path.rejected.prompt];
          if (carried && Array.isArray(said.rejected)) rejected.push(...said.rejected);
          return {
            state: !carried ? this.#extension && state === "off" ? "connecting" : state : said.connected === false ? "waiting" : "open",
            reason,
            by: carried ? "extension" : "page",
            hub: [hub.hub, hub.version].filter(Boolean).join(" "),
            tabKey: this.#key.value,
            tools: carried ? Number(said.tools ?? 0) : owners.tool.size,
            resources: carried ? Number(said.resources ?? 0) : owners.resource.size,
            prompts: carried ? Number(said.prompts ?? 0) : owners.prompt.size,
            rejected
          };
        }
        resourceUpdated(uri) {
          const path = this.#extension?.link.state === "open" ? this.#extension : this.#direct;
          path.link.notify("browser/resourceUpdated", { uri });
        }
        #changed() {
          this.#tell("status", this.status());
        }
        /** Takes the tab's key, and connects if the extension does not. */
        async #prepare(first) {
          await this.#key.take();
          if (first && this.#key.returning) await settled();
          if (!this.#present) return;
          this.#ready = true;
          this.#joinDirectly();
        }
        /** Connects by itself, unless the extension connects the page or is being asked. */
        #joinDirectly() {
          const asking = this.#extension && (this.#extension.link.state === "open" || !this.#declined);
          if (!this.#ready || asking) return;
          this.#search();
          this.#direct.start();
        }
        /** Looks for what the page offers otherwise, as the extension does where it connects the page. */
        #search() {
          if (this.#searching) return;
          this.#searching = true;
          this.#state.watch();
          for (const source of this.#others) source.start();
        }
        /** Asks the companion extension, if there is one, to carry the page. */
        #ask() {
          if (this.#extension || !this.#present) return;
          const socket = dialExtension(this.#hub);
          if (!socket) return;
          let served = false;
          const path = new Connection({
            // The extension finds the others itself, and offers them after these.
            sources: this.#own,
            dial: () => socket,
            hello: () => ({ protocolVersion: "tabhub.v1" }),
            once: EXTENSION_WAIT_MS,
            fresh: () => true,
            opened: (registered) => {
              served = true;
              void this.#takeOver(path, registered);
            },
            changed: () => this.#changed(),
            lost: (code) => {
              this.#declined = !served && code !== CLOSE_GOING_AWAY;
              this.#leave(path, code === CLOSE_GOING_AWAY ? SUCCESSOR_WAIT_MS : 0);
            },
            notice: (method, params) => this.#hear(path, method, params),
            step: (step) => this.#tell("call", step)
          });
          this.#said = {};
          this.#announced = false;
          this.#extension = path;
          path.start();
        }
        /**
         * The extension connects the page: its own tab is closed when the hub knows what
         * the extension offers.
         */
        async #takeOver(path, registered) {
          if (this.#direct.link.state === "open") {
            const late = new Promise((resolve) => setTimeout(resolve, TAKEOVER_WAIT_MS));
            const told2 = registered.then(() => path.link.request("tabhub/settle", {}));
            await Promise.race([told2.catch(() => {
            }), late]);
          }
          if (path === this.#extension) void this.#direct.retire();
        }
        #hear(path, method, params) {
          if (path !== this.#extension) return;
          if (method === "tabhub/carried") {
            this.#said = params;
            this.#changed();
            if (params.refused) Values.warnOf(params.refused);
          } else if (method === "tabhub/leave") this.#leave(path, 0);
        }
        /**
         * The extension does not carry the page any more; path is closed when what runs on
         * it is answered.
         * @param wait ms for its successor
         */
        #leave(path, wait) {
          if (path !== this.#extension) return;
          this.#extension = null;
          if (this.#announced) this.#ask();
          this.#search();
          setTimeout(() => this.#joinDirectly(), wait);
          this.#changed();
        }
      };
    }
  });

  // assets/embed.ts
  if (typeof document !== "undefined") {
    const { dialWidget: dialWidget2 } = (init_dialwidget(), __toCommonJS(dialwidget_exports));
    (init_page(), __toCommonJS(page_exports)).joinHub(dialWidget2);
  }
})();
