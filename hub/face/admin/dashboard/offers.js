// What the lists of tabs and tools, and the ones that are open, have in common.

import { chip, copier, element, foreign } from "./dom.js";

/** @import {Tab} from "./api.d.ts" */

/**
 * A word about something, which is no state.
 * @param {string} look
 * @param {string} word
 */
export const mark = (look, word) => element("span", `mark ${look}`, word);

/** How a tab is named to the hub. @param {{addr: Tab["addr"]}} tab */
export const addressOf = ({ addr }) => `${addr.peer}/${addr.tab}`;

/** What the address says is open: one of these. */
export const OPEN = ["tool", "tab", "resource", "prompt"];

/**
 * The arguments with which one thing is open, and nothing else.
 * @param {string} kind one of OPEN, "" for nothing
 * @param {string} name
 * @returns {Record<string, string>}
 */
export const opens = (kind, name) => Object.fromEntries(OPEN.map((other) => [other, other === kind ? name : ""]));

/**
 * The address of this view with other arguments.
 * @param {URLSearchParams} args
 * @param {Record<string, string>} to "" for none
 */
export function linkTo(args, to) {
  const next = new URLSearchParams(args);
  for (const [name, value] of Object.entries(to)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return next.size ? `#tabs?${next}` : "#tabs";
}

/**
 * A link within this view, which the view follows without loading itself anew.
 * @param {URLSearchParams} args
 * @param {Record<string, string>} to
 * @param {...(Node | string)} words
 */
export function link(args, to, ...words) {
  const made = document.createElement("a");
  made.append(...words);
  made.dataset.focus = OPEN.some((name) => to[name]) ? "open-title" : "search";
  lead(made, args, to);
  return made;
}

/**
 * Has a link lead elsewhere within this view.
 * @param {HTMLAnchorElement} made
 * @param {URLSearchParams} args
 * @param {Record<string, string>} to
 */
export function lead(made, args, to) {
  made.href = linkTo(args, to);
  made.dataset.to = JSON.stringify(to);
}

/** @type {WeakMap<Element, string>} what the parts of an element were made of */
const madeOf = new WeakMap();

/**
 * Shows parts in an element, unless they are made of the same as those that it has. A link that
 * has the focus keeps it, if there is one that leads to the same.
 * @param {HTMLElement} into
 * @param {unknown} of
 * @param {() => Node[]} make
 */
export function showParts(into, of, make) {
  const text = JSON.stringify(of);
  if (madeOf.get(into) === text) return;
  madeOf.set(into, text);
  const focused = into.contains(document.activeElement) && /** @type {HTMLElement} */ (document.activeElement).dataset.to;
  into.replaceChildren(...make());
  if (focused) [...into.querySelectorAll("a")].find((a) => a.dataset.to === focused)?.focus();
}

/** The heading of what is open. @param {string | Node} words */
export function heading(words) {
  const made = element("h2", "", words);
  made.id = "open-title";
  made.tabIndex = -1;
  return made;
}

/**
 * What is shown instead of something that no tab has.
 * @param {string} words
 * @param {string} name
 */
export const gone = (words, name) => [heading(words), element("p", "", foreign(name, "code")), element("p", "soft", "Open the page that offers it again, or look for another.")];

/** @param {object} definition as clients get it */
export function definitionOf(definition) {
  const text = JSON.stringify(definition, null, 2);
  const shown = element("pre", "said", text);
  shown.tabIndex = 0; // it may scroll
  return element("details", "", element("summary", "", "The definition as clients get it"), shown, copier("Copy the definition", () => text));
}

/** The description without the hub's label, which changes with the tabs. @param {string} [description] */
export const withoutLabel = (description = "") => description.replace(/^\[[^\]]*\] /, "");

/** @param {Pick<Tab, "connected"> & Partial<Tab>} tab */
export function stateOf(tab) {
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

/** @param {{reason: string}} warning */
export const listedOtherwise = ({ reason }) => reason.startsWith(LISTED_OTHERWISE);
