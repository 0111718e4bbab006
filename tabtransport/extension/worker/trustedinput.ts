// The service worker of the build that acts with trusted input: the browser's debugger gives the page input that it
// cannot tell from a person's. It is attached to a tab while a run acts there, and the browser says so in a bar.
// The other build has neither this file nor the permission.

import "./main.js"; // the rest of the worker, which finds what is set here when it needs it

/** A point of the tab's viewport, in CSS pixels. */
export interface Point {
  x: number;
  y: number;
}

/** What a client uploads. */
export type Files = NonNullable<Step["upload"]>["files"];

/** Why input was not given, or not all of it. */
export class NoInput extends Error {
  /** Whether some of it may have been given. */
  begun = false;
}

/** How long the debugger stays attached without input, in ms: a run has several steps. */
const IDLE = 4_000;
/** How long the browser's bar may take to come, in ms. */
const BAR = 350;
/** How long the browser may take for one command, in ms. A page that is busy takes its time. */
const TIMEOUT = 10_000;
/** How long a page may take to ask for files after a click, in ms: where some are to be put, and where not. */
const CHOOSES = 2_000;
const ASKS = 50;
/** How many moves a drag has from end to end, as pages watch for them. */
const MOVES = 12;
/** The modifiers, as the debugger counts them, with their keys. */
const MODIFIERS = { Alt: [1, 18], Control: [2, 17], Meta: [4, 91], Shift: [8, 16] } as const;
/** What macOS does for keys by itself, and not for those of a debugger. */
const EDITS: { [key: string]: string } = { a: "selectAll", c: "copy", v: "paste", x: "cut", z: "undo" };

interface Attached {
  /** Settles when it is attached. */
  ready: Promise<void>;
  idle?: ReturnType<typeof setTimeout>;
  /** How many acts are going on: meanwhile dialogs of the browser's are not the person's. */
  busy: number;
  /** Those of frames of other sites, beside its own. */
  frames: chrome.debugger.DebuggerSession[];
  /** Where the page has asked for files since the act began. */
  chooser?: { session: chrome.debugger.DebuggerSession; mode: string; node?: number };
  /** Called with the data of a drag that the page has begun. */
  drag?: (data: object) => void;
}

export class TrustedInput {
  #tabs = new Map<number, Attached>();
  /** Called when the person has ended it in the browser's bar. */
  cancelled: (tabId: number) => void = () => {};

  constructor() {
    chrome.debugger.onDetach.addListener(({ tabId }, reason) => {
      if (tabId === undefined) return;
      this.#forget(tabId);
      if (reason === "canceled_by_user") this.cancelled(tabId);
    });
    chrome.debugger.onEvent.addListener((session, method, params) => {
      const { tabId } = session;
      const tab = tabId === undefined ? undefined : this.#tabs.get(tabId);
      if (!tab || tabId === undefined) return;
      const said = (params ?? {}) as { type: string; data: object; mode: string; backendNodeId?: number; sessionId: string };
      // What nothing in the page has answered is not agreed to.
      if (method === "Page.javascriptDialogOpening" && tab.busy) void this.#send(session, "Page.handleJavaScriptDialog", { accept: said.type === "alert" }).catch(() => {});
      if (method === "Page.fileChooserOpened") tab.chooser = { session, mode: said.mode, node: said.backendNodeId };
      if (method === "Input.dragIntercepted") tab.drag?.(said.data);
      // A frame of another site, which has a session of its own.
      if (method === "Target.attachedToTarget") {
        const frame = { ...session, sessionId: said.sessionId };
        tab.frames.push(frame);
        void this.#prepare(frame, tab.busy > 0).catch(() => {});
      }
    });
  }

  /** Whether the debugger is attached to a tab, or is about to be. */
  uses(tabId: number) {
    return this.#tabs.has(tabId);
  }

  /** Attaches the debugger to a tab, and resolves when the browser's bar has come, which makes the page lower. */
  async ready(tabId: number) {
    const fresh = !this.#tabs.has(tabId);
    const tab = await this.#attach(tabId);
    if (fresh) await new Promise((done) => setTimeout(done, BAR));
    await this.#rest(tab, tabId);
  }

  /** An act is over, and perhaps the last one for a while. */
  async #rest(tab: Attached, tabId: number) {
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
  async act(tabId: number, act: TrustedAct, files: Files, place: (point: Point) => Promise<Point>, begun: () => void): Promise<void> {
    const tab = await this.#attach(tabId);
    let given = false;
    const give = (method: string, params: object) => {
      if (!given) begun();
      given = true;
      return this.#send({ tabId }, `Input.${method}`, params);
    };
    tab.chooser = undefined;
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

  async #act(tab: Attached, tabId: number, act: TrustedAct, place: (point: Point) => Promise<Point>, give: (method: string, params: object) => Promise<unknown>) {
    const mouse = (type: string, point: Point, params: object = {}) => give("dispatchMouseEvent", { type, ...point, pointerType: "mouse", ...params });
    switch (act.kind) {
      case "hover":
        await mouse("mouseMoved", await place(act));
        break;
      case "choose":
      case "click": {
        const point = await place(act);
        const { button, count } = act.kind === "click" ? act : { button: "left" as const, count: 1 };
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
  async #drag(tab: Attached, tabId: number, from: Point, to: Point, mouse: (type: string, point: Point, params?: object) => Promise<unknown>, give: (method: string, params: object) => Promise<unknown>) {
    await this.#send({ tabId }, "Input.setInterceptDrags", { enabled: true });
    let data: object | undefined;
    tab.drag = (given) => (data = given);
    try {
      await mouse("mouseMoved", from);
      await mouse("mousePressed", from, { button: "left", buttons: 1, clickCount: 1 });
      const carried = (type: string, point: Point) => give("dispatchDragEvent", { type, ...point, data });
      let entered = false;
      for (let i = 1; i <= MOVES; i++) {
        const point = { x: from.x + ((to.x - from.x) * i) / MOVES, y: from.y + ((to.y - from.y) * i) / MOVES };
        if (!data) await mouse("mouseMoved", point, { button: "left", buttons: 1 });
        if (data) await carried(entered ? "dragOver" : "dragEnter", point);
        entered = data !== undefined;
        if (i < MOVES) await new Promise((done) => setTimeout(done, 16)); // as a hand does, one a frame
      }
      if (data) {
        if (!entered) await carried("dragEnter", to);
        await carried("dragOver", to);
        await carried("drop", to);
      }
      await mouse("mouseReleased", to, { button: "left", clickCount: 1 });
    } finally {
      tab.drag = undefined;
      await this.#send({ tabId }, "Input.setInterceptDrags", { enabled: false }).catch(() => {});
    }
  }

  async #press({ key, code, keyCode, text, held }: TrustedKey, give: (method: string, params: object) => Promise<unknown>) {
    const modifiers = held.reduce((sum, name) => sum | MODIFIERS[name][0], 0);
    const types = key === "Enter" && !held.some((name) => name !== "Shift") ? "\r" : text;
    const edit = /^Mac/.test(navigator.platform) && modifiers === MODIFIERS.Meta[0] ? EDITS[key.toLowerCase()] : undefined;
    const hold = (name: keyof typeof MODIFIERS, type: string, now: number) => give("dispatchKeyEvent", { type, key: name, code: `${name}Left`, windowsVirtualKeyCode: MODIFIERS[name][1], modifiers: now });
    const event = { key, code, windowsVirtualKeyCode: keyCode, modifiers };
    for (const name of held) await hold(name, "rawKeyDown", modifiers);
    await give("dispatchKeyEvent", { ...event, ...(types ? { type: "keyDown", text: types, unmodifiedText: types } : { type: "rawKeyDown" }), ...(edit && { commands: [edit] }) });
    await give("dispatchKeyEvent", { ...event, type: "keyUp" });
    for (const name of [...held].reverse()) await hold(name, "keyUp", 0);
  }

  /** Puts files where the page asks for some, which it does a moment after a click. */
  async #choose(tab: Attached, files: Files) {
    for (const until = Date.now() + CHOOSES; !tab.chooser && Date.now() < until; ) await new Promise((done) => setTimeout(done, 50));
    const { chooser } = tab;
    tab.chooser = undefined;
    if (!chooser) throw new NoInput("the page has not asked for files");
    if (chooser.node === undefined) throw new NoInput("the page reads files by itself, which only a person can give it");
    if (chooser.mode === "selectSingle" && files.length > 1) throw new NoInput(`the page takes one file, not ${files.length}`);
    const { object } = (await this.#send(chooser.session, "DOM.resolveNode", { backendNodeId: chooser.node })) as { object: { objectId: string } };
    await this.#send(chooser.session, "Runtime.callFunctionOn", { objectId: object.objectId, functionDeclaration: String(putFiles), arguments: [{ value: files }] });
  }

  async #attach(tabId: number): Promise<Attached> {
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

  async #open(tabId: number) {
    await chrome.debugger.attach({ tabId }, "1.3");
    await this.#prepare({ tabId }, true);
  }

  async #prepare(session: chrome.debugger.DebuggerSession, acts: boolean) {
    await this.#send(session, "Page.enable", {});
    await this.#send(session, "Page.setInterceptFileChooserDialog", { enabled: acts });
    await this.#send(session, "Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: true }).catch(() => {}); // before Chrome 125
  }

  /** Keeps the browser's choice of files closed in a tab, or not. */
  async #keepClosed({ frames }: Attached, tabId: number, enabled: boolean) {
    await Promise.all([{ tabId }, ...frames].map((session) => this.#send(session, "Page.setInterceptFileChooserDialog", { enabled }).catch(() => {}))); // a frame may have gone
  }

  async #send(session: chrome.debugger.DebuggerSession, method: string, params: object): Promise<unknown> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new NoInput("the page does not take input: it is busy, or not in front")), TIMEOUT);
    });
    try {
      return await Promise.race([chrome.debugger.sendCommand(session, method, params as { [key: string]: unknown }), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #detach(tabId: number) {
    this.#forget(tabId);
    await chrome.debugger.detach({ tabId }).catch(() => {}); // the tab may be closed
  }

  #forget(tabId: number) {
    clearTimeout(this.#tabs.get(tabId)?.idle);
    this.#tabs.delete(tabId);
  }
}

/** Runs in the page's world, on a file field: it may be in no document. */
function putFiles(this: HTMLInputElement, files: Files) {
  const transfer = new DataTransfer();
  for (const { name, mimeType, data } of files) transfer.items.add(new File([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], name, { type: mimeType ?? "" }));
  this.files = transfer.files;
  this.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  this.dispatchEvent(new Event("change", { bubbles: true }));
}

// One that the browser stopped in the middle of something may have left it attached.
void chrome.debugger.getTargets().then((targets) => {
  for (const { tabId, attached } of targets) if (attached && tabId !== undefined && !globalThis.tabhubTrustedInput?.uses(tabId)) void chrome.debugger.detach({ tabId }).catch(() => {});
});

globalThis.tabhubTrustedInput = new TrustedInput();
