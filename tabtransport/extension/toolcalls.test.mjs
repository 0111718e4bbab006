import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { ToolCalls } from "../pagejs/toolcalls.ts";

const MINUTE = 60_000;

// A question that nobody answers, as when the client has cancelled its call or has gone: after ten
// minutes the tool is told, and nothing is left that waits. Until then the answer comes through.
test("a question that nobody answers", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const calls = new ToolCalls();
  const extensions = { clientCapabilities: { elicitation: {} } };
  const ended = [];
  const begin = async () => {
    const run = async ({ ask, signal }) => {
      try {
        const { action } = await ask({ message: "Who?", requestedSchema: { type: "object", properties: {} } });
        ended.push(action);
      } catch ({ name }) {
        ended.push(name, signal.aborted);
      }
      return "{}";
    };
    return JSON.parse(await calls.call(run, { signal: new AbortController().signal, extensions })).requestState;
  };
  const answer = (requestState) => {
    const extensions = { requestState, inputResponses: { input: { action: "accept" } } };
    return calls.call(() => assert.fail("run again"), { signal: new AbortController().signal, extensions });
  };

  const late = await begin();
  mock.timers.tick(5 * MINUTE);
  const inTime = await begin();
  mock.timers.tick(4 * MINUTE);
  await answer(inTime);
  assert.deepEqual(ended, ["accept"]);
  mock.timers.tick(MINUTE);
  await new Promise(setImmediate);
  assert.deepEqual(ended, ["accept", "AbortError", true]);
  await assert.rejects(answer(late), /does not wait for this answer any more/);

  // There is room again for as many questions as may be asked at a time.
  for (let i = 0; i < 64; i++) assert.ok(await begin());
  await begin().catch(() => {});
  assert.equal(ended.at(-2), "QuotaExceededError");
  mock.timers.tick(10 * MINUTE);
  await new Promise(setImmediate);
  assert.ok(await begin());
});

// A page may say more than once that the person has answered.
test("what waits for the person", async () => {
  const said = [];
  const waits = () => (said.push("waits"), () => said.push("answered"));
  const run = async ({ waiting }) => {
    await undefined;
    const answered = waiting();
    answered();
    answered();
    waiting();
    return "{}";
  };
  await new ToolCalls().call(run, { signal: new AbortController().signal, waiting: waits });
  assert.deepEqual(said, ["waits", "answered", "waits"]);
});
