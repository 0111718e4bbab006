// A page as one tab of the hub: what its sources offer, registered as one list of
// each kind, and the hub's requests, answered by the source that has the item.

const REGISTER_QUIET_MS = 500;
const STATE_QUIET_MS = 100;
const MAX_CALLS = 64;
const PROGRESS_PER_SECOND = 50;

/** @type {{[kind in Kind]: {register: string, update: string, member: string, key: (item: JSONObject) => string}}} */
const KINDS = {
  tool: { register: "browser/registerTools", update: "browser/updateTools", member: "tools", key: (item) => item.name },
  resource: {
    register: "browser/registerResources",
    update: "browser/updateResources",
    member: "resources",
    key: (item) => item.uri ?? item.uriTemplate,
  },
  prompt: { register: "browser/registerPrompts", update: "browser/updatePrompts", member: "prompts", key: (item) => item.name },
};

class Page {
  /** @type {EventTarget | null} */
  events = null;

  /** In the order of precedence: an item that two of them have is the first one's. */
  #sources;
  #link;
  #key = new TabKey();
  #session = randomID();
  /** Which source has an item, by kind and key. @type {{[kind in Kind]: Map<string, Source>}} */
  #owners = { tool: new Map(), resource: new Map(), prompt: new Map() };
  /** The list that the hub has, as JSON text. @type {{[kind in Kind]: string}} */
  #sent = { tool: "[]", resource: "[]", prompt: "[]" };
  /** @type {{[kind in Kind]?: {last: number, timer?: ReturnType<typeof setTimeout>}}} */
  #registering = {};
  /** @type {{[kind in Kind]: {name: string, reason: string}[]}} */
  #rejected = { tool: [], resource: [], prompt: [] };
  /** @type {Map<string | number, AbortController>} */
  #calls = new Map();
  /** The tab state that the hub has. @type {JSONObject} */
  #state = {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #stateTimer;

  /** @param {Source[]} sources @param {() => LinkSocket} dial */
  constructor(sources, dial) {
    this.#sources = sources;
    this.#link = new HubLink({
      dial,
      hello: () => ({
        protocolVersion: "tabhub.v1",
        tabKey: this.#key.value,
        session: this.#session,
        capabilities: ["text", "navigate"],
      }),
      handler: {
        opened: () => this.#opened(),
        changed: () => this.#tell(),
        request: (request) => void this.#answer(request),
        notice: (method, params) => this.#notice(method, params),
      },
    });
  }

  async start() {
    for (const source of this.#sources) {
      source.start(
        (kind) => this.#changed(kind),
        (uri) => this.resourceUpdated(uri),
      );
    }
    this.#watchState();
    await this.#key.take();
    this.#link.start();
    // A page that is kept for going back must not hold a socket or the key. A page
    // that goes away says nothing more: it may be a reload, and the hub waits
    // a few seconds for it.
    window.addEventListener("pagehide", () => {
      this.#link.stop();
      this.#key.release();
    });
    window.addEventListener("pageshow", async (event) => {
      if (!event.persisted) return;
      await this.#key.take();
      this.#link.start();
    });
    const now = () => {
      if (this.#link.state === "waiting" && document.visibilityState === "visible") this.#link.start();
    };
    window.addEventListener("online", now);
    document.addEventListener("visibilitychange", now);
    // What an earlier document of the tab offered and this one does not.
    if (this.#key.returning) whenLoaded(() => setTimeout(() => void this.#clearStale(), 2 * REGISTER_QUIET_MS));
  }

  /** @returns {TabStatus} */
  status() {
    return {
      state: this.#link.state,
      reason: this.#link.reason,
      hub: [this.#link.hub.hub, this.#link.hub.version].filter(Boolean).join(" "),
      tabKey: this.#key.value,
      tools: this.#owners.tool.size,
      resources: this.#owners.resource.size,
      prompts: this.#owners.prompt.size,
      rejected: [...this.#rejected.tool, ...this.#rejected.resource, ...this.#rejected.prompt],
    };
  }

  /** @param {string} uri */
  resourceUpdated(uri) {
    this.#link.notify("browser/resourceUpdated", { uri });
  }

  #tell() {
    this.events?.dispatchEvent(new CustomEvent("status", { detail: this.status() }));
  }

  /** @param {CallStep} detail */
  #step(detail) {
    this.events?.dispatchEvent(new CustomEvent("call", { detail }));
  }

  // --- registration

  #opened() {
    // The hub may have lost what it had: it is told everything anew.
    this.#state = {};
    this.#sendState();
    for (const kind of KIND_NAMES) {
      this.#sent[kind] = "[]";
      clearTimeout(this.#registering[kind]?.timer);
      void this.#register(kind);
    }
  }

  /**
   * Registers the first change at once and what follows when it has been quiet.
   * @param {Kind} kind
   */
  #changed(kind) {
    const registering = (this.#registering[kind] ??= { last: -Infinity });
    clearTimeout(registering.timer);
    const first = performance.now() - registering.last > REGISTER_QUIET_MS;
    registering.last = performance.now();
    // Even the first waits for the page's running script: what it registers in one
    // go is one list.
    registering.timer = setTimeout(() => void this.#register(kind), first ? 0 : REGISTER_QUIET_MS);
  }

  /** @param {Kind} kind */
  async #register(kind) {
    const lists = await Promise.all(
      this.#sources.map((source) =>
        source.list(kind).catch((error) => {
          console.warn(`tabhub: a source of ${kind}s does not answer: ${messageOf(error)}`);
          return /** @type {JSONObject[]} */ ([]);
        }),
      ),
    );
    /** @type {Map<string, Source>} */
    const owners = new Map();
    const items = [];
    for (const [i, list] of lists.entries()) {
      for (const item of list) {
        const key = KINDS[kind].key(item);
        if (typeof key !== "string" || owners.has(key)) continue;
        owners.set(key, this.#sources[i]);
        items.push(item);
      }
    }
    this.#owners[kind] = owners;
    const max = this.#link.hub.limits?.maxTools ?? 1024;
    if (items.length > max) console.warn(`tabhub: only the first ${max} of ${items.length} ${kind}s are offered`);
    await this.#send(kind, items.slice(0, max));
    this.#tell();
  }

  /** @param {Kind} kind @param {JSONObject[]} items */
  async #send(kind, items) {
    if (this.#link.state !== "open") return;
    const list = JSON.stringify(items);
    if (list === this.#sent[kind]) return;
    const { register, update, member } = KINDS[kind];
    const method = this.#sent[kind] === "[]" ? register : update;
    this.#sent[kind] = list;
    try {
      const answer = await this.#link.request(method, { [member]: items, tabUrl: pageURL(), title: pageTitle() });
      this.#rejected[kind] = Array.isArray(answer.rejected) ? answer.rejected : [];
      for (const { name, reason } of this.#rejected[kind]) console.warn(`tabhub: ${kind} ${name} is not offered: ${reason}`);
    } catch (error) {
      // A lost connection registers everything again when it is back.
      if (this.#link.state === "open") console.warn(`tabhub: the ${kind}s are not offered: ${messageOf(error)}`);
    }
  }

  async #clearStale() {
    for (const kind of KIND_NAMES) {
      if (this.#sent[kind] !== "[]" || this.#owners[kind].size > 0 || this.#link.state !== "open") continue;
      await this.#link.request(KINDS[kind].update, { [KINDS[kind].member]: [], tabUrl: pageURL(), title: pageTitle() }).catch(() => {});
    }
  }

  // --- tab state

  #watchState() {
    const soon = () => {
      clearTimeout(this.#stateTimer);
      this.#stateTimer = setTimeout(() => this.#sendState(), STATE_QUIET_MS);
    };
    for (const type of ["focus", "blur", "popstate", "hashchange", "load"]) window.addEventListener(type, soon);
    document.addEventListener("visibilitychange", soon);
    const navigation = /** @type {any} */ (window).navigation;
    if (navigation) navigation.addEventListener("currententrychange", soon);
    else setInterval(() => pageURL() !== this.#state.url && soon(), 1000);
    if (document.head) new MutationObserver(soon).observe(document.head, { childList: true, subtree: true, characterData: true });
  }

  #sendState() {
    if (this.#link.state !== "open") return;
    const visible = document.visibilityState === "visible";
    const now = { url: pageURL(), title: pageTitle(), active: visible, visible, windowFocused: document.hasFocus() };
    const news = Object.entries(now).filter(([member, value]) => this.#state[member] !== value);
    if (news.length === 0) return;
    this.#state = now;
    this.#link.notify("browser/tabState", Object.fromEntries(news));
  }

  // --- requests of the hub

  /** @param {string} method @param {JSONObject} params */
  #notice(method, params) {
    if (method === "browser/cancel") this.#calls.get(params.requestId)?.abort(new DOMException(String(params.reason || "cancelled"), "AbortError"));
  }

  /** @param {HubRequest} request */
  async #answer({ id, method, params }) {
    switch (method) {
      case "browser/ping":
        return this.#link.answer(id, "{}");
      case "browser/executeTool":
        return this.#run(id, method, "tool", params.toolName, params.args, async (source, context) => {
          return `{"success":true,"payload":${await source.callTool(params.toolName, params.args ?? {}, context)}}`;
        });
      case "browser/readResource":
        return this.#run(id, method, "resource", params.uri, undefined, async (source, context) => {
          return JSON.stringify(await source.readResource(params.uri, context));
        });
      case "browser/getPrompt":
        return this.#run(id, method, "prompt", params.name, params.args, async (source, context) => {
          return JSON.stringify(await source.getPrompt(params.name, params.args ?? {}, context));
        });
      case "browser/subscribeResource":
        return this.#run(id, method, "resource", params.uri, undefined, async (source) => {
          await source.subscribe(params.uri, params.subscribe === true);
          return "{}";
        });
      case "browser/text":
        return this.#link.answer(id, JSON.stringify({ text: document.body?.innerText ?? "" }));
      case "browser/navigate":
        return this.#navigate(id, params);
      default:
        return this.#link.fail(id, -32601, `a page cannot answer ${method}`);
    }
  }

  /**
   * @param {string | number} id
   * @param {string} method
   * @param {Kind} kind
   * @param {string} name
   * @param {JSONObject | undefined} args
   * @param {(source: Source, context: CallContext) => Promise<string>} work returns JSON text
   */
  async #run(id, method, kind, name, args, work) {
    const source = this.#ownerOf(kind, name);
    // The page may be loading still: the hub may ask again, as nothing has run.
    if (!source) return this.#link.fail(id, -32001, `this page has no ${kind} ${name} now`, { delivered: false });
    if (this.#calls.size >= MAX_CALLS) return this.#link.fail(id, -32003, `${MAX_CALLS} calls are running in this page already`);
    const abort = new AbortController();
    this.#calls.set(id, abort);
    this.#step({ id, phase: "start", method, name, args });
    let ok = false;
    try {
      const result = await work(source, { signal: abort.signal, progress: this.#progressOf(id, method, name) });
      ok = true;
      if (!abort.signal.aborted) this.#link.answer(id, result);
    } catch (error) {
      const message = messageOf(error);
      if (abort.signal.aborted) return;
      if (kind === "tool") this.#link.answer(id, JSON.stringify({ success: false, payload: message }));
      else this.#link.fail(id, -32603, message);
    } finally {
      this.#calls.delete(id);
      this.#step({ id, phase: "end", method, name, ok });
    }
  }

  /** @param {Kind} kind @param {string} name */
  #ownerOf(kind, name) {
    const owner = this.#owners[kind].get(name);
    if (owner || kind !== "resource") return owner;
    for (const [template, source] of this.#owners.resource) {
      if (template.includes("{") && templatePattern(template).test(name)) return source;
    }
    return undefined;
  }

  /** @param {string | number} id @param {string} method @param {string} name @returns {CallContext["progress"]} */
  #progressOf(id, method, name) {
    let since = 0;
    let count = 0;
    return (progress, total, message) => {
      if (!this.#calls.has(id) || !Number.isFinite(progress)) return;
      if (Date.now() - since > 1000) {
        since = Date.now();
        count = 0;
      }
      if (++count > PROGRESS_PER_SECOND) return;
      /** @type {JSONObject} */
      const params = { requestId: String(id), progress };
      if (Number.isFinite(total)) params.total = total;
      if (message !== undefined) params.message = String(message).slice(0, 4096);
      this.#link.notify("browser/progress", params);
      this.#step({ id, phase: "progress", method, name, progress, total, message });
    };
  }

  /** @param {string | number} id @param {JSONObject} params */
  #navigate(id, params) {
    if (params.url !== undefined) {
      let url;
      try {
        url = new URL(params.url, location.href);
      } catch {
        return this.#link.fail(id, -32602, `${params.url} is not a URL`);
      }
      // This also refuses javascript: and data:, whose origin is opaque.
      if (url.origin !== location.origin) {
        return this.#link.fail(id, -32002, `a page that joined by script can be navigated within ${location.origin} only`);
      }
      this.#leave(id, () => location.assign(url));
    } else if (params.back) this.#leave(id, () => history.back());
    else if (params.forward) this.#leave(id, () => history.forward());
    else if (params.reload) this.#leave(id, () => location.reload());
    else this.#link.fail(id, -32602, "nothing to navigate to: give url, back, forward or reload");
  }

  /** @param {string | number} id @param {() => void} go */
  #leave(id, go) {
    this.#link.answer(id, "{}");
    // The answer has to be on its way before the document ends.
    setTimeout(go, 0);
  }
}

/** @type {Kind[]} */
const KIND_NAMES = ["tool", "resource", "prompt"];

/** @param {() => void} f */
function whenLoaded(f) {
  if (document.readyState === "complete") f();
  else window.addEventListener("load", f, { once: true });
}

function pageURL() {
  if (location.href.length <= 2048) return location.href;
  const short = location.origin + location.pathname;
  return short.length <= 2048 ? short : location.origin;
}

function pageTitle() {
  return document.title.slice(0, 4096);
}

/**
 * Joins the document to the hub, once.
 * @param {() => LinkSocket} dial
 */
function joinHub(dial) {
  if (window.tabhub) {
    console.warn("tabhub: this page has joined already; the second script does nothing");
    return;
  }
  const own = new OwnSource();
  const page = new Page([own, new ContextSource(true), new PageServerSource(), new ContextSource(false)], dial);
  window.tabhub = new PageAPI(own, page);
  page.events = window.tabhub;
  void page.start();
}

/**
 * Where the running script was loaded from: the hub.
 * @param {string} file
 */
function scriptOrigin(file) {
  const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript : document.querySelector(`script[src$="${file}"]`);
  const src = script instanceof HTMLScriptElement ? script.src : "";
  if (!src) throw new Error(`tabhub: load ${file} with <script src="http://127.0.0.1:3300${file}"></script>`);
  return new URL(src).origin;
}
