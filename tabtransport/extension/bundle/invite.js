// elements.ts
function byID(id2, type) {
  const found = document.getElementById(id2);
  if (!(found instanceof (type ?? HTMLElement))) throw new Error(`the page has no ${type?.name ?? ""}#${id2}`);
  return found;
}

// common.ts
function ask(request) {
  return chrome.runtime.sendMessage(request);
}

// guard.ts
var REST = 1500;
var Guard = class {
  /** Whether each is of use, apart from the rest. */
  #buttons = /* @__PURE__ */ new Map();
  /** When the window was disturbed last. */
  #disturbed = performance.now();
  /** What the window was like when it was looked at last. */
  #seen = "";
  /** Where the pointer has gone down. */
  #pressed = null;
  /** Whether the keyboard was meant for this window. */
  #keyboard = false;
  /** The button that had the focus when the window was disturbed: it has it again afterwards. */
  #focused;
  #dismiss;
  /** @param dismiss called when Escape was pressed */
  constructor(dismiss) {
    this.#dismiss = dismiss;
    for (const type of ["focus", "blur", "resize"]) addEventListener(type, () => this.disturb());
    document.addEventListener("visibilitychange", () => this.disturb());
    addEventListener("pointerdown", ({ isTrusted, target }) => this.#pressed = isTrusted && this.#rested() ? target : null, true);
    addEventListener("click", (event) => this.#meant(event) || drop(event), true);
    addEventListener("keydown", (event) => this.#key(event), true);
    setInterval(() => this.#look(), 50);
  }
  add(button, answer2, usable = () => true) {
    this.#buttons.set(button, usable);
    button.disabled = true;
    button.addEventListener("click", answer2);
  }
  #meant({ isTrusted, detail, target }) {
    this.#look();
    if (!isTrusted || !this.#rested()) return false;
    if (!(target instanceof HTMLButtonElement)) return true;
    return detail > 0 ? this.#pressed === target : this.#keyboard;
  }
  #key(event) {
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
    this.#focused = void 0;
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
};
function drop(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

// invite.ts
var id = decodeURIComponent(location.search.slice(1));
var invitation = await ask({ ask: "invitation", id });
if (invitation) {
  byID("code").textContent = invitation.code;
  byID("address").textContent = invitation.address;
} else {
  byID("address").textContent = "This question is no longer open.";
}
async function answer(accepted) {
  await ask({ ask: "accept", id, accept: accepted });
  window.close();
}
var guard = new Guard(() => answer(false));
guard.add(byID("decline", HTMLButtonElement), () => answer(false));
guard.add(byID("accept", HTMLButtonElement), () => answer(true), () => invitation !== void 0);
