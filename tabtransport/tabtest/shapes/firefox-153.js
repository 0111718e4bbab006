// Firefox, with dom.modelcontext.enabled and dom.modelcontext.testing.enabled: an older draft, on navigator alone.

/** The tools that this world has registered, by name. */
const registered = new Map();

class ModelContextClient {
  requestUserInteraction(callback) {
    return promised(() => Promise.resolve(callback()));
  }
}

for (const name of Object.keys(ModelContext.prototype)) delete ModelContext.prototype[name];
Object.setPrototypeOf(ModelContext.prototype, Object.prototype);
Object.setPrototypeOf(ModelContext, Function.prototype);
delete Document.prototype.modelContext;
for (const name of ["agentInvoked", "respondWith"]) delete SubmitEvent.prototype[name];
for (const name of ["ToolActivatedEvent", "ToolCancelEvent"]) delete window[name];
Object.defineProperty(window, "ModelContextClient", { value: ModelContextClient, writable: true, configurable: true });
onNavigator();

function check(its) {
  if (its !== context()) throw new TypeError("not called on a ModelContext");
}

/** The document's own tools, as Chromium lists them. */
async function listed() {
  const tools = await apply(getTools, context(), []);
  return tools.filter((tool) => tool.window === window && tool.inputSchema?.[RIDER]);
}

/** What an execute brings, for a world that does not have it. */
async function outcomeOf(execute, input) {
  try {
    return { [RIDER]: { value: await execute(input, new ModelContextClient()) } };
  } catch (error) {
    return { [RIDER]: { error: String(error?.message ?? error) } };
  }
}

put(ModelContext.prototype, {
  registerTool(tool) {
    check(this);
    if (!isObject(tool)) throw new TypeError("Argument 1 can't be converted to a dictionary.");
    const { annotations, description, execute, inputSchema, name } = tool;
    for (const [member, value] of Object.entries({ description, execute, name })) {
      if (value === undefined) throw new TypeError(`Missing required '${member}' member of ModelContextTool.`);
    }
    if (typeof execute !== "function") throw new TypeError("'execute' member of ModelContextTool is not callable.");
    if (inputSchema !== undefined && !isObject(inputSchema)) throw new TypeError("'inputSchema' member of ModelContextTool is not an object.");
    this.unregisterTool(name);
    const controller = new AbortController();
    registered.set(`${name}`, { execute, controller });
    const rider = { [RIDER]: { annotations, input: copied(inputSchema) } };
    const laden = { name, description, inputSchema: rider, execute: (input) => outcomeOf(execute, input) };
    apply(registerTool, this, [laden, { signal: controller.signal }]).catch(() => {});
  },
  unregisterTool(name) {
    check(this);
    registered.get(`${name}`)?.controller.abort();
    registered.delete(`${name}`);
  },
  async getTools() {
    check(this);
    return (await listed()).map(({ name, description, inputSchema: { [RIDER]: { annotations, input } } }) => ({
      ...(annotations && { annotations }),
      description,
      execute: registered.get(name)?.execute,
      ...(input && { inputSchema: input }),
      name,
    }));
  },
  async invokeTool(name) {
    check(this);
    const input = arguments[1] ?? {};
    const own = registered.get(`${name}`);
    const tool = own ?? (await listed()).find((tool) => tool.name === name);
    if (!tool) throw new DOMException("Tool not found", "NotFoundError");
    if (!isObject(input)) throw new TypeError("Input must be an object");
    if (own) return own.execute(copied(input), new ModelContextClient());
    const outcome = JSON.parse(await apply(executeTool, this, [tool, input]))[RIDER];
    if ("error" in outcome) throw new Error(outcome.error);
    return outcome.value;
  },
});
