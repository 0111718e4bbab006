// What acts on a page as a person would: each verb with the events of a hand, on what is seen, enabled and not
// covered, and which leads nowhere that the run does not reach.

import { click } from "./click.ts";
import { Failure } from "./failure.ts";
import { editOf, fill, refusal, type Edit } from "./fill.ts";
import { check } from "./destination.ts";
import { press } from "./press.ts";
import { usable } from "./usable.ts";
import { ABSENT, valueOf } from "./values.ts";
import type { Found, Scope } from "./find.ts";

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
  if (step.click) return clickAct(found(step.click.target), scope);
  if (step.press) return pressAct(found(step.press.target as Target), step.press.key, scope);
  if (step.fill) return fillAct(step.fill.fields as Field[], found, scope);
  throw new Failure("STEP_REFUSED", "this browser cannot do that");
}

function clickAct(found: Found, scope: Scope): Act {
  check(found.element, scope);
  return { on: [found], do: () => click(found, scope) };
}

function pressAct(found: Found, key: string, scope: Scope): Act {
  if (key === "Enter") check(found.element, scope, true);
  const problem = key.length === 1 ? refusal(found) : "";
  if (problem) throw new Failure("STEP_REFUSED", `${found.words} ${problem}`);
  return { on: [found], do: () => press(found, key, scope) };
}

type Field = { target: Target; value: unknown };

function fillAct(fields: Field[], find: (target: Target) => Found, scope: Scope): Act {
  const edits = fields.flatMap(({ target, value }): { found: Found; edit: Edit }[] => {
    const wanted = valueOf(value, scope);
    if (wanted === ABSENT || wanted === null) return [];
    const found = find(target);
    return [{ found, edit: editOf(found, wanted, scope) }];
  });
  return { on: edits.map(({ found }) => found), do: () => fill(edits, scope) };
}
