// What tools do while they run: they ask a person (requestUserInput, as WebMCP's proposal has it), and take
// tokens to go on in another document. A question to the person at the client's end ends the hub's call as
// MCP's input_required, while the tool waits on; the hub's next call of the tool brings the answer, and
// waits for what the tool does then.

import { Values } from "./values.ts";

import type { Resumed } from "./webmcpinvocation.ts";

/** The calls of a document's tools, which run once each however often they ask. */
export class ToolCalls {
  /** Begins the states of questions asked here: no tool is called with one. */
  static #prefix = "tabhub-asked-";
  static #max = 64;

  /** The calls that wait for an answer, by the states of their questions. */
  #asking = new Map<string, ToolCall>();
  /** What calls may do, by the signals that their tools were given. */
  #options = new WeakMap<AbortSignal, CallOptions>();

  /**
   * Calls a tool, or goes on with a call that has asked.
   * @param run calls the tool
   * @returns the JSON of its result, or of its question
   */
  async call(run: (options: CallOptions) => Promise<string>, options: CallOptions): Promise<string> {
    const state = options.extensions?.requestState;
    if (typeof state === "string" && state.startsWith(ToolCalls.#prefix)) {
      const call = this.#asking.get(state);
      if (!call) throw new Error("the page does not wait for this answer any more; what it was about to do may have taken effect");
      return call.answered(options);
    }
    return new ToolCall(this).begin((options) => {
      this.#options.set(options.signal, options);
      return run(options);
    }, options);
  }

  /** As of WebMCPOwner. */
  took = async (caller: AbortSignal, token: string) => {
    const keep = this.#options.get(caller)?.token;
    await keep?.(token);
    return keep !== undefined;
  };

  /** As of WebMCPOwner. */
  ask = async (caller: AbortSignal, request: unknown, interact: unknown) => {
    const { ask } = this.#options.get(caller) ?? {};
    if (!ask) throw new DOMException("The tool's caller cannot be asked.", "NotSupportedError");
    return ask(request, interact);
  };

  /** A call of an earlier document, as WebMCP goes on with it in this one. */
  async resumed(call: { input: string; run(work: (options: CallOptions) => Promise<string>): void } | undefined): Promise<Resumed | undefined> {
    if (!call) return undefined;
    const { input, run } = call;
    return new Promise((resumed) => {
      const work = (signal: AbortSignal) =>
        new Promise((resolve: (result: string) => void, reject) => {
          const end = (outcome: ToolOutcome) => {
            if ("failed" in outcome) reject(outcome.error ?? new Error(outcome.failed));
            else resolve(outcome.text === null ? Values.SUBMITTED : Values.callToolResult(outcome.text));
          };
          resumed({ input, signal, caller: signal, end });
        });
      run((options) => this.call(({ signal }) => work(signal), options));
    });
  }

  /** @returns the state of its question */
  asks(call: ToolCall): string {
    if (this.#asking.size >= ToolCalls.#max) throw new DOMException("Too many tools of this document ask.", "QuotaExceededError");
    const state = ToolCalls.#prefix + Values.randomID();
    this.#asking.set(state, call);
    return state;
  }

  asked(state: string) {
    this.#asking.delete(state);
  }
}

/** A call of a tool, from its first request of the hub to its last. */
class ToolCall {
  /** How long an answer is waited for, in ms. */
  static #timeout = 600_000;
  /** The key of the one question of a request. */
  static #key = "input";

  #calls;
  #controller = new AbortController();
  /** Those of the request under way, or of the latest. */
  #options: CallOptions = { signal: this.#controller.signal };
  #result: Promise<string> | undefined;
  /** Ends the request under way with a question. */
  #ask: (question: string) => void = () => {};
  /** Takes the answer. */
  #answer: (response: unknown) => void = () => {};
  /** The end of the question before. */
  #before: Promise<unknown> = Promise.resolve();
  /** Whether the tool has returned or thrown. */
  #over = false;
  /** How much of what the tool does waits for the person in front of the tab. */
  #atPerson = 0;
  /** Says that the request under way does not wait for the person any more. */
  #answered: (() => void) | void = undefined;

  constructor(calls: ToolCalls) {
    this.#calls = calls;
  }

  begin(run: (options: CallOptions) => Promise<string>, options: CallOptions) {
    this.#options = options;
    const result = (this.#result = run({
      signal: this.#controller.signal,
      progress: (progress) => this.#options.progress?.(progress),
      waiting: () => this.#waits(),
      token: async (token) => this.#options.token?.(token),
      ask: (request, interact) => this.#requested(request, interact),
    }));
    const over = () => (this.#over = true);
    result.then(over, over); // it may fail while nothing waits for it
    return this.#await(options);
  }

  #await(options: CallOptions): Promise<string> {
    this.#options = options;
    if (this.#atPerson > 0) this.#answered = options.waiting?.();
    const { signal } = options;
    const abort = () => this.#controller.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    return new Promise((resolve, reject) => {
      this.#ask = resolve;
      this.#result?.then(resolve, reject);
    });
  }

  /** The hub has the answer. */
  answered(options: CallOptions) {
    const responses = options.extensions?.inputResponses;
    const next = this.#await(options);
    this.#answer(Values.isObject(responses) ? responses[ToolCall.#key] : undefined);
    return next;
  }

  /** Waits for the person in front of the tab, until what it returns is called or the tool is over. */
  #waits() {
    if (++this.#atPerson === 1) this.#answered = this.#options.waiting?.();
    let waits = true;
    return () => {
      if (waits && --this.#atPerson === 0) this.#answered?.();
      waits = false;
    };
  }

  #checkRuns() {
    this.#controller.signal.throwIfAborted();
    if (this.#over) throw new DOMException("The tool does not run any more.", "InvalidStateError");
  }

  async #requested(request: unknown, interact: unknown) {
    const { mode = "form", ...given } = Object(request) as Record<string, unknown>;
    if (mode === "interactive") return this.#interactive(interact ?? given.callback);
    const params = ToolCall.#params(String(mode), given);
    // One after the other: a person answers one at a time.
    const asked = this.#before.then(() => this.#elicit(String(mode), params));
    this.#before = asked.catch(() => {});
    return asked;
  }

  /** The page asks by itself: the call waits for the person in front of the tab. */
  async #interactive(interact: unknown) {
    if (typeof interact !== "function") throw new TypeError("requestUserInput of the mode interactive needs a function that asks");
    this.#checkRuns();
    const { signal } = this.#controller;
    const answered = this.#waits();
    try {
      const aborted = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
      return await Promise.race([interact(), aborted]);
    } finally {
      answered();
    }
  }

  /** The parameters of MCP's elicitation/create. */
  static #params(mode: string, { message, requestedSchema, url }: Record<string, unknown>) {
    if (typeof message !== "string" || message === "") throw new TypeError("requestUserInput needs a message");
    switch (mode) {
      case "form":
        if (!Values.isObject(requestedSchema) || requestedSchema.type !== "object" || !Values.isObject(requestedSchema.properties)) {
          throw new TypeError('requestUserInput of the mode form needs a requestedSchema: {type: "object", properties: {…}}');
        }
        return { message, requestedSchema };
      case "url": {
        const address = typeof url === "string" && URL.canParse(url, location.href) ? new URL(url, location.href) : undefined;
        if (!address || !/^https?:$/.test(address.protocol)) throw new TypeError("requestUserInput of the mode url needs a url with https or http");
        return { mode, message, url: address.href, elicitationId: Values.randomID() };
      }
    }
    throw new TypeError(`requestUserInput has no mode ${mode}: there are interactive, form and url`);
  }

  async #elicit(mode: string, params: object): Promise<{ action: string; content?: object }> {
    this.#checkRuns();
    const { signal } = this.#controller;
    const can = (this.#options.extensions?.clientCapabilities as any)?.elicitation;
    // Before there were modes there were forms alone.
    if (!can || !(can[mode] ?? (mode === "form" && !can.url))) {
      throw new DOMException(`The agent's client cannot ask its user in the mode ${mode}.`, "NotSupportedError");
    }
    const state = this.#calls.asks(this);
    const late = () => this.#controller.abort(new DOMException("Nobody has answered.", "AbortError"));
    const timer = setTimeout(late, ToolCall.#timeout);
    try {
      const response = await new Promise((resolve, reject) => {
        this.#answer = resolve;
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        const inputRequests = { [ToolCall.#key]: { method: "elicitation/create", params } };
        this.#ask(JSON.stringify({ resultType: "input_required", inputRequests, requestState: state }));
      });
      const { action, content } = Object(response);
      const accepted = action === "accept";
      return { action: accepted || action === "decline" ? action : "cancel", ...(accepted && Values.isObject(content) && { content }) };
    } finally {
      clearTimeout(timer);
      this.#calls.asked(state);
    }
  }
}
