// What a page may write with the types of /tab.d.ts, and what not. `npm run check` compiles it.

const takenBack = new AbortController();

document.modelContext?.registerTool({ name: "time", description: "The time", execute: () => Date.now() });
void document.modelContext?.registerTool(
  {
    name: "add",
    title: "Add",
    description: "Adds two numbers",
    inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
    outputSchema: { type: "object", properties: { sum: { type: "number" } } },
    annotations: { readOnlyHint: true },
    async execute({ a, b }: { a: number; b: number }, { signal }) {
      signal.throwIfAborted();
      return { content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } };
    },
  },
  { signal: takenBack.signal },
);

void document.modelContext?.registerTool({
  name: "lead",
  description: "Leads to the next page",
  execute: async (_, { invocation }) => void (sessionStorage.token = await invocation?.requestToken()),
});
void document.modelContext?.resumeTool?.(sessionStorage.token, ({ a }, { signal }) => !signal.aborted && { sum: a });

document.forms[0]?.addEventListener("submit", (event) => {
  if (!event.agentInvoked) return;
  event.preventDefault();
  event.respondWith?.(Promise.resolve("booked"));
});

const cart = window.tabhub?.registerResource({ uri: "shop://cart", name: "cart", mimeType: "application/json", read: () => ({ items: [] }) });
cart?.updated();
cart?.unregister();
window.tabhub?.registerResource({ uriTemplate: "shop://products/{id}", name: "product", read: (uri) => uri });
window.tabhub?.registerPrompt({ name: "greet", arguments: [{ name: "who", required: true }], get: ({ who }) => `Greet ${who}` });
window.tabhub?.registerTool({
  name: "export",
  description: "Exports everything",
  outputSchema: { type: "object" },
  execute: async (_, { progress, signal }) => {
    if (!signal.aborted) progress(1, 10, "reading");
    return { rows: 10 };
  },
});
window.tabhub?.addEventListener("call", ({ detail }) => console.log(detail.phase, detail.name));
const state: "open" | undefined = window.tabhub?.status.state === "open" ? "open" : undefined;
console.log(state);

const typed: WebMCP.Tool<{ text: string }> = { name: "say", description: "Says", execute: ({ text }) => text.toUpperCase() };
void document.modelContext?.registerTool(typed);
void document.modelContext?.registerTool({
  name: "order_tea",
  description: "Orders tea",
  async execute(_, { requestUserInput }) {
    const answer = await requestUserInput?.({ message: "How many grams?", requestedSchema: { type: "object", properties: {} } });
    if (answer?.action !== "accept") return "Nothing was ordered.";
    const paid: number | undefined = await requestUserInput?.({ mode: "interactive" }, async () => 5);
    return { ...answer.content, paid };
  },
});

// @ts-expect-error there may be none
document.modelContext.registerTool(typed);
// @ts-expect-error no description
void document.modelContext?.registerTool({ name: "x", execute: () => "" });
// @ts-expect-error no execute
void document.modelContext?.registerTool({ name: "x", description: "d" });
// @ts-expect-error a hint that is none
void document.modelContext?.registerTool({ name: "x", description: "d", execute: () => "", annotations: { readonlyHint: true } });
// @ts-expect-error the schema is an object
void document.modelContext?.registerTool({ name: "x", description: "d", inputSchema: "{}", execute: () => "" });
// @ts-expect-error not without a script
window.tabhub.status;
// @ts-expect-error neither uri nor uriTemplate
window.tabhub?.registerResource({ name: "x", read: () => "" });
// @ts-expect-error no such state
window.tabhub?.status.state === "connected";
