// The fields of a form that is a tool (webmcpforms.ts): the JSON Schema that Chromium 156 makes of
// them, and how it fills them in.

import { Before } from "./webmcp.ts";

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

export class FormFields {
  static #DATE = "[0-9]{4}-(0[1-9]|1[0-2])-[0-9]{2}";
  static #TIME = "([01][0-9]|2[0-3]):[0-5][0-9]";
  /** Types that can be made unchangeable. */
  static #READ_ONLY = /^(text|search|tel|url|email|password|textarea|date|month|week|time|datetime-local|number)$/;
  static #TEXT = /^(text|search|tel|url|email|password|textarea)$/;
  static #NUMBER = /^-?(\d+|\d*\.\d+)(e[-+]?\d+)?$/i;

  #form;
  /** All that have a name, in their order. */
  #named: Record<string, Field[]> = Before.create(null);
  #button: HTMLElement | undefined;

  constructor(form: HTMLFormElement) {
    this.#form = form;
    const controls = Before.elementsOf(form);
    for (let i = 0; i < controls.length; i++) {
      const control = controls[i];
      const { type } = control;
      if (Before.matches(control, ":disabled")) continue;
      if (type === "submit") this.#button ??= control;
      if (Before.hasAttribute(control, "readonly") && FormFields.#READ_ONLY.test(type)) continue;
      const named = (this.#named[Before.getAttribute(control, "name") ?? ""] ??= []);
      named[named.length] = control;
    }
  }

  /** The button that submits the form. */
  get submitter(): HTMLElement | undefined {
    if (this.#button) return this.#button;
    // Those are none of the form's elements.
    const images = Before.allInDocument(document, "input[type=image]");
    for (let i = 0; i < images.length; i++) if (images[i].form === this.#form && !Before.matches(images[i], ":disabled")) return images[i];
    return undefined;
  }

  // ---- Schema

  schema() {
    const properties = Before.create(null);
    const required: string[] = [];
    for (const name in this.#named) {
      const fields = this.#named[name];
      const schema = this.#property(fields);
      if (!schema) continue;
      properties[name] = schema;
      for (let i = 0; i < fields.length; i++) {
        if (required[required.length - 1] !== name && Before.hasAttribute(fields[i], "required")) required[required.length] = name;
      }
    }
    return { type: "object", properties, required };
  }

  /** What values there are for fields of one name; undefined if they are no parameter. */
  #property(fields: Field[]): object | undefined {
    const kind = FormFields.#kind(fields);
    const [field] = [fields[0]];
    const description = fields.length === 1 ? describe(field) : describeGroup(field);
    const described = (schema: object, extra = "") => {
      const text = extra && description ? `${description} (${extra})` : extra || description;
      return text ? { ...schema, description: text } : schema;
    };
    switch (kind) {
      case "text":
        return described({ type: "string", ...patternOf(field) });
      case "date":
        return described({ type: "string", format: "date" }, "Dates MUST be provided in 'YYYY-MM-DD' format.");
      case "datetime-local":
        return described({ type: "string", format: `^${FormFields.#DATE}T${FormFields.#TIME}${seconds(field)}$` });
      case "month":
        return described({ type: "string", format: "^[0-9]{4}-(0[1-9]|1[0-2])$" });
      case "week":
        return described({ type: "string", format: "^[0-9]{4}-W(0[1-9]|[1-4][0-9]|5[0-3])$" });
      case "time":
        return described({ type: "string", format: `^${FormFields.#TIME}${seconds(field)}$` });
      case "number":
        return described({ type: "number", ...FormFields.#range(field, undefined, undefined), ...patternOf(field) });
      case "range":
        return described({ type: "number", ...FormFields.#range(field, 0, 100) });
      case "color":
        return described({ type: "string", format: "^#[0-9a-zA-Z]{6}$" });
      case "checkbox":
        return described({ type: "boolean" });
      case "checkboxes":
      case "select-multiple":
        return described({ type: "array", items: { type: "string", ...choices(fields) }, uniqueItems: true });
      case "radio":
      case "select-one":
        return described({ type: "string", ...choices(fields) });
    }
    return undefined;
  }

  /**
   * @param fields of one name
   * @returns undefined if they are no parameter
   */
  static #kind(fields: Field[]): string | undefined {
    const { type } = fields[0];
    for (let i = 1; i < fields.length; i++) if (fields[i].type !== type) return undefined;
    if (type === "radio") return type;
    if (type === "checkbox") return fields.length === 1 ? type : "checkboxes";
    if (fields.length > 1) return undefined;
    if (FormFields.#TEXT.test(type)) return "text";
    if (type === "hidden") return Before.getAttribute(fields[0], "toolparamdescription") ? "text" : undefined;
    return /^(date|datetime-local|month|week|time|number|range|color|select-one|select-multiple)$/.test(type) ? type : undefined;
  }

  static #range(field: Field, least: number | undefined, most: number | undefined) {
    const minimum = FormFields.#number(field, "min") ?? least;
    let maximum = FormFields.#number(field, "max") ?? most;
    if (most !== undefined && minimum !== undefined && maximum !== undefined && maximum < minimum) maximum = minimum;
    const given = FormFields.#number(field, "step") ?? 0;
    const any = (Before.getAttribute(field, "step") ?? "").toLowerCase() === "any" && most === undefined;
    const step = given > 0 ? given : 1;
    const base = FormFields.#number(field, "min") ?? FormFields.#number(field, "value") ?? least ?? 0;
    return {
      ...(minimum !== undefined && { minimum }),
      ...(maximum !== undefined && { maximum }),
      ...(!any && isMultiple(base, step) && { multipleOf: step }),
    };
  }

  static #number(field: Field, attribute: string) {
    const text = Before.getAttribute(field, attribute) ?? "";
    return FormFields.#NUMBER.test(text) ? +text : undefined;
  }

  // ---- Filled in

  /**
   * Fills the form in, if all of the input fits.
   * @returns why it does not
   */
  fill(input: any, autosubmit: boolean): string | undefined {
    if (typeof input !== "object" || input === null || Before.isArray(input)) return "JSON input arguments must be an object";
    if (!this.submitter && !autosubmit) {
      return "No submit button was found, but for a form without `toolautosubmit`, there must be a submit button";
    }
    const names = Before.keys(input);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      const fields = this.#named[name];
      if (!fields) return `Input contains a parameter "${name}" but there is no such parameter for the tool`;
      if (FormFields.#fits(fields, input[name])) continue;
      const text = textOf(input[name]);
      return text === undefined ? `Invalid value for parameter ${name}` : `Invalid value "${text}" for parameter ${name}`;
    }
    for (let i = 0; i < names.length; i++) FormFields.#set(this.#named[names[i]], input[names[i]]);
    return undefined;
  }

  static #fits(fields: Field[], value: unknown) {
    const kind = FormFields.#kind(fields);
    const text = textOf(value);
    switch (kind) {
      case undefined:
        return false;
      case "checkbox":
        return truthOf(value) !== undefined;
      case "radio":
      case "select-one":
        return text !== undefined && text in valuesOf(fields);
      case "checkboxes":
      case "select-multiple": {
        if (!Before.isArray(value)) return false;
        const left = valuesOf(fields);
        for (let i = 0; i < value.length; i++) {
          const one = textOf(value[i]);
          if (one === undefined || !(one in left)) return false;
          delete left[one];
        }
        return true;
      }
      default:
        if (text === undefined) return false;
        return text === "" ? kind !== "number" && kind !== "range" : isTaken(fields[0], text);
    }
  }

  /** @param value one that fits */
  static #set(fields: Field[], value: any) {
    const field = fields[0];
    const text = textOf(value) ?? "";
    switch (FormFields.#kind(fields)) {
      case "checkbox":
        check(field, truthOf(value) === true);
        break;
      case "checkboxes": {
        const wanted = listOf(value);
        for (let i = 0; i < fields.length; i++) check(fields[i], fields[i].value in wanted);
        break;
      }
      case "radio":
        for (let i = 0; i < fields.length; i++) if (fields[i].value === text) check(fields[i], true);
        break;
      case "select-one":
        if (field.value === text) break;
        Before.setSelected(field, text);
        tell(field, true);
        break;
      case "select-multiple": {
        const wanted = listOf(value);
        const { options } = field as HTMLSelectElement;
        let changed = false;
        for (let i = 0; i < options.length; i++) {
          const selected = options[i].value in wanted;
          changed ||= options[i].selected !== selected;
          options[i].selected = selected;
        }
        if (changed) tell(field, true);
        break;
      }
      default: {
        const before = field.value;
        if (field.type === "textarea") Before.setText(field, text);
        else Before.setValue(field, text);
        if (field.value !== before && field.type !== "hidden") tell(field, true);
      }
    }
  }

  /** What keeps the form from being submitted; "" if nothing does. */
  complaint() {
    let text = "";
    const controls = Before.elementsOf(this.#form);
    for (let i = 0; i < controls.length; i++) {
      const { willValidate, validity, validationMessage } = controls[i];
      if (willValidate && !validity.valid) text += `${Before.getAttribute(controls[i], "name") ?? ""}: ${validationMessage}. `;
    }
    return text && `Form validation failed: ${text}`;
  }
}

/** What a field is for. */
function describe(field: Field) {
  return Before.getAttribute(field, "toolparamdescription") || labelOf(field) || (Before.getAttribute(field, "aria-description") ?? "");
}

/**
 * What several fields of one name are for.
 * @param field the first of them
 */
function describeGroup(field: Field) {
  const set = Before.closest(field, "fieldset");
  return set ? (Before.getAttribute(set, "toolparamdescription") ?? "") : "";
}

function labelOf(field: Field) {
  const labels = field.labels ?? [];
  let text = "";
  for (let i = 0; i < labels.length; i++) text += `${i ? "; " : ""}${wordsOf(labels[i]).trim()}`;
  return text;
}

/** The text in a label, without that of what it is for. */
function wordsOf(node: Node): string {
  if (node.nodeType === 3) return node.nodeValue ?? "";
  let text = "";
  for (let at = node.firstChild; at; at = at.nextSibling) {
    if (!/^(button|input|meter|output|progress|select|textarea)$/i.test(at.nodeName)) text += wordsOf(at);
  }
  return text;
}

function patternOf(field: Field) {
  const pattern = Before.getAttribute(field, "pattern");
  if (pattern === null || field.type === "textarea") return {};
  try {
    new RegExp(pattern, "v");
    return { pattern };
  } catch {
    return {};
  }
}

/** The end of a time's format. */
function seconds(field: Field) {
  const step = +(Before.getAttribute(field, "step") ?? "");
  if (!(step > 0) || step >= 60) return "";
  return step < 1 ? "(:[0-5][0-9](\\.[0-9]{1,3})?)?" : "(:[0-5][0-9])?";
}

/** Whether a decimal number is a multiple of another. */
function isMultiple(value: number, step: number) {
  const places = (n: number) => `${n}`.split(".")[1]?.length ?? 0;
  const scale = 10 ** Math.max(places(value), places(step));
  return Math.round(value * scale) % Math.round(step * scale) === 0;
}

/** @param fields radio buttons, checkboxes, or one select element */
function choices(fields: Field[]) {
  const anyOf: object[] = [];
  const values: string[] = [];
  const add = (value: string, title: string, always: boolean) => {
    anyOf[anyOf.length] = { type: "string", const: value, ...((title || always) && { title }) };
    values[values.length] = value;
  };
  if ("options" in fields[0]) {
    const { options } = fields[0];
    for (let i = 0; i < options.length; i++) add(options[i].value, options[i].textContent ?? "", true);
  } else {
    for (let i = 0; i < fields.length; i++) add(fields[i].value, labelOf(fields[i]), false);
  }
  return { anyOf, enum: values };
}

/** @param fields radio buttons, checkboxes, or one select element */
function valuesOf(fields: Field[]) {
  const all = "options" in fields[0] ? fields[0].options : fields;
  const values: Record<string, true> = Before.create(null);
  for (let i = 0; i < all.length; i++) values[all[i].value] = true;
  return values;
}

/** The texts of a list's values. */
function listOf(list: unknown[]) {
  const texts: Record<string, true> = Before.create(null);
  for (let i = 0; i < list.length; i++) texts[textOf(list[i]) ?? ""] = true;
  return texts;
}

/** The text of what is written in one line. */
function textOf(value: unknown) {
  return /^(string|number|boolean)$/.test(typeof value) ? `${value}` : undefined;
}

function truthOf(value: unknown) {
  if (typeof value === "number") return value % 1 === 0 ? value !== 0 : undefined;
  const text = `${textOf(value)}`.toLowerCase();
  if (text === "true" || text === "1") return true;
  return text === "false" || text === "0" ? false : undefined;
}

/** Whether a field takes a text, perhaps after changing it. */
function isTaken(field: Field, text: string) {
  if (field.type === "textarea") return true;
  const twin = Before.createElement(document, "input");
  twin.type = field.type;
  Before.setValue(twin, text);
  return twin.value !== "";
}

function check(field: any, checked: boolean) {
  // React and others hear of these fields by their clicks alone.
  if (field.checked !== checked) Before.click(field);
  else tell(field, false);
}

/** Tells the page that a field was filled in. */
export function tell(field: Field, changed: boolean) {
  if (changed) Before.dispatchEvent(field, new Before.Event("input", { bubbles: true, composed: true }));
  Before.dispatchEvent(field, new Before.Event("change", { bubbles: true }));
}
