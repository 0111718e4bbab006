// The one WebSocket to the hub.

import { dashboard } from "./settings.js";

const SUBPROTOCOL = "tabhub.v1";
const FIRST_DELAY = 500;
const LAST_DELAY = 15_000;
const HELLO_TIMEOUT = 10_000;

/**
 * What a link needs from its owner.
 *
 * @typedef {object} Owner
 * @property {() => Promise<{url: string, params: object}>} hello where to connect and what to say first
 * @property {(result: any) => void} opened the hub has answered hello
 * @property {(message: any) => void} message any later message
 * @property {() => void} changed the state differs
 */

export class Link {
  /** @type {WebSocket | undefined} */
  #socket;
  /** @type {HubState} */
  #state = { state: "connecting" };
  #open = false;
  #failures = 0;
  #greetedAt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #silence = 45_000;
  #owner;

  /** @param {Owner} owner */
  constructor(owner) {
    this.#owner = owner;
  }

  get state() {
    return this.#state;
  }

  /** Whether messages reach the hub now. */
  get open() {
    return this.#open;
  }

  /** When this end said hello, before anything came over the connection. */
  get greetedAt() {
    return this.#greetedAt;
  }

  /** Connects unless that is done, under way, or pointless until something changes. */
  async ensure() {
    if (this.#socket || this.#timer !== undefined) return;
    const { halted } = await chrome.storage.session.get("halted");
    if (halted) this.#become(/** @type {HubState} */ (halted));
    else await this.#connect();
  }

  /** Connects anew, whatever was before: something has changed. */
  async restart() {
    this.#become({ state: "connecting" });
    await chrome.storage.session.remove("halted");
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#failures = 0;
    const socket = this.#socket;
    this.#socket = undefined;
    this.#open = false;
    socket?.close(1000);
    await this.#connect();
  }

  /**
   * Sends a frame. It returns false if there is no connection.
   *
   * @param {string} text
   */
  send(text) {
    if (!this.#open || !this.#socket) return false;
    this.#socket.send(text);
    return true;
  }

  async #connect() {
    const { url, params } = await this.#owner.hello();
    if (this.#socket) return;
    /** @type {WebSocket} */
    let socket;
    try {
      socket = new WebSocket(url, [SUBPROTOCOL]);
    } catch {
      this.#become({ state: "refused", reason: `${url} is not the address of a hub` });
      return;
    }
    this.#socket = socket;
    this.#watch(socket, HELLO_TIMEOUT);
    let reached = false;
    socket.onopen = () => {
      reached = true;
      this.#greetedAt = Date.now();
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: "hello", method: "browser/hello", params }));
    };
    socket.onmessage = (event) => {
      if (this.#socket === socket) this.#received(socket, event.data);
    };
    socket.onclose = (event) => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#open = false;
      clearTimeout(this.#timer);
      this.#timer = undefined;
      void this.#closed(url, reached, event);
    };
  }

  /**
   * @param {WebSocket} socket
   * @param {unknown} data
   */
  #received(socket, data) {
    let message;
    try {
      message = JSON.parse(String(data));
    } catch {
      return;
    }
    this.#watch(socket, this.#open ? this.#silence : HELLO_TIMEOUT);
    if (message.id === "hello" && message.method === undefined && !this.#open) {
      if (message.error) {
        void this.#halt({ state: "refused", reason: String(message.error.message) });
        socket.close(1000);
        return;
      }
      const { hub, version, keepAliveMs } = message.result ?? {};
      this.#open = true;
      this.#failures = 0;
      if (keepAliveMs > 0) this.#silence = 3 * keepAliveMs;
      this.#watch(socket, this.#silence);
      this.#become({ state: "connected", hub: String(hub ?? ""), version: String(version ?? "") });
      this.#owner.opened(message.result ?? {});
      return;
    }
    this.#owner.message(message);
  }

  /**
   * Gives the connection up if it stays silent for so long.
   *
   * @param {WebSocket} socket
   * @param {number} silence
   */
  #watch(socket, silence) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // A close that the far end does not answer would take a minute.
      socket.onclose?.(new CloseEvent("close", { code: 1006 }));
      socket.close();
    }, silence);
  }

  /**
   * @param {string} url
   * @param {boolean} reached
   * @param {CloseEvent} event
   */
  async #closed(url, reached, event) {
    if (event.code === 4101) {
      await this.#halt({ state: "replaced" });
      return;
    }
    if (event.code >= 4100 && event.code < 4200) {
      await this.#halt({ state: "refused", reason: event.reason || "the hub gave no reason" });
      return;
    }
    const delay = Math.min(FIRST_DELAY * 2 ** this.#failures++, LAST_DELAY) * (0.5 + Math.random() / 2);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.ensure();
    }, delay);
    if (reached) {
      this.#become({ state: "connecting" });
    } else if (await answers(url)) {
      const reason = "it runs, but does not accept this extension: its id or origin is not one that the hub knows";
      if (!this.#socket) this.#become({ state: "refused", reason });
    } else if (!this.#socket) {
      this.#become({ state: "absent" });
    }
  }

  /**
   * Stops trying until something changes, also if the worker is restarted.
   *
   * @param {HubState} state
   */
  async #halt(state) {
    this.#socket = undefined;
    this.#open = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await chrome.storage.session.set({ halted: state });
    this.#become(state);
  }

  /** @param {HubState} state */
  #become(state) {
    if (JSON.stringify(state) === JSON.stringify(this.#state)) return;
    this.#state = state;
    this.#owner.changed();
  }
}

/**
 * Whether any web server answers where the hub should be.
 *
 * @param {string} url
 */
async function answers(url) {
  try {
    await fetch(new URL("healthz", dashboard(url)), { signal: AbortSignal.timeout(2000), cache: "no-store" });
    return true;
  } catch {
    return false;
  }
}
