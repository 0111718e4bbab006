// What the owner calls, reads or gets here: the form for it, what is heard while it is under way,
// and the result as a client gets it. It goes on while another view is shown, such as the one where
// a question about it is answered.

import { button, copier, element, foreign, twice } from "./dom.js";
import { schemaForm } from "./schemaform.js";
import { left } from "./session.js";
import { resultView } from "./toolresult.js";
import { duration } from "./words.js";

/** @typedef {{progress: number, total?: number, message?: string, waiting?: boolean}} Progress */
/** @typedef {Record<string, unknown>} Args */

/**
 * What can be tried.
 * @typedef {object} Offer
 * @property {string} name as the hub knows it
 * @property {string} verb what the button says, such as "Call"
 * @property {unknown} schema of the arguments
 * @property {boolean} careful it takes two presses
 * @property {(args: Args, signal: AbortSignal, heard: (progress: Progress) => void) => Promise<unknown>} run
 * @property {(result: any) => unknown} seen the result as that of a tool
 * @property {Record<string, (args: Args) => string>} copies what can be copied of the request
 */

/**
 * One that was tried.
 * @typedef {object} Trial
 * @property {Args} args
 * @property {number} began as performance.now() has it
 * @property {AbortController} stop
 * @property {AbortSignal} session that it was begun in
 * @property {number} [took] in ms; undefined while it is under way
 * @property {Progress} [progress] the last that was heard
 * @property {unknown} [result]
 * @property {string} [error] why there is none
 */

/** @type {Map<string, Trial>} the last of each offer */
const trials = new Map();

/** How many are kept that have ended. */
const MAX_KEPT = 20;

/** @param {Offer} offer */
const keyOf = ({ verb, name }) => `${verb} ${name}`;

/** @type {(() => void) | undefined} shows how it goes with the offer that is open */
let showState;

const TICK = 250; // ms
setInterval(() => showState?.(), TICK);

/** Nothing is open any more. */
export function closeTrial() {
  showState = undefined;
}

/**
 * The form that tries an offer, and what has come of the last time.
 * @param {Offer} offer
 */
export function trialOf(offer) {
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

  /** @type {Trial | undefined} whose outcome is shown */
  let ended;
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

/**
 * @param {Offer} offer
 * @param {import("./schemaform.js").SchemaForm} form
 */
async function begin(offer, form) {
  const last = trials.get(keyOf(offer));
  const args = form.value();
  if (!args || (last && last.took === undefined)) return;
  /** @type {Trial} */
  const trial = { args, began: performance.now(), stop: new AbortController(), session: left() };
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

/**
 * @param {Trial} trial
 * @param {HTMLProgressElement} bar
 * @param {HTMLElement} state
 */
function showProgress({ began, progress }, bar, state) {
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
  const [time, waits, said] = /** @type {HTMLElement[]} */ ([...state.children]);
  const words = `At work for ${Math.floor((performance.now() - began) / 1000)} s.`;
  if (time.textContent !== words) time.textContent = words;
  waits.hidden = !progress?.waiting;
  if (said.textContent !== (progress?.message ?? "")) said.textContent = progress?.message ?? "";
}

/**
 * @param {Offer} offer
 * @param {Trial} trial
 */
function outcomeOf({ seen }, { result, error }) {
  if (error !== undefined) return [element("p", "bad", foreign(error))];
  return [resultView(seen(result)), element("div", "row", copier("Copy the result", () => JSON.stringify(result, null, 2)))];
}

/**
 * @param {Offer} offer
 * @param {import("./schemaform.js").SchemaForm} form
 */
function copies(offer, form) {
  const all = Object.entries(offer.copies).map(([label, text]) =>
    copier(label, () => {
      const args = form.value();
      return args && text(args);
    }),
  );
  return element("span", "row copies", ...all);
}
