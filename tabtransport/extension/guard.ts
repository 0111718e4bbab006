// Keeps what was meant for something else from answering a question: a click or a key
// counts only in a window that has been in front, in one place and of one size for a while.

/** For how long, in ms. */
const REST = 1500;

/**
 * Buttons that answer. They can be used by a pointer that goes down and up in one of them, and
 * by the keyboard once Tab was pressed.
 */
export class Guard {
  /** Whether each is of use, apart from the rest. */
  #buttons = new Map<HTMLButtonElement, () => boolean>();
  /** When the window was disturbed last. */
  #disturbed = performance.now();
  /** What the window was like when it was looked at last. */
  #seen = "";
  /** Where the pointer has gone down. */
  #pressed: EventTarget | null = null;
  /** Whether the keyboard was meant for this window. */
  #keyboard = false;
  /** The button that had the focus when the window was disturbed: it has it again afterwards. */
  #focused: HTMLButtonElement | undefined;
  #dismiss;

  /** @param dismiss called when Escape was pressed */
  constructor(dismiss: () => void) {
    this.#dismiss = dismiss;
    for (const type of ["focus", "blur", "resize"]) addEventListener(type, () => this.disturb());
    document.addEventListener("visibilitychange", () => this.disturb());
    addEventListener("pointerdown", ({ isTrusted, target }) => (this.#pressed = isTrusted && this.#rested() ? target : null), true);
    addEventListener("click", (event) => this.#meant(event) || drop(event), true);
    addEventListener("keydown", (event) => this.#key(event), true);
    setInterval(() => this.#look(), 50); // no event tells that a window was moved
  }

  add(button: HTMLButtonElement, answer: () => void, usable: () => boolean = () => true) {
    this.#buttons.set(button, usable);
    button.disabled = true;
    button.addEventListener("click", answer);
  }

  #meant({ isTrusted, detail, target }: MouseEvent) {
    this.#look();
    if (!isTrusted || !this.#rested()) return false;
    if (!(target instanceof HTMLButtonElement)) return true; // it answers nothing
    return detail > 0 ? this.#pressed === target : this.#keyboard;
  }

  #key(event: KeyboardEvent) {
    this.#look();
    if (!event.isTrusted || event.repeat || !this.#rested()) drop(event);
    else if (event.key === "Tab") this.#keyboard = true;
    else if (event.key === "Escape") this.#dismiss();
  }

  #rested() {
    return document.hasFocus() && !document.hidden && performance.now() - this.#disturbed >= REST;
  }

  #look() {
    const seen = [screenX, screenY, outerWidth, outerHeight, document.hasFocus()].join();
    if (seen !== this.#seen) this.disturb();
    this.#seen = seen;
    for (const [button, usable] of this.#buttons) button.disabled = !this.#rested() || !usable();
    if (!this.#focused || this.#focused.disabled) return;
    if (document.activeElement === document.body) this.#focused.focus();
    this.#focused = undefined;
  }

  /** What the window shows is another, or the window is. */
  disturb() {
    this.#disturbed = performance.now();
    this.#pressed = null;
    this.#keyboard = false;
    for (const button of this.#buttons.keys()) {
      if (button === document.activeElement) this.#focused = button;
      button.disabled = true;
    }
  }
}

function drop(event: Event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}
