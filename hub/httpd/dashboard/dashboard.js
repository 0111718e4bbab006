// The hub's dashboard: signs in, and shows what the admin API says, again every few
// seconds while somebody can see it.

import * as session from "./session.js";
import { byID, showBrowsers, showCalls, showStatus, showTabs } from "./view.js";

const EVERY = 3000; // ms

const auth = document.body.dataset.auth; // see auth in ../dashboard.go

const ENDED = "Signed out: the hub was restarted, its token replaced, or this sign-in is twelve hours old.";

/** @param {string} text "" for none */
function showTrouble(text) {
  const trouble = byID("trouble");
  if (trouble.textContent !== text) trouble.textContent = text;
  trouble.hidden = text === "";
}

/** @param {string} [why] */
function showSignedOut(why = "") {
  showTrouble(why);
  byID("data").hidden = true;
  byID("sign-out").hidden = true;
  byID("signed-out").hidden = false;
  byID("by-address").hidden = auth === "token";
  byID("by-token").hidden = auth !== "token";
  byID("hub").textContent = "One MCP server for every tab you have open.";
  for (const id of ["tabs", "browsers", "calls", "refused"]) byID(id).replaceChildren();
  shown.clear();
}

/** @type {Map<string, string>} what is shown, by the path that it is from */
const shown = new Map();

/**
 * Gets a path, and shows what is there if it has changed.
 * @template T
 * @param {string} path
 * @param {(answer: T) => void} show
 */
async function update(path, show) {
  const answer = await session.get(path);
  const text = JSON.stringify(answer);
  if (shown.get(path) === text) return answer;
  show(answer);
  shown.set(path, text);
  return answer;
}

async function refresh() {
  // One request goes ahead of the others: if something else answers by now, it gets no
  // more than that.
  const status = await update("api/status", showStatus);
  await Promise.all([
    update("api/tabs", showTabs),
    update("api/browsers", showBrowsers),
    update("api/log?event=call&limit=12", showCalls),
  ]);
  byID("signed-out").hidden = true;
  byID("data").hidden = false;
  byID("sign-out").hidden = auth === "none";
  showTrouble(
    status.hub.storeError ? `The store does not take writes: ${status.hub.storeError}`
    : status.record.error ? `What is done now is not recorded: ${status.record.error}`
    : "",
  );
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let next;
let running = false;

/** Refreshes now and then again and again, unless nobody looks or is signed in. */
async function run() {
  clearTimeout(next);
  if (running || document.hidden || !(session.signedIn() || auth === "none")) return;
  running = true;
  try {
    await refresh();
  } catch (err) {
    if (err instanceof session.SignedOut) showSignedOut(ENDED);
    else if (err instanceof session.Refused) showTrouble(err.message);
    else if (!(err instanceof session.Changed)) showTrouble("The hub does not answer. It may have ended; this page goes on trying.");
  } finally {
    running = false;
  }
  next = setTimeout(run, EVERY);
}

/** @param {Parameters<typeof session.signIn>[0]} proof */
async function signIn(proof) {
  try {
    await session.signIn(proof);
    showTrouble("");
  } catch (err) {
    const why = err instanceof session.Refused ? err.message : "the hub does not answer";
    if (!session.signedIn()) return showSignedOut(`This page could not sign in: ${why}.`);
  }
  return run();
}

/** Takes the code out of the address, and whatever else has no place there. */
async function start() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  const old = new URLSearchParams(location.search).has("token");
  if (location.hash !== "" || location.search !== "") history.replaceState(null, "", location.pathname);
  if (code !== null && auth !== "none") return signIn({ code });
  if (session.signedIn() || auth === "none") return run();
  return showSignedOut(old ? "Addresses with a token in them are no longer taken, as they stay in the browser's history; delete your bookmark." : "");
}

for (const base of document.querySelectorAll(".base")) base.textContent = new URL(".", location.href).href.replace(/\/$/, "");
byID("by-token").addEventListener("submit", (event) => {
  event.preventDefault();
  const field = /** @type {HTMLInputElement} */ (byID("token"));
  const token = field.value.trim();
  field.value = "";
  void signIn({ token });
});
byID("sign-out").addEventListener("click", async () => {
  showSignedOut("Signed out.");
  await session.signOut().catch(() => {}); // a hub that does not answer has ended
});
addEventListener("hashchange", start); // another address was opened in this tab
document.addEventListener("visibilitychange", run);
void start();
