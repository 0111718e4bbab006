// One frame: what its document offers, and what documents before it have.

import { packOf } from "./packs.ts";

export const KINDS: ["tools", "resources", "prompts"] = ["tools", "resources", "prompts"];

const NOTHING: Offer = { tools: [], resources: [], prompts: [], rejected: [] };

/**
 * A document with its content script, or a server in a child frame that is reached
 * through the document around it.
 */
export class Frame {
  #port: chrome.runtime.Port | undefined;
  documentId = "";
  /** As the browser gives it. */
  origin = "";
  /** The document's address. */
  url = "";
  /** The origin that the tab showed then. */
  site = "";
  /** The dialog that its page has open. */
  dialog: Dialog | undefined;
  /** Whether its document does not answer. */
  silent = false;
  /** What its document offers, and the tools that packs give it. */
  offer = NOTHING;
  /** The number of the offer, by the document's own count; 0: it has made none yet. */
  count = 0;
  /** The number of the offer that the hub has. */
  registered = 0;
  /** What documents before this one have offered, and it has not yet. */
  past = NOTHING;
  /** Since when there is something in the past, as Date.now() has it. */
  since = 0;
  /** Ends the past. */
  timer: ReturnType<typeof setTimeout> | undefined;

  id;
  through;

  /**
   * @param through for a server: the document around it, and what
   * that one calls it
   */
  constructor(id: number, through?: { frame: Frame; key: number }) {
    this.id = id;
    this.through = through;
  }

  get port(): chrome.runtime.Port | undefined {
    return this.through ? this.through.frame.port : this.#port;
  }

  set port(port) {
    this.#port = port;
    this.dialog = undefined;
    this.silent = false;
  }

  /** Takes what the document offers now: no page says that a tool is a pack's. */
  take(offer: Offer, count: number) {
    const own = offer.tools.map((tool) => ({ ...tool, pack: undefined }));
    this.offer = { ...offer, tools: [...own, ...this.#packed(this.offer)] };
    this.count = count;
    this.past = lacking(this.past, this.offer);
  }

  /**
   * Takes the tools that packs give the document.
   * @param stay whether such a tool of a document before it may still come back
   * @returns whether they are others
   */
  takePacked(tools: Item[], stay: (tool: Item) => boolean) {
    const before = JSON.stringify([this.#packed(this.offer), this.#packed(this.past)]);
    const without = (offer: Offer, left: Item[]): Offer => ({ ...offer, tools: [...offer.tools.filter((tool) => !packOf(tool)), ...left] });
    this.offer = without(this.offer, tools);
    this.past = without(this.past, this.#packed(lacking(this.past, this.offer)).filter(stay));
    return before !== JSON.stringify([this.#packed(this.offer), this.#packed(this.past)]);
  }

  #packed({ tools }: Offer) {
    return tools.filter((tool) => packOf(tool));
  }

  /** The document has gone. */
  unload() {
    const { offer, past } = this;
    if (isEmpty(past)) this.since = Date.now();
    this.past = perKind((kind) => [...offer[kind], ...lacking(past, offer)[kind]]);
    this.offer = NOTHING;
    this.count = this.registered = 0;
  }

  /** What its unloaded documents have offered will not come back. */
  settle() {
    clearTimeout(this.timer);
    this.past = NOTHING;
  }

  /** Says that nothing of the frame counts. */
  clear() {
    this.settle();
    this.offer = NOTHING;
  }

  /** Whether there is nothing that the frame offers, or has offered. */
  get empty() {
    return isEmpty(this.offer) && isEmpty(this.past);
  }

  /** Whether an unloaded document has offered something. */
  get waits() {
    return !isEmpty(this.past);
  }

  /** Whether it has a document that has not made an offer yet. */
  get awaited() {
    return !!this.port && this.count === 0;
  }
}

function isEmpty({ tools, resources, prompts }: Offer) {
  return tools.length + resources.length + prompts.length === 0;
}

/** What is left of an offer without that of another. */
function lacking(offer: Offer, other: Offer): Offer {
  if (isEmpty(offer)) return NOTHING;
  return perKind((kind) => {
    const keyOf = (item: Item) => `${packOf(item)?.name ?? ""} ${nameOf(item)}`;
    const names = new Set(other[kind].map(keyOf));
    return offer[kind].filter((item) => !names.has(keyOf(item)));
  });
}

function perKind(items: (kind: typeof KINDS[number]) => Item[]): Offer {
  return { tools: items("tools"), resources: items("resources"), prompts: items("prompts"), rejected: [] };
}

export function nameOf(item: Item) {
  return String(item.uri ?? item.uriTemplate ?? item.name);
}
