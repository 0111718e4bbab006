// What a client may do with tools, a page of them at a time.

import { byID, chip, element, foreign, link, list, row, tell } from "./dom.ts";
import { decision, isOwn, makeRule, removeRule } from "./rule.ts";
import type { Pages } from "./pages.ts";

import type { Access, Policy } from "./api.d.ts";

export async function showAccess(policy: Policy, of: { site?: string; client?: string; q?: string; shown?: string }, pages: Pages) {
  const { part, found }: { part: Access[]; found: number } = await pages.find("api/tools", { client: "any", ...of });
  list(byID("access"), "table", part.map((tool) => accessRow(tool, policy, of)));
  byID("no-access").hidden = found > 0;
  byID("tool-count").textContent = found ? found.toLocaleString("en") : "";
}

function accessRow(tool: Access, policy: Policy, { site, client }: { site?: string; client?: string }) {
  const name: HTMLElement[] = [link("tabs", { tool: tool.name }, foreign(tool.source || tool.name))];
  if (!site && tool.domain) name.push(foreign(tool.domain, "soft below"));
  if (tool.tab) name.push(element("span", "soft below", `tab ${tool.tab}`));
  if (tool.pack) name.push(element("span", "soft below", `of the pack ${tool.pack}`));
  if (tool.cached) name.push(chip("cached"));
  const state = [decision(tool.effect)];
  if (tool.changed) state.push(chip("waiting", "changed since you allowed it"));
  else if (tool.rule?.pin) state.push(element("span", "soft below", "as it was described"));
  return row(name, tool.class, state, foreign(tool.words, "soft"), tool.domain ? ruleSelect(tool, policy, client) : "");
}

/** What the owner has said of just this tool, to be changed. */
function ruleSelect(tool: Access, policy: Policy, client?: string) {
  const subject = { site: tool.domain, tool: tool.source, pack: tool.pack, client };
  const own = policy.rules.find(
    (r) => isOwn(r) && r.site === subject.site && r.tool === subject.tool && r.pack === subject.pack && (r.client ?? "") === (client ?? "") && !r.class && !r.from && !r.session && !r.late,
  );
  const made = document.createElement("select");
  made.className = "writes";
  made.ariaLabel = `Your rule for ${tool.source}`;
  made.append(new Option("none", ""), ...["allow", "ask", "deny"].map((effect) => new Option(effect)));
  made.value = own?.effect ?? "";
  made.addEventListener("change", () =>
    tell(made, async () => {
      if (made.value === "") return own && removeRule(own);
      return makeRule({ ...subject, effect: made.value });
    }),
  );
  return made;
}
