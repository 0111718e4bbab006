// Runs of steps, of tools of packs and of clients' own (browser/run): the document that has a run does its steps (content/steps.ts), and goes
// when one of them leads to another document, which then has the run. This worker decides: a document asks it
// before each step that acts, and the word that such a step may be done is written down before it is given. So
// no step is done twice, and of one that was begun in a document that has gone it is said that it may have
// been done.

import { Code } from "./refusal.ts";
import { look, type Navigations } from "./navigations.ts";
import { packOf, type Packs } from "./packs.ts";
import { permits } from "./settings.ts";
import { Stored } from "./stored.ts";
import { unlessStopping } from "./stopping.ts";
import { pageOf } from "./tab.ts";
import { awake } from "./control.ts";
import { matchesAny } from "../patterns.ts";
import { isActing, verbOf } from "../steps.ts";
import type { ActivityLog } from "./activity.ts";
import type { Calls } from "./calls.ts";
import type { Hub } from "./hub.ts";
import type { Tabs } from "./tabs.ts";
import type { UserInput } from "./userinput.ts";

type PackRef = NonNullable<FromHub["browser/run"]["params"]["pack"]>;
type Params = FromHub["browser/run"]["params"];
type Report = RunResult["steps"][number];

/** How long a run waits for a document that is just being loaded, in ms. */
const LOADING = 5_000;
/** How long a run waits for its turn in a tab, or for the person there, in ms, and */
const WAIT = 5 * 60_000;
/** how long it may take in all: it ends before the hub gives it up. */
const LIFE = 9 * 60_000;
/** How long a run waits for the port of a script, in ms. */
const RETURN = 10_000;
/** How often the hub hears of a run that goes on, in ms. */
const REMIND = 10_000;
/** How long the document after one may take, in ms, where no step says so. */
const NEXT = 10_000;
/** Between two looks at a document, in ms. */
const LOOK = 50;
/** How long nothing loads in a tab before its document is taken to stay, in ms, */
const STAYS = 300;
/** and how long that of one takes which never has loaded all. */
const PARSED = 2_000;
/** How many characters of what steps gave a run may take from one document to the next. */
const MAX_VALUES = 1 << 20;
/** How many characters of a result the next worker has, should the hub not have it yet. */
const MAX_KEPT = 256 << 10;

interface Run {
  tabId: number;
  frameId: number;
  documentId: string; // the document that has it
  origin: string;
  params: Params;
  acts: boolean; // whether a step of it may change something
  at: number; // when it began, as Date.now() has it
  progress: number; // what the hub was sent last
  words: string; // what it does, or waits for
  from: number; // the step that it began with in the document
  granted: number; // the latest step that may have been begun, counted from 0
  did: number; // the latest that was done
  stayed: number; // the latest after which its document went on
  reports: (Report | null)[]; // of the steps that act
  values?: StepValues; // what steps gave; undefined: too much
  leads?: { until: number; declared: boolean }; // the document gives way to another one
  error?: string; // why the browser could not show that
  moved?: boolean; // whether one has
}

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
  /** Steps whose grant is being decided. */
  #asked = new Set<string>();
  /** Called when a run has ended, or a person has left a tab. */
  #wakes = new Set<() => void>();
  #reminder: ReturnType<typeof setInterval> | undefined;
  #stored = new Stored<Kept>("runs", () => this.#kept());
  #tabs;
  #packs;
  #calls;
  #hub;
  #navigations;
  #activity;
  #userInput;
  #settings;

  constructor(tabs: Tabs, packs: Packs, calls: Calls, hub: Hub, navigations: Navigations, activity: ActivityLog, userInput: UserInput, settings: () => Settings) {
    this.#tabs = tabs;
    this.#packs = packs;
    this.#calls = calls;
    this.#hub = hub;
    this.#navigations = navigations;
    this.#activity = activity;
    this.#userInput = userInput;
    this.#settings = settings;
  }

  /** Remembers the runs of an earlier worker. */
  async load() {
    const before = await this.#stored.load();
    if (!before) return;
    this.#since = before.since;
    for (const [id, { tabId, text }] of Object.entries(before.ended)) this.#hold(id, tabId, text, "done");
    for (const [id, run] of Object.entries(before.runs)) {
      this.#open.set(id, run);
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
    const { toolName = "", origin } = params;
    if (params.pack) await this.#packs.current;
    const steps = params.steps ?? [];
    const acts = isCall(params) || steps.some(isActing);
    if (acts && !(await this.#turn(id, tabId, signal))) return `another call was still at work in the tab after ${WAIT / 60_000} minutes`;
    if (signal.aborted) return undefined;
    const refusal = this.#refusal(params);
    if (refusal) return refusal;
    const place = await (params.pack ? this.#offering(tabId, params, params.pack) : this.#showing(tabId, params));
    if (signal.aborted) return undefined;
    if (typeof place === "string") return place;
    if (place.origin !== origin) return "the tab shows another site by now";
    if (acts && this.actsIn(tabId)) return this.#begin(id, message, sentAt, signal); // another one was first
    const run: Run = { tabId, ...place, params, acts, at: Date.now(), progress: 0, words: "it begins", from: 0, granted: -1, did: -1, stayed: -1, reports: [], values: {} };
    this.#open.set(id, run);
    this.#starting.delete(id);
    if (!(await this.#stored.write())) {
      this.#close(id);
      return "the browser cannot write down what is done";
    }
    if (this.#open.get(id) !== run) return undefined; // cancelled
    this.#activity.begun(id, tabId, params.pack ? "tool" : "acts", toolName, acts, client);
    if (acts) void this.#userInput.watch(tabId);
    this.#remindSoon();
    void this.#bring(id, run);
    return undefined;
  }

  /** The document that offers a pack's tool, or why there is none. */
  async #offering(tabId: number, { toolName, frameId, origin }: Params, pack: PackRef) {
    const offers = ({ tools }: Offer) => tools.some((tool) => tool.name === toolName && packOf(tool)?.hash === pack.hash);
    const route = await this.#tabs.route(tabId, { frameId, origin }, offers, LOADING);
    if (!route) return `the tab does not show a page of the pack ${pack.name}, or not in that frame`;
    const { documentId, origin: at, id } = route.frame;
    return { documentId, origin: at, frameId: id };
  }

  /** The document that a frame shows, or why none. */
  async #showing(tabId: number, { frameId = 0, origin }: Params) {
    if (!permits(this.#settings(), origin)) return "the user does not share this site";
    await awake(tabId).catch(() => {}); // it is closed, which shows next
    const there = await look(tabId, frameId);
    return there ? { documentId: there.documentId, origin: there.origin, frameId } : "the tab, or the frame in it, is not there or does not answer";
  }

  /** Why a run may not be, "" if it may. */
  #refusal({ pack }: Params) {
    return pack ? this.#packs.refusal(pack) : "";
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
      const refusal = permits(this.#settings(), run.origin) ? this.#refusal(run.params) : "the user has switched this site off";
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
      for (const [id, run] of this.#open) if (isHere(run) && !message.runs.includes(id)) this.#give(id, run, port);
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
        void this.#grant(id, run, message.step);
        break;
      case "did": {
        const { step, report, values, navigates } = message;
        if (step >= (run.params.steps ?? []).length) break;
        run.did = Math.max(run.did, step);
        run.granted = Math.max(run.granted, step);
        run.reports[step] = report;
        this.#activity.did(id, report.words ?? "");
        run.values = JSON.stringify(values).length <= MAX_VALUES ? values : undefined;
        if (navigates && step === run.did) this.#leads(id, run, step);
        void this.#stored.write();
        break;
      }
      case "progress":
        if (message.step >= run.did) run.stayed = run.did;
        this.#stored.save();
        this.#report(id, run, message.words);
        break;
      case "end":
        if (run.leads && !message.result.failed) break; // what comes of it the next document says
        say(port, { type: "stop", id, reason: "" });
        this.#finish(id, run, message.result);
    }
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
  #give(id: string, run: Run, port: chrome.runtime.Port) {
    if (run.leads) return;
    if (run.granted > run.did) return this.#lost(id, run, "the script in the page was started anew");
    const { params, values } = run;
    if (isCall(params)) return void this.#call(id, run);
    if (params.steps?.slice(run.did + 1).some(({ upload }) => upload && !upload.files.length)) return this.#fail(id, run, "STEP_STOPPED", "the browser stopped the extension's worker, which had the files");
    if (!values) return this.#fail(id, run, "STEP_REFUSED", `what the steps gave is more than the ${MAX_VALUES >> 20} MiB that a run may take to another page`);
    const refusal = this.#refusal(params);
    if (refusal) return this.#fail(id, run, "STEP_STOPPED", refusal);
    const reach = params.pack ? { match: this.#packs.find(params.pack)?.match ?? [] } : { match: [], origins: [run.origin, ...(params.reach ?? [])] };
    run.from = run.did + 1; // what it reports begins there
    void this.#stored.write();
    say(port, { type: "run", id, from: run.from, steps: params.steps ?? [], args: params.args as object, result: params.result, values, ...reach });
  }

  /** Gives a script the call of one of its tools, once. */
  async #call(id: string, run: Run) {
    const isOpen = () => this.#open.get(id) === run && run.granted < 0;
    if (this.#asked.has(id)) return;
    this.#asked.add(id);
    try {
      const refusal = await this.#mayNot(id, run, isOpen);
      if (!isOpen()) return;
      const port = this.#portOf(run);
      if (refusal || !port) return this.#undone(id, run, refusal?.reason ?? "the page went away");
      run.granted = 0;
      const written = await this.#stored.write();
      if (this.#open.get(id) !== run) return;
      if (written) say(port, { type: "run", id, tool: run.params.toolName ?? "", args: run.params.args as object });
      else this.#undone(id, run, "the browser cannot write down what is done");
    } finally {
      this.#asked.delete(id);
    }
  }

  /** Lets a document do a step, once. */
  async #grant(id: string, run: Run, step: number) {
    const { documentId } = run;
    const key = `${id} ${step}`;
    const isOpen = () => this.#open.get(id) === run && run.documentId === documentId && !run.leads;
    const steps = run.params.steps ?? [];
    if (this.#asked.has(key) || !isOpen() || step <= run.did || step >= steps.length) return;
    this.#asked.add(key);
    try {
      const refusal = await this.#mayNot(id, run, isOpen);
      if (!isOpen()) return;
      if (refusal) {
        say(this.#ports.get(documentId), { type: "refused", id, step, ...refusal });
        return;
      }
      const before = run.granted;
      run.granted = Math.max(before, step);
      const written = await this.#stored.write();
      if (!isOpen()) return;
      if (written) say(this.#ports.get(documentId), { type: "go", id, step });
      else {
        run.granted = before;
        say(this.#ports.get(documentId), { type: "refused", id, step, code: "STEP_STOPPED", reason: "the browser cannot write down what is done" });
      }
    } finally {
      this.#asked.delete(key);
    }
  }

  /** Why a step may not be done, once the person in front of the tab does not use it. */
  async #mayNot(id: string, run: Run, isOpen: () => boolean): Promise<{ code: "STEP_REFUSED" | "STEP_STOPPED"; reason: string } | undefined> {
    const { tabId, frameId, documentId, params } = run;
    for (const until = Date.now() + WAIT; isOpen(); ) {
      while (this.#userInput.isActive(tabId) && isOpen()) {
        if (Date.now() > until) return { code: "STEP_STOPPED", reason: "the person in front of the tab goes on using it" };
        this.#report(id, run, "waits until the person in front of the tab does not use it", true);
        await this.#change();
      }
      if (params.pack && this.#hub.connected) await this.#packs.current;
      const there = await chrome.webNavigation.getFrame({ tabId, frameId }).catch(() => null);
      if (this.#userInput.isActive(tabId)) continue;
      const refusal = this.#refusal(params);
      if (refusal) return { code: "STEP_STOPPED", reason: refusal };
      if (there?.documentId !== documentId) return { code: "STEP_STOPPED", reason: "the tab shows another page" };
      if (!permits(this.#settings(), run.origin)) return { code: "STEP_STOPPED", reason: "the user does not share this site" };
      if (!this.#reaches(run, there.url)) return { code: "STEP_REFUSED", reason: `the page is at ${this.#address(there.url)}, ${outside(run)}` };
      return undefined;
    }
    return undefined;
  }

  /** Whether a run may go on in a page. An empty document has the origin of the one that made it. */
  #reaches({ params: { pack }, origin }: Run, url: string) {
    if (/^about:(blank|srcdoc)/.test(url)) return !pack;
    return URL.canParse(url) && new URL(url).origin === origin && (!pack || matchesAny(this.#packs.find(pack)?.match ?? [], url));
  }

  // ---- From one document to the next

  /** A step leads to another document. */
  #leads(id: string, run: Run, step: number) {
    if (run.leads) return;
    const { open, click, press, timeout } = (run.params.steps ?? [])[step];
    const declared = open !== undefined || click?.navigates === true || press?.navigates === true;
    run.leads = { until: Date.now() + (timeout ? timeout * 1000 : open || !declared ? NEXT : NEXT / 2), declared };
    void this.#follow(id);
  }

  /** The document that has a run has gone. */
  #left(id: string, run: Run) {
    const why = (isCall(run.params) && this.#refusal(run.params)) || "the page went away";
    if (run.granted > run.did || isCall(run.params)) this.#lost(id, run, why);
    else void this.#follow(id);
  }

  /** Gives a run to the document that follows the one that has it. */
  async #follow(id: string) {
    const run = this.#open.get(id);
    if (!run || this.#following.has(id)) return;
    this.#following.add(id);
    const next = await this.#next(id, run);
    this.#following.delete(id);
    if (this.#open.get(id) !== run || !next) return;
    const { leads } = run;
    if (next === "closed") return this.#lost(id, run, "the tab was closed");
    if (next === "stays" && leads?.declared) {
      return this.#fail(id, run, "STEP_TIMEOUT", `it was to lead to another page, and ${run.error ? `that did not load (${run.error})` : "none came in time"}`, run.did);
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
    if (!permits(this.#settings(), origin) || origin !== run.origin || !this.#reaches(run, url)) {
      run.moved = true;
      const why = this.#refusal(run.params);
      if (why) return this.#fail(id, run, "STEP_STOPPED", why);
      const { steps = [], reach = [] } = run.params;
      if (reach.includes(origin) && run.did === steps.length - 1) {
        run.from = steps.length;
        return this.#finish(id, run, { steps: [], value: null });
      }
      const led = run.did < 0 ? "the page went" : `step ${run.did + 1} led`;
      return this.#fail(id, run, "STEP_REFUSED", `${led} to ${this.#address(url)}, ${outside(run)}`);
    }
    Object.assign(run, { documentId, from: run.did + 1, leads: undefined, error: undefined, moved: true });
    await this.#stored.write();
    if (this.#open.get(id) === run) await this.#bring(id, run);
  }

  /** Whether somebody else has led a run to another document, in which what it did, such as filling in, may count for nothing. */
  #wasLed({ did, stayed, params: { steps = [] } }: Run) {
    // A document that goes at once has no time to say that a step has led it.
    return did >= 0 && (stayed === did || steps[did].fill !== undefined) && steps.slice(did + 1).some(isActing);
  }

  /** Waits for the document that follows, and stays. @returns nothing if the run goes on where it is */
  async #next(id: string, run: Run) {
    const { tabId, frameId, documentId: left } = run;
    const until = run.leads?.until ?? Date.now() + NEXT;
    let last: Awaited<ReturnType<typeof look>>;
    let found = 0;
    let quiet = 0; // since when nothing loads
    for (; this.#open.get(id) === run; await new Promise((done) => setTimeout(done, LOOK))) {
      if (!run.leads && this.#ports.has(left)) return undefined;
      const there = await look(tabId, frameId);
      const tab = await unlessStopping(chrome.tabs.get(tabId), () => undefined);
      if (!tab) return "closed";
      const now = Date.now();
      const other = there && there.documentId !== left && there.parsed ? there : undefined;
      if (other?.documentId !== last?.documentId) [found, quiet] = [now, 0];
      last = other;
      quiet = tab.status === "loading" || tab.pendingUrl || (there && !there.complete) ? 0 : quiet || now;
      const stays = quiet > 0 && now - quiet >= STAYS;
      if (last && (stays || now - found >= PARSED || now > until)) return last;
      if (!last && (now > until || (run.leads && !run.leads.declared && stays && there?.documentId === left))) return "stays";
    }
    return undefined;
  }

  /** The browser could not show a document. */
  failed({ tabId, frameId, error }: { tabId: number; frameId: number; error: string }) {
    for (const run of this.#open.values()) if (run.tabId === tabId && run.frameId === frameId) run.error = error.replace(/^net::/, "");
  }

  /** An address, as far as the user shares it. */
  #address(url: string) {
    return pageOf(this.#settings(), { url }).url?.slice(0, 200) || "a page that is not shared";
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
  #fail(id: string, run: Run, code: StepCode, message: string, step = Math.min(Math.max(run.granted, run.did + 1), (run.params.steps ?? []).length - 1)) {
    const steps = (run.params.steps ?? []).slice(0, Math.max(run.granted, run.did, step) + 1).map((_, i) => this.#reported(run, i));
    run.from = 0;
    say(this.#portOf(run), { type: "stop", id, reason: message });
    this.#finish(id, run, { steps, failed: { step: Math.max(0, step), code, message } });
  }

  /** What is certain of a step. */
  #reported({ params, reports, granted, did }: Run, i: number): Report {
    const step = (params.steps ?? [])[i];
    const done = i <= did || (i < granted && !isActing(step));
    return reports[i] ?? { verb: verbOf(step), did: done ? "yes" : i === granted ? "perhaps" : "no" };
  }

  /** @param result of the document that has it, or from the first step on */
  async #finish(id: string, run: Run, result: RunResult) {
    const before = (run.params.steps ?? []).slice(0, run.from).map((_, i) => this.#reported(run, i));
    const whole: RunResult = { ...result, steps: [...before, ...result.steps] };
    this.#close(id);
    if (run.moved) whole.page = await this.#navigations.here(run);
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

/** A run as it is written down: the next worker has no files. */
function withoutFiles(run: Run): Run {
  const { steps } = run.params;
  if (!steps?.some(({ upload }) => upload)) return run;
  const bare = (step: Step) => (step.upload ? { ...step, upload: { ...step.upload, files: [] } } : step);
  return { ...run, params: { ...run.params, steps: steps.map(bare) } };
}

/** What is left of an answer that is too large to be written down. */
function withoutValue(text: string) {
  const { steps, page } = JSON.parse(text) as RunResult;
  const failed = { step: Math.max(0, steps.length - 1), code: "STEP_LOST", message: "all steps were done, and the result was lost with the extension's worker, which the browser stopped" };
  return JSON.stringify({ steps, page, failed });
}

/** Whether a run is the call of a script's tool, which has no steps. */
function isCall({ pack, steps }: Params) {
  return pack !== undefined && !steps?.length;
}

/** Says of an address that a run does not reach it. */
function outside({ params: { pack } }: Run) {
  return pack ? "where the pack does not reach" : "which is not on this site";
}

/** Where the port leads that a run is given through. */
function placeOfRun({ documentId, params }: Run) {
  return params.pack && isCall(params) ? placeOf(documentId, params.pack) : documentId;
}

/** The script of a pack in a document. */
function placeOf(documentId = "", { hash }: PackRef) {
  return `${documentId} ${hash}`;
}

/** Says something to a document, which may just have gone. */
function say(port: chrome.runtime.Port | undefined, message: WorkerToRunner | WorkerToScript) {
  try {
    port?.postMessage(message);
  } catch {
    // The browser will report its end.
  }
}
