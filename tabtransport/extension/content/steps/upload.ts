// Files that a client brings: they are put into a file field, or dropped onto what takes files.

import { around, attribute, controlOf, dispatch, hasAttribute, inputType, isHTML, matchesSelector, outward, query, setInputFiles, shadowOf, viewOf } from "./dom.ts";
import { click, placed } from "./click.ts";
import { check } from "./destination.ts";
import { Failure } from "./failure.ts";
import { changed } from "./fill.ts";
import { words, type Found, type Scope } from "./find.ts";
import { inTime } from "./moment.ts";
import { middle, type View } from "./usable.ts";
import type { Act } from "./act.ts";

type File = import("../../../../spec/schema/tabhub.v1").File;

/** How long a page may take to open a file field, in ms. */
const OPENS = 1_000;
/** How far around a button is looked for its file field. */
const LEVELS = 4;

/** Puts the files where the element says, or refuses to, before anything is done. */
export function uploadTo(found: Found, files: File[], scope: Scope): Act["do"] {
  const field = fieldOf(found.element);
  if (field) return put(found, field, files);
  if (!asksForFiles(found)) return () => drop(found, files);
  check(found.element, scope);
  return async (signal) => put(found, await askedBy(found, scope, signal), files)();
}

/** Whether files are asked for when an element is clicked, if at all. */
export function asksForFiles({ element, role }: Found) {
  return /^(button|link|menuitem)$/.test(role) && !fieldOf(element);
}

/** The file field that a page opens when a button is clicked. */
async function askedBy(found: Found, scope: Scope, signal: AbortSignal): Promise<Element> {
  let field: Element | undefined;
  const view = viewOf(found.element) as View;
  const heard = (event: Event) => {
    const at = event.composedPath()[0];
    if (event.isTrusted || !(at instanceof view.Element) || !isFileField(at)) return;
    event.preventDefault(); // no browser opens it for a script
    field = at;
  };
  view.addEventListener("click", heard, true);
  try {
    click(found, scope);
    const asked = await inTime(OPENS, signal, () => field);
    if (asked) return asked;
  } finally {
    view.removeEventListener("click", heard, true);
  }
  throw new Failure("STEP_NOT_FOUND", `${found.words} opened no file field when it was clicked; name the field, or what files can be dropped onto`);
}

function put(found: Found, field: Element, files: File[]): () => string {
  const called = `${words(field)}${field === found.element ? "" : ` of ${found.words}`}`;
  if (matchesSelector(field, ":disabled")) throw new Failure("STEP_REFUSED", `${called} is disabled`);
  if (hasAttribute(field, "webkitdirectory")) throw new Failure("NEEDS_TRUSTED_INPUT", `${called} takes a folder, which browsers let only a person choose`);
  if (files.length > 1 && !hasAttribute(field, "multiple")) throw new Failure("STEP_REFUSED", `${called} takes one file, not ${files.length}`);
  return () => {
    setInputFiles(field, transferOf(field, files).files);
    changed(field);
    return `put ${named(files)} into ${called}`;
  };
}

/** The file field that a click on an element would open: itself, that of its label, or the only one in it or near it. */
function fieldOf(element: Element): Element | undefined {
  if (isFileField(element)) return element;
  const label = outward(element, (at) => isHTML(at, "label"));
  const control = label && controlOf(label);
  if (control && isFileField(control)) return control;
  const inside = fieldsIn(element);
  if (inside.length > 0) return inside.length === 1 ? inside[0] : undefined;
  if (!isHTML(element, "button", "a", "input") && !/^(button|link|menuitem)$/.test(attribute(element, "role") ?? "")) return undefined;
  let outer = around(element);
  for (let level = 0; outer && level < LEVELS && !isHTML(outer, "body", "html"); level++, outer = around(outer)) {
    const near = fieldsIn(outer);
    if (near.length > 0) return near.length === 1 ? near[0] : undefined;
  }
  return undefined;
}

function fieldsIn(element: Element): Element[] {
  const shadow = shadowOf(element);
  return [...query(element, "input[type=file i]"), ...(shadow ? query(shadow, "input[type=file i]") : [])];
}

function isFileField(element: Element) {
  return isHTML(element, "input") && inputType(element) === "file";
}

function drop(found: Found, files: File[]): string {
  const { element } = found;
  const view = viewOf(element) as View;
  const dataTransfer = transferOf(element, files);
  const event = (type: string) => dispatch(element, new view.DragEvent(type, { ...placed(view, middle(element)), dataTransfer }));
  event("dragenter");
  const isTaken = !event("dragover");
  if (!isTaken) {
    event("dragleave");
    throw new Failure("STEP_REFUSED", `${found.words} takes no files that are dropped there`);
  }
  event("drop");
  return `dropped ${named(files)} onto ${found.words}`;
}

function transferOf(element: Element, files: File[]): DataTransfer {
  const view = viewOf(element) as View;
  const transfer = new view.DataTransfer();
  for (const { name, mimeType = "", data } of files) {
    const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
    transfer.items.add(new view.File([bytes], name, { type: mimeType, lastModified: Date.now() }));
  }
  return transfer;
}

function named(files: File[]) {
  return files.map(({ name }) => JSON.stringify(name)).join(", ");
}
