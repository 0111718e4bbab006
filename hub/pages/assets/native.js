// The page's document.modelContext: the browser's own, or a polyfill's.

/** @implements {Source} */
class ContextSource {
  #native;
  /** @type {ModelContext | null} */
  #context = null;
  /** @type {Map<string, RegisteredTool>} */
  #tools = new Map();
  /** Whether executeTool takes the arguments as JSON text. @type {Promise<boolean> | null} */
  #takesText = null;

  /** @param {boolean} native which of the two to look for */
  constructor(native) {
    this.#native = native;
  }

  /** @param {(kind: Kind) => void} changed */
  start(changed) {
    const look = () => {
      const context = this.#context ? null : findContext(this.#native);
      if (!context) return;
      this.#context = context;
      context.addEventListener("toolchange", () => changed("tool"));
      changed("tool");
    };
    look();
    // A polyfill may come later than this script.
    document.addEventListener("DOMContentLoaded", look);
    window.addEventListener("load", look);
  }

  /** @param {Kind} kind @returns {Promise<JSONObject[]>} */
  async list(kind) {
    if (kind !== "tool" || !this.#context) return [];
    const found = await this.#context.getTools();
    this.#tools = new Map(found.filter(isOfThisDocument).map((tool) => [tool.name, tool]));
    return [...this.#tools.values()].map(toolOfContext);
  }

  /** @param {string} name @param {JSONObject} args @param {CallContext} context */
  async callTool(name, args, { signal }) {
    const tool = this.#tools.get(name);
    if (!this.#context || !tool) throw new Error(`the page has no tool ${name} any more`);
    this.#takesText ??= takesText(this.#context);
    const input = (await this.#takesText) ? JSON.stringify(args) : args;
    const raw = await this.#context.executeTool(tool, input, { signal });
    if (raw === null) throw new Error("the page navigated away while the tool ran");
    let value;
    try {
      value = JSON.parse(raw);
    } catch {
      return textResult(raw);
    }
    // Numbers, strings and such are what the tool returned, as text.
    return isObject(value) ? resultText(value, raw) : textResult(raw);
  }

  /** @returns {Promise<never>} */
  async readResource() {
    throw new Error("document.modelContext has no resources");
  }

  async subscribe() {}

  /** @returns {Promise<never>} */
  async getPrompt() {
    throw new Error("document.modelContext has no prompts");
  }
}

/**
 * Libraries shadow the browser's object with one of their own, on the document;
 * what they shadow is still behind the prototype's getter.
 * @param {boolean} native
 * @returns {ModelContext | null}
 */
function findContext(native) {
  const getter = Object.getOwnPropertyDescriptor(Document.prototype, "modelContext")?.get;
  const isNative = getter !== undefined && Function.prototype.toString.call(getter).includes("[native code]");
  if (native) return isNative ? (getter.call(document) ?? null) : null;
  if (isNative) return null;
  /** @type {any} */
  const context = getter?.call(document) ?? /** @type {any} */ (document).modelContext;
  return typeof context?.getTools === "function" && typeof context.executeTool === "function" ? context : null;
}

/** @param {RegisteredTool} tool */
function isOfThisDocument(tool) {
  if (tool.window === window) return true;
  if (tool.origin !== undefined && tool.origin !== ownOrigin()) return false;
  // A frame of the same site that has a connection of its own offers it itself.
  return !tool.window?.tabhub;
}

/** A frame without an address of its own, such as a srcdoc, has the origin of the page around it. */
function ownOrigin() {
  return location.origin === "null" ? self.origin : location.origin;
}

/** @param {RegisteredTool} tool */
function toolOfContext({ name, title, description, inputSchema, annotations }) {
  /** @type {JSONObject} */
  const out = { name, description };
  if (title) out.title = title;
  if (typeof inputSchema === "object") out.inputSchema = inputSchema;
  else if (inputSchema) out.inputSchema = JSON.parse(inputSchema);
  // The browser fills in every hint that it knows; those that are false say nothing.
  const hints = Object.entries(annotations ?? {}).filter(([, value]) => value !== false && value !== undefined);
  if (hints.length > 0) out.annotations = Object.fromEntries(hints);
  return out;
}

/**
 * Browsers up to Chromium 154, and polyfills, take the arguments as JSON text;
 * later ones as an object, and refuse text with a TypeError. Asked with a tool that
 * does not exist, so nothing can run.
 * @param {ModelContext} context
 */
async function takesText(context) {
  const nobody = { name: `tabhub-probe-${randomID()}`, title: "", description: "", window, origin: ownOrigin() };
  try {
    await context.executeTool(nobody, "{}");
  } catch (error) {
    return !(error instanceof TypeError);
  }
  return true;
}
