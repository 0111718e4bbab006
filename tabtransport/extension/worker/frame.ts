// One frame: what its document offers, and what documents before it have.

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
  /** The origin that the tab showed then. */
  site = "";
  /** The dialog that its page has open. */
  dialog: Dialog | undefined;
  /** Whether its document does not answer. */
  silent = false;
  /** What its document offers. */
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

  /** Takes what the document offers now. */
  take(offer: Offer, count: number) {
    this.offer = offer;
    this.count = count;
    this.past = lacking(this.past, offer);
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
    const names = new Set(other[kind].map(nameOf));
    return offer[kind].filter((item) => !names.has(nameOf(item)));
  });
}

function perKind(items: (kind: typeof KINDS[number]) => Item[]): Offer {
  return { tools: items("tools"), resources: items("resources"), prompts: items("prompts"), rejected: [] };
}

export function nameOf(item: Item) {
  return String(item.uri ?? item.uriTemplate ?? item.name);
}
