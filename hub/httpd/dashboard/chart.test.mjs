import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, curveOf, niceStep } from "./chart.js";

const x = (i) => 10 * i, y = (value) => 100 - value;

test("a curve has gaps, and a dot where a value has no neighbours", () => {
  assert.equal(curveOf([null, 1, 2, null, 3, null], x, y), "M10,99L20,98M40,97h0");
  assert.equal(curveOf([0], x, y), "M0,100h0");
});

test("a bar stands on the axis, and there is none of nothing", () => {
  assert.equal(barsOf([5, 0, null], x, y, 8), "M-4,100V95h8V100z");
});

test("the numbers beside a chart are round", () => {
  assert.deepEqual([0.2, 1, 3, 11, 45, 300].map(niceStep), [1, 1, 5, 20, 50, 500]);
});
