// Targets as clients write them in one text: a reference, or a role and a name, and what they are in.

import { ROLES } from "./roles.ts";

const STRING = String.raw`"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"`;
/** A reference, or a line of a look that has one. */
const REF = new RegExp(String.raw`^(?:[a-z]+(?:\s+${STRING})?\s+)?([a-z]{3,8}[1-9]\d{0,8})$`);
/** A role, or field for whatever a label names; a name as JSON has it; which of several, from 1 on. */
const PART = new RegExp(String.raw`^([a-z]+)(?:\s+(${STRING}))?(?:\s+#(-?[1-9]\d{0,3}))?(?:\s+in\s+|$)`);

/**
 * Reads kfa3, or button "Remove" in row "Tea...".
 * @returns undefined if the text is no target
 */
export function parseTarget(text: string): Target | undefined {
  const [, ref] = REF.exec(text.trim()) ?? [];
  return ref ? { ref } : parsePart(text.trim());
}

function parsePart(text: string): Target | undefined {
  const [part, role, quoted, nth] = PART.exec(text) ?? [];
  if (!part) return undefined;
  const isInner = /\sin\s+$/.test(part);
  const outer = isInner ? parsePart(text.slice(part.length)) : undefined;
  const name = quoted === undefined ? undefined : (JSON.parse(quoted) as string);
  const isKnown = role === "field" ? name !== undefined : ROLES.has(role);
  if (!isKnown || (isInner && !outer) || name === "") return undefined;
  const named = role === "field" ? { label: name } : { role, ...(name ? { name } : {}) };
  return { ...named, ...(nth ? { nth: Number(nth) } : {}), ...(outer ? { in: outer } : {}) };
}
