// Acts by input of the browser's own, which the page cannot tell from a person's, where the worker can give it
// (worker/trustedinput.ts). The input goes to a point of the tab: what it meets there that is not the element gets none
// of it.

import { actOf, type Act } from "./act.ts";
import { focusOn } from "./click.ts";
import { check } from "./destination.ts";
import { clean, documentOf, hasFocus, inputType, isHTML, labelsOf, outward, rects, selectContents, selectText, selectionOf, viewOf } from "./dom.ts";
import { Failure } from "./failure.ts";
import { takes } from "./fill.ts";
import { words, type Found, type Scope } from "./find.ts";
import { keyOf, type Key } from "./keys.ts";
import { checkKey, focusedIn, press } from "./press.ts";
import { asksForFiles } from "./upload.ts";
import { another, middle, usable, type View } from "./usable.ts";
import { valueOf } from "./values.ts";

/**
 * Has the worker give the page input.
 * @param done what the step did, if that is all of it
 */
export type Give = (input: TrustedAct, done?: string) => Promise<void>;

const MOUSE = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "contextmenu", "dblclick"];
const MOVES = ["pointermove", "mousemove"];

/** The act of a step that is done so; undefined: a script does it. */
export function trustedActOf(step: Step, scope: Scope, now: boolean, give: Give): Act | undefined {
  if (step.click) {
    const { target, button = "", count = 1 } = step.click;
    const found = usable(target, scope, now);
    leads(found, scope);
    const right = button === "right";
    const said = `${right ? "right-clicked" : count === 1 ? "clicked" : count === 2 ? "double-clicked" : `clicked ${count} times`} ${found.words}`;
    return act([found], said, scope, [...MOUSE, ...MOVES], () => give({ kind: "click", ...pointOf(found.element), button: right ? "right" : "left", count }, said));
  }
  if (step.hover) {
    const found = usable(step.hover.target, scope, now);
    const said = `moved the mouse over ${found.words}`;
    return act([found], said, scope, MOVES, () => give({ kind: "hover", ...pointOf(found.element) }, said));
  }
  if (step.drag) {
    const to = usable(step.drag.to, scope, false);
    const found = usable(step.drag.target, scope, now);
    const said = `dragged ${found.words} to ${to.words}`;
    const trusted = act([found, to], said, scope, ["pointerdown", "mousedown"], () => give({ kind: "drag", from: pointOf(found.element), to: pointOf(to.element) }, said));
    // A hand moves on the screen: what is not seen at once is dragged by a script.
    return { on: [found, to], do: (signal) => (isOnScreen(found.element) && isOnScreen(to.element) ? trusted : actOf(step, scope, now)).do(signal) };
  }
  if (step.press) return pressAct(step.press.target ? usable(step.press.target, scope, now) : focusedIn(scope), keyOf(step.press.key), scope, give);
  if (step.fill) return fillAct(step.fill.fields as Field[], actOf(step, scope, now), scope, give);
  if (step.upload) return uploadAct(usable(step.upload.target, scope, now), step, scope, now, give);
  if (step.scroll?.pages) return scrollAct(actOf(step, scope, now), step.scroll.pages, give);
  return undefined;
}

function act(on: Found[], said: string, scope: Scope, events: string[], give: () => Promise<void>): Act {
  return {
    on,
    async do() {
      const guard = new Guard(on[0], scope, events);
      try {
        await give();
      } finally {
        guard.end();
      }
      guard.check();
      return said;
    },
  };
}

// ---- Keys

function pressAct(found: Found, key: Key, scope: Scope, give: Give): Act {
  const { element } = found;
  if (PASTES.test(key.said)) throw new Failure("STEP_REFUSED", `${key.said} would give the page what the person has copied; fill puts a text into a field`);
  unlessTrusted(() => checkKey(found, key, scope));
  const said = `pressed ${key.said} ${found.words === "the page" ? "on" : "in"} ${found.words}`;
  const trusted = act([found], said, scope, ["keydown"], () => give({ kind: "keys", keys: [keyFor(key)] }, said));
  return {
    on: [found],
    do(signal) {
      if (found.words === "the page") return trusted.do(signal);
      focusOn(element);
      // What takes no focus gets keys only from a script.
      return hasFocus(element) ? trusted.do(signal) : press(found, key, scope);
    },
  };
}

const PASTES = /^(((control|ctrl|meta|cmd|command)\+(shift\+)?v)|shift\+insert)$/i;

function keyFor({ key, code, keyCode, text, held }: Key): TrustedKey {
  return { key, code, keyCode, text, held };
}

// ---- Fields

type Field = { target: Target; value: unknown };

/** Fields are set by a script, and typed into where they take only that. */
function fillAct(fields: Field[], { on }: Act, scope: Scope, give: Give): Act {
  return {
    on,
    do(signal) {
      const set: string[] = [];
      const failed = (error: unknown) => {
        if (error instanceof Failure && set.length > 0) Object.assign(error, { did: "perhaps", words: `set ${set.length} of ${fields.length} fields: ${set.join(", ")}` });
        return error;
      };
      const from = (at: number): string | Promise<string> => {
        for (let i = at; i < fields.length; i++) {
          const one = actOf({ fill: { fields: [fields[i]] } } as Step, scope, true);
          if (one.on.length === 0) continue; // its argument is absent
          const typed = (error: unknown) => {
            const wanted = valueOf(fields[i].value, scope);
            if (error instanceof Failure && error.code === "NEEDS_TRUSTED_INPUT" && (typeof wanted === "string" || typeof wanted === "number")) return type(one.on[0], String(wanted), scope, give);
            throw error;
          };
          let words: string | Promise<string>;
          try {
            words = one.do(signal);
          } catch (error) {
            try {
              words = typed(error);
            } catch (error) {
              throw failed(error);
            }
          }
          const add = (said: string) => void set.push(said.replace(/^set /, ""));
          if (typeof words !== "string") return words.catch(typed).then(add, (error) => Promise.reject(failed(error))).then(() => from(i + 1));
          add(words);
        }
        return set.length > 0 ? `set ${set.join(", ")}` : "left all fields as they are";
      };
      return from(0);
    },
  };
}

/** The longest text that is typed key by key. */
const MAX_KEYS = 100;

/** Types a text over what is in a field. */
async function type(found: Found, text: string, scope: Scope, give: Give): Promise<string> {
  const { element } = found;
  takes(found, scope);
  focusOn(element);
  if (!hasFocus(element)) throw new Failure("STEP_REFUSED", `${found.words} does not take the focus`);
  if (isHTML(element, "input", "textarea")) selectText(element);
  else {
    const selection = selectionOf(documentOf(element));
    if (selection) selectContents(selection, element);
  }
  const byKeys = text.length <= MAX_KEYS && /^[\x20-\x7e]*$/.test(text);
  const keys = text === "" ? [keyFor(keyOf("Delete"))] : [...text].map((letter) => keyFor(keyOf(letter)));
  const said = `set ${found.words} to ${JSON.stringify(clean(text))}, by keys`;
  return await act([found], said, scope, [byKeys ? "keydown" : "beforeinput"], () => give(byKeys ? { kind: "keys", keys } : { kind: "text", text })).do(new AbortController().signal);
}

// ---- Files

/** Files are put into their field by a script, or where a click has the page ask for some. */
function uploadAct(found: Found, step: Step, scope: Scope, now: boolean, give: Give): Act {
  if (!asksForFiles(found)) return actOf(step, scope, now);
  leads(found, scope);
  const names = step.upload?.files.map(({ name }) => JSON.stringify(clean(name, 80))).join(", ");
  const said = `put ${names} where ${found.words} asks for files`;
  return act([found], said, scope, [...MOUSE, ...MOVES], () => give({ kind: "choose", ...pointOf(found.element) }, said));
}

// ---- The wheel

/** What a script cannot scroll may scroll by itself when the wheel is turned. */
function scrollAct(scripted: Act, pages: number, give: Give): Act {
  return {
    on: scripted.on,
    async do(signal) {
      const words = await scripted.do(signal);
      if (!words.startsWith("could not scroll")) return words;
      const [found] = scripted.on;
      const at = found ? pointOf(found.element) : { x: innerWidth / 2, y: innerHeight / 2 };
      await give({ kind: "wheel", ...at, dx: 0, dy: Math.round(pages * innerHeight) });
      return `turned the wheel over ${found ? found.words : "the page"}`;
    },
  };
}

// ---- Where it goes

/** Refuses what a look at it does, but for what only a person may do. */
function unlessTrusted(look: () => void) {
  try {
    look();
  } catch (error) {
    if (!(error instanceof Failure && error.code === "NEEDS_TRUSTED_INPUT")) throw error;
  }
}

/** Where a click may lead: also to where only a person's does. */
function leads({ element, words }: Found, scope: Scope) {
  if (isHTML(element, "input") && inputType(element) === "file") throw new Failure("STEP_REFUSED", `${words} takes files: upload puts them there`);
  unlessTrusted(() => check(element, scope));
}

/** The middle of an element in this document's window: it may be in a frame of the same origin. */
function pointOf(element: Element) {
  let { x, y } = middle(element);
  for (let view = viewOf(element) as View; view !== window; view = view.parent as View) {
    const frame = view.frameElement;
    const [rect] = frame ? rects(frame) : [];
    if (!frame || !rect) throw new Failure("STEP_REFUSED", "its frame is gone");
    x += rect.left + frame.clientLeft;
    y += rect.top + frame.clientTop;
  }
  return { x, y };
}

function isOnScreen(element: Element) {
  const { x, y } = pointOf(element);
  return x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
}

/** Keeps input from all but one element: the page may have put something over it meanwhile, or moved it. */
class Guard {
  #found;
  #scope;
  #stop = new AbortController();
  #seen = false;
  /** Whether the button that was pressed has clicked: what a label passes on comes after that. */
  #clicked = false;
  #hindered = "";

  constructor(found: Found, scope: Scope, events: string[]) {
    this.#found = found;
    this.#scope = scope;
    const view = viewOf(found.element) as View;
    for (const type of events) view.addEventListener(type, this.#heard, { capture: true, signal: this.#stop.signal });
  }

  #heard = (event: Event) => {
    if (!event.isTrusted) return;
    const at = event.composedPath()[0] as Element;
    const { element } = this.#found;
    const parts = [element, ...labelsOf(element)];
    const isThere = this.#found.words === "the page" || at instanceof Element && outward(at, (outer) => parts.includes(outer)) !== null;
    if (MOVES.includes(event.type)) {
      this.#seen ||= isThere;
      return;
    }
    if (/^key|input$/.test(event.type) && this.#seen && !this.#hindered) return; // where keys go on the page decides
    if (event.type === "mousedown") this.#clicked = false;
    if (event.type === "click" && this.#clicked) return;
    if (!isThere) this.#hindered ||= `${this.#found.words} is covered by ${at instanceof Element ? words(at) : "something else"} by now`;
    else if (event.type === "click") this.#hindered ||= another(this.#found, this.#scope) || this.#elsewhere();
    this.#seen = true;
    this.#clicked ||= event.type === "click";
    if (!this.#hindered) return;
    event.stopImmediatePropagation();
    event.preventDefault();
  };

  /** Why a click must not lead where it leads by now. */
  #elsewhere() {
    try {
      leads(this.#found, this.#scope);
      return "";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  end() {
    this.#stop.abort();
  }

  check() {
    if (!this.#hindered && this.#seen) return;
    const failure = new Failure("STEP_REFUSED", this.#hindered ? `${this.#hindered}: it got none of it` : `${this.#found.words} got nothing of the input; something else on the page may have got it`);
    failure.did = this.#hindered ? "no" : "perhaps";
    failure.certain = true;
    throw failure;
  }
}
