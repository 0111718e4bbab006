// The far end of a port to the hub's script in the page (see embedded.js): frames of
// tabhub.v1, of which this side plays the hub's part.
"use strict";

/**
 * @typedef {object} Asked
 * @property {(result: unknown) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {CallOptions["progress"]} progress
 * @property {CallOptions["waiting"]} waiting
 */

var PageScript = class {
  static #maxFrame = 31 << 20;
  static #maxCalls = 64;

  /** Whether its hello was answered: it offers what it has here. */
  served = false;

  #port;
  #closed = false;
  #leaving = false;
  /** The id of its hello; null: none has come. @type {string | number | null} */
  #hello = null;
  #next = 0;
  /** @type {Map<string, Asked>} */
  #asked = new Map();
  /** Messages of the page that cause traffic to the hub. */
  #notices = new RateLimit(100);
  #owner;

  /**
   * @param {MessagePort} port
   * @param {object} owner what is to be told of it
   * @param {() => void} owner.hello it has said hello
   * @param {(id: string | number, method: string, params: Record<string, unknown>) => unknown} owner.request
   * @param {(uri: string) => void} owner.updated
   * @param {() => unknown} owner.closed
   */
  constructor(port, owner) {
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

  /**
   * Answers its hello.
   *
   * @param {object} result
   */
  serve(result) {
    this.served = true;
    if (this.#hello !== null) this.answer(this.#hello, result);
  }

  /**
   * @param {string | number} id
   * @param {object} result
   */
  answer(id, result) {
    this.#post({ id, result });
  }

  /**
   * @param {string} method
   * @param {object} params
   */
  tell(method, params) {
    this.#post({ method, params });
  }

  /**
   * Asks it something. What was asked ends when signal is aborted or the port closed.
   *
   * @param {string} method
   * @param {object} params
   * @param {CallOptions} options
   * @returns {Promise<unknown>}
   */
  async ask(method, params, { signal, progress, waiting }) {
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

  /** @param {number} code as that of a WebSocket */
  close(code) {
    if (this.#closed) return;
    this.#closed = true;
    this.#port.postMessage({ code, reason: "" });
    this.#port.close();
    for (const { reject } of [...this.#asked.values()]) reject(new Error("the page's tabhub script has gone"));
  }

  /** @param {object} message */
  #post(message) {
    this.#port.postMessage({ frame: JSON.stringify({ jsonrpc: "2.0", ...message }) });
  }

  /** @param {string} text what the page may have forged */
  #heard(text) {
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

  /** @param {Record<string, unknown>} error */
  static #failure({ code, message }) {
    const text = Values.errorText(new Error(String(message ?? "")));
    // The script has nobody to give it to: nothing has run.
    return code === -32001 ? new Unknown(text) : new Error(text);
  }

  /** @param {Record<string, unknown>} params */
  #progressed({ requestId, progress, total, message, waiting }) {
    const asked = typeof requestId === "string" ? this.#asked.get(requestId) : undefined;
    if (waiting === true) return asked?.waiting?.();
    if (!asked?.progress || typeof progress !== "number" || !this.#notices.take()) return;
    asked.progress({
      progress,
      total: typeof total === "number" ? total : undefined,
      message: typeof message === "string" ? message.slice(0, Limit.message) : undefined,
    });
  }
};
