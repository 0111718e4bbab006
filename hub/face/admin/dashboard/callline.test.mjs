// What a page calls its prompts, and their arguments, is in a line that the owner puts into a terminal: it
// stays a word there, is no flag, and no key that the terminal acts on.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { shellLine } from "./callline.ts";

for (const words of [
  ["plain"],
  ["it's"],
  ["$(touch x)`touch y`;touch z"],
  ["--hub=http://evil.example", "a=1"],
  ["name", "-h"],
  ["stop\x03\ntouch x\n"],
  ["\x1b[201~touch x\r"],
  ["back\\slash'!x\t\u2028’\u200b\u{e0041}"],
]) {
  test(JSON.stringify(words), () => {
    const line = shellLine("prompt", words);
    assert.doesNotMatch(line, /[\0-\x1f\x7f]/, "a terminal acts on it");
    const read = execFileSync("bash", ["--norc", "-c", `tabhub() { printf '%s\\0' "$@"; }; ${line}`], { encoding: "utf8" });
    const flags = words.some((word) => word.startsWith("-")) ? ["--"] : [];
    assert.deepEqual(read.split("\0").slice(0, -1), ["prompt", ...flags, ...words]);
  });
}
