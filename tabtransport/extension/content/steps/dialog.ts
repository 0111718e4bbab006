// What a page asks in dialogs while steps act: worker/dialogs.ts has put functions into the page's world that
// answer at once.

import { capture } from "./click.ts";
import { clean, dispatch, inputType, isHTML } from "./dom.ts";
import { Failure } from "./failure.ts";
import { words } from "./find.ts";

/** How long after an act the page's dialogs are answered, in ms, if no other act follows. */
const LASTS = 10_000;
/** How many dialogs are told of one step. */
const MAX = 3;

export class Dialogs {
  #name;
  #next: DialogAnswer | undefined;
  #asked: AskedDialog[] = [];
  /** The address of a tab that the page could not open. */
  #opened: string | undefined;
  /** The file field that it could not open. */
  #field: Element | undefined;

  /** @param name of the events; undefined: the dialogs are the browser's */
  constructor(name?: string) {
    this.#name = name;
    if (name) for (const [type, heard] of this.#hears(name)) addEventListener(type, heard, true);
  }

  /** Says how the next dialog is answered that has a choice. */
  next(answer: DialogAnswer) {
    this.#next = answer;
  }

  /** A step is about to act. */
  answer() {
    this.#tell(LASTS);
  }

  /** Nothing is answered any more, and the page has its own functions. */
  end() {
    this.#tell(0);
    if (this.#name) for (const [type, heard] of this.#hears(this.#name)) removeEventListener(type, heard, true);
    this.#name = undefined;
    capture(undefined);
  }

  /** What the page has asked since this was called last, to be put after what a step did; "" if nothing. */
  words(): string {
    const asked = this.#asked.splice(0);
    this.#opened ??= asked.find(({ kind }) => kind === "open")?.message;
    const more = asked.length > MAX ? `; and ${asked.length - MAX} times more` : "";
    return asked.slice(0, MAX).map((one) => `; ${inWords(one)}`).join("") + more;
  }

  /** Fails if the page wanted what browsers do only for a person. */
  check() {
    const [opened, field] = [this.#opened, this.#field];
    this.#opened = this.#field = undefined;
    if (field) throw needsPerson(`the page wanted to have files chosen for ${words(field)}, which browsers let it do only for a person; upload does it, by what was clicked`);
    if (opened === undefined) return;
    const to = URL.canParse(opened, location.href) ? new URL(opened, location.href).href : opened;
    throw needsPerson(`the page wanted to open another tab, which browsers let it do only for a person; browser_tab new does it, with the address ${clean(to, 2000)}`);
  }

  #tell(lasts: number) {
    if (this.#name) dispatch(document, new CustomEvent(`${this.#name} answer`, { detail: JSON.stringify({ lasts, next: this.#next }) }));
  }

  #hears(name: string): [string, (event: Event) => void][] {
    return [[`${name} asked`, this.#heard], [`${name} captured`, this.#captured], ["click", this.#clicked]];
  }

  /** The page clicks a file field, which opens nothing. */
  #clicked = (event: Event) => {
    const at = event.composedPath()[0];
    if (!event.isTrusted && at instanceof Element && isHTML(at, "input") && inputType(at) === "file") queueMicrotask(() => !event.defaultPrevented && (this.#field = at));
  };

  /** The page gives the mouse's events to an element, or to none. */
  #captured = (event: Event) => {
    const at = event.composedPath()[0];
    capture(at instanceof Element ? at : undefined);
  };

  #heard = (event: Event) => {
    const { detail } = event as CustomEvent<unknown>;
    if (typeof detail !== "string") return;
    let asked: AskedDialog;
    try {
      asked = JSON.parse(detail);
    } catch {
      return;
    }
    const { kind, message, got, told } = asked ?? {};
    if (!KINDS.includes(kind) || typeof message !== "string" || typeof got !== "string" || this.#asked.length > 1000) return;
    if (told === true) this.#next = undefined;
    this.#asked.push({ kind, message, got, told: told === true });
  };
}

/** What was done the page has taken, and what it then wanted browsers do only for a person. */
function needsPerson(message: string) {
  return Object.assign(new Failure("NEEDS_TRUSTED_INPUT", message), { did: "yes" as const });
}

const KINDS = ["alert", "confirm", "prompt", "print", "open"];

function inWords({ kind, message, got, told }: AskedDialog): string {
  const quoted = JSON.stringify(clean(message, 300));
  const again = told ? "" : "; to answer otherwise, say dialog before it, and do it again";
  switch (kind) {
    case "alert":
      return `the page said ${quoted}`;
    case "confirm":
      return `the page asked ${quoted} and got ${clean(got, 10)}${again}`;
    case "prompt":
      return `the page asked for a text, ${quoted}, and got ${got === "Cancel" ? got : JSON.stringify(clean(got, 80))}${again}`;
    case "print":
      return "the page wanted to print, and was not let";
    case "open":
      return "the page wanted to open another tab";
  }
}
