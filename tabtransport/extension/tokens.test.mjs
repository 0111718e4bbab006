import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { tokensIn } from "./tokens.ts";

// The counts are the most of o200k_base and cl100k_base (gpt-tokenizer 3) and of @anthropic-ai/tokenizer 0.0.4.
test("no text is taken to have fewer tokens than it has", () => {
  let counted = 0;
  let real = 0;
  for (const { text, tokens } of JSON.parse(readFileSync(new URL("testdata/tokens.json", import.meta.url)))) {
    counted += tokensIn(text);
    real += tokens;
    assert.ok(tokensIn(text) >= tokens * 0.95, `${tokensIn(text)} instead of ${tokens}: ${text}`);
  }
  assert.ok(counted < real * 1.3, `${counted} instead of ${real} in all`);
});
