// One site: its settings, what may be done with its tools, and what is known of it.

import { isPaused, openAbout, showPauseOf, updateAbout } from "./about.ts";
import { showAccess } from "./access.ts";
import { byID, chip, element, fill, link, tell, twice, when } from "./dom.ts";
import { Pages } from "./pages.ts";
import { ask, find } from "./session.ts";

import type { Client, Policy, Site } from "./api.d.ts";

let site: string;
/** Of tools. */
let pages: Pages;

export function openSite(into: string, domain: string, refresh: (changed: string[]) => void) {
  site = domain;
  fill(into, "one-site");
  byID("site-name").textContent = site;
  openAbout({ site });
  pages = new Pages(() => refresh(["tabs"]));
  byID("access-client").addEventListener("change", () => pages.turn());
  const settings = byID("site-settings", HTMLFormElement);
  settings.addEventListener("submit", (event) => {
    event.preventDefault();
    void tell(settings, async () => {
      const { cache, check, timeout } = Object.fromEntries(new FormData(settings));
      await ask("PUT", "api/site", {
        domain: site,
        cache: cache === "" ? undefined : cache === "true",
        check: check || undefined,
        callTimeoutMs: Number(timeout) * 1000 || undefined,
      });
      return "Saved.";
    });
  });
}

export async function updateSite(changed: Set<string>) {
  const policy: Policy = await ask("GET", "api/policy");
  if (changed.has("clients")) showClients(await ask("GET", "api/clients"));
  if (changed.has("tabs") || changed.has("policy") || changed.has("clients")) {
    const client = byID("access-client", HTMLSelectElement).value;
    const { part }: { part: Site[] } = await find(`api/sites?site=${encodeURIComponent(site)}`);
    showSite(part[0], policy);
    await showAccess(policy, client ? { site, client } : { site }, pages);
  }
  await updateAbout(changed, policy, { site });
}

function showClients(clients: Client[]) {
  const select = byID("access-client", HTMLSelectElement);
  const was = select.value;
  select.replaceChildren(
    new Option("a client that no rule names", ""),
    ...clients.map(({ id, name }) => new Option(name, id)),
    new Option("a client with the hub’s token", "token"),
    new Option("a program without a credential", "unnamed"),
  );
  select.value = was;
  if (select.selectedIndex < 0) select.value = "";
}

/** What was shown of the settings last: what is being typed stays. */
let settings = "";

function showSite(known: Site | undefined, policy: Policy) {
  const { cache, check = "", callTimeoutMs, tabs = 0, cached = 0, cachedAt, private: secret = false, lastUsed, calls = 0 } = known ?? {};
  const states = [tabs ? chip("open", tabs === 1 ? "1 tab open" : `${tabs} tabs open`) : chip("closed", "no tab open")];
  if (isPaused(policy, { site })) states.push(chip("paused"));
  if (secret) states.push(element("span", "chip off", "private"));
  const used = lastUsed ? [link("record", { site }, `last used ${when(lastUsed)}, ${calls === 1 ? "1 call" : `${calls.toLocaleString("en")} calls`}`)] : [];
  byID("site-state").replaceChildren(...states, ...used);
  showPauseOf("site-pause", policy, { site }, site);

  const set = JSON.stringify([cache, check, callTimeoutMs]);
  const form = byID("site-settings", HTMLFormElement);
  if (set !== settings || form.dataset.site !== site) {
    const put = (name: string, value: string) => ((form.elements.namedItem(name) as HTMLInputElement).value = value);
    put("cache", cache === undefined ? "" : String(cache));
    put("check", check === "strict" ? "" : check);
    put("timeout", callTimeoutMs ? String(callTimeoutMs / 1000) : "");
    settings = set;
    form.dataset.site = site;
  }
  const said = [
    cache === undefined ? "" : cache ? "Tools of closed tabs are kept." : "Tools of closed tabs are forgotten.",
    check ? `Arguments are checked: ${check}.` : "",
    callTimeoutMs ? `A call may take ${callTimeoutMs / 1000} s.` : "",
  ];
  byID("site-said").textContent = said.filter(Boolean).join(" ") || "It has the usual settings.";

  const mark = byID("site-private", HTMLButtonElement);
  const exact = policy.private.includes(site);
  mark.hidden = secret && !exact; // by a wider name
  mark.textContent = exact ? "No longer private" : "Make it private";
  mark.title = "Before a client that has read a private site does something at another one, you are asked.";
  mark.onclick = () => tell(mark, () => ask("PUT", "api/policy/private", { site, private: !exact }));

  const left = byID("site-cached");
  left.hidden = cached === 0;
  left.replaceChildren(
    `${cached === 1 ? "1 tool is" : `${cached} tools are`} cached: no tab has ${cached === 1 ? "it" : "them"} now${cachedAt ? `; last seen ${when(cachedAt)}` : ""}. A call opens the site. `,
    twice("Forget", `Forget what is cached of ${site}`, async () => {
      await ask("DELETE", `api/site/cache?site=${encodeURIComponent(site)}`);
      return "Forgotten.";
    }),
  );
}
