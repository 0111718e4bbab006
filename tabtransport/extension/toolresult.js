// The result of a tool as it can be looked at. Like schemaform.js it needs nothing but a DOM, and
// believes nothing: all texts are shown as text, no address becomes a link, and of images only
// those that no script can be in. toolresult.css is its look.

import { make } from "./elements.js";
import { object } from "./schemaform.js";

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** How many blocks of a result are shown, and how many characters of one. */
const MAX_BLOCKS = 50;
const MAX_TEXT = 100_000;

/**
 * Shows a result.
 *
 * @param {unknown} result an MCP CallToolResult, as it came
 */
export function resultView(result) {
  const { content, structuredContent, isError } = object(result);
  const blocks = Array.isArray(content) ? content : [];
  const parts = blocks.slice(0, MAX_BLOCKS).map((each) => block(object(each)));
  if (blocks.length > MAX_BLOCKS) parts.push(make("p", "soft", `${blocks.length - MAX_BLOCKS} more are not shown.`));
  // Many say as text what they say in parts, too.
  const said = blocks.length === 1 && same(object(blocks[0]).text, structuredContent);
  if (structuredContent !== undefined && said) parts.splice(0, 1, text(structuredContent));
  else if (structuredContent !== undefined) parts.push(make("p", "soft", "In parts:"), text(structuredContent));
  if (!parts.length) parts.push(make("p", "soft", "The tool has returned nothing."));
  if (isError === true) parts.unshift(make("p", "bad", "The tool says that it failed:"));
  return make("div", isError === true ? "result failed" : "result", ...parts);
}

/** @param {Record<string, unknown>} it a ContentBlock of MCP */
function block(it) {
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

/** @param {Record<string, unknown>} it */
function image({ mimeType, data }) {
  const type = IMAGES.find((known) => known === mimeType);
  if (!type || typeof data !== "string") return make("p", "soft wide", `An image (${word(mimeType)}), which is not shown here.`);
  const shown = make("img", "");
  shown.alt = "An image that the tool has returned";
  shown.src = `data:${type};base64,${data}`;
  return shown;
}

/** @param {unknown} value */
function text(value) {
  const long = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  const shown = make("pre", "wide", long.slice(0, MAX_TEXT));
  shown.tabIndex = 0; // it may scroll
  if (long.length <= MAX_TEXT) return shown;
  return make("div", "", shown, make("p", "soft", `${(long.length - MAX_TEXT).toLocaleString("en")} more characters are not shown.`));
}

/**
 * @param {unknown} said as text
 * @param {unknown} value
 */
function same(said, value) {
  try {
    return typeof said === "string" && JSON.stringify(JSON.parse(said)) === JSON.stringify(value);
  } catch {
    return false;
  }
}

/** @param {unknown} value */
const word = (value) => (typeof value === "string" ? value.slice(0, 500) : "of no kind that it says");
