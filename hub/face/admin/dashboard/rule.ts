// A rule of the policy: how it is shown, and the form for another one.

import { byID, element, foreign, list, row, tell, twice, when } from "./dom.ts";
import { nameOf } from "./names.ts";
import { ask } from "./session.ts";

import type { Rule } from "./api.d.ts";

/** How an effect looks. */
const LOOKS: Record<string, string> = { allow: "good", ask: "wait", deny: "bad" };

/** By what means a rule or a pack has come. */
export const MAKERS: Record<string, string> = { preset: "the mode", file: "the policy file", window: "you, when asked", dashboard: "you, here", command: "you, by command", client: "you, in the client" };

export const decision = (effect: string) => element("span", `chip ${LOOKS[effect] ?? "off"}`, effect);

/** @param body of a table */
export function showRules(body: string, rules: Rule[]) {
  list(byID(body), "table", rules.map(ruleRow));
  byID("no-rules").hidden = rules.length > 0;
}

function ruleRow(rule: Rule) {
  const { id, effect, client, session, site, tool, pack, class: of, pin, late, from, until, by = "", note } = rule;
  const what = [from && `values of ${from}`, tool, pack && (pack === "*" ? "of packs" : `of the pack ${pack}`), of, late && "that came late", pin && "as it was described"].filter(Boolean).join(" · ");
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

/** Whether the owner has made a rule here, and can take it back. */
export const isOwn = ({ by }: Rule) => by !== "preset" && by !== "file";

export const removeRule = ({ id }: Rule) => ask("DELETE", `api/policy/rule?id=${encodeURIComponent(id)}`);

/** What a form says, without what is left empty. */
function asked(form: HTMLFormElement) {
  const said = [...new FormData(form)].filter(([, value]) => typeof value === "string" && value.trim() !== "") as [string, string][];
  return Object.fromEntries(said.map(([name, value]) => [name, value.trim()]));
}

/** Makes a rule, and returns what that comes to. */
export async function makeRule(rule: Partial<Rule>) {
  const { rule: made, exceptions }: { rule: Rule; exceptions: Rule[] } = await ask("POST", "api/policy/rule", rule);
  const except = exceptions.length ? ` Other rules decide otherwise in a part of it: ${exceptions.map(({ id }) => id).join(", ")}.` : "";
  return `Rule ${made.id} holds.${except}`;
}

/** Has the form for a rule work, which begins with what it is about. */
export function openRuleForm(subject: { site?: string; client?: string }) {
  const form = byID("rule-form", HTMLFormElement);
  for (const [name, value] of Object.entries(subject)) (form.elements.namedItem(name) as HTMLInputElement).defaultValue = value;
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
