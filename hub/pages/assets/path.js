// One path from the page to the hub: a connection, what its sources offer, registered
// as one list of each kind, and the calls that come over it.

const REGISTER_QUIET_MS = 500;
const READ_AGAIN_MS = 2_000;

/** @type {{[kind in Kind]: {register: string, update: string, member: "tools" | "resources" | "prompts", key: (item: JSONObject) => string}}} */
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

class Path {
  /** Which source has an item, by kind and key. @type {{[kind in Kind]: Map<string, ItemSource>}} */
  owners = { tool: new Map(), resource: new Map(), prompt: new Map() };
  /** @type {{[kind in Kind]: {name: string, reason: string}[]}} */
  rejected = { tool: [], resource: [], prompt: [] };
  link;

  /** In the order of precedence: an item that two of them have is the first one's. */
  #sources;
  #calls;
  #fresh;
  #changed;
  /** Whether another path carries the page. */
  #retired = false;
  /** The list that the hub has, as JSON text. @type {{[kind in Kind]: string}} */
  #sent = { tool: "[]", resource: "[]", prompt: "[]" };
  /** What each source had when it was read last. @type {Map<Source, Awaited<ReturnType<Source["offer"]>>>} */
  #read = new Map();
  #lastChange = -Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {Promise<void> | undefined} */
  #running;
  /** Whether what is offered may differ from what was collected last. */
  #dirty = false;

  /**
   * @param {object} options
   * @param {Source[]} options.sources
   * @param {() => LinkSocket} options.dial
   * @param {() => JSONObject} options.hello
   * @param {number} [options.once] as in HubLink
   * @param {() => boolean} options.fresh whether the hub cannot have lists of this tab yet
   * @param {(registered: Promise<unknown>) => void} options.opened registered is settled when the hub has all lists
   * @param {() => void} options.changed
   * @param {() => void} [options.unanswered] as of HubLink's handler
   * @param {(code: number) => void} [options.lost]
   * @param {(method: string, params: JSONObject) => void} [options.notice] any that is not of a call
   * @param {(step: CallStep) => void} options.step
   * @param {(waiting: boolean) => void} [options.waits] as in Calls
   */
  constructor({ sources, dial, hello, once, fresh, opened, changed, unanswered, lost, notice, step, waits }) {
    this.#sources = sources;
    this.#fresh = fresh;
    this.#changed = changed;
    this.link = new HubLink({
      dial,
      hello,
      once,
      handler: {
        opened: () => opened(this.#opened()),
        changed,
        unanswered: () => unanswered?.(),
        lost: (code) => lost?.(code),
        request: (request) => void this.#calls.answer(request),
        notice: (method, params) => {
          if (!this.#calls.notice(method, params)) notice?.(method, params);
        },
      },
    });
    // What goes on elsewhere the hub itself must know, and frames have no lasting name there.
    const keeps = once === undefined && window === window.top;
    this.#calls = new Calls(this.link, (kind, key) => this.#ownerOf(kind, key), step, { waits, keeps });
  }

  /** As of Calls. @param {string} token */
  resume(token) {
    return this.#calls.resume(token);
  }

  /** Connects, and offers what there is. */
  start() {
    const back = this.#retired;
    this.#retired = false;
    if (back && this.link.state === "open") void this.#opened();
    else this.link.start();
  }

  /**
   * Leaves the page to another path: nothing more is offered here, what runs is
   * answered, and then the hub is told that this tab is closed.
   */
  async retire() {
    this.#retired = true;
    if (this.link.state === "open") {
      // After the answers no call can come any more.
      const withdrawn = KIND_NAMES.filter((kind) => this.#sent[kind] !== "[]").map((kind) => {
        this.#sent[kind] = "[]";
        return this.link.request(KINDS[kind].update, { [KINDS[kind].member]: [] });
      });
      await Promise.allSettled(withdrawn);
    }
    await this.#calls.idle();
    if (!this.#retired) return;
    this.link.notify("browser/tabClosed", {});
    this.link.stop();
  }

  #opened() {
    if (this.#retired) return Promise.resolve();
    // The hub may have lost what it had, or have more of an earlier document of this tab.
    for (const kind of KIND_NAMES) this.#sent[kind] = this.#fresh() ? "[]" : "";
    clearTimeout(this.#timer);
    return this.#register();
  }

  /** Registers the first change at once and what follows when it has been quiet. */
  changed() {
    clearTimeout(this.#timer);
    const first = performance.now() - this.#lastChange > REGISTER_QUIET_MS;
    this.#lastChange = performance.now();
    // Even the first waits for the page's running script: what it registers in one
    // go is one list.
    this.#timer = setTimeout(() => void this.#register(), first ? 0 : REGISTER_QUIET_MS);
  }

  /** Brings the hub's lists up to date, one run at a time: an old list never follows a new one. */
  #register() {
    this.#dirty = true;
    this.#running ??= this.#bring();
    return this.#running;
  }

  async #bring() {
    /** @type {Promise<void>[]} */
    let told = [];
    while (this.#dirty) {
      this.#dirty = false;
      const offers = await Promise.all(this.#sources.map((source) => this.#offerOf(source)));
      told = KIND_NAMES.map((kind) => this.#send(kind, this.#collect(kind, offers)));
    }
    this.#running = undefined;
    await Promise.all(told);
  }

  /**
   * @param {Kind} kind
   * @param {Awaited<ReturnType<Source["offer"]>>[]} offers of the sources
   * @returns {JSONObject[]}
   */
  #collect(kind, offers) {
    /** @type {Map<string, ItemSource>} */
    const owners = new Map();
    const items = [];
    for (const [i, offer] of offers.entries()) {
      for (const item of /** @type {JSONObject[]} */ (offer[KINDS[kind].member])) {
        const key = KINDS[kind].key(item);
        if (typeof key !== "string" || owners.has(key)) continue;
        const source = /** @type {ItemSource} */ (this.#sources[i]);
        owners.set(key, source);
        items.push(item);
      }
    }
    this.owners[kind] = owners;
    const max = this.link.hub.limits?.maxTools ?? 1024;
    if (items.length > max) console.warn(`tabhub: only the first ${max} of ${items.length} ${kind}s are offered`);
    return items.slice(0, max);
  }

  /**
   * What a source has. One that fails has what it had, and is asked again.
   * @param {Source} source
   */
  async #offerOf(source) {
    try {
      const offer = await source.offer();
      this.#read.set(source, offer);
      return offer;
    } catch (error) {
      console.warn(`tabhub: what the page offers cannot be read: ${Values.errorText(error)}`);
      setTimeout(() => this.changed(), READ_AGAIN_MS);
      return this.#read.get(source) ?? { tools: [], resources: [], prompts: [] };
    }
  }

  /** @param {Kind} kind @param {JSONObject[]} items */
  async #send(kind, items) {
    const list = JSON.stringify(items);
    if (this.link.state === "open" && !this.#retired && list !== this.#sent[kind]) {
      const { register, update, member } = KINDS[kind];
      const method = this.#sent[kind] === "[]" ? register : update;
      this.#sent[kind] = list;
      try {
        const answer = await this.link.request(method, { [member]: items, tabUrl: pageURL(), title: pageTitle() });
        this.rejected[kind] = Array.isArray(answer.rejected) ? answer.rejected : [];
        Values.warn(kind, answer);
      } catch (error) {
        // A lost connection registers everything again when it is back.
        if (this.link.state === "open") console.warn(`tabhub: the ${kind}s are not offered: ${Values.errorText(error)}`);
      }
    }
    this.#changed();
  }

  /** @param {Kind} kind @param {string} name */
  #ownerOf(kind, name) {
    const owner = this.owners[kind].get(name);
    if (owner || kind !== "resource") return owner;
    for (const [template, source] of this.owners.resource) {
      if (template.includes("{") && templatePattern(template).test(name)) return source;
    }
    return undefined;
  }
}

/** @type {Kind[]} */
const KIND_NAMES = ["tool", "resource", "prompt"];
