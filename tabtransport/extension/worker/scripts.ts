// The scripts of packs: the browser runs those that the person in front of it has allowed on their pages
// (chrome.userScripts), each pack's in a world of its own. What is allowed is a pack's hash, and only the document with
// that hash says what runs, and where. A script is known by a secret in its world (content/userscript.ts).

import { Shape } from "../content/shape.ts";
import { overlap } from "../patterns.ts";
import { sharedPages } from "./inject.ts";
import { Stored } from "./stored.ts";
import type { Hub } from "./hub.ts";
import type { Packs } from "./packs.ts";

type PackRef = import("../../../spec/schema/tabhub.v1").PackRef;

/** How long a restarted worker waits for the documents that had scripts, in ms. */
const RETURN = 10_000;
/** How many packs have worlds of their own in a document: the browser runs further ones together. */
const MAX_WORLDS = 9;

const SWITCH: ScriptProblem = { kind: "switch", words: "The browser does not let this extension run user scripts yet" };

/** What is registered for a pack, by its hash. */
interface Registered {
  secret: string;
  match: string[]; // of its document
}

/** Where a document is. */
interface At {
  tabId: number;
  frameId: number;
  documentId: string;
}

/** What a pack's script has in a document. */
interface Running {
  ref: PackRef;
  at: At;
  tools: Item[];
  /** Undefined until the document is back after the worker was restarted. */
  port?: chrome.runtime.Port;
}

export class Scripts {
  #registered: Record<string, Registered> = {};
  #problems = new Map<string, ScriptProblem>();
  #running: Running[] = [];
  #stored = new Stored<Running[]>("scripts", () => this.#running.map(({ port: _, ...running }) => running));
  /** The latest change of what is registered: the next one waits for it. */
  #changing: Promise<unknown> = Promise.resolve();
  /** The next one, until it begins. */
  #next: Promise<unknown> | undefined;
  #hub;
  #packs;
  #settings;
  #changed;

  /** @param changed called when the tools of a document may be others */
  constructor(hub: Hub, packs: Packs, settings: () => Settings, changed: (at: At) => void) {
    this.#hub = hub;
    this.#packs = packs;
    this.#settings = settings;
    this.#changed = changed;
  }

  async load() {
    const { scripts } = await chrome.storage.local.get("scripts");
    if (scripts) this.#registered = scripts as Record<string, Registered>;
    const before = (await this.#stored.load()) ?? [];
    if (!before.length) return;
    this.#running = before;
    setTimeout(() => this.#without((running) => before.includes(running) && !running.port), RETURN);
  }

  // ---- What the browser runs

  /** Makes the browser run what the person has allowed, and nothing else. No event says that Chrome's switch was used. */
  sync() {
    if (this.#next) return this.#next; // however often a script asks for it
    const place = async () => {
      this.#next = undefined;
      const problems = new Map<string, ScriptProblem>();
      await this.#place(problems);
      this.#problems = problems;
    };
    this.#next = this.#changing = this.#changing.then(place).catch((error) => console.error("scripts of packs:", error));
    return this.#changing;
  }

  async #place(problems: Map<string, ScriptProblem>) {
    const allowed = this.#packs.scripts;
    if (!allowed.length && !Object.keys(this.#registered).length) return;
    // Where it is switched off the browser runs none, and keeps what is registered.
    const there = await chrome.userScripts?.getScripts().catch(() => undefined);
    if (!there) {
      for (const { hash } of allowed) problems.set(hash, SWITCH);
      return this.#endOthers();
    }
    const wanted: { ref: PackRef; match: string[] }[] = [];
    for (const { name, hash, ...said } of allowed) {
      const { match } = this.#registered[hash] ?? said;
      const beside = wanted.filter((other) => overlap(match, other.match));
      if (beside.length < MAX_WORLDS) wanted.push({ ref: { name, hash }, match });
      else problems.set(hash, { kind: "other", words: `It does not run: the browser keeps at most ${MAX_WORLDS} scripts in a page apart. Switch off one of ${beside.map(({ ref }) => ref.name).join(", ")}` });
    }
    const gone = there.map(({ id }) => id).filter((id) => !wanted.some(({ ref }) => ref.hash === id));
    if (gone.length) await chrome.userScripts.unregister({ ids: gone });
    for (const id of gone) await chrome.userScripts.resetWorldConfiguration?.(id);
    await this.#keep(wanted.map(({ ref }) => ref.hash));
    for (const { ref } of wanted) {
      const words = await this.#register(ref, there.find(({ id }) => id === ref.hash)).catch((error) => `It does not run: ${error instanceof Error ? error.message : error}`);
      if (words) problems.set(ref.hash, { kind: "other", words });
    }
  }

  /** @returns why it does not run */
  async #register(ref: PackRef, before: chrome.userScripts.RegisteredUserScript | undefined) {
    const { hash } = ref;
    let known = this.#registered[hash];
    let script: string | undefined;
    if (!known || !before) {
      if (!this.#hub.connected) return "It runs when the hub is connected again";
      const { document } = await this.#hub.request("browser/packScript", { pack: ref });
      if ((await sha256(document)) !== hash) throw new Error("the hub has sent another document than the one that was allowed");
      const pack = JSON.parse(document) as { match: string[]; script: string };
      const said = this.#packs.find(ref)?.match ?? [];
      if (JSON.stringify(pack.match) !== JSON.stringify(said)) throw new Error("the hub has said other pages than the document has");
      script = pack.script;
      known = { secret: crypto.randomUUID(), match: pack.match };
    }
    const pages = sharedPages(this.#settings(), known.match);
    if (!pages.matches.length) {
      if (before) await chrome.userScripts.unregister({ ids: [hash] });
      return "";
    }
    if (script === undefined) {
      if (differs(before as chrome.userScripts.RegisteredUserScript, pages)) await chrome.userScripts.update([{ id: hash, ...pages }]);
      return "";
    }
    if (before) await chrome.userScripts.unregister({ ids: [hash] });
    this.#registered[hash] = known;
    await this.#keep(Object.keys(this.#registered));
    await chrome.userScripts.configureWorld({ worldId: hash, messaging: true });
    // The browser runs a file once in a document, even if that is to be in several worlds.
    const prefix = await (await fetch(chrome.runtime.getURL("content/userscript.js"))).text();
    const js = [{ code: `globalThis.tabhubScript = { secret: ${JSON.stringify(known.secret)} };\n${prefix}` }, { code: script }];
    await chrome.userScripts.register([{ id: hash, ...pages, js, world: "USER_SCRIPT", worldId: hash, runAt: "document_idle", allFrames: true }]);
    return "";
  }

  /** Forgets the other packs, also what runs of them. */
  async #keep(hashes: string[]) {
    this.#registered = Object.fromEntries(Object.entries(this.#registered).filter(([hash]) => hashes.includes(hash)));
    const has = Object.keys(this.#registered).length > 0;
    await (has ? chrome.storage.local.set({ scripts: this.#registered }) : chrome.storage.local.remove("scripts"));
    this.#endOthers();
  }

  /** Ends what runs of packs that are not allowed, as far as it can be ended. */
  #endOthers() {
    for (const { ref, port } of this.#running) if (port && !this.#packs.find(ref)) end(port);
    this.#without(({ ref }) => !this.#packs.find(ref));
  }

  /** Which of the scripts that are allowed do not run, and why. */
  get off() {
    return this.#packs.scripts.flatMap(({ name, hash }) => {
      const { kind, words } = this.problem(hash) ?? {};
      return words ? [{ name, hash, why: kind === "switch" ? `${words}; the extension’s popup shows how` : words }] : [];
    });
  }

  /** Why a script that is allowed does not run. */
  problem(hash: string) {
    return this.#problems.get(hash);
  }

  // ---- What runs

  /**
   * A script in a document has opened its port.
   * @returns the pack that it is of; undefined if it is none that counts
   */
  connected(port: chrome.runtime.Port): PackRef | undefined {
    const [hash] = Object.entries(this.#registered).find(([, { secret }]) => secret === port.name) ?? [];
    const pack = this.#packs.scripts.find((pack) => pack.hash === hash);
    const { tab, frameId, documentId } = port.sender ?? {};
    if (!pack || tab?.id === undefined || frameId === undefined || documentId === undefined) {
      end(port);
      void this.sync(); // it was registered while it could not be removed
      return undefined;
    }
    const ref = { name: pack.name, hash: pack.hash };
    const at = { tabId: tab.id, frameId, documentId };
    const before = this.#running.find((other) => other.ref.hash === hash && other.at.documentId === documentId);
    if (before) Object.assign(before, { port, at });
    else this.#running.push({ ref, port, at, tools: [] });
    return ref;
  }

  /** A script has other tools. */
  offered(port: chrome.runtime.Port, tools: unknown) {
    const running = this.#running.find((running) => running.port === port);
    if (!running) return;
    running.tools = Shape.tools(tools).items;
    this.#stored.save();
    this.#changed(running.at);
  }

  disconnected(port: chrome.runtime.Port) {
    this.#without((running) => running.port === port);
  }

  #without(gone: (running: Running) => boolean) {
    const left = this.#running.filter(gone);
    this.#running = this.#running.filter((running) => !left.includes(running));
    if (left.length) this.#stored.save();
    for (const { at } of left) this.#changed(at);
  }

  /** The tools that scripts have registered in a document. */
  tools(document: string): Item[] {
    const here = this.#running.filter(({ ref, at }) => at.documentId === document && this.#packs.find(ref));
    return here.flatMap(({ ref, tools }) => tools.map((tool) => ({ ...tool, pack: ref })));
  }
}

/** Tells a script that nothing of it counts. */
function end(port: chrome.runtime.Port) {
  const over: WorkerToScript = { type: "over" };
  try {
    port.postMessage(over);
  } catch {
    // Its document has just gone.
  }
}

async function sha256(text: string) {
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(sum)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function differs({ matches, excludeMatches }: chrome.userScripts.RegisteredUserScript, pages: { matches: string[]; excludeMatches: string[] }) {
  const places = (a: string[] = [], b: string[] = []) => JSON.stringify([[...a].sort(), [...b].sort()]);
  return places(matches, excludeMatches) !== places(pages.matches, pages.excludeMatches);
}
