// Runs steps in this document. The worker says before each acting step whether it may
// be done; that it was done is said in the task in which it is.

import { actOf, type Act } from "./act.ts";
import { Dialogs } from "./dialog.ts";
import { clean } from "./dom.ts";
import { Failure } from "./failure.ts";
import { all, describe, one, type Scope } from "./find.ts";
import { look } from "./look.ts";
import { referencesOf, type References } from "./refs.ts";
import { scopeOf } from "./scope.ts";
import { trustedActOf } from "./trusted.ts";
import { read, type Reading } from "./read.ts";
import { addressOf, prepare, send } from "./request.ts";
import { ring } from "./ring.ts";
import { eventually } from "./until.ts";
import { evaluate } from "./values.ts";
import { decode, show } from "../../looklines.ts";
import { matchesAny } from "../../patterns.ts";
import { isActing, verbOf } from "../../steps.ts";
import { Values } from "../../../pagejs/values.ts";

type Begin = Extract<WorkerToRunner, { type: "run" }>;

/** How long a document may take to begin to leave after an act, in ms. */
const LEAVING = 100;
/** How long a list stays empty until it is taken to be empty, in ms. */
const EMPTY = 500;
const MAX_VALUES = 4 << 20;
/** How many tokens a look of a script or of a step has at most. */
const TOKENS = 4_000;

/** Ends what waits: the run goes on elsewhere, or not at all. */
class Left extends Error {}

export class Run {
  readonly id;
  #begin;
  #post;
  #scope: Scope;
  #dialogs;
  #reports: StepReport[] = [];
  #stop = new AbortController();
  /** The step that waits for its go. */
  #asked: { step: number; go: () => void; refused: (failure: Failure) => void } | undefined;
  /** The input that the worker is giving. */
  #given: { step: number; done: () => void; failed: (failure: Failure) => void } | undefined;
  /** What the worker may not have heard. */
  #said: RunnerToWorker[] = [];
  /** Whether the run is over here. */
  ended = false;

  constructor(begin: Begin, post: (message: RunnerToWorker) => void) {
    this.id = begin.id;
    this.#begin = begin;
    this.#post = post;
    this.#scope = scopeOf(begin);
    referencesOf(begin.tag);
    this.#dialogs = new Dialogs(begin.dialogs);
    for (const { dialog } of begin.steps.slice(0, begin.from)) if (dialog) this.#dialogs.next(dialog);
    void this.#all();
  }

  // ---- What the worker says

  go(step: number) {
    if (this.#asked?.step !== step) return;
    const { go } = this.#asked;
    this.#asked = undefined;
    go();
  }

  refused(step: number, code: StepCode, reason: string) {
    if (this.#asked?.step !== step) return;
    this.#asked.refused(new Failure(code, reason));
    this.#asked = undefined;
  }

  /** The worker has given the page input, or not. */
  input(step: number, error: Extract<WorkerToRunner, { type: "input" }>["error"]) {
    if (this.#given?.step !== step) return;
    const { done, failed } = this.#given;
    this.#given = undefined;
    if (!error) return done();
    const failure = new Failure(error.code, error.reason);
    failure.did = error.begun ? "perhaps" : "no";
    failure.certain = true;
    failed(failure);
  }

  stop(reason: string) {
    this.#stop.abort(new Failure("STEP_STOPPED", reason));
  }

  /** The document goes: nothing more is begun or said. */
  leave() {
    this.ended = true;
    this.#dialogs.end();
    this.#stop.abort(new Left());
  }

  /** Says again what a worker that has just started may not know. */
  again() {
    if (this.#given) this.input(this.#given.step, { code: "STEP_LOST", reason: "the browser stopped the extension's worker while it gave the page input", begun: true });
    for (const message of this.#said) this.#post(message);
    if (this.#asked && !this.ended) this.#post({ type: "grant", id: this.id, step: this.#asked.step });
  }

  #say(message: RunnerToWorker) {
    if (message.type !== "progress") this.#said.push(message);
    this.#post(message);
  }

  // ---- Steps

  async #all() {
    const { from, steps, result, more } = this.#begin;
    let at = from;
    try {
      for (; at < steps.length; at++) {
        if (await this.#step(at, steps[at])) {
          this.ended = true; // the next document has it, or the worker brings it back
          this.#dialogs.end();
          return;
        }
        const { words } = this.#reports[at - from];
        this.#say({ type: "progress", id: this.id, step: at, words: `step ${at + 1}${more ? "" : ` of ${steps.length}`}: ${words}` });
      }
      at = steps.length - 1;
      const value = result ? evaluate(result, this.#scope) : (this.#scope.values[""] ?? null);
      this.#end({ steps: this.#reports, value });
    } catch (error) {
      if (error instanceof Left || this.ended) return;
      const failure = error instanceof Failure ? error : new Failure("STEP_REFUSED", Values.errorText(error));
      const { code, message, found, did, words } = failure;
      if (steps[at] && this.#reports.length === at - from) this.#report(steps[at], did, words || message);
      this.#end({
        steps: this.#reports,
        failed: { step: Math.max(0, at), code, message: message.slice(0, 4000), ...(found.length ? { found: found.map((one) => clean(one, 200)) } : {}) },
      });
    }
  }

  #end(result: RunResult) {
    this.ended = true;
    this.#dialogs.end();
    this.#say({ type: "end", id: this.id, from: this.#begin.from, result });
  }

  #report(step: Step, did: StepReport["did"], words: string): StepReport {
    const report = this.#reportOf(step, did, words);
    this.#reports.push(report);
    return report;
  }

  #reportOf(step: Step, did: StepReport["did"], words: string): StepReport {
    return { verb: verbOf(step), did, words: (words + this.#dialogs.words()).slice(0, 4000), at: location.href.slice(0, 2048) };
  }

  /** Does a step. @returns whether the document gives way to another one */
  async #step(at: number, step: Step): Promise<boolean> {
    const clock = new Clock(step.timeout || (step.request || step.open ? 10 : 5));
    this.#here();
    if (step.request) {
      await this.#request(at, step, clock);
      return false;
    }
    if (step.dialog) {
      this.#dialogs.next(step.dialog);
      this.#report(step, "yes", `the page's next question gets ${step.dialog.accept ? "OK" : "Cancel"}${step.dialog.text === undefined ? "" : `, with ${JSON.stringify(clean(step.dialog.text))}`}`);
      return false;
    }
    if (step.read || step.wait || step.look) {
      this.#report(step, "yes", step.look ? await this.#lookAt(step, step.look, clock) : await this.#look(step, clock));
      return false;
    }
    return this.#act(at, step, clock);
  }

  /** Refuses to go on where the run does not reach. */
  #here() {
    this.#stop.signal.throwIfAborted();
    if (!this.#scope.inMatch(location.href)) {
      throw new Failure("STEP_REFUSED", `the page is at ${clean(location.href, 200)}, ${this.#scope.outside}`);
    }
  }

  async #grant(at: number, clock: Clock) {
    const rest = clock.pause();
    const { signal } = this.#stop;
    await new Promise<void>((go, refused) => {
      signal.throwIfAborted();
      signal.addEventListener("abort", () => refused(signal.reason), { once: true });
      this.#asked = { step: at, go, refused };
      this.#post({ type: "grant", id: this.id, step: at });
    });
    rest();
    this.#here();
  }

  // ---- Acts

  async #act(at: number, step: Step, clock: Clock): Promise<boolean> {
    const declared = step.open !== undefined || Boolean(step.click?.navigates ?? step.press?.navigates);
    const look = (now: boolean) => () => {
      this.#here();
      return this.#actOf(at, step, now, declared);
    };
    await this.#eventually(look(false), clock);
    await this.#grant(at, clock);
    let watch: Departure | undefined;
    let report: StepReport | undefined;
    const did = (navigates: boolean) => this.#say({ type: "did", id: this.id, step: at, report: report as StepReport, values: this.#scope.values, navigates });
    try {
      // In the task that finds it ready it is done, and said to be.
      const departure = await this.#eventually(() => {
        const act = look(true)();
        const leaving = (watch = new Departure(this.#scope, this.#begin.trusted === true));
        this.#dialogs.answer();
        if (this.#begin.mark) ring(act.on.map(({ element }) => element));
        return begun(act, this.#stop.signal, (words) => {
          report = this.#report(step, "yes", words);
          did(declared);
          return leaving;
        });
      }, clock);
      const { leaves, refused } = await departure.result();
      const asked = this.#dialogs.words();
      if (asked && report) {
        report.words += asked;
        did(declared || leaves);
      } else if (leaves && !declared) did(true);
      this.#dialogs.check();
      if (refused) throw new Failure("STEP_REFUSED", `the step led to ${clean(refused, 200)}, ${this.#scope.outside}: the page was kept from going there`);
      return leaves || declared;
    } finally {
      watch?.end();
    }
  }

  #actOf(at: number, step: Step, now: boolean, declared: boolean): Act {
    const give = (input: TrustedAct, done?: string) => this.#give(at, step, input, done, declared);
    const trusted = this.#begin.trusted ? trustedActOf(step, this.#scope, now, give) : undefined;
    if (trusted) return trusted;
    if (!step.open) return actOf(step, this.#scope, now);
    const address = addressOf(step.open, this.#scope);
    return {
      on: [],
      do: () => {
        // After what says so was sent.
        queueMicrotask(() => location.assign(address));
        return `opened ${clean(address, 200)}`;
      },
    };
  }

  /** Has the worker give the page input, once. */
  #give(at: number, step: Step, input: TrustedAct, words: string | undefined, navigates: boolean): Promise<void> {
    return new Promise((done, failed) => {
      this.#given = { step: at, done, failed };
      const all = words === undefined ? undefined : { report: this.#reportOf(step, "yes", words), values: this.#scope.values, navigates };
      this.#post({ type: "input", id: this.id, step: at, input, done: all });
    });
  }

  // ---- Reads

  async #look(step: Step, clock: Clock): Promise<string> {
    if (step.wait) return this.#wait(step.wait, clock);
    let emptySince: number | undefined;
    const { value, words } = await this.#eventually((): Reading => {
      this.#here();
      const reading = read(step.read as NonNullable<Step["read"]>, this.#scope, this.#begin.none);
      emptySince = reading.empty ? (emptySince ?? performance.now()) : undefined;
      const young = emptySince !== undefined && performance.now() - emptySince < EMPTY;
      if (young && !clock.isOver) throw new Failure("STEP_NOT_FOUND", reading.words).later();
      return reading;
    }, clock);
    this.#gave(step, value);
    return words;
  }

  /** Looks at this document as clients do. */
  async #lookAt(step: Step, { target, find, depth }: NonNullable<Step["look"]>, clock: Clock): Promise<string> {
    const references = referencesOf(this.#begin.tag) as References;
    const scope = target && (await this.#eventually(() => references.of(one(target, document, this.#scope)), clock));
    const { lines, stale } = await look({ tag: references.tag, ...(scope && { scope }) });
    if (stale) throw new Failure("STALE_REF", stale.message, stale.near);
    this.#here();
    const shown = show(decode(lines), { depth, find, maxTokens: TOKENS, scoped: scope !== undefined });
    this.#gave(step, shown.lines.map(({ text }) => text).join("\n"));
    return `looked at ${shown.lines.length} lines`;
  }

  async #wait({ for: there, gone, url }: NonNullable<Step["wait"]>, clock: Clock): Promise<string> {
    const what = there ? `${describe(there, this.#scope)} to be there` : gone ? `${describe(gone, this.#scope)} to be gone` : `the address to be ${clean(url ?? "", 200)}`;
    await this.#eventually(() => {
      this.#here();
      if (url ? matchesAny([url], location.href) : Boolean(gone) !== this.#isThere((there ?? gone) as Target)) return;
      throw new Failure("STEP_TIMEOUT", `waited in vain for ${what}`).later();
    }, clock);
    return `waited for ${what}`;
  }

  #isThere(target: Target) {
    try {
      return all(target, document, this.#scope).length > 0;
    } catch (error) {
      if (error instanceof Failure && error.code === "STEP_NOT_FOUND") return false; // nor is what it is in
      throw error;
    }
  }

  #eventually<T>(look: () => T | Promise<T>, clock: Clock): Promise<T> {
    return eventually(look, clock.until, this.#stop.signal);
  }

  #gave(step: Step, value: unknown) {
    // What is said by its name need not be kept beside it.
    const values = { ...this.#scope.values, ...(this.#begin.result ? {} : { "": value }), ...(step.as ? { [step.as]: value } : {}) };
    if ((JSON.stringify(values) ?? "").length > MAX_VALUES) throw new Failure("STEP_ANSWER", `the steps gave more than ${MAX_VALUES >> 20} MiB; take or read less`);
    this.#scope.values = values;
  }

  // ---- Requests

  async #request(at: number, step: Step, clock: Clock) {
    const request = step.request as NonNullable<Step["request"]>;
    const acts = isActing(step);
    const flight = new AbortController();
    const { signal } = this.#stop;
    const stopped = () => flight.abort(signal.reason);
    signal.addEventListener("abort", stopped, { once: true });
    const timed = (ms: number) => setTimeout(() => flight.abort(new Failure("STEP_TIMEOUT", "the server did not answer in time")), ms);
    let timer = timed(clock.left);
    try {
      const ready = await prepare(request, this.#scope, flight.signal);
      if (acts) {
        clearTimeout(timer);
        await this.#grant(at, clock);
        timer = timed(clock.left);
      } else this.#here();
      const report = (value: unknown) => {
        this.#gave(step, value);
        return this.#report(step, "yes", ready.words);
      };
      if (!acts) return void report(await send(ready, request, flight.signal));
      try {
        const value = await send(ready, request, flight.signal);
        // A GET that gives a value too large has still been made.
        const did = report(value);
        this.#say({ type: "did", id: this.id, step: at, report: did, values: this.#scope.values, navigates: false });
      } catch (error) {
        // It was sent, whatever has failed then.
        const failure = error instanceof Failure || error instanceof Left ? error : new Failure("STEP_ANSWER", Values.errorText(error));
        if (failure instanceof Failure) {
          if (failure.did === "no") failure.did = failure.code === "STEP_ANSWER" ? "yes" : "perhaps";
          failure.words = ready.words;
        }
        throw failure;
      }
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stopped);
    }
  }
}

/**
 * Does what has begun then: however it fails, it is not done once more.
 * @param said is called with what it did, in the task in which it has done it
 */
function begun<T>(act: Act, signal: AbortSignal, said: (words: string) => T): T | Promise<T> {
  const failed = (error: unknown) => {
    if (error instanceof Left) return error;
    const failure = error instanceof Failure ? error : new Failure("STEP_LOST", Values.errorText(error));
    if (failure !== error) failure.did = "perhaps";
    failure.passing = false;
    return failure;
  };
  try {
    const words = act.do(signal);
    if (typeof words === "string") return said(words);
    return words.then(said, (error) => {
      const failure = failed(error);
      if (failure instanceof Failure && failure.did === "no" && !failure.certain) failure.did = "perhaps"; // its first events have been there
      throw failure;
    });
  } catch (error) {
    throw failed(error);
  }
}

/** The time of a step, which does not pass while it waits for its go. */
class Clock {
  /** As performance.now() has it. */
  until;

  constructor(seconds: number) {
    this.until = performance.now() + seconds * 1000;
  }

  get left() {
    return Math.max(0, this.until - performance.now());
  }

  get isOver() {
    return this.left === 0;
  }

  /** @returns what goes on */
  pause() {
    const { left } = this;
    return () => (this.until = performance.now() + left);
  }
}

/** Whether the document begins to give way to another one by what is done in it. */
class Departure {
  #scope;
  #leaves = false;
  /** Whether the document has got another address since it began to leave. */
  #shown = false;
  #wake: () => void = () => {};
  #refused = "";
  #trusted;

  /** @param trusted what is done in it is as a person's to the browser */
  constructor(scope: Scope, trusted: boolean) {
    this.#scope = scope;
    this.#trusted = trusted;
    navigation.addEventListener("navigate", this.#navigates);
    navigation.addEventListener("currententrychange", this.#shows);
  }

  #shows = () => {
    this.#shown = true;
  };

  #navigates = (event: Event) => {
    const { destination, downloadRequest, userInitiated, cancelable } = event as NavigateEvent;
    if (destination.sameDocument || downloadRequest !== null) return;
    // The browser says of a form that it was a person also if it was a click of the step.
    const isPerson = !this.#trusted && userInitiated && navigator.userActivation.isActive;
    if (!this.#scope.inMatch(destination.url) && !isPerson && cancelable) {
      event.preventDefault();
      this.#refused = destination.url;
      return this.#wake();
    }
    this.#shown = false;
    // The page may keep it, or show the other one in the same document.
    setTimeout(() => {
      if (event.defaultPrevented || navigation.transition || this.#shown) return;
      this.#leaves = true;
      this.#wake();
    });
  };

  /** Whether it leaves, as it shows within a moment, or where it was kept from going. */
  async result(): Promise<{ leaves: boolean; refused: string }> {
    if (!this.#leaves && !this.#refused) {
      await new Promise<void>((done) => {
        this.#wake = done;
        setTimeout(done, LEAVING);
      });
    }
    return { leaves: this.#leaves, refused: this.#refused };
  }

  end() {
    navigation.removeEventListener("navigate", this.#navigates);
    navigation.removeEventListener("currententrychange", this.#shows);
  }
}
