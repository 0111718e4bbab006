// Runs in the page's world where there is WebMCP, before the page's scripts: it gives pages written
// for the API's removed forms what they look for.

/**
 * Offers navigator.modelContext, which Chromium had until 152, and window.mcp, which
 * the first MCP-B pages used. What a page registers there is registered with
 * document.modelContext. A library may put its own in either place.
 * @param native document.modelContext
 * @returns the getter of navigator.modelContext
 */
export function offerOldForms(native: () => ModelContext): () => object {
  /** By the tools' names. */
  const registered = new Map<string, AbortController>();

  function registerTool(tool: any) {
    const name = String(tool?.name);
    // One for each name: the browser refuses a second tool of a name, and the first must still
    // be taken back by it.
    const controller = registered.get(name) ?? new AbortController();
    const execute = (input: object, options: object) =>
      tool.execute(input, { ...options, requestUserInteraction: async (ask: Function) => ask() });
    registered.set(name, controller);
    Promise.resolve(native().registerTool({ description: name, ...tool, execute }, { signal: controller.signal })).catch(
      (error) => console.warn(`registerTool(${name}):`, error),
    );
    return { unregister: () => unregisterTool(name) };
  }

  function unregisterTool(name: string) {
    registered.get(name)?.abort();
    registered.delete(name);
  }

  function clearContext() {
    for (const name of [...registered.keys()]) unregisterTool(name);
  }

  function provideContext(offered?: { tools?: object[] }) {
    clearContext();
    for (const tool of offered?.tools ?? []) registerTool(tool);
  }

  function oldContext() {
    const context = native();
    return Object.create(context, {
      registerTool: { value: registerTool },
      unregisterTool: { value: unregisterTool },
      clearContext: { value: clearContext },
      provideContext: { value: provideContext },
      getTools: { value: context.getTools.bind(context) },
      executeTool: { value: context.executeTool.bind(context) },
      addEventListener: { value: context.addEventListener.bind(context) },
      removeEventListener: { value: context.removeEventListener.bind(context) },
    });
  }

  let old: object | undefined;
  const get = () => (old ??= oldContext());
  if (!("modelContext" in navigator)) {
    const set = (value: unknown) =>
      void Object.defineProperty(navigator, "modelContext", { configurable: true, enumerable: true, writable: true, value });
    Object.defineProperty(Navigator.prototype, "modelContext", { configurable: true, get, set });
  }
  if (!("mcp" in window)) {
    const register = (name: string, config: { title?: string; description?: string; inputSchema?: object; annotations?: object }, execute: Function) => {
      const { title, description = name, inputSchema, annotations } = config ?? {};
      return registerTool({ name, title, description, inputSchema: jsonSchema(inputSchema), annotations, execute });
    };
    Object.defineProperty(window, "mcp", { configurable: true, writable: true, value: { registerTool: register } });
  }
  return get;
}

/**
 * The JSON Schema of a schema as window.mcp took it: one already, or an object of
 * validators, of which only names and descriptions are known.
 */
function jsonSchema(schema: any) {
  if (!schema || typeof schema.type === "string" || typeof schema.properties === "object") return schema ?? undefined;
  const properties = Object.fromEntries(
    Object.entries(schema).map(([name, validator]) => {
      const description = (validator as any)?.description;
      return [name, typeof description === "string" ? { description } : {}];
    }),
  );
  return { type: "object", properties };
}
