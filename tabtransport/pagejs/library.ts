// Tools of a modelContext that a library of the page made, such as a polyfill's, at whatever
// time and of whatever generation, or of Firefox's navigator.modelContext. Only the page's world sees
// the first.

import { ModelContextTools } from "./modelcontext.ts";

import { adapted, sourceOf } from "./shapes.ts";

/**
 * What is called before the page has shown that it has a modelContext, as it was before any
 * script of the page ran: no page without one can notice that anything looks for it.
 */
const Early = {
  hasOwn: Object.hasOwn,
  getOwnPropertyDescriptor: Object.getOwnPropertyDescriptor,
  min: Math.min,
  setTimeout: window.setTimeout.bind(window),
};

export class LibraryTools implements Source {
  static #places = [
    { object: document, prototype: Document.prototype },
    { object: navigator, prototype: Navigator.prototype },
  ];
  static #firstWait = 250;
  static #maxWait = 60_000;

  #tools: ModelContextTools | undefined;
  #ours: readonly Function[] = [];
  #changed;
  #isOfDocument;

  /**
   * @param changed called when there is a modelContext, and when its tools may differ
   * @param isOfDocument as of ModelContextTools
   */
  constructor(changed: () => void, isOfDocument: (tool: RegisteredTool) => boolean = (tool) => !sourceOf(tool) || sourceOf(tool) === window) {
    this.#changed = changed;
    this.#isOfDocument = isOfDocument;
  }

  /**
   * Begins to look for a modelContext: now, then ever more rarely, as a page may load it late.
   * @param ours getters of the places that were given to the page: what they
   * lead to is no library's
   */
  start(ours: readonly Function[] = []) {
    this.#ours = ours;
    this.#look(LibraryTools.#firstWait);
  }

  stop() {}

  async offer() {
    return this.#tools ? this.#tools.offer() : { tools: [], resources: [], prompts: [] };
  }

  has(name: string) {
    return this.#tools?.has(name) === true;
  }

  async call(name: string, args: object, options: CallOptions) {
    if (!this.#tools) throw new Error(`the page has no tool ${name}`);
    return this.#tools.call(name, args, options);
  }

  /** @param wait in ms, until it looks again */
  #look(wait: number) {
    if (!this.#tools) {
      const context = LibraryTools.#find(this.#ours, this.#changed);
      if (context) {
        this.#tools = new ModelContextTools(context, this.#changed, this.#isOfDocument);
        this.#tools.start();
        wait = LibraryTools.#firstWait;
      }
    }
    // Not every release tells that it has got tools, and most pages give them at once.
    if (this.#tools) this.#changed();
    Early.setTimeout(() => this.#look(Early.min(wait * 2, LibraryTools.#maxWait)), wait);
  }

  /**
   * Returns what the page made, if it is something that only its own world can reach. A
   * server that answers over messages is reached that way, and keeps its results' full form.
   */
  static #find(ours: readonly Function[], changed: () => void): ModelContext | undefined {
    const made = LibraryTools.#modelContext(ours);
    if (!made || made.__isBrowserMcpServer || (window as any).__mcpBridge) return undefined;
    const context = adapted(made, changed);
    if (context) return context;
    const testing = (navigator as any).modelContextTesting;
    if (typeof testing?.listTools !== "function" || typeof testing.executeTool !== "function") return undefined;
    const events = [testing, made].find(({ addEventListener }) => typeof addEventListener === "function");
    return adapted(
      {
        getTools: async () => testing.listTools(),
        executeTool: (tool: RegisteredTool, input: object | string, options: object) =>
          testing.executeTool(tool.name, typeof input === "string" ? input : JSON.stringify(input), options),
        addEventListener: events?.addEventListener.bind(events),
        removeEventListener: events?.removeEventListener.bind(events),
      },
      changed,
    );
  }

  /** Whatever a script of the page has put at document.modelContext or navigator.modelContext. */
  static #modelContext(ours: readonly Function[]): any {
    for (let i = 0; i < 2; i++) {
      const { object, prototype } = LibraryTools.#places[i];
      const inherited = Early.getOwnPropertyDescriptor(prototype, "modelContext");
      const there = Early.hasOwn(object, "modelContext") || (inherited && !(inherited.get && ours.includes(inherited.get)));
      const made = there ? (object as any).modelContext : undefined;
      if (made) return made;
    }
    return undefined;
  }
}
