// A list that is shown a page at a time, and the buttons in the view's .pages that turn it.

import { button, element } from "./dom.js";
import { find } from "./session.js";

/** How many elements a page of a list has. */
export const PAGE = 50;

export class Pages {
  /** How many elements are before those that are shown. */
  offset = 0;
  #turned;
  #place;
  #before = button("Previous", "Previous page", () => this.turn(Math.max(0, this.offset - PAGE)));
  #words = element("span", "soft number");
  #after = button("Next", "Next page", () => this.turn(this.offset + PAGE));

  /**
   * @param {(offset: number) => void} turned has another page asked for
   * @param {string} [within] selects the part of the view that has the buttons
   */
  constructor(turned, within = "#view") {
    this.#turned = turned;
    this.#place = /** @type {HTMLElement} */ (document.querySelector(`${within} .pages`));
    this.#words.role = "status";
    this.#place.replaceChildren(this.#before, this.#words, this.#after);
    this.#place.hidden = true;
  }

  /** @param {number} [offset] of the page to show; the first one, unless it is given */
  turn(offset = 0) {
    this.offset = offset;
    this.#turned(offset);
  }

  /**
   * Asks the hub for the page, and shows which it is.
   * @param {string} path of the list
   * @param {Record<string, string>} query
   */
  async find(path, query) {
    const answer = await find(`${path}?${new URLSearchParams({ ...query, offset: String(this.offset), limit: String(PAGE) })}`);
    this.#show(answer.found);
    return answer;
  }

  /** @param {number} found how many elements there are */
  #show(found) {
    if (this.offset >= Math.max(found, 1)) return this.turn(); // they have become fewer
    const count = (/** @type {number} */ n) => n.toLocaleString("en");
    const words = `${count(this.offset + 1)}–${count(Math.min(this.offset + PAGE, found))} of ${count(found)}`;
    if (this.#words.textContent !== words) this.#words.textContent = words;
    this.#before.disabled = this.offset === 0;
    this.#after.disabled = this.offset + PAGE >= found;
    this.#place.hidden = found <= PAGE;
  }
}
