// Where a click leads, or a form that is sent: what no step may do, and what browsers do only for a person, is said
// before anything is done.

import {
  attribute, baseOf, clean, controlOf, documentOf, formAction, formMethod, formOf, frameWindow, hasAttribute, href, inputType, isHTML, localName, outward, query,
} from "./dom.ts";
import { Failure } from "./failure.ts";
import { words, type Scope } from "./find.ts";

/**
 * Refuses what leads elsewhere, before it is done.
 * @param submits it submits the form of the field
 */
export function check(element: Element, scope: Scope, submits = false) {
  if (isHTML(element, "input") && inputType(element) === "file") throw new Failure("NEEDS_TRUSTED_INPUT", `browsers let only a person choose files${scope.literal ? "; the step upload puts files there" : ""}`);
  if (isHTML(element, "option", "select")) throw new Failure("STEP_REFUSED", `an option is chosen with ${scope.literal ? "select" : "fill"}, by its label`);
  const link = linkAround(element);
  const to = link && (attribute(link, "href") ?? attribute(link, "xlink:href"));
  if (link && to !== null) leads(isHTML(link, "a") ? href(link) : absolute(to, link), attribute(link, "target"), scope, link);
  const label = outward(element, (at) => isHTML(at, "label"));
  const control = label && controlOf(label);
  if (control && !outward(element, (at) => at === control)) check(control, scope);
  const button = submits ? null : submitterOf(element);
  const form = submits ? formOf(element) : button && formOf(button);
  if (form) checkForm(form, submits ? defaultButton(form) : button, scope);
}

/** The link that a click on an element follows. */
export function linkAround(element: Element) {
  return outward(element, (at) => /^(a|area)$/.test(localName(at)) && (hasAttribute(at, "href") || hasAttribute(at, "xlink:href")));
}

/** An address that is a script, but for those that do nothing: then what listens for the click does it. */
const SCRIPT = /^javascript:(?!\s*(void\b\s*\(?\s*\d*\s*\)?)?\s*;*\s*(\/\/.*)?$)/i;
const FOR_A_PERSON = "a script as an address, which browsers run only for a person";

/**
 * Ends a step whose click did nothing.
 * @param left whether the page has left it to the browser what comes of the click
 */
export function followed(element: Element, left: boolean) {
  const link = left ? linkAround(element) : null;
  if (!link || !SCRIPT.test(attribute(link, "href") ?? "")) return;
  throw Object.assign(new Failure("NEEDS_TRUSTED_INPUT", `${words(link)} has ${FOR_A_PERSON}`), { did: "perhaps" });
}

function checkForm(form: HTMLFormElement, button: Element | null | undefined, scope: Scope) {
  const own = (name: string) => (button && hasAttribute(button, `form${name}`) ? attribute(button, `form${name}`) : null);
  if ((own("method") ?? formMethod(form)).toLowerCase() === "dialog") return;
  const action = own("action");
  const to = action === null ? formAction(form) : absolute(action || location.href, form);
  if (SCRIPT.test(to)) throw new Failure("NEEDS_TRUSTED_INPUT", `${words(form)} has ${FOR_A_PERSON}`);
  leads(to, own("target") ?? attribute(form, "target"), scope, form);
}

/** An address as it is written in an element's page, or as it is if it makes no sense. */
export function absolute(to: string, element: Element) {
  const base = baseOf(element);
  return URL.canParse(to, base) ? new URL(to, base).href : to;
}

function leads(to: string, target: string | null, scope: Scope, element: Element) {
  if (!URL.canParse(to)) throw new Failure("STEP_REFUSED", `${words(element)} leads to ${clean(to, 200)}, which is no address`);
  const { protocol, origin, pathname } = new URL(to);
  if (protocol === "javascript:") return;
  // A form's fields become the query: what comes of them is seen when the page goes there.
  if (!scope.inMatch(to) && !(isHTML(element, "form") && scope.inMatch(`${origin}${pathname}?`)) && !isHere(to)) {
    throw new Failure("STEP_REFUSED", `${words(element)} leads to ${clean(to, 200)}, ${scope.outside}`);
  }
  const name = (target || [...query(documentOf(element), "base[target]")].map((base) => attribute(base, "target"))[0] || "_self").toLowerCase();
  if (/^_(self|top|parent)$/.test(name)) return;
  const frame = [...query(documentOf(element), "iframe[name]")].find((frame) => attribute(frame, "name")?.toLowerCase() === name);
  if (frame && frameWindow(frame)) return;
  const instead = scope.literal && !isHTML(element, "form") ? `; browser_tab new does it, with the address ${clean(to, 2000)}` : "";
  throw new Failure("NEEDS_TRUSTED_INPUT", `${words(element)} opens another tab, which browsers let only a person do${instead}`);
}

/** Whether an address is that of this page, but for its fragment. */
function isHere(to: string) {
  return to.split("#")[0] === location.href.split("#")[0];
}

/** The button that submits a form when the element is clicked. */
export function submitterOf(element: Element): Element | null {
  return outward(element, (at) => (isHTML(at, "input") && /^(submit|image)$/.test(inputType(at))) || (isHTML(at, "button") && !/^(button|reset)$/i.test(attribute(at, "type") ?? "")));
}

export function defaultButton(form: HTMLFormElement): Element | undefined {
  const doc = documentOf(form);
  return [...query(doc, "button,input[type=submit i],input[type=image i]")].find((at) => submitterOf(at) === at && formOf(at) === form);
}
