// The story of one call, from the request to the answer: what it came to, what it was given, and what
// happened when.

import { byID, outcomeChip, copier, element, factsOf, foreign, took, tookWords, when } from "./dom.ts";
import { didIn, notKept, valuesOf } from "./given.ts";
import { ask, mayWrite } from "./session.ts";
import { nanoseconds, stepsOf, type Step } from "./steps.ts";

import { said as words, script, values } from "../../../../tabtransport/extension/question.ts";

import type { Carried, Line, Payload } from "./api.d.ts";

type Facts = [string, string | undefined][];

/** @param id of the call, or of a question */
export async function openStory(id: string): Promise<void> {
  const own = await linesOf(id);
  const { question, call } = own.findLast(({ event, question }) => event !== "ask" && question) ?? {};
  if (question === id && call) return openStory(call); // the latest call that its answer was for
  const about = question ? (await linesOf(question)).filter((l) => l.event === "ask" && l.call !== id) : []; // late, or of others that waited for it
  const lines = [...about, ...own];
  const flowing = lines.find(({ call, flows }) => call && flows?.length)?.call;
  const [payloads, carried] = mayWrite()
    ? await Promise.all([ask("GET", `api/log/payloads?call=${encodeURIComponent(id)}`), flowing && ask("GET", `api/log/carried?call=${encodeURIComponent(flowing)}`)])
    : [[]];
  showStory(lines, payloads, carried);
}

const linesOf = async (call: string): Promise<Line[]> => (await ask("GET", `api/log?limit=100&call=${encodeURIComponent(call)}`)).reverse();

function showStory(lines: Line[], payloads: Payload[], carried?: Carried) {
  const steps = stepsOf(lines);
  const of = steps.find(({ is }) => is === "end")?.line ?? lines.at(-1);
  const said = payloads.find(({ n }) => n === of?.n);
  byID("no-story").hidden = of !== undefined;
  byID("whole-story").hidden = of === undefined;
  if (!of) return;
  byID("story-title").replaceChildren(foreign(clientOf(of)), ": ", foreign(of.tool || of.event, "code"), ...(of.domain ? [" at ", foreign(of.domain)] : []));
  const ended = steps.some(({ is }) => is === "end");
  byID("story-sum").replaceChildren(ended ? outcomeChip(of.outcome) : "", element("span", "number", when(of.time, true)), ended ? `took ${tookWords(of)}` : "");
  byID("story-given").replaceChildren(...(said?.args === undefined && !said?.argsNotKept ? [] : [element("h3", "", "It was given"), said.argsNotKept ? element("p", "soft", notKept(said.argsNotKept)) : given(of, said.args)]));
  const start = steps[0].at ?? nanoseconds(of.time);
  byID("story").replaceChildren(...steps.map((step) => shown(step, start, said, carried)));
  byID("story-facts").replaceChildren(...factsOf(known([
    ["Client’s id", of.client], ["It calls itself", of.said], ["Session", of.session], ["Class", of.class], ["Question", of.question],
    ["Digest of the arguments", of.digest], ["Origin", of.origin], ["Tab", of.tab],
  ])).children);
  byID("story-id").replaceChildren(...(of.call ? ["Its id is ", foreign(of.call, "code"), " ", copier("Copy", () => of.call, "Copy the call’s id")] : []));
}

const clientOf = (l: Line) => l.name || l.said || l.client || "a client";

function code(value: unknown) {
  const text = element("pre", "said foreign", JSON.stringify(value, null, 2));
  text.tabIndex = 0; // it may scroll
  return text;
}

/** How many values are shown as a question shows them. */
const VALUES = 500;

function given(of: Line, args: any) {
  if (of.class === "act" && typeof args?.code === "string") return script(args.code);
  const all = valuesOf(args);
  if (all.length === 1 && all[0].value === "{}") return element("p", "soft", "Nothing");
  return all.length > VALUES ? code(args) : values(all);
}

const known = (facts: Facts) => facts.filter(([, value]) => value).map(([name, value]): [string, Node] => [name, foreign(value ?? "")]);

/** @param start of the story */
function shown(step: Step, start: bigint, said?: Payload, carried?: Carried) {
  const { at, is, line: l } = step;
  const { head, facts = [] } = tellers[is](l, carried);
  const later = Number((at ?? start) - start);
  const since = later >= 1e6 ? [" ", element("span", "number soft", `+${took(later)}`)] : [];
  const time = at === undefined ? element("span", "soft", "time not recorded") : element("span", "", element("span", "number", clock(at, start)), ...since);
  const told = element("div", "", element("h3", "", ...head));
  const all = known(facts);
  if (all.length) told.append(factsOf(all));
  if (is === "end" && said?.resultNotKept) told.append(element("h4", "soft", "Result"), element("p", "soft", notKept(said.resultNotKept)));
  else if (is === "end" && didIn(said?.result).length) told.append(element("h4", "soft", "What it did"), element("ul", "steps", ...didIn(said?.result).map((did) => element("li", "", words(did)))));
  else if (is === "end" && said?.result !== undefined) told.append(element("h4", "soft", "Result"), code(said.result));
  return element("li", "", time, told);
}

/** The time of day, and the day if it is not that of the start. */
function clock(at: bigint, start: bigint) {
  const [then, first] = [at, start].map((ns) => new Date(Number(ns / 1_000_000n)));
  const day = then.toDateString() === first.toDateString() ? "" : `${then.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} `;
  return day + then.toLocaleTimeString("en-GB");
}

/** What is told of each step. */
const tellers: Record<Step["is"], (l: Line, carried?: Carried) => { head: (Node | string)[]; facts?: Facts }> = {
  request: (l, carried) => ({ head: [foreign(clientOf(l)), " asked for ", foreign(l.tool || l.event, "code")], facts: [["Through", l.via], ["Of the pack", l.pack], ...flowsOf(l, carried)] }),
  question: () => ({ head: ["You were asked"] }),
  answer: (l) => ({ head: [(l.class === "act" && ACT_ANSWERS[l.reach ?? ""]) || ANSWERS[l.reach ?? ""] || UNANSWERED[l.outcome] || `The question ended: ${l.outcome},`, ` after ${took(l.asked ?? 0)}`, PLACES[l.by ?? ""] ?? "", l.outcome === "ok for another" ? ", which was for an identical call of the same client" : ""] }),
  decision: (l) => ({ head: [decided(l)], facts: [["By", ruleWords(l.rule)]] }),
  begun: (l) => ({ head: [l.class === "act" ? "About to act on the page" : "About to be done: what cannot be undone"] }),
  sent: (l) => ({ head: [l.tab ? "Sent to a tab" : "Sent"], facts: [["Page", l.url], ["Why this one", l.tab && l.reason]] }),
  task: (l) => ({ head: ["It went on as a task: the client was not kept waiting"], facts: [["Task", l.task]] }),
  end: (l) => ({ head: ["Ended: ", outcomeChip(l.outcome), ` after ${tookWords(l)}`], facts: [["Why", l.tab ? "" : l.reason], ["Changed for the client", l.changed]] }),
  repeated: () => ({ head: ["Answered again: the answer had not reached the client, which asked for the same. The call was not made again"] }),
};

const ANSWERS: Record<string, string> = {
  no: "You did not allow it,", never: "You said never for this app,", once: "You allowed it once,", session: "You allowed it for this session,",
  app: "You allowed it always for this app,", always: "You allowed it always, for every app,",
};

const ACT_ANSWERS: Record<string, string> = { session: "You allowed it for this site, this session,", never: "You said never for this app at this site," };

const UNANSWERED: Record<string, string> = {
  cancelled: "The client no longer waited for your answer,", expired: "You had not answered,", withdrawn: "The question was withdrawn,",
  "asked back": "The client was to bring your answer with a further call,", "wrong code": "A wrong code was given,",
};

const PLACES: Record<string, string> = { window: ", in its window", client: ", in the client", dashboard: ", on the dashboard", command: ", by a command" };

/** Names what has decided, as cmd/tabhub's log does. */
function ruleWords(rule = "") {
  if (rule.startsWith("preset:")) return `the mode: ${rule.slice("preset:".length)}`;
  const layers: Record<string, string> = { scope: "the bounds of its credential", browser: "the browsers that it is bound to", pause: "a pause" };
  return layers[rule] ?? (rule && `rule ${rule}`);
}

function decided({ decision, outcome, reach }: Line) {
  if (decision === "ask") {
    if (reach === "no" || reach === "never") return "Refused by your answer";
    if (outcome !== "DENIED") return "Allowed by your answer";
    return reach ? "Refused: your answer was not for this" : "Refused without an answer of yours";
  }
  return decision === "deny" ? "Refused" : "Allowed";
}

function flowsOf(l: Line, carried?: Carried): Facts {
  const facts: Facts = (l.flows ?? []).map((flow) => ["It had read before", flow]);
  if (!facts.length || !carried || !(l.sent || l.tab)) return facts; // it was not sent
  if (!carried.kept) return [...facts, ["Texts", "What it sent is not kept any more, or never was"]];
  if (!carried.texts.length) return [...facts, ["Texts", "None of another site was recognised in what it sent"]];
  return [...facts, ...carried.texts.map(({ from, field, text }) => [`Of ${from}`, `${text} (in ${field})`] as [string, string])];
}
