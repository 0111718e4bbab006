// The record: its lines, searched by all that they hold, a page at a time, and files of them.

import { byID, outcomeChip, element, foreign, link, list, row, tell, took, when } from "./dom.ts";
import { PAGE } from "./pages.ts";
import { ask, file } from "./session.ts";
import { openStory } from "./story.ts";
import type { Line } from "./api.d.ts";

import type { View } from "./dashboard.ts";

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
    for (const [name, value] of args) {
      const field = filter.elements.namedItem(name);
      if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) field.value = value;
    }
    const more = filter.querySelector("details") as HTMLDetailsElement;
    more.open = [...more.querySelectorAll("input")].some(({ value }) => value !== "");
    keepFilter();
    const turnTo = (turn: () => void) => {
      turn();
      refresh(["record"]);
    };
    filter.addEventListener("submit", (event) => event.preventDefault());
    filter.addEventListener("input", () => turnTo(() => {
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
    showRecord(await ask("GET", `api/log?${query}`));
  },
  live({ entries, missed = 0 }) {
    if (!entries || story) return;
    const { value: event } = filter.elements.namedItem("event") as HTMLSelectElement;
    added += missed + entries.filter((e) => event === "" || e.event === event).length;
    showAdded();
  },
};

/** What the filter asks for, as the admin API takes it. */
function asked() {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(filter)) {
    if (typeof value !== "string" || value.trim() === "") continue;
    const time = name === "since" || name === "until";
    query.set(name, time ? new Date(value).toISOString() : value.trim());
  }
  return query;
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

function showRecord(lines: Line[]) {
  const shown = lines.slice(0, PAGE);
  list(byID("record-rows"), "table", shown.map(line));
  byID("no-lines").hidden = lines.length > 0 || filtered();
  byID("no-match").hidden = lines.length > 0 || !filtered();
  byID("newer").hidden = pages.length === 0;
  byID("older").hidden = lines.length <= PAGE;
  byID("older").dataset.before = String(shown.at(-1)?.n ?? 0);
  byID("exports").hidden = lines.length === 0;
}

const filtered = () => pages.length > 0 || [...asked().keys()].some((name) => name !== "event");

function line(l: Line) {
  const what = [foreign([l.domain, l.tool].filter(Boolean).join(" · "))];
  if (l.event !== "call") what.unshift(element("span", "soft", `${l.event} `));
  for (const flow of l.flows ?? []) what.push(foreign(flow, "title soft"));
  if (l.late) what.push(foreign(`written late, by node ${l.late}`, "title soft"));
  const decision = [element("span", l.decision === "deny" ? "bad" : "", l.decision ?? "")];
  const how = [l.reach, l.by && `by ${l.by}`, l.rule].filter(Boolean).join(" · ");
  if (how) decision.push(foreign(how, "title soft"));
  const outcome = [l.event === "call" || l.outcome === "ok" ? outcomeChip(l.outcome) : foreign(l.outcome)];
  if (l.reason) outcome.push(foreign(l.reason, "title soft"));
  const id = l.question || l.call; // the question has the call, too
  return row(element("span", "number", when(l.time)), what, foreign([l.name || l.said || l.client, l.via].filter(Boolean).join(" · ")), decision, outcome, element("span", "number", l.duration ? took(l.duration) : ""), id ? storyLink(id, l) : "");
}

function storyLink(id: string, { time, tool = "" }: Line) {
  const made = link("record", { call: id }, "Story");
  made.ariaLabel = `Story of ${tool}, ${when(time)}`;
  return made;
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
