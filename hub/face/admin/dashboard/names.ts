// What the owner calls the clients that have a credential.

import { byID } from "./dom.ts";
import { ask } from "./session.ts";

import type { Client } from "./api.d.ts";

const names = new Map<string, string>();

/** @param id of a client, or a word for those that have none */
export const nameOf = (id: string) => names.get(id) ?? id;

/** Fetches the names, and offers them to the inputs that have the list client-names. */
export async function loadNames() {
  const clients: Client[] = await ask("GET", "api/clients");
  names.clear();
  for (const { id, name } of clients) names.set(id, name);
  byID("client-names").replaceChildren(...["owner", "token", "unnamed", ...names.values()].map((name) => new Option("", name)));
}
