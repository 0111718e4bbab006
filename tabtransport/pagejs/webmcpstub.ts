// Stands in for a document's WebMCP (webmcp.ts) until something touches it. Most documents never do, and
// what the API is made of costs each some time.

/** Evaluates the API's modules where it is called, and not before: the bundler makes that of it. */
declare function require(path: "./webmcp.ts"): typeof import("./webmcp.ts");

/** The event by which documents of one origin find one another's tools. */
export const MEET = "tabhub-webmcp";

/**
 * Gives this document's page the API, to be made when the page, another document or the owner first
 * touches it.
 */
export function offerWebMCP(owner: WebMCPOwner): OfferedWebMCP {
  const { apply } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor } = Object;
  let made: MadeWebMCP | undefined;
  /** Those of document.modelContext, the stand-in's and the API's. */
  const getters: Function[] = [];
  /** The stand-ins' getters, by the properties' names. */
  const stubs: Record<string, () => unknown> = {};
  /** What they stand for: the page may have kept them. */
  const parts: Record<string, PropertyDescriptor> = {};

  function make() {
    return (made ??= require("./webmcp.ts").makeWebMCP(owner, place));
  }

  /** Puts a part of the API in the place of its stand-in, if the page has not put something else there. */
  function place(object: object, name: string, part: PropertyDescriptor) {
    parts[name] = part;
    if (getOwnPropertyDescriptor(object, name)?.get !== stubs[name]) return;
    defineProperty(object, name, part);
    if (name === "modelContext" && part.get) getters[getters.length] = part.get;
  }

  function stub(object: object, name: string, enumerable: boolean) {
    const stands = {
      get [name](): unknown {
        make();
        const { get, value } = parts[name] as PropertyDescriptor;
        return get ? apply(get, this, []) : value;
      },
      set [name](value: unknown) {
        make();
        const part = parts[name] as PropertyDescriptor;
        if (part.set) apply(part.set, this, [value]);
        else if (!part.get) defineProperty(this, name, { ...part, value });
      },
    };
    const { get, set } = getOwnPropertyDescriptor(stands, name) as { get: () => unknown; set: (value: unknown) => void };
    stubs[name] = get;
    defineProperty(object, name, { get, set, enumerable, configurable: true });
  }

  if (!("ModelContext" in window)) stub(window, "ModelContext", false); // Firefox has its own
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
    heard: (event) => make().frames.heard(event),
  };
}
