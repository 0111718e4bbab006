// The sites that the hub knows; one of them (#sites?site=…), all rules (#sites?show=rules), or packs
// (#sites?show=packs).

import { follow, siteLink } from "./about.ts";
import { byID, chip, element, fill, link, list, number, row, when } from "./dom.ts";
import { openPack, updatePack } from "./pack.ts";
import { openPacks, updatePacks } from "./packs.ts";
import { Pages } from "./pages.ts";
import { openRules, updateRules } from "./rules.ts";
import { openSite, updateSite } from "./site.ts";
import type { Message, Site } from "./api.d.ts";

import type { View } from "./dashboard.ts";

const PART = "sites-part";

let update: (changed: Set<string>) => Promise<void>;
let live: (message: Message) => void;

export const view: View = {
  name: "sites",
  title: "Sites",
  open(section, args, refresh) {
    const [sites, rules, packs] = section.querySelectorAll(".choices a");
    const site = args.get("site");
    const pack = args.get("pack");
    const shows = args.get("show");
    live = (message) => site && follow(message, { site }, refresh);
    (shows === "rules" ? rules : shows === "packs" ? packs : sites).ariaCurrent = "page";
    if (shows === "packs" && pack) {
      openPack(PART, pack);
      update = updatePack;
    } else if (shows === "packs") {
      openPacks(PART);
      update = updatePacks;
    } else if (shows === "rules") {
      openRules(PART);
      update = updateRules;
    } else if (site) {
      openSite(PART, site, refresh);
      byID("all-sites", HTMLAnchorElement).href = back;
      update = updateSite;
    } else {
      openList(args, refresh);
      update = updateList;
    }
  },
  update: (changed) => update(changed),
  live: (message) => live(message),
};

let pages: Pages;
/** Where the list was left for a site. */
let back = "#sites";

function openList(args: URLSearchParams, refresh: (changed: string[]) => void) {
  fill(PART, "site-list");
  const form = byID("site-search", HTMLFormElement);
  pages = new Pages((offset) => {
    back = `#sites?${new URLSearchParams({ q: form.q.value, from: String(offset) })}`;
    history.replaceState(null, "", back);
    refresh(["tabs"]);
  });
  back = location.hash;
  form.q.value = args.get("q") ?? "";
  pages.offset = Math.floor(Number(args.get("from"))) || 0;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => pages.turn());
}

async function updateList(changed: Set<string>) {
  if (!changed.has("tabs") && !changed.has("policy")) return;
  const q = byID("site-search", HTMLFormElement).q.value.trim();
  const { part, found }: { part: Site[]; found: number } = await pages.find("api/sites", { q });
  list(byID("sites"), "table", part.map(siteRow));
  byID("no-sites").hidden = found > 0 || q !== "";
  byID("no-site-found").hidden = found > 0 || q === "";
  byID("site-search").hidden = found === 0 && q === "";
  byID("site-count").textContent = found ? found.toLocaleString("en") : "";
}

function siteRow({ domain, tabs, tools, cached, cachedAt, rules, paused, private: secret, cache, check, callTimeoutMs, lastUsed, calls = 0 }: Site) {
  const state = paused ? chip("paused") : tabs ? chip("open", tabs === 1 ? "1 tab open" : `${tabs} tabs open`) : cached ? chip("cached") : chip("closed");
  const kept = cached ? [number(cached), element("span", "soft below", cachedAt ? `last seen ${when(cachedAt)}` : "")] : "";
  const said = [
    secret && "private",
    rules && (rules === 1 ? "1 rule" : `${rules} rules`),
    (cache !== undefined || check || callTimeoutMs) && "settings of its own",
  ];
  const used = lastUsed ? [link("record", { site: domain }, when(lastUsed)), element("span", "soft below", calls === 1 ? "1 call" : `${calls.toLocaleString("en")} calls`)] : "";
  return row(siteLink(domain), state, tools ? number(tools) : "", kept, used, said.filter(Boolean).join(", "));
}
