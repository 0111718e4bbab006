// The DOM as the browser has it. An element's own members are never used: a form's are hidden by
// fields that are named like them (<input name="getAttribute">).

function getter<R>(proto: object, name: string): (of: object) => R {
  const get = Object.getOwnPropertyDescriptor(proto, name)?.get as () => R;
  return (of) => Reflect.apply(get, of, []);
}

function method<A extends unknown[], R>(f: (...args: A) => R): (of: object, ...args: A) => R {
  return (of, ...args) => Reflect.apply(f, of, args);
}

/** Sets a member as the browser's own setter does, past those that a page's framework has put over it. */
function setter<V>(proto: object, name: string): (of: object, value: V) => void {
  const set = Object.getOwnPropertyDescriptor(proto, name)?.set as (value: V) => void;
  return (of, value) => Reflect.apply(set, of, [value]);
}

const E = Element.prototype;
const N = Node.prototype;
const Input = HTMLInputElement.prototype;

export const attribute = method(E.getAttribute);
export const hasAttribute = method(E.hasAttribute);
export const localName = getter<string>(E, "localName");
export const parentNode = getter<Node | null>(N, "parentNode");
export const firstChild = getter<Node | null>(N, "firstChild");
export const nextSibling = getter<Node | null>(N, "nextSibling");
export const nextElement = getter<Element | null>(E, "nextElementSibling");
export const previousElement = getter<Element | null>(E, "previousElementSibling");
export const nodeType = getter<number>(N, "nodeType");
export const textContent = getter<string | null>(N, "textContent");
export const isConnected = getter<boolean>(N, "isConnected");
export const rootOf = method(N.getRootNode) as (of: Node) => Document | ShadowRoot | Node;
export const contains = method(N.contains);
export const matchesSelector = method(E.matches) as (of: Element, selector: string) => boolean;
export const closest = method(E.closest) as (of: Element, selector: string) => Element | null;
export const box = method(E.getBoundingClientRect);
export const rects = method(E.getClientRects);
export const scrollIntoView = method(E.scrollIntoView);
export const scrollBy = method(E.scrollBy) as (of: Element, options: ScrollToOptions) => void;
export const scrollTop = getter<number>(E, "scrollTop");
export const scrollHeight = getter<number>(E, "scrollHeight");
export const clientHeight = getter<number>(E, "clientHeight");
export const dispatch = method(EventTarget.prototype.dispatchEvent);
export const focus = method(HTMLElement.prototype.focus);
export const blur = method(HTMLElement.prototype.blur);
export const nativeClick = method(HTMLElement.prototype.click);
export const tabIndex = getter<number>(HTMLElement.prototype, "tabIndex");
export const isDraggable = getter<boolean>(HTMLElement.prototype, "draggable");
export const hidePopover = method(HTMLElement.prototype.hidePopover);
export const closeDialog = method(HTMLDialogElement.prototype.close);
export const innerText = getter<string>(HTMLElement.prototype, "innerText");
export const isEditable = getter<boolean>(HTMLElement.prototype, "isContentEditable");
export const assignedNodes = method(HTMLSlotElement.prototype.assignedNodes);
export const requestSubmit = method(HTMLFormElement.prototype.requestSubmit);
export const formElements = getter<HTMLFormControlsCollection>(HTMLFormElement.prototype, "elements");
export const formAction = getter<string>(HTMLFormElement.prototype, "action");
export const formMethod = getter<string>(HTMLFormElement.prototype, "method");
export const inputType = getter<string>(Input, "type");
export const inputValue = getter<string>(Input, "value");
export const setInputValue = setter<string>(Input, "value");
export const isChecked = getter<boolean>(Input, "checked");
export const setInputFiles = setter<FileList>(Input, "files");
export const stepUp = method(Input.stepUp);
export const stepDown = method(Input.stepDown);
export const areaValue = getter<string>(HTMLTextAreaElement.prototype, "value");
const selectArea = method(HTMLTextAreaElement.prototype.select);
const selectInput = method(Input.select);
export const setAreaValue = setter<string>(HTMLTextAreaElement.prototype, "value");
export const selectOptions = getter<HTMLOptionsCollection>(HTMLSelectElement.prototype, "options");
export const isMultiple = getter<boolean>(HTMLSelectElement.prototype, "multiple");
export const isSelected = getter<boolean>(HTMLOptionElement.prototype, "selected");
export const setSelected = setter<boolean>(HTMLOptionElement.prototype, "selected");
export const optionLabel = getter<string>(HTMLOptionElement.prototype, "label");
export const optionValue = getter<string>(HTMLOptionElement.prototype, "value");
export const href = getter<string>(HTMLAnchorElement.prototype, "href");
export const execCommand = method(Document.prototype.execCommand);
export const selectionOf = method(Document.prototype.getSelection);
export const selectContents = method(Selection.prototype.selectAllChildren);
export const moveSelection = method(Selection.prototype.modify);
export const baseOf = getter<string>(N, "baseURI");
export const rootElement = getter<HTMLElement | null>(Document.prototype, "documentElement");
export const createElement = method(Document.prototype.createElement) as (of: Document, name: string) => HTMLElement;
export const append = method(E.append) as (of: Element, ...nodes: Node[]) => void;
export const bodyOf = getter<HTMLElement | null>(Document.prototype, "body");
export const scrollerOfPage = getter<Element | null>(Document.prototype, "scrollingElement");
export const frameWindow = getter<Window | null>(HTMLIFrameElement.prototype, "contentWindow");
const windowOfFrame = getter<Window | null>(HTMLFrameElement.prototype, "contentWindow");

/** How far the content of a box reaches, how far it is scrolled, and how much of it is shown. */
export function scrollBox(element: Element) {
  return { height: scrollHeight(element), top: scrollTop(element), shown: clientHeight(element) };
}

/** The window of what is shown in an element. */
export function windowOf(element: Element): Window | null {
  return isHTML(element, "iframe") ? frameWindow(element) : isHTML(element, "frame") ? windowOfFrame(element) : null;
}

const ownerDocument = getter<Document | null>(N, "ownerDocument");
const shadowRoot = getter<ShadowRoot | null>(E, "shadowRoot");
const host = getter<Element>(ShadowRoot.prototype, "host");
const assignedSlot = getter<Element | null>(E, "assignedSlot");
const checkVisibility = method(E.checkVisibility) as (of: Element, options: CheckVisibilityOptions) => boolean;
const QUERY = [
  method(Document.prototype.querySelectorAll),
  method(DocumentFragment.prototype.querySelectorAll),
  method(E.querySelectorAll),
] as ((of: Node, selector: string) => NodeListOf<Element>)[];

const LABELLED: { [name: string]: object } = {
  input: Input,
  select: HTMLSelectElement.prototype,
  textarea: HTMLTextAreaElement.prototype,
  button: HTMLButtonElement.prototype,
  meter: HTMLMeterElement.prototype,
  output: HTMLOutputElement.prototype,
  progress: HTMLProgressElement.prototype,
};

/** Elements under a node, without those of other trees in it. */
export function query(root: Node, selector: string): Iterable<Element> {
  const kind = nodeType(root);
  return QUERY[kind === Node.DOCUMENT_NODE ? 0 : kind === Node.DOCUMENT_FRAGMENT_NODE ? 1 : 2](root, selector);
}

export function documentOf(node: Node): Document {
  return ownerDocument(node) ?? (node as Document);
}

/** The window of an element's document; none if that is not shown. */
export function viewOf(node: Node): (Window & typeof globalThis) | null {
  return defaultView(documentOf(node));
}
const defaultView = getter<(Window & typeof globalThis) | null>(Document.prototype, "defaultView");

/** The element that a document or shadow tree shows at a point of its window. */
export function elementAt(tree: Node, x: number, y: number): Element | null {
  return (nodeType(tree) === Node.DOCUMENT_NODE ? atInDocument : atInShadow)(tree, x, y);
}
const atInDocument = method(Document.prototype.elementFromPoint);
const atInShadow = method(ShadowRoot.prototype.elementFromPoint);

/** Whether the element, by its name, is one of HTML's: those of SVG lack what HTML's have. */
export function isHTML(element: Element, ...names: string[]) {
  return names.includes(localName(element)) && getNamespace(element) === "http://www.w3.org/1999/xhtml";
}
const getNamespace = getter<string | null>(E, "namespaceURI");

/** The shadow tree of an element, also a closed one of a custom element. */
export function shadowOf(element: Element): ShadowRoot | null {
  const open = shadowRoot(element);
  if (open || !localName(element).includes("-")) return open;
  return globalThis.chrome?.dom?.openOrClosedShadowRoot?.(element as HTMLElement) ?? null;
}

/** The element around an element, also past the root of a shadow tree, and the slot in which it is shown. */
export function around(element: Element): Element | null {
  const parent = parentNode(element);
  if (!parent) return null;
  const kind = nodeType(parent);
  if (kind === Node.ELEMENT_NODE) return slotOf(element, parent as Element) ?? (parent as Element);
  return kind === Node.DOCUMENT_FRAGMENT_NODE && rootOf(parent) === parent && isShadow(parent) ? host(parent) : null;
}

/** The slot of its parent's shadow tree in which an element is shown; events go through that. */
function slotOf(element: Element, parent: Element): Element | null {
  const slot = assignedSlot(element);
  if (slot) return slot;
  const tree = shadowOf(parent); // the browser names no slot of a closed one
  const name = attribute(element, "slot") ?? "";
  for (const other of tree ? query(tree, "slot") : []) if ((attribute(other, "name") ?? "") === name) return other;
  return null;
}

function isShadow(node: Node): node is ShadowRoot {
  try {
    return Boolean(host(node));
  } catch {
    return false;
  }
}

/** The first of the element and those around it, in shadow trees, too, that fits. */
export function outward(element: Element, fits: (element: Element) => boolean): Element | null {
  for (let at: Element | null = element; at; at = around(at)) if (fits(at)) return at;
  return null;
}

/** Whether an element is part of what a page shows, if only by what is in it. */
export function isRendered(element: Element): boolean {
  if (checkVisibility(element, { visibilityProperty: true, contentVisibilityAuto: false })) return true;
  const style = isConnected(element) && viewOf(element)?.getComputedStyle(element);
  if (!style || style.display !== "contents" || style.visibility !== "visible") return false;
  const outer = around(element);
  return outer !== null && isRendered(outer);
}

/** Whether a person could see an element, however far they would have to scroll. */
export function isVisible(element: Element): boolean {
  if (!isRendered(element)) return false;
  const boxes = rects(element);
  for (const { width, height } of boxes) if (width > 0 && height > 0) return true;
  return boxes.length === 0; // it has no box of its own (display: contents)
}

/** The labels of each field in a tree, while none can change; the browser would look through the tree for each field. */
let known: Map<Node, Map<Element, Element[]>> | undefined;

/** Does what changes nothing, and may ask for the labels of many fields. */
export function knowingLabels<T>(look: () => T): T {
  const before = known;
  known ??= new Map();
  try {
    return look();
  } finally {
    known = before;
  }
}

export function labelsOf(element: Element): Element[] {
  const proto = LABELLED[localName(element)];
  if (!proto || !isHTML(element, localName(element))) return [];
  if (!known) return [...(getter<NodeListOf<Element> | null>(proto, "labels")(element) ?? [])];
  const tree = rootOf(element);
  let all = known.get(tree);
  if (!all) {
    known.set(tree, (all = new Map()));
    for (const label of query(tree, "label")) {
      const field = controlOf(label);
      if (field) all.set(field, [...(all.get(field) ?? []), label]);
    }
  }
  return all.get(element) ?? [];
}
/** The field of a label. */
export const labelled = getter<Element | null>(HTMLLabelElement.prototype, "control");

/** What a label is for, and what a click on it clicks, too. */
export function controlOf(label: Element): Element | null {
  return isHTML(label, "label") ? labelled(label) : null;
}

/** Whether an element has the focus, or what is in it. */
export function hasFocus(element: Element): boolean {
  const active = activeOf(rootOf(element));
  return active !== null && contains(element, active);
}

/** The element of a document that has the focus, in shadow trees, too. */
export function focused(tree: Node): Element | null {
  const active = activeOf(tree);
  const inner = active && shadowOf(active);
  return (inner && focused(inner)) || active;
}

function activeOf(tree: Node): Element | null {
  return nodeType(tree) === Node.DOCUMENT_NODE ? activeInDocument(tree) : isShadow(tree) ? activeInShadow(tree) : null;
}
const activeInDocument = getter<Element | null>(Document.prototype, "activeElement");
const activeInShadow = getter<Element | null>(ShadowRoot.prototype, "activeElement");

/** The form of a field or button. */
export function formOf(element: Element): HTMLFormElement | null {
  if (!isHTML(element, "input", "button", "select", "textarea")) return null;
  return getter<HTMLFormElement | null>(LABELLED[localName(element)], "form")(element);
}

/** Selects all text of a field. */
export function selectText(element: Element) {
  (isHTML(element, "textarea") ? selectArea : selectInput)(element);
}

/** What a field has: of a select the labels of its options. */
export function valueOf(element: Element): string | string[] | undefined {
  if (isHTML(element, "input")) return inputValue(element);
  if (isHTML(element, "textarea")) return areaValue(element);
  if (isHTML(element, "select")) {
    const chosen = [...selectOptions(element)].filter((option) => isSelected(option)).map((option) => optionLabel(option).trim());
    return isMultiple(element) ? chosen : (chosen[0] ?? "");
  }
  return undefined;
}

/** Characters that nobody sees, with which a text may say something to programs alone, or reverse what is around it. */
export const UNSEEN = /[\p{Cf}\p{Cs}\p{Co}\p{NChar}\p{DI}]/gu;

/** The text of others, made such that it neither fills nor reverses that around it. */
export function clean(text: string, max = 80) {
  // Marks upon marks would cover the lines above.
  const plain = text.slice(0, 40 * max).replace(UNSEEN, "").replace(/(\p{M}{4})\p{M}+/gu, "$1").replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return plain.length > max || text.length > 40 * max ? `${plain.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, "")}…` : plain;
}
