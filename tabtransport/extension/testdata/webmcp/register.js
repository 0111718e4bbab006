// registerTool and getTools.

const good = { name: "tool", description: "d", execute() {} };

check("what is refused", async () => {
  const circular = {};
  circular.self = circular;
  const cases = [
    ["TypeError"], ["TypeError", null], ["TypeError", "x"], ["TypeError", {}],
    ["TypeError", { ...good, name: undefined }], ["TypeError", { ...good, description: undefined }], ["TypeError", { ...good, execute: undefined }],
    ["TypeError", { ...good, execute: 1 }], ["TypeError", { ...good, execute: null }], ["TypeError", { ...good, name: Symbol() }],
    ["InvalidStateError", { ...good, name: "" }], ["InvalidStateError", { ...good, name: "a b" }], ["InvalidStateError", { ...good, name: "é" }],
    ["InvalidStateError", { ...good, name: "a".repeat(129) }], ["InvalidStateError", { ...good, description: "" }],
    ["TypeError", { ...good, inputSchema: "x" }], ["TypeError", { ...good, inputSchema: null }], ["TypeError", { ...good, inputSchema: circular }],
    ["TypeError", { ...good, inputSchema: { toJSON() {} } }], ["TypeError", { ...good, inputSchema: { n: 1n } }],
    ["RangeError", { ...good, inputSchema: { toJSON() { throw new RangeError(); } } }],
    ["TypeError", { ...good, annotations: "x" }], ["TypeError", good, "x"], ["TypeError", good, { signal: 1 }], ["TypeError", good, { signal: null }],
    ["why", good, { signal: AbortSignal.abort("why") }], ["AbortError", good, { signal: AbortSignal.abort() }],
    ["TypeError", good, { exposedTo: "x" }], ["TypeError", good, { exposedTo: null }],
    ["SecurityError", good, { exposedTo: ["http://example.com"] }], ["SecurityError", good, { exposedTo: ["nonsense"] }],
    ["SecurityError", good, { exposedTo: ["*"] }], ["SecurityError", good, { exposedTo: ["data:,"] }],
  ];
  for (const [i, [want, ...given]] of cases.entries()) await rejects(context.registerTool(...given), want, `case ${i}`);
  await rejects(context.getTools("x"), "TypeError");
  await rejects(context.getTools({ fromOrigins: "x" }), "TypeError");
  await rejects(context.getTools({ fromOrigins: ["http://example.com"] }), "SecurityError");
  same(await context.getTools(null), []);
});

check("what is listed", async (signal) => {
  const schema = { type: "object", properties: { b: {}, a: {} } };
  const options = { signal, exposedTo: ["https://example.com/path", "http://localhost:1", "wss://example.com"] };
  same(String(await context.registerTool({ ...good, name: 7, description: 8, title: "T\ud800", inputSchema: schema, annotations: { readOnlyHint: 1, cache: true } }, options)), "undefined");
  await context.registerTool({ ...good, name: "Z.a-b_9" }, { signal });
  await context.registerTool({ ...good, name: "B", annotations: null }, { signal });
  const tools = await context.getTools();
  same(tools.map(({ name }) => name), ["7", "B", "Z.a-b_9"], "by their names");
  same(tools.every((tool) => members(tool).window === window), true, "the window");
  const { window: _, ...first } = members(tools[0]);
  const annotations = { consequentialHint: false, debugging: false, readOnlyHint: true, untrustedContentHint: false };
  same(first, { annotations, description: "8", inputSchema: schema, name: "7", origin, title: "T\ufffd" });
  same(tools[1].annotations, { consequentialHint: false, debugging: false, readOnlyHint: false, untrustedContentHint: false }, "null");
  same(Object.keys(members(tools[2])), ["description", "name", "origin", "title", "window"]);
  tools[1].name = "changed";
  same((await context.getTools())[1].name, "B", "what another is given");
});

check("what is read, and in which order", async (signal) => {
  const read = [];
  const spy = (target, name) => new Proxy(target, { get: (of, key) => (read.push(`${name}.${String(key)}`), of[key]) });
  await context.registerTool(spy({ ...good, annotations: spy({}, "hints") }, "tool"), spy({ signal }, "options"));
  same(read, ["tool.annotations", "hints.consequentialHint", "hints.debugging", "hints.readOnlyHint", "hints.untrustedContentHint",
    "tool.description", "tool.execute", "tool.inputSchema", "tool.name", ...("Tool" in window ? ["tool.outputSchema"] : []), "tool.title", "options.exposedTo", "options.signal"]);
});

check("a page that adds to all objects", async (signal) => {
  Object.prototype.added = () => "added";
  Array.prototype.more = () => "more";
  try {
    await context.registerTool({ ...good, execute: (input) => Object.keys(input) }, { signal, exposedTo: ["https://example.com"] });
    same(await context.executeTool((await context.getTools())[0], { a: 1 }), ["a"]);
  } finally {
    delete Object.prototype.added;
    delete Array.prototype.more;
  }
});

check("a name is taken until its tool is taken back", async (signal) => {
  const controller = new AbortController();
  await context.registerTool(good, { signal: controller.signal });
  await rejects(context.registerTool(good), "InvalidStateError");
  const changed = heard(context, "toolchange");
  controller.abort();
  await context.registerTool(good, { signal });
  await changed;
  same((await context.getTools()).length, 1);
});

check("a registration that is taken back at once", async () => {
  const controller = new AbortController();
  const registered = context.registerTool(good, { signal: controller.signal });
  controller.abort("early");
  await rejects(registered, "early");
  same(await context.getTools(), []);
});

check("what is told, and when", async () => {
  const told = [];
  const controller = new AbortController();
  const note = (event) => told.push(event.constructor.name + event.type + (event.target === context) + event.bubbles + event.cancelable);
  context.addEventListener("toolchange", note);
  context.ontoolchange = function () {
    told.push(`handler ${this === context}`);
  };
  const registered = context.registerTool(good, { signal: controller.signal }).then(() => told.push("registered"));
  told.push("called");
  await registered;
  controller.abort();
  told.push("aborted");
  await later(50);
  context.removeEventListener("toolchange", note);
  context.ontoolchange = null;
  const event = ["Eventtoolchangetruefalsefalse", "handler true"];
  same(told, ["called", ...event, "registered", "aborted", ...event]);
});
