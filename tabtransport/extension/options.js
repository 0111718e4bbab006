import { BAD_ADDRESS, ask, element, hubAddress, make } from "./common.js";

/** @type {Settings} */
let settings;

const address = element("address", HTMLInputElement);
const site = element("site", HTMLInputElement);
const modes = /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[name=mode]"));

function show() {
  for (const mode of modes) mode.checked = mode.value === settings.mode;
  const all = settings.mode === "all";
  element("sitelabel", HTMLElement).textContent = all ? "Switch a site off" : "Allow a site";
  const list = all ? settings.off : settings.allowed.filter((origin) => !settings.off.includes(origin));
  const items = list.map((origin) => {
    const remove = make("button", "", all ? "Switch on" : "Remove");
    remove.setAttribute("aria-label", `${remove.textContent} ${origin}`);
    remove.addEventListener("click", () => change({ ask: "site", origin, on: all }));
    return make("li", "row", make("span", "wide", origin), remove);
  });
  element("sites", HTMLElement).replaceChildren(...items);
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

element("add", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault();
  const typed = site.value.trim();
  const text = /^[a-z]+:\/\//i.test(typed) ? typed : `https://${typed}`;
  const known = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  element("siteproblem", HTMLElement).textContent = known ? "" : "A site looks like https://example.com";
  if (!known) return;
  site.value = "";
  void change({ ask: "site", origin: new URL(text).origin, on: settings.mode === "allowed" });
});

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
