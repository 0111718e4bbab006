import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.window = globalThis.self = globalThis;
globalThis.document = { getElementsByTagName: () => [], querySelectorAll: () => [] };
const { ModelContextTools } = await import("../pagejs/modelcontext.ts");

// What a tool throws is told by the call that it was thrown in, whichever fails first and whichever is told first.
for (const [name, inputs, told, want] of [
  ["as calls fail", [{ n: 1 }, { n: 2 }], [1, 2], ["no 1", "no 2"]],
  ["in another order", [{ n: 1 }, { n: 2 }], [2, 1], ["no 1", "no 2"]],
  ["of one call alone", [{ n: 1 }, { n: 2 }], [2], ["hidden", "no 2"]],
  ["of an input that the tool has changed", [{ n: 1 }], [3], ["no 3"]],
]) {
  test(`errors that are told: ${name}`, async () => {
    const run = [];
    const context = {
      getTools: async () => [{ name: "pay" }],
      executeTool: async ({ name }) => {
        if (name === "pay") return new Promise((_, reject) => run.push(() => reject(new Error("hidden"))));
      },
    };
    const tools = new ModelContextTools(context, () => {}, () => true);
    await tools.offer();
    const { signal } = new AbortController();
    const said = inputs.map((args) => tools.call("pay", args, { signal }).catch((error) => error.message));
    await new Promise(setImmediate); // all are with the page
    for (const fail of run) fail();
    await new Promise(setImmediate); // the calls have failed
    for (const n of told) tools.threw("pay", JSON.stringify({ n }), `no ${n}`);
    assert.deepEqual(await Promise.all(said), want);
  });
}
