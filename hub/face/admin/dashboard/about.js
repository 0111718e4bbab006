// What is known of a site or a client: its rules and its latest calls. And whether it is paused.

import { byID, chip, element, fill, foreign, link, list, row, tell, when } from "./dom.js";
import { nameOf } from "./names.js";
import { decision, openRuleForm, showRules } from "./rule.js";
import { ask } from "./session.js";

/** @import {Line, Message, Policy, Rule} from "./api.d.ts" */

/** @typedef {{site?: string, client?: string}} Subject */

/**
 * Asks for the latest calls again when one of a subject has ended.
 * @param {Message} message
 * @param {Subject} subject
 * @param {(changed: string[]) => void} refresh
 */
export function follow({ entries }, { site, client }, refresh) {
  if (entries?.some((e) => e.event === "call" && (site === undefined || e.domain === site) && (client === undefined || e.client === client))) refresh(["record"]);
}

/** @param {Subject} subject */
export function openAbout(subject) {
  fill("about", "about-parts");
  openRuleForm(subject);
  byID("in-record", HTMLAnchorElement).href = `#record?${query(subject)}`;
}

/** @param {Subject} subject */
const query = (subject) => new URLSearchParams(/** @type {Record<string, string>} */ (subject));

/**
 * @param {Set<string>} changed
 * @param {Policy} policy
 * @param {Subject} subject
 */
export async function updateAbout(changed, policy, subject) {
  showRules("rules", policy.rules.filter((rule) => names(rule, subject)));
  if (!changed.has("record")) return;
  showCalls(await ask("GET", `api/log?${query(subject)}&event=call&limit=10`));
}

/**
 * @param {Rule} rule
 * @param {Subject} subject
 */
function names(rule, { site, client }) {
  if (client) return rule.client === client || rule.client === nameOf(client);
  return [rule.site, rule.from].some((of) => of === site || (of?.startsWith("*.") && `.${site}`.endsWith(of.slice(1))));
}

/** @param {Line[]} calls */
function showCalls(calls) {
  const rows = calls.map((l) => {
    const time = element("span", "number", when(l.time));
    return row(
      l.call ? link("record", { call: l.call }, time) : time,
      foreign([l.domain, l.tool].filter(Boolean).join(" · ")),
      clientLink(l.client, l.said),
      l.decision ? decision(l.decision) : "",
      chip(l.outcome),
    );
  });
  list(byID("calls"), "table", rows);
  byID("no-calls").hidden = rows.length > 0;
}

/** @param {string} site */
export const siteLink = (site) => link("sites", { site }, foreign(site));

/**
 * @param {string} [client] its id
 * @param {string} [said] what it calls itself
 */
export const clientLink = (client = "", said = "") => (client ? link("clients", { client }, foreign(nameOf(client))) : foreign(said));

/**
 * A button that pauses what it is about, or lets it go on.
 * @param {string} id of the button
 * @param {Policy} policy
 * @param {Subject} subject
 * @param {string} name
 */
export function showPauseOf(id, policy, subject, name) {
  const made = byID(id, HTMLButtonElement);
  const paused = isPaused(policy, subject);
  made.textContent = paused ? "Resume" : "Pause";
  made.ariaLabel = `${made.textContent} ${name}`;
  made.onclick = () => tell(made, () => (paused ? ask("DELETE", `api/pause?${query(subject)}`) : ask("POST", "api/pause", subject)));
}

/**
 * @param {Policy} policy
 * @param {Subject} subject
 */
export const isPaused = ({ pauses }, { site = "", client = "" }) =>
  pauses.some((p) => (p.site ?? "") === site && (p.client === client || (p.client ?? "") === (client && nameOf(client))));
