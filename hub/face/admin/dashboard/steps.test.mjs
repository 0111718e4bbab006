// The story of a call has the times of what happened, and their order: a record that has the answer of the
// owner after what it allowed misleads whoever looks into what was done.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { nanoseconds, stepsOf, tookOf } from "./steps.ts";

const stories = JSON.parse(readFileSync(new URL("testdata/story.json", import.meta.url), "utf8"));

for (const { name, lines, steps, took, you } of stories) {
  test(name, () => {
    assert.deepEqual(
      stepsOf(lines).map(({ is, at }) => [is, at]),
      steps.map(({ is, at }) => [is, at && nanoseconds(at)]),
    );
    const call = lines.find(({ event }) => event === "call");
    assert.deepEqual(call ? tookOf(call) : { took: 0, you: 0 }, { took, you });
  });
}
