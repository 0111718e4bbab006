// A call that the owner makes here: the form, what is heard of it while it runs, and the result as
// a client gets it. The call goes on while another view is shown, such as the one where a question
// about it is answered.

import { powerShellLine, shellLine } from "./callline.js";
import { button, element, foreign, twice } from "./dom.js";
import { schemaForm } from "./schemaform.js";
import { events, left } from "./session.js";
import { resultView } from "./toolresult.js";

/** @import {Tool} from "./api.d.ts" */

/**
 * A call, under way or ended.
 * @typedef {object} Call
 * @property {Record<string, unknown>} args
 * @property {number} began as performance.now() has it
 * @property {AbortController} stop
 * @property {AbortSignal} session that it was made in
 * @property {number} [took] in ms; undefined while it is under way
 * @property {{progress: number, total?: number, message?: string, waiting?: boolean}} [progress] the last that was heard
 * @property {unknown} [result] a CallToolResult
 * @property {string} [error] why there is none
 */

/** @type {Map<string, Call>} the last call of a tool, by its name */
const calls = new Map();

/** How many calls are kept that have ended. */
const MAX_KEPT = 20;

/** @type {(() => void) | undefined} shows what is heard of the call whose form is shown */
let showCall;

const TICK = 250; // ms
setInterval(() => showCall?.(), TICK);

/** Forgets the form that is shown. */
export function closeTrial() {
  showCall = undefined;
}

/**
 * The form for a call of a tool, and what has come of the last one.
 * @param {Tool} tool
 */
export function trialOf(tool) {
  for (const [name, { session }] of calls) if (session.aborted) calls.delete(name);
  const form = schemaForm(tool.definition.inputSchema);
  const before = calls.get(tool.name);
  if (before) form.fill(before.args);
  const start = () => void begin(tool, form);
  const call = tool.class === "destructive" ? twice("Call", `Call ${tool.name}`, async () => start()) : button("Call", `Call ${tool.name}`, start);
  call.classList.add("main");
  const cancel = button("Cancel", `Cancel the call of ${tool.name}`, () => calls.get(tool.name)?.stop.abort());
  const state = element("p", "call-state");
  state.role = "status";
  const bar = document.createElement("progress");
  bar.ariaLabel = "Progress of the call";
  const outcome = element("div", "outcome");
  const whole = document.createElement("form");
  whole.noValidate = true; // each field says what is wrong with it
  whole.append(form.element, element("div", "row", call, cancel, copies(tool, form)), bar, state, outcome);
  whole.addEventListener("submit", (event) => {
    event.preventDefault();
    call.click();
  });

  /** @type {Call | undefined} whose outcome is shown */
  let ended;
  showCall = () => {
    const last = calls.get(tool.name);
    const running = last !== undefined && last.took === undefined;
    call.ariaDisabled = String(running);
    cancel.hidden = bar.hidden = !running;
    if (last && running) showProgress(last, bar, state);
    if (running) outcome.replaceChildren();
    if (!last || running || ended === last) return;
    ended = last;
    state.replaceChildren(`It took ${duration(last.took ?? 0)}.`);
    outcome.replaceChildren(...outcomeOf(last));
    outcome.scrollIntoView({ block: "nearest" });
  };
  showCall();
  return whole;
}

/**
 * @param {Tool} tool
 * @param {import("./schemaform.js").SchemaForm} form
 */
async function begin(tool, form) {
  const last = calls.get(tool.name);
  const args = form.value();
  if (!args || last && last.took === undefined) return;
  /** @type {Call} */
  const call = { args, began: performance.now(), stop: new AbortController(), session: left() };
  calls.delete(tool.name); // the newest is the last
  calls.set(tool.name, call);
  showCall?.();
  try {
    for await (const { progress, result, error } of events("api/call", { name: tool.name, arguments: args, pin: tool.pin }, call.stop.signal)) {
      if (progress) call.progress = progress;
      if (error) call.error = error;
      if (result) call.result = result;
    }
    if (call.result === undefined) call.error ??= "The hub ended before the answer came; the call may have taken effect.";
  } catch (err) {
    call.error = call.stop.signal.aborted ? "You stopped it. It may have taken effect." : `${err instanceof Error ? err.message : err}`;
  }
  call.took = performance.now() - call.began;
  for (const [name, { took }] of calls) if (calls.size > MAX_KEPT && took !== undefined) calls.delete(name);
  showCall?.();
}

/**
 * @param {Call} call
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
  const waits = document.createElement("a");
  waits.href = "#now"; // where it is answered, if it is a question of the hub
  waits.textContent = "It waits for a person.";
  /** @type {(Node | string)[]} */
  const words = [`At work for ${Math.floor((performance.now() - began) / 1000)} s. `];
  if (progress?.waiting) words.push(waits, " ");
  if (progress?.message) words.push(foreign(progress.message));
  const made = element("p", "", ...words);
  if (made.innerText !== state.innerText) state.replaceChildren(...words);
}

/** @param {number} ms */
const duration = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** @param {Call} call */
function outcomeOf({ result, error }) {
  if (error !== undefined) return [element("p", "bad", foreign(error))];
  const copy = button("Copy the result", "Copy the result as JSON", () => copied(JSON.stringify(result, null, 2)));
  return [resultView(result), element("div", "row", copy)];
}

/**
 * What can be copied of a call as it is filled in.
 * @param {Tool} tool
 * @param {import("./schemaform.js").SchemaForm} form
 */
function copies(tool, form) {
  /** @param {string} label @param {(args: Record<string, unknown>) => string} text */
  const copy = (label, text) =>
    button(label, label, async () => {
      const args = form.value();
      return args && copied(text(args));
    });
  return element(
    "span",
    "row copies",
    copy("Copy as JSON", (args) => JSON.stringify({ name: tool.name, arguments: args }, null, 2)),
    copy("Copy as command", (args) => shellLine(tool.name, args)),
    copy("Copy for PowerShell", (args) => powerShellLine(tool.name, args)),
  );
}

/** @param {string} text */
export async function copied(text) {
  await navigator.clipboard.writeText(text);
  return "Copied.";
}
