// Runs in the page's world of a frame that has given a sign: tells the extension's own world over
// a port the tools of the modelContext that the page was given or that a library of it made, and what
// native tools throw, and runs the calls of those that only this world reaches.

import { notifyOfDialogs } from "../../pagejs/dialogs.ts";
import { LibraryTools } from "../../pagejs/library.ts";
import { ModelContextTools } from "../../pagejs/modelcontext.ts";
import { ToolCalls } from "../../pagejs/toolcalls.ts";

import { Values } from "../../pagejs/values.ts";

class LibraryPort {
  static #maxTools = 1025;
  /** How long the extension's own world may take to answer, in ms. */
  static #timeout = 5_000;

  #calls = new Map<string, AbortController>();
  #asking = new ToolCalls();
  took = this.#asking.took;
  ask = this.#asking.ask;
  /** What waits for an answer of the extension's own world, by the tokens. */
  #asked = new Map<string, (answer: any) => void>();
  /** The tools that were sent last, as JSON. */
  #sent = "";
  #library = new LibraryTools(() => void this.#list());
  /** The tools of the page's own modelContext, if it was given one. */
  #offered: ModelContextTools | undefined;
  #port: MessagePort | undefined;
  /** What could not be said yet. */
  #unsaid: PageWorldMessage[] = [];

  /**
   * Begins to look for tools.
   * @param given what the page was given
   */
  look(given?: OfferedContext) {
    if (given) {
      this.#offered = new ModelContextTools(given.context(), () => void this.#list());
      this.#offered.start();
    }
    this.#library.start(given?.getters);
  }

  /** Takes what a tool has thrown, which its caller does not see. */
  threw(name: string, input: string, error: unknown) {
    const message = Values.errorText(error);
    if (this.#offered) this.#offered.threw(name, input, message);
    else this.#send({ type: "threw", name, input, message });
  }

  /** Offers the extension's own world a port. */
  join() {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => this.#received(data);
    this.#port = port1;
    dispatchEvent(new MessageEvent("tabhub-port", { ports: [port2] }));
  }

  #send(message: PageWorldMessage) {
    this.#port?.postMessage(message);
  }

  #received(request: PageWorldRequest) {
    switch (request.type) {
      case "start":
        this.#sent = "";
        void this.#list();
        for (const message of this.#unsaid.splice(0)) this.#send(message);
        break;
      case "call": {
        const { id, name, args, extensions } = request;
        const source = () => (this.#offered?.has(name) ? this.#offered : this.#library);
        const run = (options: CallOptions) => source().call(name, args, options);
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

  /** @param answer about a token */
  #answered(answer: Extract<PageWorldRequest, { token: string }>) {
    const waits = this.#asked.get(answer.token);
    if (waits) waits(answer);
    else if (answer.type === "resumed" && answer.id !== undefined) this.#send({ type: "error", id: answer.id, message: "the page that was to go on with the call does not wait for it any more" });
  }

  async #list() {
    let text = "[]";
    try {
      const given = this.#offered ? (await this.#offered.offer()).tools : [];
      // What a library passes on to the page's own it lists as well.
      const { tools } = await this.#library.offer();
      const more = (tools as Item[]).filter(({ name }) => !this.#offered?.has(name));
      text = JSON.stringify([...given, ...more].slice(0, LibraryPort.#maxTools));
    } catch {
      // A list that cannot be written down is no list.
    }
    if (text === this.#sent) return;
    this.#sent = text;
    this.#send({ type: "tools", tools: text });
  }

  /** Runs a part of a call in this document, and tells its result. */
  async #run(id: string, work: (options: CallOptions) => Promise<string>) {
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

  async tookNatively(name: string, input: string, token: string) {
    await this.#ask({ type: "token", name, input, token });
  }

  async resume(token: string): ReturnType<WebMCPOwner["resume"]> {
    const { id, input } = await this.#ask({ type: "resume", token, beside: false });
    return this.#asking.resumed(id === undefined ? undefined : { input, run: (work) => void this.#run(id, work) });
  }

  async release(token: string) {
    const { id } = await this.#ask({ type: "resume", token, beside: true });
    return id !== undefined;
  }

  /**
   * Asks the extension's own world about a token.
   * @returns its answer, without anything if there is none in time
   */
  async #ask(message: PageWorldMessage & { token: string }): Promise<any> {
    const { token } = message;
    if (this.#asked.has(token)) return {}; // the first to ask has it
    try {
      return await new Promise((resolve) => {
        this.#asked.set(token, resolve);
        setTimeout(resolve, LibraryPort.#timeout, {});
        if (this.#port) this.#send(message);
        else this.#unsaid.push(message);
      });
    } finally {
      this.#asked.delete(token);
    }
  }
}

{
  const end = new LibraryPort();
  // Another sign may have brought this already.
  const first = !dispatchEvent(new CustomEvent("tabhub-half", { cancelable: true, detail: end }));
  if (first) {
    addEventListener("tabhub-frame", () => end.join());
    const { stringify } = JSON;
    const { dispatchEvent, CustomEvent } = window;
    notifyOfDialogs((dialog) => void dispatchEvent(new CustomEvent("tabhub-dialog", { detail: stringify(dialog) })));
  }
}
