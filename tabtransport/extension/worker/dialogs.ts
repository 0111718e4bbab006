// Dialogs that a page opens while a client's steps act in it, such as confirm(): they would keep the page from
// everything until a person has answered. For that time the page's world has functions that answer at once, and
// say what was asked to the steps (content/steps/dialog.ts), by events with a name that is new each time. A page
// that finds out the name can say for itself what it is asked anyway. As the mouse of steps is none to the browser,
// setPointerCapture() and its like do nothing for it: here they say which element is to have its events.

import { unlessStopping } from "./stopping.ts";

/** How long a page that is busy is waited for, in ms. */
const BUSY = 1_000;

/**
 * Has the dialogs of a document answered, whenever its steps say so.
 * @param trusted what acts is to the page as a person is
 * @returns the name of the events; undefined if the page was too busy
 */
export async function hookDialogs(tabId: number, documentId: string, trusted: boolean): Promise<string | undefined> {
  const name = crypto.randomUUID();
  const hooked = chrome.scripting.executeScript({ target: { tabId, documentIds: [documentId] }, world: "MAIN", injectImmediately: true, func: hook, args: [name, trusted] }).then(() => name);
  return Promise.race([unlessStopping(hooked, () => undefined), new Promise<undefined>((late) => setTimeout(late, BUSY))]);
}

/** Runs in the page's world. */
function hook(name: string, trusted: boolean) {
  type Kind = "alert" | "confirm" | "prompt" | "print" | "open";
  type Dialog = (...args: unknown[]) => unknown;
  /** Until when dialogs are answered, as performance.now() has it, and how the next one is. */
  let until = 0;
  let answer: DialogAnswer | undefined;
  const undo: (() => void)[] = [];

  const text = (value: unknown) => {
    try {
      return String(value).slice(0, 1000);
    } catch {
      return "";
    }
  };
  const said = (asked: AskedDialog) => document.dispatchEvent(new CustomEvent(`${name} asked`, { detail: JSON.stringify(asked) }));
  // What a person's own click opens is theirs to answer.
  const isPersons = () => window.event?.isTrusted === true && /^(click|dblclick|contextmenu|(mouse|pointer|key|touch))/.test(window.event.type);
  const answered = (kind: Kind, native: Dialog, view: Window, args: unknown[]): unknown => {
    if (performance.now() > until || (!trusted && isPersons())) return Reflect.apply(native, view, args);
    if (kind === "open") {
      const opened = Reflect.apply(native, view, args);
      if (!opened) said({ kind, message: text(args[0] ?? ""), got: "" });
      return opened;
    }
    const given = kind === "confirm" || kind === "prompt" ? answer : undefined;
    if (given) answer = undefined;
    const accept = kind === "alert" || given?.accept === true;
    const value = kind === "prompt" && accept ? (given?.text ?? text(args[1] ?? "")) : undefined;
    said({ kind, message: text(args[0] ?? ""), got: value ?? (accept ? "OK" : "Cancel"), told: given !== undefined });
    return kind === "confirm" ? accept : kind === "prompt" ? (value ?? null) : undefined;
  };
  const put = (view: Window & typeof globalThis) => {
    for (const kind of ["alert", "confirm", "prompt", "print", "open"] as const) {
      const own = Object.getOwnPropertyDescriptor(view, kind);
      const native = own?.value as Dialog | undefined;
      // Functions of the page's own open no dialog.
      if (!own?.configurable || typeof native !== "function" || !/\[native code\]/.test(Function.prototype.toString.call(native))) continue;
      const instead = { [kind]: (...args: unknown[]) => answered(kind, native, view, args) }[kind];
      Object.defineProperty(view, kind, { ...own, value: instead });
      undo.push(() => view[kind] === (instead as unknown) && Object.defineProperty(view, kind, own));
    }
    if (!trusted) capture(view);
    for (let i = 0; i < view.length && i < 100; i++) {
      try {
        if (view[i].document) put(view[i] as Window & typeof globalThis);
      } catch {
        // It is of another origin.
      }
    }
  };
  let captured: Element | undefined;
  const capture = (view: Window & typeof globalThis) => {
    const proto = view.Element.prototype;
    const mouse = 1; // as content/steps/click.ts has it
    const instead: Pick<Element, "setPointerCapture" | "releasePointerCapture" | "hasPointerCapture"> = {
      setPointerCapture(this: Element, id: number) {
        if (id !== mouse || performance.now() > until || isPersons()) return void Reflect.apply(natives.setPointerCapture, this, [id]);
        captured = this;
        this.dispatchEvent(new CustomEvent(`${name} captured`, { bubbles: true, composed: true }));
      },
      releasePointerCapture(this: Element, id: number) {
        if (id !== mouse || captured !== this) return void Reflect.apply(natives.releasePointerCapture, this, [id]);
        captured = undefined;
        document.dispatchEvent(new CustomEvent(`${name} captured`));
      },
      hasPointerCapture(this: Element, id: number) {
        return (id === mouse && captured === this) || Reflect.apply(natives.hasPointerCapture, this, [id]);
      },
    };
    const natives = {} as typeof instead;
    for (const member of ["setPointerCapture", "releasePointerCapture", "hasPointerCapture"] as const) {
      const own = Object.getOwnPropertyDescriptor(proto, member);
      if (!own?.configurable || typeof own.value !== "function") continue;
      Object.assign(natives, { [member]: own.value });
      Object.defineProperty(proto, member, { ...own, value: instead[member] });
      undo.push(() => proto[member] === (instead[member] as unknown) && Object.defineProperty(proto, member, own));
    }
  };
  const told = (event: Event) => {
    const { detail } = event as CustomEvent<string>;
    const { lasts, next } = JSON.parse(detail) as { lasts: number; next?: DialogAnswer };
    answer = next;
    captured = undefined;
    until = performance.now() + lasts;
    if (lasts > 0) return;
    document.removeEventListener(`${name} answer`, told);
    for (const back of undo) back();
  };
  document.addEventListener(`${name} answer`, told);
  put(window);
}
