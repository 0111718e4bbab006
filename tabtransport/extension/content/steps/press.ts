// The keyboard: the events of a key, and what browsers do for one that the page leaves to them.

import { blur, dispatch, documentOf, formElements, formOf, hasAttribute, hasFocus, inputType, isConnected, isHTML, localName, matchesSelector, nativeClick, requestSubmit, viewOf } from "./dom.ts";
import { Failure, perhaps } from "./failure.ts";
import { focusOn } from "./click.ts";
import { takes } from "./fill.ts";
import { check, defaultButton, followed } from "./destination.ts";
import type { Found, Scope } from "./find.ts";
import type { View } from "./usable.ts";

export function press(found: Found, key: string, scope: Scope): string {
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
