import assert from "node:assert/strict";
import { test } from "node:test";
import { Values } from "../pagejs/values.ts";

const nothing = "the page's tool failed without saying why";
const cyclic = {};
cyclic.self = cyclic;

// Whatever a tool throws, a model reads what is in it, and never "[object Object]".
for (const [error, want] of [
  [new Error("no room"), "no room"],
  [new TypeError(""), "TypeError"],
  [new DOMException("gone", "AbortError"), "gone"],
  [{ message: "no room" }, "no room"],
  [{ code: 7, reason: "full" }, '{"code":7,"reason":"full"}'],
  [{ toString: () => "full" }, "full"],
  [[1, { a: 2 }], '[1,{"a":2}]'],
  [{}, nothing],
  [cyclic, nothing],
  [Object.create(null), nothing],
  [null, "null"],
  [undefined, "undefined"],
  [Symbol("full"), "Symbol(full)"],
  ["full", "full"],
  ["", nothing],
]) {
  test(`what was thrown reads ${want}`, () => assert.equal(Values.errorText(error), want));
}
