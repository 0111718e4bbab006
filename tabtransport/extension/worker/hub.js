// The hub as the rest of the worker knows it: what this browser tells and asks it.

import { Refusal } from "./refusal.js";

export class Hub {
  #link;
  /** @type {Map<string, {resolve: (result: any) => void, reject: (error: Error) => void}>} */
  #pending = new Map();

  /** @param {import("./link.js").Link} link */
  constructor(link) {
    this.#link = link;
  }

  /** Whether messages reach the hub now. */
  get connected() {
    return this.#link.open;
  }

  /**
   * Sends a frame.
   *
   * @param {string} text
   * @returns {boolean} whether the hub is connected
   */
  send(text) {
    return this.#link.send(text);
  }

  /**
   * Sends a message without waiting for an answer.
   *
   * @template {keyof ToHub} M
   * @param {M} method
   * @param {ToHub[M]["params"]} params
   * @param {number} [tabId]
   * @returns {boolean} whether the hub is connected
   */
  notify(method, params, tabId) {
    return this.send(JSON.stringify({ jsonrpc: "2.0", tabId, method, params }));
  }

  /**
   * Sends a request and waits for its answer, or for the end of the connection.
   *
   * @template {RequestMethod} M
   * @param {M} method
   * @param {ToHub[M]["params"] | string} params or their JSON
   * @param {number} [tabId]
   * @returns {Promise<ToHub[M]["result"]>}
   */
  request(method, params, tabId) {
    const id = crypto.randomUUID();
    const head = JSON.stringify({ jsonrpc: "2.0", id, tabId, method });
    const text = typeof params === "string" ? params : JSON.stringify(params);
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      if (!this.send(`${head.slice(0, -1)},"params":${text}}`)) reject(new Error("the hub is not connected"));
    }).finally(() => this.#pending.delete(id));
  }

  /** @param {HubAnswer} answer */
  answered({ id, result, error }) {
    const pending = this.#pending.get(id);
    if (error) pending?.reject(new Refusal(error.code, String(error.message)));
    else pending?.resolve(result);
  }

  /** The connection has ended. */
  disconnected() {
    for (const { reject } of this.#pending.values()) reject(new Error("the hub went away"));
  }
}
