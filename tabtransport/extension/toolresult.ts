// The result of a tool as it can be looked at. Like schemaform.ts it needs nothing but a DOM, and
// believes nothing: all texts are shown as text, no address becomes a link, and of images only
// those that no script can be in. toolresult.css is its look.

import { make } from "./elements.ts";

import { object } from "./schemaform.ts";

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** How many blocks of a result are shown, and how many characters of one. */
const MAX_BLOCKS = 50;
const MAX_TEXT = 100_000;

// Of a structured value so much is laid out; what is beyond that is shown as JSON.
const MAX_DEPTH = 5;
const MAX_COLUMNS = 8;
/** How many elements of one list are laid out, and how many parts in all. */
const MAX_ROWS = 50;
const MAX_PARTS = 2000;
/** How many characters are shown of a part that is not laid out. */
const MAX_PART = 2000;

/**
 * Shows a result.
 * @param result an MCP CallToolResult, as it came
 */
export function resultView(result: unknown) {
  const { content, structuredContent, isError } = object(result);
  const blocks = Array.isArray(content) ? content : [];
  const parts: HTMLElement[] = blocks.slice(0, MAX_BLOCKS).map((each) => block(object(each)));
  if (blocks.length > MAX_BLOCKS) parts.push(make("p", "soft", `${blocks.length - MAX_BLOCKS} more are not shown.`));
  if (structuredContent !== undefined) {
    // Many say the same as text, too.
    if (blocks.length === 1 && same(object(blocks[0]).text, structuredContent)) parts.pop();
    parts.push(layout(structuredContent), make("details", "", make("summary", "", "As JSON"), text(structuredContent)));
  }
  if (!parts.length) parts.push(make("p", "soft", "The tool has returned nothing."));
  if (isError === true) parts.unshift(make("p", "bad", "The tool says that it failed:"));
  return make("div", isError === true ? "result failed" : "result", ...parts);
}

/** @param it a ContentBlock of MCP */
function block(it: Record<string, unknown>) {
  switch (it.type) {
    case "text":
      return text(it.text);
    case "image":
      return image(it);
    case "audio":
      return make("p", "soft wide", `Audio (${word(it.mimeType)}), which is not played here.`);
    case "resource_link":
      return make("p", "wide", `Resource ${word(it.title ?? it.name)}: `, make("code", "", word(it.uri)));
    case "resource": {
      const { uri, mimeType, text: said } = object(it.resource);
      const head = make("p", "wide", "Resource ", make("code", "", word(uri)));
      return make("div", "", head, said === undefined ? make("p", "soft wide", `Data (${word(mimeType)}), which is not shown here.`) : text(said));
    }
  }
  return text(it);
}

function image({ mimeType, data }: Record<string, unknown>) {
  const type = IMAGES.find((known) => known === mimeType);
  if (!type || typeof data !== "string") return make("p", "soft wide", `An image (${word(mimeType)}), which is not shown here.`);
  const shown = make("img", "");
  shown.alt = "An image that the tool has returned";
  shown.src = `data:${type};base64,${data}`;
  return shown;
}

function text(value: unknown) {
  const long = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  const shown = make("pre", "wide", long.slice(0, MAX_TEXT));
  shown.tabIndex = 0; // it may scroll
  if (long.length <= MAX_TEXT) return shown;
  return make("div", "", shown, make("p", "soft", `${(long.length - MAX_TEXT).toLocaleString("en")} more characters are not shown.`));
}

/** Lays a value out: an object as names and values, a list of objects that are alike as a table. */
function layout(value: unknown) {
  let left = MAX_PARTS;
  const show = (part: unknown, depth: number): HTMLElement => {
    if (part === null || typeof part !== "object") return make("span", "", cut(String(part)));
    const size = Object.keys(part).length;
    if (size === 0 || depth === MAX_DEPTH || size > left) return make("code", "", cut(JSON.stringify(part)));
    left -= size;
    if (!Array.isArray(part)) return make("dl", "", ...Object.entries(object(part)).flatMap(([name, of]) => [make("dt", "soft", name), make("dd", "", show(of, depth + 1))]));
    const shown = part.slice(0, MAX_ROWS);
    const columns = columnsOf(shown);
    const all = columns ? table(columns, shown, (of) => show(of, depth + 1)) : make("ul", "", ...shown.map((of) => make("li", "", show(of, depth + 1))));
    return size > MAX_ROWS ? make("div", "", all, make("p", "soft", `${(size - MAX_ROWS).toLocaleString("en")} more are not laid out.`)) : all;
  };
  return show(value, 0);
}

const cut = (long: string) => (long.length > MAX_PART ? `${long.slice(0, MAX_PART)}…` : long);

/** What the columns of a table of a list's elements are called; undefined: they are not alike. */
function columnsOf(all: unknown[]) {
  const names = new Set(all.flatMap((each) => Object.keys(object(each))));
  return names.size > 0 && names.size <= MAX_COLUMNS && all.every((each) => object(each) === each) ? [...names] : undefined;
}

function table(columns: string[], all: unknown[], show: (value: unknown) => HTMLElement) {
  const head = columns.map((name) => Object.assign(make("th", "", name), { scope: "col" }));
  const rows = all.map((each) => {
    const of = object(each);
    return make("tr", "", ...columns.map((name) => {
      const cell = make("td", "", ...(Object.hasOwn(of, name) ? [show(of[name])] : []));
      cell.dataset.column = name; // for screens where a row is a card, see dashboard.css
      return cell;
    }));
  });
  const made = make("div", "scroll", make("table", "", make("thead", "", make("tr", "", ...head)), make("tbody", "", ...rows)));
  made.tabIndex = 0;
  return made;
}

/** @param said as text */
function same(said: unknown, value: unknown) {
  try {
    return typeof said === "string" && JSON.stringify(JSON.parse(said)) === JSON.stringify(value);
  } catch {
    return false;
  }
}

const word = (value: unknown) => (typeof value === "string" ? value.slice(0, 500) : "of no kind that it says");
