// Clients that others wrote. The environment says where the hub is: TABHUB_URL, TABHUB_TOKEN, and
// for stdio TABHUB_COMMAND, a JSON array.
import { sleep } from './tab.mjs';

const { TABHUB_URL: url, TABHUB_TOKEN: token, TABHUB_COMMAND: command } = process.env;

/**
 * Connects a client of the older SDK (v1) or the newer (v2) with the hub of the environment, and
 * returns it with a function that calls a tool. elicited answers the parameters of elicitations, which a
 * client without it does not take; at is the hub, or a proxy of it.
 */
export async function connect(sdk, transport, version, { elicited, toolsChanged = () => {}, at = url }) {
  const info = { name: 'clients', version: '1' };
  const capabilities = elicited ? { elicitation: {} } : {};
  const answer = ({ params }) => elicited(params);
  const headers = { Authorization: `Bearer ${token}` };
  if (sdk === 'v1') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { ElicitRequestSchema, ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
    const client = new Client(info, { capabilities });
    if (elicited) client.setRequestHandler(ElicitRequestSchema, answer);
    client.setNotificationHandler(ToolListChangedNotificationSchema, toolsChanged);
    if (transport === 'stdio') {
      const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
      await client.connect(new StdioClientTransport(stdio()));
    } else if (transport === 'sse') {
      const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js');
      await client.connect(new SSEClientTransport(new URL('/sse', at), { requestInit: { headers } }));
    } else {
      const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
      await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', at), { requestInit: { headers } }));
      await sleep(200); // its GET stream opens in the background
    }
    return { client, call: (params, options) => client.callTool(params, undefined, options) };
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client(info, {
    capabilities,
    versionNegotiation: { mode: version === '2026-07-28' ? { pin: version } : version === 'auto' ? 'auto' : 'legacy' },
    listChanged: { tools: { onChanged: toolsChanged } },
  });
  if (elicited) client.setRequestHandler('elicitation/create', answer);
  if (transport === 'stdio') {
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    await client.connect(new StdioClientTransport(stdio()));
  } else {
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', at), { requestInit: { headers } }));
    await sleep(200);
  }
  return { client, call: (params, options) => client.callTool(params, options) };
}

function stdio() {
  const [program, ...args] = JSON.parse(command);
  return { command: program, args, env: process.env, stderr: 'inherit' };
}
