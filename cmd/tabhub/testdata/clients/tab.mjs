// A tab for tests: a program that speaks tabhub.v1 and offers what it is given.

/** Connects to /tabs of the hub and says hello. */
export async function openTab(hubURL, token, { url = 'https://clients.example.com/', key = 'clients', origin } = {}) {
  const headers = origin ? { origin } : {}; // a page's, which its browser sets
  const socket = new WebSocket(hubURL.replace(/^http/, 'ws') + '/tabs', { protocols: 'tabhub.v1', headers });
  const tab = new Tab(socket, url);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error('the hub does not take the tab'));
  });
  await tab.ask('browser/hello', { protocolVersion: 'tabhub.v1', tabKey: key, session: crypto.randomUUID(), token });
  return tab;
}

export class Tab {
  /** Names of tools whose calls the hub has cancelled. */
  cancelled = [];
  #socket;
  #url;
  #next = 0;
  #asked = new Map();
  #running = new Map();
  #serve = {};

  constructor(socket, url) {
    this.#socket = socket;
    this.#url = url;
    socket.onmessage = ({ data }) => this.#message(JSON.parse(data));
  }

  ask(method, params) {
    const id = `tab-${++this.#next}`;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  /**
   * Offers tools, resources and prompts: arrays of MCP objects with a run function
   * each, (params, {progress, signal, extensions}) => result. A prompt may have complete,
   * ({argument, context}) => values.
   */
  async offer({ tools, resources, templates, prompts }) {
    const say = async (kind, method, items, key) => {
      if (!items) return;
      this.#serve[kind] = new Map(items.map((item) => [item[key] ?? item.uriTemplate, item]));
      const bare = items.map(({ run, complete, ...item }) => ({ ...item, completes: !!complete }));
      const member = method.replace('browser/register', '').toLowerCase();
      const { rejected } = await this.ask(method, { [member]: bare, tabUrl: this.#url, title: 'clients' });
      if (rejected.length) throw new Error(`the hub rejects ${JSON.stringify(rejected)}`);
    };
    await say('tool', 'browser/registerTools', tools, 'name');
    await say('resource', 'browser/registerResources', resources && [...resources, ...(templates ?? [])], 'uri');
    await say('prompt', 'browser/registerPrompts', prompts, 'name');
  }

  updated(uri) {
    this.#send({ method: 'browser/resourceUpdated', params: { uri } });
  }

  /** Tells what has changed of browser/tabState. */
  state(params) {
    this.#send({ method: 'browser/tabState', params });
  }

  close() {
    this.#socket.close();
  }

  #send(message) {
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  #message(m) {
    if (!m.method) {
      const waiting = this.#asked.get(m.id);
      this.#asked.delete(m.id);
      if (m.error) waiting?.reject(new Error(m.error.message));
      else waiting?.resolve(m.result);
      return;
    }
    switch (m.method) {
      case 'browser/executeTool':
        this.#run(m, this.#serve.tool?.get(m.params.toolName), m.params.args, (payload) => ({ success: true, payload }));
        break;
      case 'browser/readResource':
        this.#run(m, this.#resource(m.params.uri), m.params.uri, (result) => result);
        break;
      case 'browser/getPrompt':
        this.#run(m, this.#serve.prompt?.get(m.params.name), m.params.args ?? {}, (result) => result);
        break;
      case 'browser/complete':
        this.#send({ id: m.id, result: { completion: { values: this.#serve.prompt.get(m.params.ref.name).complete(m.params) } } });
        break;
      case 'browser/cancel':
        this.#running.get(m.params.requestId)?.abort();
        break;
      default:
        if (m.id !== undefined) this.#send({ id: m.id, result: {} });
    }
  }

  #resource(uri) {
    const known = this.#serve.resource;
    if (!known || known.has(uri)) return known?.get(uri);
    for (const item of known.values()) {
      const start = item.uriTemplate?.split('{')[0];
      if (start && uri.startsWith(start)) return item;
    }
  }

  async #run(m, item, params, wrap) {
    if (!item) {
      this.#send({ id: m.id, error: { code: -32601, message: 'no such thing here' } });
      return;
    }
    const { extensions = {} } = m.params;
    const abort = new AbortController();
    this.#running.set(m.id, abort);
    abort.signal.addEventListener('abort', () => this.cancelled.push(item.name));
    const progress = (progress, total, message) =>
      this.#send({ method: 'browser/progress', params: { requestId: m.id, progress, total, message } });
    try {
      const result = await item.run(params, { progress, signal: abort.signal, extensions });
      if (!abort.signal.aborted) this.#send({ id: m.id, result: wrap(result) });
    } catch (err) {
      this.#send({ id: m.id, result: { success: false, payload: String(err.message) } });
    } finally {
      this.#running.delete(m.id);
    }
  }
}

/** Waits until test holds. */
export async function until(what, test) {
  for (const end = Date.now() + 10_000; !test(); await sleep(5)) {
    if (Date.now() > end) throw new Error(`after 10 s still not: ${what}`);
  }
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
