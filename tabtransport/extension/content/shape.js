// What a page offers is untrusted. Here it is cut down to the shapes of the protocol and to
// sizes that harm nobody, before any other part of the extension sees it.
"use strict";

var Shape = class {
  /**
   * Takes from list the tools that the protocol can carry.
   *
   * @param {unknown} list
   * @returns {Checked}
   */
  static tools(list) {
    return Shape.#check(list, "tool", (item, out) => {
      out.name = Shape.#required(item.name, "name", Limit.name);
      Shape.#texts(item, out);
      const schema = typeof item.inputSchema === "string" ? JSON.parse(item.inputSchema) : item.inputSchema;
      Shape.#part(out, "inputSchema", schema, Limit.schema);
      Shape.#part(out, "outputSchema", item.outputSchema, Limit.schema);
      Shape.#part(out, "annotations", item.annotations, Limit.other);
      Shape.#part(out, "_meta", item._meta, Limit.other);
    });
  }

  /**
   * Takes from list the resources and resource templates.
   *
   * @param {unknown} list
   * @returns {Checked}
   */
  static resources(list) {
    return Shape.#check(list, "resource", (item, out) => {
      const key = "uriTemplate" in item ? "uriTemplate" : "uri";
      out[key] = Shape.#required(item[key], key, Limit.uri);
      out.name = Shape.#required(item.name, "name", Limit.name);
      Shape.#texts(item, out);
      if (typeof item.mimeType === "string") out.mimeType = item.mimeType.slice(0, Limit.name);
      if (typeof item.size === "number") out.size = item.size;
      Shape.#part(out, "annotations", item.annotations, Limit.other);
      Shape.#part(out, "_meta", item._meta, Limit.other);
    });
  }

  /**
   * Takes from list the prompts.
   *
   * @param {unknown} list
   * @returns {Checked}
   */
  static prompts(list) {
    return Shape.#check(list, "prompt", (item, out) => {
      out.name = Shape.#required(item.name, "name", Limit.name);
      Shape.#texts(item, out);
      Shape.#part(out, "arguments", item.arguments, Limit.schema);
      Shape.#part(out, "_meta", item._meta, Limit.other);
    });
  }

  /**
   * @param {unknown} list
   * @param {string} kind
   * @param {(item: Record<string, unknown>, out: Item) => void} pick
   * @returns {Checked}
   */
  static #check(list, kind, pick) {
    /** @type {Checked} */
    const checked = { items: [], rejected: [], texts: [] };
    if (!Array.isArray(list)) return checked;
    let room = Limit.offer;
    for (const item of list.slice(0, Limit.items)) {
      /** @type {Item} */
      const out = { name: "" };
      try {
        if (!Values.isObject(item)) throw new Error(`it is not an object`);
        pick(item, out);
        const text = JSON.stringify(out);
        if (text.length > room) throw new Error("the page offers too much in all");
        room -= text.length;
        checked.items.push(out);
        checked.texts.push(text);
      } catch (error) {
        if (checked.rejected.length < 100) {
          const name = Values.isObject(item) && typeof item.name === "string" ? item.name : kind;
          checked.rejected.push({ name: name.slice(0, Limit.name), reason: Values.errorText(error) });
        }
      }
    }
    if (list.length > Limit.items) {
      const over = list.length - Limit.items;
      checked.rejected.push({ name: `${over} more`, reason: `a page may offer ${Limit.items} of a kind` });
    }
    return checked;
  }

  /**
   * @param {unknown} value
   * @param {string} key
   * @param {number} limit
   */
  static #required(value, key, limit) {
    if (typeof value !== "string" || value === "") throw new Error(`its ${key} is missing`);
    if (value.length > limit) throw new Error(`its ${key} is longer than ${limit}`);
    return value;
  }

  /**
   * @param {Record<string, unknown>} item
   * @param {Item} out
   */
  static #texts(item, out) {
    if (typeof item.title === "string" && item.title) out.title = item.title.slice(0, Limit.title);
    if (typeof item.description === "string") out.description = item.description.slice(0, Limit.description);
  }

  /**
   * @param {Item} out
   * @param {string} key
   * @param {unknown} value
   * @param {number} limit
   */
  static #part(out, key, value, limit) {
    if (value === undefined || value === null) return;
    if (typeof value !== "object") throw new Error(`its ${key} is not an object`);
    const text = JSON.stringify(value);
    if (text.length > limit) throw new Error(`its ${key} is larger than ${limit >> 10} KiB`);
    out[key] = JSON.parse(text);
  }
};
