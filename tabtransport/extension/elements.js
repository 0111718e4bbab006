// Elements of a page, found and made. All that is put into them is text, never HTML.

/**
 * The element with an id, of a type if that matters.
 *
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @param {new () => T} [type]
 * @returns {T}
 */
export function byID(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof (type ?? HTMLElement))) throw new Error(`the page has no ${type?.name ?? ""}#${id}`);
  return /** @type {T} */ (found);
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} className
 * @param {...(Node | string)} children
 */
export function make(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.map((child) => (typeof child === "string" ? inOrder(child) : child)));
  return made;
}

/**
 * A text in which what would turn the words after it around is written out, as \u202e: one that is
 * not closed reaches beyond its element, even one that is isolated.
 *
 * @param {string} text
 */
const inOrder = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (turn) => `\\u${turn.charCodeAt(0).toString(16)}`);
