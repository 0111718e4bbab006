// Runs in the page's world of every frame of the sites that the user shares, before the page's
// scripts, and looks for signs that the frame has something to offer. Only then is the rest of
// the extension brought to the frame (README.md, "Where nothing is, nothing runs").
//
// The page can change what this is made of. Where the page has given no sign there is nothing
// that it could notice: all that is called until then was taken before any script of the page
// ran, and nothing is read that a script may have put something in the way of.
"use strict";

{
  const { document, top, addEventListener, dispatchEvent, setTimeout, CustomEvent } = window;
  const { apply } = Reflect;
  const { hasOwn } = Object;
  const { min } = Math;
  const { evaluate } = Document.prototype;
  const { preventDefault } = Event.prototype;
  const getter = (/** @type {object} */ prototype, /** @type {string} */ name) =>
    /** @type {() => any} */ (Object.getOwnPropertyDescriptor(prototype, name)?.get);
  const dataOf = getter(MessageEvent.prototype, "data");
  const sourceOf = getter(MessageEvent.prototype, "source");
  const originOf = getter(MessageEvent.prototype, "origin");
  const detailOf = getter(CustomEvent.prototype, "detail");
  const booleanValue = getter(XPathResult.prototype, "booleanValue");
  const BOOLEAN = XPathResult.BOOLEAN_TYPE;
  // Where a library makes its modelContext.
  const documents = { object: document, prototype: Document.prototype };
  const navigators = { object: navigator, prototype: Navigator.prototype };
  const FIRST_WAIT = 250;
  const MAX_WAIT = 60_000;

  /** The browser's own, because no script of the page has run yet. */
  const native = document.modelContext;
  /** The type of the events that the gateway hears; no script of the page knows it. @type {string | undefined} */
  let secret;
  /** The kinds of signs that were told. @type {Record<string, boolean>} */
  const told = Object.create(null);
  /** The extension's other half in the page's world, once it was brought. @type {PageHalf | undefined} */
  let half;

  /**
   * Tells the gateway in the tab's top document of a sign, once of each kind.
   *
   * @param {FrameSign["kind"]} kind
   * @param {Pick<FrameSign, "child">} [more]
   */
  function sign(kind, more) {
    if (told[kind] && !more) return;
    told[kind] = true;
    if (top !== window) top?.postMessage({ tabhub: "sign", kind, ...more }, "*");
    else if (secret) dispatchEvent(new CustomEvent(secret, { detail: { kind, ...more } }));
  }

  /** @param {Event} event */
  function heard(event) {
    // In an event that a script has made the source is whatever it says.
    if (!event.isTrusted) return;
    const data = apply(dataOf, event, []);
    if (typeof data !== "object" || data === null || !hasOwn(data, "channel") || !hasOwn(data, "payload")) return;
    if (data.payload !== "mcp-server-ready") return;
    const source = apply(sourceOf, event, []);
    if (data.channel === "mcp-default" && source === window) sign("server");
    if (data.channel !== "mcp-iframe" || source?.parent !== window) return;
    for (let index = 0; index < window.length; index++) {
      if (window[index] === source) sign("child", { child: { index, origin: apply(originOf, event, []) } });
    }
  }

  /**
   * Whether the document has an element that an XPath selects.
   *
   * @param {string} path
   */
  function has(path) {
    const found = apply(evaluate, document, [`boolean(${path})`, document, null, BOOLEAN, null]);
    return apply(booleanValue, found, []);
  }

  /**
   * Looks whether a library of the page has made a modelContext: now, then ever more rarely,
   * as a page may load it late.
   *
   * @param {number} wait in ms, until it looks again
   */
  function look(wait) {
    if (half) return; // it looks by itself
    if (made(documents) || made(navigators)) sign("tools");
    else setTimeout(() => look(min(wait * 2, MAX_WAIT)), wait);
  }

  /** @param {{object: any, prototype: object}} place */
  function made({ object, prototype }) {
    return (hasOwn(object, "modelContext") || hasOwn(prototype, "modelContext")) && object.modelContext;
  }

  if (top === window) {
    // The gateway tells it before any script of the page runs. Later events are the page's.
    addEventListener("tabhub-gateway", (event) => {
      if (secret) return;
      secret = apply(detailOf, event, []);
      apply(preventDefault, event, []);
    });
  }
  addEventListener("tabhub-half", (event) => {
    if (half || !(told.tools || told.server || told.child)) return;
    half = /** @type {CustomEvent<PageHalf>} */ (event).detail;
    event.preventDefault();
    if (!native) half.look();
  });

  // A server in the page that announces itself, or that a script of the page names.
  addEventListener("message", heard);
  addEventListener("load", () => {
    if (has("//script[not(@src)][contains(., 'mcp-default')]")) sign("named");
  });
  // The hub's own script.
  addEventListener("tabhub-page", () => {
    if (has("//script[contains(@src, '/tab.js') or contains(@src, '/embed.js')]")) sign("script");
  });
  if (native) {
    apply(addEventListener, native, ["toolchange", () => sign("tools")]);
    noteErrors(native, (name, error) => half?.threw(name, error));
    offerOldForms(native);
  } else {
    setTimeout(() => look(FIRST_WAIT), 0);
  }
}
