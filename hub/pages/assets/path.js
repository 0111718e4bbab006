// One path from the page to the hub: a connection, what its sources offer, registered
// as one list of each kind, and the calls that come over it.

const REGISTER_QUIET_MS = 500;
const READ_AGAIN_MS = 2_000;

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

class Path {
  /** Which source has an item, by kind and key. @type {{[kind in Kind]: Map<string, Source>}} */
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
  /** What each source had when it was read last. @type {Map<Source, {[kind in Kind]?: JSONObject[]}>} */
  #read = new Map();
  /** @type {{[kind in Kind]: {changed: number, timer?: ReturnType<typeof setTimeout>, running?: Promise<void>, again?: boolean}}} */
  #registering = { tool: { changed: -Infinity }, resource: { changed: -Infinity }, prompt: { changed: -Infinity } };

  /**
   * @param {object} options
   * @param {Source[]} options.sources
   * @param {() => LinkSocket} options.dial
   * @param {() => JSONObject} options.hello
   * @param {number} [options.once] as in HubLink
   * @param {() => boolean} options.fresh whether the hub cannot have lists of this tab yet
   * @param {(registered: Promise<unknown>) => void} options.opened registered is settled when the hub has all lists
   * @param {() => void} options.changed
   * @param {(code: number) => void} [options.lost]
   * @param {(method: string, params: JSONObject) => void} [options.notice] any that is not of a call
   * @param {(step: CallStep) => void} options.step
   */
  constructor({ sources, dial, hello, once, fresh, opened, changed, lost, notice, step }) {
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
        lost: (code) => lost?.(code),
        request: (request) => void this.#calls.answer(request),
        notice: (method, params) => {
          if (!this.#calls.notice(method, params)) notice?.(method, params);
        },
      },
    });
    this.#calls = new Calls(this.link, (kind, key) => this.#ownerOf(kind, key), step);
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
    return Promise.all(
      KIND_NAMES.map((kind) => {
        // The hub may have lost what it had, or have more of an earlier document of
        // this tab.
        this.#sent[kind] = this.#fresh() ? "[]" : "";
        clearTimeout(this.#registering[kind].timer);
        return this.#register(kind);
      }),
    );
  }

  /**
   * Registers the first change at once and what follows when it has been quiet.
   * @param {Kind} kind
   */
  changed(kind) {
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
  #register(kind) {
    const registering = this.#registering[kind];
    registering.again = true;
    registering.running ??= this.#bring(kind);
    return registering.running;
  }

  /** @param {Kind} kind */
  async #bring(kind) {
    const registering = this.#registering[kind];
    let told;
    while (registering.again) {
      registering.again = false;
      told = this.#send(kind, await this.#collect(kind));
    }
    registering.running = undefined;
    await told;
  }

  /** @param {Kind} kind @returns {Promise<JSONObject[]>} */
  async #collect(kind) {
    const lists = await Promise.all(this.#sources.map((source) => this.#list(source, kind)));
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
    this.owners[kind] = owners;
    const max = this.link.hub.limits?.maxTools ?? 1024;
    if (items.length > max) console.warn(`tabhub: only the first ${max} of ${items.length} ${kind}s are offered`);
    return items.slice(0, max);
  }

  /**
   * What a source has. One that does not answer, as in a page that is too busy, has what
   * it had, and is asked again.
   * @param {Source} source
   * @param {Kind} kind
   */
  async #list(source, kind) {
    try {
      const items = await source.list(kind);
      this.#read.set(source, { ...this.#read.get(source), [kind]: items });
      return items;
    } catch (error) {
      console.warn(`tabhub: a source of ${kind}s does not answer: ${messageOf(error)}`);
      setTimeout(() => this.changed(kind), READ_AGAIN_MS);
      return this.#read.get(source)?.[kind] ?? [];
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
        for (const { name, reason } of this.rejected[kind]) console.warn(`tabhub: ${kind} ${name} is not offered: ${reason}`);
      } catch (error) {
        // A lost connection registers everything again when it is back.
        if (this.link.state === "open") console.warn(`tabhub: the ${kind}s are not offered: ${messageOf(error)}`);
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
