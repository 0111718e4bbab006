// The clients that have a credential of their own.

import { byID, element, foreign, list, row, twice, when } from "./dom.js";
import { ask } from "./session.js";

/** @import {Client} from "./api.d.ts" */

/** @type {Record<string, string>} */
const KINDS = { entry: "in its configuration", token: "a token", oauth: "signed in by URL" };

/** @type {Map<string, string>} */
const names = new Map();

/** @param {string} id of a client, or a word for those that have none */
export const nameOf = (id) => names.get(id) ?? id;

/** @param {Client[]} clients */
export function showClients(clients) {
  names.clear();
  for (const { id, name } of clients) names.set(id, name);
  const rows = clients.map((c) =>
    row(
      foreign(c.name),
      KINDS[c.kind] ?? c.kind,
      element("span", "number", when(c.made)),
      element("span", "number", c.lastUsed ? when(c.lastUsed) : "never"),
      c.scope ? foreign([c.scope.classes, c.scope.sites, c.scope.tools].flatMap((s) => s ?? []).join(", ") || "nothing") : "all that the policy allows",
      twice("End", `End the access of ${c.name}`, async () => {
        await ask("DELETE", `api/clients?client=${encodeURIComponent(c.id)}`);
        return `${c.name} has no access any more.`;
      }),
    ),
  );
  list(byID("clients"), "table", rows);
  byID("no-clients").hidden = rows.length > 0;
  byID("client-names").replaceChildren(...["owner", "token", "unnamed", ...names.values()].map((name) => new Option("", name)));
}
