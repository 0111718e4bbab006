// Requests of the hub to frames: each reaches its document once, and its answer the hub,
// also if this worker or the connection is restarted in between.

import { Heartbeat } from "./heartbeat.ts";
import { Code } from "./refusal.ts";
import { Stored } from "./stored.ts";
import { post } from "./tab.ts";
import { endOf, type ActivityLog } from "./activity.ts";
import type { Hub } from "./hub.ts";
import type { Navigations, Navigation } from "./navigations.ts";

import { classOf, isPageTool, type Tabs } from "./tabs.ts";

/** How long a request waits for a document that is just being loaded, in ms. */
const LOADING = 5_000;
/** How long a restarted worker waits for the documents that calls were sent to, in ms. */
const RETURN = 10_000;
/** Between two looks at a call that may be resumed, in ms. */
const LOOK = 50;
/** How often the hub hears of a call that waits for the person in front of the tab, or for a document to resume it, in ms. */
const REMIND = 10_000;
/** How long the token of a call is good for, in ms. */
const TOKEN = 60_000;
/** How many characters the arguments of a call may have that is to go on in another document. */
const MAX_INPUT = 1 << 20;
/** A call that ends within this time, in ms, is not written to the session's storage. */
const SHORT = 5;
/** Answers that the hub may not have are held up to this many characters. */
const MAX_HELD = 64 << 20;

/** What the browser says of an address that led to no page: a download, or an answer without content. */
const ABORTED = "ERR_ABORTED";

const MAY_HAVE = "it may have taken effect";

/** A call that a document has been given. */
interface Open {
  tabId: number;
  frameId: number;
  documentId: string;
  origin: string; // the document's
  tool: boolean; // whether it is for a tool, which may lead to another document
  at: number; // when it was sent first
  progress: number; // what the hub was sent last
  waiting?: boolean; // whether it waits for the person in front of the tab
  leaving?: boolean; // whether it leads to another document
  submitted?: boolean; // whether its form does
  answer?: FrameAnswer; // its answer, while that document is waited for
  failed?: { url: string; error: string }; // why the browser could not show that document
  token?: { value: string; until: number; input: string }; // with which a document may resume it; until is as Date.now() has it
  resumed?: boolean; // whether one has
}

interface StoredAnswer {
  text: string; // the answer
  port?: chrome.runtime.Port; // the frame that holds it, too
  confirmed?: () => void; // called when the hub has it
  sent: boolean; // whether it went out over the connection of the moment
}

export class Calls {
  #open = new Map<string, Open>();
  /** The frames that run them. */
  #ports = new Map<string, chrome.runtime.Port>();
  #held = new Map<string, StoredAnswer>();
  /** Calls whose document is being looked for. */
  #starting = new Set<string>();
  /** Why calls were cancelled whose document was not found yet, or is not back yet. */
  #cancelled = new Map<string, string>();
  #size = 0;
  #stored = new Stored<Record<string, Open>>("calls", () => this.#lasting());
  #confirming = false;
  /** Calls whose next document is waited for. */
  #following = new Set<string>();
  #reminder: ReturnType<typeof setInterval> | undefined;
  #heartbeat = new Heartbeat(
    (port) => [...this.#ports.values()].includes(port),
    (port, silent) => this.#tabs.silent(port, silent),
  );
  #tabs;
  #hub;
  #navigations;
  #activity;

  constructor(tabs: Tabs, hub: Hub, navigations: Navigations, activity: ActivityLog) {
    this.#tabs = tabs;
    this.#hub = hub;
    this.#navigations = navigations;
    this.#activity = activity;
  }

  /** Whether a call is under way. */
  runs = (id: string) => this.#open.has(id);

  /** Remembers the calls of an earlier worker; their documents will come back. */
  async load() {
    const before = Object.entries((await this.#stored.load()) ?? {});
    for (const [id, call] of before) if (!this.#open.has(id)) this.#open.set(id, call);
    if (!before.length) return;
    for (const [id] of before) void this.#follow(id, true);
    setTimeout(() => {
      for (const [id, call] of before) if (this.#open.get(id) === call && !this.#ports.has(id) && !isHeld(call)) this.#gone(id);
    }, RETURN);
  }

  /**
   * Gives a request of the hub to the frame that it is for.
   *
   * One that the hub sends again, because the connection was lost, was sent first at sentAt
   * or later, as Date.now() has it: an earlier worker may have had it.
   */
  async start(message: HubMessage<CallMethod>, sentAt?: number) {
    const { id = "", tabId, params } = message;
    if (this.#starting.has(id) || this.#knows(id)) return;
    const asked = question(message);
    this.#starting.add(id);
    const route = await this.#tabs.route(tabId, params, asked.offers, LOADING);
    this.#starting.delete(id);
    // Its document may have come back meanwhile, with the answer.
    if (this.#cancelled.delete(id) || this.#knows(id)) return;
    const elsewhere = route && "origin" in params && params.origin && route.frame.origin !== params.origin;
    if (!route || elsewhere) {
      const reason = elsewhere ? "the tab shows another site by now" : "the tab, or the frame in it, is not there";
      const error: RpcError =
        sentAt === undefined
          ? { code: Code.TabNotFound, message: reason, data: { delivered: false } }
          : { code: Code.TabNotFound, message: `${reason}; the call was sent before, and ${MAY_HAVE}` };
      this.#answer(id, tabId, { error });
      return;
    }
    const { port, child } = route;
    this.#take(id, port, message.method === "browser/executeTool", sentAt);
    const extensions = "extensions" in params ? (params.extensions as FrameRequest["extensions"]) : undefined;
    port.postMessage({ type: "request", id, child, sentAt, extensions, ...asked.request });
    if (asked.kind) {
      const acts = asked.kind === "tool" && classOf(route.frame.offer.tools.find(({ name }) => name === asked.request.name)?.annotations) !== "read";
      this.#activity.begun(id, tabId, asked.kind, asked.request.name, acts, message.for);
    }
  }

  /**
   * Notes that a document has a call.
   * @param at when it was sent first
   */
  #take(id: string, port: chrome.runtime.Port, tool: boolean, at: number = Date.now()) {
    const { tab, documentId = "", frameId = 0, origin = "" } = port.sender ?? {};
    const call: Open = { tabId: tab?.id ?? 0, frameId, documentId, origin, tool, at, progress: 0 };
    this.#open.set(id, call);
    this.#ports.set(id, port);
    void this.#heartbeat.watch(port);
    this.#stored.save();
    return call;
  }

  #knows(id: string) {
    return this.#open.has(id) || this.#held.has(id);
  }

  cancel(id: string, reason: string) {
    const port = this.#ports.get(id);
    if (port) port.postMessage({ type: "cancel", id, reason });
    else if (!this.#held.has(id)) this.#remember(id, reason);
    this.#close(id);
    this.#activity.ended(id, "cancelled");
  }

  #remember(id: string, reason: string) {
    this.#cancelled.set(id, reason);
    setTimeout(() => this.#cancelled.delete(id), LOADING * 2);
  }

  // ---- What frames say

  /**
   * A frame has opened its port and says which calls it has.
   * @param hello since when calls come to its script
   */
  hello(port: chrome.runtime.Port, { calls, since }: { calls: string[]; since: number }) {
    const { tab, documentId } = port.sender ?? {};
    for (const id of calls) {
      const reason = this.#isElsewhere(id, port) ? "the call goes on in another document" : this.#cancelled.get(id);
      if (reason !== undefined) port.postMessage({ type: "cancel", id, reason });
    }
    for (const [id, call] of this.#open) {
      if (call.tabId !== tab?.id || call.documentId !== documentId) continue;
      if (calls.includes(id)) {
        this.#ports.set(id, port);
        void this.#heartbeat.watch(port);
        call.leaving = call.submitted = false; // if it still leads elsewhere, that is said next
      } else if (!this.#ports.has(id)) {
        // A script before this one, as of an earlier version, may have run it.
        if (since < call.at) this.#fail(id, "the call did not reach the page", { delivered: false });
        else this.#fail(id, `the page's script was replaced after the call was sent; ${MAY_HAVE}`);
      }
    }
  }

  answered(port: chrome.runtime.Port, answer: FrameAnswer) {
    const { id } = answer;
    const held = this.#held.get(id);
    if (held) held.port = port;
    const tabId = port.sender?.tab?.id;
    if (held || tabId === undefined || this.#isElsewhere(id, port)) return;
    if (this.#open.get(id)?.resumed && answer.result && !answer.leaving) return void this.#answerHere(id, answer, port);
    if (answer.leaving && answer.result) {
      // An earlier worker may have ended before it could note the call.
      const call = this.#open.get(id) ?? this.#take(id, port, true);
      call.leaving = true;
      call.answer = answer;
      void this.#follow(id);
    } else this.#answer(id, tabId, answer, port);
  }

  progressed(port: chrome.runtime.Port, { id, progress, total, message }: { id: string } & Progress) {
    const call = this.#open.get(id);
    if (!call || this.#isElsewhere(id, port)) return;
    call.progress = progress;
    this.#hub.notify("browser/progress", { requestId: id, progress, total, message }, port.sender?.tab?.id);
  }

  /** Whether a document beside the one of a port has a call. */
  #isElsewhere(id: string, port: chrome.runtime.Port) {
    const call = this.#open.get(id);
    return call !== undefined && call.documentId !== port.sender?.documentId;
  }

  /** A call waits for the person in front of its tab, or does not any more. */
  waits(port: chrome.runtime.Port, { id, on }: { id: string; on: boolean }) {
    const call = this.#open.get(id);
    if (!call || this.#isElsewhere(id, port)) return;
    call.waiting = on;
    this.#stored.save();
    if (!on) {
      this.#tellWaiting(call.tabId);
      this.#report(id, call, { message: "the person has answered" });
      return;
    }
    this.#tabs.waits(call.tabId, true);
    this.#remind(id, call);
  }

  #remindAll() {
    const waiting = [...this.#open].filter(([, call]) => call.waiting || isHeld(call));
    for (const [id, call] of waiting) this.#remind(id, call);
    if (waiting.length) return;
    clearInterval(this.#reminder);
    this.#reminder = undefined;
  }

  #remind(id: string, call: Open) {
    this.#reminder ??= setInterval(() => this.#remindAll(), REMIND);
    const forPerson = { waiting: true, message: "waiting for the person in front of the tab" };
    this.#report(id, call, call.waiting ? forPerson : { message: "the tool goes on in another document of the page" });
  }

  #report(id: string, call: Open, what: { waiting?: boolean; message: string }) {
    call.progress++;
    this.#hub.notify("browser/progress", { requestId: id, progress: call.progress, ...what }, call.tabId);
  }

  /** A call leads to another document. */
  leaving(port: chrome.runtime.Port, { id, submitted }: { id: string; submitted: boolean }) {
    const call = this.#open.get(id);
    if (!call?.tool || this.#isElsewhere(id, port)) return;
    call.leaving = true;
    call.submitted = submitted;
    this.#stored.save();
  }

  /** The tool of a call has taken a token. The page gets it once that is written down: it may go at once. */
  async took(port: chrome.runtime.Port, { id, token, input }: { id: string; token: string; input: string }) {
    const call = this.#open.get(id);
    const kept = call?.tool === true && !this.#isElsewhere(id, port) && input.length <= MAX_INPUT;
    if (kept) {
      call.token = { value: token, until: Date.now() + TOKEN, input };
      this.#remind(id, call);
      await this.#stored.write();
    }
    post(port, { type: "kept", token, kept });
  }

  /**
   * A document resumes a call with its token: from here the call is that document's, unless it is
   * beside the one that has it.
   */
  async resume(port: chrome.runtime.Port, { token, beside }: { token: string; beside: boolean }) {
    const { tab, documentId = "", frameId = 0, origin } = port.sender ?? {};
    // Another tab's page may have given its own call a token of that value.
    const isMeant = (call: Open) => call.token?.value === token && call.tabId === tab?.id && call.origin === origin;
    const [id, call] = [...this.#open].find(([, call]) => isMeant(call)) ?? [];
    if (!id || !call || !isHeld(call)) {
      post(port, { type: "resumed", token });
      return;
    }
    const { input } = call.token as NonNullable<Open["token"]>;
    call.token = undefined;
    if (!beside) {
      const left = this.#ports.get(id);
      if (left && left !== port) post(left, { type: "done", ids: [id] });
      Object.assign(call, { documentId, frameId, resumed: true, waiting: false, leaving: false, submitted: false, answer: undefined, failed: undefined });
      this.#tellWaiting(call.tabId);
      this.#ports.set(id, port);
      void this.#heartbeat.watch(port);
    }
    await this.#stored.write();
    post(port, { type: "resumed", token, id, input });
  }

  /** A document stays that was to give way to another one. */
  staying(port: chrome.runtime.Port) {
    for (const [id, call] of this.#open) if (this.#ports.get(id) === port) call.leaving = call.submitted = false;
    this.#stored.save();
  }

  /**
   * The browser could not show a document. It loads such an address again by itself, and a load of
   * that kind that is given up says nothing.
   */
  failed({ tabId, frameId, url, error }: { tabId: number; frameId: number; url: string; error: string }) {
    for (const call of this.#open.values()) {
      if (call.failed && error === `net::${ABORTED}`) continue;
      if (call.tool && call.tabId === tabId && call.frameId === frameId) call.failed = { url, error };
    }
  }

  /** The port of a document was closed: the page has gone, or sleeps in the cache. */
  disconnected(port: chrome.runtime.Port) {
    for (const [id, other] of this.#ports) {
      if (other !== port) continue;
      this.#ports.delete(id);
      void this.#follow(id);
    }
    for (const held of this.#held.values()) if (held.port === port) held.port = undefined;
  }

  // ---- What the hub has

  /** A connection is open: the hub may have missed what was sent over the last one. */
  opened() {
    for (const held of this.#held.values()) held.sent = this.#hub.send(held.text);
  }

  /** Lets go, from time to time, of the answers that the hub has. */
  async confirm() {
    const sent = [...this.#held].filter(([, held]) => held.sent);
    if (this.#confirming || !sent.length) return;
    this.#confirming = true;
    // Once the hub has answered it has read all that was sent before.
    const arrived = await this.#hub.request("browser/ping", {}).then(
      () => true,
      () => false,
    );
    this.#confirming = false;
    const done = new Map<chrome.runtime.Port, string[]>();
    for (const [id, held] of arrived ? sent : []) if (this.#held.get(id) === held) this.#drop(id, done);
    for (const [port, ids] of done) post(port, { type: "done", ids });
  }

  /**
   * Answers a call whose document gives way to another one, or has, with what that one brings. If
   * none follows, the call ends as its document says, or went away.
   * @param restored of an earlier worker: its document may come back
   */
  async #follow(id: string, restored = false) {
    const call = this.#open.get(id);
    if (!call || this.#following.has(id)) return;
    if (!call.tool) {
      if (!restored) this.#gone(id);
      return;
    }
    this.#following.add(id);
    if (!restored) this.#report(id, call, { message: "the page is loading another one" });
    const wanted = () => this.#open.get(id) === call && (!this.#ports.has(id) || (call.leaving === true && call.answer !== undefined));
    const left = { ...call };
    // What the next document says is the answer only if it does not resume the call.
    while (isHeld(call) && wanted()) await new Promise((done) => setTimeout(done, LOOK));
    const found = await this.#navigations.after(left, wanted);
    this.#following.delete(id);
    if (this.#open.get(id) !== call) return;
    const { tabId, leaving, submitted, answer, failed, token } = call;
    const port = this.#ports.get(id);
    const next = failed && !found?.read ? this.#navigations.failed(failed) : found;
    const error = next?.page.error !== undefined && next.page.error !== ABORTED;
    const nothing = answer ? answer.nothing : submitted;
    if (next?.data && (nothing || (leaving && !answer))) {
      this.#answer(id, tabId, { result: outcome(true, { content: [{ type: "text", text: next.data }] }, next) }, port);
    } else if (port && !answer) {
      return; // its document is back
    } else if (next && error && nothing) {
      this.#answer(id, tabId, { result: outcome(false, submitted ? "the form was submitted, but its page did not load" : "the tool led to a page that did not load", next) }, port);
    } else if (next && error && answer) {
      this.#answer(id, tabId, { result: withPage(answer.result?.replace(/^\{"success":true/, '{"success":false'), next) }, port);
    } else if (next?.read && nothing) {
      this.#answer(id, tabId, { result: outcome(true, { content: [] }, next) }, port);
    } else if (answer) {
      this.#answer(id, tabId, { result: next ? withPage(answer.result, next) : answer.result }, port);
    } else if (next?.read || (next && error)) {
      const why = token ? "the page went to another document, which has not resumed the call with its token" : "the page went to another document before the tool answered";
      this.#answer(id, tabId, { result: outcome(false, `${why}; ${MAY_HAVE}`, next) });
    } else if (!restored || token) {
      this.#gone(id);
    }
  }

  /** Answers a call in another document than that which it was sent to. */
  async #answerHere(id: string, answer: FrameAnswer, port: chrome.runtime.Port) {
    const call = this.#open.get(id) as Open;
    const page = await this.#navigations.here(call);
    if (this.#open.get(id) === call) this.#answer(id, call.tabId, { result: withPage(answer.result, { page }) }, port);
  }

  #gone(id: string) {
    this.#fail(id, `the page went away after the call was sent; ${MAY_HAVE}`);
  }

  #fail(id: string, message: string, data?: RpcError["data"]) {
    const tabId = this.#open.get(id)?.tabId ?? 0;
    this.#answer(id, tabId, { error: { code: Code.TabNotFound, message, data } });
  }

  #answer(id: string, tabId: number, answer: { result?: string; error?: RpcError }, port?: chrome.runtime.Port) {
    this.#close(id);
    this.hold(id, tabId, answer, { ended: endOf(answer), port });
  }

  /**
   * Answers a request of the hub, and keeps the answer until the hub has it.
   * @param held how it has ended, and who keeps it, too
   */
  hold(id: string, tabId: number, { result, error }: { result?: string; error?: RpcError }, { ended, ...held }: { ended: NonNullable<Activity["ended"]> } & Pick<StoredAnswer, "port" | "confirmed">) {
    const body = error ? `"error":${JSON.stringify(error)}` : `"result":${result ?? "{}"}`;
    const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"tabId":${tabId},${body}}`;
    this.#held.set(id, { text, ...held, sent: this.#hub.send(text) });
    this.#size += text.length;
    for (const oldest of this.#held.keys()) {
      if (this.#size <= MAX_HELD) break;
      this.#drop(oldest, new Map());
    }
    this.#activity.ended(id, ended);
  }

  /**
   * The calls that the next worker must know of. Most end so soon that they need not be written,
   * and results never are.
   */
  #lasting() {
    const now = Date.now();
    const lasting = [...this.#open].filter(([, { at, token }]) => token || now - at >= SHORT);
    if (lasting.length < this.#open.size) this.#stored.save();
    return Object.fromEntries(lasting.map(([id, { answer: _, ...call }]) => [id, call]));
  }

  #close(id: string) {
    this.#ports.delete(id);
    const call = this.#open.get(id);
    if (!call) return;
    this.#open.delete(id);
    this.#stored.save();
    if (call.waiting) this.#tellWaiting(call.tabId);
  }

  #tellWaiting(tabId: number) {
    this.#tabs.waits(tabId, [...this.#open.values()].some((call) => call.waiting && call.tabId === tabId));
  }

  #drop(id: string, done: Map<chrome.runtime.Port, string[]>) {
    const held = this.#held.get(id);
    if (!held) return;
    this.#held.delete(id);
    this.#size -= held.text.length;
    held.confirmed?.();
    if (!held.port) return;
    const ids = done.get(held.port) ?? [];
    ids.push(id);
    done.set(held.port, ids);
  }
}

/**
 * What a frame is asked, how to tell a frame that can answer, and what a client uses with it, if it
 * is more than a question about that.
 */
function question({ method, params }: HubMessage<CallMethod>): { offers: (offer: Offer) => boolean; request: Omit<FrameRequest, "type" | "id" | "child">; kind?: Activity["kind"] } {
  switch (method) {
    case "browser/readResource":
      return { offers: servesResources, request: { ask: "read", name: params.uri }, kind: "resource" };
    case "browser/subscribeResource":
      return { offers: servesResources, request: { ask: "subscribe", name: params.uri, on: params.subscribe } };
    case "browser/getPrompt":
      return {
        offers: ({ prompts }) => prompts.some(({ name }) => name === params.name),
        request: { ask: "prompt", name: params.name, args: params.args as object },
        kind: "prompt",
      };
    case "browser/complete": {
      const { ref, argument, context } = params;
      const name = ref.name ?? ref.uri ?? "";
      return {
        offers: ({ prompts, resources }) => [...prompts, ...resources].some((item) => (item.uriTemplate ?? item.name) === name),
        request: { ask: "complete", name, about: { ref, argument, context } },
      };
    }
    case "browser/executeTool":
      return {
        offers: ({ tools }) => tools.some(isPageTool(params.toolName)),
        request: { ask: "tool", name: params.toolName, args: params.args as object },
        kind: "tool",
      };
  }
}

/**
 * The JSON of a call's answer.
 * @param next where the call has led
 */
function outcome(success: boolean, payload: object | string, { page }: Navigation) {
  return JSON.stringify({ success, payload, page });
}

/** The answer of a document with where the call has led. */
function withPage(result: string | undefined, { page }: Pick<Navigation, "page">) {
  return `${result?.slice(0, -1)},"page":${JSON.stringify(page)}}`;
}

/** Whether a document may resume a call. */
function isHeld({ token }: Open) {
  return token !== undefined && Date.now() < token.until;
}

/** A URI may be one of a template's, so any frame with resources will do. */
function servesResources(offer: Offer) {
  return offer.resources.length > 0;
}
