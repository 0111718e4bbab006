// Sends the hub what tabs offer, when it differs from what the hub has.

import { KINDS, type Frame } from "./frame.ts";
import { Code, Refusal } from "./refusal.ts";
import { permits } from "./settings.ts";
import { merge, type Tab } from "./tab.ts";

import type { Hub } from "./hub.ts";

/** Changes of what a tab offers within this time, in ms, are one message. */
const GATHER = 50;
/** How many characters a tab may register in a ms: it rests for as long as its last registration took of that, */
const RATE = 1024;
/** but no longer than this, in ms. */
const MAX_REST = 30_000;
/** How many of the items that are left out the hub learns of. */
const MAX_REJECTED = 100;
/** How long after the hub has refused a registration as one too many it is sent again, in ms. */
const RETRY = 1_000;

/** The methods that tell the hub what a tab offers: first, and when it has changed. */
const METHODS = {
  tools: { register: "browser/registerTools", update: "browser/updateTools" },
  resources: { register: "browser/registerResources", update: "browser/updateResources" },
  prompts: { register: "browser/registerPrompts", update: "browser/updatePrompts" },
} as const;

type Kind = keyof typeof METHODS;

export class Registrar {
  #hub;
  #settings;
  #sent;

  /**
   * @param sent called with the number of a tab's tools after
   * the hub has them, if it is connected
   */
  constructor(hub: Hub, settings: () => Settings, sent: (tab: Tab, tools: number) => void) {
    this.#hub = hub;
    this.#settings = settings;
    this.#sent = sent;
  }

  /**
   * Sends the hub soon what a tab offers, and of a new tab at once. A tab that offers much is sent
   * more rarely, so that one which does so again and again takes no time from the calls of others.
   */
  soon(tab: Tab) {
    tab.timer ??= setTimeout(() => this.#due(tab), Math.max(tab.known ? GATHER : 0, tab.nextAt - Date.now()));
  }

  /** Sends the hub next what a tab offers, however much it was sent of the tab before. */
  next(tab: Tab) {
    clearTimeout(tab.timer);
    tab.timer = setTimeout(() => this.#due(tab));
  }

  /** Sends the hub now what it does not have of a tab, and resolves when it has all of it. */
  async now(tab: Tab) {
    if (tab.timer !== undefined) this.#due(tab);
    await tab.telling;
  }

  #due(tab: Tab) {
    clearTimeout(tab.timer);
    tab.timer = undefined;
    if (!tab.missing?.size) this.#register(tab);
  }

  /** The frames of a tab whose offers count. */
  offering(tab: Tab) {
    return tab.offering((origin) => permits(this.#settings(), origin));
  }

  #register(tab: Tab) {
    const frames = this.offering(tab);
    const merged = merge(frames);
    const { lists } = merged;
    const size = KINDS.reduce((sum, kind) => sum + lists[kind].text.length, 0);
    tab.nextAt = Date.now() + Math.min(size / RATE, MAX_REST);
    if (this.#hub.connected) this.#tell(tab, frames, merged);
    this.#sent(tab, lists.tools.count);
  }

  /** @param merged what they offer */
  #tell(tab: Tab, frames: Frame[], { lists, rejected }: ReturnType<typeof merge>) {
    const { known } = tab;
    const telling = [];
    // Of a page that the user does not share the hub is sent nothing.
    tab.unsent = tab.page(this.#settings()).url ? [...rejected, ...tab.leftOut].slice(0, MAX_REJECTED) : rejected;
    for (const kind of KINDS) {
      const text = lists[kind].text + (kind === "tools" && tab.unsent.length ? `,"rejected":${JSON.stringify(tab.unsent)}` : "");
      if (text === tab.sent[kind]) continue;
      const verb = tab.sent[kind] === "" ? "register" : "update";
      tab.sent[kind] = text;
      // Of a tab that never had anything the hub need not know.
      if (text === "[]" && verb === "register" && !known) continue;
      tab.known = true;
      tab.refused[kind] = { rejected: [], warnings: [] };
      telling.push(this.#send(tab, kind, METHODS[kind][verb], text));
    }
    const confirm = tab.confirming(frames);
    const told = Promise.all(telling).then((done) => done.includes(false) || confirm());
    if (telling.length) tab.telling = told;
  }

  /**
   * @param text the list, and what of it is left out
   * @returns whether the hub has it
   */
  async #send(tab: Tab, kind: Kind, method: (typeof METHODS)[Kind]["register" | "update"], text: string): Promise<boolean> {
    const { url, title } = tab.page(this.#settings());
    const page = JSON.stringify({ tabUrl: url, title }).slice(1);
    try {
      const answer = await this.#hub.request(method, `{"${kind}":${text}${page === "}" ? "" : ","}${page}`, tab.id);
      // Null: none.
      if (tab.sent[kind] === text) tab.refused[kind] = { rejected: answer.rejected ?? [], warnings: answer.warnings ?? [] };
      return true;
    } catch (error) {
      if (tab.sent[kind] !== text || !this.#hub.connected) return false;
      tab.refused[kind] = { rejected: [{ name: kind, reason: error instanceof Error ? error.message : String(error) }], warnings: [] };
      // Too many registrations at once: the newest state is sent a little later.
      if (!(error instanceof Refusal && error.code === Code.Limit)) return false;
      tab.sent[kind] = "";
      setTimeout(() => this.soon(tab), RETRY);
      return false;
    }
  }
}
