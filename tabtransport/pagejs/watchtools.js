// What tools of the browser's WebMCP do that their caller is not told: what they throw, which the browser
// hides, and that they go on in another document, where their caller is not. Runs in the page's world.
"use strict";

/** As it was before any script of the page ran. */
var Unchanged = { stringify: JSON.stringify, parse: JSON.parse };

/**
 * @typedef {object} ToolWatcher
 * @property {() => void} registers called when a tool is about to be registered
 * @property {(name: string, input: string, error: unknown) => void} threw told what a tool has thrown, and on which input, as JSON
 * @property {(call: NativeCall, token: string) => Promise<unknown>} took told, before the page is, that a tool has taken a token
 * @property {(token: string) => Promise<Resumed | undefined>} resume takes up the call that a token is of; undefined if it is nobody's
 */

/**
 * A call of the browser's, or one that was resumed here, by the signal by which it is known.
 *
 * @typedef {{name: string, input: string} | {caller: AbortSignal, took?: boolean}} NativeCall
 */

/** How long a call that has taken a token is kept for a document to resume it, in ms. */
var KEPT = 60_000;

/**
 * Wraps what the page registers tools with, and what they go on with.
 *
 * @param {ModelContext} prototype of the browser's
 * @param {ToolWatcher} watcher
 */
function watchTools(prototype, watcher) {
  const { apply } = Reflect;
  /** The calls by their handles, where the browser gives tools one. @type {WeakMap<object, NativeCall>} */
  const calls = new WeakMap();
  wrap(prototype, "registerTool", (register, context, args) => {
    watcher.registers();
    return apply(register, context, args.length ? [noting(args[0], watcher, calls), ...args.slice(1)] : args);
  });
  const invocations = /** @type {any} */ (window).ModelContextToolInvocation?.prototype;
  if (typeof invocations?.requestToken !== "function" || typeof (/** @type {any} */ (prototype).resumeTool) !== "function") return;
  wrap(invocations, "requestToken", async (request, invocation, args) => {
    const token = await apply(request, invocation, args);
    const call = calls.get(invocation);
    if (call && "caller" in call) call.took = true;
    if (call) await watcher.took(call, String(token)).catch(() => {});
    return token;
  });
  wrap(prototype, "resumeTool", async (resume, context, args) => {
    const [token, callback] = args;
    const resumed = typeof callback === "function" ? await watcher.resume(String(token)) : undefined;
    if (!resumed) return apply(resume, context, args);
    let begun = false;
    const run = async (/** @type {unknown} */ input, /** @type {unknown} */ options) => {
      begun = true;
      /** @type {NativeCall} */
      const call = { caller: /** @type {AbortSignal} */ (resumed.caller) };
      const invocation = /** @type {any} */ (options)?.invocation;
      if (Object(invocation) === invocation) calls.set(invocation, call);
      try {
        const value = await callback(input, options);
        const end = () => resumed.end({ text: typeof value === "object" || typeof value === "function" ? Unchanged.stringify(value) ?? "undefined" : `${value}` });
        // Where it goes on elsewhere, that is the end.
        if (call.took) setTimeout(end, KEPT);
        else end();
        return value;
      } catch (error) {
        resumed.end({ failed: "the tool failed", error });
        throw error;
      }
    };
    try {
      await apply(resume, context, [token, run]);
    } catch (error) {
      // The browser has given the call up with the document that its caller was in; here it is wanted.
      if (begun) throw error;
      run(Unchanged.parse(resumed.input), { signal: resumed.signal }).catch(() => {});
    }
  });
}

/**
 * @param {any} object
 * @param {string} method
 * @param {(method: Function, self: any, args: any[]) => unknown} instead
 */
function wrap(object, method, instead) {
  // A proxy reads as what it stands for: the browser's own function.
  const value = new Proxy(object[method], { apply: instead });
  Object.defineProperty(object, method, { configurable: true, enumerable: true, writable: true, value });
}

/**
 * @param {any} tool
 * @param {ToolWatcher} watcher
 * @param {WeakMap<object, NativeCall>} calls
 */
function noting(tool, watcher, calls) {
  if (Object(tool) !== tool) return tool;
  // It is read when the browser reads it.
  const get = () => {
    const { execute } = tool;
    if (typeof execute !== "function") return execute;
    return async (/** @type {any[]} */ ...args) => {
      const name = String(tool.name);
      const invocation = args[1]?.invocation;
      if (Object(invocation) === invocation) calls.set(invocation, { name, input: jsonOf(args[0]) });
      try {
        return await execute(...args);
      } catch (error) {
        watcher.threw(name, jsonOf(args[0]), error);
        throw error;
      }
    };
  };
  return Object.create(tool, { execute: { get } });
}

/** @param {unknown} input */
function jsonOf(input) {
  try {
    return Unchanged.stringify(input) ?? "";
  } catch {
    return ""; // the tool has made something else of it
  }
}
