// What browsers do for a key that the page has left to them.

import {
  attribute, blur, closeDialog, dispatch, documentOf, execCommand, focus, formElements, formOf, hasAttribute, hasFocus, hidePopover, inputType, isEditable, isHTML, isSelected, localName, matchesSelector,
  moveSelection, nativeClick, outward, query, requestSubmit, rootOf, selectText, selectionOf, selectOptions, setSelected, stepDown, stepUp, tabIndex, viewOf,
} from "./dom.ts";
import { check, defaultButton, followed } from "./destination.ts";
import { Failure, perhaps } from "./failure.ts";
import { changed, takes } from "./fill.ts";
import { all, type Found, type Scope } from "./find.ts";
import { scrollByKey } from "./scroll.ts";
import type { Key } from "./keys.ts";
import type { View } from "./usable.ts";

const LINES = /^(text|search|email|tel|url|number|password|date|time|month|week|datetime-local)$/;

/** Whether keys edit text in an element. */
export function edits(element: Element) {
  return isLine(element) || isHTML(element, "textarea") || (isHTML(element, localName(element)) && isEditable(element));
}

function isLine(element: Element) {
  return isHTML(element, "input") && LINES.test(inputType(element));
}

/** @returns what comes when the key is let go */
export function byDefault(found: Found, key: Key, scope: Scope): (() => void) | undefined {
  const { element } = found;
  if (key.key === "Tab") return void moveFocus(element, key.held.includes("Shift"), scope);
  if (key.key === "Escape") return void closeTopmost(element);
  if (key.key === "Enter") return void enter(found, key, scope);
  if (edits(element)) return void edit(found, key, scope);
  if (key.held.some((name) => name !== "Shift")) return undefined;
  if (key.text === " " && isPressable(element)) {
    return () => {
      perhaps(() => check(element, scope)); // as its page may have it by now
      nativeClick(element);
    };
  }
  if (!choose(element, key.key)) scrollByKey(element, key.key === " " && key.held.includes("Shift") ? "PageUp" : key.key);
  return undefined;
}

function isPressable(element: Element) {
  return isHTML(element, "button", "summary") || (isHTML(element, "input") && /^(button|submit|reset|image|checkbox|radio)$/.test(inputType(element)));
}

function enter(found: Found, key: Key, scope: Scope) {
  const { element } = found;
  if (isHTML(element, "textarea") || (isHTML(element, localName(element)) && isEditable(element))) {
    if (key.held.every((name) => name === "Shift")) edit(found, key, scope);
    return;
  }
  perhaps(() => check(element, scope, true)); // as its page may have it by now
  if (isHTML(element, "a") && hasAttribute(element, "href")) {
    const view = viewOf(element) as View;
    return followed(element, dispatch(element, new view.MouseEvent("click", { bubbles: true, cancelable: true, composed: true, view })));
  }
  if (isHTML(element, "button", "summary")) return nativeClick(element);
  const form = isLine(element) ? formOf(element) : null;
  if (!form) return;
  const button = defaultButton(form);
  if (button) return matchesSelector(button, ":disabled") ? undefined : nativeClick(button);
  const lines = [...formElements(form)].filter((at) => isHTML(at, "input") && !/^(hidden|checkbox|radio|range|color|file|button|reset)$/.test(inputType(at)));
  if (lines.length === 1) requestSubmit(form);
}

// ---- Text

/** What a key does to text: a command, and what beforeinput calls it. */
const COMMANDS: { [key: string]: [string, string] } = {
  Backspace: ["delete", "deleteContentBackward"], Delete: ["forwardDelete", "deleteContentForward"], Enter: ["insertParagraph", "insertParagraph"],
  "Shift+Enter": ["insertLineBreak", "insertLineBreak"], "Control+z": ["undo", "historyUndo"], "Control+y": ["redo", "historyRedo"], "Control+Shift+Z": ["redo", "historyRedo"],
  "Control+b": ["bold", "formatBold"], "Control+i": ["italic", "formatItalic"], "Control+u": ["underline", "formatUnderline"],
};
/** How a key moves the caret. */
const MOVES: { [key: string]: [string, string] } = {
  ArrowLeft: ["left", "character"], ArrowRight: ["right", "character"], ArrowUp: ["backward", "line"], ArrowDown: ["forward", "line"], Home: ["backward", "lineboundary"], End: ["forward", "lineboundary"],
  "Control+ArrowLeft": ["left", "word"], "Control+ArrowRight": ["right", "word"], "Control+Home": ["backward", "documentboundary"], "Control+End": ["forward", "documentboundary"],
};

function edit(found: Found, { key, text, held }: Key, scope: Scope) {
  const { element } = found;
  const isNumber = isHTML(element, "input") && inputType(element) === "number";
  if (isNumber && /^Arrow(Up|Down)$/.test(key)) return step(element, key === "ArrowUp");
  const others = held.filter((name) => name !== "Shift").map((name) => (name === "Meta" ? "Control" : name));
  const called = [...others, ...(held.includes("Shift") && !text ? ["Shift"] : []), key].join("+");
  if (called === "Control+a") {
    if (isHTML(element, "input", "textarea")) selectText(element);
    else execCommand(documentOf(element), "selectAll");
    return;
  }
  const move = MOVES[called.replace("Shift+", "")];
  const selection = selectionOf(documentOf(element));
  if (move && selection) return moveSelection(selection, held.includes("Shift") ? "extend" : "move", ...move);
  const [command, inputType_] = text ? ["insertText", "insertText"] : (COMMANDS[called] ?? []);
  if (!command) return;
  perhaps(() => {
    takes(found, scope);
    if (!hasFocus(element)) throw new Failure("STEP_REFUSED", `${found.words} has not got the focus`);
  });
  insert(element, command, inputType_, text || undefined);
}

/** Edits text where the caret is. What a page's own editor does with it comes first. */
export function insert(element: Element, command: string, type: string, text?: string) {
  const view = viewOf(element) as View;
  const selection = selectionOf(documentOf(element));
  const init = { bubbles: true, cancelable: true, composed: true, inputType: type, data: text ?? null };
  const targetRanges = selection && isEditable(element) && selection.rangeCount > 0 ? [new view.StaticRange(selection.getRangeAt(0))] : [];
  if (!dispatch(element, new view.InputEvent("beforeinput", { ...init, targetRanges }))) return;
  if (hasFocus(element)) execCommand(documentOf(element), command, false, text);
}

// ---- Choices

/** Moves what is chosen in a list, a group or a range. @returns whether it is one */
function choose(element: Element, key: string): boolean {
  const by = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[key];
  if (isHTML(element, "input") && inputType(element) === "range") {
    if (!by) return false;
    step(element, /^Arrow(Up|Right)$/.test(key));
    return true;
  }
  if (isHTML(element, "select")) {
    const options = [...selectOptions(element)].filter((option) => !matchesSelector(option, ":disabled"));
    const at = options.findIndex((option) => isSelected(option));
    const to = by ? options[Math.min(Math.max(at + by, 0), options.length - 1)] : key === "Home" ? options[0] : key === "End" ? options.at(-1) : undefined;
    if (!to || isSelected(to)) return by !== undefined;
    setSelected(to, true);
    changed(element);
    return true;
  }
  if (!by || !isHTML(element, "input") || inputType(element) !== "radio") return false;
  const name = attribute(element, "name");
  const group = name ? [...query(rootOf(element), `input[type=radio i][name="${CSS.escape(name)}"]:enabled`)].filter((at) => formOf(at) === formOf(element)) : [];
  const next = group.at((group.indexOf(element) + by) % group.length);
  if (next && next !== element) {
    focus(next, { preventScroll: true });
    nativeClick(next);
  }
  return true;
}

function step(element: Element, isUp: boolean) {
  (isUp ? stepUp : stepDown)(element);
  changed(element, "");
}

// ---- Focus

const FOCUSABLE = "a[href],area[href],button,input,select,textarea,summary,iframe,[tabindex],[contenteditable],audio[controls],video[controls]";

function moveFocus(element: Element, isBack: boolean, scope: Scope) {
  const modal = [...query(documentOf(element), "dialog:modal")].at(-1);
  const isIn = (at: Element) => !modal || outward(at, (outer) => outer === modal) !== null;
  const stops = all({ selector: FOCUSABLE }, document, scope)
    .filter((at) => isHTML(at, localName(at)) && tabIndex(at) >= 0 && isIn(at) && !matchesSelector(at, ":disabled,input[type=hidden i]") && !outward(at, (outer) => hasAttribute(outer, "inert")))
    .map((at, i) => ({ at, order: tabIndex(at) || Number.POSITIVE_INFINITY, i }))
    .sort((a, b) => (a.order === b.order ? a.i - b.i : a.order - b.order))
    .map(({ at }) => at);
  const here = stops.indexOf(element);
  const next = isBack ? stops.at(here < 0 ? -1 : here - 1) : stops[(here + 1) % stops.length];
  if (!next || (isBack && here === 0) || (!isBack && here === stops.length - 1)) {
    if (isHTML(element, localName(element))) blur(element);
    return;
  }
  focus(next);
  if (isLine(next)) selectText(next);
}

/** Closes what Escape closes: a popover, or else the topmost dialog that everything waits for. */
function closeTopmost(element: Element) {
  const doc = documentOf(element);
  const popover = [...query(doc, ':popover-open:is([popover=""],[popover=auto i])')].at(-1);
  if (popover) return hidePopover(popover);
  const dialog = [...query(doc, "dialog:modal")].at(-1);
  const view = viewOf(element) as View;
  if (dialog && dispatch(dialog, new view.Event("cancel", { cancelable: true }))) closeDialog(dialog);
}
