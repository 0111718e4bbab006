import { BAD_ADDRESS, ask, element, hubAddress, make, toggle, words } from "./common.js";

/** @type {string} */
let shown = "";

const address = element("address", HTMLInputElement);
/** As a page of the extension itself has it. */
const BROWSER_HAS_WEBMCP = "ModelContext" in window;

/** The tab that the popup is about: its own page's parameter for tests, else the one in front. */
async function tabId() {
  const named = new URLSearchParams(location.search).get("tab");
  if (named) return Number(named);
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  return tab?.id ?? -1;
}

async function show() {
  /** @type {StatusView} */
  const status = await ask({ ask: "status", tabId: await tabId() });
  const [headline, detail] = words(status.hub, status.address);
  element("state", HTMLElement).dataset.state = status.hub.state;
  element("headline", HTMLElement).textContent = headline;
  element("detail", HTMLElement).textContent = detail;
  element("retry", HTMLButtonElement).hidden = status.hub.state === "connected";
  element("dashboard", HTMLButtonElement).disabled = status.hub.state !== "connected";
  if (document.activeElement !== address && element("problem", HTMLElement).textContent === "") address.value = status.address;
  // A list that is the same is left alone: somebody may be reading it.
  const now = JSON.stringify(status.sites);
  if (now === shown) return;
  shown = now;
  element("sites", HTMLElement).replaceChildren(...status.sites.map(section), ...(status.sites.length ? [] : [nothing()]));
}

/** @param {SiteView} site */
function section(site) {
  const name = new URL(site.origin).host;
  const title = make("h2", "wide", name);
  const count = site.tools.length === 1 ? "1 tool" : `${site.tools.length || "No"} tools`;
  const state = site.reached ? count : "The extension is not in this page: reload it, if the browser allows extensions here";
  /** @type {HTMLElement[]} */
  const parts = [
    title,
    toggle("Share this site’s tools", site.on ? state : "Off: the hub sees nothing of this site", site.on, async (on) => {
      await ask({ ask: "site", origin: site.origin, on });
      await show();
    }),
  ];
  if (site.on && !BROWSER_HAS_WEBMCP) {
    const hint = "Its pages are told with their next load";
    parts.push(toggle("Give its pages WebMCP", hint, site.webmcp, (webmcp) => ask({ ask: "site", origin: site.origin, webmcp })));
  }
  if (site.on) {
    const hint = "A call then opens the site again";
    parts.push(toggle("Keep them when its tabs are closed", hint, site.keep, (keep) => ask({ ask: "site", origin: site.origin, keep })));
  }
  if (site.tools.length) {
    parts.push(make("ul", "", ...site.tools.map(tool)));
  }
  if (site.rejected.length) {
    const items = site.rejected.map(({ name, reason }) => make("li", "wide", make("code", "", name), `: ${reason}`));
    parts.push(make("p", "bad", "Left out:"), make("ul", "", ...items));
  }
  const all = make("section", "", ...parts);
  all.setAttribute("aria-label", name);
  return all;
}

/** @param {SiteView["tools"][number]} tool */
function tool({ name, title, description }) {
  const item = make("li", "wide", make("code", "", name));
  if (title && title !== name) item.append(` ${title}`);
  if (description) item.append(make("p", "soft", description));
  return item;
}

function nothing() {
  return make("section", "soft", "This page cannot offer tools: it is not a website.");
}

element("retry", HTMLButtonElement).addEventListener("click", async () => {
  await ask({ ask: "reconnect" });
  await show();
});

element("dashboard", HTMLButtonElement).addEventListener("click", async () => {
  element("problem", HTMLElement).textContent = await ask({ ask: "dashboard" });
});

element("options", HTMLButtonElement).addEventListener("click", () => chrome.runtime.openOptionsPage());

element("hub", HTMLFormElement).addEventListener("submit", async (event) => {
  event.preventDefault();
  const hub = hubAddress(address.value.trim());
  element("problem", HTMLElement).textContent = hub ? "" : BAD_ADDRESS;
  if (!hub) return;
  await ask({ ask: "save", settings: { hub } });
  address.blur();
  await show();
});

element("webmcp", HTMLElement).textContent = `WebMCP: ${BROWSER_HAS_WEBMCP ? "this browser’s own" : "this extension’s, as the browser has none"}.`;
await show();
setInterval(show, 1000);
