// Lines of what a look has found in a document: short, and such that no text of the page can be taken for one
// of them, as all of it stands in quotes.

import { clean } from "./dom.ts";
import type { Line } from "../../looklines.ts";

/** A part of what a document shows: an element with what is in it, or a text. */
export interface Part {
  kind: Line["kind"];
  role: string;
  /** Of a text, as the page has it; of others what they are called, with their references and states. */
  text: string;
  view: boolean;
  /** It has lines of its own. */
  block: boolean;
  ref: string;
  parts: Part[];
  frame?: number;
  /** What is said after what is in it. */
  tail?: string;
  /** A dialog; a modal one is between the person and the rest of the page. */
  dialog?: "modal" | "other";
}

/** Where a line of text ends. */
export const BREAK: Part = { kind: "text", role: "", text: "", view: false, block: false, ref: "", parts: [] };

/** How long a line gets until it is broken, in characters. */
const MAX_LINE = 200;
/** How long an item may be that is one line, and how many parts it may have; of a row of a table how long. */
const MAX_ITEM = 320;
const MAX_PARTS = 12;
const MAX_ROW = 900;
/** Texts that are shorter than this stand beside one another. */
const SHORT = 60;

/** Each of them has a line of its own. */
const FIELD = /^(textbox|searchbox|combobox|spinbutton|slider|field)\b/;
const CELL = /^(cell|gridcell|columnheader|rowheader)$/;
const ITEM = /^(listitem|article|option|cell|gridcell|columnheader|rowheader|heading|clickable|paragraph|blockquote|code|term|definition)$/;
/** What can be clicked, and is called as it reads. */
const SMALL = /^(clickable|paragraph|blockquote|code|term|definition|listitem|cell|gridcell|columnheader|rowheader)$/;
/** Places that are never put into the line of what is around them. */
const LARGE = /^(main|table|grid|treegrid|tree|dialog|alertdialog|list|listbox|form|region|navigation)$/;

/** A piece of a line. */
interface Piece {
  text: string;
  kind: Line["kind"];
  view: boolean;
  ref: string;
}

export function quoted(text: string) {
  return JSON.stringify(text);
}

/** The lines of parts; it yields, so that the page goes on. */
export function* linesOf(parts: Part[], maxText: number, scoped: boolean): Generator<void, Line[]> {
  const maker = new Maker(maxText);
  const dialogs = scoped ? [] : dialogsIn(parts);
  const first: Line[] = [];
  for (const dialog of dialogs) yield* maker.render([dialog], 0, first);
  const rest: Line[] = [];
  yield* maker.render(parts, 0, rest);
  const modal = dialogs.some(({ dialog }) => dialog === "modal") && rest.length > 0;
  if (modal) first.push({ depth: 0, kind: "place", view: true, ref: "", text: "behind the dialog, out of reach until that is closed:" });
  // What is behind it is seen by nobody who could act on it.
  return [...first, ...(modal ? rest.map((line) => ({ ...line, view: false })) : rest)];
}

/** Takes the dialogs out of parts, modal ones and later ones first. */
function dialogsIn(parts: Part[]): Part[] {
  const found: Part[] = [];
  const take = (of: Part[]) => {
    for (let i = 0; i < of.length; i++) {
      if (of[i].dialog) found.unshift(...of.splice(i--, 1, BREAK));
      else take(of[i].parts);
    }
  };
  take(parts);
  return found.sort((a, b) => Number(b.dialog === "modal") - Number(a.dialog === "modal"));
}

class Maker {
  readonly #maxText;
  #count = 0;

  constructor(maxText: number) {
    this.#maxText = maxText;
  }

  *render(parts: Part[], depth: number, out: Line[]): Generator<void> {
    for (const group of groupsOf(parts)) {
      if (++this.#count % 64 === 0) yield;
      if (Array.isArray(group)) yield* this.#flow(group, depth, out);
      else yield* this.#block(group, depth, out);
    }
  }

  *#flow(group: Part[], depth: number, out: Line[]): Generator<void> {
    let line: Line | undefined;
    for (let i = 0; i < group.length; i++) {
      if (i % 64 === 63) yield;
      line = this.#joined(this.#pieces(group.slice(i, i + 1)), line, depth, out);
    }
  }

  /** Adds pieces to a line, or to others after it. @returns the last one */
  #joined(pieces: Piece[], to: Line | undefined, depth: number, out: Line[]): Line | undefined {
    let line = to;
    for (const { text, kind, view, ref } of pieces) {
      const before = line ?? (kind === "text" && text.length < SHORT ? shortText(out.at(-1), depth) : undefined);
      const isField = kind === "act" && FIELD.test(text);
      if (before && before.text.length + text.length < MAX_LINE && !(isField && before.kind === "act")) {
        before.text += `${line ? ", " : " | "}${text}`;
        before.view ||= view;
        if (kind === "act") before.kind = "act";
        line = before;
      } else out.push((line = { depth, kind, view, ref, text }));
    }
    return line;
  }

  /** The elements and texts of a line. */
  #pieces(group: Part[]): Piece[] {
    const pieces: Piece[] = [];
    for (const part of group) {
      if (part === BREAK) continue;
      if (part.kind !== "text" || part.role) {
        pieces.push({ text: part.text, kind: part.kind, view: part.view, ref: part.ref });
        if (part.parts.length) pieces.push(...(this.#flat(part.parts, MAX_ITEM) ?? []));
        continue;
      }
      const text = clean(part.text.slice(0, this.#maxText * 8), this.#maxText);
      if (/[\p{L}\p{N}\p{Sc}\p{So}]/u.test(text)) pieces.push({ text: quoted(text), kind: "text", view: part.view, ref: "" });
    }
    return pieces;
  }

  *#block(part: Part, depth: number, out: Line[]): Generator<void> {
    const { text, kind, view, ref, frame } = part;
    const line: Line = { depth, kind, view, ref, text, ...(frame !== undefined && { frame }) };
    if (part.parts.length === 0) {
      if (text && (kind === "act" || !/^(listitem|row|cell|gridcell|columnheader|rowheader)$/.test(part.role))) out.push(line);
      return;
    }
    if (part.role === "row" && this.#row(part, line, out)) return;
    if (ITEM.test(part.role)) {
      const pieces = this.#flat(part.parts, MAX_ITEM);
      if (pieces?.length === 0 && (kind === "text" || part.role === "listitem")) return;
      if (pieces) {
        this.#one(part, line, pieces, out);
        return;
      }
    }
    const inner: Line[] = [];
    const isItem = part.role === "listitem" && !text;
    yield* this.render(part.parts, depth + 1, inner);
    if (isItem) {
      // Its first line says that it begins.
      if (inner[0]) inner[0] = { ...inner[0], depth, text: `* ${inner[0].text}`, ref: inner[0].ref || ref };
      out.push(...inner);
      return;
    }
    if (inner.length === 0 && kind !== "act" && !/^(dialog|alertdialog)$/.test(part.role)) return;
    if (inner.length === 1 && !LARGE.test(part.role) && inner[0].frame === undefined) {
      out.push({ ...inner[0], depth, text: `${text}: ${inner[0].text}`, kind: kind === "act" ? "act" : inner[0].kind, ref: ref || inner[0].ref });
      return;
    }
    // A heading that only says again what the place is called, and a place in it that is called so, too.
    const heading = /^heading ("(?:[^"\\]|\\.)*")/.exec(inner[0]?.text ?? "")?.[1];
    if (heading && inner[0].kind === "place" && inner.length > 1 && text.includes(heading)) inner.shift();
    const name = /^\w+ ("(?:[^"\\]|\\.)*")/.exec(inner[0]?.text ?? "")?.[1];
    const alone = inner.findIndex((other, i) => i > 0 && other.depth === depth + 1) < 0;
    if (alone && kind === "place" && name && inner[0].kind === "place" && text.includes(` ${name}`)) out.push(...inner.map((other) => ({ ...other, depth: other.depth - 1 })));
    // A cell that is too large for a line is no level of its own.
    else if (!text) out.push(...inner.map((other) => ({ ...other, depth: other.depth - 1 })));
    else out.push(line, ...inner);
  }

  /** An item in one line. */
  #one(part: Part, line: Line, pieces: Piece[], out: Line[]) {
    if (line.text && isSmall(part, pieces)) {
      out.push({ ...line, text: named(part, pieces) });
      return;
    }
    if (pieces[0]?.text.startsWith("heading ") && line.text.includes(pieces[0].text.slice("heading ".length))) pieces = pieces.slice(1);
    const acts = line.kind === "act" || pieces.some(({ kind }) => kind === "act");
    const head = part.role === "listitem" && !line.text ? (pieces.length > 1 ? "* " : "") : CELL.test(part.role) && line.kind !== "act" ? "" : `${line.text}${pieces.length ? ": " : ""}`;
    const body = part.role === "heading" && pieces.length === 1 && pieces[0].kind === "act" ? pieces[0].text : pieces.map(({ text }) => text).join(part.role === "heading" ? ", " : " | ");
    out.push({ ...line, kind: acts ? "act" : line.kind, view: line.view || pieces.some(({ view }) => view), text: part.role === "heading" ? `${line.text} ${body}${part.tail ?? ""}` : `${head}${body}` });
  }

  /** A row in one line, if it is not too long. */
  #row(part: Part, line: Line, out: Line[]): boolean {
    const cells = part.parts.filter((cell) => cell !== BREAK && (cell.role !== "" || /\S/.test(cell.text)));
    const texts: string[] = [];
    let acts = line.kind === "act";
    let { view } = line;
    for (const cell of cells) {
      const isCell = CELL.test(cell.role);
      const pieces = this.#flat(isCell ? cell.parts : [cell], MAX_ITEM);
      if (!pieces) return false;
      acts ||= cell.kind === "act" || pieces.some(({ kind }) => kind === "act");
      view ||= cell.view;
      const inner = pieces.map(({ text }) => text).join(", ");
      texts.push(isCell && cell.text && isSmall(cell, pieces) ? named(cell, pieces) : isCell && (cell.kind === "act" || cell.text) ? `${cell.text}${inner ? `: ${inner}` : ""}` : inner);
    }
    const headers = cells.length > 0 && cells.every(({ role }) => role === "columnheader");
    const text = `${headers ? "headers" : ""}${headers ? line.text.slice(3) : line.text}: ${texts.join(" | ")}`;
    if (text.length > MAX_ROW) return false;
    if (texts.some(Boolean)) out.push({ ...line, kind: acts ? "act" : "text", view, text });
    return true;
  }

  /** Parts as pieces of one line; undefined if they are too long for that. */
  #flat(parts: Part[], max: number): Piece[] | undefined {
    const pieces: Piece[] = [];
    let length = 0;
    for (const group of groupsOf(parts)) {
      const found = Array.isArray(group) ? this.#pieces(group) : this.#flatBlock(group, max - length);
      if (!found) return undefined;
      for (const { text } of found) length += text.length;
      pieces.push(...found);
      if (length > max || pieces.length > MAX_PARTS) return undefined;
    }
    return pieces;
  }

  #flatBlock(part: Part, max: number): Piece[] | undefined {
    const { text, kind, view, ref } = part;
    if (kind === "frame" || LARGE.test(part.role)) return undefined;
    const inner = this.#flat(part.parts, max);
    if (!inner) return undefined;
    if (!text || (CELL.test(part.role) && kind !== "act")) return inner;
    const body = inner.map((piece) => piece.text).join(", ");
    const acts = kind === "act" || inner.some((piece) => piece.kind === "act");
    if (!body && part.role === "row") return [];
    return [{ text: body ? `${text}${part.role === "heading" ? "" : ":"} ${body}` : text, kind: acts ? "act" : kind, view: view || inner.some((piece) => piece.view), ref }];
  }
}

function isSmall(part: Part, pieces: Piece[]) {
  return SMALL.test(part.role) && pieces.length > 0 && pieces.every(({ kind }) => kind === "text");
}

/** What is called as it reads. */
function named(part: Part, pieces: Piece[]) {
  return part.text.replace(part.role, `${part.role} ${pieces.map(({ text }) => text).join(" | ")}`);
}

/** A line of short texts, to which another one may be added. */
function shortText(line: Line | undefined, depth: number): Line | undefined {
  return line && line.depth === depth && line.kind === "text" && line.text.startsWith('"') && line.frame === undefined ? line : undefined;
}

/** Parts that stand in one line, and those that have lines of their own. */
function* groupsOf(parts: Part[]): Generator<Part[] | Part> {
  let flow: Part[] = [];
  for (const part of parts) {
    if (part !== BREAK && !part.block) {
      flow.push(part);
      continue;
    }
    if (flow.length) yield flow;
    flow = [];
    if (part !== BREAK) yield part;
  }
  if (flow.length) yield flow;
}
