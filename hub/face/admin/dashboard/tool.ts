// One tool: what it is and takes, where a call of it goes and why, and a form that calls it.

import { powerShellLine, shellLine } from "./callline.ts";
import { element, factsOf, foreign, labelled, row, link as linkToView } from "./dom.ts";
import { addressOf, definitionOf, gone, heading, link, mark, opens, showParts, stateOf, withoutLabel } from "./offers.ts";
import { parameters } from "../../../../tabtransport/extension/schemaform.ts";
import { ask, events, find, Refused } from "./session.ts";
import { closeTrial, trialOf, type Offer } from "./trial.ts";
import { CLASSES } from "../../../../tabtransport/extension/words.ts";

import type { Explanation, Tool } from "./api.d.ts";

/** How many of the tabs that were considered for a call are shown. */
const MAX_CONSIDERED = 20;

/** @param args of the view */
export async function showTool(into: HTMLElement, name: string, args: URLSearchParams) {
  const { part } = await find(`api/tools?name=${encodeURIComponent(name)}&limit=1`);
  const tool = part[0] as Tool | undefined;
  const where = tool?.domain ? await whereTo(name) : undefined;
  const place = element("div", "");
  place.id = "where";
  // A form that is filled in is made anew only if the tool has become another.
  const stays = tool && { ...tool, definition: { ...tool.definition, description: describe(tool) } };
  if (!tool) closeTrial();
  showParts(into, ["tool", name, stays], () => (tool ? parts(tool, place) : gone("No tab has this tool now", name)));
  const shown = document.getElementById("where");
  if (tool && shown) showParts(shown, [String(args), where, tool.listed], () => whereParts(tool, where, args));
}

function whereTo(name: string): Promise<Explanation | string> {
  return ask("GET", `api/explain?name=${encodeURIComponent(name)}`).catch((err) => {
    if (err instanceof Refused) return err.message;
    throw err;
  });
}

const describe = ({ domain, definition: { description = "" } }: Tool) => (domain ? withoutLabel(description) : description);

/** What the hints of a tool say, in words. */
const HINTS: Record<string, string> = {
  readOnlyHint: "only reads",
  destructiveHint: "may destroy",
  idempotentHint: "may be called again with the same effect",
  openWorldHint: "reaches beyond its site",
  cache: "stays listed without a tab",
};

function parts(tool: Tool, where: HTMLElement) {
  const { title, inputSchema, outputSchema, annotations } = tool.definition;
  const words = CLASSES[tool.class];
  const says = Object.entries(HINTS).filter(([hint]) => annotations?.[hint] === true).map(([, said]) => said);
  const trial = element("div", "writes", element("h3", "", "Try it"), trialOf(offerOf(tool)));
  return [
    heading(foreign(title || tool.source || tool.name, "title")),
    element("p", "", foreign(tool.name, "code"), " ", mark(tool.class, words.word)),
    element("p", "foreign lines", describe(tool)),
    element("p", tool.class === "destructive" ? "bad" : "soft", words.sentence + (says.length ? ` Its ${tool.pack ? "pack" : "page"} says: ${says.join(", ")}.` : "")),
    where,
    trial,
    element("p", "reads soft", "To call it here, this page has to be one that decides; see above."),
    element("h3", "", "What it takes"),
    table(inputSchema) ?? element("p", "soft", "No arguments."),
    ...(outputSchema ? [element("h3", "", "What it returns"), table(outputSchema) ?? element("p", "soft", "Nothing that its schema describes.")] : []),
    definitionOf(tool.definition),
  ];
}

function offerOf(tool: Tool): Offer {
  const { name, pin } = tool;
  return {
    name,
    verb: "Call",
    schema: tool.definition.inputSchema,
    careful: tool.class === "destructive",
    async run(args, signal, heard) {
      for await (const { progress, result, error } of events("api/call", { name, arguments: args, pin }, signal)) {
        if (progress) heard(progress);
        if (error) throw new Error(error);
        if (result) return result;
      }
      throw new Error("The hub ended before the answer came; the call may have taken effect.");
    },
    seen: (result) => result,
    copies: {
      "Copy as JSON": (args) => JSON.stringify({ name, arguments: args }, null, 2),
      "Copy as command": (args) => shellLine("call", [name], args),
      "Copy for PowerShell": (args) => powerShellLine(name, args),
    },
  };
}

/** @returns undefined if it describes nothing */
function table(schema: unknown): HTMLElement | undefined {
  const all = parameters(schema);
  if (!all.length) return undefined;
  const head = element("tr", "", ...["Name", "Type", "Required", "What it is"].map((column) => {
    const th = element("th", "", column);
    (th as HTMLTableCellElement).scope = "col";
    return th;
  }));
  const rows = all.map(({ name, depth, type, required, description, facts }) =>
    row(foreign(name, `code depth-${depth}`), foreign(type), required ? "yes" : "no", element("span", "foreign", description, ...facts.map((fact) => element("span", "fact soft", fact)))),
  );
  const body = element("tbody", "", ...rows);
  const made = element("table", "schema", element("thead", "", head), body);
  for (const line of rows) labelled(body, line);
  return made;
}

function whereParts(tool: Tool, where: Explanation | string | undefined, args: URLSearchParams) {
  const facts: [string, ...(Node | string)[]][] = [];
  if (tool.domain) facts.push(["Site", link(args, { kind: "tools", site: tool.domain, q: "", of: "", from: "", tool: "" }, foreign(tool.domain)), tool.tab ? ` · tab ${tool.tab}` : ""]);
  else facts.push(["Site", "none: it is a tool of the hub itself"]);
  if (tool.pack) facts.push(["Pack", linkToView("sites", { show: "packs", pack: tool.pack }, foreign(tool.pack)), ", which you have added: the page itself does not offer it"]);
  if (!tool.listed) facts.push(["Lists", "Clients are not listed it, because of --expose and its budget. They reach it by name, or through the tool proxy."]);
  if (typeof where === "string") facts.push(["A call", foreign(where)]);
  if (typeof where !== "object") return [factsOf(facts)];
  const { tab, openUrl, reason, candidates } = where;
  if (tab) facts.push(["A call goes to", link(args, opens("tab", addressOf(tab)), foreign(tab.title || tab.url)), " ", stateOf(tab)]);
  else if (openUrl) facts.push(["A call opens", foreign(openUrl)]);
  facts.push(["Because", foreign(reason)]);
  const made: HTMLElement[] = [factsOf(facts)];
  if (candidates.length < 2) return made;
  const others = candidates.slice(0, MAX_CONSIDERED).map(({ tab: other, number, note }) => element("li", "", link(args, opens("tab", addressOf(other)), foreign(other.title || other.url)), ` · tab ${number} · `, foreign(note)));
  if (candidates.length > MAX_CONSIDERED) others.push(element("li", "soft", `and ${candidates.length - MAX_CONSIDERED} more`));
  made.push(element("details", "", element("summary", "", `${candidates.length} tabs have it`), element("ul", "", ...others)));
  return made;
}
