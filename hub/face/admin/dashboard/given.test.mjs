// A line of the record says what was ordered and for how much, whatever a client had put around it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { answerIn, brief, notKept, valuesOf } from "./given.ts";

const deep = JSON.parse("[".repeat(60) + '"x"' + "]".repeat(60));

for (const [args, want] of [
  [{ item: "Desk lamp", price: 49.9, gift: false }, "item: Desk lamp · price: 49.9 · gift: false"],
  [{ to: { name: "Ann", street: "High Street" }, items: ["lamp", "bulb"] }, "to: Ann, High Street · items: lamp, bulb"],
  [{ note: "a\n\n  b", empty: "", none: null, list: [] }, "note: a b"],
  [{ to: "evil", notKept: 12 }, "to: evil · notKept: 12"],
  [{}, ""],
  [deep, "0: x"],
  ["text", "text"],
  [{ long: "x".repeat(500), next: "y" }, `long: ${"x".repeat(59)}… · next: y`],
]) {
  test(want, () => assert.equal(brief(args), want));
}

// What an order came to is often in its result alone.
for (const [result, want] of [
  [{ content: [{ type: "text", text: '{"orderNumber":7,"totalCents":3700}' }] }, "orderNumber: 7 · totalCents: 3700"],
  [{ content: [], structuredContent: { total: "37.00" } }, "total: 37.00"],
  [{ content: [{ type: "image" }, { type: "text", text: "Thank you" }] }, "Thank you"],
  [{ content: {} }, ""],
  [null, ""],
]) {
  test(`the answer ${want}`, () => assert.equal(brief(answerIn(result)), want));
}

test("what is not kept", () => assert.equal(notKept(123456), "123,456 bytes, not kept"));

test("a flood", () => {
  const all = brief(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, "v".repeat(100)])));
  assert.equal([...all].length, 200);
});

test("the values of a story", () => {
  const values = valuesOf({ to: [{ name: "Ann" }], amount: 120, note: "", more: {} });
  assert.deepEqual(values.map(({ name, value }) => [name, value]), [["to/0/name", "Ann"], ["amount", "120"], ["note", ""], ["more", "{}"]]);
});
