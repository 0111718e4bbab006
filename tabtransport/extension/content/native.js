// Tools of a document whose browser has WebMCP (document.modelContext), declarative
// forms included. The extension's own world can use it: nothing passes through the
// page's scripts.
"use strict";

/**
 * @typedef {object} Running
 * @property {number} calls
 * @property {string[]} thrown what the tool has thrown and no call has reported yet
 */

/** @implements {Source} */
var NativeSource = class {
  /** @type {Map<string, RegisteredTool>} */
  #tools = new Map();
  /** @type {Promise<boolean> | undefined} */
  #takesObject;
  /** @type {Map<string, Running>} the tools that run now */
  #running = new Map();
  #context;
  #changed;

  /** @returns {ModelContext | undefined} */
  static context() {
    const context = document.modelContext;
    return typeof context?.getTools === "function" && typeof context.executeTool === "function" ? context : undefined;
  }

  /**
   * @param {ModelContext} context
   * @param {() => void} changed called when the tools may differ
   */
  constructor(context, changed) {
    this.#context = context;
    this.#changed = changed;
  }

  start() {
    this.#context.addEventListener("toolchange", this.#changed);
  }

  stop() {
    this.#context.removeEventListener("toolchange", this.#changed);
  }

  async offer() {
    // Frames of the same origin are listed, too. Each speaks for itself.
    const own = (await this.#context.getTools()).filter((tool) => tool.window === window);
    this.#tools = new Map(own.map((tool) => [tool.name, tool]));
    return { tools: own, resources: [], prompts: [] };
  }

  /** @param {string} name */
  has(name) {
    return this.#tools.has(name);
  }

  /**
   * @param {string} name
   * @param {object} args
   * @param {CallOptions} options
   */
  async call(name, args, { signal }) {
    const tool = this.#tools.get(name);
    if (!tool) throw new Error(`the page has no tool ${name}`);
    this.#takesObject ??= takesObject(this.#context);
    const input = (await this.#takesObject) ? args : JSON.stringify(args);
    const running = this.#running.get(name) ?? { calls: 0, thrown: [] };
    this.#running.set(name, running);
    running.calls++;
    try {
      return Shape.callToolResult(await this.#context.executeTool(tool, input, { signal }));
    } catch (error) {
      if (signal.aborted) throw error;
      // The browser hides what the tool threw. The shim has seen it, and its word may
      // be a moment behind.
      if (!running.thrown.length) await new Promise((done) => setTimeout(done, 30));
      const said = running.thrown.shift();
      throw said === undefined ? error : new Error(said);
    } finally {
      if (--running.calls === 0) this.#running.delete(name);
    }
  }

  /**
   * Tells what a tool of the page has thrown.
   *
   * @param {string} name
   * @param {string} message
   */
  threw(name, message) {
    const thrown = this.#running.get(name)?.thrown;
    if (thrown && thrown.length < 64) thrown.push(message);
  }
};

/**
 * Finds out what context.executeTool takes: an object, or before Chromium 155 a JSON
 * string. No tool has the name, so nothing runs. In a frame without an address of its own
 * the document's origin is not that of its location.
 *
 * @param {ModelContext} context
 * @returns {Promise<boolean>}
 */
async function takesObject(context) {
  const nobody = { name: "tabhub-no-such-tool", description: "none", window, origin: self.origin };
  try {
    await context.executeTool(nobody, "{}");
    return false;
  } catch (error) {
    return error instanceof TypeError;
  }
}
