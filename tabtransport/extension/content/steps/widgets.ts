// Fields that a page has made itself: editors of rich text, and sliders that keys move.

import { attribute, clean, documentOf, hasFocus, innerText, selectContents, selectionOf } from "./dom.ts";
import { insert } from "./defaults.ts";
import { Failure, perhaps } from "./failure.ts";
import { takes, refused, type Edit } from "./fill.ts";
import { keyOf } from "./keys.ts";
import { drawn, inTime, turn } from "./moment.ts";
import { press } from "./press.ts";
import type { Found, Scope } from "./find.ts";

/** How long an editor may take to show what was typed, in ms. */
const SHOWS = 1_000;
/** How many keys a slider may need. */
const MAX_KEYS = 1_000;

/** Replaces the text of an editor, line by line, as if it were typed. */
export function richEdit(found: Found, text: string, scope: Scope): Edit {
  const { element } = found;
  const ready = () =>
    perhaps(() => {
      takes(found, scope);
      if (!hasFocus(element)) throw refused(found); // what edits goes where that is
    });
  return async (signal) => {
    ready();
    const before = shown(element);
    const selection = selectionOf(documentOf(element));
    if (selection) selectContents(selection, element);
    await drawn(); // an editor hears of what is selected a moment later
    signal.throwIfAborted();
    const lines = text.split(/\r\n?|\n/);
    if (text === "") {
      ready();
      insert(element, "delete", "deleteContentBackward");
    }
    for (const [i, line] of lines.entries()) {
      if (i > 0) {
        ready();
        insert(element, "insertParagraph", "insertParagraph");
        await turn();
      }
      if (line === "") continue;
      ready();
      insert(element, "insertText", "insertText", line);
      await turn();
    }
    const wanted = squeezed(text);
    const took = await inTime(SHOWS, signal, () => (squeezed(shown(element)) === wanted ? true : undefined));
    if (!took && shown(element) === before) throw refused(found);
    return JSON.stringify(clean(text)) + (took ? "" : `, and the page shows ${JSON.stringify(clean(shown(element)))}`);
  };
}

function shown(element: Element) {
  return innerText(element);
}

function squeezed(text: string) {
  return text.replace(/[\s\u200b\ufeff]+/g, "");
}

/** Moves a slider by its keys until it has a value. */
export function sliderEdit(found: Found, text: string, scope: Scope): Edit {
  const { element } = found;
  const number = (name: string) => Number(attribute(element, `aria-value${name}`) ?? Number.NaN);
  const wanted = Number(text);
  const [min, max] = [number("min"), number("max")];
  if (text.trim() === "" || Number.isNaN(wanted)) throw new Failure("STEP_REFUSED", `${found.words} takes a number such as 1.5, not ${JSON.stringify(clean(text))}`);
  if (Number.isNaN(number("now"))) throw new Failure("STEP_REFUSED", `${found.words} does not say what it is at; press its arrow keys, or drag it`);
  if (wanted < min || wanted > max) throw new Failure("STEP_REFUSED", `${found.words} goes from ${min} to ${max}`);
  return async (signal) => {
    for (let keys = 0; number("now") !== wanted && keys < MAX_KEYS; keys++) {
      signal.throwIfAborted();
      perhaps(() => takes(found, scope));
      const before = number("now");
      press(found, keyOf(wanted > before ? "ArrowRight" : "ArrowLeft"), scope);
      const now = await inTime(SHOWS, signal, () => (number("now") === before ? undefined : number("now")));
      if (now === undefined) throw refused(found);
      // It goes by steps, and the wanted value is between two of them; or it runs the other way.
      if (wanted > before !== wanted > now || Math.abs(wanted - now) > Math.abs(wanted - before)) break;
    }
    return number("now") === wanted ? text : `${text}, which the page made ${number("now")}`;
  };
}
