// executeTool.

check("what a tool gives", async (signal) => {
  const circular = {};
  circular.self = circular;
  for (const [want, value] of [
    ["plain", "plain"], ['{"a":1}', { a: 1 }], ["[1,null]", [1, undefined]], ["undefined", undefined], ["null", null], ["5", 5], ["5", 5n], ["false", false],
    ["Operation succeeded", ""], ["undefined", () => 1], ["undefined", { toJSON() {} }], ['"1970-01-01T00:00:00.000Z"', new Date(0)], ["{}", new Error("e")], ["later", Promise.resolve("later")],
  ]) {
    const controller = new AbortController();
    same(await run(controller.signal, () => value, {}), want);
    controller.abort();
  }
  await rejects(run(signal, () => circular, {}), "UnknownError");
});

check("a tool that throws", async (signal) => {
  await rejects(run(signal, () => { throw new RangeError("secret"); }, {}), "UnknownError");
});

check("a tool whose promise is rejected", async (signal) => {
  await rejects(run(signal, async () => { throw new RangeError("secret"); }, {}), "UnknownError");
});

check("what a tool is given", async (signal) => {
  const given = await run(signal, function (input, options) {
    "use strict";
    return [arguments.length, this === undefined, input, Object.getPrototypeOf(input) === Object.prototype, Object.keys(options), options.signal instanceof AbortSignal, options.signal.aborted];
  }, { x: { y: 1 } });
  same(given, [2, true, { x: { y: 1 } }, true, resumes ? ["signal", "invocation", "requestUserInput"] : ["signal"], true, false]);
});

check("inputs", async (signal) => {
  await context.registerTool({ name: "tool", description: "d", execute: (input) => JSON.stringify(input) }, { signal });
  const tool = await toolOf("tool");
  const circular = {};
  circular.self = circular;
  same(await context.executeTool(tool), "{}");
  same(await context.executeTool(tool, undefined), "{}");
  same(await context.executeTool(tool, [1, 2]), "[1,2]");
  for (const input of ["{}", 1, true, null, () => 1, circular, { toJSON() {} }, { n: 1n }]) await rejects(context.executeTool(tool, input), "TypeError", text(String(input)));
  await rejects(context.executeTool(tool, { toJSON: () => "x" }), "UnknownError");
});

check("tools that there are not", async () => {
  const tool = { name: "nobody", description: "d", origin, window };
  await rejects(context.executeTool(), "TypeError");
  for (const bad of ["x", null, {}, { ...tool, name: undefined }, { ...tool, description: undefined }, { ...tool, origin: undefined }, { ...tool, window: undefined }, { ...tool, window: {} }]) {
    await rejects(context.executeTool(bad, {}), "TypeError", text(bad && Object.keys(bad)));
  }
  await rejects(context.executeTool(tool, {}), ofDictionary("UnknownError"));
  await rejects(context.executeTool({ ...tool, origin: "https://example.com" }, {}), ofDictionary("UnknownError"));
  for (const origin of ["nonsense", "data:,", "null"]) await rejects(context.executeTool({ ...tool, origin }, {}), ofDictionary("NotSupportedError"), origin);
  await rejects(context.executeTool(tool, {}, 1), "TypeError");
  await rejects(context.executeTool(tool, {}, { signal: 1 }), "TypeError");
});

check("a call that is cancelled", async (signal) => {
  const told = [];
  const note = (event) => told.push(`${event.type} ${event.toolName} ${event.constructor.name}`);
  for (const type of ["toolactivated", "toolcancel"]) context.addEventListener(type, note);
  const controller = new AbortController();
  let done;
  const result = run(signal, (_, options) => {
    told.push("runs");
    options.signal.onabort = () => told.push(`signal ${options.signal.reason.name}`);
    setTimeout(() => controller.abort("why"));
    return new Promise((resolve) => (done = resolve));
  }, {}, { signal: controller.signal });
  await rejects(result.catch((reason) => (told.push("rejected"), Promise.reject(reason))), "why");
  await heard(context, "toolcancel");
  done("late");
  await later(20);
  for (const type of ["toolactivated", "toolcancel"]) context.removeEventListener(type, note);
  same(told, ["runs", "toolactivated tool ToolActivatedEvent", "rejected", "signal AbortError", "toolcancel tool ToolCancelEvent"]);
});

check("a call that is cancelled before it begins", async (signal) => {
  let ran = false;
  await context.registerTool({ name: "tool", description: "d", execute: () => (ran = true) }, { signal });
  const tool = await toolOf("tool");
  let reason;
  context.executeTool(tool, {}, { signal: AbortSignal.abort("already") }).catch((got) => (reason = got));
  await Promise.resolve();
  same(reason, "already");
  await later(20);
  same(ran, false, "the tool ran");
});

check("calls of one tool are apart", async (signal) => {
  const signals = [];
  let finish;
  await context.registerTool({ name: "tool", description: "d", execute: (_, options) => (signals.push(options.signal), new Promise((done) => (finish = done))) }, { signal });
  const tool = await toolOf("tool");
  const controller = new AbortController();
  const first = context.executeTool(tool, {}, { signal: controller.signal });
  const second = context.executeTool(tool, {});
  while (signals.length < 2) await later();
  controller.abort("first");
  await rejects(first, "first");
  if (!signals[0].aborted) await heard(signals[0], "abort");
  same(signals.map(({ aborted }) => aborted), [true, false]);
  finish("second");
  same(await second, "second");
});

check("a tool that is taken back while it runs", async () => {
  const controller = new AbortController();
  const result = run(controller.signal, async (_, options) => {
    controller.abort();
    await later(20);
    return [options.signal.aborted, (await context.getTools()).length];
  }, {});
  same(await result, [false, 0]);
});

check("a tool that calls a tool", async (signal) => {
  await context.registerTool({ name: "inner", description: "d", execute: () => "inner" }, { signal });
  const inner = await toolOf("inner");
  same(await run(signal, async () => `outer ${await context.executeTool(inner)}`, {}), "outer inner");
});
