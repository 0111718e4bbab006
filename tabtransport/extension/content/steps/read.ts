// Reads what a page shows, as data.

import { attribute, clean, closest, documentOf, hasAttribute, href, innerText, inputType, isChecked, isHTML, isVisible, localName, query, shadowOf, valueOf } from "./dom.ts";
import { Failure } from "./failure.ts";
import { all, describe, foundOf, nameOf, one, roleOf, textIn, words, type Scope } from "./find.ts";
import { referencesOf } from "./refs.ts";
import { secret } from "./secret.ts";
import { numberIn } from "./values.ts";

type ReadStep = import("../../../../spec/schema/tabhub.v1").ReadStep;
type ReadField = import("../../../../spec/schema/tabhub.v1").ReadField;
type Fields = { [name: string]: ReadField };

const MAX_ROWS = 100;
const MAX_TEXT = 100_000;

/** What says which element it is; packs read none of that. */
const GIVES: { [give: string]: (element: Element) => string | undefined } = {
  ref: (element) => referencesOf()?.of(foundOf(element)),
  role: roleOf,
  name: (element) => nameOf(element),
};

export interface Reading {
  value: unknown;
  /** What was read, and how much of it. */
  words: string;
  /** Nothing is in the list: it may not have come yet. */
  empty?: boolean;
}

export function read({ list, fields = {}, table, max = MAX_ROWS }: ReadStep, scope: Scope, mayBeNone = false): Reading {
  const limit = max || MAX_ROWS;
  if (table) return readTable(table.target, (table.columns ?? {}) as { [header: string]: string }, limit, scope);
  if (!list) {
    return { value: readFields(fields as Fields, undefined, scope), words: `read ${Object.keys(fields).join(", ")}` };
  }
  const rows = all(list, document, scope);
  // Where the list is to be is there, or nothing is known of it: then its elements may be called otherwise by now.
  if (rows.length === 0 && !list.in && !mayBeNone) throw new Failure("STEP_NOT_FOUND", `there is no ${describe(list, scope)}`).later();
  const value = rows.slice(0, limit).map((row) => readFields(fields as Fields, row, scope));
  return { value, words: `read ${count(value.length, rows.length)} of ${describe(list, scope)}`, empty: rows.length === 0 };
}

function count(read: number, there: number) {
  return read < there ? `the first ${read} of ${there}` : String(read);
}

function readFields(fields: Fields, row: Element | undefined, scope: Scope) {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => {
    try {
      return [name, readField(field, row, scope)];
    } catch (error) {
      if (error instanceof Failure) error.message = `${name}: ${error.message}`;
      throw error;
    }
  }));
}

function readField({ target, give = "text", attribute: named, optional }: ReadField, row: Element | undefined, scope: Scope): unknown {
  let element;
  try {
    element = target ? one(target, row ?? document, scope).element : row;
  } catch (error) {
    if (optional && error instanceof Failure && error.code === "STEP_NOT_FOUND") return null;
    throw error;
  }
  if (!element) throw new Failure("STEP_REFUSED", "a field without target is of a list's element, and there is no list");
  const which = GIVES[give]?.(element);
  if (which !== undefined) return which;
  const kind = secret(element, nameOf(element));
  if (kind && optional && scope.literal) return null;
  if (kind) throw new Failure("STEP_REFUSED", `${words(element)} is ${kind}: no pack reads that`);
  const value = give === "attribute" ? attribute(element, named ?? "") : valueIn(element, give);
  if (value !== undefined && value !== null) return value;
  if (optional) return null;
  throw new Failure("STEP_NOT_FOUND", `${words(element)} has no ${give === "attribute" ? `attribute ${named}` : give}`).later();
}

function valueIn(element: Element, give: string): unknown {
  switch (give) {
    case "number":
      return numberIn(rawText(element), languageOf(element));
    case "value":
      return valueOf(element) ?? (hasAttribute(element, "contenteditable") ? textOf(element) : undefined);
    case "checked":
      if (isHTML(element, "input") && /^(checkbox|radio)$/.test(inputType(element))) return isChecked(element);
      return { true: true, false: false }[attribute(element, "aria-checked") ?? attribute(element, "aria-selected") ?? ""];
    case "link":
      return linkOf(element);
  }
  return textOf(element);
}

/** The text that is seen in an element, in its lines. */
function textOf(element: Element) {
  return rawText(element).replace(/[^\S\n]+/g, " ").replace(/ ?\n ?/g, "\n").replace(/\n{3,}/g, "\n\n").trim().slice(0, MAX_TEXT);
}

function rawText(element: Element) {
  const field = valueOf(element);
  if (field !== undefined) return [field].flat().join(", ");
  const isPlain = isHTML(element, localName(element)) && !shadowOf(element) && ![...query(element, "*")].some(shadowOf);
  return isPlain ? innerText(element) : textIn(element);
}

function languageOf(element: Element) {
  return attribute(closest(element, "[lang]") ?? documentOf(element).documentElement, "lang") ?? "";
}

/** Where an element leads: a link, or else the only one in it or around it. */
function linkOf(element: Element): string | undefined {
  const inner = isHTML(element, "a") ? [element] : [...query(element, "a[href]")].filter((link) => isVisible(link));
  const link = inner[0] ?? closest(element, "a[href]");
  if (!link || !hasAttribute(link, "href")) return undefined;
  const to = href(link);
  return inner.every((other) => href(other) === to) && /^https?:/.test(to) ? to : undefined;
}

// ---- Tables

function readTable(target: Target, columns: { [header: string]: string }, limit: number, scope: Scope): Reading {
  const { element, words: called } = one(target, document, scope);
  const rows = gridOf(element, scope);
  const isHeader = (cell: Element | undefined) => cell !== undefined && roleOf(cell) === "columnheader";
  const at = rows.findIndex((cells) => cells.some(isHeader));
  if (at < 0) throw new Failure("STEP_NOT_FOUND", `${called} has no row of headers`).later();
  const headers = texts(rows[at]);
  const has = headers.filter(Boolean).slice(0, 5).map((header) => `columnheader ${JSON.stringify(clean(header))}`);
  const wanted = Object.keys(columns).length ? Object.entries(columns) : headers.filter(Boolean).map((header) => [header, header]);
  const picked = wanted.map(([header, member]) => {
    const found = headers.filter((is) => is === header).length;
    if (found === 0) throw new Failure("STEP_NOT_FOUND", `${called} has no column ${JSON.stringify(clean(header))}`, has).later();
    if (found > 1) throw new Failure("STEP_AMBIGUOUS", `${called} has ${found} columns ${JSON.stringify(clean(header))}`, has);
    return [headers.indexOf(header), member] as const;
  });
  const data = rows.slice(at + 1).filter((cells) => cells.some((cell) => cell && !isHeader(cell)));
  const value = data.slice(0, limit).map((cells) => {
    const all = texts(cells);
    return Object.fromEntries(picked.map(([i, member]) => [member, all[i] ?? ""]));
  });
  return { value, words: `read ${count(value.length, data.length)} ${value.length === 1 && data.length === 1 ? "row" : "rows"} of ${called}` };
}

/** The cells of each row by their columns: one that spans several is in each of them. */
function gridOf(table: Element, scope: Scope): (Element | undefined)[][] {
  const own = all({ role: "row" }, table, scope).filter((row) => closest(row, "table,[role=table],[role=grid],[role=treegrid]") === table);
  /** By column, the cells that reach into the next rows, and into how many. */
  let above: { cell: Element; rows: number }[] = [];
  return own.map((row) => {
    const cells = [...query(row, "td,th,[role]")].filter((cell) => CELL.test(roleOf(cell)) && closest(cell, "tr,[role=row]") === row && isVisible(cell));
    const grid: (Element | undefined)[] = [];
    const below: typeof above = [];
    const put = (cell: Element, rows: number) => {
      if (rows > 1) below[grid.length] = { cell, rows: rows - 1 };
      grid.push(cell);
    };
    while (cells.length > 0 || grid.length < above.length) {
      const spans = above[grid.length];
      const cell = spans ? undefined : cells.shift();
      if (spans) put(spans.cell, spans.rows);
      else if (!cell) grid.push(undefined);
      else for (let i = span(cell, "colspan"); i > 0; i--) put(cell, span(cell, "rowspan"));
    }
    above = below;
    return grid;
  });
}

const CELL = /^(cell|gridcell|columnheader|rowheader)$/;

function span(cell: Element, name: string) {
  const said = attribute(cell, name) ?? attribute(cell, `aria-${name}`);
  return said === "0" && name === "rowspan" ? 1000 : Math.min(1000, Math.max(1, Number.parseInt(said ?? "", 10) || 1));
}

function texts(cells: (Element | undefined)[]) {
  return cells.map((cell) => (cell ? textOf(cell).replace(/\s+/g, " ") : ""));
}
