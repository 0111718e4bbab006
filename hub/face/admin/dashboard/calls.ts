// The calls of the Now view, as they happen: those that are under way, and below them those that
// have ended, the latest first. However many there are, the page is changed once a frame, in rows
// that stay.

import { button, byID, chip, outcomeChip, element, foreign, labelled, took, when } from "./dom.ts";
import { ask } from "./session.ts";
import { tookOf } from "./steps.ts";
import { waitsForYou } from "../../../../tabtransport/extension/words.ts";

import type { State } from "../../../../tabtransport/extension/states.ts";
import type { Entry, Line, Message, Running } from "./api.d.ts";

/** How many calls that have ended are shown. */
const ENDED = 50;

/** How often the time is shown that calls have taken, in ms. */
const TICK = 250;

/** How long a call is shown that has ended, and of which nothing is recorded yet, in ms. */
const UNRECORDED = 2000;

/** The events that are shown as calls. */
const EVENTS = ["call", "refused", "proxy", "relay"];

const PHASES: Record<string, [state: State, word?: string]> = {
  waiting: ["waiting", "waiting for a tab"],
  asking: ["waiting"],
  running: ["working"],
};

/** One of the two is there. */
type Call = { key: string; running?: Running; entry?: Entry };
type Row = ReturnType<typeof newRow>;

let running: Running[] = [];
/** How many more there are. */
let more = 0;
/** What has ended before its entry came, by key. */
let ending = new Map<string, { running: Running; until: number }>();
/** By key; the latest is the last. */
let ended = new Map<string, Entry>();
let rows: Row[] = [];
let frame = 0;
let ticking: ReturnType<typeof setInterval> | undefined;
/** The key of the call at which the pointer has gone down. */
let pressed = "";

export function start() {
  ticking = setInterval(() => {
    if (running.length + ending.size > 0 && !document.body.classList.contains("gone")) show();
  }, TICK);
  for (const type of ["pointerleave", "focusout"]) byID("calls").addEventListener(type, show); // what was held back
}

export function stop() {
  clearInterval(ticking);
  cancelAnimationFrame(frame);
  [running, more, ending, ended, rows, frame, ticking] = [[], 0, new Map(), new Map(), [], 0, undefined];
}

export function take(message: Message) {
  const was = running;
  ({ running, more = 0 } = message);
  const now = new Set(running.map(({ id }) => id));
  for (const r of was) if (!now.has(r.id)) ending.set(r.id, { running: r, until: Date.now() + UNRECORDED });
  for (const e of message.entries ?? []) if (EVENTS.includes(e.event)) ended.set(keyOf(e), e);
  show();
}

/** @param lines of before, some of which a node may have written late */
export function takeEarlier(lines: Line[]) {
  const later = ended;
  ended = new Map();
  const end = (l: Line) => Date.parse(l.time) + l.duration / 1e6;
  for (const l of lines.sort((a, b) => end(a) - end(b))) ended.set(keyOf(l), l);
  for (const [key, e] of later) ended.set(key, e);
  show();
}

const keyOf = (e: Entry) => e.call || `${e.time} ${e.event}`;

/** Has what has changed shown with the next frame. */
function show() {
  for (const [key, { until }] of ending) if (ended.has(key) || Date.now() > until) ending.delete(key);
  for (const key of ended.keys()) {
    if (ended.size <= ENDED) break;
    ended.delete(key);
  }
  if (ticking) frame ||= requestAnimationFrame(render); // otherwise the view has gone
}

function render() {
  frame = 0;
  const body = byID("calls");
  const under = running.filter(({ id }) => !ended.has(id)).map((r) => ({ key: r.id, running: r }));
  const calls: Call[] = [...under, ...[...ending].map(([key, { running: r }]) => ({ key, running: r })), ...[...ended].reverse().map(([key, entry]) => ({ key, entry }))];
  // Nothing moves while the pointer is on it.
  const held = rows.length > 0 && body.matches(":hover, :has(:focus-visible)");
  if (held) {
    const now = new Map(calls.map((call) => [call.key, call]));
    for (const row of rows) fill(row, now.get(row.call.key) ?? row.call);
  } else {
    for (const row of rows.splice(calls.length)) row.line.remove();
    while (rows.length < calls.length) rows.push(newRow(body, calls[rows.length]));
    rows.forEach((row, i) => fill(row, calls[i]));
  }
  const shown = new Set(rows.map(({ call }) => call.key));
  const newer = calls.filter(({ key }) => !shown.has(key)).length;
  set(byID("held"), newer ? `${newer === calls.length ? "All" : newer} newer ${newer === 1 ? "call is" : "calls are"} shown when you no longer point at the list.` : "");
  set(byID("more-calls"), more ? `${more.toLocaleString("en")} more are under way.` : "");
  set(byID("under-way"), under.length + more ? `${(under.length + more).toLocaleString("en")} under way` : "");
  byID("no-calls").hidden = rows.length > 0;
  const table = body.parentElement as HTMLElement;
  table.hidden = rows.length === 0;
}

function newRow(body: HTMLElement, call: Call) {
  const [tool, where, client, decision, how, note, time, you] = [foreign(""), foreign("", "title soft"), foreign(""), foreign(""), element("span", "chip"), foreign("", "title soft"), element("span", "number"), element("span", "number title soft")];
  const progress = document.createElement("progress");
  const end = button("Stop", "", async () => {
    const id = pressed || row.call.key; // another call may have come to this place since
    pressed = "";
    await ask("DELETE", `api/calls?id=${encodeURIComponent(id)}`);
    return "The call is stopped, and its client is told so.";
  });
  end.addEventListener("pointerdown", () => (pressed = row.call.key));
  end.classList.add("writes");
  const story = document.createElement("a");
  story.textContent = "Story";
  const line = element("tr", "", element("td", "", tool, where), element("td", "", client), element("td", "", decision), element("td", "", how, progress, note), element("td", "", time, you), element("td", "", end, story));
  const row = { call, line, tool, where, client, decision, how, progress, note, time, you, end, story };
  labelled(body, line);
  body.append(line);
  return row;
}

function fill(row: Row, call: Call) {
  row.call = call;
  const c = (call.running ?? call.entry) as Running & Entry;
  const name = [c.tool || c.event, c.pack && `of the pack ${c.pack}`, c.via && `by ${c.via}`].filter(Boolean).join(" ");
  set(row.tool, name);
  set(row.where, c.domain ?? c.browser ?? "");
  row.tool.title = name;
  row.where.title = [c.domain, c.tab].filter(Boolean).join(" · ");
  set(row.client, c.name || c.said || c.client || "");
  set(row.decision, [c.decision, c.by && `by ${c.by}`].filter(Boolean).join(" "));
  const made = call.running ? chip(...(PHASES[c.progress?.waiting ? "asking" : c.phase] ?? PHASES.running)) : outcomeChip(c.outcome);
  set(row.how, made.textContent);
  if (row.how.className !== made.className) row.how.className = made.className;
  const p = call.running?.progress;
  row.progress.hidden = !p;
  if (p?.total) [row.progress.max, row.progress.value] = [p.total, p.progress];
  else row.progress.removeAttribute("value");
  set(row.note, call.running ? (c.phase === "waiting" && p?.waiting ? waitsForYou(c.name || c.said || "its client") : (p?.message ?? "")) : c.outcome === "ok" || c.sent === undefined ? "" : (c.reason ?? "")); // why this tab says nothing of a call that no tab got
  const timed = call.entry ?? (c.phase === "asking" ? undefined : { duration: (Date.now() - Date.parse(c.began)) * 1e6, asked: c.asked });
  set(row.time, timed ? took(tookOf(timed).took) : ""); // what the owner takes is none of it
  set(row.you, timed?.asked ? `you: ${took(timed.asked)}` : "");
  row.end.hidden = !call.running;
  const id = call.entry && (c.call || c.question);
  row.story.hidden = !id;
  if (id) row.story.href = `#record?call=${encodeURIComponent(id)}`;
  row.end.ariaLabel = `Stop ${name}`;
  row.story.ariaLabel = call.entry ? `Story of ${name}, ${when(c.time)}` : "";
}

function set(place: HTMLElement, text: string) {
  if (place.textContent !== text) place.textContent = text;
}
