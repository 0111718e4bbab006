// The mouse: the events of a click.

import { dispatch, focus, isHTML, localName, matchesSelector, outward, viewOf } from "./dom.ts";
import { Failure, perhaps } from "./failure.ts";
import { check, followed } from "./destination.ts";
import { another, middle, type View } from "./usable.ts";
import type { Found, Scope } from "./find.ts";

export function click(found: Found, scope: Scope): string {
  const { element } = found;
  sequence(element, () => {
    const problem = another(found, scope);
    if (!problem) check(element, scope);
    return problem;
  });
  return `clicked ${found.words}`;
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

export function focusOn(element: Element) {
  const at = outward(element, (at) => matchesSelector(at, "a[href],button,input,select,textarea,[tabindex],[contenteditable]"));
  if (at && isHTML(at, localName(at))) focus(at, { preventScroll: true });
}
