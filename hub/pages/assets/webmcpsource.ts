// The standard's API for the page, document.modelContext, where neither the browser, nor the companion
// extension, nor a library has put it there; and what the page then offers through it.

import { isOfThisDocument } from "./sources.ts";
import { takeToken } from "./tokens.ts";
import { ModelContextTools } from "../../../tabtransport/pagejs/modelcontext.ts";
import { ToolCalls } from "../../../tabtransport/pagejs/toolcalls.ts";
import { Values } from "../../../tabtransport/pagejs/values.ts";
import { offerWebMCP } from "../../../tabtransport/pagejs/webmcpstub.ts";

import type { Calls } from "./calls.ts";

export class WebMCPSource implements Source {
  /** Once the page has a tool. */
  #tools: ModelContextTools | undefined;
  #used = false;
  #asking = new ToolCalls();
  #api = offerWebMCP({
    changed: () => {
      this.#used = true;
      this.changed();
    },
    threw: (name, input, error) => this.#tools?.threw(name, input, Values.errorText(error)),
    took: this.#asking.took,
    resume: async (token) => this.#asking.resumed(await this.resume(token)),
    release: async (token) => takeToken(token) !== undefined,
    ask: this.#asking.ask,
  });
  /** Called when the tools may differ. */
  changed = () => {};
  /** As of Calls. */
  resume: Calls["resume"] = async () => undefined;

  constructor() {
    // Other documents of the tab ask for this one's tools.
    addEventListener("message", (event) => {
      if (!event.isTrusted || event.data?.tabhub !== "webmcp") return;
      event.stopImmediatePropagation();
      this.#api.heard(event);
    });
    this.#awaitForm();
  }

  /** Those of document.modelContext that lead to this API: anything else there is a library's. */
  get getters() {
    return this.#api.getters;
  }

  start() {}

  stop() {}

  async offer() {
    if (this.#used && !this.#tools) {
      this.#tools = new ModelContextTools(this.#api.context(), () => {}, isOfThisDocument);
      this.#tools.start();
    }
    return this.#tools ? this.#tools.offer() : { tools: [], resources: [], prompts: [] };
  }

  has(name: string) {
    return this.#tools?.has(name) === true;
  }

  async call(name: string, args: object, options: CallOptions) {
    return this.#asking.call(async (options) => {
      if (!this.#tools) throw new Error(`the page has no tool ${name}`);
      return this.#tools.call(name, args, options);
    }, options);
  }

  /** Makes the API, which then follows the page's forms, when there is a first one that is a tool. */
  #awaitForm() {
    if (document.querySelector(TOOL_FORM)) return this.#api.start();
    const observer = new MutationObserver((changes) => {
      if (!changes.some(({ type, addedNodes }) => type === "attributes" || [...addedNodes].some(hasToolForm))) return;
      observer.disconnect();
      this.#api.start();
    });
    observer.observe(document, { childList: true, subtree: true, attributeFilter: ["toolname"] });
  }
}

const TOOL_FORM = "form[toolname]";

function hasToolForm(node: Node) {
  return node instanceof Element && (node.matches(TOOL_FORM) || node.querySelector(TOOL_FORM) !== null);
}
