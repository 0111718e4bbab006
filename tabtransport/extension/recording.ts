// What the popup says of a recording: that one can be made, what was written down, and what becomes of it.

import { ask } from "./common.ts";
import { make } from "./elements.ts";

const WHAT = "What you do on this page is written down as steps, and becomes the draft of a pack. Passwords, card numbers and codes never are.";

/** As many steps that act has a tool of a pack (hub/offer/pack). */
const MAX_ACTS = 16;

/** The name that the person has written, and what went wrong last. */
let written: string | undefined;
let problem = "";

/**
 * The parts of the section about recordings; none if there is nothing to say.
 * @param tabId of the tab that the popup is about
 * @param can whether its page can be recorded
 * @param changed called when something was done
 */
export function recordingParts(recording: RecordingView | undefined, tabId: number, can: boolean, changed: () => void): HTMLElement[] {
  const does = async (request: UIRequest) => {
    problem = (await ask(request)) || "";
    changed();
  };
  const button = (words: string, request: UIRequest, main = false) => {
    const made = make("button", main ? "main" : "", words);
    if (!("step" in request)) made.id = "does" in request ? request.does : request.ask; // by which it has the focus again
    made.addEventListener("click", ({ isTrusted }) => isTrusted && void does(request));
    return made;
  };
  const end = problem ? [make("p", "bad wide", problem)] : [];
  if (!recording) return can ? [make("div", "row", make("span", "soft wide", WHAT), button("Record what I do", { ask: "record", tabId })), ...end] : end;
  const { state, name, host, reason, draft } = recording;
  const pack = name ? [" as the pack ", make("code", "", name)] : [];
  switch (state) {
    case "asked": {
      const buttons = [button("Record", { ask: "record", tabId: recording.tabId }, true), button("No", { ask: "recorded", does: "discard" })];
      return [make("h2", "wide", "Record what you do?"), make("p", "wide", "“tabhub pack record” asks for it", ...pack, ". ", WHAT), make("div", "row buttons", ...buttons), ...end];
    }
    case "on": {
      const where = recording.tabId === tabId ? "Written down so far:" : `Written down so far, in another tab, at ${host}:`;
      return [make("div", "row", make("h2", "wide", "Recording"), button("Stop", { ask: "recorded", does: "stop" }, true)), make("p", "soft wide", where), ...writtenDown(recording), ...end];
    }
  }
  if (draft) {
    const buttons = [button("Done", { ask: "recorded", does: "discard" })];
    return [make("h2", "wide", "The draft waits for you"), make("p", "wide", "Look at ", make("code", "", draft), " in the dashboard, or with “tabhub pack show”. It does nothing before you accept it."), make("div", "row buttons", ...buttons), ...end];
  }
  const field = make("input", "");
  field.id = "pack";
  field.value = written ?? name;
  field.placeholder = "Name of the pack, such as shop-order";
  field.ariaLabel = "Name of the pack";
  field.pattern = "[a-z0-9][a-z0-9\\-]{0,31}";
  field.maxLength = 32;
  field.addEventListener("input", () => (written = field.value));
  const send = make("button", "main", "Send as draft");
  send.id = "send";
  send.addEventListener("click", () => {
    if (field.reportValidity()) void does({ ask: "recorded", does: "send", name: field.value });
  });
  const none = recording.steps.length === 0;
  const many = recording.steps.length - MAX_ACTS;
  send.disabled = none || many > 0;
  const parts = [make("h2", "wide", `Recorded at ${host}`), ...(reason ? [make("p", "soft wide", `It ended: ${reason}.`)] : []), ...writtenDown(recording, button), ...end];
  if (many > 0) parts.push(make("p", "bad wide", `A tool has at most ${MAX_ACTS} steps: leave out ${many} of these.`));
  if (!none) parts.push(field);
  return [...parts, make("div", "row buttons", send, button("Discard", { ask: "recorded", does: "discard" }))];
}

/**
 * What was written down.
 * @param button makes those that leave something out
 */
function writtenDown({ steps, secrets, missed }: RecordingView, button?: (words: string, request: UIRequest) => HTMLElement) {
  const item = (words: string, step: number, field?: number) => {
    const leave = button?.("Leave out", { ask: "recorded", does: "remove", step, field });
    leave?.setAttribute("aria-label", `Leave out: ${words}`);
    return make("li", "row", make("span", "wide", words), ...(leave ? [leave] : []));
  };
  const items = steps.flatMap((step, index) => {
    const fields = step.fill?.fields;
    return fields ? fields.map(({ target, value }, field) => item(`fill ${nameOf(target)} with ${valueWords(value)}`, index, field)) : [item(stepWords(step), index)];
  });
  const list = items.length ? make("ol", "", ...items) : make("p", "soft", "Nothing so far.");
  const parts: HTMLElement[] = [list];
  if (secrets.length) parts.push(make("p", "soft wide", `Not written down, as it may be secret: ${secrets.join(", ")}. A person has to fill that in at each call.`));
  if (missed.length) parts.push(make("p", "bad wide", `Not written down, as no step can find it again: ${missed.join(", ")}.`));
  return parts;
}

function stepWords({ click, press, open }: Step) {
  if (click) return `click ${nameOf(click.target)}`;
  if (press) return `press ${press.key} in ${nameOf(press.target as Target)}`;
  return `open ${open?.path ?? ""}${open?.query ? `?${new URLSearchParams(open.query as Record<string, string>)}` : ""}`;
}

function nameOf({ role, name, label, selector, nth, in: place }: Target): string {
  const what = role ? `${role}${name ? ` “${name}”` : ""}` : label ? `the field “${label}”` : `what the selector ${selector} finds`;
  return `${what}${nth ? `, number ${nth}` : ""}${place ? `, in ${nameOf(place)}` : ""}`;
}

function valueWords(value: unknown) {
  return typeof value === "boolean" ? (value ? "on" : "off") : `“${String(value)}”`;
}
