// Runs in the page's world of every frame of the sites that the user shares, before the page's
// scripts, and looks for signs that the frame has something to offer. Only then is the rest of
// the extension brought to the frame (README.md, "Where nothing is, nothing runs").
//
// The page can change what this is made of. Where the page has given no sign there is nothing
// that it could notice: all that is called until then was taken before any script of the page
// ran, and nothing is read that a script may have put something in the way of. (Where there
// is WebMCP it can notice anyway: the removed forms are there, or all of it.)

import { frameIndex, framePath } from "./framepath.ts";
import { offerOldForms } from "./oldforms.ts";
import { watchTools } from "../../pagejs/watchtools.ts";

import type { offerWebMCP } from "../../pagejs/webmcpstub.ts";

/** @param offer gives the page WebMCP, where the user lets it have the extension's */
export function watchForSigns(offer?: typeof offerWebMCP) {
  const { document, top, addEventListener, dispatchEvent, setTimeout, requestIdleCallback, CustomEvent } = window;
  const { apply } = Reflect;
  const { hasOwn, defineProperty, getOwnPropertyDescriptor } = Object;
  const { min } = Math;
  const { querySelector, querySelectorAll } = Document.prototype;
  const { stopImmediatePropagation } = Event.prototype;
  const { includes } = String.prototype;
  const { then } = Promise.prototype;
  const getter = (prototype: object, name: string) =>
    getOwnPropertyDescriptor(prototype, name)?.get as Function;
  const dataOf = getter(MessageEvent.prototype, "data");
  const sourceOf = getter(MessageEvent.prototype, "source");
  const originOf = getter(MessageEvent.prototype, "origin");
  const lengthOf = getter(NodeList.prototype, "length");
  const textOf = getter(Node.prototype, "textContent");
  const nativeOf = getter(Document.prototype, "modelContext");
  /** The form of what documents of a browser with WebMCP have. */
  const native = hasOwn(Document.prototype, "modelContext") && (window as { ModelContext?: { prototype: ModelContext } }).ModelContext?.prototype;
  const getTools = native && native.getTools;
  // Where a library makes its modelContext.
  const documents = { object: document, prototype: Document.prototype };
  const navigators = { object: navigator, prototype: Navigator.prototype };
  /** How long the browser may be too busy to be asked for the page's tools, in ms. */
  const BUSY = 500;
  /** Marks the window of a top document that has given signs before there was a gateway (worker/gateways.ts). */
  const MARK = "tabhubSigns";
  const MAX_SIGNS = 64;
  /** How long a frame waits until it gives its sign again, in ms: first, and last. */
  const FIRST_AGAIN = 50;
  const LAST_AGAIN = 6_400;
  const FIRST_WAIT = 250;
  const MAX_WAIT = 60_000;
  /** How long the extension's other half may take to be there once it is needed, in ms. */
  const TIMEOUT = 5_000;

  /** The kinds of signs that were given. */
  const given: Record<string, boolean> = Object.create(null);
  /** Whether the browser has an API somewhere; Firefox has it at navigator. */
  const elsewhere = hasOwn(Navigator.prototype, "modelContext");
  /** The page's WebMCP where the browser has none: the page needs a secure context for it, as for the browser's. */
  const offered =
    offer && isSecureContext && !native && (elsewhere || !hasOwn(window, "ModelContext"))
      ? offer({
          changed: () => give("tools"),
          threw: (name, input, error) => half?.threw(name, input, error),
          took: async (caller, token) => (await half?.took(caller, token)) === true,
          resume: async (token) => (await reached())?.resume(token),
          release: async (token) => (await (await reached())?.release(token)) === true,
          ask: async (caller, request, interact) => {
            if (half) return half.ask(caller, request, interact);
            throw new TypeError("the tool's caller cannot be asked");
          },
        })
      : undefined;
  /** The getters that lead to that. */
  const ours = offered ? offered.getters : [];
  if (offered) ours[ours.length] = offerOldForms(() => offered.context());
  /** Whether the browser tells of tools. */
  let listening = false;
  /** Whether a sign of this frame has led to something. */
  let taken = false;
  /** Whether the gateway has asked for the signs that were given before it was there. */
  let asked = false;
  /** Those of this tab. */
  const signs: FrameSign[] = [];
  /** The extension's other half in the page's world, once it was brought. */
  let half: PageHalf | undefined;
  /** Called when it is. */
  let brought: (half: PageHalf) => void;
  const halfThere = new Promise<PageHalf>((resolve) => (brought = resolve));

  /**
   * The extension's other half, which is brought if it is not there; undefined if it does not come, as to
   * a site that is switched off.
   */
  function reached(): Promise<PageHalf | undefined> {
    give("tools");
    return new Promise((resolve) => {
      apply(then, halfThere, [resolve]);
      setTimeout(resolve, TIMEOUT);
    });
  }

  /** Gives a sign, once of each kind. */
  function give(kind: FrameSign["kind"], more?: Pick<FrameSign, "child">) {
    if (given[kind] && !more) return;
    given[kind] = true;
    if (top === window) pass({ path: [], kind, ...more });
    else ask({ tabhub: "sign", kind, ...more }, FIRST_AGAIN);
  }

  /** Passes a sign of a frame of this tab to the gateway, and keeps it while that may not be there. */
  function pass(sign: FrameSign) {
    dispatchEvent(new CustomEvent("tabhub-sign", { detail: sign }));
    // However many the frames give, there is room for the document's own.
    if (asked || (sign.path.length && signs.length >= MAX_SIGNS)) return;
    defineProperty(signs, signs.length, { value: sign });
    defineProperty(window, MARK, { value: true });
  }

  /**
   * Posts a sign of this frame to the tab's top document, again while it is not taken: in one of a
   * site that is switched off nothing listens before the gateway is there.
   * @param wait in ms
   */
  function ask(sign: object, wait: number) {
    top?.postMessage(sign, "*");
    if (wait <= LAST_AGAIN) setTimeout(() => taken || ask(sign, wait * 2), wait);
  }

  function heard(event: Event) {
    // In an event that a script has made the source is whatever it says.
    if (!event.isTrusted) return;
    const data = apply(dataOf, event, []);
    if (typeof data !== "object" || data === null) return;
    const source = apply(sourceOf, event, []);
    if (offered && hasOwn(data, "tabhub") && data.tabhub === "webmcp") {
      apply(stopImmediatePropagation, event, []);
      offered.heard(event as MessageEvent);
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

  /** Whether a script in the document, once it is loaded, names the channel of a server. */
  function named() {
    const scripts = apply(querySelectorAll, document, ["script:not([src])"]);
    const length = apply(lengthOf, scripts, []);
    for (let index = 0; index < length; index++) {
      if (apply(includes, apply(textOf, scripts[index], []), ["mcp-default"])) return true;
    }
    return false;
  }

  /** Listens to the browser's WebMCP, once, and looks what it has by now. */
  function listen() {
    const context = !listening && apply(nativeOf, document, []);
    if (!context) return;
    listening = true;
    apply(addEventListener, context, ["toolchange", () => give("tools")]);
    const found = (tools: object[]) => void (tools.length && give("tools"));
    apply(then, apply(getTools as Function, context, []), [found, () => {}]);
  }

  /**
   * Looks whether a library of the page has made a modelContext, or whether there is a form that is a
   * tool: now, then ever more rarely, as a page may load it late.
   * @param wait in ms, until it looks again
   */
  function look(wait: number) {
    lookOnce();
    // What was found goes on by itself.
    if (!half) setTimeout(() => look(min(wait * 2, MAX_WAIT)), wait);
  }

  function lookOnce() {
    if (hasLibrary()) give("tools");
    if (offered && apply(querySelector, document, ["form[toolname]"])) offered.start();
  }

  function hasLibrary() {
    return made(documents) || made(navigators);
  }

  function made({ object, prototype }: { object: any; prototype: object }) {
    const inherited = getOwnPropertyDescriptor(prototype, "modelContext");
    return (hasOwn(object, "modelContext") || (inherited && !isOurs(inherited.get))) && object.modelContext;
  }

  function isOurs(get: Function | undefined) {
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
  addEventListener("tabhub-taken", () => (taken = true));
  addEventListener("tabhub-half", (event) => {
    if (half || !(given.tools || given.server || given.child)) return;
    half = (event as CustomEvent<PageHalf>).detail;
    event.preventDefault();
    brought(half);
    if (!native) half.look(offered && { context: offered.context, getters: ours });
  });

  // A server in the page that announces itself, or that a script of the page names.
  addEventListener("message", heard);
  addEventListener("load", () => setTimeout(() => {
    if (named()) give("named");
    if (!native) lookOnce();
    if (native && top === window) listen();
    else if (native) requestIdleCallback(listen, { timeout: BUSY });
  }));
  // The hub's own script, or a copy of it, which names the hub.
  addEventListener("tabhub-page", () => {
    if (apply(querySelector, document, ["script[src*='/tab.js'], script[src*='/embed.js'], link[rel=tabhub]"])) give("script");
  });
  if (native) {
    watchTools(native, {
      registers: () => give("tools"),
      threw: (name, input, error) => half?.threw(name, input, error),
      took: async (call, token) => ("caller" in call ? half?.took(call.caller, token) : half?.tookNatively(call.name, call.input, token)),
      resume: async (token) => (await reached())?.resume(token),
    });
    offerOldForms(() => apply(nativeOf, document, []));
    // Its first use costs a page that does not use it a moment: it comes when the page rests. A frame's
    // waits for the load: of one whose document it has not heard of, Chromium 156 may answer nobody, ever.
    if (top === window) requestIdleCallback(listen, { timeout: BUSY });
  } else {
    setTimeout(() => look(FIRST_WAIT), 0);
  }
}
