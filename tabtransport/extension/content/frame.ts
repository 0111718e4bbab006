// One frame of a tab that has given a sign of having something to offer: it collects what the
// document offers from its sources, tells the service worker over a port, and runs the calls
// that come back.
//
// The frame, not the worker, remembers what matters: what is offered, which calls run,
// and their answers until the worker says that the hub has them. So a worker that was
// stopped is back as soon as the port is open again.

import { combine } from "./combine.ts";
import { EmbeddedSource } from "./embedded.ts";
import { LibrarySource } from "./librarysource.ts";
import { Unknown } from "./pagescript.ts";
import { RateLimit } from "./ratelimit.ts";
import { ModelContextTools, shadowTrees } from "../../pagejs/modelcontext.ts";
import { PageServer } from "../../pagejs/pageserver.ts";

import { Limit, Values } from "../../pagejs/values.ts";

class TabhubFrame {
  static #debounce = 500;
  /** How many characters may be offered in a ms: the next offer waits for as long as the last took of that. */
  static #rate = 256;
  /** How long a call waits for a tool that the page, just loaded, has yet to register. */
  static #toolTimeout = 5_000;
  /** How long after its load a page that has offered nothing is taken to have nothing. */
  static #settled = 1_000;
  /** How long the document may take to begin to leave, in ms, once a form was submitted. */
  static #submitted = 100;
  static #maxChildren = 64;
  /** How many calls that have ended are remembered; the hub has fewer open at a time. */
  static #maxEnded = 1024;
  /** That of the ids of what it asks the page's servers. */
  static #prefix = `tabhub-${Values.randomID()}-`;

  /** Where it was brought to. */
  document = document;
  #port: chrome.runtime.Port | undefined;
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
  #children = new Map<Window, { key: number; server: PageServer; sent: string }>();
  #running = new Map<string, { tool?: string; controller: AbortController; embedded: boolean; waiting: boolean; leads?: { submitted: boolean } }>();
  /** What the worker has not answered about tokens. */
  #asked = new Map<string, { message: FrameToWorker; resolve: (answer: any) => void }>();
  /** Whether the document is about to give way to another one. */
  #leaving = false;
  /** Answers that the hub may not have yet. */
  #answers = new Map<string, FrameAnswer>();
  /** Calls whose answer the hub has, or does not want, the oldest first. */
  #ended = new Set<string>();
  /** What was last sent over this port, to send only changes; undefined: nothing yet. */
  #sent: string | undefined;
  /** How many offers the worker was sent. */
  #offers = 0;
  #settledEmpty = false;
  #resting: ReturnType<typeof setTimeout> | undefined;
  #dirty = false;
  /** Settled when the page's own clients do not hear what servers answer here. */
  #hidden: Promise<void> | undefined;
  /** Notices of the page's servers that cause traffic to the hub. */
  #notices = new RateLimit(100);
  /** Tokens, each of which is stored, too. */
  #tokens = new RateLimit(20);
  #watchers = new Set<() => void>();
  #unlisten = new AbortController();

  constructor() {
    const changed = () => this.#changed();
    this.#embedded = new EmbeddedSource(changed, (uri) => this.#updated(uri), this.#unlisten.signal);
    const context = document.modelContext;
    const native = typeof context?.getTools === "function" && typeof context.executeTool === "function";
    this.#native = native ? new ModelContextTools(context, changed) : undefined;
    this.#server = new PageServer(window, self.origin, "mcp-default", this.#client(globalThis.tabhubOpenedEarlier === true));
    this.#library = new LibrarySource(changed, this.#native, (token, beside, run) => this.#resume(token, beside, run));

    const { signal } = this.#unlisten;
    addEventListener("message", (event) => this.#heard(event), { signal });
    addEventListener("tabhub-dialog", (event) => this.#dialog((event as CustomEvent).detail), { signal });
    addEventListener("pageshow", (event) => event.persisted && this.#back(), { signal });
    addEventListener("pagehide", () => this.#leave(), { signal });
    navigation.addEventListener("navigate", (event) => this.#navigates(event as NavigateEvent), { signal });
    addEventListener("load", () => setTimeout(() => this.#settle(), TabhubFrame.#settled), { signal });
    if (document.readyState === "complete") setTimeout(() => this.#settle(), TabhubFrame.#settled);

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
  signed({ kind, child }: FrameSign) {
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
      // The extension was updated or removed: a newer copy of this script takes over.
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
    this.#sent = undefined;
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
    this.#port = undefined;
    port?.disconnect();
  }

  #disconnected(port: chrome.runtime.Port) {
    void chrome.runtime?.lastError;
    if (this.#port !== port) return;
    this.#port = undefined;
    // At once, because this is what wakes a stopped worker; slower if it keeps failing.
    this.#retry = Date.now() - this.#opened > 1000 ? 0 : Math.min(this.#retry * 2 + 100, 5000);
    setTimeout(() => this.#port || this.#connect(), this.#retry);
  }

  #post(message: FrameToWorker) {
    this.#port?.postMessage(message);
  }

  /**
   * The document may give way to another one, or the page may yet keep it. Of several calls
   * there is no telling whose doing that is, and what the person in front of the tab does is no
   * call's, unless it is the call's form that is submitted.
   */
  #navigates(event: NavigateEvent) {
    const { destination, downloadRequest, userInitiated, sourceElement } = event;
    if (destination.sameDocument || downloadRequest !== null) return;
    this.#leaving = true;
    // What the page makes of it is known when all have heard of it.
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
  #leads(id: string, submitted: boolean) {
    const running = this.#running.get(id);
    if (!running || running.leads) return;
    running.leads = { submitted };
    this.#post({ type: "leaving", id, submitted });
  }

  /** The page has kept the document from giving way to another one. */
  #stays() {
    this.#leaving = false;
    for (const running of this.#running.values()) running.leads = undefined;
    this.#post({ type: "staying" });
  }

  /**
   * The page opens a dialog, or has closed it. From here the worker still hears of it.
   * @param detail the page may have forged it
   */
  #dialog(detail: unknown) {
    const { type, message } = JSON.parse(String(detail));
    if (type && !this.#notices.take()) return;
    this.#post({ type: "dialog", dialog: { type: String(type).slice(0, 32), message: String(message).slice(0, 1000) } });
  }

  /** The page goes, or is kept in the back/forward cache. */
  #leave() {
    this.#embedded.away();
    this.#disconnect();
    // The next page in the tab may have calls of its own until this one is back.
    this.#since = Infinity;
  }

  /** The page is shown again after it was kept in the back/forward cache. */
  #back() {
    this.#stays();
    this.#server.revive();
    for (const { server } of this.#children.values()) server.revive();
    if (!this.#port) this.#connect();
  }

  #received(message: WorkerToFrame) {
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
    // Also a page that was away and is back: its script asks again.
    this.#embedded.start();
    if (!this.#on) {
      this.#on = true;
      if (this.#signed) dispatchEvent(new Event("tabhub-taken"));
      for (const source of this.#sources) source.start();
      for (const { server } of this.#children.values()) server.start();
      if (globalThis.tabhubOpenedEarlier === true) {
        this.#askChildren();
        this.#library.ask(); // an earlier version of the extension may have left its other half
      }
    }
    // A worker that has just started knows nothing of what was offered.
    clearTimeout(this.#resting);
    this.#resting = undefined;
    this.#changed();
  }

  #turnOff() {
    this.#on = false;
    // What the hub's own script runs it answers: it goes on offering the page by itself.
    for (const { controller, embedded } of this.#running.values()) if (!embedded) controller.abort(new SwitchedOff());
    for (const source of this.#sources) source.stop();
    for (const { server } of this.#children.values()) server.stop();
    this.#sent = undefined;
  }

  #settle() {
    this.#settledEmpty = true;
    this.#changed();
  }

  /** Publishes now, or soon if that was done a moment ago. */
  #changed() {
    for (const wake of this.#watchers) wake();
    if (this.#resting !== undefined) {
      this.#dirty = true;
      return;
    }
    this.#rest(TabhubFrame.#debounce);
    void this.#publish();
  }

  /** Publishes nothing for so long, then what has changed meanwhile. */
  #rest(ms: number) {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => {
      this.#resting = undefined;
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
    const { text, offer } = combine(offers.map((offer, i) => this.#ownOf(sources[i], offer)));
    const empty = offer.tools.length + offer.resources.length + offer.prompts.length + offer.rejected.length === 0;
    const wait = empty && this.#sent === undefined && !this.#settledEmpty;
    let size = 0;
    if (text !== this.#sent && !wait) {
      size = text.length;
      this.#sent = text;
      this.#post({ type: "offer", offer, count: ++this.#offers });
    }
    this.#embedded.published(offer, this.#offers);
    for (const wake of this.#watchers) wake();
    for (const child of this.#children.values()) {
      const { text, offer } = combine([await child.server.offer()]);
      if (port !== this.#port || text === child.sent) continue;
      size += text.length;
      child.sent = text;
      this.#post({ type: "offer", child: { key: child.key, origin: child.server.origin }, offer, count: this.#offers });
    }
    if (size > TabhubFrame.#debounce * TabhubFrame.#rate) this.#rest(size / TabhubFrame.#rate);
    else if (wait && !size) this.#rest(0); // the first offer is sent at once
  }

  /**
   * What of a source's offer is of this document. A library takes all that the browser lists in it
   * for the page's own, and has it served here: also the tools of frames of its origin.
   */
  #ownOf(source: Source, offer: Awaited<ReturnType<Source["offer"]>>) {
    const native = this.#native;
    if (!native || (source !== this.#server && source !== this.#library)) return offer;
    // What a page's server lists may be anything.
    const tools = offer.tools.filter((tool) => !native.isOfAnother(String((tool as Partial<Item> | null)?.name)));
    return { ...offer, tools };
  }

  #updated(uri: string) {
    if (this.#notices.take()) this.#post({ type: "updated", uri });
  }

  // ---- Page servers

  #heard(event: MessageEvent) {
    // In an event that a script has made, source and origin are whatever it says.
    if (!event.isTrusted) return;
    if (event.source === window) {
      this.#server.heard(PageServer.payload(event.data, "mcp-default"));
      return;
    }
    const source = event.source as Window | null;
    if (source?.parent !== window) return;
    const payload = PageServer.payload(event.data, "mcp-iframe");
    if (payload !== undefined && event.origin !== "null") this.#child(source, event.origin)?.heard(payload);
  }

  #client(asks: boolean): PageClient {
    const { version } = chrome.runtime.getManifest();
    return {
      version,
      prefix: TabhubFrame.#prefix,
      asks,
      tries: false,
      hidden: () => (this.#hidden ??= this.#hide()),
      changed: () => this.#changed(),
      updated: (uri) => this.#updated(uri),
    };
  }

  /** Keeps what servers answer to this script from the clients that the page itself may have. */
  async #hide() {
    await chrome.runtime.sendMessage({ type: "answers" }).catch(() => {});
    dispatchEvent(new CustomEvent("tabhub-answers", { detail: TabhubFrame.#prefix }));
  }

  /** Asks the frames in the document for servers that were there before this script. */
  #askChildren() {
    const ask = { channel: "mcp-iframe", type: "mcp", direction: "client-to-server", payload: "mcp-check-ready" };
    let left = TabhubFrame.#maxChildren;
    for (const tree of [document, ...shadowTrees(document)]) {
      for (const frame of tree.querySelectorAll("iframe")) if (left-- > 0) frame.contentWindow?.postMessage(ask, "*");
    }
  }

  /** The client of the server in a child frame. The origin is the browser's word. */
  #child(target: Window, origin: string) {
    const known = this.#children.get(target);
    if (known?.server.origin === origin) return known.server;
    known?.server.stop();
    if (!known && this.#children.size >= TabhubFrame.#maxChildren) return undefined;
    const keys = new Set([...this.#children.values()].map((child) => child.key));
    let key = known?.key ?? 0;
    while (!known && keys.has(key)) key++;
    const server = new PageServer(target, origin, "mcp-iframe", this.#client(true));
    this.#children.set(target, { key, server, sent: "" });
    if (this.#on) server.start();
    return server;
  }

  /** A document of an origin has gone: servers there are asked whether they are left. */
  #check(origin: string) {
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

  async #run(request: FrameRequest) {
    const { id, sentAt } = request;
    // Nothing runs twice, also of what the hub sends again. Here it is known, unless a
    // document before this one, or a script before this one in it, had it.
    if (this.#running.has(id)) return;
    const held = this.#answers.get(id);
    if (held) {
      this.#post(held);
      return;
    }
    const ended = this.#ended.has(id);
    if (ended || (sentAt !== undefined && sentAt <= this.#since)) {
      const why = ended ? "the call's answer was lost" : "the page has changed since the call was sent";
      this.#answer({ type: "answer", id, error: { code: -32001, message: `${why}; it may have taken effect` } });
      return;
    }
    if (!this.#running.size) this.#leaving = false; // a document that is still there has stayed
    const tool = request.ask === "tool" && request.child === undefined ? request.name : undefined;
    await this.#carryOut(id, request.ask === "tool", tool, (signal) => this.#perform(request, signal));
  }

  /**
   * Runs a call, or a part of one, and answers it.
   * @param tool its name, if it is the document's own
   */
  async #carryOut(id: string, ofTool: boolean, tool: string | undefined, work: (signal: AbortSignal) => Promise<Pick<FrameAnswer, "result" | "nothing">>) {
    const controller = new AbortController();
    const { signal } = controller;
    this.#running.set(id, { tool, controller, embedded: false, waiting: false });
    let answer: FrameAnswer;
    try {
      const result = await work(signal);
      if (signal.reason instanceof SwitchedOff) throw signal.reason;
      answer = { type: "answer", id, ...result };
    } catch (thrown) {
      const error = signal.reason instanceof SwitchedOff ? signal.reason : thrown;
      const message = Values.errorText(error);
      answer =
        ofTool && !(error instanceof Unknown)
          ? { type: "answer", id, result: JSON.stringify({ success: false, payload: message }) }
          : { type: "answer", id, error: { code: error instanceof Unknown ? -32602 : -32603, message } };
    }
    answer.leaving = ofTool && this.#running.get(id)?.leads !== undefined;
    this.#running.delete(id);
    if (signal.aborted && !(signal.reason instanceof SwitchedOff)) this.#end(id);
    else this.#answer(answer);
  }

  /**
   * What a tool may do beside returning something.
   * @param input the call's arguments, as JSON
   */
  #optionsOf(id: string, input: () => string, signal: AbortSignal): CallOptions {
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
      },
    };
  }

  /**
   * Takes up a call that has taken a token in another document.
   * @param beside whether that document is there and answers it
   * @returns the call's id; undefined if it cannot be resumed
   */
  async #resume(token: string, beside: boolean, run: (input: string, options: CallOptions) => Promise<string>): Promise<string | undefined> {
    const { id, input } = await this.#ask({ type: "resume", token, beside });
    if (id === undefined || beside) return id;
    void this.#carryOut(id, true, undefined, async (signal) => toolResult(await run(input, this.#optionsOf(id, () => input, signal))));
    return id;
  }

  /**
   * Asks the worker about a token, this one or if it is stopped the next.
   * @returns its answer
   */
  #ask(message: FrameToWorker & { token: string }): Promise<any> {
    return new Promise((resolve) => {
      this.#asked.set(message.token, { message, resolve });
      this.#post(message);
    });
  }

  /** A call waits for the person in front of the tab. */
  #waits(id: string) {
    const wait = (on: boolean) => {
      const running = this.#running.get(id);
      if (!running || running.waiting === on) return;
      running.waiting = on;
      this.#post({ type: "waiting", id, on });
    };
    wait(true);
    return () => wait(false);
  }

  /** Notes whether a call is for the hub's own script in the page. */
  #carry(id: string, embedded: boolean) {
    const running = this.#running.get(id);
    if (running) running.embedded = embedded;
  }

  #answer(answer: FrameAnswer) {
    this.#answers.set(answer.id, answer);
    this.#post(answer);
  }

  #end(id: string) {
    this.#ended.add(id);
    for (const oldest of this.#ended) {
      if (this.#ended.size <= TabhubFrame.#maxEnded) break;
      this.#ended.delete(oldest);
    }
  }

  async #perform(request: FrameRequest, signal: AbortSignal): Promise<Pick<FrameAnswer, "result" | "nothing">> {
    const server = request.child === undefined ? this.#server : this.#childServer(request.child);
    const embedded = request.child === undefined ? this.#embedded : undefined;
    const { extensions } = request;
    switch (request.ask) {
      case "tool": {
        const source = request.child === undefined ? await this.#sourceOf(request.name, signal) : server;
        this.#carry(request.id, source === this.#embedded);
        const { args = {} } = request;
        const options = this.#optionsOf(request.id, () => JSON.stringify(args), signal);
        const result = await source.call(request.name, args, { ...options, extensions });
        if (result === Values.SUBMITTED) {
          // A library may tell of a form before the browser has begun to leave.
          if (!this.#leaving) {
            await new Promise((done) => {
              navigation.addEventListener("navigate", done, { once: true });
              setTimeout(done, TabhubFrame.#submitted);
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
        return { result: await server.complete(request.about as Completion, { signal }) };
    }
  }

  /** Asks the source that has a resource; a URI that no source lists may be one of a template's. */
  async #resource<T>({ id, child, name }: FrameRequest, ask: (source: EmbeddedSource | PageServer) => Promise<T>) {
    if (child !== undefined) return ask(this.#childServer(child));
    const has = this.#embedded.hasResource(name);
    if (has === "listed" || (has === "perhaps" && !this.#server.hasResource(name))) {
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

  #childServer(key: number) {
    for (const child of this.#children.values()) if (child.key === key) return child.server;
    throw new Unknown("the frame has gone");
  }

  async #sourceOf(name: string, signal: AbortSignal): Promise<Source> {
    const until = Date.now() + TabhubFrame.#toolTimeout;
    for (;;) {
      const source = this.#sources.find((source) => source.has(name));
      if (source) return source;
      const left = until - Date.now();
      if (left <= 0 || signal.aborted) throw new Unknown(`the page has no tool ${name} any more`);
      let wake: () => void = () => {};
      await new Promise((done) => {
        wake = () => done(undefined);
        this.#watchers.add(wake);
        setTimeout(wake, left);
        signal.addEventListener("abort", wake);
      });
      this.#watchers.delete(wake);
    }
  }
}

/** @param result JSON */
function toolResult(result: string) {
  if (result.length > Limit.answer) {
    throw new Error(`the result of ${result.length >> 20} MiB is larger than the ${Limit.answer >> 20} MiB allowed`);
  }
  return { result: `{"success":true,"payload":${result}}`, nothing: Values.isNothing(result) };
}

/** The user has switched the site off while a call ran. */
class SwitchedOff extends Error {
  constructor() {
    super("the user has switched this site off; the call may have taken effect");
  }
}

/** The tool that a form is; null if what leads to another document is not a form, or none. */
function toolOf(source: Element | null) {
  // An element of the form may have any name that a form has.
  const form = source instanceof HTMLFormElement ? source : (source as HTMLButtonElement | null)?.form;
  return form ? Element.prototype.getAttribute.call(form, "toolname") : null;
}

const NOTHING = { tools: [], resources: [], prompts: [] };

{
  // The empty document that a frame begins with leaves its window, and all in it, to the next one of its origin.
  const before = Object.hasOwn(globalThis, "tabhubFrame") ? globalThis.tabhubFrame : undefined;
  if (before?.document !== document) {
    before?.stop();
    globalThis.tabhubFrame = new TabhubFrame();
  }
}
