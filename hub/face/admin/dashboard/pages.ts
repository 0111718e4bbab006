// A list that is shown a page at a time, and the buttons in the view's .pages that turn it.

import { button, element } from "./dom.ts";

import { find } from "./session.ts";

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
   * @param turned has another page asked for
   * @param within selects the part of the view that has the buttons
   */
  constructor(turned: (offset: number) => void, within = "#view") {
    this.#turned = turned;
    this.#place = document.querySelector(`${within} .pages`) as HTMLElement;
    this.#words.role = "status";
    this.#place.replaceChildren(this.#before, this.#words, this.#after);
    this.#place.hidden = true;
  }

  /** @param offset of the page to show; the first one, unless it is given */
  turn(offset = 0) {
    this.offset = offset;
    this.#turned(offset);
  }

  /**
   * Asks the hub for the page, and shows which it is.
   * @param path of the list
   */
  async find(path: string, query: Record<string, string>) {
    const answer = await find(`${path}?${new URLSearchParams({ ...query, offset: String(this.offset), limit: String(PAGE) })}`);
    this.#show(answer.found);
    return answer;
  }

  /** @param found how many elements there are */
  #show(found: number) {
    if (this.offset >= Math.max(found, 1)) return this.turn(); // they have become fewer
    const count = (n: number) => n.toLocaleString("en");
    const words = `${count(this.offset + 1)}–${count(Math.min(this.offset + PAGE, found))} of ${count(found)}`;
    if (this.#words.textContent !== words) this.#words.textContent = words;
    this.#before.disabled = this.offset === 0;
    this.#after.disabled = this.offset + PAGE >= found;
    this.#place.hidden = found <= PAGE;
  }
}
