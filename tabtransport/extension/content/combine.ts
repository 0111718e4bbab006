// Several sources may know the same tool; it is offered once.

import { Shape } from "./shape.ts";

/** Merges what several sources offer. Of two items with one name the first counts. */
export function combine(offers: { tools: readonly object[]; resources: readonly object[]; prompts: readonly object[] }[]) {
  const tools = unique(offers.map((offer) => Shape.tools(offer.tools)), "name");
  const resources = unique(offers.map((offer) => Shape.resources(offer.resources)), "uri");
  const prompts = unique(offers.map((offer) => Shape.prompts(offer.prompts)), "name");
  const offer: Offer = {
    tools: tools.items,
    resources: resources.items,
    prompts: prompts.items,
    rejected: [...tools.rejected, ...resources.rejected, ...prompts.rejected],
  };
  const text = [tools, resources, prompts].map((kind) => kind.texts.join()).join("\n") + JSON.stringify(offer.rejected);
  return { text, offer };
}

function unique(lists: Checked[], key: "name" | "uri"): Checked {
  const all: Checked = { items: [], texts: [], rejected: [] };
  const seen = new Set<unknown>();
  for (const list of lists) {
    // Within one list the hub decides: it tells the page's author which was refused.
    const before = new Set(seen);
    list.items.forEach((item, i) => {
      const name = item[key] ?? item.uriTemplate;
      if (before.has(name)) return;
      seen.add(name);
      all.items.push(item);
      all.texts.push(list.texts[i]);
    });
    all.rejected.push(...list.rejected);
  }
  return all;
}
