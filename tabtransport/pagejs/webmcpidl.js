// Web IDL for a document's WebMCP (webmcp.js): how the browser converts what a page gives.
"use strict";

/**
 * The conversions of Web IDL that the API needs. The members of a dictionary are read in the order that
 * they have here; what a page has added to all objects is none of them.
 */
class Idl {
  static string = (/** @type {any} */ value) => `${value}`;
  static #scalars = (/** @type {any} */ value) => `${value}`.toWellFormed();

  static tool = {
    type: "ModelContextTool",
    required: ["description", "execute", "name"],
    members: {
      annotations: (/** @type {any} */ value) => Idl.dictionary(Idl.annotations, value ?? {}),
      description: Idl.string,
      execute: Idl.callback,
      inputSchema: Idl.#object,
      name: Idl.string,
      outputSchema: Idl.#object,
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
      description: Idl.string,
      inputSchema: Idl.#object,
      name: Idl.string,
      origin: Idl.#scalars,
      title: Idl.string,
      window: Idl.#window,
    },
  };
  static registerOptions = { type: "ModelContextRegisterToolOptions", required: [], members: { exposedTo: Idl.#strings, signal: Idl.#signal } };
  static getOptions = { type: "ModelContextGetToolOptions", required: [], members: { fromOrigins: Idl.#strings } };
  static executeOptions = { type: "ExecuteToolOptions", required: [], members: { signal: Idl.#signal } };

  /**
   * @param {{type: string, required: string[], members: Record<string, (value: any, name: string) => any>}} kind
   * @param {any} given
   * @returns {Record<string, any>}
   */
  static dictionary({ type, required, members }, given) {
    Idl.#object(given, type);
    /** @type {Record<string, any>} */
    const taken = Before.create(null);
    const names = Before.keys(members);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      const value = given[name];
      if (value !== undefined) taken[name] = members[name](value, name);
      else if (members === Idl.annotations.members) taken[name] = false;
      else if (required.includes(name)) throw new TypeError(`${type}: ${name} is undefined`);
    }
    return taken;
  }

  /**
   * The JSON of an object.
   *
   * @param {any} value
   * @returns {string}
   */
  static json(value) {
    const text = Before.stringify(Idl.#object(value, "input"));
    if (text === undefined) throw new TypeError("toJSON() returns undefined");
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
   * @param {string} name
   */
  static callback(value, name) {
    if (typeof value !== "function") throw new TypeError(`${name} is not a function`);
    return value;
  }

  /**
   * @param {any} value
   * @param {string} name
   */
  static #object(value, name) {
    if ((typeof value !== "object" && typeof value !== "function") || value === null) throw new TypeError(`${name} is not an object`);
    return value;
  }

  /** @param {any} value */
  static #signal(value) {
    Before.aborted(value); // throws a TypeError
    return value;
  }

  /** @param {any} value */
  static #window(value) {
    // Of windows alone may be told, across origins, too, that they are their own.
    let itself = false;
    try {
      itself = value.window === value && typeof value.postMessage === "function";
    } catch {
      // It is no window.
    }
    if (!itself) throw new TypeError("not a window");
    return value;
  }

  /**
   * @param {any} value
   * @param {string} name
   */
  static #strings(value, name) {
    if (typeof value !== "object" || typeof value?.[Symbol.iterator] !== "function") throw new TypeError(`${name} is not a list`);
    /** @type {string[]} */
    const strings = [];
    for (const one of value) strings[strings.length] = Idl.#scalars(one);
    return strings;
  }
}
