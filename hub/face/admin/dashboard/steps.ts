// What happened in a call, in the order in which it did, as the record has it. cmd/tabhub's log tells the
// same steps: testdata/story.json has what both are to make of a record.

import type { Line } from "./api.d.ts";

/** What a step may be, each behind what it may be caused by. */
const CAUSES = ["request", "question", "answer", "decision", "begun", "sent", "task", "end", "repeated"] as const;

export type Step = {
  is: (typeof CAUSES)[number];
  at?: bigint; // nanoseconds since 1970; undefined: the record does not say when
  line: Line; // which says so
};

/** @param lines of one call, and of the questions about it, for which other calls may have waited, too */
export function stepsOf(lines: Line[]): Step[] {
  const own = lines.find(({ event }) => isCall(event));
  const answered = lines.some(({ event, call, reach }) => event === "ask" && call === own?.call && reach);
  // If it has no answer of its own, one that was given late or to an earlier call is its.
  const isOf = ({ event, call, reach }: Line) => !own || event !== "ask" || call === own.call || (!answered && (!call || reach));
  const all = lines.filter(isOf).flatMap((l) => stepsIn(l, own?.time));
  const rank = ({ is }: Step) => CAUSES.indexOf(is);
  const steps = all.filter(({ at }) => at !== undefined).sort((a, b) => Number(a.at! - b.at!) || rank(a) - rank(b));
  if (own) inChain(steps, rank, own);
  for (const step of all.filter(({ at }) => at === undefined).sort((a, b) => rank(a) - rank(b))) {
    steps.splice(steps.findLastIndex((s) => rank(s) <= rank(step)) + 1, 0, step);
  }
  const first = ({ line }: Step) => steps.find(({ is, line: l }) => is === "question" && l.question === line.question)?.line;
  return steps.filter((s) => s.is !== "question" || !s.line.question || first(s) === s.line); // a late answer is one to what was asked before
}

/**
 * Puts those steps of a call in order of which each is the cause of the next, at the places that they have
 * together. Their times can be in another order: a clock was set, or the computer was asleep while the
 * owner was asked, which durations do not have.
 */
function inChain(steps: Step[], rank: (step: Step) => number, { call, by }: Line) {
  // A call that has ended without the answer was not caused by it.
  const isLink = ({ is, line }: Step) => line.call === call && is !== "task" && is !== "repeated" && (line.event !== "ask" || by);
  const places = [...steps.keys()].filter((i) => isLink(steps[i]));
  // What the owner is asked first, and again, is told by the order of the record.
  const link = (step: Step) => (step.is === "answer" ? CAUSES.indexOf("question") : rank(step));
  const chain = places.map((i) => steps[i]).sort((a, b) => link(a) - link(b) || a.line.n - b.line.n || rank(a) - rank(b));
  for (const [i, at] of places.entries()) steps[at] = chain[i];
}

const isCall = (event: string) => !["ask", "begun", "task", "repeated"].includes(event);

/** @param requested when the call was, as its line has it */
function stepsIn(line: Line, requested?: string): Step[] {
  const { event, asked = 0, decided, sent, duration, decision, by, reach, tab, outcome } = line;
  const time = nanoseconds(line.time);
  const after = (ns?: number) => (ns ? time + BigInt(ns) : undefined);
  if (event === "ask") return [{ is: "question", at: time - BigInt(asked), line }, { is: "answer", at: time, line }];
  if (event === "begun") return [{ is: event, at: line.time === requested ? undefined : time, line }]; // an older hub wrote when the call was requested
  if (event === "task" || event === "repeated") return [{ is: event, at: time, line }];
  const steps: Step[] = [{ is: "request", at: time, line }];
  const isDecided = decided || (decision && (decision !== "ask" || by || reach)); // and not left before the owner answered
  if (isDecided) steps.push({ is: "decision", at: after(decided), line });
  const wasSent = isDecided && !decided && tab && decision !== "deny" && outcome !== "DENIED"; // by an older hub
  if (sent || wasSent) steps.push({ is: "sent", at: after(sent), line });
  steps.push({ is: "end", at: time + BigInt(duration), line });
  return steps;
}

/** @param time as RFC 3339 has it */
export function nanoseconds(time: string) {
  const [, fraction = ""] = /\.(\d+)/.exec(time) ?? [];
  return BigInt(Date.parse(time.replace(/\.\d+/, ""))) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}

/** How long a call took, and how long its owner did meanwhile, in nanoseconds. */
export const tookOf = ({ duration, asked = 0 }: { duration: number; asked?: number }) => ({ took: duration - asked, you: asked });
