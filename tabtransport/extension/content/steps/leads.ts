// What references stand for now, and where a click on that leads.

import { absolute, linkAround, submitterOf } from "./destination.ts";
import { attribute, formAction, formMethod, formOf, hasAttribute, href, isHTML, windowOf } from "./dom.ts";
import { Failure } from "./failure.ts";
import { referenced } from "./refs.ts";
import { frameIndex } from "../framepath.ts";

export function resolve(refs: string[]): (RefElement & { index?: number })[] {
  return refs.map((ref) => {
    try {
      const { element, words } = referenced({ ref });
      const leads = leadsTo(element);
      const view = windowOf(element);
      return { ref, words, ...(leads && { leads }), ...(view && { index: frameIndex(view) }) };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { ref, stale: error.message, ...(error.found.length > 0 && { near: error.found }) };
    }
  });
}

/** The origin of the page that a click on an element leads to, if it is one of the web. */
function leadsTo(element: Element): string | undefined {
  const to = linkOf(element) ?? actionOf(element);
  if (to === undefined || !URL.canParse(to)) return undefined;
  const { protocol, origin } = new URL(to);
  return /^https?:$/.test(protocol) ? origin : undefined;
}

function linkOf(element: Element): string | undefined {
  const link = linkAround(element);
  if (!link) return undefined;
  return isHTML(link, "a") && hasAttribute(link, "href") ? href(link) : absolute(attribute(link, "href") ?? attribute(link, "xlink:href") ?? "", link);
}

function actionOf(element: Element): string | undefined {
  const button = submitterOf(element);
  const form = button && formOf(button);
  if (!button || !form) return undefined;
  if ((attribute(button, "formmethod") ?? formMethod(form)).toLowerCase() === "dialog") return undefined;
  return hasAttribute(button, "formaction") ? absolute(attribute(button, "formaction") ?? "", button) : formAction(form);
}
