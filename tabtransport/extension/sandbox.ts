// The page in which a client's script runs, in a worker of its own: its policy (sandbox in manifest.json) goes for the
// worker, too. What the script says is taken for what it calls, whatever it has done to what is around it.

import { workerText } from "./script.ts";

/** How many messages of a script are read: a little more than it may take steps. */
const MAX_SAID = 300;
/** How many characters a call, or what a script returns, may have. */
const MAX_CALL = 1 << 20;
const MAX_VALUE = 256 << 10;
const MAX_MESSAGE = 4_000;

addEventListener("message", ({ source, data: code, ports: [port] }) => {
  if (source !== parent || !port) return;
  const addressOf = (text: string) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  let worker: Worker;
  try {
    worker = new Worker(addressOf(workerText(code, addressOf)));
  } catch (error) {
    return port.postMessage({ type: "threw", message: error instanceof Error ? error.message : String(error) } satisfies ScriptSays);
  }
  let count = 0;
  let over = false;
  const say = (says: ScriptSays) => {
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
  port.onmessage = ({ data }) => (typeof data === "string" ? port.postMessage(data) : worker.postMessage(data));
}, { once: true });

/** What a script has said, which it may have forged. */
function checked(data: any): ScriptSays {
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

function isJSON(text: string) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
