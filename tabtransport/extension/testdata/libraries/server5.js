// A page with a server of its own, of the packages of today.
import { TabServerTransport } from "@mcp-b/transports";
import { Server } from "@modelcontextprotocol/server";
import { info, options, shop } from "./shop.js";

const server = new Server(info, options);
for (const [method, answer] of Object.entries(shop((method, params) => server.notification({ method, params })))) {
  server.setRequestHandler(method, async ({ params }, { mcpReq }) => answer(params, mcpReq.signal));
}
server.onerror = (error) => console.error(error);
void server.connect(new TabServerTransport({ allowedOrigins: [location.origin] }));
