// Runs in the page's world of a frame that has given a sign: tells the extension's own world over
// a port the tools of a modelContext that a library of the page made, and what native tools throw,
// and runs the calls of a library's tools.
"use strict";

var LibraryEnd = class {
  static #maxTools = 1025;

  /** @type {Map<string, AbortController>} */
  #calls = new Map();
  /** The tools that were told last, as JSON. */
  #told = "";
  #tools = new LibraryTools(() => void this.#list());
  /** @type {MessagePort | undefined} */
  #port;

  /** Begins to look for a modelContext. */
  look() {
    this.#tools.start();
  }

  /**
   * Tells what a native tool has thrown.
   *
   * @param {string} name
   * @param {unknown} error
   */
  threw(name, error) {
    this.#send({ type: "threw", name, message: Values.errorText(error) });
  }

  /** Offers the extension's own world a port. */
  join() {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => this.#heard(data);
    this.#port = port1;
    dispatchEvent(new MessageEvent("tabhub-port", { ports: [port2] }));
  }

  /** @param {PageWorldMessage} message */
  #send(message) {
    this.#port?.postMessage(message);
  }

  /** @param {PageWorldRequest} request */
  #heard(request) {
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
      const waiting = () => this.#send({ type: "waiting", id });
      this.#send({ type: "result", id, text: await this.#tools.call(name, args, { signal: controller.signal, waiting }) });
    } catch (error) {
      this.#send({ type: "error", id, message: Values.errorText(error) });
    } finally {
      this.#calls.delete(id);
    }
  }
};

{
  const end = new LibraryEnd();
  // Another sign may have brought this already.
  const first = !dispatchEvent(new CustomEvent("tabhub-half", { cancelable: true, detail: end }));
  if (first) addEventListener("tabhub-frame", () => end.join());
}
