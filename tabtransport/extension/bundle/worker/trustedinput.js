// worker/trustedinput.ts
import "./main.js";
var NoInput = class extends Error {
  /** Whether some of it may have been given. */
  begun = false;
};
var IDLE = 4e3;
var TIMEOUT = 1e4;
var MOVES = 12;
var MODIFIERS = { Alt: [1, 18], Control: [2, 17], Meta: [4, 91], Shift: [8, 16] };
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
      case "keys":
        for (const key of act.keys) await this.#press(key, give);
        break;
      case "text":
        await give("insertText", { text: act.text });
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
  async #press({ key, code, keyCode, text, held }, give) {
    const modifiers = held.reduce((sum, name) => sum | MODIFIERS[name][0], 0);
    const types = key === "Enter" && !held.some((name) => name !== "Shift") ? "\r" : text;
    const edit = /^Mac/.test(navigator.platform) && modifiers === MODIFIERS.Meta[0] ? EDITS[key.toLowerCase()] : void 0;
    const hold = (name, type, now) => give("dispatchKeyEvent", { type, key: name, code: `${name}Left`, windowsVirtualKeyCode: MODIFIERS[name][1], modifiers: now });
    const event = { key, code, windowsVirtualKeyCode: keyCode, modifiers };
    for (const name of held) await hold(name, "rawKeyDown", modifiers);
    await give("dispatchKeyEvent", { ...event, ...types ? { type: "keyDown", text: types, unmodifiedText: types } : { type: "rawKeyDown" }, ...edit && { commands: [edit] } });
    await give("dispatchKeyEvent", { ...event, type: "keyUp" });
    for (const name of [...held].reverse()) await hold(name, "keyUp", 0);
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
void chrome.debugger.getTargets().then((targets) => {
  for (const { tabId, attached } of targets) if (attached && tabId !== void 0 && !globalThis.tabhubTrustedInput?.uses(tabId)) void chrome.debugger.detach({ tabId }).catch(() => {
  });
});
globalThis.tabhubTrustedInput = new TrustedInput();
export {
  NoInput,
  TrustedInput
};
