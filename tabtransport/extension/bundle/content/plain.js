"use strict";
(() => {
  // content/framepath.ts
  function framePath(source) {
    const up = [];
    for (let at = source; at !== window; at = at.parent) {
      if (!at.parent || up.length === 32) return void 0;
      up[up.length] = frameIndex(at);
    }
    const path = [];
    for (let i = up.length - 1; i >= 0; i--) path[path.length] = up[i];
    return path;
  }
  function frameIndex(frame) {
    const { parent } = frame;
    let index = parent.length - 1;
    while (index >= 0 && parent[index] !== frame) index--;
    return index;
  }

  // content/oldforms.ts
  function offerOldForms(native) {
    const registered = /* @__PURE__ */ new Map();
    function registerTool(tool) {
      const name = String(tool?.name);
      const controller = registered.get(name) ?? new AbortController();
      const execute = (input, options) => tool.execute(input, { ...options, requestUserInteraction: async (ask) => ask() });
      registered.set(name, controller);
      Promise.resolve(native().registerTool({ description: name, ...tool, execute }, { signal: controller.signal })).catch(
        (error) => console.warn(`registerTool(${name}):`, error)
      );
      return { unregister: () => unregisterTool(name) };
    }
    function unregisterTool(name) {
      registered.get(name)?.abort();
      registered.delete(name);
    }
    function clearContext() {
      for (const name of [...registered.keys()]) unregisterTool(name);
    }
    function provideContext(offered) {
      clearContext();
      for (const tool of offered?.tools ?? []) registerTool(tool);
    }
    function oldContext() {
      const context = native();
      return Object.create(context, {
        registerTool: { value: registerTool },
        unregisterTool: { value: unregisterTool },
        clearContext: { value: clearContext },
        provideContext: { value: provideContext },
        getTools: { value: context.getTools.bind(context) },
        executeTool: { value: context.executeTool.bind(context) },
        addEventListener: { value: context.addEventListener.bind(context) },
        removeEventListener: { value: context.removeEventListener.bind(context) }
      });
    }
    let old;
    const get = () => old ??= oldContext();
    if (!("modelContext" in navigator)) {
      const set = (value) => void Object.defineProperty(navigator, "modelContext", { configurable: true, enumerable: true, writable: true, value });
      Object.defineProperty(Navigator.prototype, "modelContext", { configurable: true, get, set });
    }
    if (!("mcp" in window)) {
      const register = (name, config, execute) => {
        const { title, description = name, inputSchema, annotations } = config ?? {};
        return registerTool({ name, title, description, inputSchema: jsonSchema(inputSchema), annotations, execute });
      };
      Object.defineProperty(window, "mcp", { configurable: true, writable: true, value: { registerTool: register } });
    }
    return get;
  }
  function jsonSchema(schema) {
    if (!schema || typeof schema.type === "string" || typeof schema.properties === "object") return schema ?? void 0;
    const properties = Object.fromEntries(
      Object.entries(schema).map(([name, validator]) => {
        const description = validator?.description;
        return [name, typeof description === "string" ? { description } : {}];
      })
    );
    return { type: "object", properties };
  }

  // ../pagejs/watchtools.ts
  var Unchanged = { stringify: JSON.stringify, parse: JSON.parse };
  var KEPT = 6e4;
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

  // content/sentinel.ts
  function watchForSigns(offer) {
    const { document, top, addEventListener, dispatchEvent, setTimeout: setTimeout2, requestIdleCallback, CustomEvent } = window;
    const { apply } = Reflect;
    const { hasOwn, defineProperty, getOwnPropertyDescriptor } = Object;
    const { min } = Math;
    const { querySelector, querySelectorAll } = Document.prototype;
    const { stopImmediatePropagation } = Event.prototype;
    const { includes } = String.prototype;
    const { then } = Promise.prototype;
    const getter = (prototype, name) => getOwnPropertyDescriptor(prototype, name)?.get;
    const dataOf = getter(MessageEvent.prototype, "data");
    const sourceOf = getter(MessageEvent.prototype, "source");
    const originOf = getter(MessageEvent.prototype, "origin");
    const lengthOf = getter(NodeList.prototype, "length");
    const textOf = getter(Node.prototype, "textContent");
    const nativeOf = getter(Document.prototype, "modelContext");
    const native = hasOwn(Document.prototype, "modelContext") && window.ModelContext?.prototype;
    const getTools = native && native.getTools;
    const documents = { object: document, prototype: Document.prototype };
    const navigators = { object: navigator, prototype: Navigator.prototype };
    const BUSY = 500;
    const MARK = "tabhubSigns";
    const MAX_SIGNS = 64;
    const FIRST_AGAIN = 50;
    const LAST_AGAIN = 6400;
    const FIRST_WAIT = 250;
    const MAX_WAIT = 6e4;
    const TIMEOUT = 5e3;
    const given = /* @__PURE__ */ Object.create(null);
    const elsewhere = hasOwn(Navigator.prototype, "modelContext");
    const offered = offer && isSecureContext && !native && (elsewhere || !hasOwn(window, "ModelContext")) ? offer({
      changed: () => give("tools"),
      threw: (name, input, error) => half?.threw(name, input, error),
      took: async (caller, token) => await half?.took(caller, token) === true,
      resume: async (token) => (await reached())?.resume(token),
      release: async (token) => await (await reached())?.release(token) === true,
      ask: async (caller, request, interact) => {
        if (half) return half.ask(caller, request, interact);
        throw new TypeError("the tool's caller cannot be asked");
      }
    }) : void 0;
    const ours = offered ? offered.getters : [];
    if (offered) ours[ours.length] = offerOldForms(() => offered.context());
    let listening = false;
    let taken = false;
    let asked = false;
    const signs = [];
    let half;
    let brought;
    const halfThere = new Promise((resolve) => brought = resolve);
    function reached() {
      give("tools");
      return new Promise((resolve) => {
        apply(then, halfThere, [resolve]);
        setTimeout2(resolve, TIMEOUT);
      });
    }
    function give(kind, more) {
      if (given[kind] && !more) return;
      given[kind] = true;
      if (top === window) pass({ path: [], kind, ...more });
      else ask({ tabhub: "sign", kind, ...more }, FIRST_AGAIN);
    }
    function pass(sign) {
      dispatchEvent(new CustomEvent("tabhub-sign", { detail: sign }));
      if (asked || sign.path.length && signs.length >= MAX_SIGNS) return;
      defineProperty(signs, signs.length, { value: sign });
      defineProperty(window, MARK, { value: true });
    }
    function ask(sign, wait) {
      top?.postMessage(sign, "*");
      if (wait <= LAST_AGAIN) setTimeout2(() => taken || ask(sign, wait * 2), wait);
    }
    function heard(event) {
      if (!event.isTrusted) return;
      const data = apply(dataOf, event, []);
      if (typeof data !== "object" || data === null) return;
      const source = apply(sourceOf, event, []);
      if (offered && hasOwn(data, "tabhub") && data.tabhub === "webmcp") {
        apply(stopImmediatePropagation, event, []);
        offered.heard(event);
        return;
      }
      if (hasOwn(data, "tabhub") && data.tabhub === "sign" && top === window && source !== window) {
        apply(stopImmediatePropagation, event, []);
        const path = source && framePath(source);
        if (path) pass({ path, kind: data.kind, child: data.child });
        return;
      }
      if (!hasOwn(data, "channel") || !hasOwn(data, "payload") || data.payload !== "mcp-server-ready") return;
      if (data.channel === "mcp-default" && source === window) give("server");
      if (data.channel !== "mcp-iframe" || source?.parent !== window) return;
      give("child", { child: { index: frameIndex(source), origin: apply(originOf, event, []) } });
    }
    function named() {
      const scripts = apply(querySelectorAll, document, ["script:not([src])"]);
      const length = apply(lengthOf, scripts, []);
      for (let index = 0; index < length; index++) {
        if (apply(includes, apply(textOf, scripts[index], []), ["mcp-default"])) return true;
      }
      return false;
    }
    function listen() {
      const context = !listening && apply(nativeOf, document, []);
      if (!context) return;
      listening = true;
      apply(addEventListener, context, ["toolchange", () => give("tools")]);
      const found = (tools) => void (tools.length && give("tools"));
      apply(then, apply(getTools, context, []), [found, () => {
      }]);
    }
    function look(wait) {
      lookOnce();
      if (!half) setTimeout2(() => look(min(wait * 2, MAX_WAIT)), wait);
    }
    function lookOnce() {
      if (hasLibrary()) give("tools");
      if (offered && apply(querySelector, document, ["form[toolname]"])) offered.start();
    }
    function hasLibrary() {
      return made(documents) || made(navigators);
    }
    function made({ object, prototype }) {
      const inherited = getOwnPropertyDescriptor(prototype, "modelContext");
      return (hasOwn(object, "modelContext") || inherited && !isOurs(inherited.get)) && object.modelContext;
    }
    function isOurs(get) {
      for (let index = 0; index < ours.length; index++) if (ours[index] === get) return true;
      return false;
    }
    if (top === window) {
      addEventListener("tabhub-gateway", () => {
        if (asked || !signs.length) return;
        asked = true;
        for (let index = 0; index < signs.length; index++) pass(signs[index]);
      });
    }
    addEventListener("tabhub-taken", () => taken = true);
    addEventListener("tabhub-half", (event) => {
      if (half || !(given.tools || given.server || given.child)) return;
      half = event.detail;
      event.preventDefault();
      brought(half);
      if (!native) half.look(offered && { context: offered.context, getters: ours });
    });
    addEventListener("message", heard);
    addEventListener("load", () => setTimeout2(() => {
      if (named()) give("named");
      if (!native) lookOnce();
      if (native && top === window) listen();
      else if (native) requestIdleCallback(listen, { timeout: BUSY });
    }));
    addEventListener("tabhub-page", () => {
      if (apply(querySelector, document, ["script[src*='/tab.js'], script[src*='/embed.js'], link[rel=tabhub]"])) give("script");
    });
    if (native) {
      watchTools(native, {
        registers: () => give("tools"),
        threw: (name, input, error) => half?.threw(name, input, error),
        took: async (call, token) => "caller" in call ? half?.took(call.caller, token) : half?.tookNatively(call.name, call.input, token),
        resume: async (token) => (await reached())?.resume(token)
      });
      offerOldForms(() => apply(nativeOf, document, []));
      if (top === window) requestIdleCallback(listen, { timeout: BUSY });
    } else {
      setTimeout2(() => look(FIRST_WAIT), 0);
    }
  }

  // content/plain.ts
  watchForSigns();
})();
