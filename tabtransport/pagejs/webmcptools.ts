// The tools of a document that has its WebMCP of this library (webmcp.ts): registered, listed and run.

import { Before } from "./webmcp.ts";
import { ToolForms } from "./webmcpforms.ts";
import { FAILED, type ToolFrames } from "./webmcpframes.ts";
import { Idl } from "./webmcpidl.ts";

import { Invocation } from "./webmcpinvocation.ts";

export class DocumentTools {
  /** By name. */
  #tools: Record<string, DocumentTool> = Before.create(null);
  #tasks: MessageChannel | undefined;
  #queue: (() => void)[] = [];
  #fire;

  owner;
  /** The calls that may go on elsewhere, by their tokens. */
  tokens: Record<string, Invocation> = Before.create(null);
  frames;
  forms;

  /** @param owner fire tells the page, handle makes what a tool gets of its call */
  constructor(frames: ToolFrames, owner: WebMCPOwner & { fire: (type: ToolEventType, toolName?: string) => void; handle: (invocation: Invocation) => object }) {
    this.frames = frames;
    this.owner = owner;
    this.#fire = owner.fire;
    this.forms = new ToolForms(this);
  }

  /**
   * Runs something soon and in turn, as the browser runs what comes from elsewhere. A timer would
   * wait for a second in a page that is out of sight.
   */
  later(task: () => void) {
    if (!this.#tasks) {
      this.#tasks = new Before.MessageChannel();
      this.#tasks.port1.onmessage = () => Before.shift(this.#queue)();
    }
    this.#queue[this.#queue.length] = task;
    Before.postMessage(this.#tasks.port2, 0);
  }

  // ---- Registered

  register({ name, title = "", description, inputSchema, outputSchema, annotations, execute }: Record<string, any>, { signal, exposedTo = [] }: Record<string, any>): Promise<void> {
    this.forms.settle();
    if (this.has(name)) throw new Before.DOMException("Duplicate tool name", "InvalidStateError");
    if (!DocumentTools.isName(name)) throw new Before.DOMException("Invalid tool name", "InvalidStateError");
    if (description === "") throw new Before.DOMException("Description is required", "InvalidStateError");
    const schema = inputSchema && Idl.json(inputSchema);
    const output = outputSchema && Idl.json(outputSchema);
    if (signal && Before.aborted(signal)) throw Before.reason(signal);
    const exposed = Idl.origins(exposedTo, "exposedTo");
    const run: DocumentTool["run"] = (input, signal, caller) => new Invocation(this, { name, input, signal, caller }).run(execute);
    const tool: DocumentTool = { name, title, description, schema, output, annotations, exposed, run };
    return new Before.Promise((resolve, reject) => {
      const abort = () => {
        if (this.#tools[name] === tool) this.remove(name);
        reject(Before.reason(signal));
      };
      if (signal) Before.addEventListener(signal, "abort", abort, { once: true });
      this.add(tool);
      this.later(() => resolve(undefined));
    });
  }

  static isName(name: string) {
    return /^[A-Za-z0-9_.-]{1,128}$/.test(name);
  }

  has(name: string) {
    return name in this.#tools;
  }

  add(tool: DocumentTool) {
    this.#tools[tool.name] = tool;
    this.#tell(tool);
  }

  remove(name: string) {
    const tool = this.#tools[name];
    delete this.#tools[name];
    this.#tell(tool);
  }

  /** Tells all documents that may see a tool that the tools have changed. */
  #tell({ exposed }: DocumentTool) {
    this.owner.changed();
    this.later(() => {
      this.changed();
      this.frames.changed(exposed);
    });
  }

  /** Tells this document's page that the tools that it may see have changed. */
  changed() {
    this.#fire("toolchange");
  }

  // ---- Listed

  /** All tools that the page may see. */
  list(fromOrigins: string[] = []): Promise<RegisteredTool[]> {
    const origins = Idl.origins(fromOrigins, "fromOrigins");
    this.forms.settle();
    return new Before.Promise((resolve) => this.later(() => resolve(this.frames.list(origins))));
  }

  /**
   * The document's own tools that a document of another origin may see, or one of its own.
   * @param origin the other
   */
  offered(origin?: string) {
    const offered: DocumentTool[] = [];
    for (const name in this.#tools) {
      if (this.#isOffered(name, origin)) offered[offered.length] = this.#tools[name];
    }
    return offered;
  }

  #isOffered(name: string, origin?: string) {
    return this.has(name) && (origin === undefined || this.#tools[name].exposed[origin] === true);
  }

  // ---- Run

  /**
   * Runs a tool of any document that the page may see.
   * @param value its input
   */
  call({ name, window: target, origin, of }: Record<string, any>, value: unknown, signal: AbortSignal | undefined): Promise<string | null> {
    const expected = Before.URL.canParse(origin) ? new Before.URL(origin).origin : "";
    if (!expected) throw new Before.DOMException("The provided origin is invalid.", "NotSupportedError");
    if (expected === "null") {
      throw new Before.DOMException("Cannot execute tools that live in a document with an opaque origin.", "NotSupportedError");
    }
    const input = Idl.json(value);
    if (!target.parent) throw new Before.DOMException("Target frame is detached.", "InvalidStateError");
    if (signal && Before.aborted(signal)) throw Before.reason(signal);
    return new Before.Promise((resolve, reject) => {
      const controller = new Before.AbortController();
      const abort = () => {
        reject(Before.reason(signal as AbortSignal));
        this.later(() => controller.abort());
      };
      if (signal) Before.addEventListener(signal, "abort", abort, { once: true });
      this.later(async () => {
        const outcome = await this.frames.run(target, expected, { name, of }, input, controller.signal, signal);
        if (signal) Before.removeEventListener(signal, "abort", abort);
        if ("text" in outcome) resolve(outcome.text);
        else reject(new Before.DOMException(outcome.failed, "UnknownError"));
      });
    });
  }

  /**
   * Runs a tool of this document.
   * @param tool of is the one that is meant, if not any of that name
   * @param input JSON
   * @param by the origin of the document that asks, if it is another; else the signal that its page gave
   */
  async run({ name, of }: { name: string; of?: DocumentTool }, input: string, signal: AbortSignal, { origin, caller }: { origin?: string; caller?: AbortSignal } = {}): Promise<ToolOutcome> {
    if (!this.#isOffered(name, origin) || (of && this.#tools[name] !== of)) return FAILED;
    // The page learns that it was cancelled, and nothing of why.
    const controller = new Before.AbortController();
    const cancel = () => {
      controller.abort();
      this.#fire("toolcancel", name);
    };
    Before.addEventListener(signal, "abort", cancel, { once: true });
    const running = this.#tools[name].run(input, controller.signal, caller);
    this.#fire("toolactivated", name);
    const outcome = await running;
    Before.removeEventListener(signal, "abort", cancel);
    return outcome;
  }

  /** Resumes a call that has taken a token, in this document. */
  async resume(token: string, callback: Function) {
    const { owner } = this;
    const held = this.frames.redeem(token);
    // A call that the owner knows of is resumed once, in whichever document.
    const resumed = !held ? await owner.resume(token) : !held.caller || (await owner.release(token)) ? held : undefined;
    if (!resumed) {
      held?.end({ failed: "The call was over when it was to go on" });
      const why = "The token is unknown, too old, or used already, or was taken in a document of another origin or tab.";
      throw new Before.DOMException(why, "InvalidStateError");
    }
    this.later(async () => {
      const before = await resumed.before;
      if (before && "failed" in before) return;
      const cancelled = Before.aborted(resumed.signal);
      resumed.end(cancelled ? { failed: "The call was cancelled before it went on" } : await new Invocation(this, resumed).run(callback));
    });
  }

  /** The text of what a tool has returned. */
  static text(value: any) {
    return `${(typeof value === "object" && value !== null) || typeof value === "function" ? Before.stringify(value) : value}`;
  }
}
