// Web IDL for a document's WebMCP (webmcp.js): how the browser converts what a page gives, and what it
// says of what it does not take.
"use strict";

/**
 * The conversions of Web IDL that the API needs. The members of a dictionary are read in the order that
 * they have here; what a page has added to all objects is none of them.
 */
class Idl {
  static #string = (/** @type {any} */ value) => `${value}`;
  static #scalars = (/** @type {any} */ value) => `${value}`.toWellFormed();

  static tool = {
    type: "ModelContextTool",
    required: ["description", "execute", "name"],
    members: {
      annotations: (/** @type {any} */ value, /** @type {string} */ prefix) => Idl.dictionary(Idl.annotations, value ?? {}, prefix),
      description: Idl.#string,
      execute: Idl.#callback,
      inputSchema: Idl.#object,
      name: Idl.#string,
      title: Idl.#scalars,
    },
  };
  static annotations = {
    type: "ToolAnnotations",
    required: [],
    members: { consequentialHint: Boolean, debugging: Boolean, readOnlyHint: Boolean, untrustedContentHint: Boolean },
  };
  static registeredTool = {
    type: "RegisteredTool",
    required: ["description", "name", "origin", "window"],
    members: {
      annotations: Idl.tool.members.annotations,
      description: Idl.#string,
      inputSchema: Idl.#object,
      name: Idl.#string,
      origin: Idl.#scalars,
      title: Idl.#string,
      window: Idl.#window,
    },
  };
  static registerOptions = { type: "ModelContextRegisterToolOptions", required: [], members: { exposedTo: Idl.#strings, signal: Idl.#signal } };
  static getOptions = { type: "ModelContextGetToolOptions", required: [], members: { fromOrigins: Idl.#strings } };
  static executeOptions = { type: "ExecuteToolOptions", required: [], members: { signal: Idl.#signal } };

  /**
   * @param {{type: string, required: string[], members: Record<string, (value: any, prefix: string) => any>}} kind
   * @param {any} given
   * @param {string} prefix
   * @returns {Record<string, any>}
   */
  static dictionary({ type, required, members }, given, prefix) {
    if ((typeof given !== "object" && typeof given !== "function") || given === null) {
      throw new TypeError(`${prefix}The provided value is not of type '${type}'.`);
    }
    /** @type {Record<string, any>} */
    const taken = Before.create(null);
    const names = Before.keys(members);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      const value = given[name];
      const about = `${prefix}Failed to read the '${name}' property from '${type}': `;
      if (value !== undefined) taken[name] = members[name](value, about);
      else if (members === Idl.annotations.members) taken[name] = false;
      else if (required.includes(name)) throw new TypeError(`${about}Required member is undefined.`);
    }
    return taken;
  }

  /**
   * The JSON of an object.
   *
   * @param {any} value
   * @param {string} prefix
   * @returns {string}
   */
  static json(value, prefix) {
    if ((typeof value !== "object" && typeof value !== "function") || value === null) throw new TypeError(`${prefix}value is not an object`);
    const text = Before.stringify(value);
    if (text === undefined) throw new TypeError(`${prefix}toJSON() returns undefined`);
    return text;
  }

  /**
   * The origins of addresses, all of which the browser must trust.
   *
   * @param {string[]} addresses
   * @param {string} list its name
   */
  static origins(addresses, list) {
    /** @type {Record<string, true>} */
    const origins = Before.create(null);
    for (let i = 0; i < addresses.length; i++) {
      const origin = Idl.#origin(addresses[i]);
      if (!origin) throw new Before.DOMException(`Only secure origins are allowed in the ${list} list.`, "SecurityError");
      origins[origin] = true;
    }
    return origins;
  }

  /** @param {string} address */
  static #origin(address) {
    try {
      const { origin, protocol } = new Before.URL(address);
      if (protocol === "file:") return "file://";
      const trusted = /^(https|wss|chrome-extension):|^(http|ws):\/\/(localhost|[^/]+\.localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/;
      return trusted.test(origin) ? origin : "";
    } catch {
      return "";
    }
  }

  /**
   * @param {any} value
   * @param {string} prefix
   */
  static #callback(value, prefix) {
    if (typeof value !== "function") throw new TypeError(`${prefix}The given value is not a function.`);
    return value;
  }

  /**
   * @param {any} value
   * @param {string} prefix
   */
  static #object(value, prefix) {
    if ((typeof value !== "object" && typeof value !== "function") || value === null) throw new TypeError(`${prefix}Failed to convert value to 'object'.`);
    return value;
  }

  /**
   * @param {any} value
   * @param {string} prefix
   */
  static #signal(value, prefix) {
    try {
      Before.aborted(value);
    } catch {
      throw new TypeError(`${prefix}Failed to convert value to 'AbortSignal'.`);
    }
    return value;
  }

  /**
   * @param {any} value
   * @param {string} prefix
   */
  static #window(value, prefix) {
    // Of windows alone may be told, across origins, too, that they are their own.
    let itself = false;
    try {
      itself = value.window === value && typeof value.postMessage === "function";
    } catch {
      // It is no window.
    }
    if (!itself) throw new TypeError(`${prefix}Failed to convert value to 'Window'.`);
    return value;
  }

  /**
   * @param {any} value
   * @param {string} prefix
   */
  static #strings(value, prefix) {
    if (typeof value !== "object" || typeof value?.[Symbol.iterator] !== "function") {
      throw new TypeError(`${prefix}The provided value cannot be converted to a sequence.`);
    }
    /** @type {string[]} */
    const strings = [];
    for (const one of value) strings[strings.length] = Idl.#scalars(one);
    return strings;
  }
}
