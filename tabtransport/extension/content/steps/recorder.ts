// Writes down what a person does in this document and its frames of the same origin, as steps of a pack. Only
// what the browser vouches for counts, which no script of the page can make. What is in a field that may hold
// a secret leaves the document in no way: only the field's name does.

import {
  around, attribute, frameWindow, hasAttribute, innerText, inputType, isChecked, isEditable, isHTML, labelled, labelsOf, localName, matchesSelector, nodeType,
  outward, selectOptions, optionLabel, shadowOf, valueOf, viewOf,
} from "./dom.ts";
import { all, foundOf, roleOf } from "./find.ts";
import { drawMark, type Mark } from "./mark.ts";
import { scopeOf } from "./scope.ts";
import { isInParts, secret, watchPasswords } from "./secret.ts";
import { targetOf } from "./target.ts";
import { hasCardNumber } from "../../secretnames.ts";

/** How often frames that have come are looked for, in ms. */
const EVERY = 500;
/** The longest text that is taken for a value. */
const MAX_TEXT = 2_000;

/** What is clicked. */
const CLICKED = /^(button|link|menuitem|menuitemcheckbox|menuitemradio|tab|option|treeitem|switch|checkbox|radio|combobox|slider)$/;
/** What is set to true or false by a click, where the page draws it itself. */
const SET = /^(switch|checkbox|radio|menuitemcheckbox)$/;
/** Fields that a person moves in with the arrow keys. */
const MOVED_IN = /^(combobox|listbox|menu|menubar|menuitem|menuitemcheckbox|menuitemradio|option|tab|tree|treeitem|grid|gridcell)$/;

export class Recorder {
  document = document;
  #stop: AbortController | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #heard = new WeakSet<Document>();
  /** Fields that were edited and are not written down yet, with their targets. */
  #edited = new Map<Element, Target | undefined>();
  /** The fields that were there when the first of a fill was filled, with what they were like then. */
  #there: Map<Element, string> | undefined;
  /** Enter in a field: the click on its form's button is the browser's. */
  #entered = false;
  #mark: Mark | undefined;
  #scope = scopeOf({ match: [], origins: [self.origin] });

  begin() {
    if (this.#stop) return;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    this.#listen(document, signal);
    this.#timer = setInterval(() => this.#frames(signal), EVERY);
    this.#frames(signal);
    this.#mark = drawMark(() => {
      this.#flush();
      this.#say({ ended: true });
      this.#end();
    });
    chrome.runtime.onMessage.addListener(this.#told);
    this.#say({ here: true });
  }

  #end() {
    this.#stop?.abort();
    this.#stop = undefined;
    this.#heard = new WeakSet();
    this.#edited.clear();
    this.#there = undefined;
    clearInterval(this.#timer);
    this.#mark?.remove();
    chrome.runtime.onMessage.removeListener(this.#told);
  }

  /** The worker ends the recording: what it has not heard is the answer. */
  #told = (message: { type?: string }, { id }: chrome.runtime.MessageSender, respond: (said: RecorderSays[]) => void) => {
    if (id !== chrome.runtime.id || message.type !== "endRecording") return;
    const said: RecorderSays[] = [];
    this.#flush((says) => said.push(says));
    respond(said);
    this.#end();
  };

  #say = (says: RecorderSays) => {
    const message: RecorderToWorker = { type: "recorded", says };
    try {
      chrome.runtime.sendMessage(message).then(
        (goOn) => void (goOn === false && this.#end()),
        () => {}, // the document is leaving
      );
    } catch {
      this.#end(); // the extension was updated or removed
    }
  };

  #frames(signal: AbortSignal) {
    for (const frame of all({ selector: "iframe,frame" }, document, this.#scope)) {
      try {
        const view = frameWindow(frame);
        if (view?.origin === self.origin) this.#listen(view.document, signal);
      } catch {
        // Of another origin, or of none.
      }
    }
  }

  #listen(doc: Document, signal: AbortSignal) {
    const view = doc.defaultView;
    if (!view || this.#heard.has(doc)) return;
    this.#heard.add(doc);
    watchPasswords(doc);
    const options = { capture: true, passive: true, signal };
    const on = <E extends Event>(type: string, act: (element: Element, event: E) => void) => {
      const heard = (event: Event) => {
        if (!event.isTrusted || this.#mark?.has(event)) return;
        const element = elementOf(event);
        if (element) act(element, event as E);
      };
      view.addEventListener(type, heard, options);
    };
    on("focusin", () => (this.#there ??= this.#fields()));
    on("input", (element) => this.#input(element));
    on("focusout", () => this.#flush());
    on("pointerdown", () => (this.#entered = false));
    on("click", (element, event: MouseEvent) => this.#click(element, event));
    on("keydown", (element, event: KeyboardEvent) => this.#key(element, event));
    on("keyup", (_, { key }: KeyboardEvent) => void (key === "Enter" && (this.#entered = false)));
    view.addEventListener("pagehide", () => {
      this.#flush();
      if (view === window) this.#end();
    }, options);
  }

  // ---- Fields

  #input(element: Element) {
    const field = fieldOf(element);
    if (!field || this.#edited.has(field)) return;
    secret(field, ""); // what is a password now stays one
    this.#edited.set(field, targetOf(field, this.#scope));
    if (isHTML(field, "select") || /^(checkbox|radio)$/.test(typeOf(field))) this.#flush();
  }

  /** Writes down what fields hold that were edited. */
  #flush(say = this.#say) {
    for (const [field, target] of this.#edited) this.#fill(field, target, say);
    this.#edited.clear();
  }

  #fill(field: Element, target: Target | undefined, say: (says: RecorderSays) => void) {
    const { name, words } = foundOf(field);
    const value = checkedOf(field) ?? (isEditor(field) ? innerText(field) : valueOf(field));
    const texts = [value].flat().map(String);
    const hidden = secret(field, name) || typeOf(field) === "file" || isInParts(field) || texts.some((text) => hasCardNumber(text) || text.length > MAX_TEXT);
    if (hidden) return say({ secret: name || words, target });
    if (value === false && roleOf(field) === "radio") return;
    const label = labelsOf(field)[0];
    if (!target && typeof value === "boolean" && label) return this.#act("click", targetOf(label, this.#scope), words, say); // it is drawn by the page
    if (!target || value === undefined || Array.isArray(value)) return say({ missed: words });
    const joins = this.#there?.get(field) === signOf(field);
    if (!joins) this.#there = this.#fields();
    say({ step: { fill: { fields: [{ target, value }] } }, joins });
  }

  /** The fields that are there. */
  #fields() {
    return new Map(all({ selector: "input,select,textarea,[contenteditable]" }, document, this.#scope).map((field) => [field, signOf(field)]));
  }

  // ---- Acts

  #click(element: Element, { button, detail }: MouseEvent) {
    if (button !== 0 || (detail === 0 && this.#entered)) return;
    const clicked = clickedOf(element);
    if (!clicked) return;
    this.#flush();
    const { role, words } = foundOf(clicked);
    const checked = SET.test(role) && !isHTML(clicked, "input") ? attribute(clicked, "aria-checked") : null;
    if (checked === null) return this.#act("click", targetOf(clicked, this.#scope), words);
    const target = targetOf(clicked, this.#scope);
    this.#say(target ? { step: { fill: { fields: [{ target, value: checked !== "true" || role === "radio" }] } }, joins: false } : { missed: words });
  }

  #key(element: Element, event: KeyboardEvent) {
    const { key, isComposing, shiftKey, ctrlKey, altKey, metaKey } = event;
    if (isComposing || shiftKey || ctrlKey || altKey || metaKey) return;
    const isLine = isHTML(element, "input") && !/^(checkbox|radio|button|submit|reset|image|file|range|color)$/.test(typeOf(element));
    const isNative = isHTML(element, "input", "select", "textarea", "button", "a", "summary", "option");
    const isArrow = key.startsWith("Arrow") && MOVED_IN.test(roleOf(element)) && !isHTML(element, "select", "option");
    if (key !== "Enter" && key !== "Escape" && !isArrow) return;
    if (key === "Enter" && isNative && !isLine && !isHTML(element, "textarea")) return; // it is a click
    this.#flush();
    const { words } = foundOf(element);
    const target = isHTML(element, "body", "html") ? { selector: "body" } : targetOf(element, this.#scope);
    if (key === "Enter" && isLine) this.#entered = true;
    if (key !== "Enter" || isLine) return this.#act(key, target, words);
    // Elsewhere Enter is a line break, or means something to the page, which then takes it.
    setTimeout(() => event.defaultPrevented && this.#stop && this.#act(key, target, words));
  }

  /** @param act "click", or a key */
  #act(act: string, target: Target | undefined, words: string, say = this.#say) {
    this.#there = undefined;
    if (!target) return say({ missed: words });
    say({ step: act === "click" ? { click: { target } } : { press: { target, key: act } } });
  }
}

// ---- What a person has meant

/** The element of an event, also in shadow trees that are closed. */
function elementOf(event: Event): Element | undefined {
  const [target] = event.composedPath();
  let kind;
  try {
    kind = nodeType(target);
  } catch {
    return undefined; // a window
  }
  if (kind !== Node.ELEMENT_NODE) return kind === Node.DOCUMENT_NODE ? (target as Document).documentElement : undefined;
  const { clientX, clientY, detail } = event as MouseEvent;
  for (let at = target as Element; ; ) {
    const tree = shadowOf(at);
    const inner = tree && (clientX !== undefined && detail ? tree.elementFromPoint(clientX, clientY) : tree.activeElement);
    if (!inner || inner === at) return at;
    at = inner;
  }
}

function typeOf(element: Element) {
  return isHTML(element, "input") ? inputType(element) : "";
}

const isButton = (element: Element) => /^(button|submit|reset|image)$/.test(typeOf(element));

function isEditor(element: Element) {
  return hasAttribute(element, "contenteditable") && isHTML(element, localName(element)) && isEditable(element);
}

/** The field that an element is, or is in. */
function fieldOf(element: Element): Element | null {
  return outward(element, (at) => (isHTML(at, "input", "select", "textarea") ? !isButton(at) : isEditor(at)));
}

/** What a click is on; undefined if it does nothing but choose a field, or a place in a text. */
function clickedOf(element: Element): Element | undefined {
  const label = (at: Element) => (isHTML(at, "label") ? labelled(at) : null);
  const acts = outward(element, (at) => fieldOf(at) === at || CLICKED.test(roleOf(at)) || label(at) !== null || isHTML(at, "option", "select"));
  if (acts) {
    const at = label(acts) ?? acts;
    return fieldOf(at) === at || isHTML(at, "option", "select") ? undefined : at;
  }
  if (fieldOf(element)) return undefined;
  // What the page itself has made to be clicked looks so, as a whole.
  const isHand = (at: Element) => viewOf(at)?.getComputedStyle(at).cursor === "pointer";
  let clicked = outward(element, (at) => hasAttribute(at, "onclick") || hasAttribute(at, "tabindex") || isHand(at)) ?? undefined;
  if (!clicked || isHTML(clicked, "body", "html")) return undefined;
  for (let outer = clicked; isHand(outer) && !hasAttribute(outer, "onclick") && !hasAttribute(outer, "tabindex"); ) {
    const parent = around(outer);
    if (!parent || isHTML(parent, "body", "html") || !isHand(parent)) break;
    clicked = outer = parent;
  }
  return clicked;
}

/** Whether a checkbox or the like is on; undefined of other fields. */
function checkedOf(field: Element) {
  return /^(checkbox|radio)$/.test(typeOf(field)) ? isChecked(field) : undefined;
}

/** What a field is like, as far as it matters whether it can be filled. */
function signOf(field: Element) {
  const options = isHTML(field, "select") ? [...selectOptions(field)].map((option) => optionLabel(option)).join("\n") : "";
  return `${matchesSelector(field, ":disabled")} ${options}`;
}
