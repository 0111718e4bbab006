// The packs that the hub's owner has added: they give tools to pages of sites that offer none. The hub
// says which there are, and is the one that knows what their tools do; which pages have them, and how far
// their steps reach, is decided here.

import { hostOf, matchesAny } from "../patterns.ts";

type ActivePack = import("../../../spec/schema/tabhub.v1").ActivePack;
type PackRef = import("../../../spec/schema/tabhub.v1").PackRef;

/** How long a hub may take after hello to say which packs there are, in ms. */
const SOON = 10_000;

interface Kept {
  pairing: string; // that of the hub whose packs they are
  packs: ActivePack[];
  choices: Record<string, boolean>; // what the person in front of this browser has chosen, by the packs' hashes
}

const NONE: Kept = { pairing: "", packs: [], choices: {} };

export class Packs {
  #kept = NONE;
  /** Settled when the hub of this connection has said which packs there are. */
  #current = Promise.resolve();
  #settle = () => {};
  #isLocal;
  #changed;

  /**
   * @param isLocal whether the hub is on this computer
   * @param changed called when other tools may be offered
   */
  constructor(isLocal: () => boolean, changed: () => void) {
    this.#isLocal = isLocal;
    this.#changed = changed;
  }

  async load() {
    const { packs } = await chrome.storage.local.get("packs");
    if (packs) this.#kept = packs as Kept;
  }

  /** A hub has said hello. It says next which packs there are. */
  opened(pairing: string) {
    if (this.#kept.pairing !== pairing) this.drop();
    this.#current = new Promise((settle) => (this.#settle = settle));
  }

  /** Takes what the hub says. */
  take(pairing: string, packs: ActivePack[]) {
    const stays = (hash: string) => packs.some((pack) => pack.hash === hash && this.#kept.packs.some((before) => isSame(before, pack)));
    const choices = Object.fromEntries(Object.entries(this.#kept.choices).filter(([hash]) => stays(hash)));
    this.#keep(packs.length ? { pairing, packs, choices } : NONE);
    this.#settle();
  }

  /** The hub is not this browser's any more. */
  drop() {
    this.#keep(NONE);
  }

  /** The person in front of this browser lets it offer a pack, or not. */
  choose(hash: string, on: boolean) {
    this.#keep({ ...this.#kept, choices: { ...this.#kept.choices, [hash]: on } });
  }

  #keep(kept: Kept) {
    if (JSON.stringify(kept) === JSON.stringify(this.#kept)) return;
    this.#kept = kept;
    void (kept === NONE ? chrome.storage.local.remove("packs") : chrome.storage.local.set({ packs: kept }));
    this.#changed();
  }

  /** Resolves once what is known of packs is what the hub that is connected has said, or when it is late. */
  get current(): Promise<unknown> {
    return Promise.race([this.#current, new Promise((late) => setTimeout(late, SOON))]);
  }

  /**
   * Whether this browser offers a pack. A hub elsewhere, or a script that can do anything in its pages,
   * needs the word of the person in front of it.
   */
  #isOn({ hash, script }: ActivePack) {
    return this.#kept.choices[hash] ?? (!script && this.#isLocal());
  }

  get #on() {
    return this.#kept.packs.filter((pack) => this.#isOn(pack));
  }

  /** The packs that this browser does not offer, and why. */
  get off() {
    const off = this.#kept.packs.filter((pack) => !this.#isOn(pack));
    return off.map((pack) => ({ name: pack.name, hash: pack.hash, why: this.#why(pack) }));
  }

  #why({ hash, script }: ActivePack) {
    if (this.#kept.choices[hash] === false) return "it is switched off in the extension’s popup";
    return `${script ? "it is a script" : "the hub is on another computer"}: on one of its pages, the extension’s popup has the switch`;
  }

  /** Whether there are some, be they on or off. */
  get any() {
    return this.#kept.packs.length > 0;
  }

  /** The patterns of the pages that have tools of steps. */
  get match() {
    return [...new Set(this.#on.filter(({ script }) => !script).flatMap(({ match }) => match))];
  }

  /** The scripts that the person in front of this browser has allowed. */
  get scripts() {
    return this.#on.filter(({ script }) => script);
  }

  /** A pack of exactly this version, if this browser offers it. */
  find({ name, hash }: PackRef): ActivePack | undefined {
    return this.#on.find((pack) => pack.name === name && pack.hash === hash);
  }

  /** Why a version of a pack has no tools here, "" if it has. */
  refusal(ref: PackRef) {
    if (this.find(ref)) return "";
    const known = this.#kept.packs.find(({ name }) => name === ref.name);
    if (!known) return `the pack ${ref.name} has been removed`;
    return known.hash === ref.hash ? `the pack ${ref.name} is off in this browser; the extension's popup has a switch for it` : `the pack ${ref.name} has changed`;
  }

  /** The tools of the page at an address: the hub knows what they are. */
  tools(url: string): Item[] {
    const here = this.#on.filter(({ script, match }) => !script && matchesAny(match, url));
    return here.flatMap(({ name, hash, tools }) => {
      const offered = tools.filter(({ on }) => !on?.length || matchesAny(on, url));
      return offered.map((tool) => ({ name: tool.name, pack: { name, hash } }));
    });
  }

  /** What the popup shows of the packs for the page at an address. */
  views(url: string): PackView[] {
    const here = this.#kept.packs.filter(({ match }) => matchesAny(match, url));
    return here.map((pack) => {
      const { name, hash, title = "", script = false, match } = pack;
      return { name, hash, title, script, sites: [...new Set(match.map(hostOf))], on: this.#isOn(pack) };
    });
  }
}

/** Whether what the hub says of a pack is what a person has chosen by: a hub elsewhere could say other pages later. */
function isSame(a: ActivePack, b: ActivePack) {
  const shown = ({ name, hash, match, script = false }: ActivePack) => JSON.stringify([name, hash, match, script]);
  return shown(a) === shown(b);
}

/** The pack that an item is of, if it is not the page's own. */
export function packOf(item: Item): PackRef | undefined {
  return item.pack as PackRef | undefined;
}
