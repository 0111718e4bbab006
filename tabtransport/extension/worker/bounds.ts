// Where a run begins, and how far it may reach: in the pages of its pack or, of a client's own, in those of one
// site.

import { awake, isErrorPage } from "./control.ts";
import { look } from "./navigations.ts";
import { packOf, type Packs } from "./packs.ts";
import { permits } from "./settings.ts";
import { pageOf } from "./tab.ts";
import { matchesAny } from "../patterns.ts";
import type { PackRef, Params, Run } from "./run.ts";
import type { Tabs } from "./tabs.ts";

/** How long a run waits for a document that is just being loaded, in ms. */
const LOADING = 5_000;

export class Bounds {
  #tabs;
  #packs;
  #settings;

  constructor(tabs: Tabs, packs: Packs, settings: () => Settings) {
    this.#tabs = tabs;
    this.#packs = packs;
    this.#settings = settings;
  }

  /** Resolves once it is known how far a run may reach. */
  async current({ pack }: Params) {
    if (pack) await this.#packs.current;
  }

  /** The document that a run begins in, or why there is none. */
  async begin(tabId: number, params: Params) {
    const place = await (params.pack ? this.#offering(tabId, params, params.pack) : this.#showing(tabId, params));
    return typeof place !== "string" && place.origin !== params.origin ? "the tab shows another site by now" : place;
  }

  /** The document that offers a pack's tool. */
  async #offering(tabId: number, { toolName, frameId, origin }: Params, pack: PackRef) {
    const offers = ({ tools }: Offer) => tools.some((tool) => tool.name === toolName && packOf(tool)?.hash === pack.hash);
    const route = await this.#tabs.route(tabId, { frameId, origin }, offers, LOADING);
    if (!route) return `the tab does not show a page of the pack ${pack.name}, or not in that frame`;
    const { documentId, origin: at, id } = route.frame;
    return { documentId, origin: at, frameId: id };
  }

  /** The document that a frame shows. */
  async #showing(tabId: number, { frameId = 0, origin }: Params) {
    if (!permits(this.#settings(), origin)) return "the user does not share this site";
    await awake(tabId).catch(() => {}); // it is closed, which shows next
    const there = await look(tabId, frameId);
    if (!there && (await isErrorPage(tabId))) return "the browser shows an error in place of the page, which could not be loaded: reload it, or go to another one";
    return there ? { documentId: there.documentId, origin: there.origin, frameId, url: pageOf(this.#settings(), there).url } : "the tab, or the frame in it, is not there or does not answer";
  }

  /** Why a run may not go on, "" if it may. */
  refusal({ pack }: Params) {
    return pack ? this.#packs.refusal(pack) : "";
  }

  /** What a document learns of it. */
  reach({ params: { pack, reach = [] }, origin }: Run) {
    return pack ? { match: this.#packs.find(pack)?.match ?? [] } : { match: [], origins: [origin, ...reach] };
  }

  /** Whether a run may go on in a page. An empty document has the origin of the one that made it. */
  reaches({ params: { pack }, origin }: Run, url: string) {
    if (/^about:(blank|srcdoc)/.test(url)) return !pack;
    return URL.canParse(url) && new URL(url).origin === origin && (!pack || matchesAny(this.#packs.find(pack)?.match ?? [], url));
  }

  /** Says of an address, as far as the user shares it, that a run does not reach it. */
  outside({ params: { pack } }: Run, url: string) {
    const address = pageOf(this.#settings(), { url }).url?.slice(0, 200) || "a page that is not shared";
    return `${address}, ${pack ? "where the pack does not reach" : "which is not on this site"}`;
  }
}
