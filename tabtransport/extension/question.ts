// What a question says, in the question's window and in the dashboard: the same sentence, order and
// words. Others' words stand in a box, which cannot pass for words of tabhub.

import { make } from "./elements.ts";
import { CLASSES } from "./words.ts";

import type { Ask, AskChange, AskPack, AskSite, AskTool, AskValue } from "../../spec/schema/tabhub.v1";

type Parts = (Node | string)[];
type Asked = Pick<Ask, "client" | "site" | "tool" | "why" | "args" | "changes">;

/** What a yes is good for, by its reach. */
export const REACHES: Record<string, string> = {
  once: "this once",
  session: "until its session ends",
  app: "always, for this app",
  always: "always, for every app",
};

/** What it is good for if it is about all that an app does by itself on a site, where that is something else. */
const ACT_REACHES: Record<string, string> = { session: "this site, this session" };

/** What a client wants to do with a tool, a resource or a prompt. */
const VERBS: Record<string, string> = { tool: "run", resource: "read", prompt: "get the prompt" };

/** Groups within groups that are indented; what is deeper has its whole path as a name. */
const MAX_DEPTH = 5;
/** A name that is longer stands in a line of its own. */
const LONG_NAME = 24;
/** Of a value that is longer the first lines are shown until it is unfolded. */
const LONG_VALUE = 600;
/** How many characters the columns of a table have at most, together and each. */
const MAX_TABLE = 60;
const MAX_COLUMN = 24;
/** A step that is longer does not stand in the sentence. */
const LONG_STEP = 160;

/** What others have written. */
export const said = (text: string, className = "") => make("span", `said foreign ${className}`, text);

/** Who wants to do what, and where. */
export function sentence({ client, site, tool }: Asked): Parts {
  const name = said(client.name, "name");
  if (!tool) return [name, " wants to use your hub"];
  return [name, " wants to ", ...wish(tool), ...where(site)];
}

function wish(tool: AskTool): Parts {
  const { kind = "", script, steps = [] } = tool;
  const acts = tool.class === "act"; // and is not where an act leads
  if (acts && script) return ["run a script"];
  if (isSaid(tool)) return [said(steps[0], "name")];
  if (acts && steps.length) return [steps.length === 1 ? "take a step" : `take ${steps.length} steps`];
  return [`${VERBS[kind] ?? "use"} `, said(tool.name, "name"), ...whose(tool.pack)];
}

/** Whether the sentence says all that an app does by itself. */
const isSaid = ({ class: of, script, steps = [] }: AskTool) => of === "act" && !script && steps.length === 1 && steps[0].length <= LONG_STEP;

/** Which pack gives the tool. */
function whose(pack?: AskPack): Parts {
  if (!pack) return [];
  return [" of your pack ", said(pack.name, "name"), pack.added ? ` (added by you on ${pack.added})` : ""];
}

function where(site?: AskSite): Parts {
  if (!site) return [", which is the hub’s own"];
  if (site.any) return [", ", make("span", "bad", "which may reach every site that the browser shows")];
  const parts: Parts = [" on ", said(site.origin.replace(/^https:\/\//, ""), "name")];
  if (!site.verified) parts.push(make("span", "bad", " (a site that no browser vouches for)"));
  if (site.top) parts.push(" within ", said(site.top));
  return parts;
}

/** What is to be known beside the sentence, a line each. */
export function facts({ client, tool, why }: Asked): HTMLElement[] {
  const lines = [];
  if (client.said && client.said !== client.name) lines.push(make("p", "soft", "It calls itself ", said(client.said)));
  if (client.return) lines.push(make("p", "", "It goes on at ", said(client.return)));
  if (tool?.title && tool.title !== tool.name) lines.push(make("p", "soft", `${tool.pack ? "The pack" : "Its page"} calls it `, said(tool.title)));
  const [first = "", ...more] = why;
  const may = tool ? [make("span", tool.class === "destructive" ? "bad" : "", tool.script ? SCRIPT : (CLASSES[tool.class] ?? CLASSES.write).sentence), " "] : [];
  return [...lines, make("p", "wide", ...may, first), ...more.map((line) => make("p", "wide", line))];
}

/** What a script may do. */
const SCRIPT = "It can read all of the page and do there what you can; it reaches no other site and no network.";

/** What is different from what was allowed, and what is given. */
export function details({ tool, args = [], changes = [] }: Asked, heading: "h2" | "h4"): HTMLElement[] {
  const parts = [];
  if (changes.length) parts.push(make("section", "", make(heading, "soft", "Since it was allowed, this has changed"), ...changes.map(change)));
  const steps = (title: string, all: string[]) =>
    parts.push(make("section", "", make(heading, "soft", title), make("ul", "steps", ...all.map((step) => make("li", "", said(step))))));
  if (tool?.pack?.steps?.length) steps("What the pack does", tool.pack.steps);
  if (tool?.steps?.length && !isSaid(tool)) steps("What it does", tool.steps);
  if (tool?.script) {
    const lines = tool.script.split("\n").length;
    parts.push(make("section", "", make(heading, "soft", lines === 1 ? "Its script" : `Its script, ${lines} lines`), script(tool.script)));
  }
  if (tool && !tool.script && !tool.steps?.length) {
    const count = args.length === 0 ? "nothing" : args.length === 1 ? "1 value" : `${args.length} values`;
    parts.push(make("section", "", make(heading, "soft", `With ${count}`), ...(args.length ? [values(args)] : [])));
  }
  return parts;
}

/** Letters that are written from right to left. Each run of them stands apart, so that the rest of a line keeps its order. */
const RIGHT_TO_LEFT = /([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+)/u;

/** A script, whole, with the numbers of its lines. */
export function script(text: string) {
  const parts = (line: string) => line.split(RIGHT_TO_LEFT).map((part, i) => (i % 2 ? make("bdi", "", part) : part));
  const made = make("ol", "script", ...text.split("\n").map((line) => make("li", "", make("code", "foreign", ...parts(line)))));
  made.tabIndex = 0; // it may scroll
  return made;
}

/** Values by their paths, as groups and tables. */
export const values = (args: AskValue[]) => members(grouped(args));

/** A choice of how far a yes reaches, the first one chosen. */
export function reachChoice({ reaches, aboutSite, tool }: Pick<Ask, "reaches" | "aboutSite" | "tool">) {
  const words = aboutSite && tool?.class === "act" ? { ...REACHES, ...ACT_REACHES } : REACHES;
  const choice = make("select", "");
  choice.ariaLabel = "What a yes is good for";
  for (const reach of reaches.filter((name) => Object.hasOwn(REACHES, name))) choice.append(new Option(words[reach], reach));
  choice.hidden = choice.length < 2;
  return choice;
}

/** A member of the arguments: a value, or the members of an object or an array. */
interface Member {
  name: string;
  value?: AskValue;
  members: Member[];
}

function grouped(args: AskValue[]) {
  const all: Member[] = [];
  for (const value of args) {
    const path = value.path ?? [value.name];
    let place = all;
    for (const name of path.slice(0, -1).slice(0, MAX_DEPTH)) {
      let group = place.at(-1);
      if (!group || group.name !== name || group.value) place.push((group = { name, members: [] }));
      place = group.members;
    }
    place.push({ name: path.slice(Math.min(path.length - 1, MAX_DEPTH)).join("/"), value, members: [] });
  }
  return all;
}

function members(all: Member[]): HTMLElement {
  const isArray = all.every(({ name }, i) => name === String(i));
  const columns = isArray && all.length > 1 ? columnsOf(all) : [];
  if (columns.length) return table(all, columns);
  const list = make("dl", "values");
  all.forEach((member, i) => {
    // Numbers of an array are tabhub's words.
    const name = isArray ? make("span", "soft", String(i + 1)) : said(member.name);
    const long = member.name.length > LONG_NAME || !member.value;
    list.append(make("div", long ? "long" : "", make("dt", "", name), make("dd", "", ...(member.value ? shown(member.value) : [members(member.members)]))));
  });
  return list;
}

/** The names that rows have in common, if they fit beside one another. */
function columnsOf(rows: Member[]) {
  const widths = new Map<string, number>();
  for (const row of rows) {
    if (!row.members.length || new Set(row.members.map(({ name }) => name)).size < row.members.length) return [];
    for (const { name, value } of row.members) {
      if (!value || value.cut || value.value.length > 3 * MAX_COLUMN) return [];
      widths.set(name, Math.max(widths.get(name) ?? name.length, Math.min(value.value.length, MAX_COLUMN)));
    }
  }
  const all = [...widths.values()];
  return all.reduce((sum, width) => sum + width + 2, 0) <= MAX_TABLE ? [...widths.keys()] : [];
}

function table(rows: Member[], columns: string[]) {
  const row = (role: string, ...cells: Parts[]) => withRole("row", ...cells.map((parts) => withRole(role, ...parts)));
  const body = rows.map(({ members: cells }, i) => {
    const of = (name: string) => cells.find((member) => member.name === name)?.value;
    return row("cell", [make("span", "soft", String(i + 1))], ...columns.map((name) => {
      const value = of(name);
      return value ? shown(value) : [make("span", "soft", "–")];
    }));
  });
  const made = withRole("table", row("columnheader", [], ...columns.map((name) => [said(name)])), ...body);
  made.className = "rows";
  made.style.gridTemplateColumns = `max-content repeat(${columns.length}, auto)`;
  return made;
}

/** A part of a table, which no style for whole tables is about. */
function withRole(role: string, ...children: Parts) {
  const made = make("div", "", ...children);
  made.role = role;
  return made;
}

function shown({ value, cut }: AskValue): Parts {
  if (!value) return [make("span", "soft", "empty")];
  const text = said(value);
  const parts: Parts = [text];
  if (value.length > LONG_VALUE) parts.push(unfolder(text, value.length));
  if (cut) parts.push(make("p", "bad", `${cut.toLocaleString("en")} characters in the middle are left out.`));
  return parts;
}

function unfolder(text: HTMLElement, length: number) {
  const button = make("button", "unfold");
  button.type = "button";
  const label = () => (button.textContent = text.classList.contains("folded") ? `Show all ${length.toLocaleString("en")} characters` : "Show less");
  button.addEventListener("click", () => {
    text.classList.toggle("folded");
    label();
  });
  text.classList.add("folded");
  label();
  return button;
}

/** One of the changes, as what it was and what it is. */
export function change({ what, was, is, added, removed }: AskChange) {
  const [before, after] = differ(was, is);
  const line = (tag: "del" | "ins", sign: string, parts: Parts) => make("div", tag === "del" ? "was" : "is", make("span", "soft", sign), make("span", "said foreign", ...parts));
  const lines = [];
  if (!added) lines.push(line("del", "was", before));
  if (!removed) lines.push(line("ins", added ? "" : "is", after));
  return make("div", "change", make("span", "soft", `${added ? "Added" : removed ? "Removed" : "Changed"} `), said(what), ...lines);
}

/** Two texts, the part in which they differ marked. */
function differ(was: string, is: string): Parts[] {
  const [a, b] = [[...was], [...is]];
  let head = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const marked = (text: string[], tag: "del" | "ins") => {
    const end = text.length - tail;
    return [text.slice(0, head).join(""), make(tag, "", text.slice(head, end).join("")), text.slice(end).join("")];
  };
  return [marked(a, "del"), marked(b, "ins")];
}
