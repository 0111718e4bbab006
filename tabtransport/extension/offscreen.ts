// The document, open only while a client's script runs, that has a frame for each: the frame's page (sandbox.ts)
// has no origin, no network and nothing of the extension. What a script says is kept until the service worker has
// answered it, so a worker that was stopped in between learns it again.

/** How long it stays open without a script, in ms, should the worker be stopped before it could close it. */
const UNUSED = 30_000;

class Script {
  /** What the worker has not answered. */
  said: ScriptSays[] = [];
  #frame = document.createElement("iframe");
  #channel = new MessageChannel();

  constructor(code: string, say: (says: ScriptSays) => void) {
    const { port1, port2 } = this.#channel;
    const says = (it: ScriptSays) => {
      this.said.push(it);
      say(it);
    };
    port1.onmessage = ({ data }) => says(data);
    // Its process has ended, as of a script that takes all memory.
    port1.addEventListener("close", () => says({ type: "gone" }));
    this.#frame.onload = () => this.#frame.contentWindow?.postMessage(code, "*", [port2]);
    this.#frame.src = "sandbox.html";
    document.body.append(this.#frame);
  }

  answer(call: number, value: string) {
    this.said = this.said.filter((says) => says.type !== "call" || says.call !== call);
    this.#channel.port1.postMessage({ call, value });
  }

  end() {
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
