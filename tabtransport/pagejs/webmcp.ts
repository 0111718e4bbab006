// The standard's WebMCP for pages of a browser that has none: document.modelContext and its
// interfaces, as Chromium 160 has them. It is made when the document first touches it (webmcpstub.ts).
// Pages written for 149 to 159 find what they read of a tool (window, origin) there, too.

import { extendSubmitEvents } from "./webmcpforms.ts";
import { ToolFrames } from "./webmcpframes.ts";
import { Idl } from "./webmcpidl.ts";
import { DocumentTools } from "./webmcptools.ts";

import type { Invocation } from "./webmcpinvocation.ts";

/** What the API calls, as it was when the document first touched the API: the page may put anything in its place. */
export const Before = (() => {
  const { call } = Function.prototype;
  // Methods and accessors, as functions of their object and their arguments.
  const method = (taken: Function | undefined): (object: any, ...args: any[]) => any => call.bind(taken as any);
  const getter = (prototype: object, name: string) => method(Object.getOwnPropertyDescriptor(prototype, name)?.get);
  const setter = (prototype: object, name: string) => method(Object.getOwnPropertyDescriptor(prototype, name)?.set);
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
    setSelected: setter(HTMLSelectElement.prototype, "value"),
  };
})();

/**
 * Makes the API of this document.
 * @param place puts in its place what was made
 */
export function makeWebMCP(owner: WebMCPOwner, place: (object: object, name: string, made: PropertyDescriptor) => void): MadeWebMCP {
  const { apply, defineProperty } = Before;
  /** What an object is made of, while this script makes one: the page can make none. */
  let making: any;
  let tools: DocumentTools | undefined;
  /** The contexts of documents, of which only this window's is active. */
  const contexts = new WeakMap<Document, ModelContext>();

  class ModelContext extends EventTarget {
    /** Undefined in a document that is in no window. */
    #tools: DocumentTools | undefined;
    /** By event types. */
    #handlers: Record<string, any> = Before.create(null);

    constructor() {
      if (!making) throw new TypeError("pages make no ModelContext");
      super();
      this.#tools = making.tools;
    }

    /**
     * Does something with the document's tools: at once, as the browser's own, unless it is not known
     * yet whether the document may have some.
     */
    static #with<T>(context: ModelContext, work: (tools: DocumentTools) => T | Promise<T>) {
      const tools = context.#tools;
      if (!tools || Before.viewOf(document) === null) throw new Before.DOMException("The document is not active.", "InvalidStateError");
      if (!Before.keyed) throw new Before.DOMException("document.modelContext cannot be used when document.domain is enabled.", "SecurityError");
      const permitted = tools.frames.permitted();
      return permitted instanceof Before.Promise ? ModelContext.#later(permitted, tools, work) : ModelContext.#now(permitted, tools, work);
    }

    static #now<T>(permitted: boolean, tools: DocumentTools, work: (tools: DocumentTools) => T) {
      if (!permitted) throw new Before.DOMException('Access to the feature "tools" is disallowed by permissions policy.', "NotAllowedError");
      return work(tools);
    }

    static async #later<T>(permitted: Promise<boolean>, tools: DocumentTools, work: (tools: DocumentTools) => T) {
      return ModelContext.#now(await permitted, tools, work);
    }

    async registerTool(tool: any) {
      checkContext(#tools in this);
      const given = Idl.dictionary(Idl.tool, tool);
      const options = Idl.dictionary(Idl.registerOptions, arguments[1] ?? {});
      return ModelContext.#with(this, (tools) => tools.register(given, options));
    }

    async getTools() {
      checkContext(#tools in this);
      const options = Idl.dictionary(Idl.getOptions, arguments[0] ?? {});
      return ModelContext.#with(this, (tools) => tools.list(options.fromOrigins));
    }

    /** @param tool one that getTools has given, or as that was until Chromium 160 a dictionary */
    async executeTool(tool: any) {
      checkContext(#tools in this);
      const given = seenOf(tool) ?? Idl.dictionary(Idl.registeredTool, tool);
      const options = Idl.dictionary(Idl.executeOptions, arguments[2] ?? {});
      const input = arguments[1] === undefined ? {} : arguments[1];
      return ModelContext.#with(this, (tools) => tools.call(given, input, options.signal));
    }

    async resumeTool(token: any, callback: any) {
      checkContext(#tools in this);
      const given = Idl.string(token);
      Idl.callback(callback, "callback");
      return ModelContext.#with(this, (tools) => tools.resume(given, callback));
    }

    static {
      for (const type of ["toolchange", "toolactivated", "toolcancel"]) {
        const name = `on${type}`;
        const handler = {
          get [name](): unknown {
            const context = (this as unknown) as ModelContext;
            return context.#handlers[type] ?? null;
          },
          set [name](handler: any) {
            const context = (this as unknown) as ModelContext;
            context.#handle(type, handler);
          },
        };
        defineProperty(this.prototype, name, Before.getOwnPropertyDescriptor(handler, name) as PropertyDescriptor);
      }
    }

    #handle(type: string, handler: any) {
      if (!(type in this.#handlers)) {
        Before.addEventListener(this, type, (event: Event) => {
          const handler = this.#handlers[type];
          if (typeof handler === "function") apply(handler, this, [event]);
        });
      }
      this.#handlers[type] = typeof handler === "function" || typeof handler === "object" ? handler : null;
    }
  }

  /** What a tool stands for, if it is one. */
  let seenOf: (tool: any) => SeenTool | undefined;
  class Tool {
    #seen: SeenTool;

    constructor() {
      if (!making) throw new TypeError("pages make no Tool");
      this.#seen = making;
    }

    static {
      seenOf = (tool) => (typeof tool === "object" && tool !== null && #seen in tool ? tool.#seen : undefined);
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
    #of: Invocation;

    constructor() {
      if (!making) throw new TypeError("pages make no ModelContextToolInvocation");
      this.#of = making;
    }

    async requestToken() {
      return this.#of.take();
    }

    async requestUserInput(request: unknown) {
      return this.#of.ask(request, arguments[1]);
    }
  }

  function made<T>(interfaced: new () => T, of: object): T {
    making = of;
    const object = new interfaced();
    making = undefined;
    return object;
  }

  const ToolActivatedEvent = toolEvent("ToolActivatedEvent");
  const ToolCancelEvent = toolEvent("ToolCancelEvent");

  function contextOf(of: Document) {
    const view = Before.viewOf(of);
    // Each window has its own.
    if (view && view !== window) return (of as any).modelContext;
    let context = contexts.get(of);
    if (!context) {
      context = made(ModelContext, { tools: of === document ? start() : undefined });
      contexts.set(of, context);
    }
    return context;
  }

  function fire(type: ToolEventType, toolName?: string) {
    const made = {
      toolchange: () => new Before.Event(type),
      toolactivated: () => new ToolActivatedEvent(type, { toolName }),
      toolcancel: () => new ToolCancelEvent(type, { toolName }),
    };
    Before.dispatchEvent(contextOf(document), made[type]());
  }

  const frames = new ToolFrames(() => tools, start, (seen) => made(Tool, seen));

  /** Begins to look for forms, and lets the page have tools. */
  function start() {
    tools ??= new DocumentTools(frames, { ...owner, fire, handle: (invocation) => made(ModelContextToolInvocation, invocation) });
    return tools;
  }

  for (const one of [ModelContext, ToolActivatedEvent, ToolCancelEvent]) expose(one, place);
  // Most pages that have something of these names have no WebMCP.
  for (const one of [Tool, ModelContextToolInvocation]) expose(one, (object, name, value) => name in object || defineProperty(object, name, value));
  extendSubmitEvents(() => tools?.forms, place);
  const attribute = {
    get modelContext() {
      return contextOf(this as any);
    },
    // The browser's cannot be set. A page that brings its own without looking works in a browser without
    // WebMCP, and is to go on working there.
    set modelContext(value) {
      Before.viewOf(this); // of documents only
      defineProperty(this, "modelContext", { value, writable: true, enumerable: true, configurable: true });
    },
  };
  const accessor = Before.getOwnPropertyDescriptor(attribute, "modelContext") as PropertyDescriptor;
  place(Document.prototype, "modelContext", accessor);
  return { context: () => contextOf(document), start, frames };
}

/** The interface of an event that names a tool. */
function toolEvent(name: string) {
  const { [name]: made } = {
    [name]: class extends Event {
      #toolName;

      constructor(type: string) {
        if (!arguments.length) throw new TypeError(`${name} needs a type`);
        super(type, arguments[1]);
        const { toolName = "" } = arguments[1] ?? {};
        this.#toolName = `${toolName}`;
      }

      get toolName() {
        return this.#toolName;
      }
    },
  };
  return made as new (type: string, init?: { toolName?: string }) => Event;
}

/** Makes a class one of the page's interfaces: its properties are what those of the browser's own are. */
function expose(made: Function & { prototype: any }, place: (object: object, name: string, made: PropertyDescriptor) => void) {
  const { prototype, name } = made;
  for (const key of Reflect.ownKeys(prototype)) {
    const property = Before.getOwnPropertyDescriptor(prototype, key) as PropertyDescriptor;
    property.enumerable = key !== "constructor";
    Before.defineProperty(prototype, key, property);
  }
  Before.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
  place(window, name, { value: made, writable: true, enumerable: false, configurable: true });
}

/** @param its whether a method was called on a ModelContext */
function checkContext(its: boolean) {
  if (!its) throw new TypeError("not called on a ModelContext");
}
