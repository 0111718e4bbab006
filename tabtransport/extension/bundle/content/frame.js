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

  // content/combine.ts
  function combine(offers) {
    const tools = unique(offers.map((offer2) => Shape.tools(offer2.tools)), "name");
    const resources = unique(offers.map((offer2) => Shape.resources(offer2.resources)), "uri");
    const prompts = unique(offers.map((offer2) => Shape.prompts(offer2.prompts)), "name");
    const offer = {
      tools: tools.items,
      resources: resources.items,
      prompts: prompts.items,
      rejected: [...tools.rejected, ...resources.rejected, ...prompts.rejected]
    };
    const text = [tools, resources, prompts].map((kind) => kind.texts.join()).join("\n") + JSON.stringify(offer.rejected);
    return { text, offer };
  }
  function unique(lists, key) {
    const all = { items: [], texts: [], rejected: [] };
    const seen = /* @__PURE__ */ new Set();
    for (const list of lists) {
      const before = new Set(seen);
      list.items.forEach((item, i) => {
        const name = item[key] ?? item.uriTemplate;
        if (before.has(name)) return;
        seen.add(name);
        all.items.push(item);
        all.texts.push(list.texts[i]);
      });
      all.rejected.push(...list.rejected);
    }
    return all;
  }

  // content/ratelimit.ts
  var RateLimit = class {
    #perSecond;
    #since = 0;
    #count = 0;
    constructor(perSecond) {
      this.#perSecond = perSecond;
    }
    /** Whether it may be done once more now. */
    take() {
      const now = Date.now();
      if (now - this.#since > 1e3) {
        this.#since = now;
        this.#count = 0;
      }
      return ++this.#count <= this.#perSecond;
    }
  };

  // content/pagescript.ts
  var Unknown = class extends Error {
  };
  var PageScript = class _PageScript {
    static #maxFrame = 31 << 20;
    static #maxCalls = 64;
    /** Whether its hello was answered: it offers what it has here. */
    served = false;
    #port;
    #closed = false;
    #leaving = false;
    /** The id of its hello; null: none has come. */
    #hello = null;
    #next = 0;
    #asked = /* @__PURE__ */ new Map();
    /** Messages of the page that cause traffic to the hub. */
    #notices = new RateLimit(100);
    #owner;
    /** @param owner called with what the script says */
    constructor(port, owner) {
      this.#port = port;
      this.#owner = owner;
      port.onmessage = ({ data }) => {
        if (data?.close === true) {
          this.close(1e3);
          owner.closed();
        } else if (typeof data?.frame === "string") this.#heard(data.frame);
      };
      port.postMessage({ open: true });
    }
    /** Whether it waits for an answer to its hello. */
    get waits() {
      return this.#hello !== null && !this.served && !this.#closed;
    }
    /** Answers its hello. */
    serve(result) {
      this.served = true;
      if (this.#hello !== null) this.answer(this.#hello, result);
    }
    answer(id, result) {
      this.#post({ id, result });
    }
    tell(method, params) {
      this.#post({ method, params });
    }
    /** Asks it something. What was asked ends when signal is aborted or the port closed. */
    async ask(method, params, { signal, progress, waiting }) {
      if (this.#closed) throw new Unknown("the page's tabhub script has gone");
      if (this.#asked.size >= _PageScript.#maxCalls) throw new Error(`${_PageScript.#maxCalls} calls are running in this page already`);
      const id = `e${this.#next++}`;
      const cancelled = () => {
        this.tell("browser/cancel", { requestId: id, reason: Values.errorText(signal.reason) });
        this.#asked.get(id)?.reject(signal.reason);
      };
      signal.addEventListener("abort", cancelled);
      try {
        return await new Promise((resolve, reject) => {
          this.#asked.set(id, { resolve, reject, progress, waiting });
          this.#post({ id, method, params });
        });
      } finally {
        signal.removeEventListener("abort", cancelled);
        this.#asked.delete(id);
        if (this.#leaving && this.#asked.size === 0) this.close(1e3);
      }
    }
    /** Takes leave of it: it offers nothing here any more, and what it was asked may end. */
    leave() {
      this.#leaving = true;
      this.tell("tabhub/leave", {});
      if (this.#asked.size === 0) this.close(1e3);
    }
    /** @param code as that of a WebSocket */
    close(code) {
      if (this.#closed) return;
      this.#closed = true;
      this.#port.postMessage({ code, reason: "" });
      this.#port.close();
      for (const { reject } of [...this.#asked.values()]) reject(new Error("the page's tabhub script has gone"));
    }
    #post(message) {
      this.#port.postMessage({ frame: JSON.stringify({ jsonrpc: "2.0", ...message }) });
    }
    /** @param text what the page may have forged */
    #heard(text) {
      let frame;
      try {
        if (text.length <= _PageScript.#maxFrame) frame = JSON.parse(text);
      } catch {
      }
      if (!Values.isObject(frame) || this.#closed) return;
      const { id, method } = frame;
      const params = Values.isObject(frame.params) ? frame.params : {};
      if (method === void 0) {
        const asked = typeof id === "string" ? this.#asked.get(id) : void 0;
        if (Values.isObject(frame.error)) asked?.reject(_PageScript.#failure(frame.error));
        else asked?.resolve(frame.result);
      } else if (method === "browser/progress") {
        this.#progressed(params);
      } else if (this.#leaving || typeof method !== "string") {
        return;
      } else if (typeof id === "string" || typeof id === "number") {
        if (method !== "browser/hello") {
          if (this.served) this.#owner.request(id, method, params);
        } else if (this.#hello === null) {
          this.#hello = id;
          this.#owner.hello();
        }
      } else if (method === "browser/resourceUpdated" && this.served && typeof params.uri === "string" && this.#notices.take()) {
        this.#owner.updated(params.uri.slice(0, Limit.uri));
      }
    }
    static #failure({ code, message }) {
      const text = Values.errorText(new Error(String(message ?? "")));
      return code === -32001 ? new Unknown(text) : new Error(text);
    }
    #progressed({ requestId, progress, total, message, waiting }) {
      const asked = typeof requestId === "string" ? this.#asked.get(requestId) : void 0;
      if (waiting === true) return asked?.waiting?.();
      if (!asked?.progress || typeof progress !== "number" || !this.#notices.take()) return;
      asked.progress({
        progress,
        total: typeof total === "number" ? total : void 0,
        message: typeof message === "string" ? message.slice(0, Limit.message) : void 0
      });
    }
  };

  // content/embedded.ts
  var EmbeddedSource = class _EmbeddedSource {
    static #files = ["/tab.js", "/embed.js"];
    /** How the port closes where a newer copy of this script may follow. */
    static #goingAway = 1001;
    static #declined = 4100;
    static #maxSettling = 8;
    /** How often a script that is connected checks for the extension. */
    static #checkEvery = 2e3;
    static #kinds = {
      "browser/registerTools": "tools",
      "browser/updateTools": "tools",
      "browser/registerResources": "resources",
      "browser/updateResources": "resources",
      "browser/registerPrompts": "prompts",
      "browser/updatePrompts": "prompts"
    };
    #script;
    /** The hub that the page's script came from; the first that it says is the one. */
    #origin;
    /** Whether the user lets the hub see this site; undefined: not known yet. */
    #on;
    #hub;
    /** What the page says that it has. */
    #offer = { tools: [], resources: [], prompts: [] };
    /** What of it is offered. */
    #items = { tools: [], resources: [], prompts: [] };
    /** Whether the page has said something that was not published yet. */
    #dirty = false;
    /** Of all that the frame offers: how many offers the worker has, how many of them the hub has. */
    #published = { count: 0, tools: 0, resources: 0, prompts: 0 };
    #registered = 0;
    /** By the hub. */
    #refused;
    /** Requests for tabhub/settle that wait. */
    #settling = [];
    #soon;
    #changed;
    #updated;
    /**
     * @param changed called when what is offered may differ
     * @param updated called when a resource's content has changed
     * @param gone aborted when the extension goes away
     */
    constructor(changed, updated, gone) {
      this.#changed = changed;
      this.#updated = updated;
      addEventListener("tabhub-page", (event) => this.#join(event), { signal: gone });
      const check = setInterval(() => {
        if (!chrome.runtime?.id) this.#drop(_EmbeddedSource.#goingAway);
      }, _EmbeddedSource.#checkEvery);
      gone.addEventListener("abort", () => {
        clearInterval(check);
        this.#drop(_EmbeddedSource.#goingAway);
      });
    }
    // ---- Whether the page is connected
    start() {
      this.#on = true;
      this.#decide();
    }
    stop() {
      this.#on = false;
      this.#decide();
    }
    /** The worker says which hub the extension is set to, and how it stands with it. */
    hub(hub) {
      this.#hub = hub;
      this.#decide();
      this.#say();
    }
    /** The page goes, or is kept for going back: it asks again when it is back. */
    away() {
      this.#on = void 0;
      this.#hub = void 0;
      this.#drop(_EmbeddedSource.#goingAway);
    }
    /** Undefined where it is not known, or may change soon: a connected page stays connected. */
    get #serves() {
      if (this.#on === void 0 || !this.#hub) return void 0;
      const { address, state } = this.#hub;
      if (!this.#on || state === "refused" || state === "replaced") return false;
      if (this.#origin !== void 0 && !sameHub(this.#origin, address)) return false;
      return state === "connected" || void 0;
    }
    /** Whether the page names the extension's hub: no other page learns that the extension is there. */
    get #invited() {
      const address = this.#hub?.address ?? "";
      const isScript = (src) => URL.canParse(src) && _EmbeddedSource.#files.includes(new URL(src).pathname) && sameHub(src, address);
      const links = document.querySelectorAll("link[rel=tabhub]");
      return [...document.scripts].some(({ src }) => isScript(src)) || [...links].some(({ href }) => sameHub(href, address));
    }
    #decide() {
      const serves = this.#serves;
      const script = this.#script;
      if (serves === false) {
        if (script?.served) this.#leave();
        else if (script?.waits) this.#drop(_EmbeddedSource.#declined);
      } else if (serves && !script) {
        if (this.#invited) dispatchEvent(new Event("tabhub-extension"));
      } else if (serves && script?.waits) {
        const { hub, version } = this.#hub;
        script.serve({ hub, version, limits: { maxFrame: Limit.answer, maxTools: Limit.items } });
        this.#say();
      }
    }
    /** @param event of the page's script, or of a script that pretends to be it */
    #join(event) {
      if (!(event instanceof MessageEvent) || event.defaultPrevented) return;
      const port = event.ports[0];
      if (!port || !chrome.runtime?.id) return;
      const hub = typeof event.data === "string" ? event.data.slice(0, Limit.uri) : "";
      this.#origin ??= hub;
      if (!this.#on || this.#serves === false || hub !== this.#origin || !this.#invited) return;
      event.preventDefault();
      this.#drop(_EmbeddedSource.#declined);
      const script = new PageScript(port, {
        hello: () => this.#decide(),
        request: (id, method, params) => script === this.#script && this.#requested(id, method, params),
        updated: (uri) => this.#updated(uri),
        closed: () => script === this.#script && this.#forget()
      });
      this.#script = script;
    }
    #leave() {
      const script = this.#script;
      this.#forget();
      script?.leave();
    }
    #drop(code) {
      const script = this.#script;
      this.#forget();
      script?.close(code);
    }
    #forget() {
      if (!this.#script) return;
      this.#script = void 0;
      this.#offer = { tools: [], resources: [], prompts: [] };
      this.#items = { tools: [], resources: [], prompts: [] };
      this.#settling = [];
      this.#changed();
    }
    // ---- Messages from and to the page
    #requested(id, method, params) {
      const kind = Object.hasOwn(_EmbeddedSource.#kinds, method) ? _EmbeddedSource.#kinds[method] : void 0;
      if (kind) {
        const list = Array.isArray(params[kind]) ? params[kind].slice(0, Limit.items + 1) : [];
        const { items, rejected } = Shape[kind](list);
        this.#offer = { ...this.#offer, [kind]: list };
        this.#items = { ...this.#items, [kind]: items };
        this.#dirty = true;
        this.#script?.answer(id, { accepted: items.length, rejected });
        this.#soon ??= setTimeout(() => {
          this.#soon = void 0;
          this.#changed();
        });
      } else if (method === "tabhub/settle" && this.#settling.length < _EmbeddedSource.#maxSettling) {
        this.#settling.push(id);
        this.#settle();
      }
    }
    /**
     * The worker has all that the frame offers.
     * @param count of offers that the worker has
     */
    published({ tools, resources, prompts }, count) {
      this.#published = { count, tools: tools.length, resources: resources.length, prompts: prompts.length };
      this.#say();
      this.#settle();
    }
    /**
     * The hub has what the worker was sent.
     * @param count as that of {@link published}
     * @param refused what of it the hub does not offer, or lists otherwise
     * @returns whether the page's script is notified, which writes it to the console
     */
    registered(count, refused) {
      this.#registered = count;
      this.#refused = refused;
      this.#say();
      this.#settle();
      return this.#script?.served === true;
    }
    #settle() {
      if (this.#dirty || this.#registered < this.#published.count) return;
      for (const id of this.#settling.splice(0)) this.#script?.answer(id, {});
    }
    /** Tells the page's script how the page is offered. */
    #say() {
      if (!this.#script?.served) return;
      const { tools, resources, prompts } = this.#published;
      const connected = this.#hub?.state === "connected";
      const refused = this.#refused;
      const rejected = Object.values(refused ?? {}).flatMap((of) => of.rejected);
      this.#script.tell("tabhub/carried", { connected, tools, resources, prompts, rejected, refused });
    }
    // ---- What the page is asked
    async offer() {
      this.#dirty = false;
      return this.#offer;
    }
    has(name) {
      return this.#items.tools.some((tool) => tool.name === name);
    }
    /** Whether the page has a resource: it lists the URI, or a template that may fit. */
    hasResource(uri) {
      if (this.#items.resources.some((resource) => resource.uri === uri)) return "listed";
      return this.#items.resources.some((resource) => resource.uriTemplate !== void 0) ? "perhaps" : void 0;
    }
    hasPrompt(name) {
      return this.#items.prompts.some((prompt) => prompt.name === name);
    }
    async call(name, args, options) {
      const result = await this.#ask("browser/executeTool", { toolName: name, args }, options);
      if (Values.isObject(result) && result.success === true) return JSON.stringify(result.payload ?? { content: [] });
      const said = Values.isObject(result) ? result.payload : void 0;
      throw new Error(typeof said === "string" ? said : JSON.stringify(said));
    }
    async read(uri, options) {
      return JSON.stringify(await this.#ask("browser/readResource", { uri }, options) ?? {});
    }
    async subscribe(uri, on, options) {
      await this.#ask("browser/subscribeResource", { uri, subscribe: on }, options);
    }
    async prompt(name, args, options) {
      return JSON.stringify(await this.#ask("browser/getPrompt", { name, args }, options) ?? {});
    }
    #ask(method, params, options) {
      if (!this.#script?.served) throw new Unknown("the page's tabhub script has gone");
      const { extensions } = options;
      return this.#script.ask(method, extensions ? { ...params, extensions } : params, options);
    }
  };
  function sameHub(origin, address) {
    if (!URL.canParse(origin) || !URL.canParse(address)) return false;
    const [page, own] = [new URL(origin), new URL(address)];
    const loopback = (host) => /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(host);
    return page.protocol.replace("http", "ws") === own.protocol && page.port === own.port && (page.hostname === own.hostname || loopback(page.hostname) && loopback(own.hostname));
  }

  // content/librarysource.ts
  var LibrarySource = class {
    #port;
    #tools = [];
    /** The calls that run, and what to do when they do not wait for the person any more. */
    #running = /* @__PURE__ */ new Map();
    #changed;
    #native;
    #resume;
    /**
     * @param changed called when the tools may differ
     * @param native called with what tools of the browser's WebMCP do
     * @param resume takes up a call that has taken a token, which run then goes on with unless that is beside; resolves to its id, if there is one
     */
    constructor(changed, native, resume) {
      this.#changed = changed;
      this.#native = native;
      this.#resume = resume;
    }
    /** Joins the page's world of a frame that has given a sign. */
    ask() {
      if (this.#port) return;
      const offered = (event) => {
        if (event instanceof MessageEvent && event.ports[0]) this.#join(event.ports[0]);
      };
      addEventListener("tabhub-port", offered, { once: true });
      dispatchEvent(new Event("tabhub-frame"));
      removeEventListener("tabhub-port", offered);
    }
    #join(port) {
      this.#port = port;
      port.onmessage = (event) => this.#heard(event.data);
      port.postMessage({ type: "start" });
    }
    start() {
    }
    stop() {
    }
    async offer() {
      return { tools: this.#tools, resources: [], prompts: [] };
    }
    has(name) {
      return this.#tools.some((tool) => tool.name === name);
    }
    async call(name, args, options) {
      const { extensions } = options;
      return this.#run(options, (id) => this.#send({ type: "call", id, name, args, extensions }));
    }
    /** Waits for what the page's world runs. */
    async #run(options, begin) {
      const { signal } = options;
      const id = Values.randomID();
      const cancel = () => this.#send({ type: "cancel", id, reason: Values.errorText(signal.reason) });
      signal.addEventListener("abort", cancel);
      try {
        const text = await new Promise((resolve, reject) => {
          this.#running.set(id, { ...options, resolve, reject });
          begin(id);
        });
        return Values.callToolResult(text);
      } finally {
        signal.removeEventListener("abort", cancel);
        this.#running.delete(id);
      }
    }
    /**
     * A tool has taken a token.
     * @param message what the page may have forged
     */
    async #took({ id, name, input, token: given }) {
      const token = String(given).slice(0, Limit.uri);
      const keeping = id === void 0 ? this.#native?.took(String(name), String(input), token) : this.#running.get(id)?.token?.(token);
      const kept = keeping !== void 0 && await keeping.then(() => true, () => false);
      this.#send({ type: "kept", token, kept });
    }
    /** The page resumes a call with a token. */
    async #resumed(token, beside) {
      const id = await this.#resume(token, beside, (input, options) => {
        return this.#run(options, (id2) => this.#send({ type: "resumed", token, id: id2, input }));
      });
      if (id === void 0 || beside) this.#send({ type: "resumed", token, id });
    }
    #send(message) {
      this.#port?.postMessage(message);
    }
    /** @param message what the page may have forged */
    #heard(message) {
      switch (message?.type) {
        case "tools":
          try {
            this.#tools = Shape.tools(JSON.parse(String(message.tools))).items;
          } catch {
            return;
          }
          this.#changed();
          break;
        case "result":
          this.#running.get(message.id)?.resolve(String(message.text));
          break;
        case "waiting": {
          const running = this.#running.get(message.id);
          if (message.on === true && running) running.over ??= running.waiting?.();
          else if (running) running.over = void running.over?.();
          break;
        }
        case "error":
          this.#running.get(message.id)?.reject(new Error(String(message.message)));
          break;
        case "token":
          void this.#took(message);
          break;
        case "resume":
          void this.#resumed(String(message.token).slice(0, Limit.uri), message.beside === true);
          break;
        case "threw":
          this.#native?.threw(String(message.name), String(message.input), String(message.message));
          break;
      }
    }
  };

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

  // ../pagejs/pageserver.ts
  var PageServer = class _PageServer {
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
  var NoAnswer = class extends Error {
  };

  // content/frame.ts
  var TabhubFrame = class _TabhubFrame {
    static #debounce = 500;
    /** How many characters may be offered in a ms: the next offer waits for as long as the last took of that. */
    static #rate = 256;
    /** How long a call waits for a tool that the page, just loaded, has yet to register. */
    static #toolTimeout = 5e3;
    /** How long after its load a page that has offered nothing is taken to have nothing. */
    static #settled = 1e3;
    /** How long the document may take to begin to leave, in ms, once a form was submitted. */
    static #submitted = 100;
    static #maxChildren = 64;
    /** How many calls that have ended are remembered; the hub has fewer open at a time. */
    static #maxEnded = 1024;
    /** That of the ids of what it asks the page's servers. */
    static #prefix = `tabhub-${Values.randomID()}-`;
    /** Where it was brought to. */
    document = document;
    #port;
    #opened = 0;
    /** Since when this script gets the frame's calls, as Date.now() has it; Infinity while the page is away. */
    #since = Infinity;
    #retry = 100;
    #on = false;
    /** Whether the frame's sentinel has given a sign. */
    #signed = false;
    #stopped = false;
    #embedded;
    #native;
    #server;
    #library;
    #children = /* @__PURE__ */ new Map();
    #running = /* @__PURE__ */ new Map();
    /** What the worker has not answered about tokens. */
    #asked = /* @__PURE__ */ new Map();
    /** Whether the document is about to give way to another one. */
    #leaving = false;
    /** Answers that the hub may not have yet. */
    #answers = /* @__PURE__ */ new Map();
    /** Calls whose answer the hub has, or does not want, the oldest first. */
    #ended = /* @__PURE__ */ new Set();
    /** What was last sent over this port, to send only changes; undefined: nothing yet. */
    #sent;
    /** How many offers the worker was sent. */
    #offers = 0;
    #settledEmpty = false;
    #resting;
    #dirty = false;
    /** Settled when the page's own clients do not hear what servers answer here. */
    #hidden;
    /** Notices of the page's servers that cause traffic to the hub. */
    #notices = new RateLimit(100);
    /** Tokens, each of which is stored, too. */
    #tokens = new RateLimit(20);
    #watchers = /* @__PURE__ */ new Set();
    #unlisten = new AbortController();
    constructor() {
      const changed = () => this.#changed();
      this.#embedded = new EmbeddedSource(changed, (uri) => this.#updated(uri), this.#unlisten.signal);
      const context = document.modelContext;
      const native = typeof context?.getTools === "function" && typeof context.executeTool === "function";
      this.#native = native ? new ModelContextTools(context, changed) : void 0;
      this.#server = new PageServer(window, self.origin, "mcp-default", this.#client(globalThis.tabhubOpenedEarlier === true));
      this.#library = new LibrarySource(changed, this.#native, (token, beside, run) => this.#resume(token, beside, run));
      const { signal } = this.#unlisten;
      addEventListener("message", (event) => this.#heard(event), { signal });
      addEventListener("tabhub-dialog", (event) => this.#dialog(event.detail), { signal });
      addEventListener("pageshow", (event) => event.persisted && this.#back(), { signal });
      addEventListener("pagehide", () => this.#leave(), { signal });
      navigation.addEventListener("navigate", (event) => this.#navigates(event), { signal });
      addEventListener("load", () => setTimeout(() => this.#settle(), _TabhubFrame.#settled), { signal });
      if (document.readyState === "complete") setTimeout(() => this.#settle(), _TabhubFrame.#settled);
      if (document.prerendering) document.addEventListener("prerenderingchange", () => this.#connect(), { once: true });
      else this.#connect();
    }
    /** The document's own sources; of two that have a tool the first counts. */
    get #sources() {
      const found = [this.#server, this.#library];
      return this.#native ? [this.#embedded, this.#native, ...found] : [this.#embedded, ...found];
    }
    /**
     * Takes up a sign that the frame's sentinel gave before this script was here.
     * @param sign the page may have forged it
     */
    signed({ kind, child }) {
      this.#signed = true;
      if (this.#on) dispatchEvent(new Event("tabhub-taken"));
      if (kind === "server") this.#server.heard("mcp-server-ready");
      if (kind === "child" && child) {
        const target = frames[Number(child.index)];
        if (child.index === -1) this.#askChildren();
        else if (target?.parent === window && !this.#children.has(target)) this.#child(target, String(child.origin))?.heard("mcp-server-ready");
      }
      if (kind === "server" || kind === "child" || kind === "tools") this.#library.ask();
    }
    stop() {
      this.#stopped = true;
      this.#unlisten.abort();
      this.#turnOff();
      this.#disconnect();
    }
    // ---- The port
    #connect() {
      if (this.#stopped) return;
      if (!chrome.runtime?.id) {
        this.stop();
        return;
      }
      let port;
      try {
        port = chrome.runtime.connect({ name: "frame" });
      } catch {
        this.stop();
        return;
      }
      this.#port = port;
      this.#opened = Date.now();
      this.#since = Math.min(this.#since, this.#opened);
      this.#sent = void 0;
      for (const child of this.#children.values()) child.sent = "";
      port.onMessage.addListener((message) => this.#received(message));
      port.onDisconnect.addListener(() => this.#disconnected(port));
      this.#post({ type: "hello", calls: [...this.#running.keys(), ...this.#answers.keys()], since: this.#since });
      for (const [id, { waiting, leads }] of this.#running) {
        if (waiting) this.#post({ type: "waiting", id, on: true });
        if (leads) this.#post({ type: "leaving", id, ...leads });
      }
      for (const answer of this.#answers.values()) this.#post(answer);
      for (const { message } of this.#asked.values()) this.#post(message);
    }
    #disconnect() {
      const port = this.#port;
      this.#port = void 0;
      port?.disconnect();
    }
    #disconnected(port) {
      void chrome.runtime?.lastError;
      if (this.#port !== port) return;
      this.#port = void 0;
      this.#retry = Date.now() - this.#opened > 1e3 ? 0 : Math.min(this.#retry * 2 + 100, 5e3);
      setTimeout(() => this.#port || this.#connect(), this.#retry);
    }
    #post(message) {
      this.#port?.postMessage(message);
    }
    /**
     * The document may give way to another one, or the page may yet keep it. Of several calls
     * there is no telling whose doing that is, and what the person in front of the tab does is no
     * call's, unless it is the call's form that is submitted.
     */
    #navigates(event) {
      const { destination, downloadRequest, userInitiated, sourceElement } = event;
      if (destination.sameDocument || downloadRequest !== null) return;
      this.#leaving = true;
      setTimeout(() => {
        if (event.defaultPrevented || navigation.transition) this.#stays();
      });
      const form = toolOf(sourceElement);
      for (const [id, { tool }] of this.#running) if (form !== null && tool === form) return this.#leads(id, true);
      if (!userInitiated && this.#running.size === 1) for (const id of this.#running.keys()) this.#leads(id, false);
    }
    /**
     * A call leads to another document.
     * @param submitted whether that is its form's doing: the browser says so, too, if it still comes to it
     */
    #leads(id, submitted) {
      const running = this.#running.get(id);
      if (!running || running.leads) return;
      running.leads = { submitted };
      this.#post({ type: "leaving", id, submitted });
    }
    /** The page has kept the document from giving way to another one. */
    #stays() {
      this.#leaving = false;
      for (const running of this.#running.values()) running.leads = void 0;
      this.#post({ type: "staying" });
    }
    /**
     * The page opens a dialog, or has closed it. From here the worker still hears of it.
     * @param detail the page may have forged it
     */
    #dialog(detail) {
      const { type, message } = JSON.parse(String(detail));
      if (type && !this.#notices.take()) return;
      this.#post({ type: "dialog", dialog: { type: String(type).slice(0, 32), message: String(message).slice(0, 1e3) } });
    }
    /** The page goes, or is kept in the back/forward cache. */
    #leave() {
      this.#embedded.away();
      this.#disconnect();
      this.#since = Infinity;
    }
    /** The page is shown again after it was kept in the back/forward cache. */
    #back() {
      this.#stays();
      this.#server.revive();
      for (const { server } of this.#children.values()) server.revive();
      if (!this.#port) this.#connect();
    }
    #received(message) {
      switch (message.type) {
        case "hub":
          this.#embedded.hub(message);
          break;
        case "registered":
          if (!this.#embedded.registered(message.count, message.refused)) Values.warnOf(message.refused);
          break;
        case "on":
          this.#turnOn();
          break;
        case "off":
          this.#turnOff();
          break;
        case "request":
          void this.#run(message);
          break;
        case "cancel":
          this.#running.get(message.id)?.controller.abort(new DOMException(message.reason, "AbortError"));
          break;
        case "done":
          for (const id of message.ids) {
            this.#answers.delete(id);
            this.#end(id);
          }
          break;
        case "check":
          this.#check(message.origin);
          break;
        case "kept":
        case "resumed":
          this.#asked.get(message.token)?.resolve(message);
          this.#asked.delete(message.token);
      }
    }
    // ---- What is offered
    #turnOn() {
      this.#embedded.start();
      if (!this.#on) {
        this.#on = true;
        if (this.#signed) dispatchEvent(new Event("tabhub-taken"));
        for (const source of this.#sources) source.start();
        for (const { server } of this.#children.values()) server.start();
        if (globalThis.tabhubOpenedEarlier === true) {
          this.#askChildren();
          this.#library.ask();
        }
      }
      clearTimeout(this.#resting);
      this.#resting = void 0;
      this.#changed();
    }
    #turnOff() {
      this.#on = false;
      for (const { controller, embedded } of this.#running.values()) if (!embedded) controller.abort(new SwitchedOff());
      for (const source of this.#sources) source.stop();
      for (const { server } of this.#children.values()) server.stop();
      this.#sent = void 0;
    }
    #settle() {
      this.#settledEmpty = true;
      this.#changed();
    }
    /** Publishes now, or soon if that was done a moment ago. */
    #changed() {
      for (const wake of this.#watchers) wake();
      if (this.#resting !== void 0) {
        this.#dirty = true;
        return;
      }
      this.#rest(_TabhubFrame.#debounce);
      void this.#publish();
    }
    /** Publishes nothing for so long, then what has changed meanwhile. */
    #rest(ms) {
      clearTimeout(this.#resting);
      this.#resting = setTimeout(() => {
        this.#resting = void 0;
        if (!this.#dirty) return;
        this.#dirty = false;
        this.#changed();
      }, ms);
    }
    async #publish() {
      if (!this.#on || !this.#port) return;
      const port = this.#port;
      const sources = this.#sources;
      const offers = await Promise.all(sources.map((source) => source.offer().catch(() => NOTHING)));
      if (port !== this.#port || !this.#on) return;
      const { text, offer } = combine(offers.map((offer2, i) => this.#ownOf(sources[i], offer2)));
      const empty = offer.tools.length + offer.resources.length + offer.prompts.length + offer.rejected.length === 0;
      const wait = empty && this.#sent === void 0 && !this.#settledEmpty;
      let size = 0;
      if (text !== this.#sent && !wait) {
        size = text.length;
        this.#sent = text;
        this.#post({ type: "offer", offer, count: ++this.#offers });
      }
      this.#embedded.published(offer, this.#offers);
      for (const wake of this.#watchers) wake();
      for (const child of this.#children.values()) {
        const { text: text2, offer: offer2 } = combine([await child.server.offer()]);
        if (port !== this.#port || text2 === child.sent) continue;
        size += text2.length;
        child.sent = text2;
        this.#post({ type: "offer", child: { key: child.key, origin: child.server.origin }, offer: offer2, count: this.#offers });
      }
      if (size > _TabhubFrame.#debounce * _TabhubFrame.#rate) this.#rest(size / _TabhubFrame.#rate);
      else if (wait && !size) this.#rest(0);
    }
    /**
     * What of a source's offer is of this document. A library takes all that the browser lists in it
     * for the page's own, and has it served here: also the tools of frames of its origin.
     */
    #ownOf(source, offer) {
      const native = this.#native;
      if (!native || source !== this.#server && source !== this.#library) return offer;
      const tools = offer.tools.filter((tool) => !native.isOfAnother(String(tool?.name)));
      return { ...offer, tools };
    }
    #updated(uri) {
      if (this.#notices.take()) this.#post({ type: "updated", uri });
    }
    // ---- Page servers
    #heard(event) {
      if (!event.isTrusted) return;
      if (event.source === window) {
        this.#server.heard(PageServer.payload(event.data, "mcp-default"));
        return;
      }
      const source = event.source;
      if (source?.parent !== window) return;
      const payload = PageServer.payload(event.data, "mcp-iframe");
      if (payload !== void 0 && event.origin !== "null") this.#child(source, event.origin)?.heard(payload);
    }
    #client(asks) {
      const { version } = chrome.runtime.getManifest();
      return {
        version,
        prefix: _TabhubFrame.#prefix,
        asks,
        tries: false,
        hidden: () => this.#hidden ??= this.#hide(),
        changed: () => this.#changed(),
        updated: (uri) => this.#updated(uri)
      };
    }
    /** Keeps what servers answer to this script from the clients that the page itself may have. */
    async #hide() {
      await chrome.runtime.sendMessage({ type: "answers" }).catch(() => {
      });
      dispatchEvent(new CustomEvent("tabhub-answers", { detail: _TabhubFrame.#prefix }));
    }
    /** Asks the frames in the document for servers that were there before this script. */
    #askChildren() {
      const ask = { channel: "mcp-iframe", type: "mcp", direction: "client-to-server", payload: "mcp-check-ready" };
      let left = _TabhubFrame.#maxChildren;
      for (const tree of [document, ...shadowTrees(document)]) {
        for (const frame of tree.querySelectorAll("iframe")) if (left-- > 0) frame.contentWindow?.postMessage(ask, "*");
      }
    }
    /** The client of the server in a child frame. The origin is the browser's word. */
    #child(target, origin) {
      const known = this.#children.get(target);
      if (known?.server.origin === origin) return known.server;
      known?.server.stop();
      if (!known && this.#children.size >= _TabhubFrame.#maxChildren) return void 0;
      const keys = new Set([...this.#children.values()].map((child) => child.key));
      let key = known?.key ?? 0;
      while (!known && keys.has(key)) key++;
      const server = new PageServer(target, origin, "mcp-iframe", this.#client(true));
      this.#children.set(target, { key, server, sent: "" });
      if (this.#on) server.start();
      return server;
    }
    /** A document of an origin has gone: servers there are asked whether they are left. */
    #check(origin) {
      for (const [target, { key, server }] of this.#children) {
        if (server.origin !== origin) continue;
        if (!target.closed) {
          void server.check();
          continue;
        }
        server.stop();
        this.#children.delete(target);
        this.#post({ type: "offer", child: { key, origin }, offer: { ...NOTHING, rejected: [] }, count: this.#offers });
      }
      this.#changed();
    }
    // ---- Calls
    async #run(request) {
      const { id, sentAt } = request;
      if (this.#running.has(id)) return;
      const held = this.#answers.get(id);
      if (held) {
        this.#post(held);
        return;
      }
      const ended = this.#ended.has(id);
      if (ended || sentAt !== void 0 && sentAt <= this.#since) {
        const why = ended ? "the call's answer was lost" : "the page has changed since the call was sent";
        this.#answer({ type: "answer", id, error: { code: -32001, message: `${why}; it may have taken effect` } });
        return;
      }
      if (!this.#running.size) this.#leaving = false;
      const tool = request.ask === "tool" && request.child === void 0 ? request.name : void 0;
      await this.#carryOut(id, request.ask === "tool", tool, (signal) => this.#perform(request, signal));
    }
    /**
     * Runs a call, or a part of one, and answers it.
     * @param tool its name, if it is the document's own
     */
    async #carryOut(id, ofTool, tool, work) {
      const controller = new AbortController();
      const { signal } = controller;
      this.#running.set(id, { tool, controller, embedded: false, waiting: false });
      let answer;
      try {
        const result = await work(signal);
        if (signal.reason instanceof SwitchedOff) throw signal.reason;
        answer = { type: "answer", id, ...result };
      } catch (thrown) {
        const error = signal.reason instanceof SwitchedOff ? signal.reason : thrown;
        const message = Values.errorText(error);
        answer = ofTool && !(error instanceof Unknown) ? { type: "answer", id, result: JSON.stringify({ success: false, payload: message }) } : { type: "answer", id, error: { code: error instanceof Unknown ? -32602 : -32603, message } };
      }
      answer.leaving = ofTool && this.#running.get(id)?.leads !== void 0;
      this.#running.delete(id);
      if (signal.aborted && !(signal.reason instanceof SwitchedOff)) this.#end(id);
      else this.#answer(answer);
    }
    /**
     * What a tool may do beside returning something.
     * @param input the call's arguments, as JSON
     */
    #optionsOf(id, input, signal) {
      return {
        signal,
        progress: (p) => {
          if (this.#notices.take()) this.#post({ type: "progress", id, ...p });
        },
        waiting: () => this.#waits(id),
        token: async (token) => {
          if (!this.#tokens.take()) throw new Error("the page takes too many tokens");
          const { kept } = await this.#ask({ type: "token", id, token, input: input() });
          if (!kept) throw new Error("the call cannot go on in another document");
        }
      };
    }
    /**
     * Takes up a call that has taken a token in another document.
     * @param beside whether that document is there and answers it
     * @returns the call's id; undefined if it cannot be resumed
     */
    async #resume(token, beside, run) {
      const { id, input } = await this.#ask({ type: "resume", token, beside });
      if (id === void 0 || beside) return id;
      void this.#carryOut(id, true, void 0, async (signal) => toolResult(await run(input, this.#optionsOf(id, () => input, signal))));
      return id;
    }
    /**
     * Asks the worker about a token, this one or if it is stopped the next.
     * @returns its answer
     */
    #ask(message) {
      return new Promise((resolve) => {
        this.#asked.set(message.token, { message, resolve });
        this.#post(message);
      });
    }
    /** A call waits for the person in front of the tab. */
    #waits(id) {
      const wait = (on) => {
        const running = this.#running.get(id);
        if (!running || running.waiting === on) return;
        running.waiting = on;
        this.#post({ type: "waiting", id, on });
      };
      wait(true);
      return () => wait(false);
    }
    /** Notes whether a call is for the hub's own script in the page. */
    #carry(id, embedded) {
      const running = this.#running.get(id);
      if (running) running.embedded = embedded;
    }
    #answer(answer) {
      this.#answers.set(answer.id, answer);
      this.#post(answer);
    }
    #end(id) {
      this.#ended.add(id);
      for (const oldest of this.#ended) {
        if (this.#ended.size <= _TabhubFrame.#maxEnded) break;
        this.#ended.delete(oldest);
      }
    }
    async #perform(request, signal) {
      const server = request.child === void 0 ? this.#server : this.#childServer(request.child);
      const embedded = request.child === void 0 ? this.#embedded : void 0;
      const { extensions } = request;
      switch (request.ask) {
        case "tool": {
          const source = request.child === void 0 ? await this.#sourceOf(request.name, signal) : server;
          this.#carry(request.id, source === this.#embedded);
          const { args = {} } = request;
          const options = this.#optionsOf(request.id, () => JSON.stringify(args), signal);
          const result = await source.call(request.name, args, { ...options, extensions });
          if (result === Values.SUBMITTED) {
            if (!this.#leaving) {
              await new Promise((done) => {
                navigation.addEventListener("navigate", done, { once: true });
                setTimeout(done, _TabhubFrame.#submitted);
              });
            }
            if (this.#leaving) this.#leads(request.id, true);
          }
          return toolResult(result);
        }
        case "read":
          return { result: await this.#resource(request, (source) => source.read(request.name, { signal, extensions })) };
        case "subscribe":
          await this.#resource(request, (source) => source.subscribe(request.name, request.on === true, { signal }));
          return { result: "{}" };
        case "prompt":
          if (embedded?.hasPrompt(request.name)) {
            this.#carry(request.id, true);
            return { result: await embedded.prompt(request.name, request.args, { signal, extensions }) };
          }
          return { result: await server.prompt(request.name, request.args, { signal, extensions }) };
        case "complete":
          return { result: await server.complete(request.about, { signal }) };
      }
    }
    /** Asks the source that has a resource; a URI that no source lists may be one of a template's. */
    async #resource({ id, child, name }, ask) {
      if (child !== void 0) return ask(this.#childServer(child));
      const has = this.#embedded.hasResource(name);
      if (has === "listed" || has === "perhaps" && !this.#server.hasResource(name)) {
        try {
          this.#carry(id, true);
          return await ask(this.#embedded);
        } catch (error) {
          if (has === "listed" || !(error instanceof Unknown)) throw error;
        }
      }
      this.#carry(id, false);
      return ask(this.#server);
    }
    #childServer(key) {
      for (const child of this.#children.values()) if (child.key === key) return child.server;
      throw new Unknown("the frame has gone");
    }
    async #sourceOf(name, signal) {
      const until = Date.now() + _TabhubFrame.#toolTimeout;
      for (; ; ) {
        const source = this.#sources.find((source2) => source2.has(name));
        if (source) return source;
        const left = until - Date.now();
        if (left <= 0 || signal.aborted) throw new Unknown(`the page has no tool ${name} any more`);
        let wake = () => {
        };
        await new Promise((done) => {
          wake = () => done(void 0);
          this.#watchers.add(wake);
          setTimeout(wake, left);
          signal.addEventListener("abort", wake);
        });
        this.#watchers.delete(wake);
      }
    }
  };
  function toolResult(result) {
    if (result.length > Limit.answer) {
      throw new Error(`the result of ${result.length >> 20} MiB is larger than the ${Limit.answer >> 20} MiB allowed`);
    }
    return { result: `{"success":true,"payload":${result}}`, nothing: Values.isNothing(result) };
  }
  var SwitchedOff = class extends Error {
    constructor() {
      super("the user has switched this site off; the call may have taken effect");
    }
  };
  function toolOf(source) {
    const form = source instanceof HTMLFormElement ? source : source?.form;
    return form ? Element.prototype.getAttribute.call(form, "toolname") : null;
  }
  var NOTHING = { tools: [], resources: [], prompts: [] };
  {
    const before = Object.hasOwn(globalThis, "tabhubFrame") ? globalThis.tabhubFrame : void 0;
    if (before?.document !== document) {
      before?.stop();
      globalThis.tabhubFrame = new TabhubFrame();
    }
  }
})();
