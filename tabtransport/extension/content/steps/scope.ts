// How far the steps of a run reach: those of a pack to its pages, a client's own to the pages of one site.

import { matchesAny } from "../../patterns.ts";
import type { Scope } from "./find.ts";

type Begin = Extract<WorkerToRunner, { type: "run" }>;

export function scopeOf({ match, origins, args = {}, values = {} }: Pick<Begin, "match" | "origins"> & Partial<Begin>): Scope {
  const given = { args: { ...args } as Scope["args"], values: { ...values } };
  if (!origins) return { ...given, inMatch: (address) => matchesAny(match, address), outside: "where the pack does not reach" };
  return { ...given, literal: true, inMatch: (address) => origins.includes(originOf(address)), outside: "which is not on this site" };
}

/** An empty document has the origin of the one that made it. */
function originOf(address: string) {
  if (/^about:(blank|srcdoc)/.test(address)) return self.origin;
  return URL.canParse(address) ? new URL(address).origin : "";
}
