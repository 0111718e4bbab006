// worker/trustedinput.ts
import "./main.js";
var NoInput = class extends Error {
  /** Whether some of it may have been given. */
  begun = false;
};
var IDLE = 4e3;
var TIMEOUT = 1e4;
var MOVES = 12;
var MAX_KEYS = 100;
var MODIFIERS = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };
var KEYS = {
  Enter: ["Enter", 13, "\r"],
  Tab: ["Tab", 9],
  Escape: ["Escape", 27],
  Backspace: ["Backspace", 8],
  Delete: ["Delete", 46],
  Insert: ["Insert", 45],
  Space: ["Space", 32, " "],
  ArrowLeft: ["ArrowLeft", 37],
  ArrowUp: ["ArrowUp", 38],
  ArrowRight: ["ArrowRight", 39],
  ArrowDown: ["ArrowDown", 40],
  Home: ["Home", 36],
  End: ["End", 35],
  PageUp: ["PageUp", 33],
  PageDown: ["PageDown", 34],
  ...Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`F${i + 1}`, [`F${i + 1}`, 112 + i]]))
};
var EDITS = { a: "selectAll", c: "copy", v: "paste", x: "cut", z: "undo" };
var TrustedInput = class {
  #tabs = /* @__PURE__ */ new Map();
  /** Called when the person has ended it in the browser's bar. */
  cancelled = () => {
  };
  constructor() {
    chrome.debugger.onDetach.addListener(({ tabId }, reason) => {
      if (tabId === void 0) return;
      this.#forget(tabId);
      if (reason === "canceled_by_user") this.cancelled(tabId);
    });
    chrome.debugger.onEvent.addListener(({ tabId }, method, params) => {
      const tab = tabId === void 0 ? void 0 : this.#tabs.get(tabId);
      if (!tab || tabId === void 0) return;
      if (method === "Page.javascriptDialogOpening") void this.#dialog(tabId, params);
      if (method === "Input.dragIntercepted") tab.drag?.(params.data);
    });
  }
  /** Whether the debugger is attached to a tab, or is about to be. */
  uses(tabId) {
    return this.#tabs.has(tabId);
  }
  /**
   * Gives a tab input, once.
   * @param place where a point of the act is in the tab's viewport
   * @param begun called before the first of it
   */
  async act(tabId, act, place, begun) {
    const tab = await this.#attach(tabId);
    let given = false;
    const give = (method, params) => {
      if (!given) begun();
      given = true;
      return this.#send(tabId, `Input.${method}`, params);
    };
    try {
      await this.#act(tab, tabId, act, place, give);
    } catch (error) {
      const failure = error instanceof NoInput ? error : new NoInput(error instanceof Error ? error.message : String(error));
      failure.begun = given;
      throw failure;
    } finally {
      tab.busy--;
      if (!tab.busy && this.#tabs.get(tabId) === tab) tab.idle = setTimeout(() => void this.#detach(tabId), IDLE);
    }
  }
  async #act(tab, tabId, act, place, give) {
    const mouse = (type, point, params = {}) => give("dispatchMouseEvent", { type, ...point, pointerType: "mouse", ...params });
    const key = (name) => this.#press(name, give);
    switch (act.kind) {
      case "hover":
        await mouse("mouseMoved", await place(act));
        break;
      case "click": {
        const point = await place(act);
        const { button } = act;
        await mouse("mouseMoved", point);
        for (let clickCount = 1; clickCount <= act.count; clickCount++) {
          await mouse("mousePressed", point, { button, buttons: button === "left" ? 1 : 2, clickCount });
          await mouse("mouseReleased", point, { button, clickCount });
        }
        break;
      }
      case "wheel":
        await mouse("mouseWheel", await place(act), { deltaX: act.dx, deltaY: act.dy });
        break;
      case "drag":
        await this.#drag(tab, tabId, await place(act.from), await place(act.to), mouse, give);
        break;
      case "press":
        await key(act.key);
        break;
      case "type":
        if (act.text === "") await key("Delete");
        else if (act.text.length > MAX_KEYS || !/^[\x20-\x7e]+$/.test(act.text)) await give("insertText", { text: act.text });
        else for (const letter of act.text) await key(letter);
    }
  }
  /** Drags as a hand does: also what the page, or the browser, makes a drag with data of. */
  async #drag(tab, tabId, from, to, mouse, give) {
    await this.#send(tabId, "Input.setInterceptDrags", { enabled: true });
    let data;
    tab.drag = (given) => data = given;
    try {
      await mouse("mouseMoved", from);
      await mouse("mousePressed", from, { button: "left", buttons: 1, clickCount: 1 });
      const carried = (type, point) => give("dispatchDragEvent", { type, ...point, data });
      let entered = false;
      for (let i = 1; i <= MOVES; i++) {
        const point = { x: from.x + (to.x - from.x) * i / MOVES, y: from.y + (to.y - from.y) * i / MOVES };
        if (!data) await mouse("mouseMoved", point, { button: "left", buttons: 1 });
        if (data) await carried(entered ? "dragOver" : "dragEnter", point);
        entered = data !== void 0;
        if (i < MOVES) await new Promise((done) => setTimeout(done, 16));
      }
      if (data) {
        if (!entered) await carried("dragEnter", to);
        await carried("dragOver", to);
        await carried("drop", to);
      }
      await mouse("mouseReleased", to, { button: "left", clickCount: 1 });
    } finally {
      tab.drag = void 0;
      await this.#send(tabId, "Input.setInterceptDrags", { enabled: false }).catch(() => {
      });
    }
  }
  /** @param name a key with its modifiers, such as Control+A */
  async #press(name, give) {
    const parts = name === "+" || name.endsWith("++") ? [...name.slice(0, -2).split("+"), "+"].filter(Boolean) : name.split("+");
    const last = parts.pop();
    let modifiers = 0;
    for (const part of parts) modifiers |= MODIFIERS[part] ?? 0;
    const shifted = (modifiers & MODIFIERS.Shift) !== 0;
    const writes = (modifiers & ~MODIFIERS.Shift) === 0;
    const named = KEYS[last];
    const letter = named ? last : shifted ? last.toUpperCase() : parts.length ? last.toLowerCase() : last;
    const [code, keyCode, text] = named ?? [codeOf(last), codeOf(last) && last.toUpperCase().charCodeAt(0), letter];
    const mac = /^Mac/.test(navigator.platform) && modifiers === MODIFIERS.Meta ? EDITS[last.toLowerCase()] : void 0;
    const event = { key: last === "Space" ? " " : letter, code, windowsVirtualKeyCode: keyCode || 0, modifiers };
    const pressed = writes && text ? { type: "keyDown", text, unmodifiedText: text } : { type: "rawKeyDown" };
    for (const part of parts) await give("dispatchKeyEvent", { type: "rawKeyDown", key: part, code: `${part}Left`, modifiers });
    await give("dispatchKeyEvent", { ...event, ...pressed, ...mac && { commands: [mac] } });
    await give("dispatchKeyEvent", { ...event, type: "keyUp" });
    for (const part of parts.reverse()) await give("dispatchKeyEvent", { type: "keyUp", key: part, code: `${part}Left`, modifiers: 0 });
  }
  /** A dialog is open that nothing in the page has answered: what it asks is not agreed to. */
  async #dialog(tabId, { type }) {
    await this.#send(tabId, "Page.handleJavaScriptDialog", { accept: type === "alert" }).catch(() => {
    });
  }
  async #attach(tabId) {
    let tab = this.#tabs.get(tabId);
    if (!tab) {
      tab = { ready: this.#open(tabId), busy: 0 };
      this.#tabs.set(tabId, tab);
    }
    tab.busy++;
    clearTimeout(tab.idle);
    try {
      await tab.ready;
    } catch (error) {
      this.#forget(tabId);
      throw new NoInput(`the browser's debugger cannot be attached to the tab: ${error instanceof Error ? error.message : String(error)}`);
    }
    return tab;
  }
  async #open(tabId) {
    await chrome.debugger.attach({ tabId }, "1.3");
    await this.#send(tabId, "Page.enable", {});
    await this.#send(tabId, "Page.setInterceptFileChooserDialog", { enabled: true });
  }
  async #send(tabId, method, params) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new NoInput("the page does not take input: it is busy, or not in front")), TIMEOUT);
    });
    try {
      return await Promise.race([chrome.debugger.sendCommand({ tabId }, method, params), late]);
    } finally {
      clearTimeout(timer);
    }
  }
  async #detach(tabId) {
    this.#forget(tabId);
    await chrome.debugger.detach({ tabId }).catch(() => {
    });
  }
  #forget(tabId) {
    clearTimeout(this.#tabs.get(tabId)?.idle);
    this.#tabs.delete(tabId);
  }
};
function codeOf(letter) {
  if (/^[a-z]$/i.test(letter)) return `Key${letter.toUpperCase()}`;
  return /^\d$/.test(letter) ? `Digit${letter}` : "";
}
void chrome.debugger.getTargets().then((targets) => {
  for (const { tabId, attached } of targets) if (attached && tabId !== void 0 && !globalThis.tabhubTrustedInput?.uses(tabId)) void chrome.debugger.detach({ tabId }).catch(() => {
  });
});
globalThis.tabhubTrustedInput = new TrustedInput();
export {
  NoInput,
  TrustedInput
};
