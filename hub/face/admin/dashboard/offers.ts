// What the lists of tabs and tools, and the ones that are open, have in common.

import { chip, copier, element, foreign } from "./dom.ts";

import type { Tab } from "./api.d.ts";

/** A word about something, which is no state. */
export const mark = (look: string, word: string) => element("span", `mark ${look}`, word);

/** How a tab is named to the hub. */
export const addressOf = ({ addr }: { addr: Tab["addr"] }) => `${addr.peer}/${addr.tab}`;

/** What the address says is open: one of these. */
export const OPEN = ["tool", "tab", "resource", "prompt"];

/**
 * The arguments with which one thing is open, and nothing else.
 * @param kind one of OPEN, "" for nothing
 */
export const opens = (kind: string, name: string): Record<string, string> => Object.fromEntries(OPEN.map((other) => [other, other === kind ? name : ""]));

/**
 * The address of this view with other arguments.
 * @param to "" for none
 */
export function linkTo(args: URLSearchParams, to: Record<string, string>) {
  const next = new URLSearchParams(args);
  for (const [name, value] of Object.entries(to)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return next.size ? `#tabs?${next}` : "#tabs";
}

/** A link within this view, which the view follows without loading itself anew. */
export function link(args: URLSearchParams, to: Record<string, string>, ...words: (Node | string)[]) {
  const made = document.createElement("a");
  made.append(...words);
  made.dataset.focus = OPEN.some((name) => to[name]) ? "open-title" : "search";
  lead(made, args, to);
  return made;
}

/** Has a link lead elsewhere within this view. */
export function lead(made: HTMLAnchorElement, args: URLSearchParams, to: Record<string, string>) {
  made.href = linkTo(args, to);
  made.dataset.to = JSON.stringify(to);
}

/** What the parts of an element were made of. */
const madeOf = new WeakMap<Element, string>();

/**
 * Shows parts in an element, unless they are made of the same as those that it has. A link that
 * has the focus keeps it, if there is one that leads to the same.
 */
export function showParts(into: HTMLElement, of: unknown, make: () => Node[]) {
  const text = JSON.stringify(of);
  if (madeOf.get(into) === text) return;
  madeOf.set(into, text);
  const focused = into.contains(document.activeElement) && (document.activeElement as HTMLElement).dataset.to;
  into.replaceChildren(...make());
  if (focused) [...into.querySelectorAll("a")].find((a) => a.dataset.to === focused)?.focus();
}

/** The heading of what is open. */
export function heading(words: string | Node) {
  const made = element("h2", "", words);
  made.id = "open-title";
  made.tabIndex = -1;
  return made;
}

/** What is shown instead of something that no tab has. */
export const gone = (words: string, name: string) => [heading(words), element("p", "", foreign(name, "code")), element("p", "soft", "Open the page that offers it again, or look for another.")];

/** @param definition as clients get it */
export function definitionOf(definition: object) {
  const text = JSON.stringify(definition, null, 2);
  const shown = element("pre", "said", text);
  shown.tabIndex = 0; // it may scroll
  return element("details", "", element("summary", "", "The definition as clients get it"), shown, copier("Copy the definition", () => text));
}

/** The description without the hub's label, which changes with the tabs. */
export const withoutLabel = (description = "") => description.replace(/^\[[^\]]*\] /, "");

export function stateOf(tab: Pick<Tab, "connected"> & Partial<Tab>) {
  if (!tab.connected) return chip("away");
  if (tab.waiting) return chip("waiting");
  if (tab.inUse) return chip("inUse");
  if (tab.dialog) return chip("dialog", tab.dialog.type === "unknown" ? "does not answer" : "has a dialog open");
  if (tab.discarded) return chip("asleep");
  if (tab.domains?.some(({ departed }) => departed)) return chip("changing");
  return chip(tab.focused ? "active" : "open");
}

/** How a warning begins of what is not left out, but listed to clients otherwise than its page has it. */
export const LISTED_OTHERWISE = "for clients, ";

export const listedOtherwise = ({ reason }: { reason: string }) => reason.startsWith(LISTED_OTHERWISE);
