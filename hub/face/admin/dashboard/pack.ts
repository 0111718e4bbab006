// One pack (#sites?show=packs&pack=NAME): what it may do, what is different in a version that waits, and
// the decisions about it.

import { byID, button, element, factsOf, fill, foreign, twice, when } from "./dom.ts";
import { missing } from "./gives.ts";
import { nameOf } from "./names.ts";
import { MAKERS, removeRule } from "./rule.ts";
import { absence, packState, unmappedOf } from "./packs.ts";
import { ask, events, Refused } from "./session.ts";

import { change } from "../../../../tabtransport/extension/question.ts";
import type { Pack, PackExample, PackTool, PackVersion, Rule, Tool } from "./api.d.ts";

let name: string;
/** What is shown, as JSON: what is read, or pressed, stays where it is until something has changed. */
let shown = "";

export function openPack(into: string, of: string) {
  fill(into, "one-pack");
  name = of;
  shown = "";
  byID("pack-name").textContent = name;
}

export async function updatePack(changed: Set<string>) {
  if (!["packs", "tabs", "policy"].some((kind) => changed.has(kind))) return;
  const [pack]: Pack[] = await ask("GET", `api/packs?name=${encodeURIComponent(name)}`).catch((err) => {
    if (err instanceof Refused) return []; // it is gone
    throw err;
  });
  byID("pack-gone").hidden = pack !== undefined;
  byID("pack-parts").hidden = !pack;
  if (!pack) return;
  const is = JSON.stringify(pack);
  if (is === shown) return;
  shown = is;
  byID("pack-state").replaceChildren(packState(pack));
  byID("pack-facts").replaceChildren(...facts(pack));
  byID("pack-parts").replaceChildren(...(pack.waiting ? [waitingPart(pack, pack.waiting)] : []), ...(pack.active ? [activePart(pack, pack.active)] : []));
}

function facts({ active, waiting, allowed, absent = [] }: Pack) {
  const { added, by, from } = (active ?? waiting)!;
  const all: [string, ...(Node | string)[]][] = [["Added", `${when(added, true)}, by ${MAKERS[by] ?? "a browser"}`]];
  if (from) all.push(["From", foreign(from)]);
  if (allowed.length) all.push(["Allowed", element("ul", "plain", ...allowed.map(allowance))]);
  if (absent.length && active) all.push(["Browsers", element("ul", "plain", ...absent.map((of) => absence(of)))]);
  return [factsOf(all)];
}

/** A rule that allows a client what the pack does. */
function allowance(rule: Rule) {
  const { id, client, site, tool, class: of } = rule;
  const what = [tool, of].filter(Boolean).join(" · ") || "anything";
  return element("li", "", foreign(client ? nameOf(client) : "any client"), ": ", foreign(`${what}${site ? ` at ${site}` : ""}`), " ", twice("Remove", `Remove rule ${id}`, () => removeRule(rule)));
}

function waitingPart(pack: Pack, waiting: PackVersion) {
  const { hash } = waiting;
  const about = { name, hash };
  const act = (decision: string) => ask("POST", `api/packs/${decision}`, about);
  const accept = async () => {
    await act("accept");
    return waiting.script ? `${name} is in use. Each browser runs its script only after its popup has asked you there.` : `${name} is in use.`;
  };
  const reject = twice("Reject", `Reject ${name}`, async () => {
    await act("reject");
    return pack.active ? `${name} stays as it was.` : `${name} was not added.`;
  });
  const yes = twice("Accept", `Accept ${name}`, accept);
  yes.classList.add("main");
  const unmapped = unmappedOf.get(hash) ?? [];
  return section(
    pack.active ? "A change waits for you" : "It waits for you",
    element("p", "soft", pack.active ? "Until you accept it, the version in use stays as it is." : "Its tools are there once you accept it."),
    ...(pack.active ? (pack.changes ?? []).map(change) : wordsOf(waiting)),
    ...(pack.withdraws ? [element("p", "note wait", "It may do more: when you accept it, what you have allowed is asked about again.")] : []),
    ...(unmapped.length ? [element("h3", "", "Of the file, this is different in the pack"), element("ul", "", ...unmapped.map((words) => element("li", "", foreign(words))))] : []),
    element("div", "buttons writes", yes, reject),
    documentOf(waiting),
  );
}

function activePart(pack: Pack, active: PackVersion) {
  const results = element("ul", "plain");
  results.role = "status";
  const reading = active.tools.filter(({ class: of, examples = [] }) => of === "read" && examples.length);
  const test = button("Test what reads", `Test what reads of ${name}`, () => tryAll(reading, results));
  const remove = twice("Remove", `Remove ${name}`, async () => {
    await ask("DELETE", `api/packs?name=${encodeURIComponent(name)}`);
    return `${name} is removed, with the rules and answers that allowed it something.`;
  });
  return section(
    "In use",
    ...wordsOf(active),
    element("div", "buttons writes", ...(reading.length ? [test] : []), remove),
    results,
    documentOf(active),
  );
}

function section(title: string, ...parts: Node[]) {
  return element("section", "", element("h2", "", title), ...parts);
}

/** What a version may do, in words, all of them. */
function wordsOf({ words: [sentence, ...parts] }: PackVersion) {
  const list = element("ul", "");
  for (const part of parts) {
    if (!part.startsWith("  ")) list.append(element("li", "wide", foreign(part)));
    else {
      const of = list.lastElementChild ?? list;
      if (of.lastElementChild?.tagName !== "UL") of.append(element("ul", "plain"));
      of.lastElementChild?.append(element("li", "wide", foreign(part.trim())));
    }
  }
  return [element("p", "wide", foreign(`${sentence}.`)), list];
}

function documentOf({ document: text, hash }: PackVersion) {
  const made = element("details", "", element("summary", "", "The document"), element("p", "soft", `Hash ${hash}`), element("pre", "said foreign", JSON.stringify(text, null, 2)));
  return made;
}

/** Makes the calls of the examples, one after the other, and shows what has come of each. */
async function tryAll(tools: PackTool[], results: HTMLElement) {
  results.replaceChildren();
  let failed = 0;
  for (const tool of tools) {
    for (const example of tool.examples ?? []) {
      const why = await tryOne(tool, example).catch((err) => (err instanceof Error ? err.message : String(err)));
      if (why) failed++;
      const call = foreign(`${tool.name} ${example.input === undefined ? "" : JSON.stringify(example.input)}`, "code");
      results.append(element("li", "", element("span", `chip ${why ? "bad" : "good"}`, why ? "failed" : "ok"), " ", call, ...(why ? [element("p", "foreign lines", why)] : [])));
    }
  }
  results.prepend(element("li", failed ? "bad" : "good", failed ? `${failed} failed.` : "All examples give what they say."));
}

/** Makes the call of an example, and returns what is wrong with what it gives; "" for nothing. */
async function tryOne({ name: source }: PackTool, { input, gives }: PackExample) {
  const tools: Tool[] = await ask("GET", `api/tools?q=${encodeURIComponent(source)}`);
  const tool = tools.find((t) => t.pack === name && t.source === source);
  if (!tool) return "No tab offers it: open one of its pages.";
  for await (const { result, error } of events("api/call", { name: tool.name, arguments: input ?? {} })) {
    if (error) return error as string;
    if (!result) continue;
    const text = (result.content ?? []).map(({ text = "" }) => text).join("\n");
    if (result.isError) return text || "It has failed.";
    return gives === undefined ? "" : missing(gives, result.structuredContent ?? text);
  }
  return "The hub has ended.";
}
