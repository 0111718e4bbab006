// What the hub and the extension take for a target, one text for both.
import assert from "node:assert";
import { readFileSync } from "node:fs";
import test from "node:test";
import { parseTarget } from "./targets.ts";

for (const { text, target } of JSON.parse(readFileSync(new URL("../../hub/anypage/testdata/targets.json", import.meta.url)))) {
  test(JSON.stringify(text), () => assert.deepEqual(parseTarget(text) ?? null, target));
}
