// A connection that speaks tabhub.v1: a WebSocket to the hub, opened again whenever it
// is lost, as long as the document lives; or a port to the companion extension, which
// is opened once.

import { Values } from "../../../tabtransport/pagejs/values.ts";

const RETRY_FIRST_MS = 500;
const RETRY_LAST_MS = 15_000;
const HELLO_WAIT_MS = 10_000;
const REFUSED_CLOSE_WAIT_MS = 1_000;
const ERROR_CLOSE_WAIT_MS = 1_000;

// An answer that was sent when the socket died may be lost. Each is kept until
// the hub answers a ping that was sent after it, which is asked for so often.
const CONFIRM_MS = 5_000;
const ANSWERS_KEPT = 1024;
const ANSWERS_KEPT_CHARS = 32 << 20;

/** @param code a WebSocket close code */
const mayReconnect = (code: number) => code < 4100 || code >= 4200;

export class HubLink {
  state: LinkState = "off";
  /** Why the state is what it is, for people. */
  reason = "";
  /** What the hub said at hello. */
  hub: JSONObject = {};

  #dial;
  #hello;
  #handler;
  #once;

  #socket: LinkSocket | null = null;
  #nextID = 1;
  #pending = new Map<number, { resolve: (result: any) => void; reject: (error: Error) => void }>();
  /** What waits for a connection. */
  #openings: ((value: unknown) => void)[] = [];
  /** Answers that may not have reached the hub. */
  #answers = new Map<string | number, { frame: string; sent: boolean }>();
  #confirm: ReturnType<typeof setTimeout> | undefined;
  #attempts = 0;
  /** Whether it was said that the hub does not answer, since it has last. */
  #missed = false;
  #lastHeard = 0;
  /** What the hub answered to a hello that it refused. */
  #refusal = "";
  #retry: ReturnType<typeof setTimeout> | undefined;
  #late: ReturnType<typeof setTimeout> | undefined;
  #watch: ReturnType<typeof setInterval> | undefined;

  constructor({ dial, hello, once, handler }: {
    dial: () => LinkSocket; // opens a socket
    hello: () => JSONObject; // the parameters of browser/hello
    once?: number; // the ms that an answer to hello may take, for a connection within this browser: it is not opened again, and may be quiet
    handler: { opened(): void; changed(): void; unanswered(): void; lost(code: number): void; request(r: HubRequest): void; notice(method: string, params: JSONObject): void }; //   unanswered is called when the first try has failed, at first or after a connection
  }) {
    this.#dial = dial;
    this.#hello = hello;
    this.#once = once;
    this.#handler = handler;
  }

  /** Connects, now, unless there is a connection. */
  start() {
    clearTimeout(this.#retry);
    if (this.#socket) return;
    this.#refusal = "";
    this.#set("connecting", "");
    let socket;
    try {
      socket = this.#dial();
    } catch (error) {
      // The page's own policy (CSP, mixed content) forbids the address: trying
      // again cannot help.
      this.#set("refused", Values.errorText(error));
      return;
    }
    this.#socket = socket;
    this.#late = setTimeout(() => {
      if (socket === this.#socket) this.#end(4000, "the hub does not answer");
    }, this.#once ?? HELLO_WAIT_MS);
    socket.onopen = () => void this.#greet(socket);
    socket.onmessage = (event) => {
      if (socket === this.#socket) this.#receive(event.data);
    };
    socket.onclose = (event) => {
      if (socket === this.#socket) this.#lost(event.code, event.reason);
    };
    // A socket that the page's policy forbids never says that it is closed.
    socket.onerror = () =>
      setTimeout(() => {
        if (socket === this.#socket) this.#end(1006, "");
      }, ERROR_CLOSE_WAIT_MS);
  }

  /** Disconnects and stays so until start. */
  stop() {
    clearTimeout(this.#retry);
    const socket = this.#socket;
    this.#drop();
    socket?.close(1000, "");
    this.#set("off", "");
  }

  /** Resolves once there is a connection. */
  async opened() {
    while (this.state !== "open") await new Promise((opened) => this.#openings.push(opened));
  }

  /** Sends a request to the hub; the promise fails when the connection is lost. */
  request(method: string, params: JSONObject): Promise<any> {
    if (!this.#socket) return Promise.reject(new Error("there is no connection to the hub"));
    const id = this.#nextID++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  /** Sends a notification, if there is a connection. */
  notify(method: string, params: JSONObject) {
    if (this.state === "open") this.#send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /**
   * Answers a request of the hub, over this connection or the next one.
   * @param result JSON text
   */
  answer(id: string | number, result: string) {
    this.#keep(id, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
  }

  /** Answers a request of the hub with an error. */
  fail(id: string | number, code: number, message: string, data?: JSONObject) {
    this.#keep(id, JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } }));
  }

  /** Whether there is an answer that may not have reached the hub. */
  holds(id: string | number) {
    return this.#answers.has(id);
  }

  #keep(id: string | number, frame: string) {
    const max = this.hub.limits?.maxFrame ?? ANSWERS_KEPT_CHARS;
    if (frame.length > max / 3 && new TextEncoder().encode(frame).length > max) {
      this.fail(id, -32003, `the answer is larger than the ${max} bytes that the hub takes`);
      return;
    }
    const answer = { frame, sent: false };
    this.#answers.set(id, answer);
    let chars = 0;
    for (const kept of this.#answers.values()) chars += kept.frame.length;
    for (const [old, kept] of this.#answers) {
      if (this.#answers.size <= ANSWERS_KEPT && chars <= ANSWERS_KEPT_CHARS) break;
      if (kept === answer) break;
      chars -= kept.frame.length;
      this.#answers.delete(old);
    }
    if (this.state === "open") this.#deliver(answer);
  }

  #deliver(answer: { frame: string; sent: boolean }) {
    this.#send(answer.frame);
    answer.sent = true;
    this.#confirm ??= setTimeout(() => void this.#letGo(), CONFIRM_MS);
  }

  /** Drops the answers that the hub has. */
  async #letGo() {
    const sent = [...this.#answers].filter(([, answer]) => answer.sent);
    try {
      // The companion extension, in this browser, gets all that is sent.
      if (sent.length > 0 && !this.#once) await this.request("browser/ping", {});
      for (const [id, answer] of sent) if (this.#answers.get(id) === answer) this.#answers.delete(id);
    } catch {
      // They go out again over the next connection.
    }
    const more = [...this.#answers.values()].some((answer) => answer.sent);
    this.#confirm = more ? setTimeout(() => void this.#letGo(), CONFIRM_MS) : undefined;
  }

  #send(frame: string) {
    this.#socket?.send(frame);
  }

  async #greet(socket: LinkSocket) {
    try {
      this.hub = await this.request("browser/hello", this.#hello());
    } catch (error) {
      // A refusal is followed by a close code that says whether to try again.
      this.#refusal = Values.errorText(error);
      setTimeout(() => {
        if (socket === this.#socket) this.#end(4103, this.#refusal);
      }, REFUSED_CLOSE_WAIT_MS);
      return;
    }
    if (socket !== this.#socket) return;
    clearTimeout(this.#late);
    this.#attempts = 0;
    if (!this.#once) {
      const quiet = 3 * (this.hub.keepAliveMs || 15_000);
      this.#watch = setInterval(() => {
        if (Date.now() - this.#lastHeard > quiet) this.#end(4000, "the hub has gone quiet");
      }, quiet / 3);
    }
    this.#set("open", "");
    for (const opened of this.#openings.splice(0)) opened(undefined);
    this.#handler.opened();
    for (const answer of this.#answers.values()) this.#deliver(answer);
  }

  #receive(data: unknown) {
    this.#lastHeard = Date.now();
    let frame;
    try {
      frame = JSON.parse(String(data));
    } catch {
      return;
    }
    if (typeof frame !== "object" || frame === null) return;
    const { id, method, params } = frame;
    if (typeof method === "string") {
      const object = typeof params === "object" && params !== null ? params : {};
      if (id === undefined || id === null) this.#handler.notice(method, object);
      else this.#handler.request({ id, method, params: object });
      return;
    }
    const waiting = this.#pending.get(id);
    if (!waiting) return;
    this.#pending.delete(id);
    if (frame.error) waiting.reject(new Error(String(frame.error.message ?? "refused by the hub")));
    else waiting.resolve(frame.result ?? {});
  }

  #end(code: number, reason: string) {
    const socket = this.#socket;
    this.#lost(code, reason);
    socket?.close(1000, "");
  }

  #lost(code: number, reason: string) {
    const greeted = this.state === "open";
    this.#drop();
    if (this.#once) {
      this.#set("off", reason);
      this.#handler.lost(code);
      return;
    }
    if (!mayReconnect(code)) {
      this.#set("refused", this.#refusal || reason || `the hub closed the connection (${code})`);
      console.error(`tabhub: ${this.reason}. This page's tools are not offered.`);
      return;
    }
    if (!greeted && !this.#missed) this.#handler.unanswered();
    this.#missed = !greeted;
    const step = Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * 2 ** this.#attempts++);
    this.#retry = setTimeout(() => this.start(), step * (0.75 + Math.random() / 2));
    this.#set("waiting", reason);
  }

  #drop() {
    for (const answer of this.#answers.values()) answer.sent = false;
    clearTimeout(this.#late);
    clearInterval(this.#watch);
    this.#socket = null;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(new Error("the connection to the hub was lost"));
  }

  #set(state: LinkState, reason: string) {
    this.state = state;
    this.reason = reason;
    this.#handler.changed();
  }
}
