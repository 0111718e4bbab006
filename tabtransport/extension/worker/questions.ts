// Questions of the hub to the owner (browser/ask): each in a small window of its own, one after
// the other.
//
// A question lives until it expires, whatever becomes of this worker and of the connection
// that it came over: questions and answers are in chrome.storage.session, and an answer
// is sent again whenever the hub is back or asks again.

import { Code, Refusal } from "./refusal.ts";
import { Stored } from "./stored.ts";

import type { Hub } from "./hub.ts";

const PAGE = "ask.html";
const WIDTH = 640;
/** The window makes itself as high as what it shows. */
const HEIGHT = 480;
/** How many may be open at once. The hub asks one after the other, too. */
const MAX_OPEN = 16;

interface Question {
  ask: Ask;
  request: string; // the id of the hub's latest request that asks it
  until: number; // when it expires, as Date.now() has it
  windowId?: number; // the window that shows it
  answer?: AskResult;
  withdrawn?: boolean; // whether the hub no longer asks it
  gone?: boolean; // whether no call waits for the answer any more
}

export class Questions {
  /** By their ids, in the order in which they came. */
  #questions = new Map<string, Question>();
  #stored = new Stored<Question[]>("questions", () => [...this.#questions.values()]);
  /** The ids of those that were asked over the connection that there is. */
  #asked = new Set<string>();
  /** Whether a window is being opened. */
  #opening = false;
  #hub;
  #changed;

  /** @param changed called when another number waits */
  constructor(hub: Hub, changed: () => void) {
    this.#hub = hub;
    this.#changed = changed;
  }

  /** Remembers the questions of an earlier worker. A window that is gone by now is a no. */
  async load() {
    const before = (await this.#stored.load()) ?? [];
    const shown = await windows();
    for (const question of before) {
      const { id } = question.ask;
      this.#questions.set(id, question);
      this.#expires(question);
      const windowId = shown.get(id);
      if (question.windowId !== undefined && windowId === undefined) await this.closed(question.windowId);
      question.windowId = windowId;
    }
    void this.#next();
    this.#changed();
  }

  /** How many wait for the owner. */
  get waiting() {
    return this.#waiting().length;
  }

  #waiting() {
    return [...this.#questions.values()].filter(isOpen);
  }

  /** The hub asks. It may have asked the same before, over another connection. */
  async ask({ id: request = "", params: ask }: HubMessage<"browser/ask">) {
    const known = this.#questions.get(ask.id);
    if (!known && this.waiting >= MAX_OPEN) {
      this.#tell(request, { error: new Refusal(Code.Limit, "too many questions wait for the owner already") });
      return;
    }
    const question = known ?? { ask, request, until: Date.now() + ask.expiresMs };
    question.request = request;
    question.until = Math.max(question.until, Date.now() + ask.expiresMs); // the client asks again
    this.#asked.add(ask.id);
    if (question.answer) {
      this.#tell(request, { result: question.answer });
      return;
    }
    question.withdrawn = false;
    if (!known) {
      this.#questions.set(ask.id, question);
      this.#expires(question);
      // A hub that still waits for an answer asks again before it asks anything else. One that
      // was started since knows nothing of what the one before has asked.
      for (const other of this.#waiting()) if (!this.#asked.has(other.ask.id)) other.withdrawn = true;
    }
    await this.#save();
    void this.#next();
  }

  /** The hub waits no longer for the answer to a request. */
  async cancel(request: string) {
    const question = this.#waiting().find((question) => question.request === request);
    if (question) await this.#withdraw(question);
  }

  /** @param ids of the questions whose client has given up */
  async gone(ids: string[]) {
    const changed = [...this.#questions.values()].filter((question) => !!question.gone !== ids.includes(question.ask.id));
    for (const question of changed) question.gone = !question.gone;
    if (changed.length) await this.#save(); // their windows say so
  }

  /** A connection to the hub was made: it may not have the answers that were sent over an earlier one. */
  opened() {
    this.#asked.clear();
    for (const { request, answer } of this.#questions.values()) {
      if (answer) this.#tell(request, { result: answer });
    }
  }

  /**
   * What a window shows.
   * @returns undefined if the question is no longer asked
   */
  view(id: string): QuestionView | undefined {
    const question = this.#questions.get(id);
    if (!question || !isOpen(question)) return undefined;
    const { ask, until, gone } = question;
    return { ask, until, gone, waiting: this.waiting - 1 + (ask.waiting ?? 0) };
  }

  /** Brings the window with the question to the front. */
  async front() {
    const shown = this.#waiting().find(({ windowId }) => windowId !== undefined);
    if (shown?.windowId !== undefined) await chrome.windows.update(shown.windowId, { focused: true });
  }

  /** The owner has answered. */
  async answer(id: string, answer: AskResult) {
    const question = this.#questions.get(id);
    if (!question || !isOpen(question)) return;
    if (answer.reach !== "no" && !question.ask.reaches.includes(answer.reach)) return;
    question.answer = answer;
    await this.#save();
    this.#tell(question.request, { result: answer });
    if (question.windowId !== undefined) chrome.windows.remove(question.windowId).catch(() => {});
  }

  /** Opens the window of the next question, unless there is one. */
  async #next() {
    const waiting = this.#waiting();
    const [next] = waiting;
    if (!next || this.#opening || waiting.some(({ windowId }) => windowId !== undefined)) return;
    this.#opening = true;
    const url = `${PAGE}?${encodeURIComponent(next.ask.id)}`;
    const made = await chrome.windows.create({ url, type: "popup", width: WIDTH, height: HEIGHT, focused: true }).catch(() => undefined);
    this.#opening = false;
    next.windowId = made?.id;
    if (next.windowId === undefined) {
      this.#questions.delete(next.ask.id);
      this.#tell(next.request, { error: new Refusal(Code.Unsupported, "the browser opens no window to ask its owner in") });
    }
    await this.#save();
  }

  /** A window was closed, which means no while the client waits. What it no longer waits for stays open elsewhere. */
  async closed(windowId: number) {
    const question = [...this.#questions.values()].find((question) => question.windowId === windowId);
    if (!question) return;
    question.windowId = undefined;
    if (question.gone) await this.#withdraw(question);
    else await this.answer(question.ask.id, { reach: "no" });
    await this.#next();
  }

  async #withdraw(question: Question) {
    question.withdrawn = true;
    await this.#save(); // its window says so
    await this.#next();
  }

  /** Forgets all: they are those of a hub that this browser has left. */
  async leave() {
    this.#questions.clear();
    await this.#save();
  }

  #save() {
    this.#changed();
    return this.#stored.write();
  }

  #expires(question: Question) {
    setTimeout(async () => {
      if (Date.now() < question.until) return this.#expires(question);
      this.#questions.delete(question.ask.id);
      await this.#withdraw(question);
    }, question.until - Date.now());
  }

  #tell(request: string, outcome: { result: AskResult } | { error: Refusal }) {
    const body = "error" in outcome ? { error: { code: outcome.error.code, message: outcome.error.message } } : outcome;
    this.#hub.send(JSON.stringify({ jsonrpc: "2.0", id: request, ...body }));
  }
}

function isOpen({ answer, withdrawn, until }: Question) {
  return !answer && !withdrawn && Date.now() < until;
}

/** The windows that show a question, by its id. */
async function windows() {
  const page = chrome.runtime.getURL(`${PAGE}?`);
  const contexts = await chrome.runtime.getContexts({ contextTypes: ["TAB"] });
  const shown = contexts.filter(({ documentUrl }) => documentUrl?.startsWith(page));
  return new Map(shown.map(({ documentUrl = "", windowId }) => [decodeURIComponent(documentUrl.slice(page.length)), windowId]));
}
