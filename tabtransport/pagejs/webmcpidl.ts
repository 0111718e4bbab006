// Web IDL for a document's WebMCP (webmcp.ts): how the browser converts what a page gives.

import { Before } from "./webmcp.ts";

/**
 * The conversions of Web IDL that the API needs. The members of a dictionary are read in the order that
 * they have here; what a page has added to all objects is none of them.
 */
export class Idl {
  static string = (value: any) => `${value}`;
  static #scalars = (value: any) => `${value}`.toWellFormed();

  static tool = {
    type: "ModelContextTool",
    required: ["description", "execute", "name"],
    members: {
      annotations: (value: any) => Idl.dictionary(Idl.annotations, value ?? {}),
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

  static dictionary({ type, required, members }: { type: string; required: string[]; members: Record<string, (value: any, name: string) => any> }, given: any): Record<string, any> {
    Idl.#object(given, type);
    const taken: Record<string, any> = Before.create(null);
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

  /** The JSON of an object. */
  static json(value: any): string {
    const text = Before.stringify(Idl.#object(value, "input"));
    if (text === undefined) throw new TypeError("toJSON() returns undefined");
    return text;
  }

  /**
   * The origins of addresses, all of which the browser must trust.
   * @param list its name
   */
  static origins(addresses: string[], list: string) {
    const origins: Record<string, true> = Before.create(null);
    for (let i = 0; i < addresses.length; i++) {
      const origin = Idl.#origin(addresses[i]);
      if (!origin) throw new Before.DOMException(`Only secure origins are allowed in the ${list} list.`, "SecurityError");
      origins[origin] = true;
    }
    return origins;
  }

  static #origin(address: string) {
    try {
      const { origin, protocol } = new Before.URL(address);
      if (protocol === "file:") return "file://";
      const trusted = /^(https|wss|chrome-extension):|^(http|ws):\/\/(localhost|[^/]+\.localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/;
      return trusted.test(origin) ? origin : "";
    } catch {
      return "";
    }
  }

  static callback(value: any, name: string) {
    if (typeof value !== "function") throw new TypeError(`${name} is not a function`);
    return value;
  }

  static #object(value: any, name: string) {
    if ((typeof value !== "object" && typeof value !== "function") || value === null) throw new TypeError(`${name} is not an object`);
    return value;
  }

  static #signal(value: any) {
    Before.aborted(value); // throws a TypeError
    return value;
  }

  static #window(value: any) {
    // Only a window says across origins, too, that it is its own.
    let itself = false;
    try {
      itself = value.window === value && typeof value.postMessage === "function";
    } catch {
      // It is no window.
    }
    if (!itself) throw new TypeError("not a window");
    return value;
  }

  static #strings(value: any, name: string) {
    if (typeof value !== "object" || typeof value?.[Symbol.iterator] !== "function") throw new TypeError(`${name} is not a list`);
    const strings: string[] = [];
    for (const one of value) strings[strings.length] = Idl.#scalars(one);
    return strings;
  }
}
