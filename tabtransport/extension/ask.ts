import { ask } from "./common.ts";
import { byID, make } from "./elements.ts";
import { Guard } from "./guard.ts";

import { CLASSES } from "./words.ts";

const id = decodeURIComponent(location.search.slice(1));
const question = byID("question");
const reaches = byID("reaches", HTMLFieldSetElement);
const yes = byID("yes", HTMLButtonElement);
const code = make("input", "said");

/** What an answer is good for, and what the button then says. */
const REACHES: Record<string, [string, string]> = {
  once: ["This once", "Allow once"],
  session: ["Until this session of the app ends", "Allow for now"],
  app: ["Always for this app", "Always allow"],
  always: ["Always, for every app", "Always allow for all"],
};

const KINDS: Record<string, string> = { tool: "Tool", resource: "Resource", prompt: "Prompt" };

/** How long the window stays when the question is no longer asked, in ms. */
const LEAVE = 10_000;

let closing: ReturnType<typeof setTimeout> | undefined;
/** Whether all of the question was in view once. */
let read = false;
/** How far a yes reaches, as the owner has it now. */
let reach = "once";
/** When the question expires, as Date.now() has it here and in the worker, which ends it. */
let until = Infinity;

const seen = new IntersectionObserver((entries) => {
  read ||= entries.some(({ isIntersecting }) => isIntersecting);
  byID("more").hidden = read;
});
const guard = new Guard(() => answer("no"));
guard.add(byID("no", HTMLButtonElement), () => answer("no"));
guard.add(byID("never", HTMLButtonElement), () => answer("never"));
guard.add(yes, () => answer(reach), () => read && (!code.isConnected || code.value.trim() !== ""));

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
  byID("waiting").textContent = view.waiting ? `Waiting after this one: ${view.waiting}` : "";
  if (question.childElementCount) return;
  guard.disturb();
  const { ask: asked } = view;
  const signIn = asked.kind === "signIn";
  byID("headline").textContent = signIn ? "May an app use your hub?" : "May an app do this?";
  byID("why").replaceChildren(...asked.why.map((sentence) => make("p", "wide", sentence)));
  const end = make("div", "");
  question.append(...(signIn ? aboutSignIn(asked) : aboutCall(asked)), end);
  seen.observe(end);
  byID("never", HTMLButtonElement).hidden = !asked.reaches.includes("never");
  const offered = asked.reaches.filter((name) => Object.hasOwn(REACHES, name));
  choose(offered[0], signIn ? "Allow" : undefined);
  reaches.replaceChildren(make("legend", "", "If you allow it"), ...offered.map((name, i) => choice(name, i === 0)));
  reaches.hidden = offered.length < 2;
  byID("answers").hidden = false;
}

function choose(chosen: string, label: string = REACHES[chosen]?.[1] ?? "Allow") {
  reach = chosen;
  yes.textContent = label;
}

function choice(name: string, first: boolean) {
  const box = make("input", "");
  box.type = "radio";
  box.name = "reach";
  box.checked = first;
  box.addEventListener("change", () => choose(name));
  return make("label", "", box, ` ${REACHES[name][0]}`);
}

function aboutSignIn({ client }: Ask) {
  code.autocomplete = "off";
  code.spellcheck = false;
  code.maxLength = 32;
  code.setAttribute("aria-label", "Code");
  return [
    part("App", ...who(client)),
    part("Leads to", said("origin", client.return || "nowhere")),
    part("Code", code, make("p", "soft", "Type the code that the page shows from which you sign in. If you have opened no such page, don’t allow it.")),
  ];
}

function aboutCall({ client, site, tool, args = [], changes = [] }: Ask) {
  const parts = [part("App", ...who(client)), part("Site", ...where(site))];
  if (tool) {
    const title = tool.title && tool.title !== tool.name ? [" ", said("", tool.title)] : [];
    const kind = KINDS[tool.kind ?? ""] ?? "tabhub’s tool";
    parts.push(part(kind, said("name", tool.name), ...title, make("p", tool.class === "destructive" ? "bad" : "", (CLASSES[tool.class] ?? CLASSES.write).sentence)));
  }
  if (changes.length) parts.push(block("Changed since you allowed it", ...changes.map(change)));
  if (tool) parts.push(block("What it is given", args.length ? table(args) : make("p", "soft", "Nothing")));
  return parts;
}

function part(title: string, ...children: (Node | string)[]) {
  return make("section", "part", make("h2", "soft", title), make("div", "", ...children));
}

/** A part that needs all of the width. */
function block(title: string, ...children: (Node | string)[]) {
  return make("section", "", make("h2", "soft", title), ...children);
}

/** What others have written, in a box: it cannot pass for words of tabhub. */
function said(className: string, ...text: (Node | string)[]) {
  return make("span", `said wide ${className}`, ...text);
}

function who({ name, said: calls }: Ask["client"]) {
  return [said("name", name), ...(calls && calls !== name ? [make("p", "soft", "It calls itself ", said("", calls))] : [])];
}

function where(site: Ask["site"]) {
  if (!site) return [make("p", "", "None: it is about the hub itself.")];
  if (site.any) return [make("p", "bad", "Any: it may reach every site that is open in this browser.")];
  const parts = [said("origin", site.origin)];
  if (!site.verified) parts.push(make("p", "bad", "Not verified: no browser has vouched that this is the site."));
  if (site.top) parts.push(make("p", "", "In a page of ", said("", site.top)));
  return parts;
}

function table(args: NonNullable<Ask["args"]>) {
  return make("table", "", ...args.map(({ name, value, cut }) => {
    const left = cut ? [make("p", "bad", `${cut.toLocaleString("en")} characters in the middle are left out.`)] : [];
    return make("tr", "", make("th", "", said("", name)), make("td", "", said("", value), ...left));
  }));
}

function change({ what, was, is }: NonNullable<Ask["changes"]>[number]) {
  const [before, after] = differ(was, is);
  return make("div", "change", said("", what), make("span", "soft", " was"), said("text", ...before), make("span", "soft", "and is"), said("text", ...after));
}

/** Two texts, the part in which they differ marked. */
function differ(was: string, is: string): (Node | string)[][] {
  const [a, b] = [[...was], [...is]];
  let head = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const marked = (text: string[], tag: "del" | "ins") => {
    const end = text.length - tail;
    return [text.slice(0, head).join(""), make(tag, "", text.slice(head, end).join("")), text.slice(end).join("")];
  };
  return [marked(a, "del"), marked(b, "ins")];
}

/**
 * The question is no longer asked. The window stays for a while: what is under it must not get
 * a click that was meant for this.
 */
function over() {
  closing ??= setTimeout(() => window.close(), LEAVE);
  byID("headline").textContent =
    Date.now() >= until ? "Time is up: it was not allowed" : "This is no longer asked";
  byID("waiting").textContent = "This window closes in a moment.";
  for (const part of [question, byID("why")]) part.replaceChildren();
  byID("answers").hidden = true;
}

chrome.storage.session.onChanged.addListener(({ questions }) => {
  if (questions) void show();
});
await show();
