// The mouse: the events of a click, and of being over an element.

import { attribute, clean, dispatch, focus, isConnected, isHTML, isVisible, localName, matchesSelector, outward, viewOf } from "./dom.ts";
import { check, followed } from "./destination.ts";
import { Failure, perhaps } from "./failure.ts";
import { turn } from "./moment.ts";
import { itemsOf } from "./refs.ts";
import { another, coverAt, middle, type Point, type View } from "./usable.ts";
import type { Found, Scope } from "./find.ts";

const ITEMS = /^(option|menuitem|menuitemradio|menuitemcheckbox)$/;
const LEFT = 0;
const RIGHT = 2;
/** What is held down, as the events have it. */
export const HELD = 1;
const HELD_RIGHT = 2;

/** Clicks once. */
export function click(found: Found, scope: Scope): string {
  return pressed(found, scope, 1) ?? `clicked ${found.words}`;
}

/** Clicks several times at one place, as for a double click. */
export async function clicks(found: Found, scope: Scope, count: number, signal: AbortSignal): Promise<string> {
  for (let detail = 1; detail <= count; detail++) {
    if (detail > 1) await turn(); // what a click has begun the page goes on with before the next
    signal.throwIfAborted();
    const hindered = detail > 1 ? hindrance(found, scope, middle(found.element)) : "";
    if (hindered) throw new Failure("STEP_REFUSED", `${hindered} after it was clicked ${detail - 1 === 1 ? "once" : `${detail - 1} times`}`);
    const otherwise = pressed(found, scope, detail);
    if (otherwise) return otherwise;
    if (detail === 2) mouse(found.element, middle(found.element), "dblclick", { detail });
  }
  return `${count === 2 ? "double-clicked" : `clicked ${count} times`} ${found.words}`;
}

/** Clicks with the right button, for the menu that a page has of its own. */
export function rightClick(found: Found, scope: Scope): string {
  const { element } = found;
  const at = middle(element);
  moveTo(element, at);
  const items = itemsOf(element);
  down(element, at, RIGHT, 1);
  up(element, at, RIGHT, 1);
  perhaps(() => {
    const hindered = hindrance(found, scope, at, items);
    if (hindered) throw new Failure("STEP_REFUSED", `${hindered} while it was pressed`);
  });
  mouse(element, at, "auxclick", { button: RIGHT, detail: 1 });
  const left = mouse(element, at, "contextmenu", { button: RIGHT });
  return `right-clicked ${found.words}${left ? "; the page has no menu of its own for that" : ""}`;
}

/** Moves the mouse over an element. */
export function hover(found: Found): string {
  moveTo(found.element, middle(found.element));
  return `moved the mouse over ${found.words}`;
}

/**
 * Presses and lets go, and clicks if the element is then what it was, and where it was.
 * @param detail which click of several it is
 * @returns in words what came instead of the click, if the element does what it does as soon as it is pressed
 */
function pressed(found: Found, scope: Scope, detail: number): string | undefined {
  const { element } = found;
  const at = middle(element);
  const items = itemsOf(element);
  const open = attribute(element, "aria-expanded");
  moveTo(element, at);
  if (down(element, at, LEFT, detail)) focusOn(element);
  up(element, at, LEFT, detail);
  const hindered = hindrance(found, scope, at, items);
  const is = isConnected(element) ? attribute(element, "aria-expanded") : open;
  if (hindered && is !== open) return `pressed ${found.words}, which ${is === "true" ? "opened" : "closed"} it`;
  // Lists and menus go as soon as something in them is pressed.
  if (hindered && ITEMS.test(found.role) && !(isConnected(element) && isVisible(element))) return `pressed ${found.words}, which then was gone`;
  perhaps(() => {
    if (hindered) throw new Failure("STEP_REFUSED", `${hindered} while it was pressed`);
    check(element, scope);
  });
  followed(element, mouse(element, at, "click", { detail }));
  return undefined;
}

/**
 * What has become of an element at which the mouse is; "" if it is as it was.
 * @param items what is around it, as lists use their rows again
 */
function hindrance(found: Found, scope: Scope, at: Point, items?: string): string {
  const problem = another(found, scope);
  if (problem) return problem;
  const is = items === undefined ? "" : itemsOf(found.element);
  if (items !== undefined && is !== items) return `${found.words} in ${JSON.stringify(clean(items))} has become one in ${JSON.stringify(clean(is))}`;
  const cover = coverAt(found.element, at);
  return cover ? `${found.words} was moved, or is ${cover}` : "";
}

// ---- Events

/** @returns whether the page has left to the browser what comes of it */
export function down(element: Element, at: Point, button: number, detail: number): boolean {
  const buttons = button === RIGHT ? HELD_RIGHT : HELD;
  withoutMouse = !pointer(element, at, "pointerdown", { button, buttons });
  return !withoutMouse && mouse(element, at, "mousedown", { button, buttons, detail });
}

export function up(under: Element, at: Point, button: number, detail: number) {
  const element = heir(under);
  pointer(element, at, "pointerup", { button });
  if (!withoutMouse) mouse(element, at, "mouseup", { button, detail });
  withoutMouse = false;
  if (!captor) return;
  if (isConnected(captor)) pointer(captor, at, "lostpointercapture", { cancelable: false });
  captor = undefined;
}

/** A page that takes what a pointer does gets no events of a mouse until it lets go. */
let withoutMouse = false;
/** What the mouse is over: it hears when that is elsewhere. */
let over: WeakRef<Element> | undefined;

/** What its page gives the events of the mouse to until that lets go. */
let captor: Element | undefined;

/** The page gives the events of the mouse to an element, or to none any more. */
export function capture(element: Element | undefined) {
  if (element) pointer(element, { x: 0, y: 0 }, "gotpointercapture", { cancelable: false });
  captor = element;
}

/** The element that gets the events of the mouse where another one is. */
function heir(element: Element) {
  return captor && isConnected(captor) ? captor : element;
}

/** Moves the mouse to a point of an element. @param buttons those that are held down */
export function moveTo(under: Element, at: Point, buttons = 0) {
  const element = heir(under);
  const last = over?.deref();
  const before = last && last !== element && isConnected(last) ? last : undefined;
  if (last !== element) {
    over = new WeakRef(element);
    const [left, entered] = [before ? outwards(before) : [], outwards(element)];
    const both = (type: string, on: Element, to: object) => {
      pointer(on, at, `pointer${type}`, { buttons, button: -1, ...to });
      if (!withoutMouse) mouse(on, at, `mouse${type}`, { buttons, ...to });
    };
    const silent = { bubbles: false, cancelable: false, composed: false };
    if (before) both("out", before, { relatedTarget: element });
    for (const on of left) if (!entered.includes(on)) both("leave", on, { ...silent, relatedTarget: element });
    both("over", element, { relatedTarget: before });
    for (const on of entered.reverse()) if (!left.includes(on)) both("enter", on, { ...silent, relatedTarget: before });
  }
  pointer(element, at, "pointermove", { buttons, button: -1 });
  if (!withoutMouse) mouse(element, at, "mousemove", { buttons });
}

function outwards(element: Element): Element[] {
  const all: Element[] = [];
  outward(element, (at) => all.push(at) < 0);
  return all;
}

export function pointer(element: Element, at: Point, type: string, more: PointerEventInit): boolean {
  const view = viewOf(element) as View;
  return dispatch(element, new view.PointerEvent(type, { ...placed(view, at), pointerId: 1, pointerType: "mouse", isPrimary: true, ...more }));
}

export function mouse(element: Element, at: Point, type: string, more: MouseEventInit): boolean {
  const view = viewOf(element) as View;
  return dispatch(element, new view.MouseEvent(type, { ...placed(view, at), ...more }));
}

/** What an event has that a page may take, at a point of its window. */
export function placed(view: View, { x, y }: Point): MouseEventInit {
  return { bubbles: true, cancelable: true, composed: true, view, clientX: x, clientY: y, screenX: view.screenX + x, screenY: view.screenY + y };
}

export function focusOn(element: Element) {
  const at = outward(element, (at) => matchesSelector(at, "a[href],button,input,select,textarea,[tabindex],[contenteditable]"));
  if (at && isHTML(at, localName(at))) focus(at, { preventScroll: true });
}
