// One path from the page to the hub: a connection, what its sources offer, registered
// as one list of each kind, and the calls that come over it.

import { Calls } from "./calls.ts";
import { HubLink } from "./link.ts";
import { templatePattern } from "./api.ts";
import { pageTitle, pageURL } from "./tabstate.ts";
import { Values } from "../../../tabtransport/pagejs/values.ts";

const REGISTER_QUIET_MS = 500;
const READ_AGAIN_MS = 2_000;

const KINDS: {[kind in Kind]: { register: string; update: string; member: "tools" | "resources" | "prompts"; key: (item: JSONObject) => string }} = {
  tool: { register: "browser/registerTools", update: "browser/updateTools", member: "tools", key: (item) => item.name },
  resource: {
    register: "browser/registerResources",
    update: "browser/updateResources",
    member: "resources",
    key: (item) => item.uri ?? item.uriTemplate,
  },
  prompt: { register: "browser/registerPrompts", update: "browser/updatePrompts", member: "prompts", key: (item) => item.name },
};

export class Connection {
  /** Which source has an item, by kind and key. */
  owners: {[kind in Kind]: Map<string, ItemSource>} = { tool: new Map(), resource: new Map(), prompt: new Map() };
  rejected: {[kind in Kind]: { name: string; reason: string }[]} = { tool: [], resource: [], prompt: [] };
  link;

  /** In the order of precedence: an item that two of them have is the first one's. */
  #sources;
  #calls;
  #fresh;
  #changed;
  /** Whether another connection serves the page. */
  #retired = false;
  /** The list that the hub has, as JSON text. */
  #sent: {[kind in Kind]: string} = { tool: "[]", resource: "[]", prompt: "[]" };
  /** What each source had when it was read last. */
  #read = new Map<Source, Awaited<ReturnType<Source["offer"]>>>();
  #lastChange = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  /** Whether what is offered may differ from what was collected last. */
  #dirty = false;

  constructor({ sources, dial, hello, once, fresh, opened, changed, unanswered, lost, notice, step, waits }: {
    sources: Source[];
    dial: () => LinkSocket;
    hello: () => JSONObject;
    once?: number; // as in HubLink
    fresh: () => boolean; // whether the hub cannot have lists of this tab yet
    opened: (registered: Promise<unknown>) => void; // registered is settled when the hub has all lists
    changed: () => void;
    unanswered?: () => void; // as of HubLink's handler
    lost?: (code: number) => void;
    notice?: (method: string, params: JSONObject) => void; // any that is not of a call
    step: (step: CallStep) => void;
    waits?: (waiting: boolean) => void; // as in Calls
  }) {
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

  /** As of Calls. */
  resume(token: string) {
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
   * answered, and then the hub learns that this tab is closed.
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
    let told: Promise<void>[] = [];
    while (this.#dirty) {
      this.#dirty = false;
      const offers = await Promise.all(this.#sources.map((source) => this.#offerOf(source)));
      told = KIND_NAMES.map((kind) => this.#send(kind, this.#collect(kind, offers)));
    }
    this.#running = undefined;
    await Promise.all(told);
  }

  /** @param offers of the sources */
  #collect(kind: Kind, offers: Awaited<ReturnType<Source["offer"]>>[]): JSONObject[] {
    const owners = new Map<string, ItemSource>();
    const items = [];
    for (const [i, offer] of offers.entries()) {
      for (const item of offer[KINDS[kind].member] as JSONObject[]) {
        const key = KINDS[kind].key(item);
        if (typeof key !== "string" || owners.has(key)) continue;
        const source = this.#sources[i] as ItemSource;
        owners.set(key, source);
        items.push(item);
      }
    }
    this.owners[kind] = owners;
    const max = this.link.hub.limits?.maxTools ?? 1024;
    if (items.length > max) console.warn(`tabhub: only the first ${max} of ${items.length} ${kind}s are offered`);
    return items.slice(0, max);
  }

  /** What a source has. One that fails has what it had, and is asked again. */
  async #offerOf(source: Source) {
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

  async #send(kind: Kind, items: JSONObject[]) {
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

  #ownerOf(kind: Kind, name: string) {
    const owner = this.owners[kind].get(name);
    if (owner || kind !== "resource") return owner;
    for (const [template, source] of this.owners.resource) {
      if (template.includes("{") && templatePattern(template).test(name)) return source;
    }
    return undefined;
  }
}

export const KIND_NAMES: Kind[] = ["tool", "resource", "prompt"];
