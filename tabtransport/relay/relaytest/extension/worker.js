// An extension that answers as shipped ones do: one tab is attached for all who use it, by
// its place in the list. With config.raw it is as the predecessor's were, which pass all
// DevTools commands on to the browser.
importScripts("config.js"); // sets config: {url, name, token, raw}

let attached = 0;
let debugged = 0;

const socket = new WebSocket(config.url);
socket.onopen = () => {
  if (config.raw) send({ method: "extension_handshake", params: { name: config.name, accessToken: config.token } });
};
socket.onmessage = async ({ data }) => {
  const { id, method, params } = JSON.parse(data);
  if (!id || !method) return;
  try {
    const serve = METHODS[method];
    if (!serve && !config.raw) throw new Error(`Unknown command: ${method}`);
    send({ jsonrpc: config.raw ? undefined : "2.0", id, result: (await serve?.(params ?? {})) ?? {} });
  } catch (error) {
    const { message, stack } = /** @type {Error} */ (error);
    send(config.raw ? { id, error: message } : { jsonrpc: "2.0", id, error: { message, stack } });
  }
};

function send(message) {
  socket.send(JSON.stringify(message));
}

const METHODS = {
  authenticate: () => ({ name: config.name, access_token: config.token, client_id: "shipped" }),
  async getTabs() {
    const windows = await chrome.windows.getAll({ populate: true });
    const tabs = windows.flatMap((window) => window.tabs);
    return { tabs: tabs.map(({ id, windowId, title, url, active }, index) => ({ id, windowId, title, url, active, index })) };
  },
  async createTab({ url, activate }) {
    const tab = await chrome.tabs.create({ url, active: activate !== false });
    return attach(tab);
  },
  async selectTab({ tabIndex, activate }) {
    const tab = (await chrome.tabs.query({}))[tabIndex];
    if (!tab) throw new Error(`Tab index ${tabIndex} out of range`);
    if (!/^https?:/.test(tab.url)) throw new Error(`Cannot automate tab ${tabIndex}: "${tab.title}" (${tab.url})`);
    if (activate) {
      await chrome.tabs.update(tab.id, { active: true });
      await chrome.windows.update(tab.windowId, { focused: true });
    }
    return attach(tab);
  },
  async closeTab({ index }) {
    const closed = index === undefined || config.raw ? attached : (await METHODS.getTabs()).tabs[index].id;
    await chrome.tabs.remove(closed);
    return { success: true, closedAttachedTab: closed === attached };
  },
  forwardCDPCommand({ method, params }) {
    if (config.raw) return command(method, params);
    const serve = COMMANDS[method];
    if (!serve) throw new Error(`Unsupported CDP method: ${method}`);
    return serve(params ?? {});
  },
};

async function attach(tab) {
  attached = tab.id;
  if (config.raw) await chrome.debugger.attach({ tabId: attached }, "1.3");
  return { tab: { id: tab.id, title: tab.title, url: tab.url } };
}

/** Sends a command to the attached tab. */
async function command(method, params) {
  if (debugged !== attached && !config.raw) {
    if (debugged) await chrome.debugger.detach({ tabId: debugged }).catch(() => {});
    await chrome.debugger.attach({ tabId: attached }, "1.3");
    debugged = attached;
  }
  return chrome.debugger.sendCommand({ tabId: attached }, method, params);
}

const COMMANDS = {
  async "Page.navigate"({ url }) {
    const tabId = attached;
    await chrome.tabs.update(tabId, { url });
    await new Promise((resolve) => {
      chrome.tabs.onUpdated.addListener(function listener(id, { status }) {
        if (id !== tabId || status !== "complete") return;
        chrome.tabs.onUpdated.removeListener(listener);
        resolve();
      });
      setTimeout(resolve, 5000);
    });
    const tab = await chrome.tabs.get(tabId);
    return { url: tab.url, title: tab.title };
  },
  async "Runtime.evaluate"({ expression, returnByValue, awaitPromise }) {
    try {
      const { result, exceptionDetails } = await command("Runtime.evaluate", { expression, returnByValue, awaitPromise });
      return { result: { type: result.type, value: result.value }, exceptionDetails };
    } catch (error) {
      return { exceptionDetails: { text: error.message, exception: { description: error.message } } };
    }
  },
  "Page.captureScreenshot": ({ format }) => command("Page.captureScreenshot", { format }),
  "Input.dispatchMouseEvent": (params) => command("Input.dispatchMouseEvent", params),
  async "Input.dispatchKeyEvent"(params) {
    await command("Input.dispatchKeyEvent", params);
    return { success: true };
  },
};
