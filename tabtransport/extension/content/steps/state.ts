// The state that fields and the like are in, in the words of a look.

import { attribute, clean, hasAttribute, hasFocus, innerText, inputType, isChecked, isHTML, localName, matchesSelector, optionLabel, selectOptions, valueOf, viewOf } from "./dom.ts";
import { nameOf } from "./find.ts";
import { quoted } from "./looklines.ts";
import { isInParts, secret } from "./secret.ts";
import { hasCardNumber } from "../../secretnames.ts";

const MAX_VALUE = 120;
/** How many options of a select are said, and how many where only a part of the page is looked at. */
const MAX_OPTIONS = 8;
const MAX_SCOPED_OPTIONS = 200;

/**
 * @param name what the element is called
 * @param scoped only a part of the page is looked at
 */
export function statesOf(element: Element, role: string, name: string, scoped: boolean): string {
  const states: string[] = [];
  const is = (attr: string) => attribute(element, `aria-${attr}`)?.toLowerCase();
  if (role === "" && isHTML(element, "input")) states.push(clean(inputType(element), 20));
  states.push(...valueOfField(element, role, name, scoped));
  const checked = isHTML(element, "input") && /^(checkbox|radio)$/.test(inputType(element)) ? (matchesSelector(element, ":indeterminate") && inputType(element) === "checkbox" ? "mixed" : String(isChecked(element))) : is("checked");
  if (checked === "true") states.push("checked");
  if (checked === "mixed") states.push("partly checked");
  if (is("pressed") === "true") states.push("pressed");
  if (is("selected") === "true") states.push("selected");
  const details = localName(element) === "summary" ? element.parentElement : null;
  const expanded = details && isHTML(details, "details") ? String(hasAttribute(details, "open")) : is("expanded");
  if (expanded === "true") states.push("expanded");
  if (expanded === "false") states.push("collapsed");
  if (matchesSelector(element, ":disabled") || is("disabled") === "true") states.push("disabled");
  if (matchesSelector(element, ":required") || is("required") === "true") states.push("required");
  if (hasAttribute(element, "readonly") || is("readonly") === "true") states.push("readonly");
  if ((is("invalid") ?? "false") !== "false" || matchesSelector(element, ":user-invalid")) states.push("invalid");
  if ((is("current") ?? "false") !== "false") states.push("current");
  if (is("busy") === "true") states.push("busy");
  if (/^(ascending|descending)$/.test(is("sort") ?? "")) states.push(is("sort") as string);
  const count = Number(is("rowcount") ?? 0);
  if (count > 0) states.push(`of ${count} rows`);
  if (role && matchesSelector(element, ":focus") && hasFocus(element)) states.push("focused");
  return states.map((state) => ` ${state}`).join("");
}

function valueOfField(element: Element, role: string, name: string, scoped: boolean): string[] {
  const isField = isHTML(element, "input", "select", "textarea");
  if (!isField && !/^(textbox|searchbox|combobox|slider|spinbutton|scrollbar|progressbar|meter)$/.test(role)) return [];
  if (isHTML(element, "input") && /^(checkbox|radio|button|submit|reset|image|hidden)$/.test(inputType(element))) return [];
  if (secret(element, name) || isInParts(element)) return ["(secret)"];
  const value = written(element, role);
  if (hasCardNumber(value)) return ["(secret)"];
  const out = value ? [`= ${quoted(clean(value, MAX_VALUE))}`] : [];
  if (isHTML(element, "select")) out.push(optionsOf(element, scoped));
  else if (role === "slider" || role === "spinbutton") out.push(...rangeOf(element));
  const hint = value ? "" : clean(attribute(element, "placeholder") ?? "", 60);
  if (hint && hint !== clean(name, 60)) out.push(`placeholder ${quoted(hint)}`);
  return out.filter(Boolean);
}

/** What is in a field now. */
function written(element: Element, role: string): string {
  if (isHTML(element, "input") && inputType(element) === "file") return [...((element as HTMLInputElement).files ?? [])].map(({ name }) => name).join(", ");
  const value = valueOf(element);
  if (value !== undefined) return Array.isArray(value) ? value.join(", ") : value;
  const said = attribute(element, "aria-valuetext") ?? attribute(element, "aria-valuenow");
  if (said !== null) return said;
  if (isHTML(element, "progress", "meter")) return hasAttribute(element, "value") ? `${Number(attribute(element, "value"))} of ${Number(attribute(element, "max") ?? 1)}` : "";
  if (/^(slider|spinbutton|scrollbar|progressbar|meter)$/.test(role)) return "";
  const text = isHTML(element, localName(element)) ? innerText(element) : "";
  return role === "combobox" && text.trim() === nameOf(element, role) ? "" : text;
}

function optionsOf(select: Element, scoped: boolean): string {
  const all = [...selectOptions(select)].filter((option) => viewOf(option)?.getComputedStyle(option).display !== "none").map((option) => clean(optionLabel(option), 40)).filter(Boolean);
  const max = scoped ? MAX_SCOPED_OPTIONS : MAX_OPTIONS;
  const more = all.length - max;
  return all.length ? `of ${all.slice(0, max).map(quoted).join(", ")}${more > 0 ? ` and ${more} more` : ""}` : "";
}

function rangeOf(element: Element): string[] {
  const bound = (name: string) => attribute(element, name) ?? attribute(element, `aria-value${name}`);
  const [min, max] = [bound("min"), bound("max")];
  return min && max && Number.isFinite(Number(min)) && Number.isFinite(Number(max)) ? [`from ${Number(min)} to ${Number(max)}`] : [];
}
