// How the hub is: calls, failures and durations as charts, what waits, what the process needs,
// and what the doctor has found.

import { chart, clock } from "./chart.js";
import { button, byID, chip, element, foreign, list, number, row, showPairs, when } from "./dom.js";
import { ask } from "./session.js";
import { duration } from "./words.js";

/** @import {Finding, Health, Series} from "./api.d.ts" */
/** @import {Chart} from "./chart.js" */
/** @import {View} from "./dashboard.js" */

const EVERY = 5000; // ms between two looks, while somebody can see the page

/** How many rows the table of a span has. */
const ROWS = { hour: 12, day: 24 };

/** @type {"hour" | "day"} */
let span = "hour";
/** @type {Series | undefined} what is drawn */
let drawn;
/** @type {Promise<Chart[]> | undefined} */
let charts;
let diagnosed = false;
/** @type {ReturnType<typeof setInterval> | undefined} */
let timer;

/** @type {View} */
export const view = {
  name: "health",
  title: "Health",
  open(_, args, refresh) {
    span = args.get("span") === "day" ? "day" : "hour";
    for (const link of byID("spans").querySelectorAll("a")) link.ariaCurrent = link.hash.endsWith(span) ? "true" : null;
    byID("steps").textContent = span === "day" ? "each minute" : "each ten seconds";
    diagnosed = false;
    charts = Promise.all([
      chart(byID("calls-chart"), [{ look: "accent", bars: true }, { look: "bad", bars: true }], pointAtCalls),
      chart(byID("times-chart"), [{ look: "good" }, { look: "wait", dash: [6, 4] }, { look: "bad", dash: [2, 3] }], pointAtTimes),
    ]);
    byID("look-again").replaceChildren(button("Look again", "Look again for what is wrong", showDoctor));
    timer = setInterval(() => {
      if (!document.hidden) refresh(["health"]);
    }, EVERY);
  },
  async update(changed) {
    if (!changed.has("status") && !changed.has("health")) return;
    /** @type {Health} */
    const health = await ask("GET", `api/health?span=${span}`);
    showHealth(health);
    if (health.process && !diagnosed) await showDoctor(); // it is about the process, too
  },
  close() {
    clearInterval(timer);
    void charts?.then((all) => all.forEach((c) => c.close()));
    charts = undefined;
  },
};

/** @param {Health} health */
function showHealth({ calls, inFlight, questions, record, process }) {
  if (calls) showCalls(calls);
  const { queued, lost = 0 } = record;
  /** @type {[string, string, string?][]} */
  const queues = [
    ["Calls under way", count(inFlight)],
    ["Questions waiting for you", count(questions)],
    ["Record waits to be written", bytes(queued)],
    ["Record lost", `${count(lost)} lines`, lost > 0 ? "bad" : ""],
  ];
  showPairs("queues", queues);
  byID("process").hidden = !process;
  if (!process) return;
  const { connections = 0, accepted = 0, refused = 0, slow = 0, tooFast = 0, malformed = 0 } = process.sockets ?? {};
  showPairs("process-pairs", [
    ["Memory", bytes(process.memory)],
    ["of it in use", bytes(process.heap)],
    ["Goroutines", count(process.goroutines)],
    ["Sockets of tabs, open", count(connections)],
    ["… since the start", count(accepted)],
    ["… refused", count(refused)],
    ["… too slow or too fast", count(slow + tooFast)],
    ["Messages not understood", count(malformed)],
    ["Started", when(process.started)],
    ["Version", process.version],
  ]);
}

/** @param {Series} series */
function showCalls(series) {
  drawn = series;
  const { calls, failed, outcomes } = series;
  const all = sum(calls), bad = sum(failed);
  const last = calls.findLastIndex((n) => n > 0);
  byID("count-calls").textContent = count(all);
  byID("count-failed").textContent = count(bad);
  byID("latest-p50").textContent = last < 0 ? "–" : duration(series.p50[last]);
  byID("latest-p95").textContent = last < 0 ? "–" : duration(series.p95[last]);
  byID("no-calls").hidden = all > 0;
  byID("call-charts").hidden = all === 0;
  const ended = Object.entries(outcomes).sort(([, a], [, b]) => b - a);
  showPairs("outcomes", ended.map(([outcome, n]) => [outcome, count(n)]));
  showTable(series);
  const times = calls.map((_, i) => timeOf(series, i));
  /** @param {number[]} of */
  const gaps = (of) => of.map((n, i) => (calls[i] ? n : null));
  const mine = charts;
  void charts?.then(([counts, durations]) => {
    if (charts !== mine) return; // the view was left
    counts.show(times, [calls, failed]);
    durations.show(times, [gaps(series.p50), gaps(series.p95), gaps(series.p99)]);
  });
}

/**
 * When a step has begun, in seconds since 1970.
 * @param {Series} series
 * @param {number} i
 */
const timeOf = ({ start, stepMs }, i) => (Date.parse(start) + i * stepMs) / 1000;

/**
 * Says what the charts show, for who cannot see them.
 * @param {Series} series
 */
function showTable(series) {
  const { calls, failed, p95, p99 } = series;
  const size = calls.length / ROWS[span];
  const rows = [];
  for (let from = 0; from < calls.length; from += size) {
    /** @param {number[]} of */
    const part = (of) => of.slice(from, from + size);
    const most = (/** @type {number[]} */ of) => (sum(part(calls)) ? duration(Math.max(...part(of))) : "–");
    rows.unshift(row(clock(timeOf(series, from)), number(sum(part(calls))), number(sum(part(failed))), most(p95), most(p99)));
  }
  list(byID("call-rows"), "table", rows);
}

/** @param {number | null} i */
function pointAtCalls(i) {
  point("calls-point", i, ({ calls, failed }, at) => `${count(calls[at])} calls, ${count(failed[at])} failed`);
}

/** @param {number | null} i */
function pointAtTimes(i) {
  point("times-point", i, ({ calls, p50, p95, p99 }, at) =>
    calls[at] ? `half within ${duration(p50[at])}, 95 % within ${duration(p95[at])}, 99 % within ${duration(p99[at])}` : "no calls");
}

/**
 * @param {string} id
 * @param {number | null} i
 * @param {(series: Series, i: number) => string} words
 */
function point(id, i, words) {
  byID(id).textContent = i !== null && drawn && i < drawn.calls.length ? `${new Date(timeOf(drawn, i) * 1000).toLocaleTimeString("en-GB")}: ${words(drawn, i)}` : "";
}

async function showDoctor() {
  /** @type {Finding[]} */
  const all = await ask("GET", "api/doctor");
  diagnosed = true;
  const order = ["problem", "note", "ok"];
  all.sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  const looks = { problem: "bad", note: "waiting", ok: "ok" };
  list(byID("findings"), "section", all.map(({ state, check, text, fix }) =>
    element("li", "",
      chip(looks[state] ?? "bad", state), " ", foreign(check, "check"), " ", foreign(text),
      ...(fix ? [element("div", "soft", "To mend it: ", commands(fix))] : []))));
  const problems = all.filter(({ state }) => state === "problem").length;
  byID("diagnosis").textContent = problems === 0 ? "Nothing is wrong." : problems === 1 ? "There is 1 problem." : `There are ${problems} problems.`;
}

/**
 * @param {string} words with `commands` in them
 */
function commands(words) {
  const parts = words.split("`").map((part, i) => (i % 2 ? element("code", "", part) : part));
  return element("span", "foreign", ...parts);
}

const sum = (/** @type {number[]} */ ns) => ns.reduce((a, b) => a + b, 0);
const count = (/** @type {number} */ n) => n.toLocaleString("en");

/** @param {number} n */
function bytes(n) {
  return n < 1 << 20 ? `${Math.ceil(n / 1024)} KiB` : `${(n / (1 << 20)).toFixed(1)} MiB`;
}
