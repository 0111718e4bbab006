// The hub's dashboard: its shell, with sign-in, the views' navigation, the pause and the
// count of what waits for the owner.
//
// A view is a module that exports a View (below), listed in VIEWS. The address names it:
// #record?site=a.example shows the view "record" with the arguments site=a.example.
//
// - Its HTML is the template NAME-view of index.html. The shell clones that into #view before
//   open(), and drops it after close(): a view keeps no data past that, and only the visible
//   one asks the hub for anything. Elements have ids, which byID finds.
// - open() adds listeners and asks nothing. update() is called next, and whenever something of what
//   it gets may have changed, which is a part of ALL in stream.ts: it fetches with ask() of
//   session.ts and shows. It never runs twice at once, and what it throws is shown by the shell.
//   The function refresh that open() is given has it called, too.
// - live() gets each message of the hub's stream: what must be seen at once.
// - What the owner does goes through button(), twice() or tell() of dom.ts, which say in words
//   how it went, as a toast or in the .answer of its form.
// - What decides has the class "writes", and is there only where the page may decide; "reads" is
//   the opposite. The hub checks.
// - All that pages and clients say is text: foreign() isolates it. The page has no innerHTML, and
//   its policy no inline style or script: set classes and properties.
// - States are chip()s, in the words of the extension's states.ts. list() shows a table's rows, which
//   become cards on a phone by the words of its header. Nothing to show: an .empty that says the
//   next step.
// - Colours are the tokens in tokens.css, which is the extension's, too.

import * as clients from "./clients.ts";
import { ACTED, byID, showAddress, undecided, when } from "./dom.ts";
import { loadNames } from "./names.ts";
import { showGone, showPause } from "./pause.ts";
import { STATES } from "../../../../tabtransport/extension/states.ts";
import { ALL, follow, heardAt } from "./stream.ts";
import { showQuestions, sweep } from "./waiting.ts";
import type { Message, Pack, Question, Status } from "./api.d.ts";
import * as health from "./health.ts";
import * as now from "./now.ts";
import * as record from "./record.ts";
import * as session from "./session.ts";
import * as sites from "./sites.ts";

import * as tabs from "./tabs.ts";

export interface View {
  name: string;
  title: string;
  open: (section: HTMLElement, args: URLSearchParams, refresh: (changed: string[]) => void) => void;
  update: (changed: Set<string>) => Promise<void>;
  live?: (message: Message) => void;
  close?: () => void;
}

/** The first is shown if the address names none. */
const VIEWS: View[] = [now, tabs, sites, clients, record, health].map(({ view }) => view);

const PACE = 500; // ms between two updates
const RETRY = 500; // ms until the hub is asked again, the first time; then twice as long each time
const RETRY_MAX = 8000;
const LOOK = 15_000; // ms between two looks at whether the hub can keep what is done
const STAY = 60_000; // ms between two notes that the page is in use

const { auth, base, own } = document.body.dataset; // see dashboard in ../dashboard.go

const ENDED = "Signed out: the hub was restarted, its token replaced, or this sign-in is twelve hours old.";

/** The one that is shown. */
let shown: View | undefined;
let openings = 0;

const mayRead = () => session.signedIn() || auth === "none";

/** @param text "" for none */
function showTrouble(text: string) {
  const trouble = byID("trouble");
  if (trouble.textContent !== text) trouble.textContent = text;
  trouble.hidden = text === "";
}

function showSignedOut(why = "") {
  closeView();
  setGone(false);
  showAll([]);
  byID("questions").replaceChildren();
  for (const id of ["data", "nav", "power", "sign-out"]) byID(id).hidden = true;
  byID("title").textContent = "tabhub";
  byID("signed-out").hidden = false;
  byID("by-address").hidden = auth === "token";
  byID("by-token").hidden = auth !== "token";
  showPower();
  showTrouble(why);
}

function closeView() {
  undecided();
  shown?.close?.();
  shown = undefined;
  byID("view").replaceChildren();
  delete document.body.dataset.view;
}

/** The view that the address names, and its arguments. */
function named() {
  const [name, args] = location.hash.slice(1).split("?", 2);
  return { view: VIEWS.find((v) => v.name === name) ?? VIEWS[0], args: new URLSearchParams(args) };
}

function openView() {
  closeView();
  const { view, args } = named();
  shown = view;
  openings++;
  const section = byID("view");
  const parts = byID(`${view.name}-view`, HTMLTemplateElement);
  section.append(document.importNode(parts.content, true));
  showAddress(section);
  document.body.dataset.view = view.name;
  byID("title").textContent = view.title;
  for (const link of byID("nav").querySelectorAll("a")) link.ariaCurrent = link.hash === `#${view.name}` ? "page" : null;
  showWaiting();
  view.open(section, args, refresh);
  refreshed = -PACE;
  refresh(ALL);
}

/** How many questions wait, for all views. */
let waiting = 0;

function showWaiting() {
  const words = waiting === 1 ? "1 question waits for you" : `${waiting} questions wait for you`;
  byID("waiting-badge").textContent = String(waiting);
  byID("waiting-badge").ariaLabel = words;
  byID("waiting-badge").hidden = waiting === 0;
  byID("elsewhere").hidden = waiting === 0 || shown === now.view;
  byID("elsewhere").children[0].textContent = words;
  const title = shown && shown !== VIEWS[0] ? `${shown.title} · tabhub` : "tabhub";
  document.title = waiting ? `(${waiting}) ${title}` : title;
}

/** What has changed and is not shown yet. */
const stale = new Set<string>();
let refreshing = false;
let refreshed = -PACE; // when, as performance.now() has it
let next: ReturnType<typeof setTimeout> | undefined;

/** Has what has changed fetched and shown: at once, or when some time has passed since the last one. */
function refresh(changed: Iterable<string>) {
  for (const kind of changed) stale.add(kind);
  clearTimeout(next);
  if (!refreshing) next = setTimeout(update, refreshed + PACE - performance.now());
}

async function update() {
  const view = shown;
  if (!view || !connected) return;
  const opening = openings;
  const kinds = new Set(stale);
  for (const kind of kinds) stale.delete(kind);
  refreshing = true;
  refreshed = performance.now();
  try {
    await Promise.all([updateShell(kinds), view.update(kinds)]);
  } catch (err) {
    if (opening === openings) failed(err); // and not because its elements have gone
  } finally {
    refreshing = false;
    if (stale.size > 0) refresh([]);
  }
}

async function updateShell(changed: Set<string>) {
  if (changed.has("questions") && !watching) {
    if (session.mayWrite()) void watchQuestions();
    else showAll(await session.ask("GET", "api/questions"));
  }
  if (changed.has("status") || (changed.has("tabs") && !byID("unpaired").hidden)) showStatus(await session.ask("GET", "api/status"));
  if (changed.has("clients")) await loadNames();
  if (changed.has("packs")) showPacks(await session.ask("GET", "api/packs"));
  if (changed.has("policy")) showPause(await session.ask("GET", "api/policy"));
}

/** Says, in views that show no packs, that some wait for their owner. */
function showPacks(packs: Pack[]) {
  const names = packs.filter(({ waiting }) => waiting).map(({ name }) => name);
  byID("packs-wait").children[0].textContent = `${names.length === 1 ? `The pack ${names[0]} waits` : `${names.length} packs wait`} for you`;
  byID("packs-wait").hidden = names.length === 0 || named().args.get("show") === "packs";
}

let watching = false;

/** Shows questions as they come, where they can be answered: calls wait for them. */
async function watchQuestions() {
  watching = true;
  try {
    for await (const questions of session.events("api/questions/watch", undefined, connection.signal)) showAll(questions);
  } catch {
    // The hub's stream ends, too, and the next request says why.
  } finally {
    watching = false;
  }
  if (!session.mayWrite()) refresh(["questions"]);
}

function showAll(questions: Question[]) {
  waiting = questions.filter(({ allowed }) => !allowed).length;
  showQuestions(questions);
  showWaiting();
}

/** @param err of a request */
function failed(err: unknown) {
  if (err instanceof session.SignedOut) showSignedOut(ENDED);
  else if (err instanceof session.Refused) showTrouble(err.message);
  else if (!(err instanceof session.Changed) && !connected) setGone(true);
}

/** Has the page say whether the hub runs. While it does not, what is shown is of before, and what needs the hub is disabled. */
function setGone(to: boolean) {
  document.body.classList.toggle("gone", to);
  byID("controls", HTMLFieldSetElement).disabled = to;
  byID("trouble").classList.toggle("calm", to);
  showGone(to);
  if (!to) return;
  const before = shown && heardAt ? ` What you see was so at ${when(new Date(heardAt).toISOString())}; what needs the hub cannot be used.` : "";
  const start = own === "false" ? "" : " It starts with the next client, or by “tabhub serve” in a terminal.";
  showTrouble(`${STATES.absent[0]}.${before}${start} This page goes on as soon as it answers, or says how to sign in again.`);
}

function showStatus({ hub, paired, record }: Status) {
  byID("unpaired").hidden = paired > 0 || hub.browsers > 0;
  byID("unpaired").children[0].textContent = STATES.unpaired[0];
  showTrouble(
    hub.storeError ? `The store does not take writes: ${hub.storeError}`
    : record.error ? `What is done now is not recorded: ${record.error}`
    : "",
  );
}

let running = false;
let connection = new AbortController(); // aborted when the hub can no longer be heard
let connected = false; // the stream is open; otherwise only run asks the hub for anything

/** Follows what goes on in the hub, while the page is signed in. It runs once. */
async function run() {
  if (running) return;
  running = true;
  for (let wait = RETRY; mayRead(); wait = Math.min(2 * wait, RETRY_MAX)) {
    try {
      // One request goes ahead of the others: if something else answers by now, it gets no
      // more than that.
      showStatus(await session.ask("GET", "api/status"));
      byID("signed-out").hidden = true;
      for (const id of ["data", "nav", "power"]) byID(id).hidden = false;
      byID("sign-out").hidden = auth === "none";
      if (!shown) openView();
      showPower();
      connection = new AbortController();
      await follow((message) => {
        if (!connected) {
          connected = true;
          setGone(false);
          wait = RETRY;
          refresh(ALL); // by now, nothing of what follows is missed
        }
        take(message);
      }, connection);
    } catch (err) {
      connected = false;
      failed(err);
    }
    showPower();
    if (mayRead()) await sleep(wait);
  }
  running = false;
}

function take(message: Message) {
  shown?.live?.(message);
  if (message.changed) refresh(message.changed);
}

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Shows what can be decided here. */
function showPower() {
  const writes = session.mayWrite();
  document.body.classList.toggle("may-write", writes);
  byID("only-reads").hidden = writes || byID("data").hidden;
  byID("idle").hidden = base === "";
  byID("how").hidden = own === "false";
}

let stayed = 0;

/** The owner uses the page. */
async function used() {
  if (!session.mayWrite() || Date.now() - stayed < STAY) return;
  stayed = Date.now();
  await session.stay().catch(() => {}); // the next request says why
}

async function signIn(proof: Parameters<typeof session.signIn>[0]) {
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
  if (code !== null || location.search !== "") history.replaceState(null, "", location.pathname);
  if (code !== null && auth !== "none") return signIn({ code });
  const before = session.signedIn();
  if (before && base !== "") await session.stay().catch(() => {}); // the next request says why
  if (mayRead()) return run();
  if (before) return showSignedOut(ENDED);
  return showSignedOut(old ? "Addresses with a token in them are no longer taken, as they stay in the browser's history; delete your bookmark." : "");
}

byID("by-token").addEventListener("submit", (event) => {
  event.preventDefault();
  const field = byID("token", HTMLInputElement);
  const token = field.value.trim();
  field.value = "";
  void signIn({ token });
});
byID("sign-out").addEventListener("click", async () => {
  showSignedOut("Signed out.");
  await session.signOut().catch(() => {}); // a hub that does not answer has ended
});
for (const type of ["pointerdown", "keydown"]) addEventListener(type, used);
for (const type of [ACTED, "focus"]) addEventListener(type, () => refresh(["tabs", "policy", "clients", "status"]));
addEventListener("hashchange", () => {
  if (new URLSearchParams(location.hash.slice(1)).has("code")) return void start(); // another address was opened in this tab
  if (location.hash === "#title" || !shown) return;
  openView();
  scrollTo(0, 0);
  byID("title").focus({ preventScroll: true });
});
setInterval(() => {
  sweep();
  showPower();
}, 1000);
setInterval(() => {
  if (!document.hidden) refresh(["status"]);
}, LOOK);
void start();
