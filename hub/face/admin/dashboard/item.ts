// One resource or prompt: what it is, and a form that reads or gets it.

import { shellLine } from "./callline.ts";
import { element, factsOf, foreign } from "./dom.ts";
import { definitionOf, gone, heading, link, showParts, withoutLabel } from "./offers.ts";
import { ask, find } from "./session.ts";
import { closeTrial, trialOf, type Offer } from "./trial.ts";

import type { Item } from "./api.d.ts";

const KINDS: Record<string, { path: string; offer: (it: Item) => Offer }> = {
  resource: { path: "api/resources", offer: offerToRead },
  prompt: { path: "api/prompts", offer: offerToGet },
};

/**
 * @param kind of KINDS
 * @param args of the view
 */
export async function showItem(into: HTMLElement, kind: string, name: string, args: URLSearchParams) {
  const { path, offer } = KINDS[kind];
  const { part } = await find(`${path}?name=${encodeURIComponent(name)}&limit=1`);
  const it = part[0] as Item | undefined;
  if (!it) closeTrial();
  const { description, ...rest } = it?.definition ?? {};
  showParts(into, [kind, name, rest, withoutLabel(description)], () => {
    if (!it) return gone(`No tab has this ${kind} now`, name);
    const { title, name: own, mimeType } = it.definition;
    return [
      heading(foreign(title || own || it.source, "title")),
      element("p", "", foreign(it.name, "code")),
      element("p", "foreign lines", withoutLabel(description)),
      factsOf([
        ["Site", link(args, { kind: `${kind}s`, site: it.domain, q: "", of: "", from: "", [kind]: "" }, foreign(it.domain)), it.tab ? ` · tab ${it.tab}` : ""],
        ...(mimeType ? [["Type", foreign(mimeType)] as [string, Node]] : []),
      ]),
      element("div", "writes", element("h3", "", "Try it"), trialOf(offer(it))),
      element("p", "reads soft", "To use it here, this page has to be one that decides; see above."),
      definitionOf(it.definition),
    ];
  });
}

function offerToRead({ name, template }: Item): Offer {
  const uriOf = ({ uri }: { uri?: unknown }) => (template ? String(uri) : name);
  const uri = { type: "string", default: name, description: "With values in place of what is in braces" };
  return {
    name,
    verb: "Read",
    schema: template ? { type: "object", properties: { uri }, required: ["uri"] } : {},
    careful: false,
    run: (args, signal) => ask("GET", `api/resource?uri=${encodeURIComponent(uriOf(args))}`, undefined, signal),
    seen: ({ contents }) => ({ content: Array.isArray(contents) ? contents.map(contentOf) : [] }),
    copies: { "Copy as command": (args) => shellLine("read", [uriOf(args)]) },
  };
}

/** Contents of a resource as a block of a result. */
const contentOf = (contents: any) =>
  String(contents?.mimeType).startsWith("image/") && contents.blob ? { type: "image", mimeType: contents.mimeType, data: contents.blob } : { type: "resource", resource: contents };

function offerToGet({ name, definition }: Item): Offer {
  const takes = definition.arguments ?? [];
  return {
    name,
    verb: "Get",
    schema: {
      type: "object",
      properties: Object.fromEntries(takes.map((arg) => [arg.name, { type: "string", description: arg.description }])),
      required: takes.filter(({ required }) => required).map((arg) => arg.name),
    },
    careful: false,
    run: (args, signal) => ask("POST", "api/prompt", { name, arguments: args }, signal),
    seen: ({ messages }) => ({ content: Array.isArray(messages) ? messages.flatMap(blocksOf) : [] }),
    copies: {
      "Copy as JSON": (args) => JSON.stringify({ name, arguments: args }, null, 2),
      "Copy as command": (args) => shellLine("prompt", [name, ...Object.entries(args).map(([key, value]) => `${key}=${value}`)]),
    },
  };
}

/** A message of a prompt as blocks of a result. */
function blocksOf(message: any) {
  const { role, content } = message ?? {};
  if (content?.type === "text") return [{ type: "text", text: `${role}: ${content.text}` }];
  return [{ type: "text", text: `${role}:` }, content];
}
