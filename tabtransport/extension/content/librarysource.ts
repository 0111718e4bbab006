// The extension's end of the port to the page's world (library.ts).

import { Shape } from "./shape.ts";
import { Limit, Values } from "../../pagejs/values.ts";

import type { ModelContextTools } from "../../pagejs/modelcontext.ts";

export class LibrarySource implements Source {
  #port: MessagePort | undefined;
  #tools: Checked["items"] = [];
  /** The calls that run, and what to do when they do not wait for the person any more. */
  #running = new Map<string, CallOptions & { resolve: (text: string) => void; reject: (error: Error) => void; over?: (() => void) | void }>();
  #changed;
  #native;
  #resume;

  /**
   * @param changed called when the tools may differ
   * @param native called with what tools of the browser's WebMCP do
   * @param resume takes up a call that has taken a token, which run then goes on with unless that is beside; resolves to its id, if there is one
   */
  constructor(changed: () => void, native: ModelContextTools | undefined, resume: (token: string, beside: boolean, run: (input: string, options: CallOptions) => Promise<string>) => Promise<string | undefined>) {
    this.#changed = changed;
    this.#native = native;
    this.#resume = resume;
  }

  /** Joins the page's world of a frame that has given a sign. */
  ask() {
    if (this.#port) return;
    // A script of the page may play the part of the other end: it speaks for the page, too.
    const offered = (event: Event) => {
      if (event instanceof MessageEvent && event.ports[0]) this.#join(event.ports[0]);
    };
    addEventListener("tabhub-port", offered, { once: true });
    dispatchEvent(new Event("tabhub-frame"));
    removeEventListener("tabhub-port", offered);
  }

  #join(port: MessagePort) {
    this.#port = port;
    port.onmessage = (event) => this.#heard(event.data);
    port.postMessage({ type: "start" });
  }

  start() {}

  stop() {}

  async offer() {
    return { tools: this.#tools, resources: [], prompts: [] };
  }

  has(name: string) {
    return this.#tools.some((tool) => tool.name === name);
  }

  async call(name: string, args: object, options: CallOptions): Promise<string> {
    const { extensions } = options;
    return this.#run(options, (id) => this.#send({ type: "call", id, name, args, extensions }));
  }

  /** Waits for what the page's world runs. */
  async #run(options: CallOptions, begin: (id: string) => void): Promise<string> {
    const { signal } = options;
    const id = Values.randomID();
    const cancel = () => this.#send({ type: "cancel", id, reason: Values.errorText(signal.reason) });
    signal.addEventListener("abort", cancel);
    try {
      const text = await new Promise((resolve, reject) => {
        this.#running.set(id, { ...options, resolve, reject });
        begin(id);
      });
      return Values.callToolResult(text);
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#running.delete(id);
    }
  }

  /**
   * A tool has taken a token.
   * @param message what the page may have forged
   */
  async #took({ id, name, input, token: given }: any) {
    const token = String(given).slice(0, Limit.uri);
    const keeping = id === undefined ? this.#native?.took(String(name), String(input), token) : this.#running.get(id)?.token?.(token);
    const kept = keeping !== undefined && (await keeping.then(() => true, () => false));
    this.#send({ type: "kept", token, kept });
  }

  /** The page resumes a call with a token. */
  async #resumed(token: string, beside: boolean) {
    const id = await this.#resume(token, beside, (input, options) => {
      return this.#run(options, (id) => this.#send({ type: "resumed", token, id, input }));
    });
    if (id === undefined || beside) this.#send({ type: "resumed", token, id });
  }

  #send(message: PageWorldRequest) {
    this.#port?.postMessage(message);
  }

  /** @param message what the page may have forged */
  #heard(message: any) {
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
        this.#running.get(message.id)?.resolve(String(message.text));
        break;
      case "waiting": {
        const running = this.#running.get(message.id);
        if (message.on === true && running) running.over ??= running.waiting?.();
        else if (running) running.over = void running.over?.();
        break;
      }
      case "error":
        this.#running.get(message.id)?.reject(new Error(String(message.message)));
        break;
      case "token":
        void this.#took(message);
        break;
      case "resume":
        void this.#resumed(String(message.token).slice(0, Limit.uri), message.beside === true);
        break;
      case "threw":
        this.#native?.threw(String(message.name), String(message.input), String(message.message));
        break;
    }
  }
}
