// The record: its latest lines, and the story of one call.

import { button, byID, element, foreign, list, row, took, when } from "./dom.js";

/** @import {Line} from "./api.d.ts" */

const filter = /** @type {HTMLFormElement} */ (byID("record-filter"));

/** The id of the call, or of the question about it, whose story is shown, "" for none. */
let story = "";
let changed = () => {};

/** Where the admin API has the lines that are to be shown. */
export function recordPath() {
  const query = new URLSearchParams({ limit: story ? "100" : "25" });
  if (story) return `api/log?${query}&call=${encodeURIComponent(story)}`;
  for (const [name, value] of new FormData(filter)) if (typeof value === "string" && value !== "") query.set(name, value.trim());
  return `api/log?${query}`;
}

/** @param {() => void} refresh is called when other lines are to be shown */
export const onFilter = (refresh) => void (changed = refresh);

/** @param {Line[]} lines */
export function showRecord(lines) {
  list(byID("record"), "table", lines.map(line));
  const none = byID("no-record");
  none.hidden = lines.length > 0;
  none.textContent = filtered() ? "No line fits." : "Nothing yet. Connect a client, as below, and have it call a tool.";
}

const filtered = () => story !== "" || [...new FormData(filter)].some(([name, value]) => value !== "" && name !== "event");

/** @param {Line} l */
function line(l) {
  const what = [foreign([l.domain, l.tool].filter(Boolean).join(" · "))];
  if (l.event !== "call") what.unshift(element("span", "soft", `${l.event} `));
  for (const flow of l.flows ?? []) what.push(foreign(flow, "title soft"));
  const decision = [element("span", l.decision === "deny" ? "bad" : "", l.decision ?? "")];
  const how = [l.reach, l.by && `by ${l.by}`, l.rule].filter(Boolean).join(" · ");
  if (how) decision.push(foreign(how, "title soft"));
  const outcome = [element("span", l.outcome === "ok" ? "ok" : "bad", l.outcome)];
  if (l.reason) outcome.push(foreign(l.reason, "title soft"));
  const time = [element("span", "number", when(l.time))];
  const id = l.question || l.call; // the question has the call, too
  if (id && id !== story) time.push(button("Story", `Story of the call of ${when(l.time)}`, () => show(id)));
  return row(time, what, foreign([l.name || l.said || l.client, l.via].filter(Boolean).join(" · ")), decision, outcome, element("span", "number", l.duration ? took(l.duration) : ""));
}

/** @param {string} call "" for all */
function show(call) {
  story = call;
  byID("one-call").hidden = call === "";
  filter.hidden = call !== "";
  changed();
  byID(call === "" ? "record-title" : "all-calls").focus();
}

byID("all-calls").addEventListener("click", () => show(""));
filter.addEventListener("submit", (event) => event.preventDefault());
filter.addEventListener("change", () => changed());
