// Calls that the owner makes in the popup. They go to the page alone: the hub has no part in them.

import { tell } from "./tab.js";
import { endOf } from "./uses.js";

/** How long a call waits for a document that is just being loaded, in ms. */
const LOADING = 5_000;

export class Tries {
  /** @type {Map<string, {port?: chrome.runtime.Port, end: (outcome: Tried) => void, leads?: boolean}>} */
  #open = new Map();
  #tabs;
  #uses;

  /**
   * @param {import("./tabs.js").Tabs} tabs
   * @param {import("./uses.js").Uses} uses
   */
  constructor(tabs, uses) {
    this.#tabs = tabs;
    this.#uses = uses;
  }

  /**
   * Calls a tool of a page, and resolves when it has ended.
   *
   * @param {string} id by which it can be cancelled
   * @param {ToolAt} tool
   * @param {object} args
   * @returns {Promise<Tried>}
   */
  async call(id, { tabId, frameId, origin, name }, args) {
    if (this.#open.has(id)) return { error: "This call is under way already." };
    /** @type {Promise<Tried>} */
    const outcome = new Promise((end) => this.#open.set(id, { end }));
    const open = this.#open.get(id);
    const route = await this.#tabs.route(tabId, { frameId, origin }, ({ tools }) => tools.some((tool) => tool.name === name), LOADING);
    if (!open || this.#open.get(id) !== open) return outcome; // cancelled meanwhile
    if (!route || route.frame.origin !== origin) {
      this.#open.delete(id);
      return { error: "The page does not offer this tool any more." };
    }
    const { port, child } = route;
    open.port = port;
    port.postMessage({ type: "request", id, ask: "tool", name, args, child });
    this.#uses.begun(id, tabId, "tool", name, "");
    return outcome;
  }

  /** @param {string} id */
  cancel(id) {
    const port = this.#open.get(id)?.port;
    tell(port, { type: "cancel", id, reason: "cancelled by the person in front of the tab" });
    this.#end(id, { error: `You have cancelled it. ${port ? "It may have taken effect" : "The page was not asked"}.` }, "cancelled");
  }

  /**
   * Takes a frame's answer if it is to a call of the owner's.
   *
   * @param {chrome.runtime.Port} port
   * @param {FrameAnswer} answer
   */
  answered(port, answer) {
    const { id, result, error } = answer;
    if (!this.#open.has(id)) return false;
    tell(port, { type: "done", ids: [id] });
    this.#end(id, result === undefined ? { error: error?.message ?? "" } : outcome(result), endOf(answer));
    return true;
  }

  /**
   * A document gives way to another one. If a call of the owner's has led there, it has done its work.
   *
   * @param {string} id
   */
  leaving(id) {
    const open = this.#open.get(id);
    if (open) open.leads = true;
  }

  /** @param {chrome.runtime.Port} port */
  disconnected(port) {
    for (const [id, open] of this.#open) {
      if (open.port !== port) continue;
      const text = `The page went to another one${open.leads ? "" : ". It may have taken effect"}.`;
      this.#end(id, open.leads ? { result: { content: [{ type: "text", text }] } } : { error: text }, open.leads ? "done" : "failed");
    }
  }

  /**
   * @param {string} id
   * @param {Tried} outcome
   * @param {NonNullable<Use["ended"]>} ended
   */
  #end(id, outcome, ended) {
    const open = this.#open.get(id);
    this.#open.delete(id);
    this.#uses.ended(id, ended);
    open?.end(outcome);
  }
}

/**
 * @param {string} result the JSON of the frame's answer
 * @returns {Tried}
 */
function outcome(result) {
  const { success, payload } = JSON.parse(result);
  return success ? { result: payload } : { error: String(payload) };
}
