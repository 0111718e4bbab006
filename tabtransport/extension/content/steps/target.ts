// What a step calls an element, so that a run finds exactly that one (find.ts): by its role and name, which say
// what a person sees; by its place among others; by a selector last.

import { around, attribute, firstChild, localName, nextSibling, nodeType, outward, parentNode } from "./dom.ts";
import { all, foundOf, roleOf, type Scope } from "./find.ts";
import { hasCardNumber } from "../../secretnames.ts";

/** How many characters of a name a step has. */
const MAX_NAME = 120;
/** How many bytes of a selector. */
const MAX_SELECTOR = 512;
/** What other elements are in. */
const PLACES = /^(dialog|alertdialog|form|search|region|group|navigation|main|complementary|banner|contentinfo|toolbar|tabpanel|menu|listbox|list|table|grid|radiogroup)$/;
/** What is named by all that is in it, which tends to be data: it goes by its place. */
const ITEMS = /^(listitem|row|rowheader|cell|gridcell|article|paragraph|status|alert|caption|term|definition)$/;
/** Attributes that stay as they are while a page changes. */
const STABLE = ["data-testid", "data-test", "id", "name"];

/** @returns undefined if no target finds the element, and it alone */
export function targetOf(element: Element, scope: Scope): Target | undefined {
  const { role, name } = foundOf(element);
  const isName = name !== "" && name.length <= MAX_NAME && !name.includes("${") && !hasCardNumber(name);
  const by: Target | undefined = isName && role && !ITEMS.test(role) ? { role, name } : undefined;
  const label: Target | undefined = isName && !role ? { label: name } : undefined;
  const attributed = attributedBy(element, scope);
  for (const target of [by, label]) {
    if (!target) continue;
    const alone = only(target, element, scope) ?? inside(target, element, scope) ?? nth(target, element, scope);
    if (alone) return alone;
  }
  if (attributed) return attributed;
  if (role) {
    const placed = inside({ role }, element, scope);
    if (placed) return placed;
  }
  const path: Target = { selector: pathOf(element) };
  if (new TextEncoder().encode(path.selector).length > MAX_SELECTOR) return undefined;
  return only(path, element, scope) ?? nth(path, element, scope);
}

/** Where an element is among those that a target finds. */
function place(target: Target, element: Element, scope: Scope) {
  try {
    const found = all(target, document, scope);
    return { at: found.indexOf(element), of: found.length };
  } catch {
    return { at: -1, of: 0 }; // what it is in is not found, or what it says has another meaning in a step
  }
}

function only(target: Target, element: Element, scope: Scope) {
  const { at, of } = place(target, element, scope);
  return at === 0 && of === 1 ? target : undefined;
}

function nth(target: Target, element: Element, scope: Scope): Target | undefined {
  const { at } = place(target, element, scope);
  return at < 0 ? undefined : { ...target, nth: at + 1 };
}

/** The target in the closest place that the page names or has once; items by their number in it. */
function inside(target: Target, element: Element, scope: Scope): Target | undefined {
  const outer = around(element);
  const found = outer && outward(outer, (at) => PLACES.test(roleOf(at)) && placeOf(at, scope) !== undefined);
  const within = found ? placeOf(found, scope) : undefined;
  if (!within) return undefined;
  return only({ ...target, in: within }, element, scope) ?? (target.name ? undefined : nth({ ...target, in: within }, element, scope));
}

function placeOf(element: Element, scope: Scope): Target | undefined {
  const { role, name } = foundOf(element);
  const named = name && name.length <= MAX_NAME && !hasCardNumber(name) ? only({ role, name }, element, scope) : undefined;
  return named ?? only({ role }, element, scope);
}

function attributedBy(element: Element, scope: Scope): Target | undefined {
  for (const name of STABLE) {
    const value = attribute(element, name);
    if (!value || !isStable(value)) continue;
    const target = only({ selector: `[${name}="${CSS.escape(value)}"]` }, element, scope);
    if (target) return target;
  }
  return undefined;
}

/** Whether an identifier is not one that was counted or drawn by lot. */
function isStable(value: string) {
  return value.length <= 64 && !/\d{2}|[:$]/.test(value);
}

/** The way to an element from the root of its tree, or from what has an id. */
function pathOf(element: Element): string {
  const parts: string[] = [];
  for (let at: Element | null = element; at; ) {
    const parent: Node | null = parentNode(at);
    const id = attribute(at, "id");
    if (at !== element && id && isStable(id)) {
      parts.unshift(`#${CSS.escape(id)}`);
      break;
    }
    let before = 0;
    let same = 0;
    for (let child = parent && firstChild(parent); child; child = nextSibling(child)) {
      if (nodeType(child) !== Node.ELEMENT_NODE || localName(child) !== localName(at)) continue;
      same++;
      if (child === at) before = same;
    }
    parts.unshift(CSS.escape(localName(at)) + (same > 1 ? `:nth-of-type(${before})` : ""));
    at = parent && nodeType(parent) === Node.ELEMENT_NODE ? (parent as Element) : null;
  }
  return parts.join(" > ");
}
