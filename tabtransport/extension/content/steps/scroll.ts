// Scrolling: what is in view of the page, or of a part of it that scrolls.

import { bodyOf, clientHeight, documentOf, isHTML, isVisible, outward, query, scrollBy, scrollHeight, scrollIntoView, scrollTop, scrollerOfPage, viewOf } from "./dom.ts";
import { deepestAt } from "./usable.ts";
import { foundOf, type Found } from "./find.ts";
import { drawn, inTime } from "./moment.ts";

/** How long a list may take to begin to add to its end, in ms. */
const ADDS = 1_500;
/** How much of what is seen stays in view when a key turns a page. */
const TURNS = 0.875;
const LINE = 40;

/** Brings an element into view. */
export async function scrollTo(found: Found): Promise<string> {
  scrollIntoView(found.element, { block: "center", inline: "nearest", behavior: "instant" });
  await drawn();
  return `scrolled to ${found.words}`;
}

/** Scrolls by so many times what is seen, and waits a while for what comes at the end of a list. */
export async function scrollPages(found: Found | undefined, pages: number, signal: AbortSignal): Promise<string> {
  const scroller = found ? (scrollerIn(found.element) ?? scrollerOf(found.element)) : scrollerOfAll();
  const what = isPage(scroller) ? "the page" : foundOf(scroller).words;
  const height = scrollHeight(scroller);
  const before = scrollTop(scroller);
  scrollBy(scroller, { top: pages * clientHeight(scroller), behavior: "instant" });
  await drawn();
  const added = pages > 0 && isAtEnd(scroller) ? await inTime(ADDS, signal, () => (scrollHeight(scroller) > height + 1 ? true : undefined)) : undefined;
  const moved = Math.abs(scrollTop(scroller) - before) > 1;
  const where = isAtEnd(scroller) ? "it is at its end" : scrollTop(scroller) < 1 ? "it is at its beginning" : `it is at ${Math.round((100 * (scrollTop(scroller) + clientHeight(scroller))) / scrollHeight(scroller))} %`;
  // Browsers draw nothing in a tab behind, and a list that waits to be seen adds nothing.
  const behind = pages > 0 && isAtEnd(scroller) && !added && document.visibilityState === "hidden" ? "; while its tab is behind, a page may add no more (browser_tab activate shows it)" : "";
  return `${moved ? "scrolled" : "could not scroll"} ${what} ${pages > 0 ? "down" : "up"}: ${where}${added ? ", and more has come below" : ""}${behind}`;
}

/** Scrolls as browsers do for a key. */
export function scrollByKey(element: Element, key: string) {
  const scroller = isHTML(element, "body", "html") ? scrollerOfAll() : scrollerOf(element);
  const page = clientHeight(scroller) * TURNS;
  const by = { ArrowUp: -LINE, ArrowDown: LINE, PageUp: -page, PageDown: page, " ": page, Home: -scrollHeight(scroller), End: scrollHeight(scroller) }[key];
  if (by) scrollBy(scroller, { top: by, behavior: "instant" });
}

function isPage(scroller: Element) {
  return scroller === scrollerOfPage(documentOf(scroller)) || isHTML(scroller, "html", "body");
}

function isAtEnd(scroller: Element) {
  return scrollTop(scroller) + clientHeight(scroller) >= scrollHeight(scroller) - 2;
}

function scrolls(element: Element): boolean {
  if (scrollHeight(element) <= clientHeight(element) + 1 || clientHeight(element) === 0) return false;
  return isPage(element) || /^(auto|scroll|overlay)$/.test(viewOf(element)?.getComputedStyle(element).overflowY ?? "");
}

/** What scrolls around an element: the page if nothing else does. */
function scrollerOf(element: Element): Element {
  return outward(element, scrolls) ?? pageOf(documentOf(element)) ?? element;
}

function pageOf(doc: Document): Element | null {
  return scrollerOfPage(doc) ?? bodyOf(doc);
}

/** The largest part of an element that scrolls. */
function scrollerIn(element: Element): Element | undefined {
  if (outward(element, scrolls) === element) return element;
  const size = (at: Element) => clientHeight(at);
  return [...query(element, "*")].filter((at) => scrolls(at) && isVisible(at)).sort((a, b) => size(b) - size(a))[0];
}

/** What scrolls if no element is named: the page, or what fills the window of one that does not scroll itself. */
function scrollerOfAll(): Element {
  const page = pageOf(document) ?? document.documentElement;
  if (scrolls(page)) return page;
  const middle = deepestAt(document, innerWidth / 2, innerHeight / 2);
  return (middle && outward(middle, scrolls)) ?? scrollerIn(page) ?? page;
}
