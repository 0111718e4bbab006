// Fields that hold secrets: no step reads or fills one, and no recording has what is in one.

import { attribute, documentOf, formElements, formOf, inputType, isHTML, query, valueOf, viewOf } from "./dom.ts";
import { isSecretName } from "../../secretnames.ts";

/** The roles of fields that a page builds itself. */
const FIELDS = /\b(textbox|searchbox|combobox|spinbutton|slider)\b/i;
const TOKENS = /^(current-password|new-password|one-time-code|cc-.+)$/;

/** Fields that had a password before a page showed it. */
const were = new WeakSet<Element>();

/** The documents and shadow trees whose password fields are noted. */
const watched = new WeakSet<Node>();

/** Notes the password fields of a document or shadow tree, also those that show their text later. */
export function watchPasswords(tree: Node) {
  if (watched.has(tree)) return;
  watched.add(tree);
  for (const element of query(tree, "input[type=password i]")) were.add(element);
  new MutationObserver((changes) => {
    for (const { target, oldValue } of changes) if (oldValue?.toLowerCase() === "password") were.add(target as Element);
  }).observe(tree, { subtree: true, attributes: true, attributeFilter: ["type"], attributeOldValue: true });
}

/**
 * What kind of secret a field holds, for people; "" if none.
 * @param name its accessible name
 */
export function secret(element: Element, name: string): string {
  if (isHTML(element, "input") && inputType(element) === "password") were.add(element);
  if (were.has(element)) return "a password";
  const isField = isHTML(element, "input", "select", "textarea") || attribute(element, "contenteditable") !== null || FIELDS.test(attribute(element, "role") ?? "");
  if (!isField) return "";
  if ((viewOf(element)?.getComputedStyle(element).getPropertyValue("-webkit-text-security") || "none") !== "none") return "a secret, whose text its page hides";
  if (isHTML(element, "input") && /^(button|submit|reset|image|checkbox|radio|range|color|file|hidden)$/.test(inputType(element))) return "";
  const tokens = (attribute(element, "autocomplete") ?? "").toLowerCase().split(/\s+/).filter((token) => token && !/^(on|off)$/.test(token));
  const names = [name, attribute(element, "name"), attribute(element, "id"), attribute(element, "placeholder")];
  // A page that says what is in it knows: in India a PIN code is that of a place.
  const is = tokens.length > 0 ? tokens.some((token) => TOKENS.test(token)) : names.some((text) => isSecretName(text ?? ""));
  return is ? "a secret, such as a password, a card number or a code" : "";
}

/** Whether a name, as a page gives it to a field, tells the secret that is in the field. */
export function tells(element: Element, name: string): boolean {
  const value = name.length < MIN ? undefined : valueOf(element);
  return typeof value === "string" && value.length >= MIN && name.includes(value) && secret(element, "") !== "";
}
/** How long a value is that is not there by chance. */
const MIN = 4;

/** Whether a field is one of several that take a part of a text each, as a code or a card number often is. */
export function isInParts(field: Element): boolean {
  const max = attribute(field, "maxlength") ?? "";
  if (!isHTML(field, "input") || !/^[1-4]$/.test(max)) return false;
  const form = formOf(field);
  let like = 0;
  for (const at of form ? formElements(form) : query(documentOf(field), "input[maxlength]")) {
    if (isHTML(at, "input") && attribute(at, "maxlength") === max && ++like === 3) return true;
  }
  return false;
}
