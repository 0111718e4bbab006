// offscreen.ts
var UNUSED = 3e4;
var EVERY = 1e3;
var SILENT = 8e3;
var PING = "ping";
var Script = class {
  /** What the worker has not answered. */
  said = [];
  #frame = document.createElement("iframe");
  #channel = new MessageChannel();
  #heard = Date.now();
  #pings;
  constructor(code, say) {
    const { port1, port2 } = this.#channel;
    const says = (it) => {
      this.said.push(it);
      say(it);
    };
    port1.onmessage = ({ data }) => {
      this.#heard = Date.now();
      if (data !== PING) says(data);
    };
    this.#pings = setInterval(() => {
      if (Date.now() - this.#heard < SILENT) return port1.postMessage(PING);
      clearInterval(this.#pings);
      says({ type: "gone" });
    }, EVERY);
    this.#frame.onload = () => this.#frame.contentWindow?.postMessage(code, "*", [port2]);
    this.#frame.src = "sandbox.html";
    document.body.append(this.#frame);
  }
  answer(call, value) {
    this.said = this.said.filter((says) => says.type !== "call" || says.call !== call);
    this.#channel.port1.postMessage({ call, value });
  }
  end() {
    clearInterval(this.#pings);
    this.#frame.remove();
    this.#channel.port1.close();
  }
};
var scripts = /* @__PURE__ */ new Map();
var port;
var unused;
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
function post(message) {
  try {
    port?.postMessage(message);
  } catch {
  }
}
function received(message) {
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
