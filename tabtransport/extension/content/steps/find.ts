// Finds elements as people name them: by role and accessible name, by label, or by selector. A target is
// exactly one element, or the run ends. What the elements are called is said by one function, words.

import {
  around, assignedNodes, attribute, clean, closest, documentOf, firstChild, frameWindow, hasAttribute, innerText, inputType, inputValue, isEditable, isHTML, isRendered, isVisible, knowingLabels,
  labelsOf, localName, nextSibling, nodeType, outward, query, rootOf, shadowOf, textContent, UNSEEN, viewOf,
} from "./dom.ts";
import { Failure } from "./failure.ts";
import { IMPLICIT, ROLES } from "../../roles.ts";
import { referenced } from "./refs.ts";
import { tells, watchPasswords } from "./secret.ts";
import { textOf, type Given } from "./values.ts";

/** Where steps may reach. */
export interface Scope extends Given {
  inMatch(address: string): boolean;
  /** Says of an address that steps do not reach it. */
  outside: string;
}

/** An element, as people name it. */
export interface Found {
  element: Element;
  role: string;
  name: string;
  words: string;
  /** What is around it, if it is to be acted on: lists use their elements for other items. */
  items?: string;
}

// ---- Roles

/** Those of which roleOf asks for more than their name. */
const ASKED = ["a", "area", "input", "select", "textarea", "img", "td", "th", "header", "footer", "section", "form", "[contenteditable]"];
const BY_NAME = new Map(
  Object.entries(IMPLICIT).flatMap(([role, names]) => names.split(",").filter((name) => !ASKED.includes(name)).map((name) => [name, role] as const)),
);
const BY_TYPE: { [type: string]: string } = {
  button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio", range: "slider",
  number: "spinbutton", search: "searchbox", text: "textbox", email: "textbox", tel: "textbox", url: "textbox",
};
/** The roles that are named by what is in them. Browsers give no name to those from listitem on. */
const BY_CONTENT = /^(button|cell|checkbox|columnheader|gridcell|heading|link|menuitem|menuitemcheckbox|menuitemradio|option|radio|row|rowheader|switch|tab|tooltip|treeitem|listitem|term|definition|paragraph|caption|status|alert)$/;
export const isNamedByContent = (role: string) => BY_CONTENT.test(role);
const FIELDS = /^(textbox|searchbox|combobox|listbox|checkbox|radio|switch|slider|spinbutton)$/;

/** The role of an element: the first that it claims and that there is, or that of HTML. */
export function roleOf(element: Element): string {
  const claimed = (attribute(element, "role") ?? "").toLowerCase().split(/\s+/).find((role) => ROLES.has(role)) ?? "";
  if (claimed === "image") return "img";
  const none = /^(none|presentation|generic)$/.test(claimed);
  if (claimed && !none) return claimed;
  // What takes the focus has its role nonetheless.
  if (none && !isHTML(element, "button", "input", "select", "textarea", "a")) return "";
  const name = localName(element);
  if (!isHTML(element, name)) return "";
  switch (name) {
    case "a":
    case "area":
      return hasAttribute(element, "href") ? "link" : "";
    case "input": {
      const role = BY_TYPE[inputType(element)] ?? "";
      return role === "textbox" && hasAttribute(element, "list") ? "combobox" : role;
    }
    case "select":
      return hasAttribute(element, "multiple") || Number(attribute(element, "size")) > 1 ? "listbox" : "combobox";
    case "textarea":
      return "textbox";
    case "img":
      return attribute(element, "alt") === "" ? "" : "img";
    case "td":
      return /^(grid|treegrid)$/.test(attribute(closest(element, "table") ?? element, "role") ?? "") ? "gridcell" : "cell";
    case "th":
      return attribute(element, "scope") === "row" ? "rowheader" : "columnheader";
    case "header":
    case "footer": {
      const part = around(element);
      const inner = part && outward(part, (at) => isHTML(at, "article", "aside", "main", "nav", "section"));
      return inner ? "" : name === "header" ? "banner" : "contentinfo";
    }
    case "section":
      return hasAttribute(element, "aria-label") || hasAttribute(element, "aria-labelledby") ? "region" : "";
    case "form":
      return "form";
  }
  const role = BY_NAME.get(name);
  if (role) return role;
  return isEditor(element) ? "textbox" : "";
}

/** Whether an element is one in which text is edited, as a whole. */
function isEditor(element: Element) {
  return hasAttribute(element, "contenteditable") && isEditable(element);
}

// ---- Names

/** The accessible name of an element, in one line. */
export function nameOf(element: Element, role = roleOf(element)): string {
  const tree = rootOf(element);
  const ids = (attribute(element, "aria-labelledby") ?? "").split(/\s+/).filter(Boolean);
  const named = ids.map((id) => [...query(tree, `#${CSS.escape(id)}`)].slice(0, 1).map((of) => line(attribute(of, "aria-label") ?? textContent(of)))).flat();
  const labels = labelsOf(element);
  const name =
    line(named.join(" ")) ||
    line(attribute(element, "aria-label")) ||
    line(labels.map((label) => textIn(label, element)).join(" ")) ||
    line(ofHTML(element)) ||
    (BY_CONTENT.test(role) ? line(textIn(element)) : "") ||
    line(attribute(element, "title")) ||
    line(attribute(element, "placeholder")) ||
    line(attribute(element, "aria-placeholder"));
  return tells(element, name) ? "" : name;
}

/** How many characters of a text count for a name. */
const MAX_READ = 10_000;

/** A text in one line, without marks that are not seen, such as where a word may be broken. */
function line(text: string | null | undefined) {
  return (text ?? "").slice(0, MAX_READ).replace(UNSEEN, "").replace(/\s+/g, " ").trim();
}

/** What names an element of HTML of its kind. */
function ofHTML(element: Element): string | null | undefined {
  const first = (names: string) => {
    for (const child of query(element, `:scope > ${names}`)) return textIn(child);
    return "";
  };
  if (isHTML(element, "img", "area")) return attribute(element, "alt");
  if (isHTML(element, "input")) {
    const type = inputType(element);
    if (type === "image") return attribute(element, "alt");
    if (type === "submit") return hasAttribute(element, "value") ? inputValue(element) : "Submit";
    if (type === "reset") return hasAttribute(element, "value") ? inputValue(element) : "Reset";
    return type === "button" ? inputValue(element) : "";
  }
  if (isHTML(element, "fieldset")) return first("legend");
  if (isHTML(element, "table")) return first("caption");
  if (isHTML(element, "optgroup", "option")) return attribute(element, "label");
  if (localName(element) === "svg") return first("title");
  return "";
}

/** The text that is seen in an element, with that of images in it, and without its fields. */
export function textIn(element: Element, without?: Element): string {
  if (element === without || attribute(element, "aria-hidden") === "true") return "";
  const name = localName(element);
  if (isHTML(element, "input", "select", "textarea", "script", "style", "noscript", "template")) return "";
  const called = without || name === "slot" ? "" : line(attribute(element, "aria-label"));
  if (called) return called;
  if (isHTML(element, "img")) return attribute(element, "alt") ?? "";
  const children = isHTML(element, "slot") ? assignedNodes(element, { flatten: true }) : undefined;
  let text = "";
  for (const child of children ?? nodesOf(shadowOf(element) ?? element)) {
    if (nodeType(child) === Node.TEXT_NODE) text += textContent(child);
    else if (nodeType(child) === Node.ELEMENT_NODE) {
      const style = viewOf(child)?.getComputedStyle(child as Element);
      if (!style || style.display === "none" || style.visibility !== "visible") continue;
      const inner = textIn(child as Element, without);
      text += style.display === "inline" ? inner : ` ${inner} `;
    }
  }
  return text;
}

function* nodesOf(of: Node) {
  for (let node = firstChild(of); node; node = nextSibling(node)) yield node;
}

/** What an element is called: button "Order". If a page names it otherwise than it shows it, both are said. */
export function words(element: Element, role = roleOf(element), name = nameOf(element, role)): string {
  const kind = role || kindOf(element);
  const shown = clean(!role || BY_CONTENT.test(role) ? plainText(element) : "");
  const called = clean(name);
  const also = shown && (!called || !overlap(shown, called)) ? ` that shows ${JSON.stringify(shown)}` : "";
  return `${kind}${called ? ` ${JSON.stringify(called)}` : also ? "" : " without a name"}${also}`;
}

/** What an element without a role is. Its page may name it as it likes, with quotes and all. */
function kindOf(element: Element) {
  if (isField(element)) return "field";
  const name = localName(element);
  return /^(h[1-6]|[a-z]{1,20}(-[a-z-]{1,20})?)$/.test(name) ? name : "element";
}

/** The text in an element as it is seen, whatever the page calls it. */
function plainText(element: Element) {
  return isHTML(element, localName(element)) ? line(innerText(element)) : "";
}

export function overlap(a: string, b: string) {
  const [x, y] = [a, b].map((text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ""));
  return !x || !y || x.includes(y) || y.includes(x);
}

// ---- Targets

/** The element of a target. It must be there once, and be seen. */
export function one(target: Target, root: Node, scope: Scope): Found {
  return foundOf(oneOf(target, root, scope, isVisible));
}

function oneOf(target: Target, root: Node, scope: Scope, isThere: (element: Element) => boolean): Element {
  if (target.ref) return referenced(target).element;
  const found = all(target, root, scope, isThere);
  const { nth = 0 } = target;
  const chosen = nth ? found.at(nth > 0 ? nth - 1 : nth) : found.length === 1 ? found[0] : undefined;
  if (chosen) return chosen;
  if (found.length === 0) throw missing(target, root, scope);
  if (nth) throw new Failure("STEP_NOT_FOUND", `there are only ${found.length} of ${describe(target, scope)}, not ${Math.abs(nth)}`, named(found)).later();
  throw new Failure("STEP_AMBIGUOUS", `there are ${found.length} of ${describe(target, scope)}`, named(found)).later();
}

export function foundOf(element: Element): Found {
  const role = roleOf(element);
  const name = nameOf(element, role);
  return { element, role, name, words: words(element, role, name) };
}

/** The elements of a target that are seen, in the order of the page. */
export function all(target: Target, root: Node, scope: Scope, isThere = isVisible): Element[] {
  if (target.ref) return referencedIfThere(target);
  const fits = fitting(target, scope);
  return knowingLabels(() =>
    candidates(target, baseOf(target, root, scope), scope).filter((element) => fits(element) && isThere(element) && (target.selector || isExposed(element))),
  );
}

function referencedIfThere(target: Target): Element[] {
  try {
    return [referenced(target).element];
  } catch (error) {
    if (error instanceof Failure && error.code === "STALE_REF") return [];
    throw error;
  }
}

/** What a target is looked for in: an element around it may have no size of its own, as an empty list. */
function baseOf({ in: outer }: Target, root: Node, scope: Scope): Node {
  return outer ? oneOf(outer, root, scope, isRendered) : root;
}

function fitting({ role: wanted, name, label, selector }: Target, scope: Scope): (element: Element) => boolean {
  const role = wanted === "image" ? "img" : wanted;
  if (role || name) {
    const named = name ? nameTest(name, scope) : () => true;
    return (element) => (!role || roleOf(element) === role) && named(nameOf(element));
  }
  if (label) {
    const named = nameTest(label, scope);
    return (element) => isField(element) && named(nameOf(element));
  }
  if (selector) return () => true;
  throw new Failure("STEP_REFUSED", "a target says neither role, label nor selector");
}

/** Whether an element can be filled, also one for which ARIA has no role, such as a date. */
function isField(element: Element) {
  return FIELDS.test(roleOf(element)) || (isHTML(element, "input") && !BY_TYPE[inputType(element)]);
}

/** A name as it is, or a part of it, with "..." for the rest. What arguments say is taken as it is. */
function nameTest(name: string, scope: Scope): (name: string) => boolean {
  const [, before, text, after] = /^(\.\.\.)?(.*?)(\.\.\.)?$/s.exec(name) as RegExpExecArray;
  const wanted = line(textOf(text, scope));
  if (before && after) return (is) => is.includes(wanted);
  if (before) return (is) => is.endsWith(wanted);
  return after ? (is) => is.startsWith(wanted) : (is) => is === wanted;
}

function candidates({ role, label, selector }: Target, root: Node, scope: Scope): Element[] {
  const css = role ? `${IMPLICIT[role === "image" ? "img" : role] ?? "[role]"},[role]` : label ? "input,select,textarea,[contenteditable],[role]" : (selector ?? "*");
  try {
    return inTree(root, css, scope);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure("STEP_REFUSED", `${JSON.stringify(clean(css))} is no selector`);
  }
}

/**
 * The elements under a node that a selector has: also in shadow trees, and in frames of this origin whose
 * own page the run reaches.
 */
function inTree(root: Node, css: string, scope: Scope): Element[] {
  const found = new Set(query(root, css));
  const inner: [Element, Node][] = [];
  if (nodeType(root) === Node.ELEMENT_NODE) for (const tree of treesOf(root as Element, scope)) inner.push([root as Element, tree]);
  for (const element of query(root, "*")) for (const tree of treesOf(element, scope)) inner.push([element, tree]);
  if (inner.length === 0) return [...found];
  // Those of a tree in an element come after the element itself.
  const order: Element[] = [];
  const nested = new Map<Element, Element[]>();
  for (const [element, tree] of inner) {
    watchPasswords(tree);
    nested.set(element, inTree(tree, css, scope));
  }
  if (nodeType(root) === Node.ELEMENT_NODE) order.push(...(nested.get(root as Element) ?? []));
  for (const element of query(root, "*")) {
    if (found.has(element)) order.push(element);
    const more = nested.get(element);
    if (more) order.push(...more);
  }
  return order;
}

function treesOf(element: Element, scope: Scope): Node[] {
  const shadow = shadowOf(element);
  if (shadow) return [shadow];
  const framed = isHTML(element, "iframe") && isVisible(element) ? frameDocument(element, scope) : undefined;
  return framed ? [framed] : [];
}

/** The document of a frame, if steps may reach into it. */
export function frameDocument(element: Element, scope: Scope): Document | undefined {
  const view = frameWindow(element);
  try {
    if (!view || view.origin !== self.origin) return undefined; // document.domain could make another origin's readable
    const { href } = view.location;
    return /^about:(blank|srcdoc)/.test(href) || scope.inMatch(href) ? view.document : undefined;
  } catch {
    return undefined; // of another origin
  }
}

/** Whether an element is there for those that go by roles. */
function isExposed(element: Element) {
  return !outward(element, (at) => attribute(at, "aria-hidden") === "true" || hasAttribute(at, "inert"));
}

/** A target in words. */
export function describe(target: Target, scope: Scope): string {
  const { role, name, label, selector, ref } = target;
  if (ref) return clean(ref, 40);
  const text = name ?? label;
  const called = text ? ` ${JSON.stringify(clean(textOf(text, scope)))}` : "";
  const what = role ? `${role}${called}` : label ? `field${called}` : JSON.stringify(clean(selector ?? ""));
  return target.in ? `${what} in ${describe(target.in, scope)}` : what;
}

function named(elements: Element[]) {
  return elements.slice(0, 5).map((element) => words(element));
}

/** Why there is no such element: those of its kind that come nearest are said. */
function missing(target: Target, root: Node, scope: Scope): Failure {
  const { role, name, label } = target;
  const wanted = name ?? label;
  let near: Element[] = [];
  if (wanted) {
    const kind = candidates(target, baseOf(target, root, scope), scope).filter((element) => (role ? roleOf(element) === role : isField(element)));
    const text = textOf(wanted, scope);
    near = knowingLabels(() => kind.slice(0, 500).map((element) => ({ element, score: likeness(nameOf(element), text) })))
      .sort((a, b) => b.score - a.score)
      .map(({ element }) => element)
      .filter((element) => isVisible(element) && isExposed(element));
  }
  return new Failure("STEP_NOT_FOUND", `there is no ${describe(target, scope)}`, named(near)).later();
}

/** How much of two names is the same: of their pairs of letters. */
export function likeness(a: string, b: string) {
  const pairs = (text: string) => new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, i) => text.toLowerCase().slice(i, i + 2)));
  const [x, y] = [pairs(a.slice(0, 200)), pairs(b)];
  return x.size + y.size ? (2 * [...x].filter((pair) => y.has(pair)).length) / (x.size + y.size) : 0;
}

/** The documents and shadow trees around an element whose own pages the run reaches, from the run's document on. */
export function isOfRun(element: Element, scope: Scope): boolean {
  const at = documentOf(element);
  if (at === document) return true;
  const view = at.defaultView;
  const frame = view?.frameElement;
  return frame ? frameDocument(frame, scope) === at && isOfRun(frame, scope) : false;
}
