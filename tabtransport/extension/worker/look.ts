// What tabs show (browser/look, browser/refs): each document is asked for its own lines (content/steps/look.ts),
// all at once, and they are put together here. A document that the user does not share gets no script.

import { answers, awake, isErrorPage, opened } from "./control.ts";
import { askDocuments } from "./documents.ts";
import { Code, Refusal, elsewhere, notShared } from "./refusal.ts";
import { permitsDocument, webOrigin } from "./settings.ts";
import { Stored } from "./stored.ts";
import { unlessStopping } from "./stopping.ts";
import { isAt } from "./tab.ts";
import { decode, show, type Line } from "../looklines.ts";

type LookParams = FromHub["browser/look"]["params"];
type LookResult = FromHub["browser/look"]["result"];
type RefsResult = FromHub["browser/refs"]["result"];

/** How long the first document of a look may take, and those of frames, in ms. */
const FIRST = 10_000;
const FRAMES = 2_500;
/** How many frames of a document are asked at once, and how many of them in a look. */
const AT_ONCE = 4;
const MAX_FRAMES = 60;
/** How long all frames of a document may take to say how large they are, in ms. */
const TOGETHER = 1_000;
const MAX_DOCUMENTS = 1_000;
const MAX_TEXT = 4_000;
/** How many documents have their tags known, and how many looks are kept to be compared with. */
const MAX_TAGS = 4_000;
const MAX_LOOKS = 32;
/** How many characters of lines a look may have to be kept. */
const MAX_KEPT = 2 << 20;
const TOKENS = 4_000;
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

interface Shown {
  tabId: number;
  frameId: number;
  parentFrameId: number;
  documentId: string;
  url: string;
}

/** A document in a look. */
interface Looked {
  document: Shown;
  part: LookPart | undefined;
  /** Of a frame: where it is in its parent, if that is known. */
  index?: number;
  origin: string;
  /** Why there is no part. */
  problem: string;
}

interface Kept {
  next: number;
  tags: [tag: string, tabId: number, documentId: string][];
}

export class Looks {
  #settings;
  #next = -1;
  #tags = new Map<string, { tabId: number; documentId: string }>();
  #documents = new Map<string, string>();
  /** The lines of the last look of a viewer at a tab. */
  #before = new Map<string, Line[]>();
  #stored = new Stored<Kept>("looks", () => ({ next: this.#next, tags: [...this.#tags].map(([tag, { tabId, documentId }]) => [tag, tabId, documentId]) }));

  constructor(settings: () => Settings) {
    this.#settings = settings;
  }

  async load() {
    const before = await this.#stored.load();
    if (!before) return;
    this.#next = before.next;
    for (const [tag, tabId, documentId] of before.tags) this.#know(tag, tabId, documentId);
  }

  async look(tabId: number, { scope, depth, find, maxTokens, changes, viewer, ifOrigin }: LookParams): Promise<LookResult> {
    await awake(tabId);
    await opened(tabId);
    const all = await documentsIn(tabId);
    const at = scope ? this.#of(scope, tabId, all) : all.find(({ frameId }) => frameId === 0);
    if (!at) throw new Refusal(Code.Unsupported, "the browser does not let extensions look at this page");
    const words = find ? { find } : {};
    let root = await this.#ask(at, FIRST, undefined, { scope, ...words });
    if (!root.part) {
      if (root.problem === NOT_SHARED) throw notShared();
      await answers(tabId);
      if (!scope && (await isErrorPage(tabId))) throw new Refusal(Code.Unsupported, "the browser shows an error in place of the page: it could not be loaded; go to another one, back, or reload it");
      throw new Refusal(Code.Unsupported, `the page cannot be looked at: it ${root.problem}`);
    }
    if (root.part.stale) throw stale(root.part.stale.message, root.part.stale.near);
    let within = { tagged: root, children: new Map<number, Looked[]>() };
    if (root.part.frame !== undefined) {
      const framed = await this.#children(root, all, words, root.part.frame);
      const inner = childAt(framed, root.part.frame, 0);
      if (!inner?.part) throw inner?.problem === NOT_SHARED ? notShared() : new Refusal(Code.Unsupported, `what the frame shows cannot be looked at: it ${inner?.problem || "is empty"}`);
      root = inner;
      within = { tagged: root, children: new Map() };
    }
    if (ifOrigin && root.origin !== ifOrigin && !isAt(root.document.url, ifOrigin)) throw elsewhere();
    await this.#descend(root, all, within.children, words);
    const { frames, lines } = compose(root, within.children);
    const key = JSON.stringify([viewer, tabId, scope]);
    const before = changes && viewer ? this.#before.get(key) : undefined;
    const shown = show(lines, { depth, find, maxTokens: maxTokens || TOKENS, before, scoped: scope !== undefined });
    if (viewer && !find) this.#keep(key, lines);
    return {
      frames,
      lines: shown.lines.map(({ of, text }) => ({ ...(of && { frame: of }), text: text.slice(0, MAX_TEXT) })),
      ...(shown.left && { left: shown.left }),
      ...(shown.changes && { changes: true }),
    };
  }

  async refs(tabId: number, { refs }: FromHub["browser/refs"]["params"]): Promise<RefsResult> {
    await awake(tabId);
    const all = await documentsIn(tabId);
    const documents = new Set(refs.map((ref) => this.#tags.get(tagOf(ref))?.documentId));
    if (documents.size > 1) throw new Refusal(Code.InvalidParams, "the references are of several documents: use those of one frame at a time");
    const at = all.find(({ documentId }) => documents.has(documentId));
    if (!at) return { frameId: 0, origin: "", url: "", refs: refs.map((ref) => ({ ref, stale: this.#gone(ref, tabId) })) };
    if (!permitsDocument(this.#settings(), at)) throw notShared();
    const [answer] = await askDocuments({
      target: { tabId, documentIds: [at.documentId] },
      func: (refs: string[]) => {
        const steps = Object.hasOwn(globalThis, "tabhubSteps") ? globalThis.tabhubSteps : undefined;
        return steps?.document === document ? { origin: self.origin, url: location.href, refs: steps.refs(refs) } : null;
      },
      args: [refs],
    }, FRAMES);
    const result = answer?.result;
    if (!result) {
      await answers(tabId);
      return { frameId: at.frameId, origin: "", url: "", refs: refs.map((ref) => ({ ref, stale: `${ref} is of a page that has been loaded anew` })) };
    }
    if (!permitsDocument(this.#settings(), { ...at, ...result })) throw notShared();
    return { frameId: at.frameId, origin: originOf(result.origin, result.url, all, at), url: result.url.slice(0, 2048), refs: await Promise.all(result.refs.map(({ index, ...ref }) => (index === undefined ? ref : this.#withFrame(ref, index, all, at)))) };
  }

  /** Says of a frame's element which document it shows. */
  async #withFrame(ref: RefElement, index: number, all: Shown[], around: Shown): Promise<RefElement> {
    const children = all.filter(({ parentFrameId }) => parentFrameId === around.frameId);
    const asked = children.map(async (at) => {
      if (!permitsDocument(this.#settings(), at)) return undefined;
      const [answer] = await askDocuments({ target: { tabId: at.tabId, documentIds: [at.documentId] }, func: sizeOf }, FRAMES);
      return answer?.result?.index === index ? { frameId: at.frameId, origin: originOf(answer.result.origin, answer.result.url, all, at), url: answer.result.url.slice(0, 2048) } : undefined;
    });
    const frame = (await Promise.all(asked)).find(Boolean);
    return { ...ref, ...(frame && { frame }) };
  }

  // ---- Pictures

  /** The document that has a reference. */
  async documentOf(tabId: number, ref: string): Promise<Shown> {
    const at = this.#of(ref, tabId, await documentsIn(tabId));
    if (!permitsDocument(this.#settings(), at)) throw notShared();
    return at;
  }

  /** What can be acted on in a tab: the line of each, its reference and the document that has it. */
  async acting(tabId: number): Promise<{ text: string; ref: string; document: Shown }[]> {
    const all = await documentsIn(tabId);
    const top = all.find(({ frameId }) => frameId === 0);
    const root = top && (await this.#ask(top, FIRST, undefined, {}));
    if (!root?.part) throw root?.problem === NOT_SHARED ? notShared() : new Refusal(Code.Unsupported, "the page cannot be looked at");
    const children = new Map<number, Looked[]>();
    await this.#descend(root, all, children, {});
    const { lines, documents } = compose(root, children);
    return lines.flatMap(({ kind, ref, text, of }) => (kind === "act" && ref ? [{ text: text.trim(), ref, document: documents[of ?? 0] }] : []));
  }

  // ---- Tags

  /** What the references of a document begin with, be it looked at or not. */
  tag(tabId: number, documentId: string): string {
    const known = this.#documents.get(documentId);
    if (known) return known;
    const tag = this.#newTag();
    this.#know(tag, tabId, documentId);
    this.#stored.save();
    return tag;
  }

  #know(tag: string, tabId: number, documentId: string) {
    const before = this.#documents.get(documentId);
    if (before && before !== tag) this.#tags.delete(before);
    this.#tags.set(tag, { tabId, documentId });
    this.#documents.set(documentId, tag);
    for (const [old, { documentId: of }] of this.#tags) {
      if (this.#tags.size <= MAX_TAGS) break;
      this.#tags.delete(old);
      this.#documents.delete(of);
    }
  }

  /** A tag that no document has had. */
  #newTag() {
    if (this.#next < 0) this.#next = crypto.getRandomValues(new Uint32Array(1))[0] % 17_576;
    let tag = "";
    for (let rest = this.#next++, i = 0; i < 3 || rest > 0; rest = Math.floor(rest / 26), i++) tag = LETTERS[rest % 26] + tag;
    return tag;
  }

  #of(ref: string, tabId: number, all: Shown[]): Shown {
    const { documentId = "" } = this.#tags.get(tagOf(ref)) ?? {};
    const at = all.find((document) => document.documentId === documentId);
    if (!at) throw stale(this.#gone(ref, tabId), []);
    return at;
  }

  /** Why there is no document with a reference in a tab. */
  #gone(ref: string, tabId: number) {
    const of = this.#tags.get(tagOf(ref));
    if (!of) return `${ref.slice(0, 16)} is no reference of a look at this browser's tabs, or of one long ago`;
    return of.tabId === tabId ? `${ref} is of a page that the tab does not show any more` : `${ref} is of another tab`;
  }

  #keep(key: string, lines: Line[]) {
    this.#before.delete(key);
    let size = 0;
    for (const { text } of lines) size += text.length + 40;
    if (size > MAX_KEPT) return;
    this.#before.set(key, lines);
    for (const old of this.#before.keys()) if (this.#before.size > MAX_LOOKS) this.#before.delete(old);
  }

  // ---- Documents

  /** Looks at the frames in a document in which some are seen, and those in them, all at once. */
  async #descend(of: Looked, all: Shown[], children: Map<number, Looked[]>, options: { find?: string }) {
    if (children.size > MAX_DOCUMENTS || !of.part || !decode(of.part.lines).some(({ kind }) => kind === "frame")) return;
    const inner = await this.#children(of, all, options);
    children.set(of.document.frameId, inner);
    for (const child of inner) await this.#descend(child, all, children, options);
  }

  /** Looks at the frames of a document, those in view first; without words that are to be found only so many. */
  async #children({ document: { tabId, frameId }, origin, part }: Looked, all: Shown[], options: { find?: string }, only = -1): Promise<Looked[]> {
    const there = all.filter((document) => document.parentFrameId === frameId);
    const inView = new Set(decode(part?.lines ?? "").filter(({ kind, view }) => kind === "frame" && view).map(({ frame }) => frame));
    const shared = there.filter((at) => permitsDocument(this.#settings(), at));
    const probe = (documentIds: string[], timeout: number) => askDocuments({ target: { tabId, documentIds }, func: sizeOf }, timeout);
    // One that does not answer holds up the answer of all; then each is asked alone.
    const together = shared.length ? await probe(shared.map(({ documentId }) => documentId), TOGETHER) : [];
    const alone = together.length ? [] : (await atOnce(shared, ({ documentId }) => probe([documentId], FRAMES))).flat();
    const said = new Map([...together, ...alone].map(({ documentId, result }) => [documentId, result]));
    const sized = there.map((at) => {
      if (!shared.includes(at)) return { at, index: undefined, problem: NOT_SHARED };
      const answer = said.get(at.documentId);
      return { at, index: answer?.index, problem: answer ? (answer.small ? "" : undefined) : NO_ANSWER };
    });
    sized.sort((a, b) => Number(inView.has(b.index)) - Number(inView.has(a.index)));
    let asked = 0;
    return atOnce(only < 0 ? sized : sized.filter(({ index }) => index === only), async ({ at, index, problem }) => {
      const late = problem === undefined && !options.find && ++asked > MAX_FRAMES;
      if (problem === undefined && !late) return { ...(await this.#ask(at, FRAMES, origin, options)), index };
      return { document: at, part: undefined, index, origin: originOf("", at.url, all, at), problem: late ? LATE : (problem ?? "") };
    });
  }

  /** Asks a document what it shows. */
  async #ask(at: Shown, timeout: number, around: string | undefined, options: Omit<LookOptions, "tag">): Promise<Looked> {
    const { tabId, documentId } = at;
    const looked = (part: LookPart | undefined, problem: string): Looked => ({
      document: at,
      part,
      origin: webOrigin(part?.origin ?? "") || webOrigin(part?.url ?? at.url) || (around !== undefined && /^about:/.test(at.url) ? around : "null"),
      problem,
    });
    if (!permitsDocument(this.#settings(), at)) return looked(undefined, NOT_SHARED);
    const until = Date.now() + timeout;
    const left = () => Math.max(1, until - Date.now());
    const target = { tabId, documentIds: [documentId] };
    const known = this.#documents.get(documentId);
    const tag = known ?? this.#newTag();
    const look = async () => {
      const [answer] = await askDocuments({
        target,
        func: (options: LookOptions) => {
          const steps = Object.hasOwn(globalThis, "tabhubSteps") ? globalThis.tabhubSteps : undefined;
          return steps?.document === document ? steps.look(options) : null;
        },
        args: [{ tag, ...(options.scope && { scope: options.scope }), ...(options.find && { find: options.find }) }],
      }, left());
      return answer?.result ?? undefined;
    };
    let part = known ? await look() : undefined;
    if (!part) {
      await askDocuments({ target, files: ["content/steps.js"] }, left());
      part = await look();
    }
    if (!part) return looked(undefined, NO_ANSWER);
    if (!permitsDocument(this.#settings(), { ...at, origin: part.origin, url: part.url })) return looked(undefined, NOT_SHARED);
    if (part.tag !== known) {
      this.#know(part.tag, tabId, documentId);
      this.#stored.save();
    }
    return looked(part, "");
  }
}

const LATE = "is not looked at yet, use it as scope";
const NOT_SHARED = "is of a site that is not shared";
const NO_ANSWER = "does not answer";

/** Where a frame is in its parent, and whether nothing could be seen in it. */
function sizeOf() {
  const { parent } = window;
  let index = parent.length - 1;
  while (index >= 0 && parent[index] !== window) index--;
  return { index, small: innerWidth < 2 || innerHeight < 2, origin: self.origin, url: location.href };
}

/** Does something with each, with a few at a time. */
async function atOnce<T, R>(all: T[], does: (one: T) => Promise<R>): Promise<R[]> {
  const out: R[] = [];
  let next = 0;
  const some = async () => {
    while (next < all.length) {
      const i = next++;
      out[i] = await does(all[i]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
  return out;
}

function tagOf(ref: string) {
  return /^[a-z]+/.exec(ref)?.[0] ?? "";
}

export function stale(message: string, near: string[]) {
  return new Refusal(Code.InvalidParams, `STALE_REF: ${message}${near.length ? `. The nearest that there are: ${near.join("; ")}` : ""}`);
}

/** The origin whose document it is. */
function originOf(origin: string, url: string, all: Shown[], at: Shown): string {
  const own = webOrigin(origin) || webOrigin(url);
  const parent = all.find(({ frameId }) => frameId === at.parentFrameId);
  return own || (/^about:/.test(url) && parent ? originOf("", parent.url, all, parent) : "null");
}

async function documentsIn(tabId: number): Promise<Shown[]> {
  const all = (await unlessStopping(chrome.webNavigation.getAllFrames({ tabId }), () => null)) ?? [];
  return all.flatMap(({ frameId, parentFrameId, documentId, documentLifecycle, url }) => (documentId && (documentLifecycle ?? "active") === "active" ? [{ tabId, frameId, parentFrameId, documentId, url }] : []));
}

/** The child with an index in its parent; those in shadow trees have none, and are taken in their order. */
function childAt(children: Looked[], index: number, nth: number): Looked | undefined {
  const fits = children.filter((child) => child.index === index);
  return fits[index < 0 ? nth : 0];
}

/** The lines of all documents, each in that of its frame. */
function compose(root: Looked, children: Map<number, Looked[]>) {
  const frames: LookResult["frames"] = [];
  const documents: Shown[] = [];
  const lines: Line[] = [];
  const add = (looked: Looked, depth: number, view: boolean, ref: string) => {
    const { part, document, origin } = looked;
    if (!part || frames.length === MAX_DOCUMENTS) return;
    const of = frames.push({ origin: origin.slice(0, 2048), url: part.url, ...(part.title && { title: part.title }), ...(ref && { ref }) }) - 1;
    documents.push(document);
    const inner = children.get(document.frameId) ?? [];
    let shadowed = 0;
    for (const line of decode(part.lines)) {
      const at: Line = { ...line, depth: line.depth + depth, view: line.view && view, of };
      if (line.kind !== "frame") {
        lines.push(at);
        continue;
      }
      const child = childAt(inner, line.frame ?? -1, line.frame === -1 ? shadowed++ : 0) ?? problemOf(inner);
      if (!child || (!child.part && !child.problem)) continue; // too small to show anything
      const other = child.origin !== origin && child.origin !== "null" ? ` of ${new URL(child.origin).host}` : "";
      at.text = `${line.text.slice(0, line.text.length - line.ref.length).trimEnd()}${other} ${line.ref}${child.part ? "" : `: ${child.problem}`}`;
      lines.push(at);
      const before = lines.length;
      add(child, at.depth + 1, at.view, line.ref);
      if (child.part && lines.length === before) lines.pop();
    }
  };
  add(root, 0, true, "");
  return { frames, lines, documents };
}

/** A document that was not looked at: which frame it is in is not known. */
function problemOf(children: Looked[]): Looked | undefined {
  const at = children.findIndex(({ part, index, problem }) => !part && index === undefined && problem);
  return at < 0 ? undefined : children.splice(at, 1)[0];
}
