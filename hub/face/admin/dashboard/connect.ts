// How MCP clients are connected: what is there to copy holds no secret.

import { byID, copier, element } from "./dom.ts";

import type { Connectable } from "./api.d.ts";

export function showConnect(all: Connectable[]) {
  byID("connect").replaceChildren(...all.map(card));
}

function card({ title, after, start, url, links = [] }: Connectable) {
  const parts = [];
  if (links.length) {
    parts.push(element("p", "buttons", ...links.map(({ title: program, href }) => {
      const made = document.createElement("a");
      made.className = "button main";
      made.href = href;
      made.textContent = `Add to ${program}`;
      return made;
    })));
  }
  if (start?.line) parts.push(copied(`Command for ${title}`, start.entry ? "Run this; it gives the client a token of its own" : "It starts this", start.line));
  if (start?.entry) parts.push(copied(`Entry for ${title}`, "Or put this into its configuration", start.entry));
  if (url?.line) parts.push(copied(`URL for ${title}`, url.entry ? "By URL, run this" : "By URL", url.line));
  if (url?.entry) parts.push(copied(`Entry by URL for ${title}`, "Or put this into its configuration, to sign in by URL", url.entry));
  if (after) parts.push(element("p", "soft", after));
  return element("details", "card", element("summary", "", title), ...parts);
}

/**
 * A text with a button that copies it.
 * @param name says to a screen reader what is copied
 */
function copied(name: string, words: string, text: string) {
  const copy = copier("Copy", () => text, `Copy: ${name}`);
  return element("div", "copied", element("div", "soft", words), element("pre", "", text.trimEnd()), copy);
}
