// Elements of a page, found and made. All that is put into them is text, never HTML.

/** The element with an id, of a type if that matters. */
export function byID<T extends HTMLElement = HTMLElement>(id: string, type?: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof (type ?? HTMLElement))) throw new Error(`the page has no ${type?.name ?? ""}#${id}`);
  return found as T;
}

export function make<K extends keyof HTMLElementTagNameMap>(tag: K, className: string, ...children: (Node | string)[]) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.map((child) => (typeof child === "string" ? inOrder(child) : child)));
  return made;
}

/**
 * A text in which what would turn the words after it around is written out, as \u202e: one that is
 * not closed reaches beyond its element, even one that is isolated.
 */
const inOrder = (text: string) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (turn) => `\\u${turn.charCodeAt(0).toString(16)}`);
