// Runs in the page's world of a frame that has given a sign: tells the extension's own world over
// a port the tools of the modelContext that the page was given or that a library of it made, and what
// native tools throw, and runs the calls of those that only this world reaches.
"use strict";

var LibraryEnd = class {
  static #maxTools = 1025;

  /** @type {Map<string, AbortController>} */
  #calls = new Map();
  /** The tools that were told last, as JSON. */
  #told = "";
  #library = new LibraryTools(() => void this.#list());
  /** The tools of the page's own modelContext, if it was given one. @type {InstanceType<typeof ModelContextTools> | undefined} */
  #given;
  /** @type {MessagePort | undefined} */
  #port;

  /**
   * Begins to look for tools.
   *
   * @param {GivenContext} [given] what the page was given
   */
  look(given) {
    if (given) {
      this.#given = new ModelContextTools(given.context(), () => void this.#list());
      this.#given.start();
    }
    this.#library.start(given?.getters);
  }

  /**
   * Takes what a tool has thrown that its caller is not told.
   *
   * @param {string} name
   * @param {string} input
   * @param {unknown} error
   */
  threw(name, input, error) {
    const message = Values.errorText(error);
    if (this.#given) this.#given.threw(name, input, message);
    else this.#send({ type: "threw", name, input, message });
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
      const given = this.#given ? (await this.#given.offer()).tools : [];
      // What a library passes on to the page's own it lists as well.
      const { tools } = await this.#library.offer();
      const more = /** @type {Item[]} */ (tools).filter(({ name }) => !this.#given?.has(name));
      text = JSON.stringify([...given, ...more].slice(0, LibraryEnd.#maxTools));
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
      const source = this.#given?.has(name) ? this.#given : this.#library;
      const waiting = () => this.#send({ type: "waiting", id });
      this.#send({ type: "result", id, text: await source.call(name, args, { signal: controller.signal, waiting }) });
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
  if (first) {
    addEventListener("tabhub-frame", () => end.join());
    const { stringify } = JSON;
    const { dispatchEvent, CustomEvent } = window;
    tellDialogs((dialog) => void dispatchEvent(new CustomEvent("tabhub-dialog", { detail: stringify(dialog) })));
  }
}
