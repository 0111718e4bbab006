// What tools of the browser's WebMCP do that their caller does not see: what they throw, which the browser
// hides, and that they go on in another document, where their caller is not. Runs in the page's world.

import type { Resumed } from "./webmcpinvocation.ts";

/** As it was before any script of the page ran. */
const Unchanged = { stringify: JSON.stringify, parse: JSON.parse };

interface ToolWatcher {
  registers: () => void; // called when a tool is about to be registered
  threw: (name: string, input: string, error: unknown) => void; // called with what a tool has thrown, and on which input, as JSON
  took: (call: NativeCall, token: string) => Promise<unknown>; // called, before the page is notified, when a tool has taken a token
  resume: (token: string) => Promise<Resumed | undefined>; // takes up the call that a token is of; undefined if it is of none
}

/** A call of the browser's, or one that was resumed here, by the signal by which it is known. */
type NativeCall = { name: string; input: string } | { caller: AbortSignal; took?: boolean };

/** How long a call that has taken a token is kept for a document to resume it, in ms. */
export const KEPT = 60_000;

/**
 * Wraps what the page registers tools with, and what they go on with.
 * @param prototype of the browser's
 */
export function watchTools(prototype: ModelContext, watcher: ToolWatcher) {
  const { apply } = Reflect;
  /** The calls by their handles, where the browser gives tools one. */
  const calls = new WeakMap<object, NativeCall>();
  wrap(prototype, "registerTool", (register, context, args) => {
    watcher.registers();
    return apply(register, context, args.length ? [noting(args[0], watcher, calls), ...args.slice(1)] : args);
  });
  const invocations = (window as any).ModelContextToolInvocation?.prototype;
  if (typeof invocations?.requestToken !== "function" || typeof ((prototype as any).resumeTool) !== "function") return;
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
    const run = async (input: unknown, options: unknown) => {
      begun = true;
      const call: NativeCall = { caller: resumed.caller as AbortSignal };
      const invocation = (options as any)?.invocation;
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

function wrap(object: any, method: string, instead: (method: Function, self: any, args: any[]) => unknown) {
  // A proxy reads as what it stands for: the browser's own function.
  const value = new Proxy(object[method], { apply: instead });
  Object.defineProperty(object, method, { configurable: true, enumerable: true, writable: true, value });
}

function noting(tool: any, watcher: ToolWatcher, calls: WeakMap<object, NativeCall>) {
  if (Object(tool) !== tool) return tool;
  // It is read when the browser reads it.
  const get = () => {
    const { execute } = tool;
    if (typeof execute !== "function") return execute;
    return async (...args: any[]) => {
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

function jsonOf(input: unknown) {
  try {
    return Unchanged.stringify(input) ?? "";
  } catch {
    return ""; // the tool has made something else of it
  }
}
