// Fields: what they are set to, and the events of that.

import {
  areaValue, attribute, clean, dispatch, hasAttribute, inputType, inputValue, isChecked, isEditable, isHTML, matchesSelector, setAreaValue, setInputValue, viewOf,
} from "./dom.ts";
import { click, focusOn } from "./click.ts";
import { Failure, perhaps } from "./failure.ts";
import { check } from "./destination.ts";
import { secret } from "./secret.ts";
import { isList, selectEdit } from "./select.ts";
import { richEdit, sliderEdit } from "./widgets.ts";
import { another, unusable, type View } from "./usable.ts";
import { plain } from "./values.ts";
import type { Found, Scope } from "./find.ts";

/** Sets a field, and says to what: as a promise, if that takes longer than a task. */
export type Edit = (signal: AbortSignal) => string | Promise<string>;

export interface Edited {
  found: Found;
  edit: Edit;
}

export function fill(edits: Edited[], scope: Scope, signal: AbortSignal): string | Promise<string> {
  const done: string[] = [];
  const failed = (error: unknown) => {
    if (error instanceof Failure) {
      error.did = done.length > 0 || error.did === "perhaps" ? "perhaps" : "no";
      error.words = done.length > 0 ? `set ${done.length} of ${edits.length} fields: ${done.join(", ")}` : "";
    }
    return error;
  };
  const from = (at: number): string | Promise<string> => {
    for (let i = at; i < edits.length; i++) {
      const { found, edit } = edits[i];
      const set = (value: string) => void done.push(`${found.words} to ${value}`);
      try {
        signal.throwIfAborted();
        const problem = another(found, scope);
        if (problem) throw new Failure("STEP_REFUSED", problem);
        focusOn(found.element);
        perhaps(() => takes(found, scope));
        const value = edit(signal);
        if (typeof value !== "string") return value.then(set, (error) => Promise.reject(failed(error))).then(() => from(i + 1));
        set(value);
      } catch (error) {
        throw failed(error);
      }
    }
    return done.length > 0 ? `set ${done.join(", ")}` : "left all fields as they are";
  };
  return from(0);
}

/** Refuses to fill a field that its page has made another one as it got the focus, or a key. Its name may change then. */
export function takes(found: Found, scope: Scope) {
  const problem = unusable(found.element, scope) || refusal(found);
  if (problem) throw new Failure("STEP_REFUSED", `${found.words} ${problem}`);
}

export function refusal({ element, name }: Found): string {
  const kind = secret(element, name);
  if (kind) return `is ${kind}: only a person fills that in`;
  const readonly = matchesSelector(element, "input:read-only,textarea:read-only") && isHTML(element, "textarea", "input") && hasAttribute(element, "readonly");
  return readonly || attribute(element, "aria-readonly") === "true" ? "is read-only" : "";
}

/** Makes the edit that gives a field a value. */
export function editOf(found: Found, wanted: unknown, scope: Scope): Edit {
  const { element } = found;
  const problem = refusal(found);
  if (problem) throw new Failure("STEP_REFUSED", `${found.words} ${problem}`);
  const type = isHTML(element, "input") ? inputType(element) : "";
  if (type === "file") throw new Failure("NEEDS_TRUSTED_INPUT", `${found.words}: browsers let only a person choose files`);
  if (/^(button|submit|reset|image)$/.test(type)) throw new Failure("STEP_REFUSED", `${found.words} is no field`);
  if (/^(checkbox|radio|switch|menuitemcheckbox)$/.test(found.role)) return checkEdit(found, wanted, scope);
  if (isHTML(element, "select") || isList(found)) return selectEdit(found, (Array.isArray(wanted) ? wanted : [wanted]).map((label) => plain(label, found.words).trim()), scope);
  const text = plain(wanted, found.words);
  if (isHTML(element, "input", "textarea")) return textEdit(found, text);
  if (found.role === "slider" || (found.role === "spinbutton" && !isEditable(element))) return sliderEdit(found, text, scope);
  if (hasAttribute(element, "contenteditable")) return richEdit(found, text, scope);
  throw new Failure("STEP_REFUSED", `${found.words} is no field`);
}

function checkEdit(found: Found, value: unknown, scope: Scope): Edit {
  const { element } = found;
  // Clients give texts.
  const wanted = scope.literal && /^(true|false)$/.test(String(value)) ? String(value) === "true" : value;
  if (typeof wanted !== "boolean") throw new Failure("STEP_REFUSED", `${found.words} takes true or false`);
  const isOn = () => (isHTML(element, "input") ? isChecked(element) : attribute(element, "aria-checked") === "true");
  if (!wanted && found.role === "radio") throw new Failure("STEP_REFUSED", `${found.words} cannot be set to false; set another one of its group to true`);
  check(element, scope);
  return () => {
    if (isOn() !== wanted) click(found, scope);
    // What is drawn by the page itself may say so later.
    if (isHTML(element, "input") && isOn() !== wanted) throw refused(found);
    return String(wanted);
  };
}

/** The page has put back what it had. */
export function refused(found: Found) {
  const failure = new Failure("NEEDS_TRUSTED_INPUT", `${found.words} did not take what it was set to; the page may take a person's input only`);
  failure.did = "perhaps";
  return failure;
}

function textEdit(found: Found, text: string): Edit {
  const { element } = found;
  const isInput = isHTML(element, "input");
  const [get, set] = isInput ? [inputValue, setInputValue] : [areaValue, setAreaValue];
  const max = Number(attribute(element, "maxlength") ?? -1);
  if (max >= 0 && text.length > max) throw new Failure("STEP_REFUSED", `${found.words} takes ${max} characters, not ${text.length}`);
  const taken = isInput ? sanitized(element, text) : text.replace(/\r\n?/g, "\n");
  if (isInput && inputType(element) === "range" && Number(taken) !== Number(text)) throw new Failure("STEP_REFUSED", `${found.words} takes ${rangeOf(element)}, not ${JSON.stringify(clean(text))}`);
  if (taken === "" && text !== "") throw new Failure("STEP_REFUSED", `${found.words} takes ${FORMS[inputType(element)] ?? "something else"}, not ${JSON.stringify(clean(text))}`);
  return () => {
    const before = get(element);
    set(element, text);
    changed(element, text);
    const now = get(element);
    if (now !== taken && now === before) throw refused(found);
    return JSON.stringify(clean(text)) + (now === taken ? "" : `, which the page made ${JSON.stringify(clean(now))}`);
  };
}

const FORMS: { [type: string]: string } = {
  number: "a number such as 1.5", range: "a number such as 1.5", date: "a date such as 2027-01-31", time: "a time such as 14:30", month: "a month such as 2027-01",
  week: "a week such as 2027-W05", "datetime-local": "a date and time such as 2027-01-31T14:30", color: "a colour such as #ff0000",
};

/** What a field makes of a text. */
function sanitized(element: Element, text: string) {
  const input = document.createElement("input");
  input.type = inputType(element);
  for (const bound of input.type === "range" ? [...BOUNDS, "value"] : []) input.setAttribute(bound, attribute(element, bound) ?? "");
  input.value = text;
  return input.value;
}

const BOUNDS = ["min", "max", "step"];

/** What a slider takes, in words. */
function rangeOf(element: Element) {
  const [min, max, step] = BOUNDS.map((bound) => attribute(element, bound) || NaN).map(Number);
  return `a number from ${min || 0} to ${isNaN(max) ? 100 : max}${step && step !== 1 ? `, in steps of ${step}` : ""}`;
}

/** The events after an edit. */
export function changed(element: Element, data?: string) {
  const view = viewOf(element) as View;
  const event = data === undefined ? new view.Event("input", { bubbles: true, composed: true }) : new view.InputEvent("input", { bubbles: true, composed: true, inputType: "insertReplacementText", data });
  dispatch(element, event);
  dispatch(element, new view.Event("change", { bubbles: true }));
}
