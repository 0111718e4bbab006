// The keyboard: the events of a key, and of those that are held with it.

import { bodyOf, dispatch, focused, isConnected, isHTML, viewOf } from "./dom.ts";
import { focusOn } from "./click.ts";
import { byDefault, edits } from "./defaults.ts";
import { check } from "./destination.ts";
import { Failure } from "./failure.ts";
import { refusal } from "./fill.ts";
import { foundOf, frameDocument, type Found, type Scope } from "./find.ts";
import { MODIFIERS, type Key } from "./keys.ts";
import { unusable, type View } from "./usable.ts";

/** What has the focus, which a key without a target goes to. */
export function focusedIn(scope: Scope, tree: Document = document): Found {
  const element = focused(tree) ?? bodyOf(tree);
  if (!element) throw new Failure("STEP_NOT_FOUND", "the page has nothing yet that a key could go to").later();
  if (isHTML(element, "iframe", "frame")) {
    const inner = isHTML(element, "iframe") && frameDocument(element, scope);
    if (inner) return focusedIn(scope, inner);
    throw new Failure("STEP_REFUSED", "a frame of another document has the focus; name an element in it to press a key there");
  }
  if (isHTML(element, "body", "html")) return { element, role: "", name: "", words: "the page" };
  return foundOf(element);
}

/** Refuses a key that no step may press there, and says what browsers do only for a person. */
export function checkKey(found: Found, key: Key, scope: Scope) {
  const { element } = found;
  if (CLIPBOARD.test(key.said)) {
    throw new Failure("NEEDS_TRUSTED_INPUT", `browsers let only a person use the clipboard by ${key.said}; read gives what a page shows, and fill puts text into a field`);
  }
  if (key.key === "F11") throw new Failure("NEEDS_TRUSTED_INPUT", "browsers let only a person switch to the whole screen");
  if (key.key === "Enter") check(element, scope, true);
  if (key.key === " " && key.text && isHTML(element, "button", "input", "summary") && !edits(element)) check(element, scope);
  const problem = changes(key) && (edits(element) || key.text.length > 0) ? refusal(found) : "";
  if (problem) throw new Failure("STEP_REFUSED", `${found.words} ${problem}`);
}

const CLIPBOARD = /^(((control|ctrl|meta|cmd|command)\+(shift\+)?[cvx])|((control|ctrl)\+insert|shift\+(insert|delete)))$/i;

/** Whether a key changes what is in a field. */
function changes({ text, key, held }: Key) {
  return text !== "" || /^(Backspace|Delete)$/.test(key) || (/^[zyZY]$/.test(key) && held.length > 0);
}

export function press(found: Found, key: Key, scope: Scope): string {
  const { element } = found;
  const view = viewOf(element) as View;
  if (found.words !== "the page") focusOn(element);
  const flags: { [flag: string]: boolean } = {};
  const event = (type: string, init: KeyboardEventInit) =>
    isConnected(element) && dispatch(element, new view.KeyboardEvent(type, { bubbles: true, cancelable: true, composed: true, view, ...flags, ...init }));
  const place = ({ code, keyCode }: { code: string; keyCode: number }) => ({ code, keyCode, which: keyCode });
  for (const name of key.held) {
    flags[MODIFIERS[name].flag] = true;
    event("keydown", { key: name, ...place(MODIFIERS[name]) });
  }
  const own = { key: key.key, ...place(key) };
  const char = key.key === "Enter" ? 13 : (key.text.codePointAt(0) ?? 0);
  const meant = event("keydown", own) && (char === 0 || event("keypress", { ...own, charCode: char, keyCode: char, which: char } as KeyboardEventInit));
  const after = meant && isConnected(element) ? byDefault(found, key, scope) : undefined;
  const let_go = event("keyup", own);
  if (let_go && after && !unusable(element, scope)) after();
  for (const name of [...key.held].reverse()) {
    flags[MODIFIERS[name].flag] = false;
    event("keyup", { key: name, ...place(MODIFIERS[name]) });
  }
  return `pressed ${key.said} ${found.words === "the page" ? "on" : "in"} ${found.words}`;
}
