// The parts that the pages are made of. What pages and clients say may be hostile: it becomes
// text, never HTML, and no link.

import { STATES, type State } from "../../../../tabtransport/extension/states.ts";
import { byID, make as element } from "../../../../tabtransport/extension/elements.ts";

import { duration } from "../../../../tabtransport/extension/words.ts";
import { tookOf } from "./steps.ts";

export { byID, element };

/** How many rows a table has at most. */
const ROWS = 200;

/** The hub's address, without a slash at its end. */
const address = document.body.dataset.base || new URL(".", location.href).href.replace(/\/$/, "");

/** Puts the hub's address where parts of the page want it. */
export function showAddress(within: HTMLElement) {
  for (const place of within.querySelectorAll(".base")) place.textContent = address;
  for (const to of within.querySelectorAll("a.demo") as NodeListOf<HTMLAnchorElement>) to.href = `${address}/demo`;
}

/** Fills an element with a template of the page. */
export function fill(into: string, template: string) {
  const place = byID(into);
  place.replaceChildren(document.importNode(byID(template, HTMLTemplateElement).content, true));
  showAddress(place);
}

/**
 * A state: its shape and its word say it, too, not colour alone.
 * @param word instead of the state's own
 */
export function chip(state: State, word?: string) {
  const [name, look] = STATES[state];
  return element("span", `chip ${look}`, word ?? name[0].toLowerCase() + name.slice(1));
}

/** What is wrong, as a chip. */
export const problem = (word: string) => element("span", "chip bad", word);

/** How a call has ended. */
export const outcomeChip = (outcome: string) => (outcome === "ok" ? chip("ok") : problem(outcome));

/** A row of a table. A cell whose parts say nothing has none. */
export const row = (...cells: (Node | string | Node[])[]) => element("tr", "", ...cells.map((c) => element("td", "", ...[c].flat().filter((part) => typeof part === "string" || part.textContent))));

/** A link to a part of a view. */
export function link(view: string, args: Record<string, string>, ...children: (Node | string)[]) {
  const made = document.createElement("a");
  made.href = `#${view}?${new URLSearchParams(args)}`;
  made.append(...children);
  return made;
}

/** @param text that a page or a client has chosen */
export const foreign = (text: string, className = "") => element("span", "foreign " + className, text);

export const number = (n: number) => element("span", "number", n.toLocaleString("en"));

/** @param day it is said, be it today */
export function when(time: string, day = false) {
  const at = new Date(time);
  if (day) return at.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
  const today = at.toDateString() === new Date().toDateString();
  return today ? at.toLocaleTimeString("en-GB") : at.toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

export const took = (nanoseconds: number) => duration(nanoseconds / 1e6);

/** How long a call took, and its owner for the answers. */
export function tookWords(call: { duration: number; asked?: number }) {
  const { took: itself, you } = tookOf(call);
  return took(itself) + (you ? ` · you took ${took(you)}` : "");
}

/** What something is, as a list of pairs. */
export const factsOf = (facts: [name: string, ...value: (Node | string)[]][]) => element("dl", "facts", ...facts.flatMap(([name, ...value]) => [element("dt", "", name), element("dd", "", ...value)]));

/** Shows pairs in a list, as many beside one another as there is room for. */
export function showPairs(id: string, pairs: [name: string, value: Node | string, look?: string][]) {
  byID(id).replaceChildren(...pairs.map(([name, value, look = ""]) => element("div", "", element("dt", "", name), element("dd", look, value))));
}

/**
 * Shows rows in a table's body or a list, or hides what is around them if there are none. A
 * control that has the focus keeps it, if there is one of the same name, or that leads to the same.
 */
export function list(body: HTMLElement, around: string, rows: HTMLElement[]) {
  const nameOf = (e: Element) => e.getAttribute("aria-label") ?? e.getAttribute("href");
  const focused = document.activeElement && body.contains(document.activeElement) && nameOf(document.activeElement);
  for (const made of rows) labelled(body, made);
  body.replaceChildren(...rows.slice(0, ROWS));
  if (focused) ([...body.querySelectorAll("[aria-label], [href]")] as HTMLElement[]).find((e) => nameOf(e) === focused)?.focus();
  const outer = body.closest(around) as HTMLElement;
  outer.hidden = rows.length === 0;
}

/**
 * A button that does something at once.
 * @param name says to a screen reader what it is about; begins with the label
 */
export function button(label: string, name: string, act: () => Promise<unknown> | void) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.ariaLabel = name;
  made.addEventListener("click", () => void tell(made, act));
  return made;
}

/**
 * A button that copies a text.
 * @param text undefined: there is none now
 * @param name says to a screen reader what it is about; begins with the label
 */
export function copier(label: string, text: () => string | undefined, name: string = label) {
  return button(label, name, async () => {
    const copied = text();
    if (copied === undefined) return;
    await navigator.clipboard.writeText(copied);
    return "Copied.";
  });
}

/**
 * Has the cells of a row know what their column is called, for screens where they stand below one
 * another.
 */
export function labelled(body: HTMLElement, row: HTMLElement) {
  const columns = body.closest("table")?.tHead?.rows[0].cells ?? [];
  [...columns].forEach((th, i) => row.children[i]?.setAttribute("data-column", th.textContent ?? ""));
}

/** How long a button that has to be pressed twice waits, in ms. */
const AGAIN = 5000;

/** Has the button that waits to be pressed again wait no more. */
let giveUp = () => {};
/** Settled when no button waits to be pressed again. */
let decided: Promise<void> = Promise.resolve();

/** Settled when no pointer is down: there is no click if what it is on is shown anew before it goes up. */
let released = Promise.resolve();
addEventListener("pointerdown", () => {
  released = new Promise((done) => {
    for (const type of ["pointerup", "pointercancel"]) addEventListener(type, () => setTimeout(done), { once: true });
  });
}, true);

/** Settled when nothing is in the way of showing anew what may hold a button that is pressed, or was once. */
export async function untilDecided() {
  // What is pressed while this waits may have to be pressed again.
  for (let was; was !== decided; await released) await (was = decided);
}

/** A button that leaves its view is pressed once. */
export const undecided = () => giveUp();

/** A button of the page's deciding part that has to be pressed twice. */
export function twice(label: string, name: string, act: () => Promise<unknown>) {
  const made = button(label, name, async () => {
    if (giveUp === back) {
      back();
      return act();
    }
    giveUp(); // one at a time
    giveUp = back;
    decided = new Promise((done) => (settle = done));
    made.textContent = `${label}?`;
    made.ariaLabel = `Really ${name[0].toLowerCase()}${name.slice(1)}? Press again`;
    timer = setTimeout(back, AGAIN);
    return "Press it again within five seconds to do it.";
  });
  let timer: ReturnType<typeof setTimeout>;
  let settle = () => {};
  const back = () => {
    if (giveUp !== back) return;
    giveUp = () => {};
    clearTimeout(timer);
    made.textContent = label;
    made.ariaLabel = name;
    settle();
  };
  made.className = "writes";
  return made;
}

/** The event of the window when the owner has done something: the stream does not report every change. */
export const ACTED = "acted";

/**
 * Does something, and says how it went, if that needs words: in the form of an element, if that
 * has a place for it, or as a toast.
 * @param act may return the words
 */
export async function tell(within: Element, act: () => Promise<unknown> | void) {
  const answer = within.closest("form")?.querySelector(".answer"); // the element may be gone afterwards
  let words, failed = false;
  try {
    words = await act();
  } catch (err) {
    failed = true;
    words = err instanceof Error && err.message ? `Not done: ${err.message}` : "Not done: the hub does not answer";
  }
  dispatchEvent(new Event(ACTED));
  const said = typeof words === "string" ? words : "";
  if (answer) answer.textContent = said;
  else if (said) toast(said, failed);
}

/** How long a toast stays, in ms. One of a failure stays until it is dismissed. */
const TOAST = 6000;

/** Says something beside the page, in a region that screen readers read out. */
function toast(words: string, failed = false) {
  const close = document.createElement("button");
  close.type = "button";
  close.textContent = "×";
  close.ariaLabel = "Dismiss";
  const made = element("div", failed ? "toast failed" : "toast", foreign(words), close);
  close.addEventListener("click", () => made.remove());
  if (!failed) setTimeout(() => made.remove(), TOAST);
  byID("toasts").append(made);
}
