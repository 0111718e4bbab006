// The document that follows one under a call: what it says is the call's result, as in the
// browser, and the answer tells the hub where that is.

import { askDocuments } from "./documents.ts";
import { permits } from "./settings.ts";
import { unlessStopping } from "./stopping.ts";
import { pageOf } from "./tab.ts";

import type { Tabs } from "./tabs.ts";

/** How long the next document may take to be there, with its tools, in ms. */
const TIMEOUT = 10_000;
/** How long nothing loads in a tab that stays where it is, in ms: a download, or an answer without content. */
const STAYS = 300;
/** How long after its load a document that has given no sign is taken to have no tools, in ms. */
const SETTLED = 500;
/** Between two looks, in ms. */
const LOOK = 50;
/** How many characters a document may say. */
const MAX_DATA = 30 << 20;
/** How many of its title and of its address are read. */
const MAX_PAGE = 8192;
/** How long a document may be too busy to say anything, in ms. */
const BUSY = 2_000;

/** The next document of a frame. */
export interface Navigation {
  page: { url?: string; title?: string; error?: string }; // empty if the user does not share it; error says why the browser could not show it
  data: string; // the JSON of what it says: an array; "" for nothing
  read: boolean; // whether it could be looked at, as error pages cannot
}

export class Navigations {
  #tabs;
  #settings;

  constructor(tabs: Tabs, settings: () => Settings) {
    this.#tabs = tabs;
    this.#settings = settings;
  }

  /** What follows if the browser could not show it. */
  failed({ url, error }: { url: string; error: string }): Navigation {
    return { page: { ...pageOf(this.#settings(), { url }), error: error.replace(/^net::/, "").slice(0, 128) }, data: "", read: false };
  }

  /** Where a call is. */
  async here({ tabId, frameId }: { tabId: number; frameId: number }): Promise<Navigation["page"]> {
    const there = await look(tabId, frameId);
    return there && permits(this.#settings(), there.origin) ? pageOf(this.#settings(), there) : {};
  }

  /**
   * Waits until the document that follows one is loaded and the hub has its tools.
   * @param left the one before
   * @returns undefined if none follows
   */
  async after({ tabId, frameId, documentId, origin }: { tabId: number; frameId: number; documentId: string; origin: string }, wanted: () => boolean): Promise<Navigation | undefined> {
    const until = Date.now() + TIMEOUT;
    let quiet = 0; // since when nothing loads, or the document is complete
    let last;
    let data = "";
    for (; wanted() && Date.now() < until; await new Promise((done) => setTimeout(done, LOOK))) {
      const there = await look(tabId, frameId);
      // What the document had begun when it was looked at the browser knows by now.
      const tab = await unlessStopping(chrome.tabs.get(tabId), () => undefined);
      if (!tab) return undefined;
      if (there && there.documentId !== documentId) {
        if (last?.documentId !== there.documentId) quiet = 0;
        last = there;
        if (!permits(this.#settings(), there.origin)) break;
        if (!there.parsed) continue;
        if (there.origin === origin) data ||= await said(tabId, there.documentId);
        const told = this.#tabs.told(tabId, there.documentId);
        if (there.complete) quiet ||= Date.now();
        if (told || (told === undefined && quiet && Date.now() - quiet > SETTLED)) break;
      } else if (!last) {
        quiet = tab.status === "loading" ? 0 : quiet || Date.now();
        if (!quiet || Date.now() - quiet < STAYS) continue;
        return there || frameId ? undefined : { page: pageOf(this.#settings(), tab), data: "", read: false };
      }
    }
    return last && { page: permits(this.#settings(), last.origin) ? pageOf(this.#settings(), last) : {}, data, read: true };
  }
}

/** What the document in a frame is; undefined if there is none that may be looked at. */
export async function look(tabId: number, frameId: number) {
  const target = { tabId, frameIds: [frameId] };
  const func = (max: number) => ({
    origin: self.origin,
    url: location.href.slice(0, max),
    title: typeof document.title === "string" ? document.title.slice(0, max) : "", // an element may have the name
    parsed: document.readyState !== "loading",
    complete: document.readyState === "complete",
  });
  const [there] = await askDocuments({ target, func, args: [MAX_PAGE] }, BUSY);
  return there?.result && { documentId: there.documentId, ...there.result };
}

/**
 * What a document says to the caller of a tool that led there, as Chromium takes it: all
 * its JSON-LD, in an array.
 * @returns "" for nothing
 */
async function said(tabId: number, documentId: string): Promise<string> {
  const target = { tabId, documentIds: [documentId] };
  const func = (max: number) => {
    const texts = [...document.scripts].filter(({ type }) => type === "application/ld+json").map(({ text }) => text);
    return texts.join("").length <= max ? texts : [];
  };
  const [answer] = await askDocuments({ target, func, args: [MAX_DATA] }, BUSY);
  const texts = answer?.result ?? [];
  const data = texts.flatMap((text) => {
    try {
      return [JSON.stringify(JSON.parse(text.replace(COMMENT, "$1")))];
    } catch {
      return []; // as in the browser, the others count
    }
  });
  const json = data.length ? `[${data.join()}]` : "";
  return json.length <= MAX_DATA ? json : "";
}

/**
 * A comment, which the browser permits there, or a string, in which there is none. What has no end
 * goes to the text's: each character is read once, whatever a page makes of it.
 */
const COMMENT = /("(?:[^"\\]+|\\[^]?)*(?:"|$))|\/\*[^]*?(?:\*\/|$)|\/\/.*/g;
