import assert from "node:assert/strict";
import { test } from "node:test";
import { ToolCalls } from "../pagejs/toolcalls.ts";

const MINUTE = 60_000;

// A question that nobody answers, as when the client has cancelled its call or has gone: after ten
// minutes the tool is told, and nothing is left that waits. Until then the answer comes through.
test("a question that nobody answers", async ({ mock }) => {
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

const forms = { elicitation: { form: {} } }, anything = { elicitation: { form: {}, url: {} } };
const form = (message) => ({ message: `${message}?`, requestedSchema: { type: "object", properties: { answer: { type: "string" } } } });
const ada = { action: "accept", content: { answer: "Ada" } }, bob = { action: "accept", content: { answer: "Bob" } };
globalThis.location = { href: "https://shop.example/cart" };

/** Makes one request of a call after another: each is what was asked, or what the tool has returned. */
function rounds(can, tool) {
  const calls = new ToolCalls();
  let runs = 0;
  const extensions = { clientCapabilities: can };
  const next = async (answer, state, signal = new AbortController().signal) => {
    const more = answer === undefined ? {} : { requestState: state ?? next.state, inputResponses: { input: answer } };
    const run = async (options) => (runs++, JSON.stringify((await tool(options)) ?? null));
    const result = JSON.parse(await calls.call(run, { signal, extensions: { ...extensions, ...more } }));
    if (result?.resultType !== "input_required") return result;
    next.state = result.requestState;
    const { message, url = "" } = result.inputRequests.input.params;
    return `${message} ${url}`.trim();
  };
  return { next, runs: () => runs };
}

const answered = async ({ ask }) => {
  const { action, content } = await ask(form("Who"));
  return `${action} ${content?.answer}`;
};
const asks = (request, ...interact) => ({ ask }) => ask(request, ...interact).then(({ action }) => action, ({ name }) => name);
const circular = form("Who");
circular.requestedSchema.properties.self = circular;

// Steps are a result, an answer, a result…
for (const [name, can, tool, ...steps] of [
  ["accepted", forms, answered, "Who?", ada, "accept Ada"],
  ["by a client of the time before modes", { elicitation: {} }, answered, "Who?", ada, "accept Ada"],
  ["declined", forms, answered, "Who?", { action: "decline" }, "decline undefined"],
  ["cancelled", forms, answered, "Who?", { ...ada, action: "cancel" }, "cancel undefined"],
  ["an action that there is not", forms, answered, "Who?", { action: "ACCEPT" }, "cancel undefined"],
  ["no answer", forms, answered, "Who?", null, "cancel undefined"],
  ["one after the other", forms, async ({ ask }) => `${(await ask(form("One"))).content.answer} and ${(await ask(form("Two"))).content.answer}`, "One?", ada, "Two?", bob, "Ada and Bob"],
  ["over before the answer", forms, ({ ask }) => (ask(form("Who")), new Promise((done) => setImmediate(done, "done"))), "Who?", ada, "done"],
  ["a client that asks for addresses alone", { elicitation: { url: {} } }, asks(form("Who")), "NotSupportedError"],
  ["an address", anything, asks({ mode: "url", message: "Pay", url: "/pay" }), "Pay https://shop.example/pay", { action: "accept" }, "accept"],
  ["an address, to a client of forms", forms, asks({ mode: "url", message: "Pay", url: "/pay" }), "NotSupportedError"],
  ["no message", anything, asks({ ...form("x"), message: undefined }), "TypeError"],
  ["no schema", anything, asks({ message: "Who" }), "TypeError"],
  ["a schema that is none of a form", anything, asks({ message: "Who", requestedSchema: { answer: { type: "string" } } }), "TypeError"],
  ["a schema that is not JSON", anything, asks(circular), "TypeError"],
  ["no address", anything, asks({ mode: "url", message: "Pay" }), "TypeError"],
  ["an address that is none of the web", anything, asks({ mode: "url", message: "Pay", url: "javascript:alert(1)" }), "TypeError"],
  ["a mode that there is not", anything, asks({ ...form("x"), mode: "voice" }), "TypeError"],
  ["nothing", anything, asks(), "TypeError"],
  ["interactive, without a function that asks", anything, asks({ mode: "interactive" }), "TypeError"],
]) {
  test(`a question: ${name}`, async () => {
    const call = rounds(can, tool);
    for (let i = 0; i < steps.length; i += 2) assert.equal(await call.next(i ? steps[i - 1] : undefined), steps[i]);
    assert.equal(call.runs(), 1);
  });
}

test("an answer is taken once, by the document that has asked", async () => {
  const call = rounds(forms, async ({ ask }) => (await ask(form("One")), (await ask(form("Two"))).action));
  await call.next();
  const used = call.next.state;
  await call.next(ada);
  for (const state of [used, "tabhub-asked-0"]) await assert.rejects(call.next(ada, state), /does not wait for this answer any more/);
  assert.equal(await call.next(ada), "accept");
  assert.equal(call.runs(), 1);
});

for (const how of [[form("Who")], [{ mode: "interactive" }, () => "asked"]]) {
  test(`a tool whose call is over, or cancelled, asks nobody: ${JSON.stringify(how[0])}`, async () => {
    let ask;
    const name = () => ask(...how).then(() => "asked", ({ name }) => name);
    assert.equal(await rounds(forms, async (options) => (({ ask } = options), "done")).next(), "done");
    assert.equal(await name(), "InvalidStateError");
    const stop = new AbortController();
    void rounds(forms, (options) => (({ ask } = options), new Promise(() => {}))).next(undefined, undefined, stop.signal);
    stop.abort();
    assert.equal(await name(), "AbortError");
  });
}
