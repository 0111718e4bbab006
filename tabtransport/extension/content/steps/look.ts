// What a document shows, by role and name: what can be read and acted on. What a person does not see is left
// out. It looks in slices, between which the page goes on.

import {
  assignedNodes, attribute, clean, controlOf, firstChild, hasAttribute, isHTML, isVisible, knowingLabels, localName, nextSibling, nodeType, query, scrollBox, shadowOf,
  textContent, viewOf, windowOf,
} from "./dom.ts";
import { encode, wordsOf, type Line } from "../../looklines.ts";
import { Failure } from "./failure.ts";
import { isNamedByContent, nameOf, overlap, roleOf, textIn, words, type Found } from "./find.ts";
import { BREAK, linesOf, quoted, type Part } from "./looklines.ts";
import { itemsOf, referenced, referencesOf, textOfItem, type References } from "./refs.ts";
import { watchPasswords } from "./secret.ts";
import { pageBox, seenAtRoot, seenIn, standsForLabel, type Box, type Seen } from "./seen.ts";
import { statesOf } from "./state.ts";
import { frameIndex } from "../framepath.ts";

/** How long it looks until the page goes on, in ms. */
const SLICE = 6;
/** How long it waits for a document that is still being parsed, and for one that still loads, in ms. */
const PARSED = 1_500;
const LOADED = 500;
/** How deep elements may be in one another. */
const MAX_LEVELS = 700;
const MAX_LINES = 20_000;
/** How many characters of a name, of a text, and of one where only a part of the page is looked at. */
const MAX_NAME = 120;
const MAX_TEXT = 240;
const MAX_SCOPED_TEXT = 2_000;

const ACTS = /^(button|link|textbox|searchbox|combobox|checkbox|radio|switch|slider|spinbutton|menuitem|menuitemcheckbox|menuitemradio|option|tab|treeitem|scrollbar)$/;
/** What has no more in it than its value. */
const FIELDS = /^(textbox|searchbox|slider|spinbutton|scrollbar)$/;
/** Places that are said even if they have no name, and those that are only with one. */
const PLACES =
  /^(dialog|alertdialog|main|navigation|banner|contentinfo|complementary|search|table|grid|treegrid|tree|listbox|menu|menubar|toolbar|tablist|tabpanel|radiogroup|alert|status|article|listitem|row|cell|gridcell|columnheader|rowheader|heading|feed|log)$/;
const NAMED = /^(region|form|group|list|figure|application|directory|marquee|timer|note|tooltip)$/;
/** Places that one looks at alone, or steps look in. */
const SCOPES = /^(dialog|alertdialog|main|table|grid|treegrid|tree|listbox|tabpanel|region|form|feed|log|list)$/;
/** Parts of lists and tables: each of them may be clicked where a click on the whole does something. */
const ITEMS = /^(row|listitem|article|option|gridcell)$/;
const SKIPPED = new Set(["script", "style", "noscript", "template", "head", "datalist", "legend", "caption", "param", "source", "track", "rp"]);
/** What is seen and cannot be read. */
const PICTURES = new Set(["canvas", "video", "audio", "embed", "object"]);

interface Around extends Seen {
  level: number;
  pointer: boolean;
  /** It is of an item that says its references. */
  wanted: boolean;
  /** In what is named by its content, or in a label: only what can be acted on is said beside that. */
  quiet?: Quiet;
}

/** What is seen of the content that names an element. */
interface Quiet {
  text: string;
  /** More of it is there for those who hear the page, and for nobody. */
  unseen: boolean;
  deceives: boolean;
}

const nothingSeen = (): Quiet => ({ text: "", unseen: false, deceives: false });

export async function look({ tag, scope, find }: LookOptions): Promise<LookPart> {
  await leaves("loading", PARSED);
  await leaves("interactive", LOADED);
  watchPasswords(document);
  const references = referencesOf(tag) as References;
  const part: LookPart = {
    tag: references.tag,
    origin: self.origin,
    url: clean(location.href, 2048),
    title: clean(document.title, 200),
    index: window.parent === window ? -1 : frameIndex(window),
    lines: "",
  };
  let root: Element = document.documentElement;
  try {
    if (scope) root = referenced({ ref: scope }).element;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...part, stale: { message: error.message, near: error.found } };
  }
  if (!root || innerWidth < 2 || innerHeight < 2) return part;
  const looking = new Looking(references, scope !== undefined, find);
  if (scope && windowOf(root)) return { ...part, frame: looking.indexOf(root) };
  await sliced(looking.all(root));
  const lines = await sliced(linesOf(looking.parts, scope ? MAX_SCOPED_TEXT : MAX_TEXT, scope !== undefined));
  return { ...part, lines: await sliced(encoded(lines.slice(0, MAX_LINES))) };
}

/** Waits until the document is no longer in a state, but not for long. */
function leaves(state: DocumentReadyState, ms: number): Promise<void> {
  if (document.readyState !== state) return Promise.resolve();
  return new Promise((done) => {
    const look = () => {
      if (document.readyState === state) return;
      clearTimeout(timer);
      document.removeEventListener("readystatechange", look);
      done();
    };
    const timer = setTimeout(() => {
      document.removeEventListener("readystatechange", look);
      done();
    }, ms);
    document.addEventListener("readystatechange", look);
  });
}

function* encoded(lines: Line[]): Generator<void, string> {
  const texts: string[] = [];
  for (let i = 0; i < lines.length; i += 500) {
    texts.push(encode(lines.slice(i, i + 500)));
    yield;
  }
  return texts.join("\n");
}

/** Does it all, and lets the page go on meanwhile. */
async function sliced<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const until = performance.now() + SLICE;
    let step: IteratorResult<void, T>;
    knowingLabels(() => {
      do step = work.next();
      while (!step.done && performance.now() < until);
    });
    const { done, value } = step! as IteratorResult<void, T>;
    if (done) return value;
    await turn();
  }
}

/** Lets the page go on: a message is not held up in a tab that is not in front. */
function turn() {
  return new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}

class Looking {
  readonly parts: Part[] = [];
  readonly #references;
  readonly #scoped;
  /** Items, cells and headings with these words say their references, too; without words where a part is looked at all do. */
  readonly #words;
  readonly #page: Box;
  readonly #frames = new Map<Window, number>();
  /** Elements by the id of what names them. */
  readonly #named = new Map<string, Element>();
  readonly #around = new Map<Element, string>();
  #heading = 1;
  #count = 0;

  constructor(references: References, scoped: boolean, find?: string) {
    this.#references = references;
    this.#scoped = scoped;
    this.#words = find === undefined ? undefined : wordsOf(find).filter((word) => !ROLE.test(word));
    this.#page = pageBox();
    for (let i = 0; i < window.length && i < 1000; i++) this.#frames.set(window[i], i);
    for (const element of query(document, "[aria-labelledby]")) this.#named.set(attribute(element, "aria-labelledby")?.trim() ?? "", element);
  }

  indexOf(frame: Element) {
    const view = windowOf(frame);
    return (view && this.#frames.get(view)) ?? -1;
  }

  *all(root: Element): Generator<void> {
    const here: Around = { ...seenAtRoot(), level: 0, pointer: false, wanted: false, moves: this.#scoped };
    const scrolls = this.#scoped ? "" : scrollsBy(document.scrollingElement, innerHeight);
    if (scrolls) this.parts.push({ ...BREAK, kind: "place", role: "page", text: `page${scrolls}`, view: true, block: true });
    yield* this.#element(root, here, this.parts);
  }

  *#children(of: Element, here: Around, into: Part[]): Generator<void> {
    const shadow = shadowOf(of);
    if (shadow) watchPasswords(shadow);
    let nodes: Node[] = isHTML(of, "slot") ? assignedNodes(of, { flatten: true }) : [];
    if (nodes.length === 0) {
      nodes = [];
      for (let node = firstChild(shadow ?? of); node; node = nextSibling(node)) nodes.push(node);
    }
    const closed = isHTML(of, "details") && !hasAttribute(of, "open");
    for (const node of nodes) {
      if (closed && !(nodeType(node) === Node.ELEMENT_NODE && isHTML(node as Element, "summary"))) continue;
      const type = nodeType(node);
      if (type === Node.TEXT_NODE) this.#text(textContent(node) ?? "", here, into);
      else if (type === Node.ELEMENT_NODE) yield* this.#element(node as Element, here, into);
    }
  }

  #text(text: string, here: Around, into: Part[]) {
    if (here.quiet) {
      if (here.text) here.quiet.text += text;
      else if (/\S/.test(text)) here.quiet[here.ink ? "unseen" : "deceives"] = true;
      return;
    }
    if (!here.text || text === "") return;
    const last = into.at(-1);
    if (last && last !== BREAK && last.kind === "text" && !last.role) {
      last.text += text;
      last.view ||= here.now;
    } else into.push({ kind: "text", role: "", text, view: here.now, block: false, ref: "", parts: [] });
  }

  *#element(element: Element, outer: Around, into: Part[]): Generator<void> {
    if (++this.#count % 16 === 0) yield;
    const name = localName(element);
    if (SKIPPED.has(name)) return;
    if (attribute(element, "aria-hidden") === "true" || hasAttribute(element, "inert")) return;
    const style = viewOf(element)?.getComputedStyle(element);
    if (!style || style.display === "none") return;
    const seen = seenIn(element, style, outer, this.#page);
    const { quiet } = outer;
    if (outer.level > MAX_LEVELS && typeof seen !== "string") {
      if (!quiet) into.push(this.#part(element, { kind: "place", role: "box", name: "", view: seen.now, block: true, states: " is too deep to be shown here, use it as scope", referred: true }));
      return;
    }
    if (typeof seen === "string") {
      if (!quiet) return;
      // What is cut off names what it is in, for those who hear the page; what is transparent is for nobody.
      if (/\S/.test(textIn(element))) quiet[seen === "nothing" ? "unseen" : "deceives"] = true;
      return;
    }
    const here: Around = { ...seen, level: outer.level + 1, wanted: outer.wanted, pointer: style.cursor === "pointer", ...(quiet && { quiet }) };
    const isBlock = name === "br" || !/^(inline|contents|ruby)/.test(style.display);
    if (isBlock && quiet) quiet.text += " ";
    else if (isBlock) into.push(BREAK);
    if (name === "br") return;
    yield* this.#inside(element, style, outer, here, isBlock, into);
    if (isBlock && quiet) quiet.text += " ";
    else if (isBlock) into.push(BREAK);
  }

  *#inside(element: Element, style: CSSStyleDeclaration, outer: Around, here: Around, block: boolean, into: Part[]): Generator<void> {
    if (!here.self) return yield* this.#children(element, here, into);
    const name = localName(element);
    if (windowOf(element)) {
      into.push(this.#part(element, { kind: "frame", role: "frame", name: nameOf(element, ""), view: here.now, block: true, frame: this.indexOf(element) }));
      return;
    }
    if (isHTML(element, "label")) return yield* this.#label(element, here, into);
    const role = roleOf(element);
    const isField = isHTML(element, "input", "select", "textarea");
    if (isField && attribute(element, "type")?.toLowerCase() === "hidden") return;
    if (ACTS.test(role) || isField) return yield* this.#acting(element, role, here, into);
    if (here.quiet && isHTML(element, "img")) here.quiet.text += ` ${attribute(element, "alt") ?? ""} `;
    const clickable = isClickable(element, role, outer, here);
    const scrolls = /auto|scroll/.test(style.overflowY) && element !== document.body && element !== document.documentElement ? scrollsBy(element) : "";
    if (role === "img" || PICTURES.has(name) || (role === "" && clickable && isEmpty(element))) {
      const called = nameOf(element, role);
      if (called || clickable || PICTURES.has(name)) into.push(this.#part(element, { kind: clickable ? "act" : "text", role: role || (PICTURES.has(name) ? name : "clickable"), name: called, view: here.now, block: false, referred: clickable || PICTURES.has(name) }));
      return;
    }
    if (/^(progressbar|meter)$/.test(role)) {
      into.push(this.#part(element, { kind: "text", role, name: nameOf(element, role), view: here.now, block: false, states: statesOf(element, role, "", false) }));
      return;
    }
    if (role === "separator" || (here.quiet && !clickable)) {
      if (role !== "separator") yield* this.#children(element, here, into);
      return;
    }
    // What names a place, a field or the like is said there.
    if (hasAttribute(element, "id") && this.#isSaidElsewhere(element, role)) return yield* this.#children(element, { ...here, quiet: nothingSeen() }, into);
    const called = PLACES.test(role) || NAMED.test(role) ? nameOf(element, isNamedByContent(role) ? "" : role) : "";
    if (!PLACES.test(role) && !(NAMED.test(role) && called) && !clickable && !scrolls) return yield* this.#children(element, here, into);
    const parts: Part[] = [];
    if (ITEM.test(role) && !here.wanted) here.wanted = this.#isWanted(element);
    yield* this.#children(element, here, parts);
    into.push(this.#place(element, role, called, here, block, clickable, scrolls, parts));
  }

  #place(element: Element, role: string, called: string, here: Around, block: boolean, clickable: boolean, scrolls: string, parts: Part[]): Part {
    const isItem = ITEM.test(role);
    const kind = clickable ? "act" : /^(listitem|cell|gridcell|columnheader|rowheader|row)$/.test(role) ? "text" : "place";
    const shown = role || (clickable ? "clickable" : "box");
    const states = `${statesOf(element, role, called, this.#scoped)}${scrolls}`;
    const part = this.#part(element, {
      kind,
      role: shown,
      name: isItem && role !== "article" && role !== "row" ? attributeName(element, called) : called,
      view: here.now,
      block: block || !clickable || role !== "",
      states,
      referred: clickable || scrolls !== "" || SCOPES.test(role) || (isItem && here.wanted) || (role === "gridcell" && called !== ""),
      parts,
    });
    if ((role === "listitem" || CELLS.test(role)) && !part.ref && !states && !called) part.text = "";
    if (role === "heading") {
      part.text = "heading";
      const level = Number.parseInt(attribute(element, "aria-level") ?? /^h([1-6])$/.exec(localName(element))?.[1] ?? "2", 10) || 2;
      part.tail = `${part.ref && ` ${part.ref}`}${level === this.#heading ? "" : ` level ${level}`}`;
      this.#heading = level;
    }
    if (/^(dialog|alertdialog)$/.test(role)) part.dialog = isModal(element) ? "modal" : "other";
    if (part.dialog === "modal") part.text += " modal";
    return part;
  }

  *#acting(element: Element, role: string, here: Around, into: Part[]): Generator<void> {
    const quiet = nothingSeen();
    const parts: Part[] = [];
    const isEditor = role === "textbox" || role === "searchbox" || isHTML(element, "input", "select", "textarea");
    if (!isEditor && !FIELDS.test(role)) yield* this.#children(element, { ...here, quiet }, parts);
    let name = nameOf(element, role);
    let shown = "";
    if (isNamedByContent(role) && !attributeName(element, "")) {
      const isSaid = /[\p{L}\p{N}]/u.test(quiet.text);
      if (quiet.deceives && isSaid) name = quiet.text;
      else if (quiet.unseen && isSaid) shown = quiet.text;
      else if (parts.length && /^(treeitem|menuitem)$/.test(role)) name = textOfItem(element, MAX_NAME);
    }
    if (here.quiet && !parts.length) here.quiet.text += ` ${quiet.text}`;
    const states = `${name || role !== "link" ? "" : leads(element)}${statesOf(element, role, name, this.#scoped)}`;
    into.push(this.#part(element, { kind: "act", role, name, view: here.now, block: parts.length > 0, states, referred: true, parts, shown }));
  }

  /** The label of a field that is seen is said as its name. */
  *#label(label: Element, here: Around, into: Part[]): Generator<void> {
    const field = controlOf(label);
    const shown = field !== null && (isVisible(field) || standsForLabel(field));
    if (field === null || (shown && !overlap(nameOf(field), textIn(label, field)))) return yield* this.#children(label, { ...here, pointer: true }, into);
    if (shown) return yield* this.#children(label, { ...here, pointer: true, quiet: nothingSeen() }, into);
    const quiet = nothingSeen();
    const parts: Part[] = [];
    yield* this.#children(label, { ...here, pointer: true, quiet }, parts);
    into.push(this.#part(label, { kind: "act", role: "label", name: quiet.text, view: here.now, block: parts.length > 0, states: statesOf(field, roleOf(field), "", false), referred: true, parts }));
  }

  /** Whether an item has what is looked for. */
  #isWanted(item: Element) {
    if (!this.#words) return this.#scoped;
    const text = (textContent(item) ?? "").slice(0, 20_000).toLowerCase();
    return this.#words.every((word) => text.includes(word));
  }

  #isSaidElsewhere(element: Element, role: string) {
    const of = this.#named.get(attribute(element, "id") ?? "");
    if (!of || isNamedByContent(role) !== (role === "heading")) return false;
    const its = roleOf(of);
    return (PLACES.test(its) || NAMED.test(its) || ACTS.test(its)) && !isNamedByContent(its) && isVisible(of) && !hasAttribute(of, "aria-hidden");
  }

  #part(element: Element, { kind, role, name, view, block, states = "", referred = kind === "frame", parts = [], frame, shown = "" }: {
    kind: Line["kind"];
    role: string;
    name: string;
    view: boolean;
    block: boolean;
    states?: string;
    /** It says its reference. */
    referred?: boolean;
    parts?: Part[];
    frame?: number;
    /** What is seen of it, if that is not all of its name. */
    shown?: string;
  }): Part {
    const called = clean(name, MAX_NAME);
    const ref = referred ? this.#refOf(element) : "";
    // What a page calls otherwise than it shows it is called both.
    const isCalled = kind === "act" && (hasAttribute(element, "aria-label") || hasAttribute(element, "aria-labelledby"));
    const seen = clean(shown, MAX_NAME);
    const also = isCalled ? (/ that shows .*$/s.exec(words(element))?.[0] ?? "") : seen && seen !== called ? ` that shows ${quoted(seen)}` : "";
    const text = `${role || "field"}${called ? ` ${quoted(called)}` : ""}${also}${ref && ` ${ref}`}${states}`;
    return { kind, role, text, view, block, ref, parts, ...(frame !== undefined && { frame }) };
  }

  #refOf(element: Element): string {
    const role = roleOf(element);
    const name = nameOf(element, role);
    const found: Found = { element, role, name, words: words(element, role, name) };
    return this.#references.of(found, itemsOf(element, this.#around));
  }
}

const ITEM = /^(listitem|heading|cell|gridcell|columnheader|rowheader|row|article)$/;
/** Words of what is found that say what it is. */
const ROLE = /^(listitem|heading|cell|gridcell|columnheader|rowheader|row|article|button|link|list|table|main|region|checkbox|textbox|combobox|field|frame|dialog)$/;
const CELLS = /^(cell|gridcell|columnheader|rowheader)$/;

/** What an element is called by itself, whatever is in it. */
function attributeName(element: Element, otherwise: string) {
  return hasAttribute(element, "aria-label") || hasAttribute(element, "aria-labelledby") ? nameOf(element, "") : otherwise;
}

function isEmpty(element: Element) {
  return !/\S/.test(textContent(element) ?? "") && ![...query(element, "a,button,input,select,textarea,iframe,[role]")].length;
}

/** Whether an element without a role to be clicked looks as if it could be. */
function isClickable(element: Element, role: string, outer: Around, here: Around) {
  if (element === document.body || element === document.documentElement || here.quiet) return false;
  if (hasAttribute(element, "onclick") || attribute(element, "draggable") === "true") return true;
  if (here.pointer) return !outer.pointer || ITEMS.test(role);
  return role === "" && Number(attribute(element, "tabindex") ?? -1) >= 0 && !/auto|scroll/.test(viewOf(element)?.getComputedStyle(element).overflowY ?? "");
}

/** Where a link leads that has no name. */
function leads(link: Element) {
  const to = attribute(link, "href") ?? "";
  return to && !/^(#|javascript:|data:)/i.test(to) ? ` to ${quoted(clean(to, 60))}` : "";
}

function isModal(element: Element) {
  return attribute(element, "aria-modal") === "true" || [...query(document, ":modal")].includes(element);
}

/** How much there is to scroll, in words; "" if there is nothing. */
function scrollsBy(element: Element | null, seen?: number): string {
  if (!element) return "";
  const { height, top, shown } = scrollBox(element);
  const screen = seen ?? shown;
  if (screen < 8 || height <= screen + 8) return "";
  const part = (length: number) => String(Math.round((length / screen) * 10) / 10);
  return ` of ${part(height)} screens, scrolled by ${part(top)}`;
}
