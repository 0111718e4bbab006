// What pages say and throw: its limits, and its forms.

/**
 * The limits of what a frame may offer. They are the hub's own, or above them where
 * the hub cuts what is too long.
 */
export const Limit = Object.freeze({
  items: 1024, // of each kind
  name: 128,
  title: 256,
  description: 4096,
  schema: 64 << 10,
  other: 16 << 10, // annotations, _meta, icons
  uri: 2048,
  offer: 8 << 20, // all items of one kind together
  answer: 30 << 20, // one result
  error: 16_000, // an error's text
  message: 4096, // that of a progress notice
});

export class Values {
  /** How much of what the hub leaves out is said in the console of a document. */
  static #maxWarned = 1000;
  /** What was said of that. */
  static #warned = new Set<string>();

  static isObject(value: unknown): value is Record<string, unknown> {
    return typeof value === "object" && value !== null && !Array.isArray(value);
  }

  /**
   * Makes the JSON of a CallToolResult from what executeTool of WebMCP resolves to. The browser's
   * gives a text: an object as JSON, all else as it is. A library may give the value itself, which
   * is first made the text that the browser would make of it.
   *
   *   text of the browser                   content                   structuredContent
   *   {"content":[{…},…],…}                 its own                   its own
   *   {"structuredContent":{…},…}           its own                   its own
   *   a question (MCP's input_required)     its own                   its own
   *   {…}                                   the text                  the object
   *   else: a string, [1,2], 5, undefined   the text                  none
   *
   * The hub mends what in its own content is no block of MCP.
   */
  static callToolResult(given: unknown): string {
    const text = Values.#text(given);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return Values.textResult(text);
    }
    if (!Values.isObject(value)) return Values.textResult(text);
    if (Array.isArray(value.content) && value.content.every(Values.isObject)) return text;
    if (Values.isObject(value.structuredContent)) return text;
    if (value.resultType === "input_required" && Values.isObject(value.inputRequests)) return text;
    return `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text}}`;
  }

  /**
   * Whether a tool gave nothing, by its result: if the document then gives way to another one,
   * what that one says is the result.
   */
  static isNothing(result: string) {
    return result === Values.SUBMITTED || result === Values.textResult("undefined") || result === Values.textResult("null");
  }

  static #text(given: unknown) {
    if (typeof given === "string") return given;
    const structured = (typeof given === "object" && given !== null) || typeof given === "function";
    return String(structured ? JSON.stringify(given) : given);
  }

  /** An id that cannot be guessed. crypto.randomUUID exists in secure contexts only. */
  static randomID() {
    return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
  }

  static textResult(text: string) {
    return JSON.stringify({ content: [{ type: "text", text }] });
  }

  /** The result of a form that was submitted and leads elsewhere, for which the browser has none. */
  static SUBMITTED = this.textResult("The form was submitted.");

  /**
   * Says in the page's console what the hub has left out of a registration or lists otherwise, each
   * of it once.
   * @param answer the hub's
   */
  static warn(kind: string, { rejected, warnings }: Partial<Refused>) {
    for (const { name, reason } of rejected ?? []) {
      if (Values.#isFirst(kind, name, reason)) console.warn(`tabhub: ${kind} ${name} is not offered: ${reason}`);
    }
    for (const { name, reason } of warnings ?? []) {
      if (Values.#isFirst(kind, name, reason)) console.warn(`tabhub: of ${kind} ${name}, a part is left out or listed otherwise: ${reason}`);
    }
  }

  static warnOf({ tools, resources, prompts }: Offered<Refused>) {
    Values.warn("tool", tools);
    Values.warn("resource", resources);
    Values.warn("prompt", prompts);
  }

  static #isFirst(...what: string[]) {
    const key = JSON.stringify(what);
    if (Values.#warned.has(key) || Values.#warned.size >= Values.#maxWarned) return false;
    Values.#warned.add(key);
    return true;
  }

  /** The text of something thrown, be it an error, what some libraries throw instead, or a word. */
  static errorText(error: unknown) {
    let text = "";
    try {
      const { message } = Object(error);
      text = (typeof message === "string" && message) || String(error);
      // An object that does not say what it is says what is in it.
      if (Object(error) === error && !(error instanceof Error) && (Array.isArray(error) || text.startsWith("[object "))) {
        text = ""; // of what cannot be written down, too
        text = JSON.stringify(error) ?? "";
        if (text === "{}") text = "";
      }
    } catch {
      // What a page throws need not be printable.
    }
    return (text || "the page's tool failed without saying why").slice(0, Limit.error);
  }
}
