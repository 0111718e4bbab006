// Runs in the page's world of every frame of the sites that the user shares, before the page's
// scripts, and looks for signs that the frame has something to offer. Only then is the rest of
// the extension brought to the frame (README.md, "Where nothing is, nothing runs").
//
// The page can change what this is made of. Where the page has given no sign there is nothing
// that it could notice: all that is called until then was taken before any script of the page
// ran, and nothing is read that a script may have put something in the way of.
"use strict";

{
  const { document, top, addEventListener, dispatchEvent } = window;
  const { apply, hasOwn, setTimeout } = Early;
  const { evaluate } = Document.prototype;
  const { postMessage } = MessagePort.prototype;
  const getter = (/** @type {object} */ prototype, /** @type {string} */ name) =>
    /** @type {() => any} */ (Object.getOwnPropertyDescriptor(prototype, name)?.get);
  const [dataOf, sourceOf, originOf] = ["data", "source", "origin"].map((name) => getter(MessageEvent.prototype, name));
  const BOOLEAN = XPathResult.BOOLEAN_TYPE;
  const booleanValue = getter(XPathResult.prototype, "booleanValue");

  /** The browser's own, because no script of the page has run yet. */
  const native = document.modelContext;
  /** To the extension's world, as soon as that is there. @type {MessagePort | undefined} */
  let port;
  /** The kinds of signs that were told. @type {Record<string, boolean>} */
  const told = Object.create(null);

  const library = new LibraryEnd(() => sign("tools"), send);

  /** @param {PageWorldMessage} message */
  function send(message) {
    if (port) apply(postMessage, port, [message]);
  }

  /**
   * Tells the gateway in the tab's top document of a sign, once of each kind.
   *
   * @param {FrameSign["kind"]} kind
   * @param {Pick<FrameSign, "child">} [more]
   */
  function sign(kind, more) {
    if (told[kind] && !more) return;
    told[kind] = true;
    if (top === window) send({ type: "sign", kind, ...more });
    else top?.postMessage({ tabhub: "sign", kind, ...more }, "*");
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

  /** @param {MessagePort} other an end of a port that the extension's world has the other end of */
  function join(other) {
    port = other;
    port.onmessage = ({ data: request }) => library.heard(request);
  }

  /** Offers the extension's world a port. */
  function offer() {
    const { port1, port2 } = new MessageChannel();
    join(port1);
    dispatchEvent(new MessageEvent("tabhub-port", { ports: [port2] }));
  }

  if (top === window) {
    // The gateway takes the port that it is offered first, before any script of the page
    // runs, and the port is the only way to talk from then on.
    const { port1, port2 } = new MessageChannel();
    join(port1);
    const hand = () => dispatchEvent(new MessageEvent("tabhub-port", { ports: [port2] }));
    hand();
    if (document.readyState === "loading") {
      // The browser may run the gateway after this: then it is there when the parser goes
      // on, and still no script of the page has run.
      const parser = new MutationObserver(() => {
        parser.disconnect();
        hand();
      });
      parser.observe(document, { childList: true, subtree: true });
    }
  } else {
    // What asks is in a frame that has given a sign, or the page itself.
    addEventListener("tabhub-frame", () => (told.tools || told.server || told.child) && offer());
  }

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
    noteErrors(native, (name, error) => send({ type: "threw", name, message: Values.errorText(error) }));
    offerOldForms(native);
  } else {
    setTimeout(() => library.start(), 0);
  }
}
