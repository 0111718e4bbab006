// Whether a person could use an element just now: it is on a page that the run reaches, seen, enabled, and
// nothing is over it.

import { attribute, clean, documentOf, isConnected, isVisible, labelsOf, elementAt, matchesSelector, outward, rects, scrollIntoView, shadowOf, viewOf } from "./dom.ts";
import { Failure } from "./failure.ts";
import { itemsOf } from "./refs.ts";
import { isOfRun, one, roleOf, words, type Found, type Scope } from "./find.ts";

export type View = Window & typeof globalThis;

/** The element of a target, in a state in which a person could use it. */
export function usable(target: Target, scope: Scope, now: boolean): Found {
  const found = one(target, document, scope);
  const problem = unusable(found.element, scope);
  if (problem) throw new Failure("STEP_REFUSED", `${found.words} ${problem}`).later();
  if (!now) return found;
  const cover = coverOf(found.element);
  if (cover) throw new Failure("STEP_REFUSED", `${found.words} is ${cover}`).later();
  return { ...found, items: itemsOf(found.element) };
}

export function unusable(element: Element, scope: Scope): string {
  if (!scope.inMatch(location.href)) return `is by now on a page at ${clean(location.href, 200)}, ${scope.outside}`;
  if (!isConnected(element) || !isOfRun(element, scope)) return "is gone";
  if (!isVisible(element)) return "is not seen any more";
  const disabled = matchesSelector(element, ":disabled") || outward(element, (at) => matchesSelector(at, "button:disabled") || attribute(at, "aria-disabled") === "true");
  return disabled ? "is disabled" : "";
}

/** What has become of an element since it was found; "" if it is as it was. */
export function another({ element, words: was, items }: Found, scope: Scope) {
  const problem = unusable(element, scope);
  if (problem) return `${was} ${problem}`;
  const is = words(element);
  if (is !== was) return `${was} has become ${is}`;
  const inWhat = items === undefined ? items : itemsOf(element);
  return inWhat === items ? "" : `${was} in ${JSON.stringify(clean(items ?? ""))} has become one in ${JSON.stringify(clean(inWhat ?? ""))}`;
}

// ---- Where it is

export interface Point {
  x: number;
  y: number;
}

/** The middle of an element in its window: of its first line, if it is broken into several. */
export function middle(element: Element): Point {
  const rect = [...rects(element)].find(({ width, height }) => width > 0 && height > 0) ?? { left: -1, top: -1, width: 0, height: 0 };
  return { x: rect.left + rect.width / 2, y: rect.top + rect.height / 2 };
}

/** What is over the middle of an element, in words; "" if nothing is. */
export function coverOf(element: Element): string {
  const view = viewOf(element) as View;
  const { x, y } = middle(element);
  if (x < 0 || y < 0 || x >= view.innerWidth || y >= view.innerHeight || view !== window) scrollIntoView(element, { block: "center", inline: "center", behavior: "instant" });
  const at = middle(element);
  return coverAt(element, at);
}

/** What is over an element at a point of its window, in words; "" if nothing is. */
export function coverAt(element: Element, { x, y }: Point): string {
  const over = overAt(element, x, y);
  if (over === undefined) return "outside of what the page shows";
  if (!over) return "";
  const known = outward(over, (at) => roleOf(at) !== "" && !outward(element, (outer) => outer === at)) ?? over;
  return `covered by ${words(known)}`;
}

/** The innermost element at a point of a document's window, in shadow trees, too. */
export function deepestAt(tree: Node, x: number, y: number): Element | null {
  let hit = elementAt(tree, x, y);
  for (;;) {
    const shadow = hit && shadowOf(hit);
    const inner = shadow && elementAt(shadow, x, y);
    if (!inner || inner === hit) return hit;
    hit = inner;
  }
}

/** What else than an element is at a point of its window; null if it is there itself; undefined if nothing is. */
function overAt(element: Element, x: number, y: number): Element | null | undefined {
  const hit = deepestAt(documentOf(element), x, y);
  if (!hit) return undefined;
  const parts = [element, ...labelsOf(element)];
  if (!outward(hit, (at) => parts.includes(at))) return hit;
  const view = viewOf(element) as View;
  const frame = view === window ? null : view.frameElement;
  if (!frame) return null;
  const [rect] = rects(frame);
  return rect ? overAt(frame, rect.left + frame.clientLeft + x, rect.top + frame.clientTop + y) : undefined;
}
