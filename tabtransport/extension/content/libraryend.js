// Runs in the page's world: tells the extension's own world over a port the tools of a
// modelContext that a library of the page made, and runs their calls.
"use strict";

var LibraryEnd = class {
  static #maxTools = 1025;

  /** @type {Map<string, AbortController>} */
  #calls = new Map();
  /** The tools that were told last, as JSON. */
  #told = "";
  #tools;
  #send;

  /**
   * @param {() => void} found called when the page has a modelContext
   * @param {(message: PageWorldMessage) => void} send
   */
  constructor(found, send) {
    this.#send = send;
    this.#tools = new LibraryTools(() => {
      found();
      void this.#list();
    });
  }

  /** Begins to look for a modelContext. */
  start() {
    this.#tools.start();
  }

  /** @param {PageWorldRequest} request */
  heard(request) {
    switch (request.type) {
      case "start":
        this.#told = "";
        void this.#list();
        break;
      case "call":
        void this.#call(request);
        break;
      case "cancel":
        this.#calls.get(request.id)?.abort(new DOMException(request.reason, "AbortError"));
        break;
    }
  }

  async #list() {
    let text = "[]";
    try {
      const { tools } = await this.#tools.offer();
      text = JSON.stringify(tools.slice(0, LibraryEnd.#maxTools));
    } catch {
      // A list that cannot be written down is no list.
    }
    if (text === this.#told) return;
    this.#told = text;
    this.#send({ type: "tools", tools: text });
  }

  /** @param {Extract<PageWorldRequest, {type: "call"}>} request */
  async #call({ id, name, args }) {
    const controller = new AbortController();
    this.#calls.set(id, controller);
    try {
      this.#send({ type: "result", id, text: await this.#tools.call(name, args, { signal: controller.signal }) });
    } catch (error) {
      this.#send({ type: "error", id, message: Values.errorText(error) });
    } finally {
      this.#calls.delete(id);
    }
  }
};
