// The word that a step may be done: it is given once, when the person in front of the tab does not use it, and is
// written down before.

import { permits } from "./settings.ts";
import { say, stepsOf, type Run } from "./run.ts";
import type { Bounds } from "./bounds.ts";
import type { UserInput } from "./userinput.ts";

/** How long a run waits for its turn in a tab, or for the person there, in ms. */
export const WAIT = 5 * 60_000;

/** What is known of the runs. */
interface Ledger {
  /** Whether a run is under way. */
  isOpen(id: string, run: Run): boolean;
  /** The port that a run is given through. */
  portOf(run: Run): chrome.runtime.Port | undefined;
  /** @returns whether what is known is written down */
  write(): Promise<boolean>;
  /** Has all ready for a step that is about to be done. */
  prepare(run: Run, step: number): Promise<void>;
  /** Says that a run waits for the person. */
  waits(id: string, run: Run, words: string): void;
  /** Resolves when something has changed that a run may wait for, or after a while. */
  change(): Promise<void>;
  connected: boolean;
}

export class Grants {
  /** Those that are being decided. */
  #asked = new Set<string>();
  #runs;
  #bounds;
  #userInput;
  #settings;

  constructor(runs: Ledger, bounds: Bounds, userInput: UserInput, settings: () => Settings) {
    this.#runs = runs;
    this.#bounds = bounds;
    this.#userInput = userInput;
    this.#settings = settings;
  }

  /**
   * Gives a script the call of one of its tools, once.
   * @param undone called with why it may not have it
   */
  async call(id: string, run: Run, undone: (why: string) => void) {
    const isOpen = () => this.#runs.isOpen(id, run) && run.granted < 0;
    if (this.#asked.has(id)) return;
    this.#asked.add(id);
    try {
      const refusal = await this.#mayNot(id, run, isOpen);
      if (!isOpen()) return;
      const port = this.#runs.portOf(run);
      if (refusal || !port) return undone(refusal?.reason ?? "the page went away");
      run.granted = 0;
      const written = await this.#runs.write();
      if (!this.#runs.isOpen(id, run)) return;
      if (written) say(port, { type: "run", id, tool: run.params.toolName ?? "", args: run.params.args as object });
      else undone("the browser cannot write down what is done");
    } finally {
      this.#asked.delete(id);
    }
  }

  /** Lets a document do a step, once. */
  async step(id: string, run: Run, step: number) {
    const { documentId } = run;
    const key = `${id} ${step}`;
    const isOpen = () => this.#runs.isOpen(id, run) && run.documentId === documentId && !run.leads;
    if (this.#asked.has(key) || !isOpen() || step <= run.did || step >= stepsOf(run).length) return;
    this.#asked.add(key);
    try {
      const refusal = await this.#mayNot(id, run, isOpen);
      if (!isOpen()) return;
      if (refusal) return say(this.#runs.portOf(run), { type: "refused", id, step, ...refusal });
      await this.#runs.prepare(run, step);
      if (!isOpen()) return;
      const before = run.granted;
      run.granted = Math.max(before, step);
      const written = await this.#runs.write();
      if (!isOpen()) return;
      if (written) return say(this.#runs.portOf(run), { type: "go", id, step });
      run.granted = before;
      say(this.#runs.portOf(run), { type: "refused", id, step, code: "STEP_STOPPED", reason: "the browser cannot write down what is done" });
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
        this.#runs.waits(id, run, "waits until the person in front of the tab does not use it");
        await this.#runs.change();
      }
      if (this.#runs.connected) await this.#bounds.current(params);
      const there = await chrome.webNavigation.getFrame({ tabId, frameId }).catch(() => null);
      if (this.#userInput.isActive(tabId)) continue;
      const refusal = this.#bounds.refusal(params);
      if (refusal) return { code: "STEP_STOPPED", reason: refusal };
      if (there?.documentId !== documentId) return { code: "STEP_STOPPED", reason: "the tab shows another page" };
      if (!permits(this.#settings(), run.origin)) return { code: "STEP_STOPPED", reason: "the user does not share this site" };
      if (!this.#bounds.reaches(run, there.url)) return { code: "STEP_REFUSED", reason: `the page is at ${this.#bounds.outside(run, there.url)}` };
      return undefined;
    }
    return undefined;
  }
}
