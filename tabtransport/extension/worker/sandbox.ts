// Clients' scripts, from this worker's side: the offscreen document is opened for the first and closed after the last.
// The calls of a script are handed on one after the other. What was not answered the document says again to a worker
// that has just started.

import { pauseOf } from "./pagecalls.ts";

/** How long a script may go on without a step, in ms. */
const THINKS = 60_000;
/** How many steps it may take. */
const MAX_CALLS = 200;
/** How long the document may take to open, or to say that it is there, in ms. */
const OPENS = 10_000;

interface Handlers {
  /** A script calls a method of page: it is answered once. */
  called(id: string, call: number, verb: string, args: string): void;
  /** It has ended. @param value what it has returned, as JSON */
  ended(id: string, value: string): void;
  failed(id: string, code: StepCode, message: string): void;
}

interface Script {
  code?: string; // until the document has it
  queue: ScriptSays[]; // what was not handed on
  calls: number; // how many there were
  call: number; // the latest that was handed on
  busy: boolean; // whether that is not answered yet
  pauses?: boolean; // whether it only lets time pass
  answer?: string; // its answer, for a document that has not said that it is there
  timer?: ReturnType<typeof setTimeout>;
}

const GONE = "the script is gone: the browser has ended it, as when it takes too much memory";

export class Sandbox {
  #scripts = new Map<string, Script>();
  #port: chrome.runtime.Port | undefined;
  #opened = () => {};
  /** Settled when what was begun last, opening or closing the document, is done. */
  #last: Promise<unknown> = Promise.resolve();
  #on;

  constructor(on: Handlers) {
    this.#on = on;
  }

  /** Runs a script, once. */
  start(id: string, code: string) {
    this.#scripts.set(id, { code, queue: [], calls: 0, call: 0, busy: false });
    this.#thinks(id);
    this.#last = this.#last.then(() => this.#open(id));
  }

  /**
   * There is a script of an earlier worker.
   * @param call the latest that was handed on
   */
  expect(id: string, call: number) {
    const script: Script = { queue: [], calls: 0, call, busy: call > 0 };
    this.#scripts.set(id, script);
    script.timer = setTimeout(() => this.#fail(id, "STEP_SCRIPT", GONE), OPENS);
  }

  /** @param value what the latest call has given, as JSON */
  answer(id: string, value: string) {
    const script = this.#scripts.get(id);
    if (!script?.busy || script.pauses) return;
    if (!this.#port && script.queue[0]?.type !== "gone") {
      script.answer = value;
      return;
    }
    script.busy = false;
    this.#post({ type: "answer", id, call: script.call, value });
    this.#thinks(id);
    this.#next(id);
  }

  /** Whether a script waits for a step that it has called for. */
  waits(id: string) {
    const { busy = false, pauses = false } = this.#scripts.get(id) ?? {};
    return busy && !pauses;
  }

  stop(id: string) {
    const script = this.#scripts.get(id);
    if (!script) return;
    clearTimeout(script.timer);
    this.#scripts.delete(id);
    this.#post({ type: "stop", id });
    if (!this.#scripts.size) this.#last = this.#last.then(() => (this.#scripts.size ? undefined : this.#close()));
  }

  // ---- The document

  async #open(id: string) {
    if (!this.#scripts.has(id)) return;
    try {
      if (!this.#port) {
        await this.#close(); // one of an earlier worker
        const opened = new Promise<void>((done) => (this.#opened = done));
        await chrome.offscreen.createDocument({ url: "offscreen.html", reasons: [chrome.offscreen.Reason.WORKERS], justification: "runs a short script of an app in a worker, apart from all pages" });
        await Promise.race([opened, new Promise((late) => setTimeout(late, OPENS))]);
        if (!this.#port) throw new Error("its page for scripts did not open in time");
      }
      const script = this.#scripts.get(id);
      if (!script?.code) return;
      this.#post({ type: "start", id, code: script.code });
      script.code = undefined;
    } catch (error) {
      this.#fail(id, "STEP_SCRIPT", `the browser runs no script: ${error instanceof Error ? error.message : error}`);
    }
  }

  async #close() {
    this.#port = undefined;
    const contexts = await chrome.runtime.getContexts({ contextTypes: [chrome.runtime.ContextType.OFFSCREEN_DOCUMENT] });
    if (contexts.length) await chrome.offscreen.closeDocument().catch(() => {}); // it has just closed itself
  }

  /**
   * The document has opened its port.
   * @param ready resolved once the scripts of an earlier worker are known
   */
  connected(port: chrome.runtime.Port, ready: Promise<void>) {
    let gone = false; // what it has said before is heard later
    port.onMessage.addListener((message: OffscreenToWorker) => void ready.then(() => gone || this.#heard(port, message)));
    port.onDisconnect.addListener(() => {
      void chrome.runtime.lastError;
      gone = true;
      if (this.#port !== port) return;
      this.#port = undefined;
      for (const [id, { code }] of this.#scripts) if (code === undefined) this.#said(id, { type: "gone" });
    });
  }

  #heard(port: chrome.runtime.Port, message: OffscreenToWorker) {
    if (message.type === "said") {
      if (this.#port === port) this.#said(message.id, message.says);
      return;
    }
    this.#port = port;
    this.#opened();
    const there = new Map(message.scripts.map(({ id, said }) => [id, said]));
    for (const id of there.keys()) if (!this.#scripts.has(id)) this.#post({ type: "stop", id });
    for (const [id, script] of this.#scripts) {
      const said = there.get(id);
      if (said) this.#resume(id, script, said);
      else if (script.code === undefined) this.#fail(id, "STEP_SCRIPT", GONE);
    }
  }

  #post(message: WorkerToOffscreen) {
    try {
      this.#port?.postMessage(message);
    } catch {
      // The browser will report its end.
    }
  }

  // ---- What scripts say

  #resume(id: string, script: Script, said: ScriptSays[]) {
    clearTimeout(script.timer);
    const [first] = said;
    const isOpen = first?.type === "call" && first.call === script.call;
    if (!isOpen) script.busy = false; // what the earlier worker was asked it has answered
    script.calls = script.call + said.length;
    script.queue = isOpen ? said.slice(1) : said;
    const { answer } = script;
    script.answer = undefined;
    if (script.busy && answer !== undefined) return this.answer(id, answer);
    if (!script.busy) this.#thinks(id);
    this.#next(id);
  }

  #said(id: string, says: ScriptSays) {
    const script = this.#scripts.get(id);
    if (!script) return this.#post({ type: "stop", id });
    // What fails the script is heard before what it has called, and not begun.
    if (says.type === "call" && ++script.calls > MAX_CALLS) says = { type: "threw", message: `a script may take ${MAX_CALLS} steps` };
    if (says.type === "call" || says.type === "ended") script.queue.push(says);
    else script.queue = [says];
    this.#next(id);
  }

  #next(id: string) {
    const script = this.#scripts.get(id);
    const says = script?.busy ? undefined : script?.queue.shift();
    if (!script || !says) return;
    clearTimeout(script.timer);
    if (says.type === "ended") return this.#on.ended(id, says.value);
    if (says.type === "threw") return this.#fail(id, "STEP_SCRIPT", says.message);
    if (says.type === "gone") return this.#fail(id, "STEP_SCRIPT", GONE);
    script.call = says.call;
    script.busy = true;
    const pause = pauseOf(says.verb, says.args);
    if (pause === undefined) return this.#on.called(id, says.call, says.verb, says.args);
    script.pauses = true;
    script.timer = setTimeout(() => {
      script.pauses = false;
      this.answer(id, "null");
    }, pause);
  }

  /** It goes on without a step, for a while. */
  #thinks(id: string) {
    const script = this.#scripts.get(id);
    if (!script) return;
    clearTimeout(script.timer);
    script.timer = setTimeout(() => this.#fail(id, "STEP_TIMEOUT", `the script went on for ${THINKS / 1000} s without a step`), THINKS);
  }

  #fail(id: string, code: StepCode, message: string) {
    if (!this.#scripts.has(id)) return;
    this.stop(id);
    this.#on.failed(id, code, message);
  }
}
