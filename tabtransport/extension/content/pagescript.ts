// The far end of a port to the hub's script in the page (see embedded.ts): frames of
// tabhub.v1, of which this side plays the hub's part.

import { RateLimit } from "./ratelimit.ts";

import { Limit, Values } from "../../pagejs/values.ts";

interface Asked {
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  progress: CallOptions["progress"];
  waiting: CallOptions["waiting"];
}

/** What was asked for is not there: nothing has run. */
export class Unknown extends Error {}

export class PageScript {
  static #maxFrame = 31 << 20;
  static #maxCalls = 64;

  /** Whether its hello was answered: it offers what it has here. */
  served = false;

  #port;
  #closed = false;
  #leaving = false;
  /** The id of its hello; null: none has come. */
  #hello: string | number | null = null;
  #next = 0;
  #asked = new Map<string, Asked>();
  /** Messages of the page that cause traffic to the hub. */
  #notices = new RateLimit(100);
  #owner;

  /** @param owner called with what the script says */
  constructor(port: MessagePort, owner: {
    hello: () => void; // it has said hello
    request: (id: string | number, method: string, params: Record<string, unknown>) => unknown;
    updated: (uri: string) => void;
    closed: () => unknown;
  }) {
    this.#port = port;
    this.#owner = owner;
    port.onmessage = ({ data }) => {
      if (data?.close === true) {
        this.close(1000);
        owner.closed();
      } else if (typeof data?.frame === "string") this.#heard(data.frame);
    };
    port.postMessage({ open: true });
  }

  /** Whether it waits for an answer to its hello. */
  get waits() {
    return this.#hello !== null && !this.served && !this.#closed;
  }

  /** Answers its hello. */
  serve(result: object) {
    this.served = true;
    if (this.#hello !== null) this.answer(this.#hello, result);
  }

  answer(id: string | number, result: object) {
    this.#post({ id, result });
  }

  tell(method: string, params: object) {
    this.#post({ method, params });
  }

  /** Asks it something. What was asked ends when signal is aborted or the port closed. */
  async ask(method: string, params: object, { signal, progress, waiting }: CallOptions): Promise<unknown> {
    if (this.#closed) throw new Unknown("the page's tabhub script has gone");
    if (this.#asked.size >= PageScript.#maxCalls) throw new Error(`${PageScript.#maxCalls} calls are running in this page already`);
    const id = `e${this.#next++}`;
    const cancelled = () => {
      this.tell("browser/cancel", { requestId: id, reason: Values.errorText(signal.reason) });
      this.#asked.get(id)?.reject(signal.reason);
    };
    signal.addEventListener("abort", cancelled);
    try {
      return await new Promise((resolve, reject) => {
        this.#asked.set(id, { resolve, reject, progress, waiting });
        this.#post({ id, method, params });
      });
    } finally {
      signal.removeEventListener("abort", cancelled);
      this.#asked.delete(id);
      if (this.#leaving && this.#asked.size === 0) this.close(1000);
    }
  }

  /** Takes leave of it: it offers nothing here any more, and what it was asked may end. */
  leave() {
    this.#leaving = true;
    this.tell("tabhub/leave", {});
    if (this.#asked.size === 0) this.close(1000);
  }

  /** @param code as that of a WebSocket */
  close(code: number) {
    if (this.#closed) return;
    this.#closed = true;
    this.#port.postMessage({ code, reason: "" });
    this.#port.close();
    for (const { reject } of [...this.#asked.values()]) reject(new Error("the page's tabhub script has gone"));
  }

  #post(message: object) {
    this.#port.postMessage({ frame: JSON.stringify({ jsonrpc: "2.0", ...message }) });
  }

  /** @param text what the page may have forged */
  #heard(text: string) {
    let frame;
    try {
      if (text.length <= PageScript.#maxFrame) frame = JSON.parse(text);
    } catch {
      // It is no frame.
    }
    if (!Values.isObject(frame) || this.#closed) return;
    const { id, method } = frame;
    const params = Values.isObject(frame.params) ? frame.params : {};
    if (method === undefined) {
      const asked = typeof id === "string" ? this.#asked.get(id) : undefined;
      if (Values.isObject(frame.error)) asked?.reject(PageScript.#failure(frame.error));
      else asked?.resolve(frame.result);
    } else if (method === "browser/progress") {
      this.#progressed(params);
    } else if (this.#leaving || typeof method !== "string") {
      return;
    } else if (typeof id === "string" || typeof id === "number") {
      if (method !== "browser/hello") {
        if (this.served) this.#owner.request(id, method, params);
      } else if (this.#hello === null) {
        this.#hello = id;
        this.#owner.hello();
      }
    } else if (method === "browser/resourceUpdated" && this.served && typeof params.uri === "string" && this.#notices.take()) {
      this.#owner.updated(params.uri.slice(0, Limit.uri));
    }
  }

  static #failure({ code, message }: Record<string, unknown>) {
    const text = Values.errorText(new Error(String(message ?? "")));
    // The page has no such tool: nothing has run.
    return code === -32001 ? new Unknown(text) : new Error(text);
  }

  #progressed({ requestId, progress, total, message, waiting }: Record<string, unknown>) {
    const asked = typeof requestId === "string" ? this.#asked.get(requestId) : undefined;
    if (waiting === true) return asked?.waiting?.();
    if (!asked?.progress || typeof progress !== "number" || !this.#notices.take()) return;
    asked.progress({
      progress,
      total: typeof total === "number" ? total : undefined,
      message: typeof message === "string" ? message.slice(0, Limit.message) : undefined,
    });
  }
}
