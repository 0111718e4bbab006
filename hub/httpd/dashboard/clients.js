// The clients that have a credential of their own.

import { byID, element, foreign, list, row, twice, when } from "./dom.js";
import { ask } from "./session.js";

/** @import {Client} from "./api.d.ts" */
/** @import {View} from "./dashboard.js" */

/** @type {Record<string, string>} */
const KINDS = { entry: "in its configuration", token: "a token", oauth: "signed in by URL" };

/** @type {View} */
export const view = {
  name: "clients",
  title: "Clients",
  open() {},
  async update(changed) {
    if (changed.has("clients")) showClients(await ask("GET", "api/clients"));
  },
};

/** @param {Client[]} clients */
function showClients(clients) {
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
}
