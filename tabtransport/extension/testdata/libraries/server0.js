// A page with a server of its own, of the first packages.
import * as types from "@modelcontextprotocol/sdk/types.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { TabServerTransport } from "mcp-b-transports-0";
import { info, options, shop } from "./shop.js";

const schemas = {
  "tools/list": types.ListToolsRequestSchema,
  "tools/call": types.CallToolRequestSchema,
  "resources/list": types.ListResourcesRequestSchema,
  "resources/templates/list": types.ListResourceTemplatesRequestSchema,
  "resources/read": types.ReadResourceRequestSchema,
  "resources/subscribe": types.SubscribeRequestSchema,
  "resources/unsubscribe": types.UnsubscribeRequestSchema,
  "prompts/list": types.ListPromptsRequestSchema,
  "prompts/get": types.GetPromptRequestSchema,
};
const server = new Server(info, options);
for (const [method, answer] of Object.entries(shop((method, params) => server.notification({ method, params })))) {
  server.setRequestHandler(schemas[method], async ({ params }, { signal }) => answer(params, signal));
}
server.onerror = (error) => console.error(error);
void server.connect(new TabServerTransport({ allowedOrigins: [location.origin] }));
