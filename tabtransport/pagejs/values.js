// What pages say and throw: its limits, and its forms.
"use strict";

/**
 * The limits of what a frame may offer. They are the hub's own, or above them where
 * the hub cuts what is too long.
 */
var Limit = Object.freeze({
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

var Values = class {
  /** How much of what the hub leaves out is said in the console of a document. */
  static #maxWarned = 1000;
  /** @type {Set<string>} what was said of that */
  static #warned = new Set();

  /**
   * @param {unknown} value
   * @returns {value is Record<string, unknown>}
   */
  static isObject(value) {
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
   *
   * @param {unknown} given
   * @returns {string}
   */
  static callToolResult(given) {
    const text = Values.#text(given);
    /** @type {unknown} */
    let value;
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
   *
   * @param {string} result
   */
  static isNothing(result) {
    return result === Values.SUBMITTED || result === Values.textResult("undefined") || result === Values.textResult("null");
  }

  /** @param {unknown} given */
  static #text(given) {
    if (typeof given === "string") return given;
    const structured = (typeof given === "object" && given !== null) || typeof given === "function";
    return String(structured ? JSON.stringify(given) : given);
  }

  /** An id that nobody can guess. crypto.randomUUID exists in secure contexts only. */
  static randomID() {
    return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
  }

  /** @param {string} text */
  static textResult(text) {
    return JSON.stringify({ content: [{ type: "text", text }] });
  }

  /** The result of a form that was submitted and leads elsewhere, for which the browser has none. */
  static SUBMITTED = this.textResult("The form was submitted.");

  /**
   * Says in the page's console what the hub has left out of a registration or lists otherwise, each
   * of it once.
   *
   * @param {string} kind
   * @param {Partial<Refused>} answer the hub's
   */
  static warn(kind, { rejected, warnings }) {
    for (const { name, reason } of rejected ?? []) {
      if (Values.#isFirst(kind, name, reason)) console.warn(`tabhub: ${kind} ${name} is not offered: ${reason}`);
    }
    for (const { name, reason } of warnings ?? []) {
      if (Values.#isFirst(kind, name, reason)) console.warn(`tabhub: of ${kind} ${name}, a part is left out or listed otherwise: ${reason}`);
    }
  }

  /** @param {Offered<Refused>} refused */
  static warnOf({ tools, resources, prompts }) {
    Values.warn("tool", tools);
    Values.warn("resource", resources);
    Values.warn("prompt", prompts);
  }

  /** @param {string[]} what */
  static #isFirst(...what) {
    const key = JSON.stringify(what);
    if (Values.#warned.has(key) || Values.#warned.size >= Values.#maxWarned) return false;
    Values.#warned.add(key);
    return true;
  }

  /**
   * The text of something thrown, be it an error, what some libraries throw instead, or a word.
   *
   * @param {unknown} error
   */
  static errorText(error) {
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
};
