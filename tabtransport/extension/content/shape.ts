// What a page offers is untrusted. Here it is cut down to the shapes of the protocol and to
// sizes that do no harm, before any other part of the extension sees it.

import { Limit, Values } from "../../pagejs/values.ts";

export class Shape {
  /** Takes from list the tools that the protocol can carry. */
  static tools(list: unknown): Checked {
    return Shape.#check(list, "tool", (item, out, leaveOut) => {
      out.name = Shape.#required(item.name, "name", Limit.name);
      Shape.#texts(item, out);
      Shape.#part(out, "inputSchema", parsed(item.inputSchema), Limit.schema, leaveOut);
      Shape.#part(out, "outputSchema", item.outputSchema, Limit.schema, leaveOut);
      Shape.#part(out, "annotations", item.annotations, Limit.other, leaveOut);
      Shape.#part(out, "_meta", item._meta, Limit.other, leaveOut);
    });
  }

  /** Takes from list the resources and resource templates. */
  static resources(list: unknown): Checked {
    return Shape.#check(list, "resource", (item, out, leaveOut) => {
      const key = "uriTemplate" in item ? "uriTemplate" : "uri";
      out[key] = Shape.#required(item[key], key, Limit.uri);
      out.name = Shape.#required(item.name, "name", Limit.name);
      Shape.#texts(item, out);
      if (typeof item.mimeType === "string") out.mimeType = item.mimeType.slice(0, Limit.name);
      if (typeof item.size === "number") out.size = item.size;
      if (item.completes === true) out.completes = true;
      Shape.#part(out, "annotations", item.annotations, Limit.other, leaveOut);
      Shape.#part(out, "_meta", item._meta, Limit.other, leaveOut);
    });
  }

  /** Takes from list the prompts. */
  static prompts(list: unknown): Checked {
    return Shape.#check(list, "prompt", (item, out, leaveOut) => {
      out.name = Shape.#required(item.name, "name", Limit.name);
      Shape.#texts(item, out);
      Shape.#part(out, "arguments", item.arguments, Limit.schema, leaveOut);
      if (item.completes === true) out.completes = true;
      Shape.#part(out, "_meta", item._meta, Limit.other, leaveOut);
    });
  }

  static #check(list: unknown, kind: string, pick: (item: Record<string, unknown>, out: Item, leaveOut: (reason: string) => void) => void): Checked {
    const checked: Checked = { items: [], rejected: [], texts: [] };
    if (!Array.isArray(list)) return checked;
    let room = Limit.offer;
    for (const item of list.slice(0, Limit.items)) {
      const out: Item = { name: "" };
      const reject = (reason: string) => {
        if (checked.rejected.length >= 100) return;
        const name = Values.isObject(item) && typeof item.name === "string" ? item.name : kind;
        checked.rejected.push({ name: name.slice(0, Limit.name), reason });
      };
      try {
        if (!Values.isObject(item)) throw new Error(`it is not an object`);
        pick(item, out, reject);
        const text = JSON.stringify(out);
        if (text.length > room) throw new Error("the page offers too much in all");
        room -= text.length;
        checked.items.push(out);
        checked.texts.push(text);
      } catch (error) {
        reject(Values.errorText(error));
      }
    }
    if (list.length > Limit.items) {
      const over = list.length - Limit.items;
      checked.rejected.push({ name: `${over} more`, reason: `a page may offer ${Limit.items} of a kind` });
    }
    return checked;
  }

  static #required(value: unknown, key: string, limit: number) {
    if (typeof value !== "string" || value === "") throw new Error(`its ${key} is missing`);
    if (value.length > limit) throw new Error(`its ${key} is longer than ${limit}`);
    return value;
  }

  static #texts(item: Record<string, unknown>, out: Item) {
    if (typeof item.title === "string" && item.title) out.title = item.title.slice(0, Limit.title);
    if (typeof item.description === "string") out.description = item.description.slice(0, Limit.description);
  }

  /**
   * Takes a part of an item, valid or not: the hub says what is wrong with it. One that
   * cannot be carried is left out.
   */
  static #part(out: Item, key: string, value: unknown, limit: number, leaveOut: (reason: string) => void) {
    if (value === undefined || value === null) return;
    try {
      const text = JSON.stringify(value);
      if (text === undefined) return;
      if (text.length > limit) throw new Error(`it is larger than ${limit >> 10} KiB`);
      out[key] = JSON.parse(text);
    } catch (error) {
      leaveOut(`its ${key}: ${Values.errorText(error)}`);
    }
  }
}

/** @returns the same as it was before it became JSON, if it did */
function parsed(schema: unknown): unknown {
  if (typeof schema !== "string") return schema;
  try {
    return JSON.parse(schema);
  } catch {
    return schema; // the hub tells what is wrong with it
  }
}
