import "@mcp-b/global";

const output = document.querySelector("output")!;

document.modelContext?.registerTool({
  name: "roll_dice",
  description: "Rolls dice, which the user sees. Returns what each of them shows.",
  inputSchema: {
    type: "object",
    properties: { dice: { type: "integer", minimum: 1, maximum: 10, description: "How many to roll" } },
    required: ["dice"],
  },
  async execute({ dice }: { dice: number }) {
    const rolled = Array.from({ length: dice }, () => 1 + Math.floor(6 * Math.random()));
    output.textContent = rolled.join(" ");
    return { content: [{ type: "text", text: rolled.join(" ") }], structuredContent: { rolled } };
  },
});
