// Calls that the owner makes in the popup. They go to the page alone: the hub has no part in them.

import { tell } from "./tab.js";
import { endOf } from "./uses.js";

/** How long a call waits for a document that is just being loaded, in ms. */
const LOADING = 5_000;
/** Who makes them, where what was done in a tab is listed. */
const YOU = "You";

export class Tries {
  /** @type {Map<string, {port: chrome.runtime.Port, end: (outcome: Tried) => void}>} */
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
    const route = await this.#tabs.route(tabId, { frameId, origin }, ({ tools }) => tools.some((tool) => tool.name === name), LOADING);
    if (!route || route.frame.origin !== origin) return { error: "The page does not offer this tool any more." };
    const { port, child } = route;
    const outcome = new Promise((end) => this.#open.set(id, { port, end }));
    port.postMessage({ type: "request", id, ask: "tool", name, args, child });
    this.#uses.begun(id, tabId, "tool", name, YOU);
    return outcome;
  }

  /** @param {string} id */
  cancel(id) {
    const open = this.#open.get(id);
    tell(open?.port, { type: "cancel", id, reason: "cancelled by the person in front of the tab" });
    this.#end(id, { error: "You have cancelled it. It may have taken effect." }, "cancelled");
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

  /** @param {chrome.runtime.Port} port */
  disconnected(port) {
    for (const [id, open] of this.#open) {
      if (open.port === port) this.#end(id, { error: "The page went away. The call may have taken effect." }, "failed");
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
