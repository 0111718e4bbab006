// The clients of the hub, and how another one is connected; one of them (#clients?client=ID).

import { showAgents } from "./agents.ts";
import { clientLink, follow, isPaused } from "./about.ts";
import { openClient, updateClient } from "./client.ts";
import { showConnect } from "./connect.ts";
import { byID, chip, element, fill, foreign, list, row, when } from "./dom.ts";
import { Pages } from "./pages.ts";
import { ask } from "./session.ts";
import type { Client, Message, Policy, Session } from "./api.d.ts";

import type { View } from "./dashboard.ts";

export const KINDS: Record<string, string> = { entry: "in its configuration", token: "a token", oauth: "signed in by URL" };

/** Those that have no credential of their own. */
export const OTHERS: Record<string, string> = { owner: "your own commands", token: "the hub’s token", unnamed: "none: a program of your account" };

const PART = "clients-part";

let update: (changed: Set<string>) => Promise<void>;
let live: (message: Message) => void;
/** Of agents. */
let agents: Pages;

export const view: View = {
  name: "clients",
  title: "Clients",
  open(_, args, refresh) {
    const client = args.get("client") ?? undefined;
    live = (message) => follow(message, { client }, refresh);
    if (client) {
      openClient(PART, client, args.get("agent") ?? undefined, refresh);
      update = updateClient;
    } else {
      fill(PART, "client-list");
      fill("agents-part", "agents-parts");
      agents = new Pages(() => refresh(["tabs"]), "#agents-part");
      update = updateList;
    }
  },
  update: (changed) => update(changed),
  live: (message) => live(message),
};

async function updateList(changed: Set<string>) {
  if (changed.has("status")) showConnect(await ask("GET", "api/connect")); // which stays
  if (["tabs", "clients", "record"].some((kind) => changed.has(kind))) await showAgents(agents, {});
  if (!changed.has("clients") && !changed.has("policy") && !changed.has("record")) return;
  showClients(...await Promise.all([ask("GET", "api/clients"), ask("GET", "api/sessions"), ask("GET", "api/policy")]));
}

/** @param sessions the last to call first */
function showClients(clients: Client[], sessions: Session[], policy: Policy) {
  const ids = new Set([...sessions.map(({ client = "" }) => client), ...clients.map(({ id }) => id)]);
  const rows = [...ids].map((id) => {
    const known = clients.find((c) => c.id === id);
    const mine = sessions.filter(({ client = "" }) => client === id);
    const open = mine.filter(({ connected }) => connected);
    const state = [open.length ? chip("connected", open.length > 1 ? `connected ${open.length} times` : undefined) : chip("closed", "not connected")];
    if (id && isPaused(policy, { client: id })) state.push(chip("paused"));
    const how = mine.slice(0, 3).map((s) => foreign(words(s), "below"));
    if (mine.length > how.length) how.push(element("span", "soft below", `and ${mine.length - how.length} more`));
    const since = open.map((s) => s.since ?? "").filter(Boolean).sort()[0];
    const last = mine[0]?.last ?? known?.lastUsed;
    const bound = foreign(browsersOf(id, known, policy), "below");
    return row(
      clientLink(id, mine[0]?.said),
      state,
      how,
      element("span", "number", since ? when(since) : ""),
      element("span", "number", last ? when(last) : "never"),
      [element("span", "", known ? KINDS[known.kind] ?? known.kind : OTHERS[id] ?? ""), bound],
    );
  });
  list(byID("clients"), "table", rows);
  byID("no-clients").hidden = rows.length > 0;
}

const words = ({ said, version, transport, protocol, bound }: Session) =>
  [[said || "without a name", version].filter(Boolean).join(" "), transport, protocol && `MCP ${protocol}`, bound && onlyIn(bound)].filter(Boolean).join(" · ");

/** @param browsers by their names */
export const onlyIn = (browsers: string[]) => `only in ${browsers.join(", ") || "no browser"}`;

/** To which browsers a client's credential and the policy bind it; "" if to none. */
export function browsersOf(id: string, known: Client | undefined, { bindings }: Policy) {
  const name = (known?.name ?? id).toLowerCase();
  const all = [known?.scope?.browsers, ...bindings.filter((b) => !b.client || b.client === id || b.client.toLowerCase() === name).map((b) => b.browsers)];
  const [first, ...more] = all.filter((names) => names !== undefined);
  return first ? onlyIn(first.filter((browser) => more.every((names) => names.includes(browser)))) : "";
}
