// What pictures of the page need of it: where an element is that a reference stands for, and the references drawn
// beside what can be acted on. They are drawn by the extension's own world: the page's scripts cannot look into
// them, and a click goes through them.

import { append, createElement, isVisible, labelsOf, outward, rects, rootElement, scrollIntoView, viewOf } from "./dom.ts";
import { Failure } from "./failure.ts";
import { drawn } from "./moment.ts";
import { elementOf, referenced } from "./refs.ts";
import { deepestAt } from "./usable.ts";

/** References that the worker forgets about are removed after this time, in ms. */
const LASTS = 10_000;
const MAX_NUMBERS = 400;
/** The size of a letter and of a label, in CSS pixels. */
const LETTER = 7;
const HEIGHT = 15;

/** Brings the element of a reference into view. @returns its box in the viewport, and whether that stays when the page is scrolled */
export async function show(ref: string): Promise<ShownElement | { stale: string; near: string[] }> {
  let element: Element;
  try {
    ({ element } = referenced({ ref }));
  } catch (error) {
    if (error instanceof Failure) return { stale: error.message, near: error.found };
    throw error;
  }
  scrollIntoView(element, { block: "center", inline: "nearest", behavior: "instant" });
  await drawn();
  const all = [...rects(element)];
  const left = Math.min(...all.map((rect) => rect.left));
  const top = Math.min(...all.map((rect) => rect.top));
  const stays = outward(element, (at) => /^(fixed|sticky)$/.test(viewOf(at)?.getComputedStyle(at).position ?? "")) !== null;
  return { left, top, width: Math.max(...all.map((rect) => rect.right)) - left, height: Math.max(...all.map((rect) => rect.bottom)) - top, stays };
}

/**
 * Draws references beside their elements, instead of those that were drawn before.
 * @param part the part of the viewport that is seen
 * @returns those that are seen
 */
export function number(refs: string[], part: Box = { left: 0, top: 0, width: innerWidth, height: innerHeight }): string[] {
  if (Object.hasOwn(globalThis, "tabhubNumbers")) globalThis.tabhubNumbers?.remove();
  const root = rootElement(document);
  if (!refs.length || !root) return [];
  const host = createElement(document, "div");
  host.setAttribute("aria-hidden", "true");
  host.inert = true;
  host.popover = "manual"; // above the dialogs of the page, which are above all else
  host.style.cssText =
    "all: initial !important; position: fixed !important; inset: 0 !important; z-index: 2147483647 !important; display: block !important; pointer-events: none !important;";
  const shadow = host.attachShadow({ mode: "closed" });
  const look = new CSSStyleSheet(); // a page's policy may forbid any other way
  look.replaceSync(`
    i, b { position: absolute; box-sizing: border-box; }
    i { border: 1px solid #c2185b; border-radius: 2px; }
    b { height: ${HEIGHT}px; padding: 0 3px; border-radius: 3px; background: #c2185b; color: #fff; box-shadow: 0 0 0 1px #fff; font: bold 11px/${HEIGHT}px monospace; white-space: nowrap; }
  `);
  shadow.adoptedStyleSheets = [look];
  const seen: string[] = [];
  const taken: Box[] = [];
  for (const ref of refs) {
    if (seen.length === MAX_NUMBERS) break;
    const element = elementOf(ref);
    const rect = element && isVisible(element) ? [...rects(element)].find(({ width, height }) => width > 0 && height > 0) : undefined;
    if (!element || !rect || !overlap(rect, part) || !isSeen(element, rect)) continue;
    const frame = createElement(document, "i");
    frame.style.cssText = `left: ${rect.left}px; top: ${rect.top}px; width: ${rect.width}px; height: ${rect.height}px`;
    const label = createElement(document, "b");
    const place = besides(rect, ref.length * LETTER + 6, taken);
    taken.push(place);
    label.textContent = ref;
    label.style.cssText = `left: ${place.left}px; top: ${place.top}px`;
    shadow.append(frame, label);
    seen.push(ref);
  }
  append(root, host);
  try {
    host.showPopover();
  } catch {
    // The page has removed it at once.
  }
  const remove = () => {
    clearTimeout(timer);
    host.remove();
    globalThis.tabhubNumbers = undefined;
  };
  const timer = setTimeout(remove, LASTS);
  globalThis.tabhubNumbers = { remove };
  return seen;
}

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Whether the middle of an element, or its upper left corner, is what a person sees there. */
function isSeen(element: Element, { left, top, width, height }: Box) {
  const parts = [element, ...labelsOf(element)];
  return [[left + width / 2, top + height / 2], [left + 2, top + 2]].some(([x, y]) => {
    const at = deepestAt(document, x, y);
    return at !== null && outward(at, (outer) => parts.includes(outer)) !== null;
  });
}

/** A place for a label beside an element, where no other one is. */
function besides({ left, top, width, height }: Box, length: number, taken: Box[]): Box {
  const within = (at: { left: number; top: number }): Box => ({
    left: Math.max(0, Math.min(at.left, innerWidth - length)),
    top: Math.max(0, Math.min(at.top, innerHeight - HEIGHT)),
    width: length,
    height: HEIGHT,
  });
  const places = [
    { left, top: top - HEIGHT },
    { left: left - length, top },
    { left: left + width, top },
    { left, top: top + height },
    { left: left + width - length, top: top - HEIGHT },
    { left, top },
  ].map(within);
  const own = { left, top, width, height };
  const free = places.filter((place) => !taken.some((other) => overlap(place, other)));
  return free.find((place) => !overlap(place, own)) ?? free[0] ?? places[0];
}

function overlap(a: Box, b: Box) {
  return a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;
}
