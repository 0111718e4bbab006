// Acts by input of the browser's own, which the page cannot tell from a person's, where the worker can give it
// (worker/trustedinput.ts). The input goes to a point of the tab: what it meets there that is not the element gets none
// of it.

import { check } from "./destination.ts";
import { inputType, isHTML, labelsOf, outward, rects, viewOf } from "./dom.ts";
import { Failure } from "./failure.ts";
import { words, type Found, type Scope } from "./find.ts";
import { another, middle, usable, type View } from "./usable.ts";
import type { Act } from "./act.ts";

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
    return act([found, to], said, scope, ["pointerdown", "mousedown"], () => give({ kind: "drag", from: pointOf(found.element), to: pointOf(to.element) }, said));
  }
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

/** Where a click may lead: also to where only a person's does. */
function leads({ element, words }: Found, scope: Scope) {
  if (isHTML(element, "input") && inputType(element) === "file") throw new Failure("STEP_REFUSED", `${words} takes files: upload puts them there`);
  try {
    check(element, scope);
  } catch (error) {
    if (!(error instanceof Failure && error.code === "NEEDS_TRUSTED_INPUT")) throw error;
  }
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
    const isThere = at instanceof Element && outward(at, (outer) => parts.includes(outer)) !== null;
    if (MOVES.includes(event.type)) {
      this.#seen ||= isThere;
      return;
    }
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
    const failure = new Failure("STEP_REFUSED", this.#hindered ? `${this.#hindered}: it got no click` : `${this.#found.words} got nothing of the input; something else on the page may have got it`);
    failure.did = this.#hindered ? "no" : "perhaps";
    failure.certain = true;
    throw failure;
  }
}
