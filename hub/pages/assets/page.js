// A page as one tab of the hub: what its sources offer, registered as one list of
// each kind.

const REGISTER_QUIET_MS = 500;

// A reloaded page waits this long for its own tools before it comes back, so that
// the hub sees the same list as before. It is well within the hub's patience.
const RELOAD_WAIT_MS = 1_500;
const RELOAD_QUIET_MS = 250;

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
  /** In the order of precedence: an item that two of them have is the first one's. */
  #sources;
  #link;
  #tell;
  #state;
  #key = new TabKey();
  #session = randomID();
  /** Which source has an item, by kind and key. @type {{[kind in Kind]: Map<string, Source>}} */
  #owners = { tool: new Map(), resource: new Map(), prompt: new Map() };
  /** The list that the hub has, as JSON text. @type {{[kind in Kind]: string}} */
  #sent = { tool: "[]", resource: "[]", prompt: "[]" };
  /** @type {{[kind in Kind]: {changed: number, timer?: ReturnType<typeof setTimeout>, running?: boolean, again?: boolean}}} */
  #registering = { tool: { changed: -Infinity }, resource: { changed: -Infinity }, prompt: { changed: -Infinity } };
  /** @type {{[kind in Kind]: {name: string, reason: string}[]}} */
  #rejected = { tool: [], resource: [], prompt: [] };

  /**
   * @param {Source[]} sources
   * @param {() => LinkSocket} dial
   * @param {(event: "status" | "call", detail: TabStatus | CallStep) => void} tell
   */
  constructor(sources, dial, tell) {
    this.#sources = sources;
    this.#tell = tell;
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
        changed: () => this.#tell("status", this.status()),
        request: (request) => void calls.answer(request),
        notice: (method, params) => calls.notice(method, params),
      },
    });
    this.#state = new TabState(this.#link);
    const calls = new Calls(
      this.#link,
      (kind, key) => this.#ownerOf(kind, key),
      (step) => this.#tell("call", step),
    );
  }

  async start() {
    for (const source of this.#sources) {
      source.start(
        (kind) => this.#changed(kind),
        (uri) => this.resourceUpdated(uri),
      );
    }
    this.#state.watch();
    // A page that the browser loads ahead is no tab until the user goes there.
    if (/** @type {any} */ (document).prerendering) {
      await new Promise((shown) => document.addEventListener("prerenderingchange", shown, { once: true }));
    }
    await this.#key.take();
    if (this.#key.returning) await this.#settle();
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

  /** Waits until a reloaded page has had time to register what it has. */
  #settle() {
    return new Promise((resolve) => {
      setTimeout(resolve, RELOAD_WAIT_MS);
      whenLoaded(() => setTimeout(resolve, RELOAD_QUIET_MS));
    });
  }

  #opened() {
    this.#state.tellAll();
    for (const kind of KIND_NAMES) {
      // The hub may have lost what it had, or have more of an earlier document of
      // this tab.
      this.#sent[kind] = this.#key.returning ? "" : "[]";
      clearTimeout(this.#registering[kind].timer);
      void this.#register(kind);
    }
  }

  /**
   * Registers the first change at once and what follows when it has been quiet.
   * @param {Kind} kind
   */
  #changed(kind) {
    const registering = this.#registering[kind];
    clearTimeout(registering.timer);
    const first = performance.now() - registering.changed > REGISTER_QUIET_MS;
    registering.changed = performance.now();
    // Even the first waits for the page's running script: what it registers in one
    // go is one list.
    registering.timer = setTimeout(() => void this.#register(kind), first ? 0 : REGISTER_QUIET_MS);
  }

  /**
   * Brings the hub's list of a kind up to date, one run at a time: an old list never
   * follows a new one.
   * @param {Kind} kind
   */
  async #register(kind) {
    const registering = this.#registering[kind];
    registering.again = true;
    if (registering.running) return;
    registering.running = true;
    while (registering.again) {
      registering.again = false;
      void this.#send(kind, await this.#collect(kind));
    }
    registering.running = false;
  }

  /** @param {Kind} kind @returns {Promise<JSONObject[]>} */
  async #collect(kind) {
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
    return items.slice(0, max);
  }

  /** @param {Kind} kind @param {JSONObject[]} items */
  async #send(kind, items) {
    const list = JSON.stringify(items);
    if (this.#link.state === "open" && list !== this.#sent[kind]) {
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
    this.#tell("status", this.status());
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
}

/** @type {Kind[]} */
const KIND_NAMES = ["tool", "resource", "prompt"];

/** @param {() => void} f */
function whenLoaded(f) {
  if (document.readyState === "complete") f();
  else window.addEventListener("load", f, { once: true });
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
  const sources = [own, new ContextSource(true), new PageServerSource(), new ContextSource(false)];
  const page = new Page(sources, dial, (event, detail) => tabhub.dispatchEvent(new CustomEvent(event, { detail })));
  const tabhub = (window.tabhub = new PageAPI(own, page));
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
