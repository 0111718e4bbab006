// The hub as the rest of the worker knows it: what this browser tells and asks it.

import { Refusal } from "./refusal.ts";

import type { Link } from "./link.ts";

export class Hub {
  #link;
  #pending = new Map<string, { resolve: (result: any) => void; reject: (error: Error) => void }>();

  constructor(link: Link) {
    this.#link = link;
  }

  /** Whether messages reach the hub now. */
  get connected() {
    return this.#link.open;
  }

  /**
   * Sends a frame.
   * @returns whether the hub is connected
   */
  send(text: string): boolean {
    return this.#link.send(text);
  }

  /**
   * Sends a message without waiting for an answer.
   * @returns whether the hub is connected
   */
  notify<M extends keyof ToHub>(method: M, params: ToHub[M]["params"], tabId?: number): boolean {
    return this.send(JSON.stringify({ jsonrpc: "2.0", tabId, method, params }));
  }

  /**
   * Sends a request and waits for its answer, or for the end of the connection.
   * @param params or their JSON
   */
  request<M extends RequestMethod>(method: M, params: ToHub[M]["params"] | string, tabId?: number): Promise<ToHub[M]["result"]> {
    const id = crypto.randomUUID();
    const head = JSON.stringify({ jsonrpc: "2.0", id, tabId, method });
    const text = typeof params === "string" ? params : JSON.stringify(params);
    return new Promise<ToHub[M]["result"]>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      if (!this.send(`${head.slice(0, -1)},"params":${text}}`)) reject(new Error("the hub is not connected"));
    }).finally(() => this.#pending.delete(id));
  }

  answered({ id, result, error }: HubAnswer) {
    const pending = this.#pending.get(id);
    if (error) pending?.reject(new Refusal(error.code, String(error.message)));
    else pending?.resolve(result);
  }

  /** The connection has ended. */
  disconnected() {
    for (const { reject } of this.#pending.values()) reject(new Error("the hub went away"));
  }
}
