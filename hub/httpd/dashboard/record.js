// The record: its latest lines, and the story of one call.

import { byID, element, foreign, list, row, tell, took, when } from "./dom.js";
import { ask } from "./session.js";

/** @import {Line} from "./api.d.ts" */
/** @import {View} from "./dashboard.js" */

/** @type {HTMLFormElement} */
let filter;

/** The id of the call, or of the question about it, whose story is shown, "" for none. */
let story = "";

/** @type {View} */
export const view = {
  name: "record",
  title: "Record",
  open(section, args) {
    filter = /** @type {HTMLFormElement} */ (byID("record-filter"));
    story = args.get("call") ?? "";
    byID("one-call").hidden = story === "";
    filter.hidden = story !== "";
    filter.addEventListener("submit", (event) => event.preventDefault());
    filter.addEventListener("change", () => tell(filter, show));
  },
  update: show,
};

async function show() {
  showRecord(await ask("GET", path()));
}

/** Where the admin API has the lines that are to be shown. */
function path() {
  const query = new URLSearchParams({ limit: story ? "100" : "25" });
  if (story) return `api/log?${query}&call=${encodeURIComponent(story)}`;
  for (const [name, value] of new FormData(filter)) if (typeof value === "string" && value !== "") query.set(name, value.trim());
  return `api/log?${query}`;
}

/** @param {Line[]} lines */
function showRecord(lines) {
  list(byID("record"), "table", lines.map(line));
  const none = byID("no-record");
  none.hidden = lines.length > 0;
  none.textContent = filtered() ? "No line fits." : "Nothing yet. Connect a client, and have it call a tool.";
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
  const outcome = [element("span", l.outcome === "ok" ? "good" : "bad", l.outcome)];
  if (l.reason) outcome.push(foreign(l.reason, "title soft"));
  const time = [element("span", "number", when(l.time))];
  const id = l.question || l.call; // the question has the call, too
  if (id && id !== story) time.push(link(id, l));
  return row(time, what, foreign([l.name || l.said || l.client, l.via].filter(Boolean).join(" · ")), decision, outcome, element("span", "number", l.duration ? took(l.duration) : ""));
}

/**
 * @param {string} id
 * @param {Line} l
 */
function link(id, { time }) {
  const made = document.createElement("a");
  made.href = `#record?call=${encodeURIComponent(id)}`;
  made.textContent = "Story";
  made.ariaLabel = `Story of the call of ${when(time)}`;
  return made;
}
