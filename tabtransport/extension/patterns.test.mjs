import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesAny, overlap, within } from "./patterns.ts";

// A pattern that the hub reads otherwise than the browser would show a tool, or let a step reach, where
// its owner did not allow it.
for (const [pattern, yes, no] of [
  ["https://a.example/x/*", ["https://a.example/x/", "https://a.example/x/y?z#w", "https://a.example:8443/x/1", "https://a.example/x"], ["http://a.example/x/", "https://b.a.example/x/", "https://a.example/", "https://evil.example/?https://a.example/x/"]],
  ["https://*.a.example/*", ["https://a.example/", "https://b.c.a.example/x"], ["https://ba.example/", "https://a.example.evil.example/"]],
  ["http://localhost:8080/a", ["http://localhost:8080/a", "http://localhost:8080/a#b"], ["http://localhost:8081/a", "http://localhost:8080/a?", "http://localhost:8080/a?#b", "http://localhost:8080/a?b", "http://localhost:8080/ab"]],
  ["https://a.example/*b*b", ["https://a.example/bb"], ["https://a.example/b"]],
  ["https://[::1]/*", ["https://[::1]/x"], ["https://[::2]/x"]],
]) {
  test(`match pattern ${pattern}`, () => {
    for (const url of yes) assert.ok(matchesAny([pattern], url), url);
    for (const url of no) assert.ok(!matchesAny([pattern], url), url);
  });
}

test("a pattern is narrowed to a site that is shared", () => {
  assert.equal(within("https://*.a.example/x/*", "https://b.a.example"), "https://b.a.example:443/x/*");
  assert.equal(within("http://localhost/*", "http://localhost:8080"), "http://localhost:8080/*");
  assert.equal(within("https://a.example/*", "https://b.example"), undefined);
});

test("two packs that may have a page in common are known", () => {
  for (const [a, b, is] of [
    ["https://a.example/x/*", "http://a.example:8080/y", true],
    ["https://*.a.example/*", "https://b.a.example/*", true],
    ["https://b.a.example/*", "https://*.a.example/*", true],
    ["https://*.a.example/*", "https://*.b.a.example/*", true],
    ["https://*.a.example/*", "https://a.example/*", true],
    ["https://a.example/*", "https://ba.example/*", false],
    ["https://*.a.example/*", "https://ba.example/*", false],
    ["http://[::1]/*", "http://[::1]:80/x", true],
  ]) {
    assert.equal(overlap([a], [b]), is, `${a} ${b}`);
  }
});
