// Targets as clients write them in one text: a reference, or a role and a name, and what they are in.

/** A reference of a look. */
const REF = /^[a-z]{3,8}[1-9]\d{0,8}$/;
/** A role, or field for whatever a label names; a name as JSON has it; which of several, from 1 on. */
const PART = /^([a-z]+)(?:\s+("(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"))?(?:\s+#(-?[1-9]\d{0,3}))?(?:\s+in\s+|$)/;

/**
 * Reads button "Remove" in row "Tea...".
 * @returns undefined if the text is no target
 */
export function parseTarget(text: string): Target | undefined {
  const whole = text.trim();
  if (REF.test(whole)) return { ref: whole };
  const [part, role, quoted, nth] = PART.exec(whole) ?? [];
  if (!part) return undefined;
  const rest = whole.slice(part.length);
  const isInner = part.length > part.trimEnd().length;
  const outer = isInner ? parseTarget(rest) : undefined;
  const name = quoted === undefined ? undefined : (JSON.parse(quoted) as string);
  if ((isInner && !outer) || name === "" || (role === "field" && !name)) return undefined;
  const named = role === "field" ? { label: name } : { role, ...(name ? { name } : {}) };
  return { ...named, ...(nth ? { nth: Number(nth) } : {}), ...(outer ? { in: outer } : {}) };
}
