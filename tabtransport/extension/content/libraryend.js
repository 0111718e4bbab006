// Runs in the page's world of a frame that has given a sign: tells the extension's own world over
// a port the tools of the modelContext that the page was given or that a library of it made, and what
// native tools throw, and runs the calls of those that only this world reaches.
"use strict";

var LibraryEnd = class {
  static #maxTools = 1025;
  /** How long the extension's own world may take to answer, in ms. */
  static #patience = 5_000;

  /** @type {Map<string, AbortController>} */
  #calls = new Map();
  #asking = new ToolCalls();
  took = this.#asking.took;
  ask = this.#asking.ask;
  /** What waits for an answer of the extension's own world, by the tokens. @type {Map<string, (answer: any) => void>} */
  #asked = new Map();
  /** The tools that were told last, as JSON. */
  #told = "";
  #library = new LibraryTools(() => void this.#list());
  /** The tools of the page's own modelContext, if it was given one. @type {InstanceType<typeof ModelContextTools> | undefined} */
  #given;
  /** @type {MessagePort | undefined} */
  #port;
  /** What could not be said yet. @type {PageWorldMessage[]} */
  #unsaid = [];

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
        for (const message of this.#unsaid.splice(0)) this.#send(message);
        break;
      case "call": {
        const { id, name, args, extensions } = request;
        const source = () => (this.#given?.has(name) ? this.#given : this.#library);
        const run = (/** @type {CallOptions} */ options) => source().call(name, args, options);
        void this.#run(id, (options) => this.#asking.call(run, { ...options, extensions }));
        break;
      }
      case "cancel":
        this.#calls.get(request.id)?.abort(new DOMException(request.reason, "AbortError"));
        break;
      case "kept":
      case "resumed":
        this.#answered(request);
    }
  }

  /**
   * @param {Extract<PageWorldRequest, {token: string}>} answer about a token
   */
  #answered(answer) {
    const waits = this.#asked.get(answer.token);
    if (waits) waits(answer);
    else if (answer.type === "resumed" && answer.id !== undefined) this.#send({ type: "error", id: answer.id, message: "the page that was to go on with the call does not wait for it any more" });
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

  /**
   * Runs a part of a call in this document, and tells its result.
   *
   * @param {string} id
   * @param {(options: CallOptions) => Promise<string>} work
   */
  async #run(id, work) {
    const controller = new AbortController();
    this.#calls.set(id, controller);
    try {
      const text = await work({
        signal: controller.signal,
        waiting: () => {
          this.#send({ type: "waiting", id, on: true });
          return () => this.#send({ type: "waiting", id, on: false });
        },
        token: async (token) => {
          const { kept } = await this.#ask({ type: "token", id, token });
          if (!kept) throw new DOMException("The call cannot go on in another document.", "NotSupportedError");
        },
      });
      this.#send({ type: "result", id, text });
    } catch (error) {
      this.#send({ type: "error", id, message: Values.errorText(error) });
    } finally {
      this.#calls.delete(id);
    }
  }

  // ---- Tokens

  /**
   * @param {string} name
   * @param {string} input
   * @param {string} token
   */
  async tookNatively(name, input, token) {
    await this.#ask({ type: "token", name, input, token });
  }

  /**
   * @param {string} token
   * @returns {ReturnType<WebMCPOwner["resume"]>}
   */
  async resume(token) {
    const { id, input } = await this.#ask({ type: "resume", token, beside: false });
    return this.#asking.resumed(id === undefined ? undefined : { input, run: (work) => void this.#run(id, work) });
  }

  /** @param {string} token */
  async release(token) {
    const { id } = await this.#ask({ type: "resume", token, beside: true });
    return id !== undefined;
  }

  /**
   * Asks the extension's own world about a token.
   *
   * @param {PageWorldMessage & {token: string}} message
   * @returns {Promise<any>} its answer, without anything if there is none in time
   */
  async #ask(message) {
    const { token } = message;
    if (this.#asked.has(token)) return {}; // who asks first has it
    try {
      return await new Promise((resolve) => {
        this.#asked.set(token, resolve);
        setTimeout(resolve, LibraryEnd.#patience, {});
        if (this.#port) this.#send(message);
        else this.#unsaid.push(message);
      });
    } finally {
      this.#asked.delete(token);
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
