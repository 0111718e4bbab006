// Values of steps: what of a request, a field or a name comes from the arguments of the call and from
// what earlier steps gave.

/*! jmespath 0.16.0: Copyright 2014 James Saryerwinnie, Apache License, Version 2.0, https://www.apache.org/licenses/LICENSE-2.0 */
import { search } from "jmespath";
import { Values } from "../../../pagejs/values.ts";
import { Failure } from "./failure.ts";

/** What values are made from. */
export interface Given {
  args: { [name: string]: unknown };
  values: StepValues;
  /** Texts are taken as they are: ${NAME} stands for itself. */
  literal?: boolean;
}

/** The value of an argument that the call does not have. */
export const ABSENT = Symbol("absent");

/** A Value: a literal, {"arg": NAME}, {"from": JMESPath} or a text with ${NAME}. */
export function valueOf(value: unknown, given: Given): unknown {
  if (typeof value === "string") return filled(value, given);
  if (!Values.isObject(value)) return value;
  const { arg, from } = value;
  if (Object.keys(value).length !== 1) return value;
  if (arg && typeof arg === "string") return argument(arg, given);
  return from && typeof from === "string" ? evaluate(from, given) : value;
}

/** A JSON body in which each leaf may be a Value: members and elements that are absent are left out. */
export function bodyOf(value: unknown, given: Given): unknown {
  if (Array.isArray(value)) return value.map((element) => bodyOf(element, given)).filter((element) => element !== ABSENT);
  const own = valueOf(value, given);
  if (own !== value || !Values.isObject(own)) return own;
  const members = Object.entries(own).map(([name, member]) => [name, bodyOf(member, given)]);
  return Object.fromEntries(members.filter(([, member]) => member !== ABSENT));
}

/** A text with ${NAME}: absent if one of its arguments is. */
function filled(text: string, given: Given): string | typeof ABSENT {
  if (given.literal) return text;
  let absent = false;
  const all = text.replace(ARGUMENT, (_, name) => {
    const value = argument(name, given);
    absent ||= value === ABSENT;
    return value === ABSENT ? "" : plain(value, name);
  });
  return absent ? ABSENT : all;
}

const ARGUMENT = /\$\{([^{}]+)\}/g;

function argument(name: string, { args }: Given): unknown {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  return value === undefined || value === null ? ABSENT : value;
}

/** A value as text. */
export function plain(value: unknown, name: string): string {
  if (["string", "number", "boolean"].includes(typeof value)) return String(value);
  throw new Failure("STEP_REFUSED", `${name} is not a text, a number, true or false`);
}

/** A name of an element, or another text that has to be there, with its arguments put in. */
export function textOf(text: string, given: Given): string {
  const all = filled(text, given);
  if (all !== ABSENT) return all as string;
  throw new Failure("STEP_REFUSED", `the call lacks an argument of ${JSON.stringify(text)}`);
}

/**
 * The path of a request, on the page's own server. An argument fills one segment, or a part of one:
 * it cannot lead anywhere else.
 */
export function pathOf(path: string, given: Given): string {
  if (given.literal) return path;
  const names = [...path.matchAll(ARGUMENT)].map(([, name]) => name);
  for (const name of names) {
    const value = argument(name, given);
    if (value === ABSENT) throw new Failure("STEP_REFUSED", `the call lacks the argument ${name}, which the path ${path} needs`);
    if (!/^[^/\\?#%\u0000-\u001f\u007f]+$/.test(plain(value, name))) {
      throw new Failure("STEP_REFUSED", `the argument ${name} is empty or has one of / \\ ? # %, which a path cannot have in one segment`);
    }
  }
  const all = path.replace(ARGUMENT, (_, name) => encodeURIComponent(plain(argument(name, given), name)));
  if (!all.startsWith("/") || /\/\/|\/(\.|%2e){1,2}(\/|$)/i.test(all)) throw new Failure("STEP_REFUSED", `${all} is not a plain path`);
  return all;
}

/** What query or form fields come to, in their order; a list gives its field several times. */
export function fieldsOf(fields: { [name: string]: unknown }, given: Given): [string, string][] {
  return Object.entries(fields).flatMap(([name, member]): [string, string][] => {
    const value = valueOf(member, given);
    if (value === ABSENT || value === null || value === undefined) return [];
    return (Array.isArray(value) ? value : [value]).map((one) => [name, plain(one, name)]);
  });
}

/** A JMESPath expression over the arguments and what the steps gave. */
export function evaluate(expression: string, { args, values }: Given): unknown {
  const { "": _, ...named } = values;
  return take({ ...named, args }, expression);
}

/** A JMESPath expression over JSON. */
export function take(data: unknown, expression: string): unknown {
  try {
    return search(bare(data), expression) ?? null;
  } catch (error) {
    throw new Failure("STEP_ANSWER", `${expression} does not fit what was read: ${Values.errorText(error)}`);
  }
}

/** The library takes what objects inherit for members, and calls this one. */
const INHERITED = Object.create(null, { hasOwnProperty: { value: Object.prototype.hasOwnProperty } });

function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (!Values.isObject(value)) return value;
  const copy = Object.create(INHERITED);
  for (const [name, member] of Object.entries(value)) Object.defineProperty(copy, name, { value: bare(member), enumerable: true, configurable: true, writable: true });
  return copy;
}

/**
 * The first number in a text: digits, in which there may be points, commas, apostrophes and spaces that
 * do not break a line, or any spaces in front of three digits if the page's language writes thousands so. A
 * point or comma that comes once, as the last of them, is the decimal mark; but if it is the only one and has
 * three digits behind it ("1,234"), it is what it is in the page's language.
 * @param language of the page
 */
export function numberIn(text: string, language: string): number | undefined {
  const spaced = /\s/.test(markOf("group", language));
  const found = NUMBER.exec(spaced ? text.replace(/(?<=\d) (?=\d{3}(?!\d))/g, "\u00a0") : text);
  if (!found) return undefined;
  const [, before, digits] = found;
  const marks = digits.replace(/\d/g, "");
  const last = marks.at(-1) ?? "";
  let decimal = /[.,]/.test(last) && marks.indexOf(last) === marks.length - 1;
  if (decimal && /^[1-9]\d{0,2}[.,]\d{3}$/.test(digits)) decimal = last === markOf("decimal", language);
  const at = decimal ? digits.lastIndexOf(last) : digits.length;
  const value = Number(`${digits.slice(0, at).replace(/\D/g, "")}.${digits.slice(at + 1)}0`);
  return /[-−]/.test(before) ? -value : value;
}

/** A minus counts before the digits or their currency, and not after a letter or digit: SKU-5 and 3-5 have none. */
const NUMBER = /((?:(?<![\p{L}\p{N}])[-−]\p{Sc}?)?)(\d+(?:[.,'’\u00a0\u2009\u202f]\d+)*)/u;

function markOf(type: "decimal" | "group", language: string): string {
  try {
    return new Intl.NumberFormat(language || "en").formatToParts(10000.5).find((part) => part.type === type)?.value ?? "";
  } catch {
    return markOf(type, "en"); // it is no language
  }
}
