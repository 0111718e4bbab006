// A form for what a tool takes, made of its JSON Schema with the browser's own controls. It needs
// nothing but a DOM, so that the extension's popup and the hub's dashboard use this one file;
// schemaform.css is its look, of the tokens in tokens.css.
//
// A schema comes from a page and is not trusted. It is JSON of which any part may be anything: what
// is not understood gets a field for JSON, what is too much is left to one field for all. Its texts
// are shown as text, its patterns are shown and never run.

import { make } from "./elements.ts";

/** More parameters than this are written as JSON. */
const MAX_FIELDS = 100;
/** More values than this to choose from are written as JSON. */
const MAX_CHOICES = 500;
/** How many parameters are described, and how deep inside one another. */
const MAX_ROWS = 200;
const MAX_DEPTH = 4;
/** How many references are followed to learn what a parameter is. */
const MAX_STEPS = 8;
/** How many characters are shown of one text of the schema. */
const MAX_TEXT = 500;

type Values = Record<string, unknown>;

export interface SchemaForm {
  element: HTMLElement; // to be put into a form, or anywhere
  value: () => Values | undefined; // what has been filled in; undefined if something of it is wrong, which its field then says and has the focus
  errors: string[]; // what was wrong when the value was asked for last
  fill: (values: Values) => void; // fills in values, such as those of an earlier call
}

/** A parameter as it can be read. */
interface Parameter {
  name: string;
  depth: number; // 0 of the tool's own, 1 of what is in one of them, …
  type: string; // such as "string", "array of integer"
  required: boolean;
  description: string;
  facts: string[]; // such as "default 5", "1 or more"
}

interface Control {
  element: HTMLElement; // what is labelled
  read: () => unknown; // the value, undefined if there is none; throws what is wrong with it
  fill: (value: unknown) => void;
}

/** How many fields have been made: their ids differ. */
let made = 0;

/**
 * A form for what a schema describes.
 * @param schema of a tool's arguments
 */
export function schemaForm(schema: unknown): SchemaForm {
  const root = resolved(schema, object(schema));
  const properties = Object.entries(object(root.properties));
  const fitting = properties.length <= MAX_FIELDS;
  const required = list(root.required);
  const fields = fitting ? properties.map(([name, part]) => new Field(name, part, object(schema), required.includes(name))) : [];
  const whole = new Field("Arguments", { type: "object", description: "A JSON object with all of them." }, {}, true);
  whole.fill({});

  const asJSON = make("input", "");
  asJSON.type = "checkbox";
  const empty = make("p", "soft", "It takes no arguments.");
  const parts = make("div", "parts", ...(properties.length ? fields.map(({ element }) => element) : [empty]));
  const all = make("div", "schemaform", parts, whole.element, make("label", "soft", asJSON, " Write them as JSON"));
  const turn = () => {
    parts.hidden = asJSON.checked;
    whole.element.hidden = !asJSON.checked;
  };
  asJSON.checked = asJSON.disabled = !fitting;
  turn();

  const fill = (values: Values) => {
    for (const field of fields) field.fill(Object.hasOwn(values, field.name) ? values[field.name] : undefined);
    whole.fill(values);
  };
  const given = () => Object.fromEntries(fields.map(({ name, given }) => [name, given]).filter(([, value]) => value !== undefined));
  asJSON.addEventListener("change", () => {
    if (asJSON.checked) {
      for (const field of fields) field.check();
      whole.fill(given());
    } else if (whole.check() === "") {
      fill(object(whole.given));
    }
    turn();
  });
  const form: SchemaForm = {
    element: all,
    errors: [],
    fill,
    value: () => {
      const asked = asJSON.checked ? [whole] : fields;
      form.errors = asked.map((field) => field.check()).filter((error) => error !== "");
      asked.find(({ wrong }) => wrong)?.focus();
      if (form.errors.length) return undefined;
      return asJSON.checked ? object(whole.given) : given();
    },
  };
  return form;
}

/** What a tool takes, to be listed: each parameter is followed by those that are in it. */
export function parameters(schema: unknown): Parameter[] {
  const root = object(schema);
  const rows: Parameter[] = [];
  const add = (at: Values, depth: number) => {
    const required = list(at.required);
    for (const [name, raw] of Object.entries(object(at.properties))) {
      if (rows.length >= MAX_ROWS) return;
      const part = resolved(raw, root);
      rows.push({ name: cut(name), depth, type: typeName(part, root), required: required.includes(name), description: text(part.description), facts: [...oneOf(part), ...facts(part)] });
      if (depth + 1 >= MAX_DEPTH) continue;
      add(part, depth + 1);
      add(resolved(part.items, root), depth + 1);
    }
  };
  add(resolved(schema, root), 0);
  return rows;
}

/** One parameter: its control, what it is, and what is wrong with what was filled in. */
class Field {
  /** The value of the last check. */
  given: unknown;
  /** Whether the last check has found something wrong. */
  wrong = false;
  #control;
  #required;
  #problem = make("p", "bad");

  name;
  element;

  /**
   * @param part of the schema, which describes it
   * @param root the whole of it
   */
  constructor(name: string, part: unknown, root: Values, required: boolean) {
    this.name = name;
    this.#required = required;
    const schema = resolved(part, root);
    this.#control = controlFor(schema);
    const { element } = this.#control;
    element.id = `schemaform-${++made}`;
    const label = make("label", "wide", make("code", "", cut(name)), ` ${typeName(schema, root)}${required ? "" : ", optional"}`);
    label.htmlFor = element.id;
    const about = make("p", "soft wide", [text(schema.description), ...facts(schema)].filter((part) => part).join(" · "));
    about.id = `${element.id}-about`;
    this.#problem.id = `${element.id}-problem`;
    this.#problem.setAttribute("role", "alert");
    element.setAttribute("aria-describedby", `${about.id} ${this.#problem.id}`);
    if (required) element.ariaRequired = "true";
    this.element = make("div", "field", label, element, about, this.#problem);
    this.fill(schema.default);
  }

  /**
   * Reads and checks what was filled in.
   * @returns what is wrong, "" if nothing is
   */
  check(): string {
    let problem = "";
    try {
      this.given = this.#control.read();
      if (this.given === undefined && this.#required) problem = "It is required.";
    } catch (error) {
      this.given = undefined;
      problem = (error as Error).message;
    }
    this.wrong = problem !== "";
    this.#problem.textContent = problem;
    this.#control.element.ariaInvalid = String(this.wrong);
    return problem && `${this.name}: ${problem}`;
  }

  /** @param value undefined for none */
  fill(value: unknown) {
    this.#control.fill(value);
  }

  focus() {
    this.#control.element.focus();
  }
}

function controlFor(schema: Values): Control {
  const values = choices(schema);
  if (values.length && values.length <= MAX_CHOICES) return choice(values);
  switch (typeOf(schema)) {
    case "boolean":
      return box();
    case "integer":
    case "number":
      return number(schema);
    case "string":
      return line(schema);
  }
  return json(typeOf(schema));
}

/** One of some values. */
function choice(values: unknown[]): Control {
  const select = make("select", "");
  const known = values.map((value) => JSON.stringify(value)); // once: a page may make them, or a default, large
  select.append(new Option("—", ""), ...values.map((value, i) => new Option(shown(value), String(i))));
  return {
    element: select,
    read: () => (select.value === "" ? undefined : values[Number(select.value)]),
    fill: (value) => {
      const at = known.indexOf(JSON.stringify(value));
      select.value = at < 0 ? "" : String(at);
    },
  };
}

/** Yes or no. One that is untouched is not given, as the page has a default of its own. */
function box(): Control {
  const input = make("input", "");
  input.type = "checkbox";
  let touched = false;
  input.addEventListener("change", () => (touched = true));
  return {
    element: input,
    read: () => (touched ? input.checked : undefined),
    fill: (value) => {
      touched = typeof value === "boolean";
      input.checked = value === true;
    },
  };
}

function number({ type, minimum, maximum }: Values): Control {
  const whole = list(type).includes("integer") || type === "integer";
  const input = make("input", "");
  input.type = "number";
  input.step = whole && (minimum === undefined || Number.isInteger(minimum)) ? "1" : "any";
  if (typeof minimum === "number") input.min = String(minimum);
  if (typeof maximum === "number") input.max = String(maximum);
  return {
    element: input,
    read: () => {
      if (!input.checkValidity()) throw new Error(input.validationMessage);
      if (input.value === "") return undefined;
      const value = Number(input.value);
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new Error("A number so large cannot be passed on exactly.");
      return value;
    },
    fill: (value) => (input.value = typeof value === "number" ? String(value) : ""),
  };
}

/** The formats of texts for which browsers have a control. */
const FORMATS: Record<string, string> = { date: "date", email: "email", uri: "url" };

/** A text. It may have several lines; Enter is as in a field of one line, with Shift it begins another. */
function line({ format }: Values): Control {
  const type = typeof format === "string" && Object.hasOwn(FORMATS, format) ? FORMATS[format] : "";
  const input = type ? make("input", "") : make("textarea", "");
  if (input instanceof HTMLInputElement) input.type = type;
  else {
    input.rows = 1;
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      input.form?.requestSubmit();
    });
  }
  return {
    element: input,
    read: () => {
      if (!input.checkValidity()) throw new Error(input.validationMessage);
      return input.value === "" ? undefined : input.value;
    },
    fill: (value) => (input.value = typeof value === "string" ? value : ""),
  };
}

/**
 * What is nested, or of no one type.
 * @param type "" for any
 */
function json(type: string): Control {
  const area = make("textarea", "json");
  area.rows = 3;
  area.spellcheck = false;
  area.placeholder = { object: '{"name": "value"}', array: '["first", "second"]' }[type] ?? "JSON";
  return {
    element: area,
    read: () => {
      if (area.value.trim() === "") return undefined;
      const value = parse(area.value);
      if (type === "object" && !isObject(value)) throw new Error('It must be a JSON object, such as {"name": "value"}.');
      if (type === "array" && !Array.isArray(value)) throw new Error('It must be a JSON array, such as ["first", "second"].');
      return value;
    },
    fill: (value) => (area.value = value === undefined ? "" : JSON.stringify(value, null, 2)),
  };
}

function parse(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (error) {
    throw new Error(`It is not JSON: ${(error as Error).message}`);
  }
}

// ---- What a schema says

/**
 * What a schema comes to once its references within the whole are followed, and null, which stands
 * for nothing given, is left out. What it says itself goes before what is referred to.
 */
function resolved(schema: unknown, root: Values) {
  let at = object(schema);
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const { $ref, anyOf, oneOf, ...rest } = at;
    const ways = [...list(anyOf), ...list(oneOf)].filter((way) => object(way).type !== "null");
    if (typeof $ref === "string") at = { ...referred($ref, root), ...rest };
    else if (ways.length === 1) at = { ...object(ways[0]), ...rest };
    else break;
  }
  return at;
}

function referred(ref: string, root: Values) {
  let at: unknown = ref.startsWith("#") ? root : undefined;
  for (const key of ref.split("/").slice(1)) {
    const name = key.replaceAll("~1", "/").replaceAll("~0", "~");
    at = Object.hasOwn(object(at), name) ? object(at)[name] : undefined;
  }
  return object(at);
}

/** The values that there are to choose from, none if any will do. */
function choices(schema: Values) {
  if (Object.hasOwn(schema, "const")) return [schema.const];
  if (Array.isArray(schema.enum)) return schema.enum;
  const ways = [...list(schema.anyOf), ...list(schema.oneOf)].map(object).filter((way) => way.type !== "null");
  return ways.every((way) => Object.hasOwn(way, "const")) ? ways.map((way) => way.const) : [];
}

/** The types that a schema names, but for null. */
function typesOf({ type }: Values) {
  return (Array.isArray(type) ? type : [type]).filter((name) => typeof name === "string" && name !== "null");
}

/** The one type of what a schema describes, "" if there is none or several. */
function typeOf(schema: Values) {
  const types = typesOf(schema);
  return types.length === 1 ? types[0] : "";
}

function typeName(schema: Values, root: Values): string {
  const types = typesOf(schema);
  if (!types.length) return choices(schema).length ? "choice" : "any";
  const items = types[0] === "array" ? typesOf(resolved(schema.items, root)) : [];
  return items.length ? `array of ${cut(items.join(" or "))}` : cut(types.join(" or "));
}

/** The values to choose from, in words. */
function oneOf(schema: Values) {
  const values = choices(schema).slice(0, 50).map(shown);
  return values.length ? [cut(`one of ${values.join(", ")}`)] : [];
}

/** What else a schema says of a value, in words. */
function facts(schema: Values) {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, format } = schema;
  return [
    schema.default === undefined ? "" : `default ${shown(schema.default)}`,
    range(minimum, maximum, ""),
    range(minLength, maxLength, " characters"),
    range(minItems, maxItems, " items"),
    typeof format === "string" ? `format ${cut(format)}` : "",
    typeof pattern === "string" ? `pattern ${cut(pattern)}` : "",
  ].filter((fact) => fact);
}

function range(least: unknown, most: unknown, what: string) {
  const [min, max] = [least, most].map((bound) => (typeof bound === "number" ? String(bound) : ""));
  if (min && max) return `${min} to ${max}${what}`;
  if (min) return `${min} or more${what}`;
  return max && `at most ${max}${what}`;
}

// ---- Untrusted values

function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @returns none of its own, if it is no object */
export const object = (value: unknown): Values => (isObject(value) ? value : {});

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const text = (value: unknown) => (typeof value === "string" ? cut(value) : "");

const shown = (value: unknown) => cut(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

const cut = (long: string) => (long.length > MAX_TEXT ? `${long.slice(0, MAX_TEXT)}…` : long);
