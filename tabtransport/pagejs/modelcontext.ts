// Tools of a modelContext: the browser's own (document.modelContext of WebMCP, forms marked as
// tools included), which every world of a document can use, or one that a library made, which
// only the page's world sees.

import { isInterface, mcpTool, sourceOf, takesObject } from "./shapes.ts";
import { Values } from "./values.ts";

/** The calls of a tool that run; input is JSON. */
type Running = { calls: { args: object; options: CallOptions }[]; thrown: { input: string; message: string }[] };

export class ModelContextTools implements Source {
  /** How long the next call of a form waits, in ms, once it was submitted: the document may be about to go. */
  static #leaving = 2_000;

  #tools = new Map<string, RegisteredTool>();
  /** Whether they may have changed since they were read. */
  #stale = false;
  /** The names of tools of other documents. */
  #otherDocuments = new Set<string>();
  /** What the context takes for tools that are dictionaries. */
  #takesObject: Promise<boolean> | undefined;
  /** The tools that run now, and what they threw that no call has reported yet. */
  #running: Map<string, Running> = new Map();
  /** The end of the latest call of each form. */
  #forms = new Map<string, Promise<unknown>>();
  /** The forms in shadow trees, once one was looked for since there was a new tool. */
  #shadowForms: Map<string, Element> | undefined;
  #context;
  #changed;
  #isOfDocument;

  /**
   * @param changed called when the tools may differ
   * @param isOfDocument tells the tools of this document from those
   * of frames of the same origin, which are listed, too
   */
  constructor(context: ModelContext, changed: () => void, isOfDocument: (tool: RegisteredTool) => boolean = (tool) => sourceOf(tool) === window) {
    this.#context = context;
    this.#changed = changed;
    this.#isOfDocument = isOfDocument;
  }

  start() {
    this.#context.addEventListener("toolchange", this.#toolsChanged);
  }

  stop() {
    this.#context.removeEventListener("toolchange", this.#toolsChanged);
  }

  #toolsChanged = () => {
    this.#stale = true;
    this.#changed();
  };

  async offer() {
    this.#stale = false;
    const all: RegisteredTool[] = (await this.#context.getTools()).filter((tool) => Object(tool) === tool); // a library may list anything
    const tools = all.filter(this.#isOfDocument);
    this.#otherDocuments = new Set(all.filter((tool) => !tools.includes(tool)).map(({ name }) => name));
    // The whole document is looked through for them: only when there is a name that was not there.
    if (tools.some(({ name }) => !this.#tools.has(name))) this.#shadowForms = undefined;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    return { tools: tools.map(mcpTool), resources: [], prompts: [] };
  }

  /** Whether another document has a tool of that name. */
  isOfAnother(name: string) {
    return this.#otherDocuments.has(name);
  }

  has(name: string) {
    return this.#tools.has(name);
  }

  async call(name: string, args: object, options: CallOptions) {
    const form = this.#formOf(name);
    if (!form) return this.#run(name, args, options);
    if (!form.hasAttribute("toolautosubmit")) options.waiting?.();
    // Of two that overlap the browser answers one, and it crashes if both are cancelled.
    const before = this.#forms.get(name);
    const call = Promise.resolve(before).then(() => {
      options.signal.throwIfAborted();
      return this.#run(name, args, options);
    });
    const over = call.then(
      (result) => result === Values.SUBMITTED && new Promise((done) => setTimeout(done, ModelContextTools.#leaving)),
      () => {},
    );
    this.#forms.set(name, over);
    return call;
  }

  async #run(name: string, args: object, options: CallOptions) {
    const { signal } = options;
    // One that was registered again is another object, and the one before runs no more.
    if (this.#stale) await this.offer();
    const tool = this.#tools.get(name);
    if (!tool) throw new Error(`the page has no tool ${name}`);
    const input = (await this.#takes(tool)) ? args : JSON.stringify(args);
    const running = this.#running.get(name) ?? { calls: [], thrown: [] };
    this.#running.set(name, running);
    const call = { args, options };
    running.calls.push(call);
    try {
      const given = await this.#context.executeTool(tool, input, { signal });
      return given === null && this.#formOf(name) ? Values.SUBMITTED : Values.callToolResult(given);
    } catch (error) {
      if (signal.aborted) throw error;
      const said = await thrownBy(running, JSON.stringify(args));
      throw said === undefined ? error : new Error(said);
    } finally {
      running.calls.splice(running.calls.indexOf(call), 1);
      if (running.calls.length === 0) this.#running.delete(name);
    }
  }

  /** Whether an object is to be given to a tool, or its JSON. No tool of the page is run to find out. */
  #takes(tool: RegisteredTool) {
    // What gives interface objects takes them alone, and schemas as it gives them.
    if (isInterface(tool)) return typeof tool.inputSchema !== "string";
    return (this.#takesObject ??= takesObject(this.#context));
  }

  /** The form of the document that is a tool. */
  #formOf(name: string) {
    // The browser keeps this list, where a search would go through the whole document at each call.
    for (const form of document.getElementsByTagName("form")) {
      if (Element.prototype.getAttribute.call(form, "toolname") === name) return form;
    }
    this.#shadowForms ??= new Map(shadowTrees(document).flatMap((tree) => toolForms(tree)));
    return this.#shadowForms.get(name);
  }

  /**
   * Tells what a tool of the page has thrown.
   * @param input JSON
   */
  threw(name: string, input: string, message: string) {
    const thrown = this.#running.get(name)?.thrown;
    if (thrown && thrown.length < 64) thrown.push({ input, message });
  }

  /**
   * A tool of the page has taken a token. Equal calls cannot be told apart: the first is meant.
   * @param input JSON
   */
  async took(name: string, input: string, token: string) {
    await this.#running.get(name)?.calls.find(({ args }) => JSON.stringify(args) === input)?.options.token?.(token);
  }
}

/**
 * Takes what a tool threw in the call with an input. The browser hides it, and it may be reported a moment
 * after the call has failed, or in another order than calls fail.
 * @param input JSON
 * @returns its text, if it was reported
 */
async function thrownBy(running: Running, input: string): Promise<string | undefined> {
  const index = () => running.thrown.findIndex((told) => told.input === input);
  if (index() < 0) await new Promise((done) => setTimeout(done, 30));
  const at = index();
  // A tool may have changed its input. If no other call of it runs, the last that it threw is meant.
  if (at < 0 && running.calls.length > 1) return undefined;
  return running.thrown.splice(at, 1)[0]?.message;
}

/** The forms of a tree that are tools, by name. */
function toolForms(tree: ParentNode): [string, Element][] {
  return [...tree.querySelectorAll("form[toolname]")].map((form) => [form.getAttribute("toolname") ?? "", form]);
}

/** The shadow trees below a node. Only the extension's own world sees closed ones. */
export function shadowTrees(root: Document | ShadowRoot): ShadowRoot[] {
  const { dom } = (globalThis as any).chrome ?? {};
  const trees = [];
  for (const element of root.querySelectorAll("*")) {
    const tree = dom && element instanceof HTMLElement ? dom.openOrClosedShadowRoot(element) : element.shadowRoot;
    if (tree) trees.push(tree, ...shadowTrees(tree));
  }
  return trees;
}
