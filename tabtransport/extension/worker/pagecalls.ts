// What a client's script may call: each method of page is one step. A script may have said anything, so nothing of it
// but what is named here goes into a step.

import { parseTarget } from "../targets.ts";

/** A step that a script has called for. */
export interface PageCall {
  step: Step;
  /** The member of what the step gives that the script gets; all of it without. */
  gives?: string;
  /** There may be nothing of what it finds. */
  none?: boolean;
}

/** Why a call is none. */
export class BadCall extends Error {}

type Members = { [name: string]: unknown };

const FOUND = { ref: { give: "ref" }, role: { give: "role" }, name: { give: "name" }, text: { optional: true }, value: { give: "value", optional: true } };
const GIVES = ["text", "number", "value", "checked", "link", "attribute", "ref", "role", "name"];
/** The longest that a step waits, in seconds. */
const MAX_TIMEOUT = 60;

const METHODS: { [verb: string]: (...args: unknown[]) => PageCall } = {
  click: (target, options) => {
    const { count, button } = members(options, "count", "button");
    if (count !== undefined && count !== 1 && count !== 2) throw new BadCall("count is 1 or 2");
    if (button !== undefined && button !== "left" && button !== "right") throw new BadCall('button is "left" or "right"');
    return { step: { click: { target: targetOf(target), ...(count === 2 ? { count } : {}), ...(button === "right" ? { button } : {}) } } };
  },
  fill: (target, value) => {
    const isMany = value === undefined && typeof target === "object" && target !== null && !Array.isArray(target);
    const fields = isMany ? Object.entries(target).map(([text, value]) => fieldOf(text, value)) : [fieldOf(target, value)];
    return { step: { fill: { fields } } };
  },
  select: (target, labels) => ({ step: { select: { target: targetOf(target), options: list(labels).map((label) => text(label, "what is chosen")) } } }),
  press: (key, target) => ({ step: { press: { key: text(key, "the key"), ...(target === undefined ? {} : { target: targetOf(target) }) } } }),
  hover: (target) => ({ step: { hover: { target: targetOf(target) } } }),
  scroll: (to, pages) => {
    if (typeof to === "number") return { step: { scroll: { pages: to } } };
    return { step: { scroll: { ...(to === undefined ? {} : { target: targetOf(to) }), ...(pages === undefined ? {} : { pages: number(pages, "pages") }) } } };
  },
  drag: (target, to) => ({ step: { drag: { target: targetOf(target), to: targetOf(to) } } }),
  dialog: (accept, answer) => {
    if (typeof accept !== "boolean") throw new BadCall("the first argument is true, to accept, or false");
    return { step: { dialog: { accept, ...(answer === undefined ? {} : { text: text(answer, "the answer") }) } } };
  },
  open: (path) => ({ step: { open: { path: text(path, "the path") } } }),
  wait: (target, options) => {
    const { gone, timeout } = members(options, "gone", "timeout");
    const seconds = timeout === undefined ? {} : { timeout: number(timeout, "timeout, in seconds,") };
    if ((seconds.timeout ?? 1) < 1 || (seconds.timeout ?? 1) > MAX_TIMEOUT) throw new BadCall(`timeout is 1 to ${MAX_TIMEOUT} seconds`);
    return { step: { wait: gone === true ? { gone: targetOf(target) } : { for: targetOf(target) }, ...seconds } };
  },
  text: (target) => ({ step: { read: { fields: { text: { target: target === undefined ? { selector: "body" } : targetOf(target) } } } }, gives: "text" }),
  find: (target) => ({ step: { read: { list: targetOf(target), fields: FOUND } }, none: true }),
  read: (what) => {
    const { list, fields, table, max } = members(what, "list", "fields", "table", "max");
    const limit = max === undefined ? {} : { max: number(max, "max") };
    if (table !== undefined) return { step: { read: { table: tableOf(table), ...limit } } };
    const all = Object.entries(members(fields)).map(([name, field]) => [name, readFieldOf(field)]);
    if (!all.length) throw new BadCall("it has fields, or a table");
    return { step: { read: { ...(list === undefined ? {} : { list: targetOf(list) }), fields: Object.fromEntries(all), ...limit } } };
  },
  look: (options) => {
    const { find, scope, depth } = members(options, "find", "scope", "depth");
    const look = {
      ...(find === undefined ? {} : { find: text(find, "find") }),
      ...(scope === undefined ? {} : { target: targetOf(scope) }),
      ...(depth === undefined ? {} : { depth: number(depth, "depth") }),
    };
    return { step: { look } };
  },
};

/** @param args as JSON */
export function pageCall(verb: string, args: string): PageCall {
  try {
    const given: unknown = JSON.parse(args, (_, value) => (value === null ? undefined : value)); // absent ones are null in JSON
    if (!Object.hasOwn(METHODS, verb) || !Array.isArray(given)) throw new BadCall("there is no such method");
    return METHODS[verb](...given);
  } catch (error) {
    throw new BadCall(`page.${verb.slice(0, 20)}: ${error instanceof Error ? error.message : error}`);
  }
}

/** How many ms a call only waits; undefined of another one. */
export function pauseOf(verb: string, args: string): number | undefined {
  const ms: unknown = verb === "wait" ? JSON.parse(args)[0] : undefined;
  return typeof ms === "number" ? Math.min(Math.max(0, ms), MAX_TIMEOUT * 1000) : undefined;
}

function targetOf(value: unknown): Target {
  if (typeof value === "string") {
    const target = parseTarget(value);
    if (target) return target;
    throw new BadCall(`${JSON.stringify(value.slice(0, 100))} is no target: one is a reference, such as kfa3, or a role and a name, such as button "Order" or button "Remove" in row "Tea..."`);
  }
  const { in: outer, nth, ...texts } = members(value, "ref", "role", "name", "label", "selector", "nth", "in");
  const target = Object.fromEntries(Object.entries(texts).filter(([, member]) => member !== undefined).map(([name, member]) => [name, text(member, name)]));
  if (!Object.keys(target).length) throw new BadCall("a target is a text, or an object with ref, role and name, label or selector");
  return { ...target, ...(nth === undefined ? {} : { nth: number(nth, "nth") }), ...(outer === undefined ? {} : { in: targetOf(outer) }) };
}

function fieldOf(target: unknown, value: unknown) {
  const isValue = ["string", "number", "boolean"].includes(typeof value) || (Array.isArray(value) && value.every((one) => typeof one === "string"));
  if (!isValue) throw new BadCall("a field is filled with a text, a number, true or false, or a list of texts");
  return { target: targetOf(target), value };
}

function readFieldOf(field: unknown) {
  if (typeof field === "string") return { target: targetOf(field) };
  const { target, give, attribute, optional } = members(field, "target", "give", "attribute", "optional");
  if (give !== undefined && !GIVES.includes(give as string)) throw new BadCall(`give is one of ${GIVES.join(", ")}`);
  return {
    ...(target === undefined ? {} : { target: targetOf(target) }),
    ...(give === undefined ? {} : { give: give as string }),
    ...(attribute === undefined ? {} : { attribute: text(attribute, "attribute") }),
    ...(optional === true ? { optional } : {}),
  };
}

function tableOf(table: unknown) {
  if (typeof table === "string") return { target: targetOf(table) };
  const { target, columns } = members(table, "target", "columns");
  const named = Object.entries(members(columns)).map(([name, header]) => [name, text(header, "a column")]);
  return { target: targetOf(target), ...(named.length ? { columns: Object.fromEntries(named) } : {}) };
}

/** The members of an object, which has no others than those named, if some are. */
function members(value: unknown, ...names: string[]): Members {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new BadCall(`${JSON.stringify(value)?.slice(0, 100)} is no object${names.length ? ` with ${names.join(", ")}` : ""}`);
  const other = names.length ? Object.keys(value).find((name) => !names.includes(name)) : undefined;
  if (other !== undefined) throw new BadCall(`there is no ${JSON.stringify(other.slice(0, 50))}, only ${names.join(", ")}`);
  return value as Members;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

function text(value: unknown, what: string): string {
  if (typeof value !== "string") throw new BadCall(`${what} is a text`);
  return value;
}

function number(value: unknown, what: string): number {
  if (typeof value !== "number") throw new BadCall(`${what} is a number`);
  return value;
}
