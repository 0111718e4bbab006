// What the owner has decided of sites: the mode, rules and private sites.

import { byID, element, foreign, list, row, tell, twice, when } from "./dom.js";
import { nameOf } from "./names.js";
import { ask } from "./session.js";

/** @import {Policy, Rule} from "./api.d.ts" */
/** @import {View} from "./dashboard.js" */

/** @type {Record<string, string>} */
const MODES = {
  open: "Everything is allowed that no rule asks about or denies.",
  careful: "You are asked before what cannot be undone, and where no browser vouches for the site.",
  ask: "You are asked about everything, once for each client and site.",
  "read-only": "Nothing but reading is done, whatever a rule says.",
};

/** @type {Record<string, string>} how an effect looks */
const LOOKS = { allow: "good", deny: "bad" };

/** @type {Record<string, string>} */
const MAKERS = { preset: "the mode", file: "the policy file", window: "you, when asked", dashboard: "you, here", command: "you, by command", client: "you, in the client" };

/** @template {HTMLElement} T @param {string} id @param {new () => T} type */
function field(id, type) {
  const found = byID(id);
  if (!(found instanceof type)) throw new Error(`#${id} is another element`);
  return found;
}

/** @type {View} */
export const view = {
  name: "sites",
  title: "Sites",
  open() {
    listen();
  },
  async update(changed) {
    if (changed.has("policy") || changed.has("clients")) showPolicy(await ask("GET", "api/policy"));
  },
};

/** @param {Policy} policy */
function showPolicy(policy) {
  const mode = field("mode", HTMLSelectElement);
  mode.value = policy.mode;
  mode.disabled = policy.fixed;
  byID("mode-now").textContent = policy.mode;
  byID("mode-words").textContent = MODES[policy.mode] + (policy.fixed ? " The hub was started with it, so it stays." : "");
  const file = byID("file-error");
  file.hidden = !policy.file?.error;
  file.textContent = policy.file?.error ? `The rules of the policy file do not hold: ${policy.file.error}` : "";
  list(byID("rules"), "table", policy.rules.map(ruleRow));
  byID("no-rules").hidden = policy.rules.length > 0;
  list(
    byID("private"),
    "ul",
    policy.private.map((site) =>
      element("li", "", foreign(site, "code"), " ", twice("Remove", `Remove ${site} from the private sites`, () => ask("PUT", "api/policy/private", { site, private: false }))),
    ),
  );
}

/** @param {Rule} rule */
function ruleRow(rule) {
  const { id, effect, client, session, site, tool, class: of, pin, late, from, until, by = "", note } = rule;
  const what = [from && `values of ${from}`, tool, of, late && "that came late", pin && "as it was described"].filter(Boolean).join(" · ");
  const words = [foreign(what || "anything")];
  if (note) words.push(foreign(note, "title soft"));
  const own = by !== "preset" && by !== "file";
  return row(
    element("span", LOOKS[effect] ?? "", effect),
    foreign(client ? nameOf(client) + (session ? ", one session" : "") : "any"),
    foreign(site ?? "any"),
    words,
    until ? element("span", "number", `until ${when(until)}`) : "",
    MAKERS[by] ?? by,
    own ? twice("Remove", `Remove rule ${id}`, () => ask("DELETE", `api/policy/rule?id=${encodeURIComponent(id)}`)) : "",
  );
}

/**
 * What the form says, without what is left empty.
 * @param {HTMLFormElement} form
 */
function asked(form) {
  const said = /** @type {[string, string][]} */ ([...new FormData(form)].filter(([, value]) => typeof value === "string" && value.trim() !== ""));
  return Object.fromEntries(said.map(([name, value]) => [name, value.trim()]));
}

/** @param {Rule[]} exceptions */
const except = (exceptions) => (exceptions.length ? ` Other rules decide otherwise in a part of it: ${exceptions.map(({ id }) => id).join(", ")}.` : "");

function listen() {
  const mode = field("mode", HTMLSelectElement);
  const form = field("rule-form", HTMLFormElement);
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
  mode.addEventListener("change", () => tell(mode, () => ask("PUT", "api/policy/mode", { mode: mode.value })));
  byID("private-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const site = field("private-site", HTMLInputElement);
    void tell(site, async () => {
      await ask("PUT", "api/policy/private", { site: site.value.trim(), private: true });
      site.value = "";
    });
  });
}
