import assert from "node:assert/strict";
import { test } from "node:test";
import { parameters } from "./schemaform.ts";

test("what a tool takes can be read without a form", () => {
  const all = parameters({
    $defs: { item: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] } },
    required: ["size"],
    properties: {
      size: { type: "string", enum: ["S", "L"], description: "How large", default: "S" },
      items: { type: "array", items: { $ref: "#/$defs/item" }, minItems: 1 },
      count: { type: ["integer", "null"], minimum: 1, maximum: 9 },
    },
  });
  assert.deepEqual(all.map(({ name, depth, type, required, description, facts }) => [name, depth, type, required, description, ...facts].join("|")), [
    "size|0|string|true|How large|one of S, L|default S",
    "items|0|array of object|false||1 or more items",
    "sku|1|string|true|",
    "count|0|integer|false||1 to 9",
  ]);
});
