// A call of a tool (webmcp.ts), which may go on in another document, as the proposal "Continuation
// tokens" has it: the tool takes a token while it runs, and a document of the same origin in the same
// tab resumes the call with it, once, within a minute. The call then ends with what that one's callback
// returns.
//
//	state      what happens                                             then
//	running    the callback returns, and has taken no token             over: what it returned
//	           the callback throws                                      over: failed; its token is void
//	           it takes a token; an earlier one is void                 running, held
//	held       a document resumes the call                              resumed
//	           a minute is over, or the call is cancelled               over: what the callback returned
//	resumed    the callback before it is over, and that of the          over: what that one's call comes to,
//	           document that has resumed it has run                     which may be held in its turn

import { Before } from "./webmcp.ts";

import { DocumentTools } from "./webmcptools.ts";

/** What a call goes on from. */
export interface Resumed {
  name?: string; // the tool's, if that is known
  input: string; // JSON
  signal: AbortSignal;
  caller?: AbortSignal; // by which the owner knows the call
  before?: Promise<ToolOutcome>; // the callback before
  end: (outcome: ToolOutcome) => void;
}

export class Invocation {
  /** How long a token is good for, in ms. */
  static #LIFETIME = 60_000;
  static #UNRESUMED = { failed: "The tool asked for a token to go on in another document, and none has resumed it in time" };

  #tools;
  #call;
  #running = true;
  #token = "";
  /** Whether a document has resumed the call. */
  #resumed = false;
  #goOn: (outcome: ToolOutcome | undefined) => void = () => {};
  /** What the documents that have resumed the call come to; undefined if none does. */
  #rest: Promise<ToolOutcome | undefined> | undefined;
  #part: Promise<ToolOutcome> | undefined;

  constructor(tools: DocumentTools, call: { name?: string; input: string; signal: AbortSignal; caller?: AbortSignal }) {
    this.#tools = tools;
    this.#call = call;
    Before.addEventListener(call.signal, "abort", () => this.#void(), { once: true });
  }

  /** Runs the callback, and waits for what follows it. */
  async run(callback: Function): Promise<ToolOutcome> {
    this.#part = this.#runOnce(callback);
    const outcome = await this.#part;
    this.#running = false;
    if ("failed" in outcome) {
      this.#void();
      return outcome;
    }
    const rest = this.#rest;
    return (await rest) ?? (rest && outcome.text === "undefined" ? Invocation.#UNRESUMED : outcome);
  }

  async #runOnce(callback: Function): Promise<ToolOutcome> {
    const { name, input, signal } = this.#call;
    const value = Before.parse(input);
    if (typeof value !== "object" || value === null) return { failed: "Failed to parse input arguments" };
    const invocation = this.#tools.owner.handle(this);
    const requestUserInput = (request: unknown, interact: unknown) => this.ask(request, interact);
    try {
      return { text: DocumentTools.text(await Before.apply(callback, undefined, [value, { signal, invocation, requestUserInput }])) || "Operation succeeded" };
    } catch (error) {
      if (name !== undefined) this.#tools.owner.threw(name, input, error);
      return { failed: "Tool was executed but the invocation failed. For example, the script function threw an error", error };
    }
  }

  /** Takes a token for the next document. */
  async take() {
    if (!this.#running || this.#resumed || Before.aborted(this.#call.signal) || Before.viewOf(document) === null) {
      throw new Before.DOMException("The tool does not run here any more.", "InvalidStateError");
    }
    this.#void();
    const token = randomToken();
    this.#token = token;
    this.#rest = new Before.Promise((resolve) => (this.#goOn = resolve));
    this.#tools.tokens[token] = this;
    Before.setTimeout(() => token === this.#token && this.#void(), Invocation.#LIFETIME);
    const { caller } = this.#call;
    try {
      // What the owner does not know only documents beside this one resume.
      if (caller && !(await this.#tools.owner.took(caller, token))) this.#call = { ...this.#call, caller: undefined };
    } catch (error) {
      if (token === this.#token) {
        this.#void();
        this.#rest = undefined;
      }
      throw error;
    }
    return token;
  }

  #void() {
    if (!this.#token) return;
    delete this.#tools.tokens[this.#token];
    this.#token = "";
    this.#goOn(undefined);
  }

  /** Uses the token up. */
  redeem(): Resumed {
    delete this.#tools.tokens[this.#token];
    this.#token = "";
    this.#resumed = true;
    return { ...this.#call, before: this.#part, end: this.#goOn };
  }

  /** Asks the person whose agent has called the tool. */
  async ask(request: unknown, interact: unknown) {
    const { caller } = this.#call;
    if (!this.#running) throw new Before.DOMException("The tool does not run here any more.", "InvalidStateError");
    if (!caller) throw new Before.DOMException("The tool's caller cannot be asked.", "NotSupportedError");
    return this.#tools.owner.ask(caller, request, interact);
  }
}

/** A token that cannot be guessed, and that can be part of an address as it is. */
function randomToken() {
  const bytes = Before.getRandomValues(new Before.Uint8Array(16));
  let token = "";
  for (let i = 0; i < 16; i++) token += `${i ? "-" : ""}${bytes[i]}`;
  return token;
}
