// addresses.ts
function isLoopback(hostname) {
  return /^((.*\.)?localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
var HOST = /^([a-z0-9_-]+(\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])$/;
function siteOf(text) {
  const typed = text.trim();
  if (!typed) return { problem: "Write a site, such as example.com." };
  if (typed.includes("*")) {
    return { problem: "A pattern such as *.example.com matches no site here. Write each site by itself, such as shop.example.com." };
  }
  const url = parsed(typed, (host) => isLoopback(host) ? "http" : "https");
  if (url && !/^https?:$/.test(url.protocol)) return { problem: "Only sites at https:// or http:// can have tools." };
  if (!url || !HOST.test(url.hostname)) return { problem: `“${typed.slice(0, 80)}” is no site. Write one as in the address bar, such as example.com or http://localhost:5173.` };
  return { origin: url.origin };
}
function hubOf(text) {
  const url = parsed(text.trim(), (host) => isLoopback(host) ? "ws" : "wss");
  if (!url || !/^(ws|http)s?:$/.test(url.protocol) || !HOST.test(url.hostname)) {
    return { problem: "A hub’s address looks like ws://127.0.0.1:3300/tabs or https://hub.example.com." };
  }
  const scheme = /^(wss|https):$/.test(url.protocol) ? "wss" : "ws";
  return { address: `${scheme}://${url.host}${url.pathname === "/" ? "/tabs" : url.pathname}` };
}
function parsed(text, scheme) {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return URL.canParse(text) ? new URL(text) : void 0;
  if (!URL.canParse(`http://${text}`)) return void 0;
  return new URL(`${scheme(new URL(`http://${text}`).hostname)}://${text}`);
}

// elements.ts
function byID(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof (type ?? HTMLElement))) throw new Error(`the page has no ${type?.name ?? ""}#${id}`);
  return found;
}
function make(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.map((child) => typeof child === "string" ? inOrder(child) : child));
  return made;
}
var inOrder = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (turn) => `\\u${turn.charCodeAt(0).toString(16)}`);

// common.ts
function ask(request) {
  return chrome.runtime.sendMessage(request);
}
function toggle(label, hint2, on, changed) {
  const box = make("input", "");
  box.type = "checkbox";
  box.setAttribute("role", "switch");
  box.checked = on;
  box.addEventListener("change", () => changed(box.checked));
  const words = make("span", "", make("span", "wide", label));
  if (hint2) words.append(make("br", ""), make("span", "soft", hint2));
  return make("label", "switch", words, box);
}
function showBuild(at) {
  at.hidden = !chrome.runtime.getManifest().permissions?.includes("debugger");
  at.textContent = "Trusted input: pages cannot tell what apps do here from what you do.";
}

// states.ts
var STATES = {
  // The browser and the hub.
  connected: ["Connected", "good", ""],
  connecting: ["Connecting…", "good", ""],
  working: ["At work", "good", ""],
  waiting: ["Waiting for you", "wait", ""],
  paused: ["Paused", "wait", "II"],
  absent: ["The hub is not running", "off", "off"],
  unpaired: ["Not paired with the hub", "bad", "!"],
  unproved: ["Not your hub", "bad", "!"],
  outdated: ["The hub is older than the extension", "bad", "!"],
  refused: ["The hub refused this browser", "bad", "!"],
  replaced: ["Another browser took this one’s place", "bad", "!"],
  // Tabs, clients and what they have called.
  active: ["Active", "good"],
  ok: ["Ok", "good"],
  changing: ["Changing page", "wait"],
  dialog: ["Has a dialog open", "wait"],
  inUse: ["In use by you", "wait"],
  away: ["Away", "bad"],
  missing: ["Not there", "bad"],
  open: ["Open", "off"],
  asleep: ["Asleep", "off"],
  cached: ["Cached", "off"],
  closed: ["Closed", "off"]
};

// status.ts
var COLOURS = { good: "#1f5fbf", wait: "#9a6700", bad: "#b3261e", off: "#5f6673" };
function stateOf({ hub, owner, waiting, working }) {
  if (waiting) return "waiting";
  if (hub.state !== "connected") return hub.state;
  if (owner.waiting) return "waiting";
  if (owner.paused) return "paused";
  return working ? "working" : "connected";
}
var RECORDING = {
  asked: { text: "rec?", colour: COLOURS.wait, title: "tabhub: you are asked whether to record what you do in this tab" },
  on: { text: "rec", colour: COLOURS.bad, title: "tabhub: what you do in this tab is written down" },
  ended: { text: "rec!", colour: COLOURS.wait, title: "tabhub: what you have recorded waits for you to send it" }
};
var questions = ({ owner, waiting }) => Math.max(waiting, owner.waiting);
function explain(standing, address2) {
  const { hub, waiting } = standing;
  const { host } = new URL(address2);
  const state = stateOf(standing);
  switch (state) {
    case "waiting": {
      const count = questions(standing);
      const what = count === 1 ? "An app waits for your answer." : `${count} questions of apps wait for your answer.`;
      return waiting ? what : `${what} It was asked elsewhere: answer it in the dashboard, or with “tabhub approve”.`;
    }
    case "paused":
      return "Nothing is done for any app until you resume.";
    case "working":
      return "An app is using a page of this browser.";
    case "connecting":
      return `to ${host}`;
    case "absent":
      return `Nothing answers at ${host}. Start your AI app, or run “tabhub serve”.`;
    case "unproved":
      return `What answers at ${host} cannot prove that it is the hub that this browser is paired with, and was told nothing. Run “tabhub doctor” to see what it is.`;
    case "outdated":
      return "It cannot prove to this browser that it is yours, and was told nothing. Update tabhub, then run “tabhub stop”.";
    case "replaced":
      return "A copy of this browser profile is connected to the hub. To have both, choose “Become a new browser” in the settings.";
  }
  switch (hub.state) {
    case "connected":
      return "Your apps can use the pages that you share.";
    case "unpaired":
      return hub.reason ? `The hub at ${host} does not know this browser. Run “tabhub extension DIR” again and reload the extension, or run “tabhub browser pair”.` : "Run “tabhub browser pair” where the hub is, and open the address that it prints in this browser.";
    case "refused":
      return `At ${host}: ${hub.reason}`;
  }
  return "";
}

// options.ts
var EVERY = 1e3;
var settings;
var address = byID("address", HTMLInputElement);
var modes = document.querySelectorAll("input[name=mode]");
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
  const status = await ask({ ask: "status" });
  const state = stateOf(status);
  const { hub } = status;
  const version = state === "connected" && hub.state === "connected" ? `${hub.hub} ${hub.version}. ` : "";
  byID("state").dataset.state = state;
  showBuild(byID("trusted"));
  byID("headline").textContent = STATES[state][0];
  byID("detail").textContent = version + explain(status, status.address);
}
function showSites(id, origins, label, request) {
  const list = byID(id);
  const rows = [...list.children];
  for (const row of rows) if (row.dataset.label !== label || !origins.includes(row.dataset.origin ?? "")) row.remove();
  origins.forEach((origin, i) => {
    const next = list.children[i];
    if (next?.dataset.origin === origin) return;
    const remove = make("button", "", label);
    remove.setAttribute("aria-label", `${label} ${origin}`);
    remove.addEventListener("click", () => change(request(origin)));
    const row = make("li", "row", make("span", "wide", origin), remove);
    Object.assign(row.dataset, { label, origin });
    list.insertBefore(row, next ?? null);
  });
  while (list.children.length > origins.length) list.lastElementChild?.remove();
}
async function change(request) {
  settings = await ask(request);
  show();
}
for (const mode of modes) {
  mode.addEventListener("change", () => {
    void change({ ask: "save", settings: { mode: mode.value === "all" ? "all" : "allowed" } });
  });
}
function onSite(form, field, problem, request) {
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
var AGAIN = 5e3;
var forget = byID("forget", HTMLButtonElement);
var sure;
function sayOfForget(text, label) {
  byID("forgotten").textContent = text;
  forget.textContent = label;
}
forget.addEventListener("click", async () => {
  clearTimeout(sure);
  if (sure === void 0) {
    sayOfForget("There is no way back. Press again to do it.", "Yes, become a new browser");
    sure = setTimeout(() => {
      sure = void 0;
      sayOfForget("", "Become a new browser");
    }, AGAIN);
    return;
  }
  sure = void 0;
  await ask({ ask: "forget" });
  sayOfForget("Done. The hub has a new browser, and the one before as one that has gone.", "Become a new browser");
});
settings = await ask({ ask: "settings" });
address.value = settings.hub;
var hint = "A thin frame, and the app’s name at its edge. Apps that read or picture the page do not see it.";
byID("mark").append(toggle("Mark the page", hint, settings.mark, (mark) => change({ ask: "save", settings: { mark } })));
show();
await showState();
setInterval(showState, EVERY);
