import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { matchesAny } from "./patterns.ts";
import { ABSENT, bodyOf, evaluate, fieldsOf, numberIn, pathOf, take, valueOf } from "./content/steps/values.ts";

const given = (args, values = {}) => ({ args, values });

// A number that is read otherwise than the page means it is a wrong price.
for (const [text, want, language] of [
  ["1,234.50 €", 1234.5],
  ["€ 1.234,50", 1234.5],
  ["1,234", 1234],
  ["1.234", 1.234],
  ["1.234", 1234, "de"],
  ["1,234", 1.234, "de-AT"],
  ["0.125", 0.125, "de"],
  ["1,5", 1.5],
  ["1.234.567", 1234567],
  ["1,234,567.8", 1234567.8],
  ["12'345.60", 12345.6, "de-CH"],
  ["1 234,5", 1234.5, "fr"],
  ["12 990 Kč", 12990, "cs"],
  ["1\u202f234,5", 1234.5, "en"],
  ["4 120 reviews", 4],
  ["12", 12],
  ["-3", -3],
  ["−3 °C", -3],
  ["-$5.00", -5],
  ["$-5.00", -5],
  ["SKU-5", 5],
  ["3-5 days", 3],
  ["42 points by 7", 42],
  ["a 2,5", 2.5],
  ["none", undefined],
  ["", undefined],
  ["1.234", 1.234, "no language!"],
]) {
  test(`the number in ${text} (${language ?? "en"})`, () => assert.equal(numberIn(text, language ?? ""), want));
}

// What a value comes to, and what an absent argument leaves out.
test("values", () => {
  const from = given({ a: "x", n: 2, none: null, l: [1, 2] }, { first: { b: [{ c: 3 }] }, "": "not by name" });
  for (const [value, want] of [
    ["text", "text"],
    [7, 7],
    [true, true],
    [{ arg: "n" }, 2],
    [{ arg: "none" }, ABSENT],
    [{ arg: "toString" }, ABSENT],
    [{ from: "first.b[0].c" }, 3],
    [{ from: "args.a" }, "x"],
    [{ from: "first.nothing" }, null],
    ["a ${a} and ${n}", "a x and 2"],
    ["a ${none}", ABSENT],
    [{ arg: 1 }, { arg: 1 }],
    [{ arg: "a", from: "args.a" }, { arg: "a", from: "args.a" }],
    ["${a}${", "x${"],
  ]) assert.deepEqual(valueOf(value, from), want);
  assert.deepEqual(bodyOf({ a: { arg: "a" }, b: { arg: "none" }, c: [{ arg: "none" }, { d: { arg: "n" } }], e: null }, from), { a: "x", c: [{ d: 2 }], e: null });
  assert.deepEqual(fieldsOf({ l: { arg: "l" }, none: { arg: "none" }, a: "${a}" }, from), [["l", "1"], ["l", "2"], ["a", "x"]]);
  assert.throws(() => fieldsOf({ a: { from: "first" } }, from), /a is not a text/);
});

// No argument leads a request elsewhere than the pack says.
for (const id of ["", ".", "..", "a/b", "a\\b", "a?b", "a#b", "a%2fb", "a\nb", null, { a: 1 }]) {
  test(`an argument of a path that is ${JSON.stringify(id)}`, () => assert.throws(() => pathOf("/a/${id}", given({ id })), { code: "STEP_REFUSED" }));
}
test("paths", () => {
  assert.equal(pathOf("/a/${id}.json", given({ id: "ü &=+" })), "/a/%C3%BC%20%26%3D%2B.json");
  assert.equal(pathOf("/a/", given({})), "/a/");
  for (const path of ["a", "//a", "/a//b", "/./a", "/a/%2e%2E/b"]) assert.throws(() => pathOf(path, given({})), { code: "STEP_REFUSED" });
});

// What objects have by themselves is no data of the page.
test("expressions see members only", () => {
  assert.equal(take({}, "constructor"), null);
  assert.equal(take({ a: {} }, "a.toString"), null);
  assert.deepEqual(take([{ a: {}, b: 1 }, { a: { c: 1 }, b: 2 }], "[?a].b"), [2]);
  assert.equal(evaluate("a", given({}, { __proto__: null, a: 1 })), 1);
  assert.throws(() => take({ a: "x" }, "abs(a)"), { code: "STEP_ANSWER" });
});

const vectors = (name) => JSON.parse(readFileSync(new URL(`../../hub/offer/pack/testdata/${name}.json`, import.meta.url), "utf8"));

// The hub and the extension read a pack alike.
test("values as the hub reads them", () => {
  const { args, values, bodies, paths, queries } = vectors("values");
  const of = given(args, values);
  const plain = (value) => JSON.parse(JSON.stringify(value));
  for (const { value, gives } of bodies) assert.deepEqual(plain(bodyOf(value, of)), gives, JSON.stringify(value));
  for (const { path, gives, refused } of paths) {
    if (refused) assert.throws(() => pathOf(path, of), { code: "STEP_REFUSED" }, path);
    else assert.equal(pathOf(path, of), gives);
  }
  for (const { query, gives, refused } of queries) {
    if (refused) assert.throws(() => evaluate(query, of), { code: "STEP_ANSWER" }, query);
    else assert.deepEqual(plain(evaluate(query, of)), gives, query);
  }
});
test("patterns as the hub reads them", () => {
  for (const { pattern, yes, no } of vectors("patterns").matches) {
    for (const url of yes) assert.ok(matchesAny([pattern], url), `${pattern} has ${url}`);
    for (const url of no) assert.ok(!matchesAny([pattern], url), `${pattern} does not have ${url}`);
  }
});

test("values, paths and expressions as the hub reads them", () => {
  const { args, values, bodies, paths, queries } = vectors("values");
  const from = given(args, values);
  const json = (value) => JSON.parse(JSON.stringify(value));
  for (const { value, gives } of bodies) assert.deepEqual(json(bodyOf(value, from)), gives, JSON.stringify(value));
  for (const { path, gives } of paths) {
    if (gives) assert.equal(pathOf(path, from), gives);
    else assert.throws(() => pathOf(path, from), { code: "STEP_REFUSED" }, path);
  }
  for (const { query, gives, refused } of queries) if (!refused) assert.deepEqual(json(evaluate(query, from)), gives, query); // the hub takes no other
});
