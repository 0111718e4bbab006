// What tools of the browser's WebMCP throw, which it hides from their caller. Runs in the page's world.
"use strict";

/**
 * Wraps each tool that the page registers, so that what it throws is known.
 *
 * @param {ModelContext} prototype of the browser's
 * @param {() => void} registers called when a tool is about to be registered
 * @param {(name: string, input: string, error: unknown) => void} thrown told what a tool has thrown, and on which input, as JSON
 */
function wrapTools(prototype, registers, thrown) {
  const register = prototype.registerTool;
  const { apply } = Reflect;
  const { stringify } = JSON;
  /** @param {string} name @param {unknown} input @param {unknown} error */
  const tell = (name, input, error) => {
    let text = "";
    try {
      text = stringify(input);
    } catch {} // the tool has made something else of it
    thrown(name, text, error);
  };
  // A proxy reads as what it stands for: the browser's own function.
  const value = new Proxy(register, {
    apply: (_, context, args) => {
      registers();
      return apply(register, context, args.length ? [noting(args[0], tell), ...args.slice(1)] : args);
    },
  });
  Object.defineProperty(prototype, "registerTool", { configurable: true, enumerable: true, writable: true, value });
}

/**
 * @param {any} tool
 * @param {(name: string, input: unknown, error: unknown) => void} thrown
 */
function noting(tool, thrown) {
  if (Object(tool) !== tool) return tool;
  // It is read when the browser reads it.
  const get = () => {
    const { execute } = tool;
    if (typeof execute !== "function") return execute;
    return async (/** @type {any[]} */ ...args) => {
      try {
        return await execute(...args);
      } catch (error) {
        thrown(String(tool.name), args[0], error);
        throw error;
      }
    };
  };
  return Object.create(tool, { execute: { get } });
}
