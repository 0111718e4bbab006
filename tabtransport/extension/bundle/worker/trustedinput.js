// worker/trustedinput.ts
import "./main.js";
var NoInput = class extends Error {
  /** Whether some of it may have been given. */
  begun = false;
};
var IDLE = 4e3;
var BAR = 350;
var TIMEOUT = 1e4;
var CHOOSES = 2e3;
var ASKS = 50;
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
    chrome.debugger.onEvent.addListener((session, method, params) => {
      const { tabId } = session;
      const tab = tabId === void 0 ? void 0 : this.#tabs.get(tabId);
      if (!tab || tabId === void 0) return;
      const said = params ?? {};
      if (method === "Page.javascriptDialogOpening" && tab.busy) void this.#send(session, "Page.handleJavaScriptDialog", { accept: said.type === "alert" }).catch(() => {
      });
      if (method === "Page.fileChooserOpened") tab.chooser = { session, mode: said.mode, node: said.backendNodeId };
      if (method === "Input.dragIntercepted") tab.drag?.(said.data);
      if (method === "Target.attachedToTarget") {
        const frame = { ...session, sessionId: said.sessionId };
        tab.frames.push(frame);
        void this.#prepare(frame, tab.busy > 0).catch(() => {
        });
      }
    });
  }
  /** Whether the debugger is attached to a tab, or is about to be. */
  uses(tabId) {
    return this.#tabs.has(tabId);
  }
  /** Attaches the debugger to a tab, and resolves when the browser's bar has come, which makes the page lower. */
  async ready(tabId) {
    const fresh = !this.#tabs.has(tabId);
    const tab = await this.#attach(tabId);
    if (fresh) await new Promise((done) => setTimeout(done, BAR));
    await this.#rest(tab, tabId);
  }
  /** An act is over, and perhaps the last one for a while. */
  async #rest(tab, tabId) {
    tab.busy--;
    if (!tab.busy) await this.#keepClosed(tab, tabId, false);
    clearTimeout(tab.idle);
    if (!tab.busy && this.#tabs.get(tabId) === tab) tab.idle = setTimeout(() => void this.#detach(tabId), IDLE);
  }
  /**
   * Gives a tab input, once.
   * @param files of an upload
   * @param place where a point of the act is in the tab's viewport
   * @param begun called before the first of it
   */
  async act(tabId, act, files, place, begun) {
    const tab = await this.#attach(tabId);
    let given = false;
    const give = (method, params) => {
      if (!given) begun();
      given = true;
      return this.#send({ tabId }, `Input.${method}`, params);
    };
    tab.chooser = void 0;
    try {
      await this.#keepClosed(tab, tabId, true);
      await this.#act(tab, tabId, act, place, give);
      if (act.kind === "choose") await this.#choose(tab, files);
      else if (/^(click|keys)$/.test(act.kind)) await new Promise((done) => setTimeout(done, ASKS));
      if (tab.chooser) throw new NoInput("the page asked for files, and nobody was shown a choice of them; upload puts them there");
    } catch (error) {
      const failure = error instanceof NoInput ? error : new NoInput(error instanceof Error ? error.message : String(error));
      failure.begun = given;
      throw failure;
    } finally {
      await this.#rest(tab, tabId);
    }
  }
  async #act(tab, tabId, act, place, give) {
    const mouse = (type, point, params = {}) => give("dispatchMouseEvent", { type, ...point, pointerType: "mouse", ...params });
    switch (act.kind) {
      case "hover":
        await mouse("mouseMoved", await place(act));
        break;
      case "choose":
      case "click": {
        const point = await place(act);
        const { button, count } = act.kind === "click" ? act : { button: "left", count: 1 };
        await mouse("mouseMoved", point);
        for (let clickCount = 1; clickCount <= count; clickCount++) {
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
    await this.#send({ tabId }, "Input.setInterceptDrags", { enabled: true });
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
      await this.#send({ tabId }, "Input.setInterceptDrags", { enabled: false }).catch(() => {
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
  /** Puts files where the page asks for some, which it does a moment after a click. */
  async #choose(tab, files) {
    for (const until = Date.now() + CHOOSES; !tab.chooser && Date.now() < until; ) await new Promise((done) => setTimeout(done, 50));
    const { chooser } = tab;
    tab.chooser = void 0;
    if (!chooser) throw new NoInput("the page has not asked for files");
    if (chooser.node === void 0) throw new NoInput("the page reads files by itself, which only a person can give it");
    if (chooser.mode === "selectSingle" && files.length > 1) throw new NoInput(`the page takes one file, not ${files.length}`);
    const { object } = await this.#send(chooser.session, "DOM.resolveNode", { backendNodeId: chooser.node });
    await this.#send(chooser.session, "Runtime.callFunctionOn", { objectId: object.objectId, functionDeclaration: String(putFiles), arguments: [{ value: files }] });
  }
  async #attach(tabId) {
    let tab = this.#tabs.get(tabId);
    if (!tab) {
      tab = { ready: this.#open(tabId), busy: 0, frames: [] };
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
    await this.#prepare({ tabId }, true);
  }
  async #prepare(session, acts) {
    await this.#send(session, "Page.enable", {});
    await this.#send(session, "Page.setInterceptFileChooserDialog", { enabled: acts });
    await this.#send(session, "Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: true }).catch(() => {
    });
  }
  /** Keeps the browser's choice of files closed in a tab, or not. */
  async #keepClosed({ frames }, tabId, enabled) {
    await Promise.all([{ tabId }, ...frames].map((session) => this.#send(session, "Page.setInterceptFileChooserDialog", { enabled }).catch(() => {
    })));
  }
  async #send(session, method, params) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new NoInput("the page does not take input: it is busy, or not in front")), TIMEOUT);
    });
    try {
      return await Promise.race([chrome.debugger.sendCommand(session, method, params), late]);
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
function putFiles(files) {
  const transfer = new DataTransfer();
  for (const { name, mimeType, data } of files) transfer.items.add(new File([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], name, { type: mimeType ?? "" }));
  this.files = transfer.files;
  this.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  this.dispatchEvent(new Event("change", { bubbles: true }));
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
