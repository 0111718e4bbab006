// The record: its lines, searched by all that they hold, a page at a time, and files of them.

import { byID, chip, outcomeChip, problem, element, foreign, link, list, row, tell, took, when } from "./dom.ts";
import { answerIn, brief, didIn, notKept } from "./given.ts";
import { PAGE } from "./pages.ts";
import { ask, file, mayWrite } from "./session.ts";
import { tookOf } from "./steps.ts";
import { openStory } from "./story.ts";
import type { Line, Payload } from "./api.d.ts";

import type { View } from "./dashboard.ts";

/** What is shown unless another event is chosen: what clients have done, and what the owner was asked. */
const USUAL = ["call", "ask", "relay"];

/** A site of which the record has calls. */
type RecordedSite = { domain: string; last: string };

let filter: HTMLFormElement;

/** The id of the call, or of the question about it, whose story is shown, "" for none. */
let story = "";

/** Before which line each page begins, from the second one to the one that is shown. */
let pages: number[] = [];

/** How many lines have been added since the page was shown. */
let added = 0;

/** Where the view was left for a story. Going back there shows the same page. */
let back = "#record";

export const view: View = {
  name: "record",
  title: "Record",
  open(_section, args, refresh) {
    story = args.get("call") ?? "";
    byID("all-lines").hidden = story !== "";
    byID("one-call").hidden = story === "";
    byID("back", HTMLAnchorElement).href = back;
    if (story) return;
    [pages, added] = [location.hash === back ? pages : [], 0];
    filter = byID("record-filter", HTMLFormElement);
    addSite(args.get("site") ?? ""); // the others come with the first update
    for (const [name, value] of args) {
      const field = filter.elements.namedItem(name);
      if (field instanceof HTMLInputElement && field.type === "checkbox") field.checked = value === field.value;
      else if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof RadioNodeList) field.value = value;
    }
    const more = filter.querySelector("details") as HTMLDetailsElement;
    more.open = [...more.querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, select")].some(({ value }) => value !== "");
    keepFilter();
    const turnTo = (turn: () => void) => {
      turn();
      refresh(["record"]);
    };
    filter.addEventListener("submit", (event) => event.preventDefault());
    filter.addEventListener("input", ({ target }) => turnTo(() => {
      if (target instanceof HTMLInputElement && target.name === "days") for (const name of ["since", "until"]) filter[name].value = "";
      else if (target instanceof HTMLInputElement && target.type === "datetime-local") filter.days.value = "";
      pages = [];
      keepFilter();
    }));
    byID("added-lines").addEventListener("click", () => turnTo(() => (pages = [])));
    byID("newer").addEventListener("click", () => turnTo(() => pages.pop()));
    byID("older").addEventListener("click", () => turnTo(() => pages.push(Number(byID("older").dataset.before))));
    byID("jsonl").addEventListener("click", () => tell(byID("record-rows"), save));
  },
  async update(changed) {
    if (!changed.has("record")) return;
    if (story) return openStory(story);
    added = 0;
    showAdded();
    const query = asked();
    query.set("limit", String(PAGE + 1)); // one more says that there is another page
    if (pages.length) query.set("before", String(pages[pages.length - 1]));
    const [lines, payloads, sites] = await Promise.all([
      ask("GET", `api/log?${query}`),
      mayWrite() ? ask("GET", `api/log/payloads?${query}&of=brief`) : [],
      ask("GET", "api/log/sites"),
    ]);
    for (const { domain, last } of sites as RecordedSite[]) addSite(domain, `${domain} · last used ${when(last)}`);
    showRecord(lines, payloads);
  },
  live({ entries, missed = 0 }) {
    if (!entries || story) return;
    added += missed + entries.filter((e) => events().length === 0 || events().includes(e.event)).length;
    showAdded();
  },
};

/** Has the filter offer a site. */
function addSite(domain: string, label = domain) {
  const select = filter.site as HTMLSelectElement;
  const known = [...select.options].find(({ value }) => value === domain);
  if (known) known.textContent = domain ? label : known.textContent;
  else select.add(new Option(label, domain));
}

/** The events that are asked for; none: all. */
function events(): string[] {
  if (filter.event.value) return [filter.event.value];
  return filter.all.checked ? [] : USUAL;
}

/** What the filter asks for, as the admin API takes it. */
function asked() {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(filter)) {
    if (typeof value !== "string" || value.trim() === "" || ["all", "days", "event"].includes(name)) continue;
    const time = name === "since" || name === "until";
    query.set(name, time ? new Date(value).toISOString() : value.trim());
  }
  const [first, last] = DAYS[filter.days.value] ?? [];
  if (first !== undefined) query.set("since", midnight(first));
  if (last !== undefined) query.set("until", midnight(last + 1));
  if (events().length) query.set("event", events().join());
  return query;
}

/** The first and the last day of what is shown, from today on. */
const DAYS: Record<string, [first: number, last?: number]> = { today: [0], yesterday: [-1, -1], week: [-6] };

function midnight(days: number) {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days).toISOString();
}

/** Keeps the filter in the address, for a reload and a bookmark. */
function keepFilter() {
  const said = [...new FormData(filter)].filter(([, value]) => value !== "") as [string, string][];
  back = `#record?${new URLSearchParams(said)}`;
  history.replaceState(null, "", back);
}

function showAdded() {
  byID("added-lines").hidden = added === 0;
  byID("added-lines").textContent = `Look again: ${added.toLocaleString("en")} ${added === 1 ? "line has" : "lines have"} been added`;
}

function showRecord(lines: Line[], payloads: Payload[]) {
  // A line is written when its call ends, and found here by when that began.
  const shown = lines.slice(0, PAGE);
  const inTime = shown.toSorted((a, b) => Date.parse(b.time) - Date.parse(a.time) || b.n - a.n);
  const calls = new Set(shown.filter(({ event }) => event === "call").map(({ call }) => call)); // the line of a call says what was answered
  const given = new Map(payloads.map((p) => [p.n, p]));
  list(byID("record-rows"), "table", inTime.filter((l) => !(l.event === "ask" && calls.has(l.call) && events() === USUAL)).map((l) => line(l, said(l, given.get(l.n)))));
  byID("no-lines").hidden = lines.length > 0 || filtered();
  byID("no-match").hidden = lines.length > 0 || !filtered();
  byID("newer").hidden = pages.length === 0;
  byID("older").hidden = lines.length <= PAGE;
  byID("older").dataset.before = String(shown.at(-1)?.n ?? 0);
  byID("exports").hidden = lines.length === 0;
}

const filtered = () => pages.length > 0 || [...asked().keys()].some((name) => name !== "event");

/** What an act has done; or what a call was given and, of one that cannot be undone, what came of it. */
function said(l: Line, { args, argsNotKept, result }: Partial<Payload> = {}) {
  const did = didIn(result);
  if (did.length) return brief(did.join("; "));
  const answer = l.class === "destructive" && result !== undefined ? brief(answerIn(result)) : "";
  return [argsNotKept ? notKept(argsNotKept) : brief(args), answer && `→ ${answer}`].filter(Boolean).join(" ");
}

/** One line of the table, all of which leads to the story, if there is one. */
function line(l: Line, given: string) {
  const usual = l.event === "call" || l.event === "relay";
  const tool = foreign(l.tool || (usual ? l.event : ""), "tool");
  const id = l.call || l.question;
  const what = [
    element("span", "soft", usual ? "" : l.event === "ask" ? "You were asked: " : `${l.event} `),
    id ? link("record", { call: id }, l.tool ? tool : when(l.time)) : tool,
    foreign([l.pack && (l.event === "pack" ? l.pack : `pack ${l.pack}`), l.domain].filter(Boolean).map((of) => ` · ${of}`).join(""), "soft"),
  ];
  const client = foreign([l.name || l.said || l.client, l.via].filter(Boolean).join(" · "));
  const outcome = l.event === "ask" ? answerOf(l) : usual || l.outcome === "ok" ? outcomeChip(l.outcome) : foreign(l.outcome);
  const made = row(element("span", "number", when(l.time)), what, foreign(given || (usual ? "" : (l.reason ?? ""))), client, outcome, usual || l.asked ? timeOf(l) : "");
  // What has no place in the line.
  const said = [
    [l.tool, l.domain, l.pack && `pack ${l.pack}`].filter(Boolean).join(" · "), given,
    [l.decision, l.reach, l.by && `by ${l.by}`, l.rule].filter(Boolean).join(" · "), ...(l.flows ?? []), [l.outcome, l.reason].filter(Boolean).join(": "), l.late && `written late, by node ${l.late}`,
  ];
  made.title = said.filter(Boolean).join("\n");
  return made;
}

/** What the owner has said to a question. */
const answerOf = ({ reach, outcome }: Line) => (!reach ? foreign(outcome) : reach === "no" || reach === "never" ? problem("not allowed") : chip("ok", "allowed"));

function timeOf(l: Line) {
  const { took: itself, you } = tookOf(l);
  return element("span", "number", l.event === "ask" ? "" : `${took(itself)} `, element("span", "soft", you ? `you: ${took(you)}` : ""));
}

/** Saves all that was found as a file. */
async function save() {
  const query = asked();
  query.set("format", "jsonl");
  const found = await file(`api/log?${query}`);
  const at = document.createElement("a");
  at.href = URL.createObjectURL(found);
  at.download = "tabhub-record.jsonl";
  at.click();
  URL.revokeObjectURL(at.href);
  return `All lines that were found are in ${at.download}.`;
}
