// The document, open only while a client's script runs, that has a frame for each: the frame's page (sandbox.ts)
// has no origin, no network and nothing of the extension. What a script says is kept until the service worker has
// answered it, so a worker that was stopped in between learns it again.

/** How long it stays open without a script, in ms, should the worker be stopped before it could close it. */
const UNUSED = 30_000;
/** How often a script's page is asked whether it is there, and after what time of silence it is taken to be gone, in ms. */
const EVERY = 1_000;
const SILENT = 8_000;
const PING = "ping";

class Script {
  /** What the worker has not answered. */
  said: ScriptSays[] = [];
  #frame = document.createElement("iframe");
  #channel = new MessageChannel();
  #heard = Date.now();
  #pings: ReturnType<typeof setInterval>;

  constructor(code: string, say: (says: ScriptSays) => void) {
    const { port1, port2 } = this.#channel;
    const says = (it: ScriptSays) => {
      this.said.push(it);
      say(it);
    };
    port1.onmessage = ({ data }) => {
      this.#heard = Date.now();
      if (data !== PING) says(data);
    };
    // Its process is one of its own, and ends if the script takes all memory.
    this.#pings = setInterval(() => {
      if (Date.now() - this.#heard < SILENT) return port1.postMessage(PING);
      clearInterval(this.#pings);
      says({ type: "gone" });
    }, EVERY);
    this.#frame.onload = () => this.#frame.contentWindow?.postMessage(code, "*", [port2]);
    this.#frame.src = "sandbox.html";
    document.body.append(this.#frame);
  }

  answer(call: number, value: string) {
    this.said = this.said.filter((says) => says.type !== "call" || says.call !== call);
    this.#channel.port1.postMessage({ call, value });
  }

  end() {
    clearInterval(this.#pings);
    this.#frame.remove();
    this.#channel.port1.close();
  }
}

const scripts = new Map<string, Script>();
let port: chrome.runtime.Port | undefined;
let unused: ReturnType<typeof setTimeout> | undefined;

function connect() {
  const opened = chrome.runtime.connect({ name: "scripts" });
  port = opened;
  opened.onMessage.addListener(received);
  opened.onDisconnect.addListener(() => {
    void chrome.runtime.lastError;
    setTimeout(connect);
  });
  post({ type: "hello", scripts: [...scripts].map(([id, { said }]) => ({ id, said })) });
}

function post(message: OffscreenToWorker) {
  try {
    port?.postMessage(message);
  } catch {
    // The worker has stopped: it is said again in the next hello.
  }
}

function received(message: WorkerToOffscreen) {
  const { id } = message;
  const script = scripts.get(id);
  switch (message.type) {
    case "start":
      if (!script) scripts.set(id, new Script(message.code, (says) => post({ type: "said", id, says })));
      break;
    case "answer":
      script?.answer(message.call, message.value);
      break;
    case "stop":
      script?.end();
      scripts.delete(id);
  }
  clearTimeout(unused);
  if (!scripts.size) unused = setTimeout(() => close(), UNUSED);
}

connect();
