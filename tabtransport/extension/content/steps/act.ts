// Acts on elements as a person would: with the events of a click, a key or an edit, on what is seen, enabled
// and not covered, and which leads nowhere that the run does not reach.

import {
  areaValue, attribute, blur, clean, controlOf, dispatch, documentOf, focus, formAction, formElements, formMethod, formOf, frameWindow, hasAttribute, hasFocus, href,
  inputType, inputValue, isChecked, isConnected, isHTML, isMultiple, isSelected, isVisible, labelsOf, localName, matchesSelector, nativeClick, optionLabel, optionValue,
  outward, query, rects, requestSubmit, scrollIntoView, selectOptions, setAreaValue, setInputValue, setSelected, shadowOf, textContent, viewOf,
} from "./dom.ts";
import { Failure } from "./failure.ts";
import { isOfRun, one, roleOf, words, type Found, type Scope } from "./find.ts";
import { secret } from "./secret.ts";
import { ABSENT, plain, valueOf } from "./values.ts";

/** Acts, in the task in which it was made, and says what it did. */
export type Act = () => string;

type View = Window & typeof globalThis;

/**
 * Makes the act of a step.
 * @param now it is about to be done: what is not in view is scrolled there, and must not be covered
 */
export function actOf(step: Step, scope: Scope, now: boolean): Act {
  if (step.click) {
    const found = usable(step.click.target, scope, now);
    check(found.element, scope);
    return () => click(found, scope);
  }
  if (step.press) {
    const { key, target } = step.press;
    const found = usable(target as Target, scope, now);
    if (key === "Enter") check(found.element, scope, true);
    const problem = key.length === 1 ? refusal(found) : "";
    if (problem) throw new Failure("STEP_REFUSED", `${found.words} ${problem}`);
    return () => press(found, key, scope);
  }
  const { fields } = step.fill as { fields: { target: Target; value: unknown }[] };
  const edits = fields.flatMap(({ target, value }): { found: Found; edit: Edit }[] => {
    const wanted = valueOf(value, scope);
    if (wanted === ABSENT || wanted === null) return [];
    const found = usable(target, scope, now);
    return [{ found, edit: editOf(found, wanted, scope) }];
  });
  return () => fill(edits, scope);
}

/** The element of a target, in a state in which a person could use it. */
function usable(target: Target, scope: Scope, now: boolean): Found {
  const found = one(target, document, scope);
  const problem = unusable(found.element, scope);
  if (problem) throw new Failure("STEP_REFUSED", `${found.words} ${problem}`).later();
  if (!now) return found;
  const cover = coverOf(found.element);
  if (cover) throw new Failure("STEP_REFUSED", `${found.words} is ${cover}`).later();
  return found;
}

function unusable(element: Element, scope: Scope): string {
  if (!scope.inMatch(location.href)) return `is by now on a page at ${clean(location.href, 200)}, ${scope.outside}`;
  if (!isConnected(element) || !isOfRun(element, scope)) return "is gone";
  if (!isVisible(element)) return "is not seen any more";
  const disabled = matchesSelector(element, ":disabled") || outward(element, (at) => matchesSelector(at, "button:disabled") || attribute(at, "aria-disabled") === "true");
  return disabled ? "is disabled" : "";
}

// ---- Where it is

/** The middle of an element in its window: of its first line, if it is broken into several. */
function middle(element: Element) {
  const rect = [...rects(element)].find(({ width, height }) => width > 0 && height > 0) ?? { left: -1, top: -1, width: 0, height: 0 };
  return { x: rect.left + rect.width / 2, y: rect.top + rect.height / 2 };
}

/** What is over the middle of an element, in words; "" if nothing is. */
function coverOf(element: Element): string {
  const view = viewOf(element) as View;
  const { x, y } = middle(element);
  if (x < 0 || y < 0 || x >= view.innerWidth || y >= view.innerHeight || view !== window) scrollIntoView(element, { block: "center", inline: "center", behavior: "instant" });
  const at = middle(element);
  const over = overAt(element, at.x, at.y);
  if (over === undefined) return "outside of what the page shows";
  if (!over) return "";
  const known = outward(over, (at) => roleOf(at) !== "" && !outward(element, (outer) => outer === at)) ?? over;
  return `covered by ${words(known)}`;
}

/** What else than an element is at a point of its window; null if it is there itself; undefined if nothing is. */
function overAt(element: Element, x: number, y: number): Element | null | undefined {
  let hit = documentOf(element).elementFromPoint(x, y);
  for (;;) {
    const inner: Element | null | undefined = hit && shadowOf(hit)?.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  if (!hit) return undefined;
  const parts = [element, ...labelsOf(element)];
  if (!outward(hit, (at) => parts.includes(at))) return hit;
  const view = viewOf(element) as View;
  const frame = view === window ? null : view.frameElement;
  if (!frame) return null;
  const [rect] = rects(frame);
  return rect ? overAt(frame, rect.left + frame.clientLeft + x, rect.top + frame.clientTop + y) : undefined;
}

// ---- Where it leads

/**
 * Refuses what leads elsewhere, before it is done.
 * @param submits it submits the form of the field
 */
function check(element: Element, scope: Scope, submits = false) {
  if (isHTML(element, "input") && inputType(element) === "file") throw new Failure("NEEDS_TRUSTED_INPUT", "browsers let only a person choose files");
  if (isHTML(element, "option", "select")) throw new Failure("STEP_REFUSED", "an option is chosen with fill, by its label");
  const link = linkAround(element);
  const to = link && (attribute(link, "href") ?? attribute(link, "xlink:href"));
  if (link && to !== null) leads(isHTML(link, "a") ? href(link) : absolute(to, link), attribute(link, "target"), scope, link);
  const label = outward(element, (at) => isHTML(at, "label"));
  const control = label && controlOf(label);
  if (control && !outward(element, (at) => at === control)) check(control, scope);
  const button = submits ? null : submitterOf(element);
  const form = submits ? formOf(element) : button && formOf(button);
  if (form) checkForm(form, submits ? defaultButton(form) : button, scope);
}

/** The link that a click on an element follows. */
export function linkAround(element: Element) {
  return outward(element, (at) => /^(a|area)$/.test(localName(at)) && (hasAttribute(at, "href") || hasAttribute(at, "xlink:href")));
}

/** An address that is a script, but for those that do nothing: then what listens for the click does it. */
const SCRIPT = /^javascript:(?!\s*(void\b\s*\(?\s*\d*\s*\)?)?\s*;*\s*(\/\/.*)?$)/i;
const FOR_A_PERSON = "a script as an address, which browsers run only for a person";

function checkForm(form: HTMLFormElement, button: Element | null | undefined, scope: Scope) {
  const own = (name: string) => (button && hasAttribute(button, `form${name}`) ? attribute(button, `form${name}`) : null);
  if ((own("method") ?? formMethod(form)).toLowerCase() === "dialog") return;
  const action = own("action");
  const to = action === null ? formAction(form) : absolute(action || location.href, form);
  if (SCRIPT.test(to)) throw new Failure("NEEDS_TRUSTED_INPUT", `${words(form)} has ${FOR_A_PERSON}`);
  leads(to, own("target") ?? attribute(form, "target"), scope, form);
}

/** An address as it is written in an element's page, or as it is if it makes no sense. */
export function absolute(to: string, element: Element) {
  const { baseURI } = documentOf(element);
  return URL.canParse(to, baseURI) ? new URL(to, baseURI).href : to;
}

function leads(to: string, target: string | null, scope: Scope, element: Element) {
  if (!URL.canParse(to)) throw new Failure("STEP_REFUSED", `${words(element)} leads to ${clean(to, 200)}, which is no address`);
  const { protocol, origin, pathname } = new URL(to);
  if (protocol === "javascript:") return;
  // A form's fields become the query: what comes of them is seen when the page goes there.
  if (!scope.inMatch(to) && !(isHTML(element, "form") && scope.inMatch(`${origin}${pathname}?`)) && !isHere(to)) {
    throw new Failure("STEP_REFUSED", `${words(element)} leads to ${clean(to, 200)}, ${scope.outside}`);
  }
  const name = (target || [...query(documentOf(element), "base[target]")].map((base) => attribute(base, "target"))[0] || "_self").toLowerCase();
  if (/^_(self|top|parent)$/.test(name)) return;
  const frame = [...query(documentOf(element), "iframe[name]")].find((frame) => attribute(frame, "name")?.toLowerCase() === name);
  if (!frame || !frameWindow(frame)) throw new Failure("NEEDS_TRUSTED_INPUT", `${words(element)} opens another tab, which browsers let only a person do`);
}

/** Whether an address is that of this page, but for its fragment. */
function isHere(to: string) {
  return to.split("#")[0] === location.href.split("#")[0];
}

/** The button that submits a form when the element is clicked. */
export function submitterOf(element: Element): Element | null {
  return outward(element, (at) => (isHTML(at, "input") && /^(submit|image)$/.test(inputType(at))) || (isHTML(at, "button") && !/^(button|reset)$/i.test(attribute(at, "type") ?? "")));
}

function defaultButton(form: HTMLFormElement): Element | undefined {
  const doc = documentOf(form);
  return [...query(doc, "button,input[type=submit i],input[type=image i]")].find((at) => submitterOf(at) === at && formOf(at) === form);
}

/** Looks once more in the middle of a step: if that ends it, something may have come of what was done already. */
function perhaps(look: () => void) {
  try {
    look();
  } catch (error) {
    if (error instanceof Failure) error.did = "perhaps";
    throw error;
  }
}

// ---- Click

function click(found: Found, scope: Scope): string {
  const { element } = found;
  sequence(element, () => {
    const problem = another(found, scope);
    if (!problem) check(element, scope);
    return problem;
  });
  return `clicked ${found.words}`;
}

/** What has become of an element since it was found; "" if it is as it was. */
function another({ element, words: was }: Found, scope: Scope) {
  const problem = unusable(element, scope);
  if (problem) return `${was} ${problem}`;
  const is = words(element);
  return is === was ? "" : `${was} has become ${is}`;
}

/**
 * The events of a click, at the middle of an element.
 * @param hindrance what has become of the element meanwhile, asked before the last event
 */
function sequence(element: Element, hindrance: () => string) {
  const view = viewOf(element) as View;
  const { x, y } = middle(element);
  const base = { bubbles: true, cancelable: true, composed: true, view, clientX: x, clientY: y, screenX: view.screenX + x, screenY: view.screenY + y };
  const pointer = (type: string, buttons: number) => dispatch(element, new view.PointerEvent(type, { ...base, buttons, pointerId: 1, pointerType: "mouse", isPrimary: true }));
  const mouse = (type: string, buttons: number) => dispatch(element, new view.MouseEvent(type, { ...base, buttons, detail: 1 }));
  pointer("pointerover", 0);
  mouse("mouseover", 0);
  pointer("pointermove", 0);
  mouse("mousemove", 0);
  if (pointer("pointerdown", 1) && mouse("mousedown", 1)) focusOn(element);
  pointer("pointerup", 0);
  mouse("mouseup", 0);
  perhaps(() => {
    const hindered = hindrance();
    if (hindered) throw new Failure("STEP_REFUSED", `${hindered} while it was pressed`);
  });
  followed(element, mouse("click", 0));
}

/**
 * Ends a step whose click did nothing.
 * @param left whether the page has left it to the browser what comes of the click
 */
function followed(element: Element, left: boolean) {
  const link = left ? linkAround(element) : null;
  if (!link || !SCRIPT.test(attribute(link, "href") ?? "")) return;
  throw Object.assign(new Failure("NEEDS_TRUSTED_INPUT", `${words(link)} has ${FOR_A_PERSON}`), { did: "perhaps" });
}

function focusOn(element: Element) {
  const at = outward(element, (at) => matchesSelector(at, "a[href],button,input,select,textarea,[tabindex],[contenteditable]"));
  if (at && isHTML(at, localName(at))) focus(at, { preventScroll: true });
}

// ---- Press

function press(found: Found, key: string, scope: Scope): string {
  const { element } = found;
  const view = viewOf(element) as View;
  focusOn(element);
  const code = key.length > 1 ? key : /\d/.test(key) ? `Digit${key}` : `Key${key.toUpperCase()}`;
  const keyCode = { Enter: 13, Escape: 27, Tab: 9, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 }[key] ?? key.toUpperCase().charCodeAt(0);
  const event = (type: string, charCode = 0) => dispatch(element, new view.KeyboardEvent(type, { bubbles: true, cancelable: true, composed: true, view, key, code, keyCode, which: keyCode, charCode } as KeyboardEventInit));
  const meant = event("keydown") && (key.length > 1 && key !== "Enter" ? true : event("keypress", keyCode));
  const pressed = `pressed ${key} in ${found.words}`;
  if (meant && isConnected(element)) byDefault(found, key, scope);
  if (isConnected(element)) event("keyup");
  return pressed;
}

/** What browsers do for a key that the page has left to them. */
function byDefault(found: Found, key: string, scope: Scope) {
  const { element } = found;
  const isLine = isHTML(element, "input") && /^(text|search|email|tel|url|number|password|date|time|month|week|datetime-local)$/.test(inputType(element));
  if (key === "Tab") return void (isHTML(element, localName(element)) && blur(element));
  if (key.length === 1) {
    if (!isLine && !isHTML(element, "textarea") && !hasAttribute(element, "contenteditable")) return;
    perhaps(() => {
      takes(found, scope);
      if (!hasFocus(element)) throw new Failure("STEP_REFUSED", `${found.words} has not got the focus`);
    });
    documentOf(element).execCommand("insertText", false, key); // into what has the focus
    return;
  }
  if (key !== "Enter") return;
  perhaps(() => check(element, scope, true)); // as its page may have it by now
  if (isHTML(element, "a") && hasAttribute(element, "href")) {
    const view = viewOf(element) as View;
    return followed(element, dispatch(element, new view.MouseEvent("click", { bubbles: true, cancelable: true, composed: true, view })));
  }
  if (isHTML(element, "button", "summary")) return nativeClick(element);
  const form = isLine ? formOf(element) : null;
  if (!form) return;
  const button = defaultButton(form);
  if (button) return matchesSelector(button, ":disabled") ? undefined : nativeClick(button);
  const lines = [...formElements(form)].filter((at) => isHTML(at, "input") && !/^(hidden|checkbox|radio|range|color|file|button|reset)$/.test(inputType(at)));
  if (lines.length === 1) requestSubmit(form);
}

// ---- Fill

/** Sets a field, and says to what. */
type Edit = () => string;

function fill(edits: { found: Found; edit: Edit }[], scope: Scope): string {
  const done: string[] = [];
  for (const { found, edit } of edits) {
    try {
      const problem = another(found, scope);
      if (problem) throw new Failure("STEP_REFUSED", problem);
      focusOn(found.element);
      perhaps(() => takes(found, scope));
      done.push(`${found.words} to ${edit()}`);
    } catch (error) {
      if (error instanceof Failure) {
        error.did = done.length > 0 || error.did === "perhaps" ? "perhaps" : "no";
        error.words = done.length > 0 ? `set ${done.length} of ${edits.length} fields: ${done.join(", ")}` : "";
      }
      throw error;
    }
  }
  return done.length > 0 ? `set ${done.join(", ")}` : "left all fields as they are";
}

/** Refuses to fill a field that its page has made another one as it got the focus, or a key. Its name may change then. */
function takes(found: Found, scope: Scope) {
  const problem = unusable(found.element, scope) || refusal(found);
  if (problem) throw new Failure("STEP_REFUSED", `${found.words} ${problem}`);
}

function refusal({ element, name }: Found): string {
  const kind = secret(element, name);
  if (kind) return `is ${kind}: no pack fills that`;
  const readonly = matchesSelector(element, "input:read-only,textarea:read-only") && isHTML(element, "textarea", "input") && hasAttribute(element, "readonly");
  return readonly || attribute(element, "aria-readonly") === "true" ? "is read-only" : "";
}

/** Makes the edit that gives a field a value. */
function editOf(found: Found, wanted: unknown, scope: Scope): Edit {
  const { element } = found;
  const problem = refusal(found);
  if (problem) throw new Failure("STEP_REFUSED", `${found.words} ${problem}`);
  const type = isHTML(element, "input") ? inputType(element) : "";
  if (type === "file") throw new Failure("NEEDS_TRUSTED_INPUT", `${found.words}: browsers let only a person choose files`);
  if (/^(button|submit|reset|image)$/.test(type)) throw new Failure("STEP_REFUSED", `${found.words} is no field`);
  if (/^(checkbox|radio|switch|menuitemcheckbox)$/.test(found.role)) return checkEdit(found, wanted, scope);
  if (isHTML(element, "select")) return selectEdit(found, wanted);
  const text = plain(wanted, found.words);
  if (isHTML(element, "input", "textarea")) return textEdit(found, text);
  if (hasAttribute(element, "contenteditable")) return richEdit(found, text);
  throw new Failure("STEP_REFUSED", `${found.words} is no field`);
}

function checkEdit(found: Found, wanted: unknown, scope: Scope): Edit {
  const { element } = found;
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
function refused(found: Found) {
  const failure = new Failure("NEEDS_TRUSTED_INPUT", `${found.words} did not take what it was set to; the page may take a person's input only`);
  failure.did = "perhaps";
  return failure;
}

function selectEdit(found: Found, wanted: unknown): Edit {
  const { element } = found;
  const labels = (Array.isArray(wanted) ? wanted : [wanted]).map((label) => plain(label, found.words).trim());
  if (labels.length !== 1 && !isMultiple(element)) throw new Failure("STEP_REFUSED", `${found.words} takes one option`);
  const chosen = labels.map((label) => {
    const labelled = [...selectOptions(element)].filter((option) => optionLabel(option).trim() === label);
    // Labels are translated; values are not.
    const options = labelled.length ? labelled : [...selectOptions(element)].filter((option) => optionValue(option) === label);
    if (options.length === 0) throw new Failure("STEP_NOT_FOUND", `${found.words} has no option ${JSON.stringify(clean(label))}`, optionsOf(element)).later();
    if (options.length > 1) throw new Failure("STEP_AMBIGUOUS", `${found.words} has ${options.length} options ${JSON.stringify(clean(label))}`);
    if (matchesSelector(options[0], ":disabled")) throw new Failure("STEP_REFUSED", `${found.words} has option ${JSON.stringify(clean(label))}, which is disabled`).later();
    return options[0];
  });
  return () => {
    for (const option of selectOptions(element)) if (isSelected(option) !== chosen.includes(option)) setSelected(option, chosen.includes(option));
    changed(element);
    if (!chosen.every((option) => isSelected(option))) throw refused(found);
    return chosen.map((option) => JSON.stringify(clean(optionLabel(option)))).join(", ");
  };
}

function optionsOf(select: Element) {
  return [...selectOptions(select)].slice(0, 5).map((option) => `option ${JSON.stringify(clean(optionLabel(option)))}`);
}

function textEdit(found: Found, text: string): Edit {
  const { element } = found;
  const isInput = isHTML(element, "input");
  const [get, set] = isInput ? [inputValue, setInputValue] : [areaValue, setAreaValue];
  const max = Number(attribute(element, "maxlength") ?? -1);
  if (max >= 0 && text.length > max) throw new Failure("STEP_REFUSED", `${found.words} takes ${max} characters, not ${text.length}`);
  const taken = isInput ? sanitized(inputType(element), text) : text.replace(/\r\n?/g, "\n");
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

/** What a field of a type makes of a text. */
function sanitized(type: string, text: string) {
  const input = document.createElement("input");
  input.type = type;
  input.value = text;
  return input.value;
}

function richEdit(found: Found, text: string): Edit {
  const { element } = found;
  const doc = documentOf(element);
  return () => {
    if (!hasFocus(element)) throw refused(found); // what edits goes where that is
    const before = textContent(element);
    const selection = doc.getSelection();
    selection?.selectAllChildren(element);
    doc.execCommand(text === "" ? "delete" : "insertText", false, text);
    if (text !== before && textContent(element) === before) throw refused(found);
    return JSON.stringify(clean(text));
  };
}

/** The events after an edit. */
function changed(element: Element, data?: string) {
  const view = viewOf(element) as View;
  const event = data === undefined ? new view.Event("input", { bubbles: true, composed: true }) : new view.InputEvent("input", { bubbles: true, composed: true, inputType: "insertReplacementText", data });
  dispatch(element, event);
  dispatch(element, new view.Event("change", { bubbles: true }));
}

