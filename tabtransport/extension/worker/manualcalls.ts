// Calls that the owner makes in the popup. They go to the page alone: the hub has no part in them.

import { post } from "./tab.ts";
import { endOf, type ActivityLog } from "./activity.ts";

import { isPageTool, type Tabs } from "./tabs.ts";

/** How long a call waits for a document that is just being loaded, in ms. */
const LOADING = 5_000;

export class ManualCalls {
  #open = new Map<string, { port?: chrome.runtime.Port; end: (outcome: ManualResult) => void; leads?: boolean }>();
  #tabs;
  #activity;

  constructor(tabs: Tabs, activity: ActivityLog) {
    this.#tabs = tabs;
    this.#activity = activity;
  }

  /**
   * Calls a tool of a page, and resolves when it has ended.
   * @param id by which it can be cancelled
   */
  async call(id: string, { tabId, frameId, origin, name }: ToolAt, args: object): Promise<ManualResult> {
    if (this.#open.has(id)) return { error: "This call is under way already." };
    const outcome = new Promise<ManualResult>((end) => this.#open.set(id, { end }));
    const open = this.#open.get(id);
    const route = await this.#tabs.route(tabId, { frameId, origin }, ({ tools }) => tools.some(isPageTool(name)), LOADING);
    if (!open || this.#open.get(id) !== open) return outcome; // cancelled meanwhile
    if (!route || route.frame.origin !== origin) {
      this.#open.delete(id);
      return { error: "The page does not offer this tool any more." };
    }
    const { port, child } = route;
    open.port = port;
    port.postMessage({ type: "request", id, ask: "tool", name, args, child });
    this.#activity.begun(id, tabId, "tool", name, false, "");
    return outcome;
  }

  cancel(id: string) {
    const port = this.#open.get(id)?.port;
    post(port, { type: "cancel", id, reason: "cancelled by the person in front of the tab" });
    this.#end(id, { error: `You have cancelled it. ${port ? "It may have taken effect" : "The page was not asked"}.` }, "cancelled");
  }

  /** Takes a frame's answer if it is to a call of the owner's. */
  answered(port: chrome.runtime.Port, answer: FrameAnswer) {
    const { id, result, error } = answer;
    if (!this.#open.has(id)) return false;
    post(port, { type: "done", ids: [id] });
    this.#end(id, result === undefined ? { error: error?.message ?? "" } : outcome(result), endOf(answer));
    return true;
  }

  /** A document gives way to another one. If a call of the owner's has led there, it has done its work. */
  leaving(id: string) {
    const open = this.#open.get(id);
    if (open) open.leads = true;
  }

  disconnected(port: chrome.runtime.Port) {
    for (const [id, open] of this.#open) {
      if (open.port !== port) continue;
      const text = `The page went to another one${open.leads ? "" : ". It may have taken effect"}.`;
      this.#end(id, open.leads ? { result: { content: [{ type: "text", text }] } } : { error: text }, open.leads ? "done" : "failed");
    }
  }

  #end(id: string, outcome: ManualResult, ended: NonNullable<Activity["ended"]>) {
    const open = this.#open.get(id);
    this.#open.delete(id);
    this.#activity.ended(id, ended);
    open?.end(outcome);
  }
}

/** @param result the JSON of the frame's answer */
function outcome(result: string): ManualResult {
  const { success, payload } = JSON.parse(result);
  return success ? { result: payload } : { error: String(payload) };
}
