// Stands in for a document's WebMCP (webmcp.js) until something touches it. Most documents never do, and
// what the API is made of costs each some time.
"use strict";

/** What package pagejs makes of webmcp.js and the files that it needs. @type {typeof makeWebMCP} */
var installWebMCP;

/** The event by which documents of one origin find one another's tools. */
var MEET = "tabhub-webmcp";

/**
 * Gives this document's page the API, to be made when the page, another document or the owner first
 * touches it.
 *
 * @param {Parameters<typeof installWebMCP>[0]} owner
 * @returns {OwnWebMCP}
 */
function offerWebMCP(owner) {
  const { apply } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor } = Object;
  /** @type {MadeWebMCP | undefined} */
  let made;
  /** Those of document.modelContext, the stand-in's and the API's. @type {Function[]} */
  const getters = [];
  /** The stand-ins' getters, by the properties' names. @type {Record<string, () => unknown>} */
  const standing = {};
  /** What they stand for: the page may have kept them. @type {Record<string, PropertyDescriptor>} */
  const parts = {};

  function make() {
    return (made ??= installWebMCP(owner, place));
  }

  /**
   * Puts a part of the API in the place of its stand-in, if the page has not put something else there.
   *
   * @param {object} object
   * @param {string} name
   * @param {PropertyDescriptor} part
   */
  function place(object, name, part) {
    parts[name] = part;
    if (getOwnPropertyDescriptor(object, name)?.get !== standing[name]) return;
    defineProperty(object, name, part);
    if (name === "modelContext" && part.get) getters[getters.length] = part.get;
  }

  /**
   * @param {object} object
   * @param {string} name
   * @param {boolean} enumerable
   */
  function stand(object, name, enumerable) {
    const stands = {
      /** @returns {unknown} */
      get [name]() {
        make();
        const { get, value } = /** @type {PropertyDescriptor} */ (parts[name]);
        return get ? apply(get, this, []) : value;
      },
      set [name](/** @type {unknown} */ value) {
        make();
        const part = /** @type {PropertyDescriptor} */ (parts[name]);
        if (part.set) apply(part.set, this, [value]);
        else if (!part.get) defineProperty(this, name, { ...part, value });
      },
    };
    const { get, set } = /** @type {{get: () => unknown, set: (value: unknown) => void}} */ (getOwnPropertyDescriptor(stands, name));
    standing[name] = get;
    defineProperty(object, name, { get, set, enumerable, configurable: true });
  }

  if (!("ModelContext" in window)) stand(window, "ModelContext", false); // Firefox has its own
  stand(window, "ToolActivatedEvent", false);
  stand(window, "ToolCancelEvent", false);
  stand(SubmitEvent.prototype, "agentInvoked", true);
  stand(SubmitEvent.prototype, "respondWith", true);
  stand(Document.prototype, "modelContext", true);
  getters[0] = standing.modelContext;
  addEventListener(MEET, (event) => make().frames.met(event));
  return {
    getters,
    context: () => make().context(),
    start: () => void make().start(),
    heard: (event) => make().frames.heard(event),
  };
}
