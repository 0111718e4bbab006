// Runs of steps, of tools of packs and of clients' own (browser/run): the document that has a run does its steps
// (content/steps.ts), and goes when one of them leads to another document, which then has the run. This worker
// decides: a document asks it before each step that acts, and the word that such a step may be done is written
// down before it is given (grants.ts). So no step is done twice, and of one that was begun in a document that has
// gone it is said that it may have been done.

import { Bounds } from "./bounds.ts";
import { hookDialogs } from "./dialogs.ts";
import { NEXT, STAYS, nextDocument } from "./follow.ts";
import { Grants, WAIT } from "./grants.ts";
import { Inputs } from "./inputs.ts";
import { pageCall } from "./pagecalls.ts";
import { Code } from "./refusal.ts";
import { givesRefs, isBlind, isCall, lacksFiles, placeOf, placeOfRun, reported, say, stepsFrom, stepsOf, withoutFiles, withoutValue, type PackRef, type Run } from "./run.ts";
import { Sandbox } from "./sandbox.ts";
import { permits } from "./settings.ts";
import { Stored } from "./stored.ts";
import { unlessStopping } from "./stopping.ts";
import { isActing } from "../steps.ts";
import type { ActivityLog } from "./activity.ts";
import type { Calls } from "./calls.ts";
import type { Hub } from "./hub.ts";
import type { Looks } from "./look.ts";
import type { Navigations } from "./navigations.ts";
import type { Packs } from "./packs.ts";
import type { Tabs } from "./tabs.ts";
import type { UserInput } from "./userinput.ts";

/** How long a run may take in all, in ms: it ends before the hub gives it up. */
const LIFE = 9 * 60_000;
/** How long a run waits for the port of a script, in ms. */
const RETURN = 10_000;
/** How often the hub hears of a run that goes on, in ms. */
const REMIND = 10_000;
/** How many characters of what steps gave a run may take from one document to the next. */
const MAX_VALUES = 1 << 20;
/** How many characters of a result the next worker has, should the hub not have it yet. */
const MAX_KEPT = 256 << 10;

interface Kept {
  since: number; // what the hub sent earlier an earlier installation may have begun
  runs: Record<string, Run>;
  ended: Record<string, { tabId: number; text: string }>;
}

export class Runs {
  #open = new Map<string, Run>();
  /** The answers that the hub may not have. */
  #ended = new Map<string, { tabId: number; text: string }>();
  #since = 0;
  /** Runs that have no document yet, with what ends their waiting. */
  #starting = new Map<string, AbortController>();
  /** The ports of the documents with the script. */
  #ports = new Map<string, chrome.runtime.Port>();
  #following = new Set<string>();
  #hooking = new Map<string, Promise<string | undefined>>();
  /** Called when a run has ended, or a person has left a tab. */
  #wakes = new Set<() => void>();
  #reminder: ReturnType<typeof setInterval> | undefined;
  #stored = new Stored<Kept>("runs", () => this.#kept());
  #bounds;
  #grants;
  #sandbox;
  #inputs;
  #calls;
  #hub;
  #navigations;
  #activity;
  #userInput;
  #settings;
  #looks;
  #ringed;

  /**
   * @param ringed called when a step has acted in a tab, which shows where */
  constructor(tabs: Tabs, packs: Packs, calls: Calls, hub: Hub, navigations: Navigations, activity: ActivityLog, userInput: UserInput, settings: () => Settings, looks: Looks, ringed: (tabId: number) => void) {
    this.#looks = looks;
    this.#bounds = new Bounds(tabs, packs, settings);
    this.#calls = calls;
    this.#hub = hub;
    this.#navigations = navigations;
    this.#activity = activity;
    this.#userInput = userInput;
    this.#settings = settings;
    this.#ringed = ringed;
    const ledger = {
      isOpen: (id: string, run: Run) => this.#open.get(id) === run,
      portOf: (run: Run) => this.#portOf(run),
      write: () => this.#stored.write(),
      prepare: (run: Run, step: number) => this.#inputs.prepare(run, step),
      waits: (id: string, run: Run, words: string) => this.#report(id, run, words, true),
      change: () => this.#change(),
      get connected() {
        return hub.connected;
      },
    };
    this.#grants = new Grants(ledger, this.#bounds, userInput, settings);
    this.#sandbox = new Sandbox({
      called: (id, call, verb, args) => void this.#called(id, call, verb, args),
      ended: (id, value) => this.#returned(id, value),
      failed: (id, code, message) => {
        const run = this.#open.get(id);
        if (run) this.#fail(id, run, code, message);
      },
    });
    this.#inputs = new Inputs(userInput);
  }

  /** Remembers the runs of an earlier worker. */
  async load() {
    const before = await this.#stored.load();
    if (!before) return;
    this.#since = before.since;
    for (const [id, { tabId, text }] of Object.entries(before.ended)) this.#hold(id, tabId, text, "done");
    for (const [id, run] of Object.entries(before.runs)) {
      this.#open.set(id, run);
      if (run.script) this.#sandbox.expect(id, run.script.call);
      if (run.script && !this.#sandbox.waits(id)) continue;
      if (run.leads) void this.#follow(id);
      else if (!this.#ports.has(run.documentId)) void this.#bring(id, run); // else its document says first what it has
    }
    if (this.#open.size) this.#remindSoon();
  }

  /** There are packs: from now on it is written down what is begun. */
  expect() {
    if (this.#since) return;
    this.#since = Date.now();
    void this.#stored.write();
  }

  /** Whether a run is under way. */
  runs = (id: string) => this.#open.has(id);

  /** Whether a run, or its answer, is here. */
  knows(id: string) {
    return this.#open.has(id) || this.#starting.has(id) || this.#ended.has(id);
  }

  /** Whether a run acts in a tab. */
  actsIn(tabId: number) {
    return [...this.#open.values()].some((run) => run.acts && run.tabId === tabId);
  }

  /** A person has begun or ended to use a tab. */
  userInput() {
    this.#wake();
  }

  // ---- What the hub says

  /**
   * Begins a run.
   * @param sentAt of one that the hub sends again: it was sent first at this time or later, as Date.now() has it
   */
  async start(message: HubMessage<"browser/run">, sentAt?: number) {
    const { id = "", tabId } = message;
    if (this.knows(id)) return;
    const stop = new AbortController();
    this.#starting.set(id, stop);
    const refusal = await this.#begin(id, message, sentAt, stop.signal);
    this.#starting.delete(id);
    if (refusal === undefined || stop.signal.aborted) return;
    // What was sent before was begun by this worker, or one before it, or not at all.
    const uncertain = sentAt !== undefined && sentAt <= this.#since;
    const error: RpcError = uncertain
      ? { code: Code.TabNotFound, message: `${refusal}; the call was sent before, and it may have taken effect` }
      : { code: Code.TabNotFound, message: refusal, data: { delivered: false } };
    this.#calls.hold(id, tabId, { error }, { ended: "failed" });
  }

  /** @returns why a document is not given the run */
  async #begin(id: string, message: HubMessage<"browser/run">, sentAt: number | undefined, signal: AbortSignal): Promise<string | undefined> {
    const { tabId, params, for: client } = message;
    if (sentAt !== undefined && sentAt <= this.#since) return "the extension was started anew";
    await this.#bounds.current(params);
    const steps = params.steps ?? [];
    const acts = isCall(params) || params.script !== undefined || steps.some(isActing);
    if (acts && !(await this.#turn(id, tabId, signal))) return `another call was still at work in the tab after ${WAIT / 60_000} minutes`;
    if (signal.aborted) return undefined;
    const refusal = this.#bounds.refusal(params);
    if (refusal) return refusal;
    const place = await this.#bounds.begin(tabId, params);
    if (signal.aborted) return undefined;
    if (typeof place === "string") return place;
    if (acts && this.actsIn(tabId)) return this.#begin(id, message, sentAt, signal); // another one was first
    const { script: code, ...bare } = params;
    const script = code === undefined ? undefined : { call: 0, known: place.documentId };
    const run: Run = { tabId, ...place, params: bare, script, acts, at: Date.now(), progress: 0, words: "it begins", from: 0, granted: -1, did: -1, stayed: -1, reports: [], values: {} };
    this.#open.set(id, run);
    this.#starting.delete(id);
    if (!(await this.#stored.write())) {
      this.#close(id);
      return "the browser cannot write down what is done";
    }
    if (this.#open.get(id) !== run) return undefined; // cancelled
    this.#activity.begun(id, tabId, params.pack ? "tool" : "acts", params.toolName ?? (script ? "ran a script" : ""), acts, client);
    if (acts) void this.#userInput.watch(tabId);
    this.#remindSoon();
    if (code === undefined) void this.#bring(id, run);
    else this.#sandbox.start(id, code);
    return undefined;
  }

  /** Waits until no other run acts in a tab. @returns whether that is so in time */
  async #turn(id: string, tabId: number, signal: AbortSignal) {
    let told = 0;
    for (const until = Date.now() + WAIT; this.actsIn(tabId) && !signal.aborted; ) {
      if (Date.now() > until) return false;
      this.#hub.notify("browser/progress", { requestId: id, progress: ++told, message: "waits for another call that is at work in the tab" }, tabId);
      await this.#change();
    }
    return true;
  }

  /** Cancels a run. @returns whether there is one */
  cancel(id: string, reason: string) {
    this.#starting.get(id)?.abort();
    const run = this.#open.get(id);
    if (run) {
      say(this.#portOf(run), { type: "stop", id, reason });
      this.#close(id);
      this.#activity.ended(id, "cancelled");
    }
    this.#wake();
    return this.knows(id) || run !== undefined;
  }

  /** Ends the runs that may not go on: of packs that are not offered any more, and of sites that are switched off. */
  check() {
    for (const [id, run] of this.#open) {
      const refusal = permits(this.#settings(), run.origin) ? this.#bounds.refusal(run.params) : "the user has switched this site off";
      if (refusal) this.#fail(id, run, "STEP_STOPPED", refusal);
    }
  }

  // ---- What documents say

  /**
   * A document with the script has opened its port.
   * @param ready resolved once the runs of an earlier worker are known
   */
  connected(port: chrome.runtime.Port, ready: Promise<void>) {
    const { documentId = "" } = port.sender ?? {};
    this.#ports.set(documentId, port);
    port.onMessage.addListener((message: RunnerToWorker) => void ready.then(() => this.#heard(port, documentId, message)));
    port.onDisconnect.addListener(() => {
      if (this.#ports.get(documentId) !== port) return;
      this.#ports.delete(documentId);
      void ready.then(() => this.#without(documentId));
    });
  }

  /** The document of clients' scripts has opened its port. */
  scripts(port: chrome.runtime.Port, ready: Promise<void>) {
    this.#sandbox.connected(port, ready);
  }

  /** A pack's script in a document has opened its port, or says what came of its calls. */
  script(port: chrome.runtime.Port, pack: PackRef, message?: Extract<ScriptToWorker, { type: "hello" | "end" }>) {
    const place = placeOf(port.sender?.documentId, pack);
    if (message) this.#heard(port, place, message);
    else this.#ports.set(place, port);
  }

  /** The port of a pack's script was closed. */
  scriptLeft(port: chrome.runtime.Port, pack: PackRef) {
    const place = placeOf(port.sender?.documentId, pack);
    if (this.#ports.get(place) !== port) return;
    this.#ports.delete(place);
    this.#without(place);
  }

  /** There is no port any more of what has runs. */
  #without(place: string) {
    for (const [id, run] of this.#open) if (placeOfRun(run) === place && !this.#ports.has(place)) this.#left(id, run);
  }

  #portOf(run: Run) {
    return this.#ports.get(placeOfRun(run));
  }

  /** @param place where the port leads: a document, or a script in it */
  #heard(port: chrome.runtime.Port, place: string, message: RunnerToWorker) {
    const isHere = (run: Run | undefined): run is Run => run !== undefined && placeOfRun(run) === place;
    if (message.type === "hello") {
      for (const id of message.runs) if (!isHere(this.#open.get(id))) say(port, { type: "stop", id, reason: "the call is not wanted here any more" });
      for (const [id, run] of this.#open) if (isHere(run) && !message.runs.includes(id)) void this.#give(id, run, port);
      return;
    }
    const { id } = message;
    const run = this.#open.get(id);
    if (!isHere(run)) {
      if (message.type === "end") say(port, { type: "stop", id, reason: "" });
      return;
    }
    switch (message.type) {
      case "grant":
        void this.#grants.step(id, run, message.step);
        break;
      case "did":
        this.#did(id, run, message);
        break;
      case "input":
        void this.#input(id, run, message);
        break;
      case "progress":
        if (message.step >= run.did) run.stayed = run.did;
        this.#stored.save();
        this.#report(id, run, message.words);
        break;
      case "end":
        if (run.leads && !message.result.failed) break; // what comes of it the next document says
        if (run.script && message.from !== stepsOf(run).length - 1) return void this.#give(id, run, port); // it has not got the latest yet
        if (run.script && !message.result.failed) return this.#stepped(id, run, message.result);
        say(port, { type: "stop", id, reason: "" });
        this.#finish(id, run, message.result);
    }
  }

  /** A step was done. */
  #did(id: string, run: Run, { step, report, values, navigates }: Pick<Extract<RunnerToWorker, { type: "did" }>, "step" | "report" | "values" | "navigates">) {
    if (step >= stepsOf(run).length) return;
    run.did = Math.max(run.did, step);
    run.granted = Math.max(run.granted, step);
    run.reports[step] = report;
    this.#activity.did(id, report.words ?? "");
    if (!run.script) run.values = JSON.stringify(values).length <= MAX_VALUES ? values : undefined;
    this.#ringed(run.tabId);
    if (navigates && step === run.did) this.#leads(id, run, step);
    void this.#stored.write();
  }

  /** Gives the page the input of a step that may be done. */
  async #input(id: string, run: Run, { step, input, done }: Extract<RunnerToWorker, { type: "input" }>) {
    if (step !== run.granted || step <= run.did || this.#inputs.of(id)) return;
    const { documentId } = run;
    const error = await this.#inputs.give(id, run, step, input);
    if (this.#open.get(id) !== run) return;
    if (done && !error) this.#did(id, run, { step, ...done });
    const port = this.#ports.get(documentId);
    if (port) say(port, { type: "input", id, step, error });
    else if (run.documentId === documentId) this.#left(id, run);
  }

  /** The person in front of the browser has ended its debugger in a tab: what acts there ends, too. */
  debuggerEnded(tabId: number) {
    for (const [id, run] of this.#open) if (run.tabId === tabId && run.acts) this.#fail(id, run, "STEP_STOPPED", "the person in front of the browser has ended its debugger in the tab");
  }

  /** Brings the script to the document that has a run. */
  async #bring(id: string, run: Run) {
    const { tabId, frameId, documentId } = run;
    const port = this.#portOf(run);
    if (port) return this.#give(id, run, port);
    if (isCall(run.params)) {
      setTimeout(() => this.#open.get(id) === run && !this.#portOf(run) && this.#left(id, run), RETURN);
      return;
    }
    const target = { tabId, documentIds: [documentId] };
    const shown = await unlessStopping(chrome.webNavigation.getFrame({ tabId, frameId }), () => null);
    if (shown?.documentId === documentId) {
      const brought = chrome.scripting.executeScript({ target, files: ["content/steps.js"], injectImmediately: true });
      // One that sleeps in the browser's cache by now, or is blocked, does not answer.
      await Promise.race([unlessStopping(brought, () => undefined), new Promise((late) => setTimeout(late, NEXT))]);
      if (this.#open.get(id) !== run || run.documentId !== documentId || this.#ports.has(documentId)) return;
      await new Promise((done) => setTimeout(done, STAYS)); // its port is opened by then
    }
    if (this.#open.get(id) === run && run.documentId === documentId && !this.#ports.has(documentId)) this.#left(id, run);
  }

  /** Gives a run to the document that is to have it. */
  async #give(id: string, run: Run, port: chrome.runtime.Port) {
    if (run.leads || (run.script && !this.#sandbox.waits(id))) return;
    const last = stepsOf(run).length - 1;
    if (run.script && run.did === last) return this.#answer(id, run, null);
    if (isBlind(run)) {
      return this.#fail(id, run, "STEP_LOST", "the page gave way to another one, to which no step had led: a script looks there before it acts, by page.wait, page.find or page.look; nothing more was done");
    }
    if (run.granted > run.did) return this.#lost(id, run, "the script in the page was started anew");
    const { params, values } = run;
    if (isCall(params)) return void this.#grants.call(id, run, (why) => this.#undone(id, run, why));
    if (lacksFiles(run)) return this.#fail(id, run, "STEP_STOPPED", "the browser stopped the extension's worker, which had the files");
    if (!values) return this.#fail(id, run, "STEP_REFUSED", `what the steps gave is more than the ${MAX_VALUES >> 20} MiB that a run may take to another page`);
    const refusal = this.#bounds.refusal(params);
    if (refusal) return this.#fail(id, run, "STEP_STOPPED", refusal);
    const [dialogs, isShown] = await Promise.all([this.#hooked(id, run), this.#isShown(run)]);
    if (this.#open.get(id) !== run || this.#portOf(run) !== port || run.leads || run.granted > run.did) return;
    if (!isShown) return this.#leftUnsaid(id, run);
    run.from = run.script ? last : run.did + 1; // what it reports begins there
    void this.#stored.write();
    const tag = !params.pack && stepsOf(run).slice(run.from).some(givesRefs) ? this.#looks.tag(run.tabId, run.documentId) : undefined;
    say(port, { type: "run", id, from: run.from, steps: stepsFrom(run), more: run.script && true, none: run.script?.none, args: params.args as object, result: params.result, values, ...this.#bounds.reach(run), tag, mark: this.#settings().mark, dialogs, trusted: globalThis.tabhubTrustedInput !== undefined });
  }

  /** Has the dialogs of a document answered while a client's own steps act there. @returns what their events are called */
  #hooked(id: string, run: Run) {
    const { tabId, documentId, params, did } = run;
    if (params.pack || !stepsOf(run).slice(did + 1).some(isActing)) return undefined;
    const key = `${id} ${documentId}`;
    const hooked = this.#hooking.get(key) ?? hookDialogs(tabId, documentId, globalThis.tabhubTrustedInput !== undefined).finally(() => this.#hooking.delete(key));
    this.#hooking.set(key, hooked);
    return hooked;
  }

  // ---- What scripts say

  /** A script calls a method of page. */
  async #called(id: string, call: number, verb: string, args: string) {
    const run = this.#open.get(id);
    if (!run?.script) return;
    try {
      const { step, gives, none } = pageCall(verb, args);
      run.params.steps = [...stepsOf(run), step];
      run.script = { ...run.script, call, gives, none };
    } catch (error) {
      return this.#fail(id, run, "STEP_SCRIPT", (error as Error).message);
    }
    if (run.script.left) return this.#fail(id, run, "STEP_REFUSED", run.script.left);
    const { tabId, frameId, documentId } = run;
    const [, there] = await Promise.all([this.#stored.write(), chrome.webNavigation.getFrame({ tabId, frameId }).catch(() => null)]);
    if (this.#open.get(id) !== run) return;
    if (there?.documentId === documentId) await this.#bring(id, run);
    else await this.#follow(id);
  }

  /** A document has done a script's step. */
  #stepped(id: string, run: Run, { steps: [report], value }: RunResult) {
    const { gives } = run.script ?? {};
    run.reports[stepsOf(run).length - 1] = report;
    this.#answer(id, run, gives ? (value as StepValues | null)?.[gives] : value);
  }

  #answer(id: string, run: Run, value: unknown) {
    if (run.script) run.script.known = run.documentId;
    this.#stored.save();
    this.#sandbox.answer(id, JSON.stringify(value ?? null));
  }

  #returned(id: string, value: string) {
    const run = this.#open.get(id);
    if (!run) return;
    run.from = stepsOf(run).length;
    this.#finish(id, run, { steps: [], value: JSON.parse(value) });
  }

  // ---- From one document to the next

  /** A step leads to another document. */
  #leads(id: string, run: Run, step: number) {
    if (run.leads) return;
    const { open, click, press, timeout } = stepsOf(run)[step];
    const declared = open !== undefined || click?.navigates === true || press?.navigates === true;
    run.leads = { until: Date.now() + (timeout ? timeout * 1000 : open || !declared ? NEXT : NEXT / 2), declared };
    void this.#follow(id);
  }

  /** The document that has a run has gone. */
  #left(id: string, run: Run) {
    if (this.#inputs.of(id)) return; // what comes of it says whether it was done
    if (run.script && !this.#sandbox.waits(id)) return; // the next step goes where the frame is then
    const why = (isCall(run.params) && this.#bounds.refusal(run.params)) || "the page went away";
    if (run.granted > run.did || isCall(run.params)) this.#lost(id, run, why);
    else void this.#follow(id);
  }

  /** Whether the document that has a run is the one that its frame shows. */
  async #isShown({ tabId, frameId, documentId }: Run) {
    const there = await unlessStopping(chrome.webNavigation.getFrame({ tabId, frameId }), () => null);
    return there?.documentId === documentId;
  }

  /** The document of a run has gone, and its port stays: it was opened while the browser put the document aside. */
  #leftUnsaid(id: string, run: Run) {
    this.#ports.delete(placeOfRun(run));
    this.#left(id, run);
  }

  /** Gives a run to the document that follows the one that has it. */
  async #follow(id: string) {
    const run = this.#open.get(id);
    if (!run || this.#following.has(id)) return;
    this.#following.add(id);
    const next = await nextDocument(run, () => this.#open.get(id) === run && (run.leads !== undefined || !this.#ports.has(run.documentId)));
    this.#following.delete(id);
    if (this.#open.get(id) !== run || !next) return;
    const { leads } = run;
    if (next === "closed") return this.#lost(id, run, "the tab was closed");
    if (next === "failed") {
      run.page = run.error && this.#navigations.failed(run.error).page;
      return this.#goesNoFurther(id, run, `step ${run.did + 1} led to a page that could not be loaded (${run.error?.error})`);
    }
    if (next === "stays" && leads?.declared) {
      return this.#fail(id, run, "STEP_TIMEOUT", `it was to lead to another page, and ${run.error ? `that did not load (${run.error.error})` : "none came in time"}`, run.did);
    }
    if (next === "stays") {
      if (!leads) return this.#lost(id, run, "the page went away");
      run.leads = undefined;
      return this.#bring(id, run);
    }
    const { documentId, url, origin } = next;
    if (!leads && this.#wasLed(run)) {
      return this.#lost(id, run, "the page gave way to another one", "; a step that leads to another page after a while has to say so with navigates");
    }
    if (!permits(this.#settings(), origin) || origin !== run.origin || !this.#bounds.reaches(run, url)) {
      run.moved = true;
      const why = this.#bounds.refusal(run.params);
      if (why) return this.#fail(id, run, "STEP_STOPPED", why);
      if (run.params.reach?.includes(origin)) return this.#goesNoFurther(id, run, `step ${run.did + 1} led to ${this.#bounds.outside(run, url)}`);
      const led = run.did < 0 ? "the page went" : `step ${run.did + 1} led`;
      return this.#fail(id, run, "STEP_REFUSED", `${led} to ${this.#bounds.outside(run, url)}`);
    }
    Object.assign(run, { documentId, from: run.did + 1, leads: undefined, error: undefined, moved: true });
    if (leads && run.script) run.script.known = documentId;
    await this.#stored.write();
    if (this.#open.get(id) === run) await this.#bring(id, run);
  }

  /** Whether somebody else has led a run to another document, in which what it did, such as filling in, may count for nothing. */
  #wasLed({ did, stayed, script, params: { steps = [] } }: Run) {
    if (script) return false; // isBlind tells
    // A document that goes at once has no time to say that a step has led it.
    return did >= 0 && (stayed === did || steps[did].fill !== undefined) && steps.slice(did + 1).some(isActing);
  }

  /** A step has led where no other one can be done: that ends the run well if it was the last. */
  #goesNoFurther(id: string, run: Run, why: string) {
    const last = stepsOf(run).length - 1;
    if (run.did !== last) return this.#fail(id, run, "STEP_REFUSED", why);
    if (run.script) {
      run.script.left = why;
      run.leads = undefined;
      return this.#answer(id, run, null);
    }
    run.from = last + 1;
    return this.#finish(id, run, { steps: [], value: null });
  }

  /** The browser could not show a document. */
  failed({ tabId, frameId, url, error }: { tabId: number; frameId: number; url: string; error: string }) {
    for (const run of this.#open.values()) if (run.tabId === tabId && run.frameId === frameId) run.error = { url, error: error.replace(/^net::/, "") };
  }

  // ---- How a run ends

  /** The document of a run has gone, or its script: what was begun there may have been done. */
  #lost(id: string, run: Run, why: string, hint = "") {
    if (run.did < 0 && run.granted < 0) return this.#undone(id, run, why);
    if (isCall(run.params)) return this.#fail(id, run, "STEP_LOST", `${why} before the script had answered`, 0);
    const begun = run.granted > run.did ? `${why} while step ${run.granted + 1} was done: it may have been done, and nothing after it was` : `${why} after step ${run.did + 1}; nothing after it was done${hint}`;
    this.#fail(id, run, "STEP_LOST", begun);
  }

  /** Ends a run of which nothing was done. */
  #undone(id: string, run: Run, why: string) {
    this.#close(id);
    this.#calls.hold(id, run.tabId, { error: { code: Code.TabNotFound, message: why, data: { delivered: false } } }, { ended: "failed" });
  }

  /** Ends a run whose document cannot. @param step at which it ended */
  #fail(id: string, run: Run, code: StepCode, message: string, step = Math.min(run.script ? Infinity : Math.max(run.granted, run.did + 1), stepsOf(run).length - 1)) {
    const steps = stepsOf(run).slice(0, Math.max(run.granted, run.did, step) + 1).map((_, i) => reported(run, i));
    run.from = 0;
    say(this.#portOf(run), { type: "stop", id, reason: message });
    this.#finish(id, run, { steps, failed: { step: Math.max(0, step), code, message } });
  }

  /** @param result of the document that has it, or from the first step on */
  async #finish(id: string, run: Run, result: RunResult) {
    const before = stepsOf(run).slice(0, run.from).map((_, i) => reported(run, i));
    const whole: RunResult = { ...result, steps: [...before, ...result.steps] };
    this.#close(id);
    const page = run.page ?? (run.moved || (run.acts && run.url) ? await this.#navigations.here(run) : undefined);
    // A page may show another address in the same document.
    if (run.page || run.moved || (page?.url && page.url !== run.url)) whole.page = page;
    this.#hold(id, run.tabId, JSON.stringify(whole), whole.failed ? "failed" : "done");
  }

  /** Keeps an answer until the hub has it. */
  #hold(id: string, tabId: number, text: string, ended: NonNullable<Activity["ended"]>) {
    this.#ended.set(id, { tabId, text });
    void this.#stored.write();
    const confirmed = () => {
      this.#ended.delete(id);
      this.#stored.save();
    };
    this.#calls.hold(id, tabId, { result: text }, { ended, confirmed });
  }

  #close(id: string) {
    this.#open.delete(id);
    this.#sandbox.stop(id);
    this.#stored.save();
    this.#wake();
    if (this.#open.size) return;
    clearInterval(this.#reminder);
    this.#reminder = undefined;
  }

  // ---- While it goes on

  #report(id: string, run: Run, words: string, waiting?: boolean) {
    run.words = words;
    this.#hub.notify("browser/progress", { requestId: id, progress: ++run.progress, waiting, message: words }, run.tabId);
  }

  #remindSoon() {
    this.#reminder ??= setInterval(() => this.#remind(), REMIND);
  }

  #remind() {
    for (const [id, run] of this.#open) {
      const { documentId } = run;
      void this.#isShown(run).then((is) => !is && this.#open.get(id) === run && run.documentId === documentId && !run.leads && !this.#following.has(id) && this.#leftUnsaid(id, run));
      if (Date.now() - run.at < LIFE) this.#report(id, run, run.words);
      else this.#fail(id, run, "STEP_TIMEOUT", `the run has taken ${LIFE / 60_000} minutes`);
    }
  }

  /** Resolves when something has changed that a run may wait for, or after a while. */
  #change() {
    return new Promise<void>((done) => {
      const timer = setTimeout(() => wake(), REMIND);
      const wake = () => {
        clearTimeout(timer);
        this.#wakes.delete(wake);
        done();
      };
      this.#wakes.add(wake);
    });
  }

  #wake() {
    for (const wake of [...this.#wakes]) wake();
  }

  #kept(): Kept {
    const runs = Object.fromEntries([...this.#open].map(([id, run]) => [id, withoutFiles(run)]));
    const short = ({ tabId, text }: { tabId: number; text: string }) => ({ tabId, text: text.length <= MAX_KEPT ? text : withoutValue(text) });
    const ended = [...this.#ended].map(([id, answer]) => [id, short(answer)] as const);
    return { since: this.#since, runs, ended: Object.fromEntries(ended) };
  }
}
