// Registers a tool, as all pages here do.
function tool(name, execute, properties = {}) {
  const inputSchema = { type: "object", properties };
  return document.modelContext.registerTool({ name, description: name, inputSchema, execute });
}
