import { ask } from "./common.ts";
import { byID, make } from "./elements.ts";
import { Guard } from "./guard.ts";
import { details, facts, reachChoice, sentence } from "./question.ts";

const id = decodeURIComponent(location.search.slice(1));
const question = byID("question");
const yes = byID("yes", HTMLButtonElement);
const code = make("input", "code");

/** How long the window stays when the question is no longer asked, in ms. */
const LEAVE = 10_000;
/** The least height of the window, in pixels of the screen. */
const MIN_HEIGHT = 320;

let closing: ReturnType<typeof setTimeout> | undefined;
/** Whether all of the question was in view once. */
let read = false;
/** What a yes is good for, as the owner has it now. */
let reach = reachChoice({ reaches: [] });
/** When the question expires, as Date.now() has it here and in the worker, which ends it. */
let until = Infinity;

const seen = new IntersectionObserver((entries) => {
  read ||= entries.some(({ isIntersecting }) => isIntersecting);
  if (!read) byID("more").hidden = false;
  byID("more").classList.toggle("over", read); // its room stays: nothing moves under the pointer
});
const guard = new Guard(() => answer("no"));
guard.add(byID("no", HTMLButtonElement), () => answer("no"));
guard.add(byID("never", HTMLButtonElement), () => answer("never"));
guard.add(yes, () => answer(reach.value), () => read && (!code.isConnected || code.value.trim() !== ""));

async function answer(reach: string) {
  await ask({ ask: "answer", id, answer: { reach, ...(code.isConnected && { code: code.value.trim() }) } });
}

async function show() {
  const view: QuestionView | undefined = await ask({ ask: "question", id });
  if (!view) {
    over();
    return;
  }
  clearTimeout(closing);
  closing = undefined;
  until = view.until;
  const { ask: asked, waiting, gone = false } = view;
  byID("waiting").textContent = waiting ? `Waiting after this one: ${waiting}` : "";
  if (byID("gone").hidden === gone) guard.disturb(); // what is below it may move
  byID("gone").hidden = !gone;
  byID("gone").textContent = gone ? "The app no longer waits for this. If you allow it, it is done once, when the app asks again, with what the page then shows." : "";
  if (question.childElementCount) return;
  guard.disturb();
  const signIn = asked.kind === "signIn";
  byID("headline").replaceChildren(make("span", "", ...sentence(asked)));
  byID("facts").replaceChildren(...facts(asked));
  const end = make("div", "");
  question.append(...(signIn ? [codeField()] : details(asked, "h2")), end);
  byID("never", HTMLButtonElement).hidden = !asked.reaches.includes("never");
  reach = reachChoice(asked);
  byID("reach").replaceChildren(reach);
  yes.textContent = reach.hidden && reach.value === "once" ? "Allow once" : "Allow";
  byID("answers").hidden = false;
  await fit(end);
  (signIn ? code : question).focus();
  seen.observe(end);
}

/** Makes the window as high as what it shows, within the screen. */
async function fit(end: HTMLElement) {
  const hidden = end.getBoundingClientRect().bottom + 14 - question.getBoundingClientRect().bottom;
  const { id, top = 0, height = outerHeight } = await chrome.windows.getCurrent();
  const { availTop = 0, availHeight } = screen as Screen & { availTop?: number };
  const wanted = Math.round(Math.min(Math.max(height + hidden, MIN_HEIGHT), availHeight));
  if (id === undefined || wanted === height) return;
  await chrome.windows.update(id, { height: wanted, top: Math.max(availTop, Math.min(top, availTop + availHeight - wanted)) });
}

function codeField() {
  code.autocomplete = "off";
  code.spellcheck = false;
  code.maxLength = 32;
  const hint = "Type the number that the page shows from which you sign in. If you have opened no such page, don’t allow it.";
  return make("label", "", make("h2", "soft", "Number"), code, make("p", "soft", hint));
}

/**
 * The question is no longer asked. The window stays for a while: what is under it must not get
 * a click that was meant for this.
 */
function over() {
  closing ??= setTimeout(() => window.close(), LEAVE);
  const expired = Date.now() >= until;
  byID("headline").textContent = expired ? "Time is up: it was not done" : "This is no longer asked";
  const later = expired && !code.isConnected ? "For a day you can still allow it on the dashboard. " : "";
  byID("waiting").textContent = `${later}This window closes in a moment.`;
  for (const part of [question, byID("facts")]) part.replaceChildren();
  byID("gone").hidden = true;
  byID("answers").hidden = true;
}

chrome.storage.session.onChanged.addListener(({ questions }) => {
  if (questions) void show();
});
await show();
