// The clients of the hub, and how another one is connected; one of them (#clients?client=ID).

import { clientLink, follow, isPaused } from "./about.js";
import { openClient, updateClient } from "./client.js";
import { showConnect } from "./connect.js";
import { byID, chip, element, fill, foreign, list, row, when } from "./dom.js";
import { ask } from "./session.js";

/** @import {Client, Message, Policy, Session} from "./api.d.ts" */
/** @import {View} from "./dashboard.js" */

/** @type {Record<string, string>} */
export const KINDS = { entry: "in its configuration", token: "a token", oauth: "signed in by URL" };

/** @type {Record<string, string>} those that have no credential of their own */
export const OTHERS = { owner: "your own commands", token: "the hub’s token", unnamed: "none: a program of your account" };

const PART = "clients-part";

/** @type {(changed: Set<string>) => Promise<void>} */
let update;
/** @type {(message: Message) => void} */
let live;

/** @type {View} */
export const view = {
  name: "clients",
  title: "Clients",
  open(_, args, refresh) {
    const client = args.get("client") ?? undefined;
    live = (message) => follow(message, { client }, refresh);
    if (client) {
      openClient(PART, client, refresh);
      update = updateClient;
    } else {
      fill(PART, "client-list");
      update = updateList;
    }
  },
  update: (changed) => update(changed),
  live: (message) => live(message),
};

/** @param {Set<string>} changed */
async function updateList(changed) {
  if (changed.has("status")) showConnect(await ask("GET", "api/connect")); // which stays
  if (!changed.has("clients") && !changed.has("policy") && !changed.has("record")) return;
  showClients(...await Promise.all([ask("GET", "api/clients"), ask("GET", "api/sessions"), ask("GET", "api/policy")]));
}

/**
 * @param {Client[]} clients
 * @param {Session[]} sessions the last to call first
 * @param {Policy} policy
 */
function showClients(clients, sessions, policy) {
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
    return row(
      clientLink(id, mine[0]?.said),
      state,
      how,
      element("span", "number", since ? when(since) : ""),
      element("span", "number", last ? when(last) : "never"),
      known ? KINDS[known.kind] ?? known.kind : OTHERS[id] ?? "",
    );
  });
  list(byID("clients"), "table", rows);
  byID("no-clients").hidden = rows.length > 0;
}

/** @param {Session} session */
const words = ({ said, version, transport, protocol }) =>
  [[said || "without a name", version].filter(Boolean).join(" "), transport, protocol && `MCP ${protocol}`].filter(Boolean).join(" · ");
