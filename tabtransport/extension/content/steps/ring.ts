// The ring that shows where a step acts. The page's scripts cannot look into it, a click goes through it, and no
// picture that a client gets has it (worker/overlay.ts).

import { append, createElement, documentOf, rects, rootElement, viewOf } from "./dom.ts";
import type { View } from "./usable.ts";

/** How long it is seen, in ms. */
const LASTS = 1_000;
/** How far around the element it is, in CSS pixels. */
const AROUND = 5;

/** Draws rings around elements, instead of those that were drawn before. */
export function ring(elements: Element[]) {
  if (Object.hasOwn(globalThis, "tabhubRing")) globalThis.tabhubRing?.remove();
  const hosts = elements.slice(0, 20).flatMap((element) => drawn(element) ?? []);
  const remove = () => {
    clearTimeout(timer);
    for (const host of hosts) host.remove();
    globalThis.tabhubRing = undefined;
  };
  const timer = setTimeout(remove, LASTS);
  globalThis.tabhubRing = { remove };
}

function drawn(element: Element): HTMLElement | undefined {
  const doc = documentOf(element);
  const view = viewOf(element) as View | null;
  const root = rootElement(doc);
  const box = [...rects(element)].find(({ width, height }) => width > 0 && height > 0);
  if (!view || !root || !box) return undefined;
  const host = createElement(doc, "div") as HTMLElement;
  host.setAttribute("aria-hidden", "true");
  host.inert = true;
  host.popover = "manual"; // above the dialogs of the page, which are above all else
  host.style.cssText = `all: initial !important; position: fixed !important; z-index: 2147483647 !important; display: block !important; pointer-events: none !important;
    left: ${box.left - AROUND}px !important; top: ${box.top - AROUND}px !important; width: ${box.width + 2 * AROUND}px !important; height: ${box.height + 2 * AROUND}px !important;`;
  const shadow = host.attachShadow({ mode: "closed" });
  const look = new view.CSSStyleSheet(); // a page's policy may forbid any other way
  look.replaceSync(`
    div { position: absolute; inset: 0; border: 3px solid #1f5fbf; border-radius: 8px; box-shadow: 0 0 0 2px #ffffffd9, inset 0 0 0 1px #ffffffb3; opacity: 0; animation: shown ${LASTS}ms; }
    @keyframes shown { 0%, 70% { opacity: 1; } 100% { opacity: 0; } }
    @media (prefers-reduced-motion: no-preference) {
      div { animation: shown ${LASTS}ms, drawn 180ms ease-out; }
      @keyframes drawn { from { transform: scale(1.15); } }
    }
    @media print { div { display: none; } }
  `);
  shadow.adoptedStyleSheets = [look];
  shadow.append(createElement(doc, "div"));
  append(root, host);
  try {
    host.showPopover();
  } catch {
    // The page has removed it at once.
  }
  return host;
}
