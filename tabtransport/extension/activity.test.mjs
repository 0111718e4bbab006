import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { standIn } from "./testdata/chrome.mjs";

standIn({ storage: { session: { get: async () => ({}), set: async () => {} } } });
const { ActivityLog } = await import("./worker/activity.ts");

/** Time goes by. In one step timers would find it to be the end of it. */
function pass(ms) {
  for (; ms > 0; ms -= 5) mock.timers.tick(5);
}

/** A log, and what its tab's overlay has said, a change each. */
function watched() {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  const said = [];
  const log = new ActivityLog((_tab, _users, label) => said.at(-1) !== label && said.push(label), () => {});
  let calls = 0;
  const call = (name, took, { acts = true, app = "claude" } = {}) => {
    const id = String(++calls);
    log.begun(id, 7, "tool", name, acts, app);
    pass(took);
    log.ended(id, "done");
  };
  return { log, said, call };
}

test("a call that acts is said for a while, however short it was", (t) => {
  t.after(() => mock.timers.reset());
  const { said, call } = watched();
  call("add_to_cart", 5);
  assert.deepEqual(said, ["claude used add_to_cart"]);
  pass(1_490);
  assert.deepEqual(said, ["claude used add_to_cart"]);
  pass(20);
  assert.deepEqual(said, ["claude used add_to_cart", ""]);
});

test("a short call that only reads leaves no mark", (t) => {
  t.after(() => mock.timers.reset());
  const { said, call } = watched();
  call("search", 5, { acts: false });
  pass(5_000);
  assert.deepEqual(said, []);
});

test("a long call is said while it runs, and then what it was", (t) => {
  t.after(() => mock.timers.reset());
  const { said, call } = watched();
  call("checkout", 4_000);
  pass(5_000);
  assert.deepEqual(said, ["claude is using this page", "claude used checkout", ""]);
});

test("calls one after the other do not make the words flicker", (t) => {
  t.after(() => mock.timers.reset());
  const { said, call } = watched();
  for (let i = 0; i < 100; i++) {
    call(`tool_${i}`, 5, { acts: i % 2 === 1, app: "claude" });
    pass(50);
  }
  pass(5_000);
  assert.deepEqual(said.slice(0, 1), ["claude is using this page"]);
  assert.match(said.at(-2), /^claude used tool_99, and \d+ more$/);
  assert.ok(said.length <= 5 && said.at(-1) === "", said.join("; "));
});

test("of several clients the latest call is named", (t) => {
  t.after(() => mock.timers.reset());
  const { log, said, call } = watched();
  call("rename", 5);
  pass(400);
  call("archive", 5, { app: "cursor" });
  pass(400);
  assert.equal(log.label(7), "cursor used archive, and 1 more");
  pass(3_000);
  assert.equal(said.at(-1), "");
});
