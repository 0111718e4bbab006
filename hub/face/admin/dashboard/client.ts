// One client: its credential, its connections, what it may know of, and what is known
// of it.

import { showAgents } from "./agents.ts";
import { isPaused, openAbout, showPauseOf, updateAbout } from "./about.ts";
import { showAccess } from "./access.ts";
import { browsersOf, KINDS, onlyIn, OTHERS } from "./clients.ts";
import { byID, chip, problem, element, fill, foreign, link, list, number, row, showPairs, twice, when } from "./dom.ts";
import { nameOf } from "./names.ts";
import { Pages } from "./pages.ts";
import { ask } from "./session.ts";

import type { Client, Policy, Session } from "./api.d.ts";

/** Its id. */
let client: string;
/** The agent of it that is shown alone. */
let agent: string | undefined;
/** Of tools. */
let pages: Pages;
let agents: Pages;

/** @param session of one of its agents */
export function openClient(into: string, id: string, session: string | undefined, refresh: (changed: string[]) => void) {
  [client, agent] = [id, session];
  fill(into, "one-client");
  fill("agents-part", "agents-parts");
  byID("all-agents").hidden = !agent;
  byID("all-agents").append(link("clients", { client }, "All agents of the client"));
  agents = new Pages(() => refresh(["tabs"]), "#agents-part");
  openAbout({ client });
  pages = new Pages(() => refresh(["tabs"]), "#client-tools");
  const form = byID("tool-search", HTMLFormElement);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => pages.turn());
}

export async function updateClient(changed: Set<string>) {
  const [clients, sessions, policy]: [Client[], Session[], Policy] = await Promise.all([ask("GET", "api/clients"), ask("GET", "api/sessions"), ask("GET", "api/policy")]);
  const known = clients.find(({ id }) => id === client);
  const mine = sessions.filter((s) => s.client === client);
  showClient(known, mine, policy);
  await showAgents(agents, agent ? { client, session: agent } : { client });
  if (!known && !(client in OTHERS)) return;
  if (changed.has("tabs") || changed.has("policy") || changed.has("clients")) {
    await showAccess(policy, { client, shown: "", q: byID("tool-search", HTMLFormElement).q.value.trim() }, pages);
  }
  await updateAbout(changed, policy, { client });
}

function showClient(known: Client | undefined, sessions: Session[], policy: Policy) {
  const name = known?.name ?? nameOf(client);
  byID("client-name").textContent = name;
  const open = sessions.some(({ connected }) => connected);
  const states = [open ? chip("connected") : chip("closed", "not connected")];
  if (isPaused(policy, { client })) states.push(chip("paused"));
  if (!known && !(client in OTHERS)) states.push(problem("its access has ended"));
  byID("client-state").replaceChildren(...states);
  showPauseOf("client-pause", policy, { client }, name);
  byID("client-end").replaceChildren(
    known
      ? twice("End its access", `End its access: ${name}`, async () => {
          await ask("DELETE", `api/clients?client=${encodeURIComponent(client)}`);
          return `${name} has no access any more.`;
        })
      : "",
  );
  const facts: [string, string | Node][] = known
    ? [
        ["Credential", KINDS[known.kind] ?? known.kind],
        ["Made", when(known.made)],
        ["Last used", known.lastUsed ? when(known.lastUsed) : "never"],
        ["Ends", known.expires ? when(known.expires) : "never"],
        ["Good for", known.scope ? foreign([known.scope.classes, known.scope.sites, known.scope.tools].flatMap((s) => s ?? []).join(", ") || "nothing") : "all that the policy allows"],
      ]
    : [["Credential", OTHERS[client] ?? "none any more"]];
  facts.push(["Browsers", foreign(browsersOf(client, known, policy) || "all")]);
  showPairs("credential", facts);
  const rows = sessions.map((s) =>
    row(
      foreign([s.said || "without a name", s.version].filter(Boolean).join(" ")),
      s.connected ? chip("connected") : chip("closed", "has called lately"),
      [foreign(s.transport ?? ""), foreign(s.bound ? onlyIn(s.bound) : "", "below")],
      foreign(s.protocol ?? ""),
      element("span", "number", s.since ? when(s.since) : ""),
      number(s.calls),
      element("span", "number", s.last ? when(s.last) : "never"),
    ),
  );
  list(byID("sessions"), "table", rows);
  byID("no-sessions").hidden = rows.length > 0;
}
