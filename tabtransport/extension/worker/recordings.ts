// A recording: a person shows in a tab how something is done, and what they do becomes the draft of a pack
// (content/steps/recorder.ts writes it down). Only a click in the popup begins one. It ends there, on the page, after a
// while, and where the tab goes to another site, of which nothing is written down. There is one at a time; what
// was written stays here until the person has sent or discarded it.

import { isLoopback } from "../addresses.ts";
import { withoutKeys } from "../secretnames.ts";
import { Code, Refusal } from "./refusal.ts";
import { permitsPage, webOrigin } from "./settings.ts";
import { Stored } from "./stored.ts";
import { unlessStopping } from "./stopping.ts";

import type { Hub } from "./hub.ts";

/** How long a recording may take, in ms. */
const LIFE = 10 * 60_000;
/** How long a question of the hub is shown, in ms. */
const ASKED = 15 * 60_000;
/** As many steps has a recording (spec.Recorded). */
const MAX_STEPS = 64;
/** How long after an act a document of itself may give way to another one because of it, in ms. */
const LEADS = 10_000;
/** How long a document may take to say what it has not said, in ms. */
const LAST_WORDS = 1_000;

export const ALARM = "recording";

interface Recording {
  state: "asked" | "on" | "ended";
  name: string; // of the pack; "" if that is open
  tabId: number;
  at: number; // when it was asked for, or began, as Date.now() has it
  documentId: string;
  origin: string;
  url: string;
  title: string;
  steps: Step[];
  acted: number; // when the last step was, as Date.now() has it
  secrets: string[];
  missed: string[];
  reason: string; // why it has ended
  draft: string; // the pack, once it is sent
}

export class Recordings {
  #now: Recording | undefined;
  #stored = new Stored<Recording | undefined>("recording", () => this.#now, 0);
  #hub;
  #settings;
  #changed;

  /** @param changed called when a tab is recorded, or no longer */
  constructor(hub: Hub, settings: () => Settings, changed: (tabId: number, shown: "" | RecordingView["state"]) => void) {
    this.#hub = hub;
    this.#settings = settings;
    this.#changed = changed;
  }

  async load() {
    this.#now = await this.#stored.load();
    this.late();
    this.#show();
  }

  /** Whether a tab is recorded. */
  get on() {
    return this.#now?.state === "on";
  }

  #show() {
    if (this.#now && this.#now.tabId >= 0) this.#changed(this.#now.tabId, this.#now.draft ? "" : this.#now.state);
  }

  #save() {
    this.#stored.save();
    this.#show();
  }

  // ---- What the hub and the popup ask

  /** The hub has the person asked whether to record. */
  async ask({ tabId, params }: HubMessage<"browser/record">) {
    this.late();
    if (this.#now?.state === "on") throw new Refusal(Code.Unsupported, "a recording is under way in this browser");
    if (this.#now?.state === "ended" && !this.#now.draft) throw new Refusal(Code.Unsupported, "a recording waits in the extension's popup: send or discard it there first");
    const [front] = tabId > 0 ? [await chrome.tabs.get(tabId).catch(() => undefined)] : await chrome.tabs.query({ active: true, lastFocusedWindow: true });
    const problem = this.#problem(front);
    if (problem || front?.id === undefined) throw new Refusal(Code.Unsupported, `the tab in front cannot be recorded: ${problem}`);
    this.#clear();
    this.#now = { ...this.#blank(front.id, params.name), state: "asked" };
    this.#save();
    openPopup();
    return {};
  }

  /**
   * The person wants what they do in a tab recorded.
   * @returns what went wrong
   */
  async start(tabId: number): Promise<string> {
    if (this.#now?.state === "on") return "a recording is under way";
    const tab = await chrome.tabs.get(tabId).catch(() => undefined);
    const problem = this.#problem(tab);
    if (problem) return problem;
    const { url = "", title = "" } = tab ?? {};
    const document = await chrome.webNavigation.getFrame({ tabId, frameId: 0 }).catch(() => null);
    if (!document || webOrigin(document.url) !== webOrigin(url)) return "the page is being loaded; try again";
    const name = this.#now?.state === "asked" ? this.#now.name : "";
    this.#clear();
    this.#now = { ...this.#blank(tabId, name), state: "on", documentId: document.documentId, origin: webOrigin(url) ?? "", url: withoutKeys(url).slice(0, 2048), title: title.slice(0, 1024) };
    await this.#stored.write();
    void chrome.alarms.create(ALARM, { when: Date.now() + LIFE });
    this.#show();
    if (await this.#bring()) return "";
    this.discard();
    return "the browser lets no extension into this page";
  }

  #blank(tabId: number, name: string): Recording {
    return { state: "on", name, tabId, at: Date.now(), documentId: "", origin: "", url: "", title: "", steps: [], acted: 0, secrets: [], missed: [], reason: "", draft: "" };
  }

  /** Why a tab cannot be recorded, "" if it can. */
  #problem(tab: chrome.tabs.Tab | undefined) {
    const origin = webOrigin(tab?.url ?? "");
    if (!tab || !origin) return "it shows no website";
    const { protocol, hostname } = new URL(origin);
    if (protocol !== "https:" && !isLoopback(hostname)) return "it was loaded over http, where no pack has tools";
    return permitsPage(this.#settings(), tab.url ?? "") ? "" : "you do not share its site";
  }

  /** The person ends it, or declines it. */
  async stop() {
    if (this.#now?.state === "asked") return this.discard();
    await this.#end("");
  }

  discard() {
    this.#clear();
    this.#save();
  }

  #clear() {
    if (this.#now && this.#now.tabId >= 0) this.#changed(this.#now.tabId, "");
    this.#now = undefined;
    void chrome.alarms.clear(ALARM);
  }

  /** Leaves a step, or one of the fields of a fill, out. */
  remove(step: number, field?: number) {
    const { state, steps } = this.#now ?? {};
    if (state !== "ended" || !steps) return;
    const fields = steps[step]?.fill?.fields;
    if (field !== undefined && fields && fields.length > 1) fields.splice(field, 1);
    else steps.splice(step, 1);
    this.#save();
  }

  /**
   * Sends what was recorded to the hub.
   * @returns what went wrong
   */
  async send(name: string): Promise<string> {
    const now = this.#now;
    if (now?.state !== "ended" || now.draft) return "";
    const { url, title, steps, secrets } = now;
    now.name = name;
    try {
      now.draft = (await this.#hub.request("browser/recorded", { name, url, title, steps, secrets: secrets.slice(0, MAX_STEPS) })).name;
      now.steps = [];
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      this.#save();
    }
    return "";
  }

  get view(): RecordingView | undefined {
    this.late();
    if (!this.#now) return undefined;
    const { state, name, tabId, origin, steps, secrets, missed, reason, draft } = this.#now;
    return { state, name, tabId, host: origin && new URL(origin).host, steps, secrets, missed, reason, draft };
  }

  // ---- What the tab says

  /**
   * Notes what a document says.
   * @returns whether it is to go on
   */
  said({ tab, frameId, documentId = "", origin }: chrome.runtime.MessageSender, says: RecorderSays): boolean {
    const now = this.#now;
    if (now?.state !== "on" || tab?.id !== now.tabId || frameId !== 0 || origin !== now.origin) return false;
    if (this.late()) return false;
    if (!permitsPage(this.#settings(), origin)) {
      void this.#end("you do not share the site any more");
      return false;
    }
    if ("here" in says) {
      if (documentId !== now.documentId) this.#led(now, documentId, false);
    } else if ("ended" in says) void this.#end("").then(openPopup);
    else this.#take(now, says);
    this.#save();
    return this.#now?.state === "on";
  }

  #take(now: Recording, says: RecorderSays) {
    if ("missed" in says) now.missed = [...new Set([...now.missed, says.missed.slice(0, 200)])];
    if ("secret" in says) {
      now.secrets = [...new Set([...now.secrets, says.secret.slice(0, 256)])];
      // What was taken for no secret before is none that stays.
      for (const { fill } of now.steps) if (fill) fill.fields = fill.fields.filter(({ target }) => !same(target, says.target));
      now.steps = now.steps.filter(({ fill }) => !fill || fill.fields.length > 0);
    }
    if (!("step" in says)) return;
    const { step, joins = false } = says;
    const before = now.steps.at(-1)?.fill?.fields;
    const [field] = step.fill?.fields ?? [];
    const index = before && field ? before.findIndex(({ target }) => same(target, field.target)) : -1;
    if (before && index >= 0) before[index] = field;
    else if (before && field && joins) before.push(field);
    else now.steps.push(step);
    now.acted = Date.now();
    if (now.steps.length >= MAX_STEPS) void this.#end(`it has ${MAX_STEPS} steps`);
  }

  /** Another document is in the tab. */
  committed({ tabId, frameId, url, documentId = "", documentLifecycle, transitionType, transitionQualifiers }: chrome.webNavigation.WebNavigationTransitionCallbackDetails & { documentLifecycle?: string; documentId?: string }) {
    const now = this.#now;
    if (now?.state !== "on" || tabId !== now.tabId || frameId !== 0 || documentLifecycle === "prerender" || documentId === now.documentId) return;
    // An address that the person chose: a bookmark, what they typed, or the way back.
    const chosen = /^(typed|auto_bookmark|generated|keyword|keyword_generated|reload)$/.test(transitionType) || transitionQualifiers.some((what) => /^(from_address_bar|forward_back)$/.test(what));
    const origin = webOrigin(url) ?? "";
    if (origin !== now.origin) {
      const led = chosen ? undefined : actOf(now.steps.at(-1));
      if (led) now.steps.pop();
      const where = origin ? new URL(origin).host : "another page";
      void this.#end(`the tab went to ${where}, where nothing is written down${led ? "; the step that led there is left out" : ""}`);
      return;
    }
    if (chosen) {
      const { pathname, searchParams } = new URL(withoutKeys(url));
      now.steps.push({ open: { path: pathname, ...(searchParams.size && { query: Object.fromEntries(searchParams) }) } });
      now.acted = Date.now();
      now.documentId = documentId;
    } else this.#led(now, documentId, transitionQualifiers.includes("client_redirect"));
    this.#save();
    void this.#bring();
  }

  /** A document has given way to another one, by the last step if by one. */
  #led(now: Recording, documentId: string, byItself: boolean) {
    now.documentId = documentId;
    const act = actOf(now.steps.at(-1));
    if (act && (!byItself || Date.now() - now.acted < LEADS)) act.navigates = true;
  }

  /** A tab has changed: a document that was prepared before it was shown is not told of otherwise. */
  seen(tabId: number, { status, url }: { status?: string; url?: string }) {
    if (this.#now?.state === "on" && this.#now.tabId === tabId && (status === "complete" || url)) void this.#bring();
  }

  closed(tabId: number) {
    if (this.#now?.tabId !== tabId) return;
    if (this.#now.state === "asked") this.discard();
    else {
      this.#now.tabId = chrome.tabs.TAB_ID_NONE;
      void this.#end("the tab was closed");
    }
  }

  replaced(tabId: number, before: number) {
    if (this.#now?.tabId !== before) return;
    this.#now.tabId = tabId;
    this.#save();
    if (this.#now.state === "on") void this.#bring();
  }

  /** @returns whether the recording has lasted as long as one may */
  late() {
    const now = this.#now;
    if (now?.state === "asked" && Date.now() - now.at > ASKED) this.discard();
    if (now?.state !== "on" || Date.now() - now.at < LIFE) return false;
    void this.#end(`it took longer than ${LIFE / 60_000} minutes`);
    return true;
  }

  /** Has the document that the tab shows write down what is done there. */
  async #bring() {
    const { tabId = -1, origin = "" } = this.#now ?? {};
    try {
      const frame = await chrome.webNavigation.getFrame({ tabId, frameId: 0 });
      if (!frame || webOrigin(frame.url) !== origin) return false;
      await chrome.scripting.executeScript({ target: { tabId, documentIds: [frame.documentId] }, files: ["content/recorder.js"], injectImmediately: true });
      return true;
    } catch {
      return false; // it has gone, or is closed to extensions
    }
  }

  async #end(reason: string) {
    const now = this.#now;
    if (now?.state !== "on") return;
    now.state = "ended";
    now.reason = reason;
    void chrome.alarms.clear(ALARM);
    this.#save();
    if (now.tabId < 0) return;
    const asked = unlessStopping(chrome.tabs.sendMessage<object, RecorderSays[] | undefined>(now.tabId, { type: "endRecording" }, { documentId: now.documentId }), () => undefined);
    const rest = await Promise.race([asked, new Promise<undefined>((done) => setTimeout(done, LAST_WORDS))]).catch(() => undefined);
    for (const says of rest ?? []) if (this.#now === now && now.steps.length < MAX_STEPS) this.#take(now, says);
    this.#save();
  }
}

/** Shows the popup, where the browser lets the extension do that. */
function openPopup() {
  void chrome.action.openPopup?.().catch(() => {});
}

function same(a: Target, b: Target | undefined) {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What a step clicks or presses. */
function actOf(step: Step | undefined) {
  return step?.click ?? step?.press;
}
