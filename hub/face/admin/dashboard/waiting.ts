// The questions that wait for the owner. What is shown stays where it is while it can be
// answered, and an answer goes with the digest of what was shown.

import { byID, element, foreign, tell, when } from "./dom.ts";
import { CLASSES } from "../../../../tabtransport/extension/words.ts";
import type { Question } from "./api.d.ts";

import * as session from "./session.ts";

/** How long a question has to be there, and nothing to have moved, before it is answered, in ms. */
const REST = 1500;

/** What a button says, for each answer. */
const ANSWERS: Record<string, string> = {
  no: "Don’t allow",
  never: "Never for this app",
  once: "Allow once",
  session: "Allow for this session",
  app: "Always for this app",
  always: "Always, for every app",
};

const KINDS: Record<string, string> = { tool: "Tool", resource: "Resource", prompt: "Prompt" };

/** The open ones, by id. */
const open = new Map<string, { card: HTMLElement; state: HTMLElement }>();

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
  for (const [id, { card, state }] of open) {
    if (ids.has(id)) continue;
    open.delete(id);
    card.style.minHeight = `${card.offsetHeight}px`;
    card.dataset.over = "";
    state.textContent = "This is no longer asked.";
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
  if (late) return `The call has ended. A yes is good for the same call again; it can be given until ${when(until)}.`;
  return `Waits until ${when(until)}.${count > 1 ? ` ${count} identical calls wait: “${ANSWERS.once}” is for one of them.` : ""}`;
}

function make(q: Question) {
  const state = element("p", "soft");
  const title = element("h3", "", q.kind === "signIn" ? "May an app use your hub?" : "May an app do this?");
  title.id = `question-${q.id}`;
  const about = q.kind === "signIn" ? [part("App", ...app(q)), part("Leads to", said(q.client.return || "nowhere"))] : aboutCall(q);
  const card = element("article", "question", title, ...q.why.map((sentence) => element("p", "", sentence)), ...about, answers(q), state);
  card.setAttribute("aria-labelledby", title.id);
  return { card, state };
}

function aboutCall(q: Question) {
  const { site, tool, args = [], changes = [] } = q;
  const parts = [part("App", ...app(q)), part("Site", ...where(site))];
  if (!tool) return parts;
  const name = tool.title ? [said(tool.name), " ", said(tool.title)] : [said(tool.name)];
  parts.push(part(KINDS[tool.kind ?? ""] ?? "tabhub’s tool", ...name, element("p", tool.class === "destructive" ? "bad" : "", (CLASSES[tool.class] ?? CLASSES.write).sentence)));
  if (changes.length) {
    parts.push(part("Changed", ...changes.map(({ what, was, is }) => element("div", "", said(what), element("del", "said foreign", was), element("ins", "said foreign", is)))));
  }
  parts.push(part("Is given", ...(args.length ? args.map(value) : ["nothing"])));
  return parts;
}

function value({ name, value: text, cut }: NonNullable<Question["args"]>[number]) {
  const left = cut ? [element("p", "bad", `${cut.toLocaleString("en")} characters in the middle are left out.`)] : [];
  return element("div", "value", foreign(name, "soft"), said(text), ...left);
}

function app({ client: { name, said: calls } }: Question) {
  return calls ? [said(name), element("p", "soft", "It calls itself ", said(calls))] : [said(name)];
}

function where(site: Question["site"]) {
  if (!site) return ["None: it is about the hub itself."];
  if (site.any) return [element("span", "bad", "Any: it may reach every site that is open in the browser.")];
  const parts = [said(site.origin)];
  if (!site.verified) parts.push(element("p", "bad", "Not verified: no browser has vouched that this is the site."));
  if (site.top) parts.push(element("p", "", "In a page of ", said(site.top)));
  return parts;
}

/** What others have written, in a box: it cannot pass for words of tabhub. */
const said = (text: string) => foreign(text, "said");

const part = (title: string, ...children: (Node | string)[]) => element("div", "part", element("h4", "soft", title), element("div", "", ...children));

function answers(q: Question) {
  const made = element("div", "answers writes");
  const code = document.createElement("input");
  if (q.kind === "signIn") {
    code.autocomplete = "off";
    code.maxLength = 32;
    made.append(element("label", "", "Number that the page shows ", code));
  }
  for (const reach of ["no", ...(q.reaches.includes("never") ? ["never"] : []), ...q.reaches.filter((r) => r !== "never")]) {
    const label = q.kind === "signIn" && reach === "once" ? "Let it in" : ANSWERS[reach];
    if (!label) continue;
    const b = document.createElement("button");
    b.type = "button";
    b.textContent = label;
    b.className = `answer-${reach}`;
    b.addEventListener("click", (event) => {
      if (!event.isTrusted || !rested() || (event.detail > 0 && pressed !== b)) return;
      disturb(); // once is enough
      void tell(b, () => session.ask("POST", "api/questions", { id: q.id, digest: q.digest, reach, ...(code.value && { code: code.value.trim() }) }));
    });
    made.append(b);
  }
  return element("div", "", made, element("p", "reads soft", "Answer it with ", element("code", "", `tabhub approve ${q.id}`), "."));
}

byID("questions").addEventListener("pointerdown", ({ isTrusted, target }) => (pressed = isTrusted && rested() ? target : null), true);
for (const type of ["focus", "blur", "resize"]) addEventListener(type, disturb);
document.addEventListener("visibilitychange", disturb);
// What is above the questions moves them when it grows.
const above = new ResizeObserver(disturb);
for (const moves of ["head", "trouble", "only-reads", "questions"]) above.observe(byID(moves));
