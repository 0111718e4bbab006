// What the pages' own servers serve, by the methods of MCP.

const PIXEL = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
const schema = { type: "object" };

/**
 * @param {(method: string, params?: object) => Promise<void>} notify tells the clients something
 */
export function shop(notify) {
  const tools = ["text", "structured", "image", "fails", "steps", "waits"].map((name) => ({ name, description: name, inputSchema: schema }));
  let stock = 2;
  window.change = {
    add: () => void (tools.push({ name: "later", description: "later", inputSchema: schema }), notify("notifications/tools/list_changed")),
    remove: () => void (tools.pop(), notify("notifications/tools/list_changed")),
    sell: () => void (stock--, notify("notifications/resources/updated", { uri: "shop://stock" })),
  };
  const calls = {
    text: () => ({ content: [{ type: "text", text: "plain" }] }),
    structured: () => ({ content: [{ type: "text", text: "5" }], structuredContent: { sum: 5 } }),
    image: () => ({ content: [PIXEL] }),
    fails: () => ({ content: [{ type: "text", text: "no such product" }], isError: true }),
    later: () => ({ content: [{ type: "text", text: "late" }] }),
    async steps(progressToken) {
      await notify("notifications/progress", { progressToken, progress: 1, total: 2, message: "half" });
      return { content: [{ type: "text", text: "all" }] };
    },
    waits(_, signal) {
      document.title = "waiting";
      return new Promise((_, fail) => signal.addEventListener("abort", () => fail((document.title = "cancelled"))));
    },
  };
  return {
    "tools/list": () => ({ tools }),
    "tools/call": ({ name, _meta }, signal) => calls[name](_meta?.progressToken, signal),
    "resources/list": () => ({ resources: [{ uri: "shop://stock", name: "stock" }] }),
    "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "shop://product/{id}", name: "product" }] }),
    "resources/read": ({ uri }) => ({ contents: [{ uri, text: uri === "shop://stock" ? `${stock} shoes` : `product ${uri.split("/").at(-1)}` }] }),
    "resources/subscribe": ({ uri }) => ((document.title = `subscribed ${uri}`), {}),
    "resources/unsubscribe": () => ((document.title = "unsubscribed"), {}),
    "prompts/list": () => ({ prompts: [{ name: "greet", arguments: [{ name: "who" }] }] }),
    "prompts/get": ({ arguments: { who } }) => ({ messages: [{ role: "user", content: { type: "text", text: `hello ${who}` } }] }),
  };
}

export const info = { name: "shop", version: "1" };
export const options = {
  capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, prompts: { listChanged: true } },
};
