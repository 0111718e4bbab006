// Dragging: with the mouse, or as the browser does it for what is draggable, with one DataTransfer.

import { attribute, dispatch, documentOf, hasAttribute, isConnected, isDraggable, isHTML, localName, outward, rects, scrollIntoView, viewOf } from "./dom.ts";
import { down, HELD, moveTo, placed, pointer, up } from "./click.ts";
import { Failure } from "./failure.ts";
import { drawn } from "./moment.ts";
import { another, coverAt, deepestAt, middle, type Point, type View } from "./usable.ts";
import type { Found, Scope } from "./find.ts";

/** How many times the mouse is seen on its way. */
const MOVES = 8;
/** How far beyond its middle it ends, as a part of the element that something is dragged to. */
const BEYOND = 1 / 8;

export async function drag(found: Found, to: Found, scope: Scope, signal: AbortSignal): Promise<string> {
  const { element } = found;
  const from = middle(element);
  moveTo(element, from);
  down(element, from, 0, 1);
  let held: Held | undefined;
  try {
    await drawn(); // a page may make it draggable only now
    const source = draggable(element);
    held = source ? lifted(source, element, from) : undefined;
    if (!inView(to.element)) scrollIntoView(to.element, { block: "center", inline: "nearest", behavior: "instant" });
    for (let i = 1; i <= MOVES; i++) {
      signal.throwIfAborted();
      moved(found, to, scope);
      const at = between(from, end(from, to.element), i / MOVES);
      const under = deepestAt(documentOf(element), at.x, at.y);
      const isIn = under && outward(under, (outer) => outer === to.element);
      if (held) held.over(i === MOVES && !isIn ? to.element : (under ?? element), at);
      else moveTo(under ?? element, at, HELD);
      await drawn();
    }
    signal.throwIfAborted();
    moved(found, to, scope);
  } catch (error) {
    if (held) held.end(from, false);
    else if (isConnected(element)) pointer(element, from, "pointercancel", {});
    throw error;
  }
  const at = end(from, to.element);
  if (held) return dropped(found, to, held, at);
  const under = deepestAt(documentOf(element), at.x, at.y) ?? element;
  const over = coverAt(to.element, at);
  moveTo(under, at, HELD);
  up(under, at, 0, 1);
  // What is dragged is mostly under the mouse itself.
  const isOn = !over || outward(under, (outer) => outer === element) !== null;
  return `dragged ${found.words} to ${to.words}${isOn ? "" : `, which is ${over}`}`;
}

/** Ends a drag whose element, or whose end, has gone. Their texts may change while they are dragged. */
function moved(found: Found, to: Found, scope: Scope) {
  for (const at of [found, to]) {
    const problem = another(at, scope);
    if (problem.startsWith(`${at.words} has become`)) continue;
    if (problem) throw new Failure("STEP_REFUSED", `${problem} while it was dragged`);
  }
}

// ---- Where to

function inView(element: Element): boolean {
  const view = viewOf(element) as View;
  const { x, y } = middle(element);
  return x >= 0 && y >= 0 && x < view.innerWidth && y < view.innerHeight;
}

/** A little beyond the middle of an element, seen from a point: lists change places there. */
function end(from: Point, element: Element): Point {
  const { x, y } = middle(element);
  const [{ width, height }] = [...rects(element)];
  const isDown = Math.abs(y - from.y) >= Math.abs(x - from.x);
  return isDown ? { x, y: y + Math.sign(y - from.y) * height * BEYOND } : { x: x + Math.sign(x - from.x) * width * BEYOND, y };
}

function between(from: Point, to: Point, part: number): Point {
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}

// ---- What the browser drags

/** The element around one that browsers drag, if there is one. */
function draggable(element: Element): Element | undefined {
  return outward(element, (at) => isHTML(at, localName(at)) && isDraggable(at) && (attribute(at, "draggable") === "true" || isHTML(at, "img") || (isHTML(at, "a") && hasAttribute(at, "href")))) ?? undefined;
}

interface Held {
  /** It is over an element, and what it is over hears of it. */
  over(element: Element, at: Point): void;
  /** @returns whether what it is over takes it */
  end(at: Point, drop: boolean): boolean;
}

/** Begins to drag an element, if its page lets it be dragged. */
function lifted(source: Element, element: Element, from: Point): Held | undefined {
  const view = viewOf(source) as View;
  const data = new view.DataTransfer();
  const event = (on: Element, type: string, at: Point, more: DragEventInit = {}) =>
    dispatch(on, new view.DragEvent(type, { ...placed(view, at), buttons: HELD, dataTransfer: data, ...more }));
  if (!event(source, "dragstart", from)) return undefined;
  if (isConnected(element)) pointer(element, from, "pointercancel", {});
  let last: Element | undefined;
  let takes = false;
  return {
    over(on, at) {
      if (isConnected(source)) event(source, "drag", at);
      if (on !== last) {
        event(on, "dragenter", at, { relatedTarget: last });
        if (last && isConnected(last)) event(last, "dragleave", at, { relatedTarget: on });
        last = on;
      }
      takes = !event(on, "dragover", at);
    },
    end(at, drop) {
      if (last && isConnected(last)) {
        if (drop && takes) event(last, "drop", at, { buttons: 0 });
        else event(last, "dragleave", at, { buttons: 0 });
      }
      if (isConnected(source)) event(source, "dragend", at, { buttons: 0, cancelable: false });
      return takes;
    },
  };
}

function dropped(found: Found, to: Found, held: Held, at: Point): string {
  if (held.end(at, true)) return `dragged ${found.words} to ${to.words}`;
  throw new Failure("STEP_REFUSED", `${to.words} does not take what was dragged there`);
}
