// Several sources may know the same tool; it is offered once.
"use strict";

/**
 * Merges what several sources offer. Of two items with one name the first counts.
 *
 * @param {{tools: readonly object[], resources: readonly object[], prompts: readonly object[]}[]} offers
 */
function combine(offers) {
  const tools = unique(offers.map((offer) => Shape.tools(offer.tools)), "name");
  const resources = unique(offers.map((offer) => Shape.resources(offer.resources)), "uri");
  const prompts = unique(offers.map((offer) => Shape.prompts(offer.prompts)), "name");
  /** @type {Offer} */
  const offer = {
    tools: tools.items,
    resources: resources.items,
    prompts: prompts.items,
    rejected: [...tools.rejected, ...resources.rejected, ...prompts.rejected],
  };
  const text = [tools, resources, prompts].map((kind) => kind.texts.join()).join("\n") + JSON.stringify(offer.rejected);
  return { text, offer };
}

/**
 * @param {Checked[]} lists
 * @param {"name" | "uri"} key
 * @returns {Checked}
 */
function unique(lists, key) {
  /** @type {Checked} */
  const all = { items: [], texts: [], rejected: [] };
  const seen = new Set();
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
