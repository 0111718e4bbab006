// Lists of options: which of them are chosen, in those of browsers and in those that pages make themselves.

import {
  attribute, clean, inputValue, innerText, isConnected, isHTML, isMultiple, isSelected, isVisible, localName, matchesSelector, optionLabel, optionValue, outward, query, rootOf, scrollIntoView,
  selectOptions, setInputValue, setSelected,
} from "./dom.ts";
import { click } from "./click.ts";
import { check } from "./destination.ts";
import { Failure } from "./failure.ts";
import { changed, refused, type Edit } from "./fill.ts";
import { all, foundOf, roleOf, words, type Found, type Scope } from "./find.ts";
import { keyOf } from "./keys.ts";
import { drawn, inTime } from "./moment.ts";
import { press } from "./press.ts";
import { scrollPages } from "./scroll.ts";
import { another, coverOf, unusable } from "./usable.ts";

const OPTIONS = /^(option|menuitem|menuitemradio|menuitemcheckbox|treeitem)$/;
/** How long a list may take to open, and to have an option, in ms, */
const OPENS = 2_000;
/** and how long until it shows that one was chosen. */
const SHOWS = 500;
/** How many pages a list is scrolled to find an option. */
const PAGES = 30;

/** Whether an element has options of its page's own. */
export function isList({ element, role }: Found): boolean {
  if (isHTML(element, "input", "textarea")) return false;
  return /^(listbox|combobox)$/.test(role) || opens(element);
}

function opens(element: Element): boolean {
  return /^(true|menu|listbox|tree)$/.test(attribute(element, "aria-haspopup") ?? "");
}

/** Makes the edit that chooses options by their labels, and no others. */
export function selectEdit(found: Found, labels: string[], scope: Scope): Edit {
  const { element, role } = found;
  if (labels.length === 0 && !(isHTML(element, "select") && isMultiple(element))) throw new Failure("STEP_REFUSED", `${found.words} takes an option`);
  if (isHTML(element, "select")) return nativeEdit(found, labels);
  if (!isList(found) && role !== "combobox") throw new Failure("STEP_REFUSED", `${found.words} is no list of options; click it, and then what it shows`);
  if (role !== "listbox") check(element, scope);
  if (labels.length > 1 && role === "combobox" && isHTML(element, "input")) throw new Failure("STEP_REFUSED", `${found.words} takes one option at a time`);
  return (signal) => choose(found, labels, scope, signal);
}

function nativeEdit(found: Found, labels: string[]): Edit {
  const { element } = found;
  if (labels.length !== 1 && !isMultiple(element)) throw new Failure("STEP_REFUSED", `${found.words} takes one option`);
  const chosen = labels.map((label) => {
    const labelled = [...selectOptions(element)].filter((option) => optionLabel(option).trim() === label);
    // Labels are translated; values are not.
    const options = labelled.length ? labelled : [...selectOptions(element)].filter((option) => optionValue(option) === label);
    if (options.length === 0) throw new Failure("STEP_NOT_FOUND", `${found.words} has no option ${JSON.stringify(clean(label))}`, optionsOf(element)).later();
    if (options.length > 1) throw new Failure("STEP_AMBIGUOUS", `${found.words} has ${options.length} options ${JSON.stringify(clean(label))}`);
    if (matchesSelector(options[0], ":disabled")) throw new Failure("STEP_REFUSED", `${found.words} has option ${JSON.stringify(clean(label))}, which is disabled`).later();
    return options[0];
  });
  return () => {
    for (const option of selectOptions(element)) if (isSelected(option) !== chosen.includes(option)) setSelected(option, chosen.includes(option));
    changed(element);
    if (!chosen.every((option) => isSelected(option))) throw refused(found);
    return chosen.map((option) => JSON.stringify(clean(optionLabel(option)))).join(", ") || "none";
  };
}

function optionsOf(select: Element) {
  return [...selectOptions(select)].slice(0, 5).map((option) => `option ${JSON.stringify(clean(optionLabel(option)))}`);
}

// ---- Lists of a page's own

async function choose(found: Found, labels: string[], scope: Scope, signal: AbortSignal): Promise<string> {
  const { element, role } = found;
  const chosen: Element[] = [];
  for (const label of labels) {
    const list = role === "listbox" ? element : await opened(found, scope, signal);
    if (isHTML(element, "input") && inputValue(element) !== label) {
      setInputValue(element, label); // what it offers depends on it
      changed(element, label);
    }
    const option = await optionIn(found, list, label, scope, signal);
    chosen.push(option);
    if (attribute(option, "aria-selected") !== "true" || role !== "listbox") await clickOption(foundOf(option), scope);
    await drawn();
  }
  if (role === "listbox" && attribute(element, "aria-multiselectable") === "true") {
    for (const other of offered(element, scope)) if (attribute(other, "aria-selected") === "true" && !chosen.includes(other)) await clickOption(foundOf(other), scope);
  }
  const shows = () => labels.every((label) => isChosen(found, chosen, label)) || undefined;
  const known = await inTime(SHOWS, signal, shows);
  return labels.map((label) => JSON.stringify(clean(label))).join(", ") + (known ? "" : ", which the page does not show as chosen");
}

/** Opens the list of an element. @returns what its options are in; none is known if it says nothing of that */
async function opened(found: Found, scope: Scope, signal: AbortSignal): Promise<Element | undefined> {
  const { element } = found;
  const list = () => {
    for (const name of ["aria-controls", "aria-owns"]) {
      for (const id of (attribute(element, name) ?? "").split(/\s+/).filter(Boolean)) {
        for (const at of query(rootOf(element), `#${CSS.escape(id)}`)) if (isVisible(at) && offered(at, scope).length > 0) return at;
      }
    }
    return undefined;
  };
  const there = list();
  if (there || (attribute(element, "aria-expanded") === "true" && offered(undefined, scope).length > 0)) return there;
  const before = offered(undefined, scope);
  click(found, scope);
  const more = () => list() ?? (offered(undefined, scope).some((option) => !before.includes(option)) ? null : undefined);
  let open = await inTime(OPENS / 4, signal, more);
  if (open === undefined && !unusable(element, scope)) {
    press(found, keyOf("ArrowDown"), scope); // some open by that alone
    open = await inTime(OPENS, signal, more);
  }
  return open ?? undefined;
}

/** The options that are seen, in a list or anywhere. */
function offered(list: Element | undefined, scope: Scope): Element[] {
  const options = list ? [...query(list, "[role]")] : all({ selector: "[role]" }, document, scope);
  return options.filter((at) => OPTIONS.test(roleOf(at)) && isVisible(at));
}

/** The option with a label: a long list is scrolled until it has it. */
async function optionIn(found: Found, list: Element | undefined, label: string, scope: Scope, signal: AbortSignal): Promise<Element> {
  let seen: Element[] = [];
  const look = () => {
    seen = offered(list, scope).filter((option) => option !== found.element);
    const fitting = seen.filter((option) => foundOf(option).name === label || lineOf(option) === label);
    return fitting.length > 0 ? fitting : undefined;
  };
  let options = await inTime(OPENS / 4, signal, look);
  for (let page = 0; !options && page < PAGES && seen.length > 0; page++) {
    const said = await scrollPages(foundOf(outward(seen[0], (at) => /^(listbox|menu|tree)$/.test(roleOf(at))) ?? seen[0]), 1, signal);
    if (said.startsWith("could not")) break;
    options = await inTime(OPENS / 10, signal, look);
  }
  options ??= await inTime(OPENS / 2, signal, look);
  if (!options) {
    const names = seen.slice(0, 5).map((option) => words(option));
    throw new Failure("STEP_NOT_FOUND", seen.length > 0 ? `${found.words} has no option ${JSON.stringify(clean(label))}` : `${found.words} shows no options when it is clicked`, names);
  }
  if (options.length > 1) throw new Failure("STEP_AMBIGUOUS", `${found.words} has ${options.length} options ${JSON.stringify(clean(label))}`);
  return options[0];
}

function lineOf(option: Element) {
  return isHTML(option, localName(option)) ? innerText(option).replace(/\s+/g, " ").trim() : "";
}

async function clickOption(option: Found, scope: Scope) {
  const problem = unusable(option.element, scope);
  if (problem) throw new Failure("STEP_REFUSED", `${option.words} ${problem}`);
  scrollIntoView(option.element, { block: "nearest", behavior: "instant" });
  await drawn();
  const changedTo = another(option, scope);
  if (changedTo) throw new Failure("STEP_REFUSED", changedTo);
  const cover = coverOf(option.element);
  if (cover) throw new Failure("STEP_REFUSED", `${option.words} is ${cover}`);
  check(option.element, scope);
  click(option, scope);
}

/** Whether the page shows an option as chosen. */
function isChosen({ element, role }: Found, options: Element[], label: string): boolean {
  if (isHTML(element, "input") && inputValue(element).includes(label)) return true;
  if (role !== "listbox" && isConnected(element) && isHTML(element, localName(element)) && innerText(element).includes(label)) return true;
  return options.some((option) => isConnected(option) && ["aria-selected", "aria-checked"].some((name) => attribute(option, name) === "true") && (foundOf(option).name === label || lineOf(option) === label));
}
