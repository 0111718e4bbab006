// A page's own client of the server that the page itself runs, as a chat in the page has it.
import { TabClientTransport } from "@mcp-b/transports";
import { Client } from "@modelcontextprotocol/client";

window.failures = [];
const client = new Client({ name: "page", version: "1" }, { capabilities: { elicitation: { form: {} } } });
client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { size: "large" } }));
client.onerror = (error) => window.failures.push(String(error));
window.client = client.connect(new TabClientTransport({ targetOrigin: location.origin })).then(() => client);
