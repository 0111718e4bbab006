// The steps of runs that are done by input of the browser's own, in the build that has it (trustedinput.ts).

import { inTab } from "./framebox.ts";
import { stepsOf, type Run } from "./run.ts";
import type { Files } from "./trustedinput.ts";
import type { UserInput } from "./userinput.ts";

type Answer = Extract<WorkerToRunner, { type: "input" }>;

export class Inputs {
  /** What is being given, by the ids of runs. */
  #given = new Map<string, Promise<unknown>>();
  #userInput;

  constructor(userInput: UserInput) {
    this.#userInput = userInput;
  }

  /** Settles when no input is being given for a run; undefined if none is. */
  of(id: string) {
    return this.#given.get(id);
  }

  /** Attaches the debugger for a step that has a place on the screen: its bar moves what is there. */
  async prepare(run: Run, step: number) {
    const { click, hover, drag } = stepsOf(run)[step] ?? {};
    if (click || hover || drag) await globalThis.tabhubTrustedInput?.ready(run.tabId).catch(() => {}); // the act says why
  }

  /**
   * Gives a tab the input of a step.
   * @returns why it has none, or not all of it
   */
  give(id: string, run: Run, step: number, input: TrustedAct): Promise<Answer["error"]> {
    const given = this.#give(run, stepsOf(run)[step]?.upload?.files ?? [], input);
    this.#given.set(id, given);
    void given.then(() => this.#given.get(id) === given && this.#given.delete(id));
    return given;
  }

  async #give({ tabId, frameId }: Run, files: Files, input: TrustedAct): Promise<Answer["error"]> {
    const trusted = globalThis.tabhubTrustedInput;
    if (!trusted) return { code: "NEEDS_TRUSTED_INPUT", reason: "this browser gives no input of its own", begun: false };
    let covered = "";
    let release = () => {};
    const place = async (point: { x: number; y: number }) => {
      const at = await inTab(tabId, frameId, point);
      if (typeof at !== "string") return at;
      covered = at;
      throw new Error(at);
    };
    try {
      await trusted.act(tabId, input, files, place, () => (release = this.#userInput.own(tabId)));
      return undefined;
    } catch (error) {
      const { message, begun } = error as Error & { begun: boolean };
      return { code: covered ? "STEP_REFUSED" : "STEP_STOPPED", reason: covered || message, begun };
    } finally {
      release();
    }
  }
}
