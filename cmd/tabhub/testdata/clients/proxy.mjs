// Usage: node proxy.mjs v1|v2 2025-11-25|2026-07-28
//
// Calls the tool proxy with each of the vectors, over stdio, and prints a JSON array
// of what the client shows of the answers. TABHUB_COMMAND is the server to start, a
// JSON array.
import { readFile } from 'node:fs/promises';

const [sdk, version] = process.argv.slice(2);
const [command, ...args] = JSON.parse(process.env.TABHUB_COMMAND);
const { vectors } = JSON.parse(await readFile(new URL('proxy.json', import.meta.url)));
const info = { name: 'vectors', version: '1' };
const server = { command, args, env: process.env, stderr: 'inherit' };

let client;
if (sdk === 'v1') {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  client = new Client(info);
  await client.connect(new StdioClientTransport(server));
} else {
  const { Client } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  client = new Client(info, { versionNegotiation: { mode: version === '2026-07-28' ? { pin: version } : 'legacy' } });
  await client.connect(new StdioClientTransport(server));
}
const shown = [];
for (const { arguments: params } of vectors) {
  shown.push(await client.callTool({ name: 'proxy', arguments: params }).catch((err) => ({ thrown: String(err) })));
}
await client.close();
console.log(JSON.stringify(shown));
