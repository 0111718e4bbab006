// All rules, with the mode, the policy file and the private sites.

import { byID, element, fill, foreign, list, tell, twice, when } from "./dom.ts";
import { openRuleForm, showRules } from "./rule.ts";
import { ask } from "./session.ts";

import type { Policy } from "./api.d.ts";

const MODES: Record<string, string> = {
  open: "Everything is allowed that no rule asks about or denies.",
  careful: "You are asked before what cannot be undone, where no browser vouches for the site, once for each site and pack before a pack changes something, and once for each session and site before a client acts on a page by itself.",
  ask: "You are asked about everything, once for each client and site.",
  "read-only": "Nothing but reading is done, whatever a rule says.",
};

export function openRules(into: string) {
  fill(into, "all-rules");
  openRuleForm({});
  const mode = byID("mode", HTMLSelectElement);
  mode.addEventListener("change", () => tell(mode, () => ask("PUT", "api/policy/mode", { mode: mode.value })));
  byID("private-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const site = byID("private-site", HTMLInputElement);
    void tell(site, async () => {
      await ask("PUT", "api/policy/private", { site: site.value.trim(), private: true });
      site.value = "";
    });
  });
}

export async function updateRules(changed: Set<string>) {
  if (changed.has("policy") || changed.has("clients")) showPolicy(await ask("GET", "api/policy"));
}

function showPolicy({ mode: now, fixed, file, rules, private: sites }: Policy) {
  const mode = byID("mode", HTMLSelectElement);
  mode.value = now;
  mode.disabled = fixed;
  byID("mode-now").textContent = now;
  byID("mode-words").textContent = MODES[now] + (fixed ? " The hub was started with it, so it stays." : "");
  byID("policy-file").hidden = !file;
  byID("policy-file").textContent = file ? `${file.rules} of the rules are of the policy file ${file.path ?? ""}, read ${when(file.read)}.` : "";
  byID("file-error").hidden = !file?.error;
  byID("file-error").textContent = file?.error ? `The rules of the policy file do not hold: ${file.error}` : "";
  showRules("rules", rules);
  list(
    byID("private"),
    "ul",
    sites.map((site) =>
      element("li", "", foreign(site, "code"), " ", twice("Remove", `Remove ${site} from the private sites`, () => ask("PUT", "api/policy/private", { site, private: false }))),
    ),
  );
}
