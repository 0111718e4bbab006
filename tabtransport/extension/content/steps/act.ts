// What acts on a page as a person would: each verb with the events of a hand, on what is seen, enabled and not
// covered, and which leads nowhere that the run does not reach.

import { click, clicks, hover, rightClick } from "./click.ts";
import { check } from "./destination.ts";
import { drag } from "./drag.ts";
import { Failure } from "./failure.ts";
import { editOf, fill, type Edited } from "./fill.ts";
import { keyOf, type Key } from "./keys.ts";
import { checkKey, focusedIn, press } from "./press.ts";
import { scrollPages, scrollTo } from "./scroll.ts";
import { selectEdit } from "./select.ts";
import { uploadTo } from "./upload.ts";
import { usable } from "./usable.ts";
import { ABSENT, valueOf } from "./values.ts";
import type { Found, Scope } from "./find.ts";

type ClickStep = NonNullable<Step["click"]>;
type ScrollStep = NonNullable<Step["scroll"]>;
type UploadStep = NonNullable<Step["upload"]>;
type Field = { target: Target; value: unknown };

/** What a step is about to do. */
export interface Act {
  /** The elements that it is done on. */
  on: Found[];
  /**
   * Does it, and says what it did: in the task in which it was made, or, if it takes longer than that, as a
   * promise. That ends when the signal says so.
   */
  do(signal: AbortSignal): string | Promise<string>;
}

/**
 * Makes the act of a step.
 * @param now it is about to be done: what is not in view is scrolled there, and must not be covered
 */
export function actOf(step: Step, scope: Scope, now: boolean): Act {
  const found = (target: Target) => usable(target, scope, now);
  if (step.click) return clickAct(found(step.click.target), step.click, scope);
  if (step.fill) return fillAct(step.fill.fields as Field[], found, scope);
  if (step.select) return selectAct(found(step.select.target), step.select.options, scope);
  if (step.press) return pressAct(step.press.target ? found(step.press.target) : focusedIn(scope), keyOf(step.press.key), scope);
  if (step.hover) return hoverAct(found(step.hover.target));
  if (step.scroll) return scrollAct(step.scroll, scope);
  if (step.drag) return dragAct(usable(step.drag.to, scope, false), found(step.drag.target), scope);
  if (step.upload) return uploadAct(found(step.upload.target), step.upload.files, scope);
  throw new Failure("STEP_REFUSED", "this browser cannot do that");
}

function clickAct(found: Found, { button, count = 1 }: ClickStep, scope: Scope): Act {
  if (button === "right") return { on: [found], do: () => rightClick(found, scope) };
  check(found.element, scope);
  return { on: [found], do: (signal) => (count > 1 ? clicks(found, scope, count, signal) : click(found, scope)) };
}

function fillAct(fields: Field[], find: (target: Target) => Found, scope: Scope): Act {
  const edits = fields.flatMap(({ target, value }): Edited[] => {
    const wanted = valueOf(value, scope);
    if (wanted === ABSENT || wanted === null) return [];
    const found = find(target);
    return [{ found, edit: editOf(found, wanted, scope) }];
  });
  return { on: edits.map(({ found }) => found), do: (signal) => fill(edits, scope, signal) };
}

function selectAct(found: Found, options: string[], scope: Scope): Act {
  const edit = selectEdit(found, options.map((option) => option.trim()), scope);
  return { on: [found], do: (signal) => fill([{ found, edit }], scope, signal) };
}

function pressAct(found: Found, key: Key, scope: Scope): Act {
  checkKey(found, key, scope);
  return { on: [found], do: () => press(found, key, scope) };
}

function hoverAct(found: Found): Act {
  return { on: [found], do: () => hover(found) };
}

/** What is scrolled need not be in view, and what is over it does not matter. */
function scrollAct({ target, pages }: ScrollStep, scope: Scope): Act {
  const found = target && usable(target, scope, false);
  if (found && !pages) return { on: [found], do: () => scrollTo(found) };
  return { on: found ? [found] : [], do: (signal) => scrollPages(found, pages ?? 1, signal) };
}

function dragAct(to: Found, found: Found, scope: Scope): Act {
  if (found.element === to.element) throw new Failure("STEP_REFUSED", `${found.words} would be dragged onto itself`);
  return { on: [found, to], do: (signal) => drag(found, to, scope, signal) };
}

function uploadAct(found: Found, files: UploadStep["files"], scope: Scope): Act {
  return { on: [found], do: uploadTo(found, files, scope) };
}
