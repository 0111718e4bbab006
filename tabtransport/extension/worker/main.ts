// The service worker: one WebSocket to the hub, a port to each frame with its content
// script, and nothing that would be lost if the browser stopped it.
//
// Listeners are set before anything is awaited: the browser starts the worker for an
// event and delivers it to the listeners that are there by then.

import { isLoopback } from "../addresses.ts";
import { waitsForYou } from "../words.ts";
import { Navigations } from "./navigations.ts";
import { Calls } from "./calls.ts";
import { CAPABILITIES, control, hasTrustedInput } from "./control.ts";
import { Gateways } from "./gateways.ts";
import { UserInput } from "./userinput.ts";
import { Leases } from "./leases.ts";
import { Hub } from "./hub.ts";
import { bring, bringAnswers, bringTo, bringToDocument, bringToOpenPages, placeScripts } from "./inject.ts";
import { Invitations } from "./invitations.ts";
import { Link } from "./link.ts";
import { Looks } from "./look.ts";
import { Overlay } from "./overlay.ts";
import { Packs } from "./packs.ts";
import { Questions } from "./questions.ts";
import { Runs } from "./runs.ts";
import { ALARM, Recordings } from "./recordings.ts";
import { screenshot } from "./screenshot.ts";
import { Scripts } from "./scripts.ts";
import { Code, Refusal } from "./refusal.ts";
import { TabGroups } from "./tabgroups.ts";
import { isAsleep } from "./tab.ts";
import { Tabs } from "./tabs.ts";
import { Toolbar } from "./toolbar.ts";
import { ManualCalls } from "./manualcalls.ts";
import { ActivityLog } from "./activity.ts";
import { webMCPProvider } from "./webmcp.ts";
import type { Frame } from "./frame.ts";

import * as settings from "./settings.ts";

let current: Settings;
/** The latest change of them: the next one waits for it, and builds on it. */
let changing: Promise<unknown> = Promise.resolve();

const link = new Link({ address: () => current.hub, hello, opened, message, changed: stateChanged });
const hub = new Hub(link);
const toolbar = new Toolbar();
const packs = new Packs(() => isLoopback(new URL(current.hub).hostname), packsChanged);
const scripts: Scripts = new Scripts(hub, packs, () => current, (at) => {
  if (!tabs.scripted(at) && scripts.tools(at.documentId).length) void bringToDocument(at.tabId, at.documentId);
});
const tabs: Tabs = new Tabs(hub, standing, () => current, packs, scripts, (tab) => toolbar.tab(tab));
const overlay = new Overlay(() => current);
const activity: ActivityLog = new ActivityLog((tabId, users) => {
  toolbar.used(tabId, users);
  showOverlay(tabId);
}, showState);
const tabGroups = new TabGroups(() => current);
const userInput: UserInput = new UserInput(() => current, (tabId) => leases.of(tabId) !== undefined || tabGroups.has(tabId) || runs.actsIn(tabId), (tabId) => {
  if (userInput.isActive(tabId)) tabGroups.usedByHand(tabId);
  leases.userInput(tabId);
  runs.userInput();
});
const leases: Leases = new Leases(hub, (tabId) => userInput.isActive(tabId), (tabId) => {
  const lease = leases.of(tabId);
  toolbar.held(tabId, lease?.waiting ? lease.by : "");
  showOverlay(tabId);
  void userInput.watch(tabId);
});
const navigations = new Navigations(tabs, () => current);
const calls = new Calls(tabs, hub, navigations, activity);
const looks = new Looks(() => current);
const runs: Runs = new Runs(tabs, packs, calls, hub, navigations, activity, userInput, () => current, looks, (tabId) => overlay.ringed(tabId));
const manualCalls = new ManualCalls(tabs, activity);
const gateways = new Gateways(() => current);
const questions = new Questions(hub, showState);
const recordings = new Recordings(hub, () => current, (tabId, shown) => {
  toolbar.recorded(tabId, shown);
  hearCommits(shown === "on");
});

const invitations = new Invitations(async (address) => {
  const here = address === current.hub;
  await apply(() => ({ hub: address }));
  if (here) await link.restart(); // there is another pairing to try
});

/** What the hub says of itself when it says nothing. */
const NO_OWNER_STATE: OwnerState = { paused: false, waiting: 0 };
/** What the owner of the hub is to see of it. */
let owner = NO_OWNER_STATE;

/** Resolved once the worker knows what an earlier one knew. */
const ready = start();

async function start() {
  // Content scripts have no business with the keys that are kept there.
  await chrome.storage.local.setAccessLevel({ accessLevel: "TRUSTED_CONTEXTS" });
  current = await settings.loadSettings();
  await packs.load(); // what tabs offer depends on them
  await scripts.load();
  await Promise.all([tabs.load(), calls.load(), runs.load(), questions.load(), tabGroups.load(), recordings.load(), looks.load(), placeScripts(current, packs.match)]);
  if (packs.any) runs.expect();
  if (globalThis.tabhubTrustedInput) globalThis.tabhubTrustedInput.cancelled = (tabId) => runs.debuggerEnded(tabId);
  await activity.load((id) => calls.runs(id) || runs.runs(id));
  void gateways.everywhere({ recent: true }); // an earlier worker may have been stopped too soon
  void link.ensure();
  void scripts.sync();
}

// ---- The hub

async function hello(): Promise<ToHub["browser/hello"]["params"]> {
  const [browserId, session, webmcp] = await Promise.all([settings.browserId(), settings.session, webMCPProvider()]);
  return {
    protocolVersion: "tabhub.v1",
    browserId,
    browserName: browserName(),
    session,
    capabilities: CAPABILITIES,
    ...(webmcp && { webmcp }),
  };
}

function browserName() {
  const brands: { brand: string; version: string }[] = (navigator as any).userAgentData?.brands ?? [];
  const named = brands.filter(({ brand }) => !/not.?a.?brand/i.test(brand));
  const { brand, version } = named.find(({ brand }) => brand !== "Chromium") ?? named[0] ?? { brand: "Browser", version: "" };
  return `${brand} ${version}`.trim() + (hasTrustedInput ? " (trusted input)" : "");
}

function opened() {
  packs.opened(link.pairing);
  calls.opened();
  tabs.opened();
  questions.opened();
  leases.opened();
  for (const wait of waits.values()) wait.abort(); // the hub asks again
}

/** What ends the requests of the hub that wait for a page, by their ids. */
const waits = new Map<string, AbortController>();

function message(message: HubMessage | HubAnswer) {
  switch (message.method) {
    case undefined:
      hub.answered(message);
      break;
    case "browser/ping":
      answer(message, Promise.resolve({}));
      void calls.confirm();
      break;
    case "browser/cancel": {
      const { requestId, reason } = message.params;
      void ready.then(() => {
        if (!runs.cancel(requestId, reason)) calls.cancel(requestId, reason);
      });
      waits.get(requestId)?.abort();
      void ready.then(() => questions.cancel(requestId));
      break;
    }
    case "browser/executeTool":
    case "browser/readResource":
    case "browser/subscribeResource":
    case "browser/getPrompt":
    case "browser/complete":
      if (message.id === undefined) break;
      // The hub of another process asks so for what came of a run, too.
      void ready.then(() => {
        if (!runs.knows(message.id ?? "")) void calls.start(message, sentAt(message));
      });
      break;
    case "browser/run":
      if (message.id !== undefined) void ready.then(() => runs.start(message, sentAt(message)));
      break;
    case "browser/ownerState":
      owner = { ...message.params, at: Date.now() };
      void ready.then(() => leases.take(owner.held ?? []));
      void ready.then(() => questions.gone(owner.gone ?? []));
      showState();
      break;
    case "browser/packs": {
      const { pairing } = link;
      void ready.then(() => {
        packs.take(pairing, message.params.packs);
        void scripts.sync();
        tabs.registerPacked();
      });
      break;
    }
    case "browser/listPacks":
      if (message.id !== undefined) answer(message, ready.then(() => ({ off: [...packs.off, ...scripts.off] })));
      break;
    case "browser/look":
      if (message.id !== undefined) answer(message, noted(message, ready.then(() => looks.look(message.tabId, message.params))));
      break;
    case "browser/screenshot":
      if (message.id !== undefined) {
        answer(message, noted(message, ready.then(() => overlay.without(message.tabId, () => screenshot(message.tabId, message.params, () => current, looks)))));
      }
      break;
    case "browser/refs":
      if (message.id !== undefined) answer(message, ready.then(() => looks.refs(message.tabId, message.params)));
      break;
    case "browser/record":
      if (message.id !== undefined) answer(message, ready.then(() => recordings.ask(message)));
      break;
    case "browser/ask":
      if (message.id !== undefined) void ready.then(() => questions.ask(message));
      break;
    default: {
      if (message.id === undefined) break;
      const outcome = controlled(message as HubMessage<ControlMethod>); // or one of a newer hub
      const known = message.method === "browser/navigate" ? outcome?.finally(() => tabs.settled(message.tabId)) : outcome;
      answer(message, known ?? Promise.reject(new Refusal(Code.MethodNotFound, `no such method: ${message.method}`)));
    }
  }
}

/** When a request that is sent again was sent first, or a little earlier, as Date.now() has it. */
function sentAt({ sentMs }: HubMessage) {
  return sentMs === undefined ? undefined : link.greetedAt - sentMs;
}

/** What clients have the browser do in a tab that then has the overlay. */
const SHOWN_IN_OVERLAY: ReadonlySet<string> = new Set(["browser/navigate", "browser/activateTab", "browser/screenshot", "browser/text", "browser/look"]);

/** Does what the hub asks of the browser, and notes for whom. */
function controlled(message: HubMessage<ControlMethod>) {
  const { id = "", method } = message;
  const wait = new AbortController();
  const outcome = control(message, () => current, tabGroups, wait.signal);
  if (method === "browser/rest") {
    waits.set(id, wait);
    const over = () => void (waits.get(id) === wait && waits.delete(id));
    wait.signal.addEventListener("abort", over);
    outcome?.then(over, over);
  }
  return outcome && noted(message, outcome);
}

/** Notes what comes of a request, and shows it in the tab. */
function noted<T>({ id = "", method, tabId, for: client }: HubMessage, outcome: Promise<T>): Promise<T> {
  if (client === undefined || !SHOWN_IN_OVERLAY.has(method)) return outcome;
  activity.begun(id, tabId, "browser", method.slice("browser/".length), method === "browser/navigate", client);
  outcome.then(
    () => activity.ended(id, "done"),
    () => activity.ended(id, "failed"),
  );
  return outcome;
}

function answer({ id, tabId }: { id?: string; tabId: number }, outcome: Promise<object>) {
  const send = (body: object) => hub.send(JSON.stringify({ jsonrpc: "2.0", id, tabId, ...body }));
  outcome.then(
    (result) => send({ result }),
    (error) => {
      const { code, data } = error instanceof Refusal ? error : { code: Code.Internal, data: undefined };
      send({ error: { code, message: error instanceof Error ? error.message : String(error), data } });
    },
  );
}

// ---- Frames

chrome.runtime.onConnect.addListener((port) => {
  if (port.name === "scripts" && port.sender?.id === chrome.runtime.id && port.sender.origin === location.origin) runs.scripts(port, ready);
  if (port.name === "run" && port.sender?.id === chrome.runtime.id) runs.connected(port, ready);
  if (port.name !== "frame" || port.sender?.id !== chrome.runtime.id) return;
  const frame: Promise<Frame | undefined> = ready.then(() => tabs.connected(port));
  // One after the other: what a frame says is about what it said before.
  let last = frame;
  port.onMessage.addListener((message) => {
    last = last.then((frame) => {
      if (frame?.port === port) heard(frame, port, message);
      return frame;
    });
  });
  port.onDisconnect.addListener(() => {
    last = last.then((frame) => {
      calls.disconnected(port);
      manualCalls.disconnected(port);
      if (frame) tabs.disconnected(frame, port);
      return frame;
    });
  });
});

// Of the scripts of packs, each in its own world.
chrome.runtime.onUserScriptConnect?.addListener((port) => {
  const of = ready.then(() => {
    const pack = scripts.connected(port);
    if (pack) runs.script(port, pack);
    return pack;
  });
  port.onMessage.addListener((message: ScriptToWorker) => void of.then((pack) => {
    if (pack && message.type === "tools") scripts.offered(port, message.tools);
    else if (pack && message.type !== "tools") runs.script(port, pack, message);
  }));
  port.onDisconnect.addListener(() => void of.then((pack) => {
    scripts.disconnected(port);
    if (pack) runs.scriptLeft(port, pack);
  }));
});

function heard(frame: Frame, port: chrome.runtime.Port, message: FrameToWorker) {
  switch (message.type) {
    case "hello":
      calls.hello(port, message);
      break;
    case "offer":
      tabs.offered(frame, message);
      break;
    case "answer":
      if (!manualCalls.answered(port, message)) calls.answered(port, message);
      break;
    case "progress":
      calls.progressed(port, message);
      break;
    case "waiting":
      calls.waits(port, message);
      break;
    case "leaving":
      manualCalls.leaving(message.id);
      calls.leaving(port, message);
      break;
    case "token":
      void calls.took(port, message);
      break;
    case "resume":
      void calls.resume(port, message);
      break;
    case "staying":
      calls.staying(port);
      break;
    case "dialog":
      tabs.dialog(frame, message.dialog);
      break;
    case "updated":
      if (tabs.permitted(frame)) {
        hub.notify("browser/resourceUpdated", { uri: message.uri }, port.sender?.tab?.id);
      }
      break;
  }
}

// ---- The browser

chrome.tabs.onUpdated.addListener((id, change, tab) => {
  void ready.then(() => {
    tabs.seen(tab);
    gateways.seen(id, change);
    recordings.seen(id, change);
    if (change.status) activity.loaded(id);
    if (change.status) void userInput.watch(id);
    if (change.url) void invitations.seen(tab, change.url);
  });
});
chrome.webNavigation.onErrorOccurred.addListener((what) => void ready.then(() => {
  calls.failed(what);
  runs.failed(what);
}));
const hearCommits = whileNeeded([chrome.webNavigation.onCommitted], (what) => recordings.committed(what));
const hearMoves = whileNeeded([chrome.webNavigation.onHistoryStateUpdated, chrome.webNavigation.onReferenceFragmentUpdated], (what) => {
  if (tabs.moved(what)) void bringToDocument(what.tabId, what.documentId);
});
void ready.then(() => {
  hearCommits(recordings.on);
  hearMoves(packs.any);
});

/**
 * Hears of events of the browser that come with every page, or frame of one, and would wake this worker: at its start,
 * for one of them may have woken it, and then only while they are needed.
 * @returns what says whether they are
 */
function whileNeeded(events: (typeof chrome.webNavigation.onCommitted)[], hear: (what: chrome.webNavigation.WebNavigationTransitionCallbackDetails) => void) {
  const heard: typeof hear = (what) => void ready.then(() => hear(what));
  const listen = (needed: boolean) => {
    for (const event of events) {
      if (needed) event.addListener(heard);
      else event.removeListener(heard);
    }
  };
  listen(true);
  return listen;
}
// A window without an address is complete at once, and may not change any more.
chrome.tabs.onCreated.addListener(({ id = -1, status }) => void ready.then(() => gateways.seen(id, { status })));
chrome.tabs.onActivated.addListener(({ tabId, windowId }) => {
  void ready.then(() => {
    tabs.activated(tabId, windowId);
    void userInput.tabChanged();
  });
});
chrome.tabs.onAttached.addListener((tabId) => void ready.then(async () => tabs.seen(await chrome.tabs.get(tabId))));
chrome.tabs.onRemoved.addListener((tabId) => {
  void ready.then(() => {
    tabs.removed(tabId);
    recordings.closed(tabId);
    forget(tabId);
  });
});
chrome.tabs.onReplaced.addListener((id, before) => {
  void tabs.replaced(id, before, ready);
  void ready.then(() => {
    tabGroups.replaced(id, before);
    recordings.replaced(id, before);
    forget(before);
  });
});

/** @param tabId of a tab that there is no more */
function forget(tabId: number) {
  activity.closed(tabId);
  overlay.closed(tabId);
  toolbar.closed(tabId);
  userInput.ended(tabId);
  tabGroups.closed(tabId);
}

chrome.windows.onFocusChanged.addListener(
  (windowId) => {
    void ready.then(() => {
      tabs.focused(windowId);
      void userInput.tabChanged();
    });
  },
  { windowTypes: ["normal"] },
);

chrome.windows.onRemoved.addListener((windowId) => void ready.then(() => questions.closed(windowId)));

// Should the worker have been stopped with no page open to wake it.
chrome.alarms.onAlarm.addListener(({ name }) => void ready.then(() => void (name === ALARM ? recordings.late() : link.ensure())));
void chrome.alarms.create("awake", { periodInMinutes: 0.5 });

chrome.runtime.onStartup.addListener(() => void ready.then(() => gateways.everywhere()));

// Pages that are open already get their content scripts now, and those of a site when it is allowed.
const reachOpenPages = () => void ready.then(() => Promise.all([gateways.everywhere(), bringToOpenPages(current), bringToPacked()]));
chrome.runtime.onInstalled.addListener(reachOpenPages);
chrome.permissions.onAdded.addListener(reachOpenPages);

// ---- The extension's own pages

chrome.runtime.onMessage.addListener((message, sender, respond) => {
  if (sender.id === chrome.runtime.id && message.type === "sign") {
    void ready.then(() => bring(message.sign, sender, current)).catch(() => {});
  }
  if (sender.id === chrome.runtime.id && message.type === "answers") {
    void ready.then(() => bringAnswers(sender, current)).catch(() => {}).then(respond);
    return true;
  }
  const { tab } = sender;
  if (sender.id === chrome.runtime.id && message.type === "userInput" && tab?.id !== undefined) {
    const { id } = tab;
    void ready.then(() => respond(userInput.input(id, message.inFrame)));
    return true;
  }
  if (sender.id === chrome.runtime.id && message.type === "recorded") {
    void ready.then(() => respond(recordings.said(sender, message.says)));
    return true;
  }
  // Content scripts have nothing to ask here.
  if (sender.id !== chrome.runtime.id || sender.origin !== location.origin) return false;
  void ready.then(() => asked(message)).then(respond);
  return true;
});

async function asked(request: UIRequest) {
  switch (request.ask) {
    case "status": {
      void scripts.sync(); // the person may have used Chrome's switch
      const { tabId = chrome.tabs.TAB_ID_NONE } = request;
      const tab = tabId < 0 ? undefined : await chrome.tabs.get(tabId).catch(() => undefined);
      const url = tab ? await addressOf(tab) : "";
      const page = await pageView(tab, url);
      const sites = tabs.sites(tabId, url, page.reached);
      return { ...stands(), address: current.hub, settings: current, page, sites, recent: activity.recent(tabId), used: await usedTabs(), lease: leases.of(tabId), recording: recordings.view };
    }
    case "site": {
      const { origin, on, keep, webmcp } = request;
      if (on !== undefined) await apply((chosen) => settings.withSite(chosen, origin, on));
      if (keep !== undefined) await apply(({ keep: kept }) => ({ keep: settings.toggled(kept, origin, keep) }));
      if (webmcp !== undefined) await apply(({ plain }) => ({ plain: settings.toggled(plain, origin, !webmcp) }));
      return current;
    }
    case "pack":
      return packs.choose(request.hash, request.on);
    case "record":
      return recordings.start(request.tabId);
    case "recorded":
      switch (request.does) {
        case "stop":
          return recordings.stop();
        case "discard":
          return recordings.discard();
        case "remove":
          return recordings.remove(request.step, request.field);
        case "send":
          return recordings.send(request.name);
      }
      break;
    case "settings":
      return current;
    case "save":
      await apply(() => request.settings);
      return current;
    case "dashboard":
      return openDashboard();
    case "pause":
      return pause(request.on);
    case "release":
      return release(request.tabId);
    case "front":
      return questions.front();
    case "tool":
      return tabs.schema(request.tool);
    case "try":
      return manualCalls.call(request.id, request.tool, request.args);
    case "cancel":
      return manualCalls.cancel(request.id);
    case "paste":
      return invitations.pasted(request.link);
    case "invitation":
      return invitations.view(request.id);
    case "accept":
      return invitations.answer(request.id, request.accept);
    case "reconnect":
      await link.restart();
      return link.state;
    case "forget":
      await settings.forgetIdentity();
      await link.restart();
      return link.state;
    case "question":
      return questions.view(request.id);
    case "answer":
      return questions.answer(request.id, request.answer);
  }
}

/** What a tab shows, which the browser also says of a site that the extension is not allowed in. */
async function addressOf({ id: tabId, url }: chrome.tabs.Tab) {
  if (url || tabId === undefined) return url ?? "";
  const document = await chrome.webNavigation.getFrame({ tabId, frameId: 0 }).catch(() => null);
  return document?.url ?? "";
}

async function pageView(tab: chrome.tabs.Tab | undefined, url: string): Promise<PageView> {
  const origin = settings.webOrigin(url);
  if (!tab?.id || !origin) return { web: false, secure: false, allowed: false, reached: false, bare: false, loading: false, asleep: false };
  const { protocol, hostname } = new URL(origin);
  const secure = protocol === "https:" || isLoopback(hostname);
  const asleep = isAsleep(tab);
  // What the browser is asked may be withheld, site by site. A script would wait there for a click.
  const allowed = await chrome.permissions.contains({ origins: [`${protocol}//${hostname}/*`] });
  const reached = allowed && !asleep && (await gateways.place(tab.id));
  const bare = reached && !(await hasModelContext(tab.id));
  return { web: true, secure, allowed, reached, bare, loading: tab.status === "loading", asleep };
}

/** Whether a page has WebMCP, the browser's or the extension's. */
async function hasModelContext(tabId: number) {
  const look = () => "modelContext" in document || "modelContext" in navigator;
  const [done] = await chrome.scripting.executeScript({ target: { tabId }, world: "MAIN", func: look, injectImmediately: true }).catch(() => []);
  return done?.result !== false;
}

/** The tabs that clients use just now. */
async function usedTabs() {
  const tabs = activity.marked.map(async ({ tabId, users }) => {
    const { title = "" } = await chrome.tabs.get(tabId).catch(() => ({ title: "" }));
    return { tabId, title, users };
  });
  return Promise.all(tabs);
}

/** Opens the hub's dashboard, signed in: the hub makes an address that is good once. */
async function openDashboard() {
  try {
    const { url } = await hub.request("browser/dashboard", {});
    if (!/^https?:/.test(url)) throw new Error("the hub has no dashboard");
    await chrome.tabs.create({ url });
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Draws a tab's overlay, or removes it. */
function showOverlay(tabId: number) {
  const lease = leases.of(tabId);
  overlay.show(tabId, lease?.waiting ? waitsForYou(lease.by) : activity.label(tabId));
}

/**
 * Has the hub end the lease of a tab.
 * @returns what went wrong
 */
async function release(tabId: number): Promise<string> {
  try {
    await hub.request("browser/release", {}, tabId);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Has the hub stop everything, or go on.
 * @returns what went wrong
 */
async function pause(on: boolean): Promise<string> {
  try {
    await hub.request("browser/pause", { on });
    owner = { ...owner, paused: on }; // the hub says so in a moment, too
    showState();
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Other packs count, or none. */
function packsChanged() {
  hearMoves(packs.any);
  if (packs.any) runs.expect();
  tabs.packsChanged();
  runs.check();
  void scripts.sync();
  // A document that comes meanwhile gets the extension by the one or by the other.
  void placeScripts(current, packs.match).then(bringToPacked);
}

/** Brings the extension to the open pages of packs. */
async function bringToPacked() {
  if (packs.match.length) await bringTo(current, (url) => packs.tools(url).length > 0);
}

async function apply(change: (chosen: Settings) => Partial<Settings>) {
  const saved = changing.then(async () => {
    const before = current;
    current = await settings.saveSettings(change(before));
    return before;
  });
  changing = saved.catch(() => {});
  const before = await saved;
  tabs.settingsChanged();
  runs.check();
  overlay.renewAll();
  await placeScripts(current, packs.match);
  void scripts.sync();
  void gateways.everywhere();
  void bringToOpenPages(current, before);
  if (current.hub === before.hub) return;
  packs.drop();
  await questions.leave();
  const restarted = link.restart();
  tabs.hubChanged();
  await restarted;
}

// ---- What others see of the connection

/** What frames learn of the hub: a page that joins it by itself need not, then. */
function standing() {
  const { state } = link.state;
  const { hub, version } = link.state.state === "connected" ? link.state : { hub: "", version: "" };
  return { address: current.hub, state, hub, version };
}

function stateChanged() {
  if (link.state.state === "unpaired") packs.drop();
  tabs.hubChanged();
  showState();
}

function showState() {
  if (link.state.state !== "connected") {
    hub.disconnected();
    owner = NO_OWNER_STATE;
    leases.take([]);
  }
  toolbar.show(stands());
}

/** @returns what the owner sees of it */
function stands(): Standing {
  return { hub: link.state, owner, waiting: questions.waiting, working: activity.working };
}
