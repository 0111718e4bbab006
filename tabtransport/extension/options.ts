import { hubOf, siteOf } from "./addresses.ts";
import { ask, showBuild, toggle } from "./common.ts";
import { byID, make } from "./elements.ts";

import { STATES } from "./states.ts";
import { explain, stateOf } from "./status.ts";

/** How often the state is brought up to date, in ms. */
const EVERY = 1000;

let settings: Settings;

const address = byID("address", HTMLInputElement);
const modes = document.querySelectorAll("input[name=mode]") as NodeListOf<HTMLInputElement>;

function show() {
  for (const mode of modes) mode.checked = mode.value === settings.mode;
  const all = settings.mode === "all";
  byID("sitelabel").textContent = all ? "Switch a site off" : "Allow a site";
  const list = all ? settings.off : settings.allowed.filter((origin) => !settings.off.includes(origin));
  showSites("sites", list, all ? "Switch on" : "Remove", (origin) => ({ ask: "site", origin, on: all }));
  showSites("plain", settings.plain, "Give it again", (origin) => ({ ask: "site", origin, webmcp: true }));
  showSites("keep", settings.keep, "Remove", (origin) => ({ ask: "site", origin, keep: false }));
  byID("nokeep").hidden = settings.keep.length > 0;
}

async function showState() {
  const status: StatusView = await ask({ ask: "status" });
  const state = stateOf(status);
  const { hub } = status;
  const version = state === "connected" && hub.state === "connected" ? `${hub.hub} ${hub.version}. ` : "";
  byID("state").dataset.state = state;
  showBuild(byID("trusted"));
  byID("headline").textContent = STATES[state][0];
  byID("detail").textContent = version + explain(status, status.address);
}

/**
 * @param id of the list
 * @param label of what takes one out of it
 * @param request what that asks
 */
function showSites(id: string, origins: string[], label: string, request: (origin: string) => UIRequest) {
  const list = byID(id);
  const rows = [...list.children] as HTMLElement[];
  for (const row of rows) if (row.dataset.label !== label || !origins.includes(row.dataset.origin ?? "")) row.remove();
  origins.forEach((origin, i) => {
    const next = list.children[i] as HTMLElement | undefined;
    if (next?.dataset.origin === origin) return; // a row stays in place: it may be about to be pressed
    const remove = make("button", "", label);
    remove.setAttribute("aria-label", `${label} ${origin}`);
    remove.addEventListener("click", () => change(request(origin)));
    const row = make("li", "row", make("span", "wide", origin), remove);
    Object.assign(row.dataset, { label, origin });
    list.insertBefore(row, next ?? null);
  });
  while (list.children.length > origins.length) list.lastElementChild?.remove();
}

async function change(request: UIRequest) {
  settings = await ask(request);
  show();
}

for (const mode of modes) {
  mode.addEventListener("change", () => {
    void change({ ask: "save", settings: { mode: mode.value === "all" ? "all" : "allowed" } });
  });
}

/** Asks for what a form says of a site that is typed there. */
function onSite(form: string, field: string, problem: string, request: (origin: string) => UIRequest) {
  const site = byID(field, HTMLInputElement);
  byID(form, HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    const named = siteOf(site.value);
    const wrong = "problem" in named;
    byID(problem).textContent = wrong ? named.problem : "";
    site.ariaInvalid = String(wrong);
    if (wrong) return;
    site.value = "";
    void change(request(named.origin));
  });
}

onSite("add", "site", "siteproblem", (origin) => ({ ask: "site", origin, on: settings.mode === "allowed" }));
onSite("leave", "left", "leftproblem", (origin) => ({ ask: "site", origin, webmcp: false }));

byID("hub", HTMLFormElement).addEventListener("submit", async (event) => {
  event.preventDefault();
  const named = hubOf(address.value);
  const wrong = "problem" in named;
  byID("problem").textContent = wrong ? named.problem : "";
  byID("saved").textContent = "";
  address.ariaInvalid = String(wrong);
  if (wrong) return;
  await change({ ask: "save", settings: { hub: named.address } });
  address.value = settings.hub;
  byID("saved").textContent = "Saved.";
  await showState();
});

byID("pairing", HTMLFormElement).addEventListener("submit", async (event) => {
  event.preventDefault();
  const link = byID("link", HTMLInputElement);
  byID("linkproblem").textContent = await ask({ ask: "paste", link: link.value.trim() });
  link.value = "";
});

/** How long the button waits to be pressed again, in ms. */
const AGAIN = 5_000;
const forget = byID("forget", HTMLButtonElement);
let sure: ReturnType<typeof setTimeout> | undefined;

function sayOfForget(text: string, label: string) {
  byID("forgotten").textContent = text;
  forget.textContent = label;
}

forget.addEventListener("click", async () => {
  clearTimeout(sure);
  if (sure === undefined) {
    sayOfForget("There is no way back. Press again to do it.", "Yes, become a new browser");
    sure = setTimeout(() => {
      sure = undefined;
      sayOfForget("", "Become a new browser");
    }, AGAIN);
    return;
  }
  sure = undefined;
  await ask({ ask: "forget" });
  sayOfForget("Done. The hub has a new browser, and the one before as one that has gone.", "Become a new browser");
});

settings = await ask({ ask: "settings" });
address.value = settings.hub;
const hint = "A thin frame, and the app’s name at its edge. Apps that read or picture the page do not see it.";
byID("mark").append(toggle("Mark the page", hint, settings.mark, (mark) => change({ ask: "save", settings: { mark } })));
show();
await showState();
setInterval(showState, EVERY);
