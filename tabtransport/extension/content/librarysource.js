// The extension's end of the port to the page's world (libraryend.js).
"use strict";

/** @implements {Source} */
var LibrarySource = class {
  /** @type {MessagePort | undefined} */
  #port;
  /** @type {Checked["items"]} */
  #tools = [];
  /** @type {Map<string, {resolve: (text: string) => void, reject: (error: Error) => void, waiting?: () => void}>} */
  #waiting = new Map();
  #changed;
  #threw;

  /**
   * @param {() => void} changed called when the tools may differ
   * @param {(name: string, input: string, message: string) => void} threw called with what a native tool threw
   */
  constructor(changed, threw) {
    this.#changed = changed;
    this.#threw = threw;
  }

  /** Joins the page's world of a frame that has given a sign. */
  ask() {
    if (this.#port) return;
    // A script of the page may play the part of the other end: it speaks for the page, too.
    const offered = (/** @type {Event} */ event) => {
      if (event instanceof MessageEvent && event.ports[0]) this.#join(event.ports[0]);
    };
    addEventListener("tabhub-port", offered, { once: true });
    dispatchEvent(new Event("tabhub-frame"));
    removeEventListener("tabhub-port", offered);
  }

  /** @param {MessagePort} port */
  #join(port) {
    this.#port = port;
    port.onmessage = (event) => this.#heard(event.data);
    port.postMessage({ type: "start" });
  }

  start() {}

  stop() {}

  async offer() {
    return { tools: this.#tools, resources: [], prompts: [] };
  }

  /** @param {string} name */
  has(name) {
    return this.#tools.some((tool) => tool.name === name);
  }

  /**
   * @param {string} name
   * @param {object} args
   * @param {CallOptions} options
   * @returns {Promise<string>}
   */
  async call(name, args, { signal, waiting }) {
    const id = Values.randomID();
    const cancel = () => this.#send({ type: "cancel", id, reason: Values.errorText(signal.reason) });
    signal.addEventListener("abort", cancel);
    try {
      const text = await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject, waiting });
        this.#send({ type: "call", id, name, args });
      });
      return Values.callToolResult(text);
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#waiting.delete(id);
    }
  }

  /** @param {PageWorldRequest} message */
  #send(message) {
    this.#port?.postMessage(message);
  }

  /** @param {any} message what the page may have forged */
  #heard(message) {
    switch (message?.type) {
      case "tools":
        try {
          this.#tools = Shape.tools(JSON.parse(String(message.tools))).items;
        } catch {
          return;
        }
        this.#changed();
        break;
      case "result":
        this.#waiting.get(message.id)?.resolve(String(message.text));
        break;
      case "waiting":
        this.#waiting.get(message.id)?.waiting?.();
        break;
      case "error":
        this.#waiting.get(message.id)?.reject(new Error(String(message.message)));
        break;
      case "threw":
        this.#threw(String(message.name), String(message.input), String(message.message));
        break;
    }
  }
};
