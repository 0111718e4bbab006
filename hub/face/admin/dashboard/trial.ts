// What the owner calls, reads or gets here: the form for it, what is heard while it is under way,
// and the result as a client gets it. It goes on while another view is shown, such as the one where
// a question about it is answered.

import { button, copier, element, foreign, twice } from "./dom.ts";
import { schemaForm, type SchemaForm } from "../../../../tabtransport/extension/schemaform.ts";
import { left } from "./session.ts";
import { resultView } from "../../../../tabtransport/extension/toolresult.ts";

import { duration } from "../../../../tabtransport/extension/words.ts";

type Progress = { progress: number; total?: number; message?: string; waiting?: boolean };
type Args = Record<string, unknown>;

/** What can be tried. */
export interface Offer {
  name: string; // as the hub knows it
  verb: string; // what the button says, such as "Call"
  schema: unknown; // of the arguments
  careful: boolean; // it takes two presses
  run: (args: Args, signal: AbortSignal, heard: (progress: Progress) => void) => Promise<unknown>;
  seen: (result: any) => unknown; // the result as that of a tool
  copies: Record<string, (args: Args) => string>; // what can be copied of the request
}

/** One that was tried. */
interface Trial {
  args: Args;
  began: number; // as performance.now() has it
  stop: AbortController;
  session: AbortSignal; // that it was begun in
  took?: number; // in ms; undefined while it is under way
  progress?: Progress; // the last that was heard
  result?: unknown;
  error?: string; // why there is none
}

/** The last of each offer. */
const trials = new Map<string, Trial>();

/** How many are kept that have ended. */
const MAX_KEPT = 20;

const keyOf = ({ verb, name }: Offer) => `${verb} ${name}`;

/** Shows how it goes with the offer that is open. */
let showState: (() => void) | undefined;

const TICK = 250; // ms
setInterval(() => showState?.(), TICK);

/** Nothing is open any more. */
export function closeTrial() {
  showState = undefined;
}

/** The form that tries an offer, and what has come of the last time. */
export function trialOf(offer: Offer) {
  const { name, verb } = offer;
  for (const [key, { session }] of trials) if (session.aborted) trials.delete(key);
  const form = schemaForm(offer.schema);
  const before = trials.get(keyOf(offer));
  if (before) form.fill(before.args);
  const start = () => void begin(offer, form);
  const go = offer.careful ? twice(verb, `${verb} ${name}`, async () => start()) : button(verb, `${verb} ${name}`, start);
  go.classList.add("main");
  const cancel = button("Cancel", `Cancel: ${verb} ${name}`, () => trials.get(keyOf(offer))?.stop.abort());
  const state = element("p", "trial-state");
  state.role = "status";
  const bar = document.createElement("progress");
  bar.ariaLabel = "Progress";
  const outcome = element("div", "outcome");
  const whole = document.createElement("form");
  whole.noValidate = true; // each field says what is wrong with it
  whole.append(form.element, element("div", "row", go, cancel, copies(offer, form)), bar, state, outcome);
  whole.addEventListener("submit", (event) => {
    event.preventDefault();
    go.click();
  });

  /** Whose outcome is shown. */
  let ended: Trial | undefined;
  showState = () => {
    const last = trials.get(keyOf(offer));
    const running = last !== undefined && last.took === undefined;
    go.ariaDisabled = String(running);
    cancel.hidden = bar.hidden = !running;
    if (running) {
      showProgress(last, bar, state);
      outcome.replaceChildren();
    }
    if (!last || running || ended === last) return;
    ended = last;
    state.replaceChildren(`It took ${duration(last.took ?? 0)}.`);
    outcome.replaceChildren(...outcomeOf(offer, last));
    outcome.scrollIntoView({ block: "nearest" });
  };
  showState();
  return whole;
}

async function begin(offer: Offer, form: SchemaForm) {
  const last = trials.get(keyOf(offer));
  const args = form.value();
  if (!args || (last && last.took === undefined)) return;
  const trial: Trial = { args, began: performance.now(), stop: new AbortController(), session: left() };
  trials.delete(keyOf(offer)); // the newest is the last
  trials.set(keyOf(offer), trial);
  showState?.();
  try {
    trial.result = await offer.run(args, trial.stop.signal, (progress) => (trial.progress = progress));
  } catch (err) {
    trial.error = trial.stop.signal.aborted ? "You stopped it. It may have taken effect." : `${err instanceof Error ? err.message : err}`;
  }
  trial.took = performance.now() - trial.began;
  for (const [key, { took }] of trials) if (trials.size > MAX_KEPT && took !== undefined) trials.delete(key);
  showState?.();
}

function showProgress({ began, progress }: Trial, bar: HTMLProgressElement, state: HTMLElement) {
  if (progress?.total) {
    bar.max = progress.total;
    bar.value = progress.progress;
  } else {
    bar.removeAttribute("value");
  }
  if (state.childElementCount === 0) {
    const waits = document.createElement("a");
    waits.href = "#now"; // where it is answered, if it is a question of the hub
    waits.textContent = "It waits for a person.";
    state.replaceChildren(element("span", ""), " ", waits, " ", foreign(""));
  }
  // The elements stay the same, so that the link can be pressed while the time goes by.
  const [time, waits, said] = [...state.children] as HTMLElement[];
  const words = `At work for ${Math.floor((performance.now() - began) / 1000)} s.`;
  if (time.textContent !== words) time.textContent = words;
  waits.hidden = !progress?.waiting;
  if (said.textContent !== (progress?.message ?? "")) said.textContent = progress?.message ?? "";
}

function outcomeOf({ seen }: Offer, { result, error }: Trial) {
  if (error !== undefined) return [element("p", "bad", foreign(error))];
  return [resultView(seen(result)), element("div", "row", copier("Copy the result", () => JSON.stringify(result, null, 2)))];
}

function copies(offer: Offer, form: SchemaForm) {
  const all = Object.entries(offer.copies).map(([label, text]) =>
    copier(label, () => {
      const args = form.value();
      return args && text(args);
    }),
  );
  return element("span", "row copies", ...all);
}
