/**
 * Runs a client's script: its text is what the worker of the script has, which knows nothing else. Each method of page
 * is a call, in the order in which they are made; one that fails ends the script.
 */
export function runScript(code: string) {
  const post = self.postMessage.bind(self) as (message: ScriptSays) => void;
  const { setTimeout } = self;
  const open = new Map<number, (value: unknown) => void>();
  let calls = 0;
  let idle = () => {};
  self.addEventListener("message", ({ data }) => {
    open.get(data.call)?.(JSON.parse(data.value));
    open.delete(data.call);
    if (!open.size) idle();
  });
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
  Object.defineProperty(self, "page", { value: page });
  const threw = (message: string) => post({ type: "threw", message });
  /** What was thrown, and in which line of the script. */
  const told = (error: unknown) => {
    if (!(error instanceof Error)) return `it threw ${String(error)}`;
    const line = Number(/<anonymous>:(\d+):/.exec(error.stack ?? "")?.[1] ?? 0) - 2;
    return `${error.name}: ${error.message}${line > 0 ? ` (line ${line})` : ""}`;
  };
  const later = () => new Promise<void>((done) => setTimeout(done));
  const run = async () => {
    const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
    const value = await new AsyncFunction("page", code)(page);
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
