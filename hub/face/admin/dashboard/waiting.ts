// The questions that wait for the owner. What is shown stays where it is while it can be
// answered, and an answer goes with the digest of what was shown.

import { byID, element, tell, when } from "./dom.ts";
import { REACHES, details, facts, reachChoice, sentence } from "../../../../tabtransport/extension/question.ts";
import type { Question } from "./api.d.ts";

import * as session from "./session.ts";

/** How long a question has to be there, and nothing to have moved, before it is answered, in ms. */
const REST = 1500;

/** The open ones, by id. */
const open = new Map<string, { card: HTMLElement; state: HTMLElement; answered?: string }>();

let disturbed = performance.now();
let resting: ReturnType<typeof setTimeout> | undefined;
/** Where the pointer has gone down. */
let pressed: EventTarget | null = null;

const rested = () => document.hasFocus() && performance.now() - disturbed >= REST;

/** Something has moved, or the page has come to the front: a click was meant for something else. */
function disturb() {
  disturbed = performance.now();
  pressed = null;
  mark();
  clearTimeout(resting);
  resting = setTimeout(mark, REST);
}

/** Shows which buttons can be used. They keep the focus when they cannot. */
function mark() {
  for (const b of byID("questions").querySelectorAll("button")) b.ariaDisabled = String(!rested());
}

/**
 * Shows the questions. Those that are no longer asked stay in their place, without buttons,
 * until the pointer has left.
 */
export function showQuestions(questions: Question[]) {
  const all = questions.filter(({ allowed }) => !allowed);
  const list = byID("questions");
  const ids = new Set(all.map(({ id }) => id));
  for (const [id, { card, state, answered }] of open) {
    if (ids.has(id)) continue;
    open.delete(id);
    card.style.minHeight = `${card.offsetHeight}px`;
    card.dataset.over = "";
    state.textContent = answered ?? "This is no longer asked.";
    if (card.contains(document.activeElement)) byID("waiting-title").focus({ preventScroll: true });
    card.replaceChildren(card.children[0], state);
  }
  for (const q of all) {
    let shown = open.get(q.id);
    if (!shown) {
      shown = make(q);
      open.set(q.id, shown);
      list.append(shown.card);
    }
    const words = stateOf(q);
    if (shown.state.textContent !== words) {
      shown.state.textContent = words;
      disturb();
    }
  }
  const n = all.length;
  const count = n === 0 ? "" : n === 1 ? "1 question" : `${n} questions`;
  if (byID("waiting-count").textContent !== count) byID("waiting-count").textContent = count;
  byID("no-questions").hidden = list.childElementCount > 0;
  sweep();
}

/** Takes away what is no longer asked, unless the pointer or the focus is there. */
export function sweep() {
  const list = byID("questions");
  const overs = list.matches(":hover, :focus-within") ? [] : list.querySelectorAll("[data-over]");
  for (const over of overs) {
    over.remove();
    disturb();
  }
  if (overs.length > 0) byID("no-questions").hidden = list.childElementCount > 0;
}

function stateOf({ count, late, until }: Question) {
  if (late) return `The call has ended. A yes is good for the same call again, once, with what the page then shows; it can be given until ${when(until)}.`;
  return `Waits until ${when(until)}.${count > 1 ? ` ${count} identical calls wait: a yes “${REACHES.once}” is for one of them.` : ""}`;
}

function make(q: Question) {
  const state = element("p", "soft");
  const title = element("h3", "", ...sentence(q));
  title.id = `question-${q.id}`;
  const card = element("article", "question", title, ...facts(q), ...details(q, "h4"), answers(q), state);
  card.setAttribute("aria-labelledby", title.id);
  return { card, state };
}

function answers(q: Question) {
  const made = element("div", "answers writes");
  const code = document.createElement("input");
  if (q.kind === "signIn") {
    code.autocomplete = "off";
    code.maxLength = 32;
    made.append(element("label", "", "Number that the page shows ", code));
  }
  const reach = reachChoice(q);
  const answer = (className: string, label: string, reachOf: () => string) => {
    const b = element("button", className, label);
    b.type = "button";
    b.addEventListener("click", (event) => {
      if (!event.isTrusted || !rested() || (event.detail > 0 && pressed !== b)) return;
      disturb(); // once is enough
      const reach = reachOf();
      const shown = open.get(q.id);
      void tell(b, async () => {
        await session.ask("POST", "api/questions", { id: q.id, digest: q.digest, reach, ...(code.value && { code: code.value.trim() }) });
        if (!shown) return;
        shown.answered = reach === "no" || reach === "never" ? "You did not allow it." : "You allowed it.";
        shown.state.textContent = shown.answered;
      });
    });
    return b;
  };
  made.append(answer("answer-no", "Don’t allow", () => "no"));
  if (q.reaches.includes("never")) made.append(answer("answer-never", "Never for this app", () => "never"));
  made.append(reach, answer("answer-yes", reach.hidden && reach.value === "once" && q.kind !== "signIn" ? "Allow once" : "Allow", () => reach.value));
  return element("div", "", made, element("p", "reads soft", "Answer it with ", element("code", "", `tabhub approve ${q.id}`), "."));
}

byID("questions").addEventListener("pointerdown", ({ isTrusted, target }) => (pressed = isTrusted && rested() ? target : null), true);
for (const type of ["focus", "blur", "resize"]) addEventListener(type, disturb);
document.addEventListener("visibilitychange", disturb);
// What is above the questions moves them when it grows.
const above = new ResizeObserver(disturb);
for (const moves of ["head", "trouble", "only-reads", "questions"]) above.observe(byID(moves));
