/**
 * What is left of a worker's world for a script: the language, timers and texts. What is not of the language loads
 * nothing; buffers are not left, as they take memory beyond what the browser lets a worker have.
 */
const LEFT = `AggregateError Array BigInt Boolean Date Error EvalError FinalizationRegistry Function Infinity Intl Iterator JSON Map Math NaN Number Object
Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError Temporal TypeError URIError WeakMap WeakRef WeakSet decodeURI
decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt undefined unescape
URL URLSearchParams atob btoa clearInterval clearTimeout console queueMicrotask self setInterval setTimeout structuredClone`;

/** Where a script could load another one: its policy does not keep it from files of the extension. */
const IMPORT = /\bimport\s*[(./<-]/;

/**
 * The text of the worker that runs a script.
 * @param addressOf makes an address of the script's own text
 */
export function workerText(code: string, addressOf: (text: string) => string): string {
  if (IMPORT.test(code)) throw new Error("a script has no import");
  return `(${runScript})(${JSON.stringify(addressOf(`self.script = async (page) => {\n${code}\n}`))}, ${JSON.stringify(LEFT.split(/\s+/))})`;
}

/**
 * Runs a client's script: its text is what the script's worker has, which knows nothing else. Browsers let whatever is
 * in the extension's sandboxed pages read the extension's files, among them the key of its pairing: so all that loads
 * something is taken away first. Each method of page is a call, in the order in which they are made; one that fails ends
 * the script.
 */
function runScript(address: string, left: string[]) {
  const { setTimeout, importScripts } = self as unknown as { setTimeout: (then: () => void) => void; importScripts: (address: string) => void };
  const post = self.postMessage.bind(self) as (message: ScriptSays) => void;
  const open = new Map<number, (value: unknown) => void>();
  let calls = 0;
  let idle = () => {};
  self.addEventListener("message", ({ data }) => {
    open.get(data.call)?.(JSON.parse(data.value));
    open.delete(data.call);
    if (!open.size) idle();
  });
  const threw = (message: string) => post({ type: "threw", message });
  const method = (verb: string) => (...args: unknown[]) =>
    new Promise((resolve) => {
      const call = ++calls;
      open.set(call, resolve);
      // A call that cannot be made is a failure, also if the script does not wait for it.
      try {
        post({ type: "call", call, verb, args: JSON.stringify(args) });
      } catch (error) {
        threw(`page.${verb}: ${error instanceof Error ? error.message : error}`);
      }
    });
  const verbs = ["click", "fill", "select", "press", "hover", "scroll", "drag", "dialog", "open", "wait", "text", "find", "read", "look"];
  const page = Object.freeze(Object.fromEntries(verbs.map((verb) => [verb, method(verb)])));
  /** What was thrown, and in which line of the script. */
  const told = (error: unknown) => {
    if (!(error instanceof Error)) return `it threw ${String(error)}`;
    const line = Number(/blob:[^\s)]*:(\d+):\d+/.exec(error.stack ?? "")?.[1] ?? 0) - 1;
    return `${error.name}: ${error.message}${line > 0 ? ` (line ${line})` : ""}`;
  };
  const later = () => new Promise<void>((done) => setTimeout(done));
  const run = async () => {
    const kept = new Set<PropertyKey>(left);
    for (let at: object = self; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
      for (const key of Reflect.ownKeys(at)) {
        if (kept.has(key) || Reflect.deleteProperty(at, key)) continue;
        if (typeof Reflect.get(at, key) !== "number") throw new Error(`${String(key)} stays`); // a constant, as TEMPORARY
      }
    }
    Reflect.deleteProperty(URL, "createObjectURL");
    Object.defineProperty(self, "page", { value: page });
    importScripts(address);
    const { script } = self as unknown as { script: (page: object) => unknown };
    const value = await script(page);
    // Calls that it does not wait for are made, and those that follow them.
    for (await later(); open.size; await later()) await new Promise<void>((done) => (idle = done));
    let text: string | undefined;
    try {
      text = JSON.stringify(value) ?? "null";
    } catch (error) {
      return threw(`what it returns is no JSON: ${error instanceof Error ? error.message : error}`);
    }
    post({ type: "ended", value: text });
  };
  run().catch((error) => {
    try {
      threw(told(error));
    } catch {
      threw("it threw what has no text");
    }
  });
}
