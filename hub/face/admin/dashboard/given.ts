// What a call was given: in a few words for a line of the record, where a person looks for what was ordered and
// for how much, and as the values that a question about it has.

import type { AskValue } from "../../../../spec/schema/tabhub.v1";

/** How much of it is shown, in characters. */
const MOST = 200;
/** How much of one value is. */
const OF_VALUE = 60;

/** @param args as the hub keeps them, of which secrets are cut */
export function brief(args: unknown) {
  if (typeof args !== "object" || args === null) return cut(words(args), MOST);
  let all = "";
  for (const [name, value] of Object.entries(args)) {
    const said = words(value);
    if (said) all += `${all && " · "}${name}: ${cut(said, OF_VALUE)}`;
    if (all.length > MOST) break;
  }
  return cut(all, MOST);
}

/** What a result says: its structured content, or its text. */
export function answerIn(result: any): unknown {
  if (result?.structuredContent) return result.structuredContent;
  const text = Array.isArray(result?.content) ? result.content.find(({ type }: any) => type === "text")?.text : undefined;
  if (typeof text !== "string") return "";
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What an act has done, a step each, if the record has that of a call. */
export const didIn = (result: any): string[] => (Array.isArray(result?.did) ? result.did.filter((did: unknown) => typeof did === "string") : []);

/** @param bytes that the hub has not kept. It says so beside what was given, where no client can. */
export const notKept = (bytes: number) => `${bytes.toLocaleString("en")} bytes, not kept`;

/** All values, each with the names that lead to it. */
export function valuesOf(value: unknown, path: string[] = []): AskValue[] {
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (members.length) return members.flatMap(([name, member]) => valuesOf(member, [...path, name]));
  return [{ name: path.join("/"), path, value: typeof value === "string" ? value : JSON.stringify(value) }];
}

/** The values in a value, without the names of what is within it. */
function words(value: unknown): string {
  if (typeof value !== "object" || value === null) return value === undefined || value === null ? "" : String(value).replace(/\s+/g, " ").trim();
  const parts: string[] = [];
  let length = 0;
  for (const part of Object.values(value)) {
    const said = words(part);
    if (said) parts.push(said);
    if ((length += said.length) > OF_VALUE) break;
  }
  return parts.join(", ");
}

function cut(text: string, most: number) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}
