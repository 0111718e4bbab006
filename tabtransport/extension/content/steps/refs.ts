// References: what clients call the elements of this document that a look has shown. One stands for an element
// as long as that is what it was: by its role, its name and what is around it, as lists use their rows again.

import {
  around, attribute, clean, firstChild, isConnected, isHTML, isVisible, localName, nextElement, nextSibling, nodeType, previousElement, shadowOf, textContent,
} from "./dom.ts";
import { Failure } from "./failure.ts";
import { isTransparent } from "./seen.ts";
import { all, foundOf, likeness, nameOf, roleOf, type Found, type Scope } from "./find.ts";

const REF = /^([a-z]{3,8})([1-9]\d{0,8})$/;
/** What an item is, its own text tells. */
const ITEMS = /^(row|listitem|article|option|treeitem|menuitem)$/;
/** What groups fields, and dialogs, are told apart by their names. */
const GROUPS = /^(group|radiogroup|dialog|alertdialog)$/;
/** How many characters of an item's text count. */
const MAX_ITEM = 200;
/** How many characters of text an element that claims no role has at most, to be taken for an item. */
const MAX_PLAIN_ITEM = 1_000;
/** How far around an element is looked for such an item. */
const LEVELS = 8;
const MAX_NEAR = 5;

interface Known {
  element: WeakRef<Element>;
  number: number;
  role: string;
  name: string;
  items: string;
  words: string;
}

/** A place that has no pages beyond this document. */
const HERE: Scope = { args: {}, values: {}, inMatch: () => false, outside: "" };

export class References {
  readonly tag;
  #known = new Map<number, Known>();
  /** Of each element the latest. */
  #latest = new WeakMap<Element, Known>();

  /** @param tag no other document has */
  constructor(tag: string) {
    this.tag = tag;
  }

  /**
   * The reference of an element, which is the same as before if the element is.
   * @param items what itemsOf gives, if that is known
   */
  of({ element, role, name, words }: Found, items = itemsOf(element)): string {
    let known = this.#latest.get(element);
    if (!known || known.role !== role || known.name !== name || known.words !== words || known.items !== items) {
      known = { element: new WeakRef(element), number: this.#known.size + 1, role, name, items, words };
      this.#known.set(known.number, known);
      this.#latest.set(element, known);
    }
    return `${this.tag}${known.number}`;
  }

  /** The element of a reference. It fails with STALE_REF if that is gone, not seen, or something else by now. */
  find(ref: string): Found {
    const [, tag, number] = REF.exec(ref) ?? [];
    if (!number) throw new Failure("STALE_REF", `${JSON.stringify(clean(ref, 40))} is no reference`);
    if (tag !== this.tag) throw new Failure("STALE_REF", `${ref} is of another document: what it was shown in is not there any more, or in another frame`);
    const known = this.#known.get(Number(number));
    if (!known) throw new Failure("STALE_REF", `no look has shown ${ref}`);
    const was = `${ref} was ${known.words}${known.items ? ` in ${JSON.stringify(clean(known.items))}` : ""}`;
    const element = known.element.deref();
    if (!element || !isConnected(element)) throw this.#stale(`${was}, and that is gone`, known);
    if (!isVisible(element)) throw this.#stale(`${was}, and that is not seen any more`, known);
    const found = foundOf(element);
    const items = itemsOf(element);
    if (found.words === known.words && found.role === known.role && found.name === known.name && items === known.items) {
      if (isTransparent(element)) throw new Failure("STALE_REF", `${was}, and that is transparent`).later();
      return found;
    }
    throw this.#stale(`${was}, and is ${found.words}${items ? ` in ${JSON.stringify(clean(items))}` : ""} by now`, known);
  }

  /** What a reference stood for, whatever it is by now. */
  element(ref: string): Element | undefined {
    const [, tag, number] = REF.exec(ref) ?? [];
    return tag === this.tag ? this.#known.get(Number(number))?.element.deref() : undefined;
  }

  #stale(message: string, { role, name, items }: Known): Failure {
    const wanted = `${name} ${items}`;
    const near = all(role ? { role } : { selector: "[onclick],[tabindex]" }, document, HERE)
      .slice(0, 500)
      .map((element) => ({ element, score: likeness(`${nameOf(element)} ${itemsOf(element)}`, wanted) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, MAX_NEAR);
    return new Failure("STALE_REF", message, near.map(({ element }) => this.describe(element)));
  }

  /** An element in words, with its reference and what is around it. */
  describe(element: Element): string {
    const found = foundOf(element);
    const items = itemsOf(element);
    return `${found.words} ${this.of(found, items)}${items ? ` in ${JSON.stringify(clean(items))}` : ""}`;
  }
}

let references: References | undefined;

/** The references of this document; without a tag it has none before its first look. */
export function referencesOf(tag?: string): References | undefined {
  if (tag) references ??= new References(tag);
  return references;
}

/** The element of a target that is a reference. */
export function referenced(target: Target): Found {
  if (Object.keys(target).length > 1) throw new Failure("STEP_REFUSED", "a target with a reference says nothing else");
  const ref = target.ref as string;
  if (!references) throw new Failure("STALE_REF", `${clean(ref, 40)} is of another document: no look has shown this one`);
  return references.find(ref);
}

/** What a reference stood for, without a look at what it is by now. */
export function elementOf(ref: string): Element | undefined {
  return references?.element(ref);
}

// ---- What is around an element

/**
 * The words of the closest item and of the closest group around an element: a list may use the same elements for other rows.
 * @param known the texts of items, as long as none can change
 */
export function itemsOf(element: Element, known = new Map<Element, string>()): string {
  const textOf = (item: Element, max: number) => {
    let text = known.get(item);
    if (text === undefined) known.set(item, (text = textOfItem(item, max)));
    return text;
  };
  let item = "";
  let group = "";
  let level = 0;
  for (let at = around(element); at && !(item && group); at = around(at), level++) {
    const role = roleOf(at);
    if (!item && ITEMS.test(role)) item = clean(attribute(at, "aria-label") ?? "") || textOf(at, MAX_ITEM);
    else if (!item && level < LEVELS && !role && isRepeated(at)) {
      const text = textOf(at, MAX_PLAIN_ITEM + 1);
      // What has nothing but the element itself tells nothing of it.
      if (text.length <= MAX_PLAIN_ITEM && text !== textOfItem(element, MAX_PLAIN_ITEM + 1)) item = text.slice(0, MAX_ITEM);
    }
    if (!group && GROUPS.test(role)) group = nameOf(at, role);
  }
  return [item, group].filter(Boolean).join(" in ");
}

/** Whether an element without a role is one of several of its kind, as rows that are built of divs. */
function isRepeated(element: Element) {
  const isAlike = (other: Element | null) => other !== null && localName(other) === localName(element) && attribute(other, "class") === attribute(element, "class");
  return isAlike(nextElement(element)) || isAlike(previousElement(element));
}

/** The first characters of an item's text, without that of items in it. */
export function textOfItem(item: Element, max: number): string {
  let text = "";
  const add = (node: Node) => {
    for (let child = firstChild(node); child && text.length < max; child = nextSibling(child)) {
      const type = nodeType(child);
      if (type === Node.TEXT_NODE) text += textContent(child)?.slice(0, max * 4).replace(/\s+/g, " ") ?? "";
      else if (type === Node.ELEMENT_NODE) {
        const element = child as Element;
        if (isHTML(element, "script", "style", "template", "noscript", "select", "textarea", "ul", "ol") || /^(list|group|tree|menu)$/.test(attribute(element, "role") ?? "")) continue;
        text += " ";
        add(shadowOf(element) ?? element);
        text += " ";
      }
    }
  };
  add(shadowOf(item) ?? item);
  return clean(text, max);
}
