// What is known of a site or a client: its rules and its latest calls. And whether it is paused.

import { byID, outcomeChip, element, fill, foreign, link, list, row, tell, when } from "./dom.ts";
import { nameOf } from "./names.ts";
import { decision, openRuleForm, showRules } from "./rule.ts";
import { ask } from "./session.ts";

import type { Line, Message, Policy, Rule } from "./api.d.ts";

type Subject = { site?: string; client?: string };

/** Asks for the latest calls again when one of a subject has ended. */
export function follow({ entries }: Message, { site, client }: Subject, refresh: (changed: string[]) => void) {
  if (entries?.some((e) => e.event === "call" && (site === undefined || e.domain === site) && (client === undefined || e.client === client))) refresh(["record"]);
}

export function openAbout(subject: Subject) {
  fill("about", "about-parts");
  openRuleForm(subject);
  byID("in-record", HTMLAnchorElement).href = `#record?${query(subject)}`;
}

const query = (subject: Subject) => new URLSearchParams(subject as Record<string, string>);

export async function updateAbout(changed: Set<string>, policy: Policy, subject: Subject) {
  showRules("rules", policy.rules.filter((rule) => names(rule, subject)));
  if (!changed.has("record")) return;
  showCalls(await ask("GET", `api/log?${query(subject)}&event=call&limit=10`));
}

function names(rule: Rule, { site, client }: Subject) {
  if (client) return rule.client === client || rule.client === nameOf(client);
  return [rule.site, rule.from].some((of) => of === site || (of?.startsWith("*.") && `.${site}`.endsWith(of.slice(1))));
}

function showCalls(calls: Line[]) {
  const rows = calls.map((l) => {
    const time = element("span", "number", when(l.time));
    return row(
      l.call ? link("record", { call: l.call }, time) : time,
      foreign([l.domain, l.tool].filter(Boolean).join(" · ")),
      clientLink(l.client, l.said),
      l.decision ? decision(l.decision) : "",
      outcomeChip(l.outcome),
    );
  });
  list(byID("calls"), "table", rows);
  byID("no-calls").hidden = rows.length > 0;
}

export const siteLink = (site: string) => link("sites", { site }, foreign(site));

/**
 * @param client its id
 * @param said what it calls itself
 */
export const clientLink = (client = "", said = "") => (client ? link("clients", { client }, foreign(nameOf(client))) : foreign(said));

/**
 * A button that pauses what it is about, or lets it go on.
 * @param id of the button
 */
export function showPauseOf(id: string, policy: Policy, subject: Subject, name: string) {
  const made = byID(id, HTMLButtonElement);
  const paused = isPaused(policy, subject);
  made.textContent = paused ? "Resume" : "Pause";
  made.ariaLabel = `${made.textContent} ${name}`;
  made.onclick = () => tell(made, () => (paused ? ask("DELETE", `api/pause?${query(subject)}`) : ask("POST", "api/pause", subject)));
}

export const isPaused = ({ pauses }: Policy, { site = "", client = "" }: Subject) =>
  pauses.some((p) => (p.site ?? "") === site && (p.client === client || (p.client ?? "") === (client && nameOf(client))));
