// This runs in the page's own world, before the page's scripts. It does what the
// extension's world cannot:
//
//   - it sees modelContext objects that a page's library made, and calls their tools;
//   - where the browser has WebMCP, it gives pages written for its removed or older
//     forms (navigator.modelContext, window.mcp) what they look for;
//   - it notes what a tool throws, which the browser hides from its caller.
//
// It only ever speaks for the page itself. The page can change what it is made of; where
// the page has no modelContext there is nothing that it could notice: all that is called
// there was taken before any script of the page ran, and nothing is read that a script may
// have put something in the way of.
"use strict";

(() => {
  const { document, navigator, setTimeout } = window;
  const { hasOwn } = Object;
  const { apply } = Reflect;
  const { min } = Math;
  const places = [
    { object: document, prototype: Document.prototype },
    { object: navigator, prototype: Navigator.prototype },
  ];

  /** The browser's own, because no script of the page has run yet. */
  const native = document.modelContext;
  const { port1: port, port2: far } = new MessageChannel();

  /** @param {ShimMessage} message */
  function send(message) {
    port.postMessage(message);
  }

  /** @param {unknown} error */
  function textOf(error) {
    try {
      return error instanceof Error ? error.message || error.name : String(error);
    } catch {
      return "";
    }
  }

  // ---- Tools of a modelContext that a library of the page made

  /**
   * A modelContext of whatever generation, as the four things needed of it.
   *
   * @typedef {object} PageContext
   * @property {() => Promise<object[]>} tools
   * @property {(name: string, args: object, signal: AbortSignal) => Promise<string | null>} call
   * @property {EventTarget | undefined} events fires toolchange
   */

  /**
   * Whatever is at document.modelContext or navigator.modelContext.
   *
   * @returns {any}
   */
  function modelContext() {
    for (let i = 0; i < 2; i++) {
      const { object, prototype } = places[i];
      const there = hasOwn(object, "modelContext") || hasOwn(prototype, "modelContext");
      const made = there ? /** @type {any} */ (object).modelContext : undefined;
      if (made) return made;
    }
    return undefined;
  }

  /**
   * Returns what the page made, if it is something that only this shim can reach. A
   * server that answers over messages is reached that way, and keeps its results'
   * full form.
   *
   * @returns {PageContext | undefined}
   */
  function find() {
    const nav = /** @type {any} */ (navigator);
    const made = modelContext();
    if (!made || made.__isBrowserMcpServer || /** @type {any} */ (window).__mcpBridge) return undefined;
    const events = typeof made.addEventListener === "function" ? made : undefined;
    if (typeof made.getTools === "function" && typeof made.executeTool === "function") {
      return {
        events,
        tools: () => made.getTools(),
        call: async (name, args, signal) => {
          const tool = (await made.getTools()).find((/** @type {{name: string}} */ t) => t.name === name);
          if (!tool) throw new Error(`the page has no tool ${name}`);
          return made.executeTool(tool, JSON.stringify(args), { signal });
        },
      };
    }
    const testing = nav.modelContextTesting;
    if (typeof testing?.listTools === "function" && typeof testing.executeTool === "function") {
      return {
        events: typeof testing.addEventListener === "function" ? testing : events,
        tools: async () => testing.listTools(),
        call: (name, args, signal) => testing.executeTool(name, JSON.stringify(args), { signal }),
      };
    }
    return undefined;
  }

  /** @type {PageContext | undefined} */
  let context;
  /** @type {Map<string, AbortController>} */
  const calls = new Map();

  /** Looks for a modelContext now, then ever more rarely: a page may load it late. */
  function watch(wait = 250) {
    context = find();
    if (!context) {
      setTimeout(watch, wait, min(wait * 2, 60_000));
      return;
    }
    context.events?.addEventListener("toolchange", () => void list());
    // Not every release tells that it has got tools, and most pages give them at once.
    again(250);
    void list();
  }

  /** Lists anew after a while, then ever more rarely. */
  function again(/** @type {number} */ wait) {
    setTimeout(() => {
      void list();
      again(min(wait * 2, 60_000));
    }, wait);
  }

  /** What was told last. */
  let told = "";

  async function list() {
    if (!context) return;
    let tools = "[]";
    try {
      tools = JSON.stringify(
        (await context.tools()).slice(0, 1025).map((tool) => {
          const { name, title, description, inputSchema, annotations } = /** @type {any} */ (tool);
          return { name, title, description, inputSchema, annotations };
        }),
      );
    } catch {
      // A list that cannot be written down is no list.
    }
    if (tools === told) return;
    told = tools;
    send({ type: "tools", tools });
  }

  /** @param {Extract<ShimRequest, {type: "call"}>} request */
  async function call({ id, name, args }) {
    const controller = new AbortController();
    calls.set(id, controller);
    try {
      if (!context) throw new Error(`the page has no tool ${name}`);
      send({ type: "result", id, text: await context.call(name, args, controller.signal) });
    } catch (error) {
      send({ type: "error", id, message: textOf(error) });
    } finally {
      calls.delete(id);
    }
  }

  /** @param {ShimRequest} request */
  function heard(request) {
    switch (request.type) {
      case "call":
        void call(request);
        break;
      case "cancel":
        calls.get(request.id)?.abort(new DOMException(request.reason, "AbortError"));
        break;
    }
  }

  // ---- Where the browser has WebMCP

  /**
   * Wraps each tool that the page registers, so that what it throws is known.
   *
   * @param {ModelContext} native
   */
  function noteErrors(native) {
    const prototype = Object.getPrototypeOf(native);
    const register = native.registerTool;
    // A proxy reads as what it stands for: the browser's own function.
    const value = new Proxy(register, {
      apply: (_, context, args) => apply(register, context, args.length ? [noting(args[0]), ...args.slice(1)] : args),
    });
    Object.defineProperty(prototype, "registerTool", { configurable: true, enumerable: true, writable: true, value });
  }

  /** @param {any} tool */
  function noting(tool) {
    const execute = tool?.execute;
    if (typeof execute !== "function") return tool;
    return Object.create(tool, {
      execute: {
        /** @param {any[]} args */
        value: async (...args) => {
          try {
            return await execute(...args);
          } catch (error) {
            send({ type: "threw", name: String(tool.name), message: textOf(error) });
            throw error;
          }
        },
      },
    });
  }

  /**
   * Offers navigator.modelContext, which Chromium had until 152, and window.mcp, which
   * the first MCP-B pages used. What a page registers there is registered with the
   * browser.
   *
   * @param {ModelContext} native
   */
  function offerOldForms(native) {
    /** @type {Map<string, AbortController>} */
    const registered = new Map();

    /** @param {any} tool */
    function registerTool(tool) {
      const name = String(tool?.name);
      const controller = new AbortController();
      const execute = (/** @type {object} */ input, /** @type {object} */ options) =>
        tool.execute(input, { ...options, requestUserInteraction: async (/** @type {Function} */ ask) => ask() });
      registered.set(name, controller);
      Promise.resolve(native.registerTool({ description: name, ...tool, execute }, { signal: controller.signal })).catch(
        (error) => console.warn(`registerTool(${name}):`, error),
      );
      return { unregister: () => unregisterTool(name) };
    }

    /** @param {string} name */
    function unregisterTool(name) {
      registered.get(name)?.abort();
      registered.delete(name);
    }

    function clearContext() {
      for (const name of [...registered.keys()]) unregisterTool(name);
    }

    /** @param {{tools?: object[]}} [offered] */
    function provideContext(offered) {
      clearContext();
      for (const tool of offered?.tools ?? []) registerTool(tool);
    }

    if (!("modelContext" in navigator)) {
      const old = Object.create(native, {
        registerTool: { value: registerTool },
        unregisterTool: { value: unregisterTool },
        clearContext: { value: clearContext },
        provideContext: { value: provideContext },
        getTools: { value: native.getTools.bind(native) },
        executeTool: { value: native.executeTool.bind(native) },
        addEventListener: { value: native.addEventListener.bind(native) },
        removeEventListener: { value: native.removeEventListener.bind(native) },
      });
      Object.defineProperty(Navigator.prototype, "modelContext", { configurable: true, get: () => old });
    }
    if (!("mcp" in window)) {
      /**
       * @param {string} name
       * @param {{title?: string, description?: string, inputSchema?: object, annotations?: object}} config
       * @param {Function} execute
       */
      const register = (name, config, execute) => {
        const { title, description = name, inputSchema, annotations } = config ?? {};
        return registerTool({ name, title, description, inputSchema: jsonSchema(inputSchema), annotations, execute });
      };
      Object.defineProperty(window, "mcp", { configurable: true, writable: true, value: { registerTool: register } });
    }
  }

  /**
   * The JSON Schema of a schema as window.mcp took it: one already, or an object of
   * validators, of which only names and descriptions are known.
   *
   * @param {any} schema
   */
  function jsonSchema(schema) {
    if (!schema || typeof schema.type === "string" || typeof schema.properties === "object") return schema ?? undefined;
    const properties = Object.fromEntries(
      Object.entries(schema).map(([name, validator]) => {
        const description = /** @type {any} */ (validator)?.description;
        return [name, typeof description === "string" ? { description } : {}];
      }),
    );
    return { type: "object", properties };
  }

  // ---- The port to the extension's world

  // The other end takes the port that it is offered first, before any script of the page
  // runs, and the port is the only way to talk from then on.
  port.onmessage = (message) => heard(message.data);
  const offer = () => dispatchEvent(new MessageEvent("tabhub-shim", { ports: [far] }));
  offer();
  if (document.readyState === "loading") {
    // The browser may run the other end after this one: then it is there when the parser
    // goes on, and still no script of the page has run.
    const parser = new MutationObserver(() => {
      parser.disconnect();
      offer();
    });
    parser.observe(document, { childList: true, subtree: true });
  }

  if (native) {
    noteErrors(native);
    offerOldForms(native);
  } else {
    setTimeout(watch, 0);
  }
})();
