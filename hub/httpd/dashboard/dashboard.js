// The hub's dashboard: signs in, and shows what the admin API says, again every few
// seconds while somebody can see it. Questions come by themselves where they can be
// answered.

import { showClients } from "./clients.js";
import { byID, waitsForClick } from "./dom.js";
import { showPolicy } from "./policy.js";
import { onFilter, recordPath, showRecord } from "./record.js";
import * as session from "./session.js";
import { showBrowsers, showStatus, showTabs } from "./view.js";
import { showQuestions, sweep } from "./waiting.js";

const EVERY = 2000; // ms
const STAY = 60_000; // ms between two notes that somebody uses the page

const { auth, base, own } = document.body.dataset; // see dashboard in ../dashboard.go

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
  showPower();
  byID("hub").textContent = "One MCP server for every tab you have open.";
  for (const id of ["tabs", "browsers", "clients", "rules", "private", "pauses", "record", "refused"]) byID(id).replaceChildren();
  showQuestions([]);
  byID("questions").replaceChildren();
  shown.clear();
}

/** @type {Map<Function, string>} what is shown, by what has shown it */
const shown = new Map();

/**
 * Gets a path, and shows what is there if that is something else than before.
 * @template T
 * @param {string} path
 * @param {(answer: T) => void} show
 */
async function update(path, show) {
  const answer = await session.ask("GET", path);
  const text = path + JSON.stringify(answer);
  if (shown.get(show) === text || waitsForClick()) return answer;
  show(answer);
  shown.set(show, text);
  return answer;
}

async function refresh() {
  // One request goes ahead of the others: if something else answers by now, it gets no
  // more than that.
  const status = await update("api/status", showStatus);
  if (session.mayWrite()) void watch();
  await update("api/clients", showClients); // of which policies name some
  await Promise.all([
    update("api/tabs", showTabs),
    update("api/browsers", showBrowsers),
    update("api/policy", showPolicy),
    update(recordPath(), showRecord),
    watching || update("api/questions", showQuestions),
  ]);
  sweep();
  byID("signed-out").hidden = true;
  byID("data").hidden = false;
  byID("sign-out").hidden = auth === "none";
  showTrouble(
    status.hub.storeError ? `The store does not take writes: ${status.hub.storeError}`
    : status.record.error ? `What is done now is not recorded: ${status.record.error}`
    : "",
  );
}

let watching = false;

/** Shows the questions as they come, as long as they can be answered here. */
async function watch() {
  if (watching) return;
  watching = true;
  try {
    for await (const questions of session.events("api/questions/watch")) showQuestions(questions);
  } catch {
    // The next request says why.
  } finally {
    watching = false;
    shown.delete(showQuestions);
  }
}

/** Shows what can be decided here. */
function showPower() {
  const writes = session.mayWrite();
  document.body.classList.toggle("may-write", writes);
  byID("only-reads").hidden = writes || byID("data").hidden;
  byID("idle").hidden = base === "";
  byID("how").hidden = own === "false";
}

let stayed = 0;

/** Somebody uses the page. */
async function used() {
  if (!session.mayWrite() || Date.now() - stayed < STAY) return;
  stayed = Date.now();
  await session.stay().catch(() => {}); // the next request says why
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let next;
let running = false;

/** Refreshes now and then again and again, unless nobody looks or is signed in. */
async function run() {
  clearTimeout(next);
  if (!(session.signedIn() || auth === "none")) {
    if (!byID("data").hidden) showSignedOut(ENDED);
    return;
  }
  if (running || document.hidden) return;
  running = true;
  try {
    await refresh();
  } catch (err) {
    if (err instanceof session.SignedOut) showSignedOut(ENDED);
    else if (err instanceof session.Refused) showTrouble(err.message);
    else if (!(err instanceof session.Changed)) showTrouble("The hub does not answer. It may have ended; this page goes on trying.");
  } finally {
    running = false;
    showPower();
  }
  next = setTimeout(run, EVERY);
}

/** @param {Parameters<typeof session.signIn>[0]} proof */
async function signIn(proof) {
  try {
    await session.signIn(proof);
    showTrouble("");
    showPower();
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
  const before = session.signedIn();
  if (before && base !== "") await session.stay().catch(() => {}); // the next request says why
  if (session.signedIn() || auth === "none") return run();
  if (before) return showSignedOut(ENDED);
  return showSignedOut(old ? "Addresses with a token in them are no longer taken, as they stay in the browser's history; delete your bookmark." : "");
}

const address = base || new URL(".", location.href).href.replace(/\/$/, "");
for (const place of document.querySelectorAll(".base")) place.textContent = address;
/** @type {HTMLAnchorElement} */ (byID("demo")).href = `${address}/demo`;
onFilter(run);
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
for (const type of ["pointerdown", "keydown"]) addEventListener(type, used);
addEventListener("hashchange", start); // another address was opened in this tab
document.addEventListener("visibilitychange", run);
void start();
