// The lines of a look: what of them is shown of those that there are. Documents make them (content/steps/look.ts);
// the worker puts those of a tab's documents together.

import { tokensIn } from "./tokens.ts";

/** A line, in the order of the page. */
export interface Line {
  depth: number;
  /** It can be acted on; it is a heading or a place; it is text; it is a frame. */
  kind: "act" | "place" | "text" | "frame";
  /** Whether it is in view. */
  view: boolean;
  /** The reference by which one looks at this place alone. */
  ref: string;
  text: string;
  /** Of a frame: its index in its document. */
  frame?: number;
  /** The document that has it. */
  of?: number;
  /** It says that so many lines are left out. */
  more?: number;
}

export interface Wanted {
  /** How many levels; 0: all. */
  depth?: number;
  find?: string;
  maxTokens: number;
  /** All lines of the look before, if only what has changed is wanted. */
  before?: Line[];
  /** Only a part of the page is looked at. */
  scoped?: boolean;
}

export interface Shown {
  lines: { of: number; text: string }[];
  left: number;
  changes: boolean;
}

/** How many lines of one kind in a row are shown, and how many more there must be to be folded. */
const MAX_ALIKE = 10;
const FOLDED = 4;
const MAX_FOUND = 30;
/** What part of the tokens what is in view may take before what can be acted on elsewhere. */
const IN_VIEW = 0.4;
/** How many tokens a note takes that lines are left out. */
const NOTE = 16;

const KINDS = { a: "act", p: "place", t: "text", f: "frame" } as const;

/** Lines as one text, which a document can say at once. */
export function encode(lines: Line[]): string {
  return lines.map(({ depth, kind, view, ref, frame = "", text }) => `${depth} ${kind[0]} ${view ? 1 : 0} ${ref} ${frame} ${text}`).join("\n");
}

export function decode(text: string): Line[] {
  if (!text) return [];
  return text.split("\n").map((line) => {
    const [, depth, kind, view, ref, frame, rest] = /^(\d+) (\w) ([01]) (\w*) (-?\d*) (.*)$/s.exec(line) as RegExpExecArray;
    return { depth: Number(depth), kind: KINDS[kind as keyof typeof KINDS], view: view === "1", ref, text: rest, ...(frame && { frame: Number(frame) }) };
  });
}

/** What is shown of lines. */
export function show(all: Line[], { depth = 0, find = "", maxTokens, before, scoped = false }: Wanted): Shown {
  if (find) return found(all, find, maxTokens);
  const flat = depth ? all.filter((line) => line.depth < depth) : all;
  const whole = within(scoped ? flat : folded(flat), maxTokens, all.length - flat.length);
  if (!before) return whole;
  const changed = within(changes(before, all), maxTokens, 0);
  return size(changed) < size(whole) ? { ...changed, changes: true } : whole;
}

function size({ lines }: Shown) {
  return lines.reduce((sum, { text }) => sum + text.length + 1, 0);
}

function indented({ depth, text }: Line) {
  return "  ".repeat(Math.min(depth, 40)) + text;
}

/** The index of the line that each is in; -1: none. */
function parentsOf(lines: Line[]): number[] {
  const open: number[] = [];
  return lines.map(({ depth }, i) => {
    while (open.length && lines[open[open.length - 1]].depth >= depth) open.pop();
    const parent = open.length ? open[open.length - 1] : -1;
    open.push(i);
    return parent;
  });
}

// ---- Folding

/** Lines without long rows of those of one kind on which nobody can act. */
function folded(lines: Line[]): Line[] {
  const out: Line[] = [];
  for (let i = 0; i < lines.length; ) {
    let end = i;
    while (end < lines.length && isAlike(lines[i], lines[end])) end++;
    const alike = end - i;
    if (alike <= MAX_ALIKE + FOLDED) {
      out.push(...lines.slice(i, Math.max(end, i + 1)));
      i = Math.max(end, i + 1);
      continue;
    }
    out.push(...lines.slice(i, i + MAX_ALIKE));
    out.push({ ...lines[i], ref: "", view: false, more: alike - MAX_ALIKE, text: leftOut(alike - MAX_ALIKE, "like these ", placeOf(lines, i)) });
    i = end;
  }
  return out;
}

function isAlike(a: Line, b: Line) {
  return a.kind === "text" && b.kind === "text" && a.depth === b.depth && a.of === b.of && kindOf(a.text) === kindOf(b.text);
}

/** What a line begins with. */
function kindOf(text: string) {
  return /^[^"\d]*/.exec(text)?.[0] ?? "";
}

/** The reference of the closest place around a line. */
function placeOf(lines: Line[], at: number): string {
  let { depth } = lines[at];
  for (let i = at - 1; i >= 0 && depth > 0; i--) {
    if (lines[i].depth >= depth) continue;
    if (lines[i].ref) return lines[i].ref;
    depth = lines[i].depth;
  }
  return "";
}

function leftOut(count: number, what: string, ref: string) {
  return `... ${count} more ${what}${count === 1 ? "line" : "lines"}${ref ? `, scope ${ref}` : ""}`;
}

// ---- The budget

/**
 * As many lines as tokens allow: what can be acted on first, in view before elsewhere, with the places on the way
 * to it, then headings and places, then text. Each place says how much of it is left out.
 */
function within(lines: Line[], maxTokens: number, deeper: number): Shown {
  const cost = (line: Line) => tokensIn(`${indented(line)}\n`);
  // No sign costs less than this.
  const least = lines.reduce((sum, { text }) => sum + text.length / 20, 0);
  if (least <= maxTokens && lines.reduce((sum, line) => sum + cost(line), 0) <= maxTokens) return { lines: lines.map((line) => ({ of: line.of ?? 0, text: indented(line) })), left: lines.reduce((sum, { more = 0 }) => sum + more, deeper), changes: false };
  const parents = parentsOf(lines);
  const places = new Set(parents);
  const taken = new Uint8Array(lines.length);
  let left = Math.max(0, maxTokens - NOTE * 3);
  const take = (i: number, floor: number) => {
    let needed = 0;
    const path: number[] = [];
    for (let at = i; at >= 0 && !taken[at]; at = parents[at]) {
      path.push(at);
      needed += cost(lines[at]);
      // What is left out there has to be said, too.
      if (lines[at].ref && places.has(at)) needed += NOTE;
    }
    if (left - needed < floor) return false;
    for (const at of path) taken[at] = 1;
    left -= needed;
    return true;
  };
  const whole = left;
  const rounds: [(line: Line) => boolean, number][] = [
    [({ kind, view }) => view && kind === "act", 0],
    [({ kind, view }) => view && (kind === "place" || kind === "frame"), whole * (1 - IN_VIEW)],
    [({ view }) => view, whole * (1 - IN_VIEW)],
    [({ kind }) => kind === "act" || kind === "frame", 0],
    [({ kind }) => kind === "place", 0],
    [() => true, 0],
  ];
  const fill = () => {
    for (const [fits, floor] of rounds) {
      let misses = 0;
      for (let i = 0; i < lines.length && misses < 20; i++) if (!taken[i] && !lines[i].more && fits(lines[i]) && !take(i, floor)) misses++;
    }
    for (let i = 1; i < lines.length; i++) if (lines[i].more && !taken[i] && taken[i - 1]) take(i, 0);
  };
  fill();
  // Where nothing is left out, nothing has to be said.
  const lacking = new Set<number>();
  for (let i = 0; i < lines.length; i++) if (!taken[i]) for (let at = parents[i]; at >= 0 && !lacking.has(at); at = parents[at]) lacking.add(at);
  for (let i = 0; i < lines.length; i++) if (taken[i] && lines[i].ref && places.has(i) && !lacking.has(i)) left += NOTE;
  fill();
  return withNotes(lines, parents, taken, deeper);
}

function withNotes(lines: Line[], parents: number[], taken: Uint8Array, deeper: number): Shown {
  // What is left out is said at the place that is shown around it and has a reference.
  const missing = new Map<number, number>();
  const last = new Map<number, number>();
  let count = 0;
  lines.forEach(({ more = 0 }, i) => {
    let place = parents[i];
    while (place >= 0 && !(taken[place] && lines[place].ref)) place = parents[place];
    if (taken[i]) {
      for (let at = place; ; at = parents[at]) {
        last.set(at, i);
        if (at < 0) break;
      }
      count += more;
      return;
    }
    count += more || 1;
    missing.set(place, (missing.get(place) ?? 0) + (more || 1));
  });
  const notes = new Map<number, number[]>();
  for (const place of missing.keys()) {
    const after = last.get(place) ?? place;
    notes.set(after, [place, ...(notes.get(after) ?? [])]);
  }
  const out: Shown["lines"] = [];
  const note = (place: number) => {
    const depth = place < 0 ? 0 : lines[place].depth + 1;
    out.push({ of: place < 0 ? 0 : (lines[place].of ?? 0), text: indented({ ...lines[Math.max(place, 0)], depth, text: leftOut(missing.get(place) ?? 0, "", place < 0 ? "" : lines[place].ref) }) });
  };
  lines.forEach((line, i) => {
    if (!taken[i]) return;
    out.push({ of: line.of ?? 0, text: indented(line) });
    for (const place of (notes.get(i) ?? []).sort((a, b) => b - a)) note(place);
  });
  if (missing.has(-1) && !last.has(-1)) note(-1);
  return { lines: out, left: count + deeper, changes: false };
}

// ---- Finding

export function wordsOf(find: string) {
  return find.toLowerCase().split(/\s+/).filter(Boolean);
}

/** Each line with all the words, and the path to it. */
function found(lines: Line[], find: string, maxTokens: number): Shown {
  const words = wordsOf(find);
  const parents = parentsOf(lines);
  const hits = lines.flatMap(({ text }, i) => {
    const said = text.replace(REF, "").toLowerCase();
    return words.every((word) => said.includes(word)) ? [i] : [];
  });
  const out: Shown["lines"] = [];
  let left = maxTokens;
  for (const hit of hits) {
    const path = [lines[hit].text];
    for (let at = parents[hit]; at >= 0; at = parents[at]) path.unshift(short(lines[at].text));
    const text = path.join(" > ");
    left -= tokensIn(text) + 1;
    if (left < 0 || out.length === MAX_FOUND) break;
    out.push({ of: lines[hit].of ?? 0, text });
  }
  return { lines: out, left: hits.length - out.length, changes: false };
}

/** What a place is, without what is in it. */
function short(text: string) {
  return /^(?:[^":]|"(?:[^"\\]|\\.)*")*/.exec(text)?.[0].trim() || text;
}

// ---- What has changed

/**
 * The lines that were not there before, in the closest place around them that has a name, and those that are gone. A
 * line that has changed is said as it is now.
 */
function changes(before: Line[], now: Line[]): Line[] {
  const [parentsBefore, parents] = [parentsOf(before), parentsOf(now)];
  const [old, fresh] = [keysOf(before, parentsBefore), keysOf(now, parents)];
  const [were, are] = [countOf(old), countOf(fresh)];
  const news = fresh.map((key) => !take(were, key));
  const there = new Set(fresh);
  // What has its reference, or its place and kind, is what it was.
  const refs = new Set(now.flatMap(({ text }) => text.match(REF) ?? []));
  const kinds = countOf(now.flatMap((line, i) => (news[i] ? [kindIn(line, now, parents[i])] : [])));
  const gone = before.filter((line, i) => {
    if (take(are, old[i])) return false;
    // What is gone with all around it is not said again.
    if (parentsBefore[i] >= 0 && !there.has(old[parentsBefore[i]])) return false;
    const own = line.text.match(REF) ?? [];
    return own.length ? !own.every((ref) => refs.has(ref)) : !take(kinds, kindIn(line, before, parentsBefore[i]));
  });
  const out: Line[] = [];
  const depths = new Map<number, number>();
  let place = -1;
  now.forEach((line, i) => {
    if (!news[i]) return;
    let at = parents[i];
    while (at >= 0 && !depths.has(at) && !NAMED.test(now[at].text)) at = parents[at];
    if (at >= 0 && !depths.has(at) && at !== place) out.push({ ...now[at], depth: 0 });
    if (at < 0 || !depths.has(at)) place = at;
    const depth = at < 0 ? 0 : (depths.get(at) ?? 0) + 1;
    depths.set(i, depth);
    out.push({ ...line, depth });
  });
  return [...out, ...gone.map((line) => ({ ...line, depth: 0, ref: "", text: `- ${line.text}` }))];
}

const REF = /\b[a-z]{3,8}\d+\b(?=[^"]*(?:"(?:[^"\\]|\\.)*"[^"]*)*$)/g;
/** A place that tells where a change is. */
const NAMED = /^(?!main\b)[^"]*"/;

/** Takes one of those that are counted. @returns whether there was one */
function take(counts: Map<string, number>, key: string) {
  const count = counts.get(key) ?? 0;
  if (count) counts.set(key, count - 1);
  return count > 0;
}

/** What kind of line it is, and where. */
function kindIn({ text, of = 0 }: Line, lines: Line[], parent: number) {
  return `${of} ${parent >= 0 ? short(lines[parent].text) : ""}\n${text.replace(REF, "").replace(/"(?:[^"\\]|\\.)*"/g, '"')}`;
}

/** Each line with the place around it; what has the focus is no other for that. */
function keysOf(lines: Line[], parents: number[]): string[] {
  return lines.map(({ text, of = 0 }, i) => `${parents[i] >= 0 ? short(lines[parents[i]].text) : ""}\n${of} ${text.replace(/ focused(?=$|,| \|)/, "")}`);
}

function countOf(keys: string[]) {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
