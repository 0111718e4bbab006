// A rule of the policy: how it is shown, and the form for another one.

import { byID, element, foreign, list, row, tell, twice, when } from "./dom.js";
import { nameOf } from "./names.js";
import { ask } from "./session.js";

/** @import {Rule} from "./api.d.ts" */

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

/** Whether the owner has made a rule here, and can take it back. @param {Rule} rule */
export const isOwn = ({ by }) => by !== "preset" && by !== "file";

/** @param {Rule} rule */
export const removeRule = ({ id }) => ask("DELETE", `api/policy/rule?id=${encodeURIComponent(id)}`);

/**
 * What a form says, without what is left empty.
 * @param {HTMLFormElement} form
 */
function asked(form) {
  const said = /** @type {[string, string][]} */ ([...new FormData(form)].filter(([, value]) => typeof value === "string" && value.trim() !== ""));
  return Object.fromEntries(said.map(([name, value]) => [name, value.trim()]));
}

/**
 * Makes a rule, and returns what that comes to.
 * @param {Partial<Rule>} rule
 */
export async function makeRule(rule) {
  /** @type {{rule: Rule, exceptions: Rule[]}} */
  const { rule: made, exceptions } = await ask("POST", "api/policy/rule", rule);
  const except = exceptions.length ? ` Other rules decide otherwise in a part of it: ${exceptions.map(({ id }) => id).join(", ")}.` : "";
  return `Rule ${made.id} holds.${except}`;
}

/**
 * Has the form for a rule work, which begins with what it is about.
 * @param {{site?: string, client?: string}} subject
 */
export function openRuleForm(subject) {
  const form = byID("rule-form", HTMLFormElement);
  for (const [name, value] of Object.entries(subject)) /** @type {HTMLInputElement} */ (form.elements.namedItem(name)).defaultValue = value;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void tell(form, async () => {
      const { hours, ...rule } = asked(form);
      const until = hours && { until: new Date(Date.now() + Number(hours) * 3600e3).toISOString() };
      const words = await makeRule({ ...rule, ...until });
      form.reset();
      return words;
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
