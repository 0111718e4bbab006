// What the owner calls the clients that have a credential.

import { byID } from "./dom.js";
import { ask } from "./session.js";

/** @import {Client} from "./api.d.ts" */

/** @type {Map<string, string>} */
const names = new Map();

/** @param {string} id of a client, or a word for those that have none */
export const nameOf = (id) => names.get(id) ?? id;

/** Fetches the names, and offers them to the inputs that have the list client-names. */
export async function loadNames() {
  /** @type {Client[]} */
  const clients = await ask("GET", "api/clients");
  names.clear();
  for (const { id, name } of clients) names.set(id, name);
  byID("client-names").replaceChildren(...["owner", "token", "unnamed", ...names.values()].map((name) => new Option("", name)));
}
