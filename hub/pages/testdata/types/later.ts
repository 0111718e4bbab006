// A program that has both /tab.d.ts and a lib.dom with the API, or a library with types of its own:
// theirs count.

document.modelContext?.registerTool({ name: "time", description: "The time", execute: async () => Date.now() });
document.forms[0]?.addEventListener("submit", (event) => event.agentInvoked && event.respondWith?.(Promise.resolve("booked")));
window.tabhub?.registerPrompt({ name: "greet", get: () => "Greet me" });
