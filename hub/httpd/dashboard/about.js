// What is known of a site or a client: its rules, the values that went on from there, and its
// latest calls, with a form for another rule. And what a client may do with tools.

import { button, byID, chip, element, fill, foreign, link, list, number, PAGE, row, tell, twice, when } from "./dom.js";
import { nameOf } from "./names.js";
import { ask, find } from "./session.js";

/** @import {Access, Flow, Line, Message, Policy, Rule} from "./api.d.ts" */

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

/** @type {Record<string, string>} how an effect looks */
const LOOKS = { allow: "good", ask: "wait", deny: "bad" };

/** @type {Record<string, string>} */
const MAKERS = { preset: "the mode", file: "the policy file", window: "you, when asked", dashboard: "you, here", command: "you, by command", client: "you, in the client" };

/** @param {string} effect */
export const decision = (effect) => element("span", `chip ${LOOKS[effect] ?? "off"}`, effect);

/**
 * @param {string} body of a table
 * @param {Rule[]} rules
 */
export function showRules(body, rules) {
  list(byID(body), "table", rules.map(ruleRow));
  byID("no-rules").hidden = rules.length > 0;
}

/** @param {Rule} rule */
function ruleRow(rule) {
  const { id, effect, client, session, site, tool, class: of, pin, late, from, until, by = "", note } = rule;
  const what = [from && `values of ${from}`, tool, of, late && "that came late", pin && "as it was described"].filter(Boolean).join(" · ");
  const words = [foreign(what || "anything")];
  if (note) words.push(foreign(note, "title soft"));
  return row(
    decision(effect),
    foreign(client ? nameOf(client) + (session ? ", one session" : "") : "any"),
    foreign(site ?? "any"),
    words,
    until ? element("span", "number", `until ${when(until)}`) : "",
    MAKERS[by] ?? by,
    isOwn(rule) ? twice("Remove", `Remove rule ${id}`, () => removeRule(rule)) : "",
  );
}

/** @param {Rule} rule */
const isOwn = ({ by }) => by !== "preset" && by !== "file";

/** @param {Rule} rule */
const removeRule = ({ id }) => ask("DELETE", `api/policy/rule?id=${encodeURIComponent(id)}`);

/**
 * What a form says, without what is left empty.
 * @param {HTMLFormElement} form
 */
function asked(form) {
  const said = /** @type {[string, string][]} */ ([...new FormData(form)].filter(([, value]) => typeof value === "string" && value.trim() !== ""));
  return Object.fromEntries(said.map(([name, value]) => [name, value.trim()]));
}

/** @param {Rule[]} exceptions */
const except = (exceptions) => (exceptions.length ? ` Other rules decide otherwise in a part of it: ${exceptions.map(({ id }) => id).join(", ")}.` : "");

/**
 * Has the form for a rule work, which begins with what it is about.
 * @param {Subject} subject
 */
export function openRuleForm(subject) {
  const form = byID("rule-form", HTMLFormElement);
  for (const [name, value] of Object.entries(subject)) /** @type {HTMLInputElement} */ (form.elements.namedItem(name)).defaultValue = value;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void tell(form, async () => {
      const { hours, ...rule } = asked(form);
      const until = hours && { until: new Date(Date.now() + Number(hours) * 3600e3).toISOString() };
      const made = await ask("POST", "api/policy/rule", { ...rule, ...until });
      form.reset();
      return `Rule ${made.rule.id} holds.${except(made.exceptions)}`;
    });
  });
  byID("test").addEventListener("click", () =>
    tell(form, async () => {
      const action = new URLSearchParams(asked(form));
      for (const name of ["effect", "hours"]) action.delete(name); // they are of the rule
      const { effect, words } = await ask("GET", `api/policy/test?${action}`);
      return `Now: ${effect}. ${words}.`;
    }),
  );
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
  const [flows, calls] = await Promise.all([
    ask("GET", `api/flows?${query(subject)}&limit=20`),
    ask("GET", `api/log?${query(subject)}&event=call&limit=10`),
  ]);
  showFlows(flows);
  showCalls(calls);
}

/**
 * @param {Rule} rule
 * @param {Subject} subject
 */
function names(rule, { site, client }) {
  if (client) return rule.client === client || rule.client === nameOf(client);
  return [rule.site, rule.from].some((of) => of === site || (of?.startsWith("*.") && `.${site}`.endsWith(of.slice(1))));
}

/** @param {Flow[]} flows */
function showFlows(flows) {
  const rows = flows.map(({ client, said, from, to, times, denied, last, call }) => {
    const how = [number(times)];
    if (denied) how.push(element("span", "bad", ` ${denied} denied`));
    const at = element("span", "number", when(last));
    return row(siteLink(from), siteLink(to), clientLink(client, said), how, call ? link("record", { call }, at) : at);
  });
  list(byID("flows"), "table", rows);
  byID("no-flows").hidden = rows.length > 0;
}

/** @param {Line[]} calls */
function showCalls(calls) {
  const rows = calls.map((l) => {
    const time = element("span", "number", when(l.time));
    const outcome = [chip(l.outcome === "ok" ? "ok" : l.outcome)];
    return row(
      l.call ? link("record", { call: l.call }, time) : time,
      foreign([l.domain, l.tool].filter(Boolean).join(" · ")),
      clientLink(l.client, l.said),
      l.decision ? decision(l.decision) : "",
      outcome,
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
 * A pager below a list.
 * @param {number} offset
 * @param {number} found
 * @param {(offset: number) => void} go
 */
export function showPages(offset, found, go) {
  const pages = /** @type {HTMLElement} */ (document.querySelector("#view .pages"));
  if (found <= PAGE) return pages.replaceChildren();
  const words = element("span", "soft number", `${offset + 1}–${Math.min(offset + PAGE, found)} of ${found.toLocaleString("en")}`);
  const before = button("Previous", "Previous page", () => go(Math.max(0, offset - PAGE)));
  const after = button("Next", "Next page", () => go(offset + PAGE));
  before.disabled = offset === 0;
  after.disabled = offset + PAGE >= found;
  pages.replaceChildren(before, words, after);
}

/**
 * Shows what a client may do with tools, and how many there are.
 * @param {Policy} policy
 * @param {Subject & {q?: string, shown?: string}} of
 * @param {number} offset
 * @param {(offset: number) => void} go
 */
export async function showAccess(policy, of, offset, go) {
  const wanted = new URLSearchParams({ ...of, offset: String(offset), limit: String(PAGE) });
  /** @type {{part: Access[], found: number}} */
  const { part, found } = await find(`api/access?${wanted}`);
  list(byID("access"), "table", part.map((tool) => accessRow(tool, policy, of)));
  byID("no-access").hidden = found > 0;
  byID("tool-count").textContent = found ? found.toLocaleString("en") : "";
  showPages(offset, found, go);
}

/**
 * @param {Access} tool
 * @param {Policy} policy
 * @param {Subject} subject
 */
function accessRow(tool, policy, { site, client }) {
  /** @type {HTMLElement[]} */
  const name = [link("tabs", { tool: tool.name }, foreign(tool.source || tool.name))];
  if (!site && tool.domain) name.push(foreign(tool.domain, "soft below"));
  if (tool.tab) name.push(element("span", "soft below", `tab ${tool.tab}`));
  if (tool.cached) name.push(chip("cached"));
  const state = [decision(tool.effect)];
  if (tool.changed) state.push(chip("waiting", "changed since you allowed it"));
  else if (tool.rule?.pin) state.push(element("span", "soft below", "as it was described"));
  return row(name, tool.class, state, foreign(tool.words, "soft"), tool.domain ? ruleSelect(tool, policy, client) : "");
}

/**
 * What the owner has said of just this tool, to be changed.
 * @param {Access} tool
 * @param {Policy} policy
 * @param {string} [client]
 */
function ruleSelect(tool, policy, client) {
  const subject = { site: tool.domain, tool: tool.source, client };
  const own = policy.rules.find(
    (r) => isOwn(r) && r.site === subject.site && r.tool === subject.tool && (r.client ?? "") === (client ?? "") && !r.class && !r.from && !r.session && !r.late,
  );
  const made = document.createElement("select");
  made.className = "writes";
  made.ariaLabel = `Your rule for ${tool.source}`;
  made.append(new Option("none", ""), ...["allow", "ask", "deny"].map((effect) => new Option(effect)));
  made.value = own?.effect ?? "";
  made.addEventListener("change", () =>
    tell(made, async () => {
      if (made.value === "") return own && removeRule(own);
      const { rule, exceptions } = await ask("POST", "api/policy/rule", { ...subject, effect: made.value });
      return `Rule ${rule.id} holds.${except(exceptions)}`;
    }),
  );
  return made;
}

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
