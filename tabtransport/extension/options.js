import { BAD_ADDRESS, ask, element, hubAddress, make } from "./common.js";

/** @type {Settings} */
let settings;

const address = element("address", HTMLInputElement);
const modes = /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[name=mode]"));

function show() {
  for (const mode of modes) mode.checked = mode.value === settings.mode;
  const all = settings.mode === "all";
  element("sitelabel", HTMLElement).textContent = all ? "Switch a site off" : "Allow a site";
  const list = all ? settings.off : settings.allowed.filter((origin) => !settings.off.includes(origin));
  showSites("sites", list, all ? "Switch on" : "Remove", (origin) => ({ ask: "site", origin, on: all }));
  showSites("plain", settings.plain, "Give it again", (origin) => ({ ask: "site", origin, webmcp: true }));
}

/**
 * @param {string} id of the list
 * @param {string[]} origins
 * @param {string} label of what takes one out of it
 * @param {(origin: string) => UIRequest} request what that asks
 */
function showSites(id, origins, label, request) {
  const items = origins.map((origin) => {
    const remove = make("button", "", label);
    remove.setAttribute("aria-label", `${label} ${origin}`);
    remove.addEventListener("click", () => change(request(origin)));
    return make("li", "row", make("span", "wide", origin), remove);
  });
  element(id, HTMLElement).replaceChildren(...items);
}

/** @param {UIRequest} request */
async function change(request) {
  settings = await ask(request);
  show();
}

for (const mode of modes) {
  mode.addEventListener("change", () => {
    void change({ ask: "save", settings: { mode: mode.value === "all" ? "all" : "allowed" } });
  });
}

/**
 * Asks for what a form says of a site that is typed there.
 *
 * @param {string} form
 * @param {string} field
 * @param {string} problem
 * @param {(origin: string) => UIRequest} request
 */
function onSite(form, field, problem, request) {
  const site = element(field, HTMLInputElement);
  element(form, HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = site.value.trim();
    const text = /^[a-z]+:\/\//i.test(typed) ? typed : `https://${typed}`;
    const known = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
    element(problem, HTMLElement).textContent = known ? "" : "A site looks like https://example.com";
    if (!known) return;
    site.value = "";
    void change(request(new URL(text).origin));
  });
}

onSite("add", "site", "siteproblem", (origin) => ({ ask: "site", origin, on: settings.mode === "allowed" }));
onSite("leave", "left", "leftproblem", (origin) => ({ ask: "site", origin, webmcp: false }));

element("hub", HTMLFormElement).addEventListener("submit", async (event) => {
  event.preventDefault();
  const hub = hubAddress(address.value.trim());
  element("problem", HTMLElement).textContent = hub ? "" : BAD_ADDRESS;
  if (!hub) return;
  await change({ ask: "save", settings: { hub } });
  element("saved", HTMLElement).textContent = "Saved.";
});

element("pairing", HTMLFormElement).addEventListener("submit", async (event) => {
  event.preventDefault();
  const link = element("link", HTMLInputElement);
  element("linkproblem", HTMLElement).textContent = await ask({ ask: "paste", link: link.value.trim() });
  link.value = "";
});

element("forget", HTMLButtonElement).addEventListener("click", async () => {
  await ask({ ask: "forget" });
  element("forgotten", HTMLElement).textContent = "Done. The hub sees a new browser.";
});

settings = await ask({ ask: "settings" });
address.value = settings.hub;
show();
