// The interfaces: what a page can see of them without using them.

check("document.modelContext", () => {
  const { get, enumerable, configurable } = Object.getOwnPropertyDescriptor(Document.prototype, "modelContext");
  same([typeof get, enumerable, configurable, get.name, get.length], ["function", true, true, "get modelContext", 0]);
  same(document.modelContext === document.modelContext, true, "the same object");
  same([context instanceof ModelContext, context instanceof EventTarget, String(context)], [true, true, "[object ModelContext]"]);
  let thrown;
  try {
    get.call({});
  } catch (error) {
    thrown = error.name;
  }
  same(thrown, "TypeError", "the getter on something else");
  same(Object.hasOwn(document, "modelContext"), false, "a property of the document's own");
});

check("interface objects", () => {
  for (const [name, parent, length] of [["ModelContext", EventTarget, 0], ["ToolActivatedEvent", Event, 1], ["ToolCancelEvent", Event, 1]]) {
    const { value, ...rest } = Object.getOwnPropertyDescriptor(window, name);
    same(rest, { writable: true, enumerable: false, configurable: true }, name);
    same([value.name, value.length], [name, length], name);
    same(Object.getPrototypeOf(value) === parent && Object.getPrototypeOf(value.prototype) === parent.prototype, true, `${name}'s parent`);
    same(Object.getOwnPropertyDescriptor(value, "prototype").writable, false, `${name}.prototype`);
    same(value.prototype.constructor === value, true, `${name}'s constructor`);
    const tag = Object.getOwnPropertyDescriptor(value.prototype, Symbol.toStringTag);
    same(tag, { value: name, writable: false, enumerable: false, configurable: true }, `${name}'s tag`);
  }
});

check("tools that are objects of an interface", async (signal) => {
  if (!("Tool" in window)) return; // dictionaries
  const { value, ...rest } = Object.getOwnPropertyDescriptor(window, "Tool");
  same([value.name, value.length, rest], ["Tool", 0, { writable: true, enumerable: false, configurable: true }]);
  await context.registerTool({ name: "tool", description: "d", outputSchema: { type: "object" }, execute() {} }, { signal });
  const tool = await toolOf("tool");
  same([tool instanceof Tool, String(tool), tool === (await toolOf("tool"))], [true, "[object Tool]", true]);
  same([tool.source === window, tool.title, tool.inputSchema, tool.outputSchema, tool.annotations], [true, "", null, { type: "object" }, null]);
  same([{ ...tool }, JSON.stringify(tool)], [{}, "{}"]);
  for (const name of ["source", "origin", "name", "title", "description", "inputSchema", "outputSchema", "annotations"]) {
    const { get, set, enumerable, configurable } = Object.getOwnPropertyDescriptor(Tool.prototype, name);
    same([get.name, set, enumerable, configurable], [`get ${name}`, undefined, true, true], name);
    for (const of of [Tool.prototype, {}]) await rejects((async () => get.call(of))(), "TypeError", name);
  }
  for (const make of [() => new Tool(), () => Tool()]) await rejects((async () => make())(), "TypeError");
  await rejects(context.registerTool({ name: "other", description: "d", outputSchema: "x", execute() {} }), "TypeError");
});

check("members", () => {
  for (const [name, length] of [["registerTool", 1], ["getTools", 0], ["executeTool", 1]].concat(resumes ? [["resumeTool", 2]] : [])) {
    const { value, ...rest } = Object.getOwnPropertyDescriptor(ModelContext.prototype, name);
    same(rest, { writable: true, enumerable: true, configurable: true }, name);
    same([value.name, value.length, "prototype" in value], [name, length, false], name);
  }
  for (const name of ["ontoolchange", "ontoolactivated", "ontoolcancel"]) {
    const { get, set, enumerable, configurable } = Object.getOwnPropertyDescriptor(ModelContext.prototype, name);
    same([get.name, set.name, enumerable, configurable], [`get ${name}`, `set ${name}`, true, true], name);
    const read = (value) => ((context[name] = value), context[name]);
    const object = {};
    same([context[name], read(5), read(object) === object, read(null)], [null, null, true, null], name);
  }
  same(["ontoolchange" in window, "ontoolactivated" in window], [false, false], "handlers of the window");
});

check("constructors", () => {
  const thrown = (make) => {
    try {
      make();
    } catch (error) {
      return error.name;
    }
    return "nothing";
  };
  same([() => new ModelContext(), () => ModelContext(), () => new ToolActivatedEvent(), () => ToolCancelEvent("x")].map(thrown), Array(4).fill("TypeError"));
  same(new ToolActivatedEvent("a", { toolName: null }).toolName, "null");
  same([new ToolActivatedEvent("a").toolName, new ToolCancelEvent("b", { toolName: 5, cancelable: true }).toolName], ["", "5"]);
  same(new ToolCancelEvent("b", { cancelable: true }).cancelable, true);
});

check("submit events", () => {
  const event = new SubmitEvent("submit");
  same([event.agentInvoked, SubmitEvent.prototype.respondWith.length], [false, 1]);
  let thrown;
  try {
    event.respondWith(1);
  } catch (error) {
    thrown = error.name;
  }
  same(thrown, "InvalidStateError");
});

check("the removed place is no second API", async () => {
  await rejects(ModelContext.prototype.getTools.call({}), "TypeError");
  await rejects(ModelContext.prototype.registerTool.call(document, {}), "TypeError");
});
