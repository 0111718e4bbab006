// The story of one call, from the request to the answer.

import { byID, outcomeChip, copier, element, factsOf, foreign, took, when } from "./dom.ts";
import { ask, mayWrite } from "./session.ts";

import type { Carried, Line, Payload } from "./api.d.ts";

type Step = { at: number; head: (Node | string)[]; facts: [string, string | undefined][]; said?: [string, unknown] };

/** @param id of the call, or of the question about it */
export async function openStory(id: string) {
  const query = `call=${encodeURIComponent(id)}`;
  const [lines, payloads] = await Promise.all([
    ask("GET", `api/log?limit=100&${query}`),
    mayWrite() ? ask("GET", `api/log/payloads?${query}`) : [],
  ]);
  const flowing = lines.find((l: Line) => l.call && l.flows?.length);
  const carried = flowing && mayWrite() ? await ask("GET", `api/log/carried?call=${encodeURIComponent(flowing.call ?? "")}`) : undefined;
  showStory(lines.reverse(), payloads, carried);
}

/** @param lines the latest last */
function showStory(lines: Line[], payloads: Payload[], carried?: Carried) {
  const said = new Map(payloads.map((p) => [p.n, p]));
  const steps = lines.flatMap((l) => stepsOf(l, said.get(l.n), carried)).sort((a, b) => a.at - b.at);
  const id = lines.find(({ call }) => call)?.call;
  byID("story-id").replaceChildren(...(id ? ["Its id is ", foreign(id, "code"), " ", copier("Copy", () => id, "Copy the call’s id")] : []));
  byID("no-story").hidden = steps.length > 0;
  byID("story").replaceChildren(...steps.map(shown));
}

function stepsOf(l: Line, payload?: Payload, carried?: Carried): Step[] {
  const at = Date.parse(l.time);
  if (l.event === "ask") {
    return [
      { at: at - ms(l.asked), head: ["You were asked"], facts: [["Question", l.question]] },
      { at, head: ["The question ended: ", foreign(l.outcome)], facts: [["Answered by", l.by], ["Reach", l.reach], ["After", took(l.asked ?? 0)]] },
    ];
  }
  if (l.event === "task") return [{ at, head: ["It went on as a task: the client was not kept waiting"], facts: [["Task", l.task]] }];
  if (l.event === "repeated") return [{ at, head: ["Answered again: the answer had not reached the client, which asked for the same. The call was not made again"], facts: [] }];
  if (l.event === "begun") return [{ at, head: ["About to be done: what cannot be undone"], facts: whereOf(l) }];
  const steps: Step[] = [
    {
      at,
      head: [foreign(l.name || l.said || l.client || "a client"), " asked for ", foreign(l.tool || l.event, "code")],
      facts: [["Site", l.domain], ["It calls itself", l.said], ["Client’s id", l.client], ["Session", l.session], ["Through", l.via], ["Class", l.class], ["Digest of the arguments", l.digest]],
      said: ["Arguments", payload?.args],
    },
  ];
  if (l.decision) steps.push({ at, head: [DECISIONS[l.decision] ?? l.decision], facts: [["Rule", l.rule], ["Question", l.question], ["Answered by", l.by], ["Reach", l.reach]] });
  if (l.flows?.length) steps.push({ at, head: ["Decided about what the client had read before"], facts: carriedBy(l, carried) });
  if (l.tab) steps.push({ at, head: ["Sent to a tab"], facts: whereOf(l) });
  steps.push({
    at: at + ms(l.duration),
    head: ["Ended: ", outcomeChip(l.outcome), ` after ${took(l.duration)}`],
    facts: [["Why", l.tab ? "" : l.reason], ["Changed for the client", l.changed]],
    said: ["Result", payload?.result],
  });
  return steps;
}

function carriedBy(l: Line, carried?: Carried): Step["facts"] {
  const facts: Step["facts"] = (l.flows ?? []).map((flow) => ["Flow", flow]);
  if (!carried || !l.tab) return facts; // it was not sent
  if (!carried.kept) return [...facts, ["Texts", "What it sent is not kept any more, or never was"]];
  if (!carried.texts.length) return [...facts, ["Texts", "None of another site was recognised in what it sent"]];
  return [...facts, ...carried.texts.map(({ from, field, text }) => [`Of ${from}`, `${text} (in ${field})`] as [string, string])];
}

const DECISIONS: Record<string, string> = { allow: "Allowed by your policy", ask: "Decided by your answer", deny: "Denied" };

const whereOf = (l: Line): [string, string | undefined][] => [["Page", l.url], ["Origin", l.origin], ["Tab", l.tab], ["Why this one", l.reason]];

const ms = (nanoseconds: number | undefined) => (nanoseconds ?? 0) / 1e6;

function shown({ at, head, facts, said }: Step) {
  const made = element("li", "", element("span", "number soft", when(new Date(at).toISOString())), element("h3", "", ...head));
  const known = facts.filter(([, value]) => value);
  if (known.length) made.append(factsOf(known.map(([name, value]) => [name, foreign(value ?? "")])));
  if (said?.[1] !== undefined) {
    const text = element("pre", "said foreign", JSON.stringify(said[1], null, 2));
    text.tabIndex = 0; // it may scroll
    made.append(element("h4", "soft", said[0]), text);
  }
  return made;
}
