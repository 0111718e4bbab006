// script.ts
var LEFT = `AggregateError Array BigInt Boolean Date Error EvalError FinalizationRegistry Function Infinity Intl Iterator JSON Map Math NaN Number Object
Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError Temporal TypeError URIError WeakMap WeakRef WeakSet decodeURI
decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt undefined unescape
URL URLSearchParams atob btoa clearInterval clearTimeout console queueMicrotask self setInterval setTimeout structuredClone`;
var IMPORT = /\bimport\s*[(./<-]/;
function workerText(code, addressOf) {
  if (IMPORT.test(code)) throw new Error("a script has no import");
  return `(${runScript})(${JSON.stringify(addressOf(`self.script = async (page) => {
${code}
}`))}, ${JSON.stringify(LEFT.split(/\s+/))})`;
}
function runScript(address, left) {
  const { setTimeout, importScripts } = self;
  const post = self.postMessage.bind(self);
  const open = /* @__PURE__ */ new Map();
  let calls = 0;
  let idle = () => {
  };
  self.addEventListener("message", ({ data }) => {
    open.get(data.call)?.(JSON.parse(data.value));
    open.delete(data.call);
    if (!open.size) idle();
  });
  const threw = (message) => post({ type: "threw", message });
  const method = (verb) => (...args) => new Promise((resolve) => {
    const call = ++calls;
    open.set(call, resolve);
    try {
      post({ type: "call", call, verb, args: JSON.stringify(args) });
    } catch (error) {
      threw(`page.${verb}: ${error instanceof Error ? error.message : error}`);
    }
  });
  const verbs = ["click", "fill", "select", "press", "hover", "scroll", "drag", "dialog", "open", "wait", "text", "find", "read", "look"];
  const page = Object.freeze(Object.fromEntries(verbs.map((verb) => [verb, method(verb)])));
  const told = (error) => {
    if (!(error instanceof Error)) return `it threw ${String(error)}`;
    const line = Number(/blob:[^\s)]*:(\d+):\d+/.exec(error.stack ?? "")?.[1] ?? 0) - 1;
    return `${error.name}: ${error.message}${line > 0 ? ` (line ${line})` : ""}`;
  };
  const later = () => new Promise((done) => setTimeout(done));
  const run = async () => {
    const kept = new Set(left);
    for (let at = self; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
      for (const key of Reflect.ownKeys(at)) {
        if (kept.has(key) || Reflect.deleteProperty(at, key)) continue;
        if (typeof Reflect.get(at, key) !== "number") throw new Error(`${String(key)} stays`);
      }
    }
    Reflect.deleteProperty(URL, "createObjectURL");
    Object.defineProperty(self, "page", { value: page });
    importScripts(address);
    const { script } = self;
    const value = await script(page);
    for (await later(); open.size; await later()) await new Promise((done) => idle = done);
    let text;
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

// sandbox.ts
var MAX_SAID = 300;
var MAX_CALL = 1 << 20;
var MAX_VALUE = 256 << 10;
var MAX_MESSAGE = 4e3;
addEventListener("message", ({ source, data: code, ports: [port] }) => {
  if (source !== parent || !port) return;
  const addressOf = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  let worker;
  try {
    worker = new Worker(addressOf(workerText(code, addressOf)));
  } catch (error) {
    return port.postMessage({ type: "threw", message: error instanceof Error ? error.message : String(error) });
  }
  let count = 0;
  let over = false;
  const say = (says) => {
    if (over) return;
    port.postMessage(says);
    over = says.type !== "call";
    if (over) worker.terminate();
  };
  worker.onmessage = ({ data }) => {
    if (++count > MAX_SAID) return say({ type: "threw", message: "it calls too much at once" });
    say(checked(data));
  };
  worker.onerror = (event) => say({ type: "threw", message: String(event.message).slice(0, MAX_MESSAGE) });
  port.onmessage = ({ data }) => typeof data === "string" ? port.postMessage(data) : worker.postMessage(data);
}, { once: true });
function checked(data) {
  const { type, call, verb, args, value, message } = Object(data);
  if (type === "call" && Number.isSafeInteger(call) && typeof verb === "string" && typeof args === "string") {
    if (verb.length + args.length <= MAX_CALL) return { type, call, verb, args };
    return { type: "threw", message: `page.${verb.slice(0, 20)} has got more than ${MAX_CALL >> 20} MiB` };
  }
  if (type === "ended" && typeof value === "string") {
    if (value.length <= MAX_VALUE && isJSON(value)) return { type, value };
    return { type: "threw", message: `it returns more than ${MAX_VALUE >> 10} KiB: return less` };
  }
  return { type: "threw", message: typeof message === "string" ? message.slice(0, MAX_MESSAGE) : "it says what makes no sense" };
}
function isJSON(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
