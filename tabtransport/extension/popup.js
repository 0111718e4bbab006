import { BAD_ADDRESS, ask, element, hubAddress, make, toggle } from "./common.js";
import { STATES, explain, stateOf } from "./states.js";

/** @type {string} */
let shown = "";

const address = element("address", HTMLInputElement);
const pause = element("pause", HTMLButtonElement);
/** Whether everything is paused, as the button shows it. */
let paused = false;
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
  const state = stateOf(status);
  const connected = status.hub.state === "connected";
  element("state", HTMLElement).dataset.state = state;
  element("headline", HTMLElement).textContent = STATES[state][0];
  element("detail", HTMLElement).textContent = explain(status, status.address);
  element("retry", HTMLButtonElement).hidden = connected;
  element("front", HTMLButtonElement).hidden = !status.waiting;
  pause.hidden = !connected;
  paused = status.owner.paused;
  pause.textContent = paused ? "Resume" : "Pause everything";
  element("dashboard", HTMLButtonElement).disabled = !connected;
  showApps(status.owner);
  if (document.activeElement !== address && element("problem", HTMLElement).textContent === "") address.value = status.address;
  // A list that is the same is left alone: somebody may be reading it.
  const now = JSON.stringify(status.sites);
  if (now === shown) return;
  shown = now;
  element("sites", HTMLElement).replaceChildren(...status.sites.map(section), ...(status.sites.length ? [] : [nothing()]));
}

/** @param {OwnerState} owner */
function showApps({ apps = [], at = 0 }) {
  const list = element("apps", HTMLElement);
  list.hidden = !apps.length;
  list.replaceChildren(
    ...apps.map(({ name, said, calls, lastMs }) => {
      const made = calls === 1 ? "1 call" : `${calls.toLocaleString("en")} calls`;
      const last = lastMs ? `${made}, the last ${ago(lastMs + Date.now() - at)}` : "It has called nothing";
      const item = make("li", "wide", name);
      if (said && said !== name) item.append(make("span", "soft", ` calls itself ${said}`));
      item.append(make("p", "soft", last));
      return item;
    }),
  );
}

/** @param {number} ms */
function ago(ms) {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "just now";
  return minutes < 60 ? `${minutes} min ago` : `${Math.floor(minutes / 60)} h ago`;
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

element("front", HTMLButtonElement).addEventListener("click", async () => {
  await ask({ ask: "front" });
  window.close();
});

pause.addEventListener("click", async () => {
  element("problem", HTMLElement).textContent = await ask({ ask: "pause", on: !paused });
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
