// Usage: node apps.mjs stdio|http 2025-11-25|2026-07-28|auto
//
// Plays a page with an app, and a host of MCP Apps that shows it: the published AppBridge
// over the hub, and the published App at its other end. The environment is that of
// check.mjs.
import assert from 'node:assert/strict';
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { App } from '@modelcontextprotocol/ext-apps';
import { AppBridge, RESOURCE_MIME_TYPE, getToolUiResourceUri, isToolVisibilityAppOnly } from '@modelcontextprotocol/ext-apps/app-bridge';
import { openTab } from './tab.mjs';

const [transport, version] = process.argv.slice(2);
const { TABHUB_URL: url, TABHUB_TOKEN: token, TABHUB_COMMAND: command } = process.env;
const info = { name: 'apps', version: '1' };

const origin = 'http://localhost:5173';
const page = await openTab(url, token, { url: `${origin}/`, key: `apps-${transport}-${version}`, origin });
const ui = { csp: { connectDomains: ['https://api.example.com'] }, prefersBorder: true };
const bought = [];
await page.offer({
  tools: [
    { name: 'show_cart', _meta: { ui: { resourceUri: 'ui://cart/view.html' } }, run: () => ({ content: [], structuredContent: { items: 2 } }) },
    {
      name: 'buy', _meta: { ui: { visibility: ['app'] } },
      inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      run: ({ id }) => { bought.push(id); return { content: [{ type: 'text', text: `bought ${id}` }] }; },
    },
  ],
  resources: [{ uri: 'shop://stock', name: 'stock', run: (uri) => ({ contents: [{ uri, text: '7 left' }] }) }],
});
// The app is not listed, as is usual, but can be read.
page.unlisted('ui://cart/view.html', (uri) => ({ contents: [{ uri, mimeType: RESOURCE_MIME_TYPE, text: '<!doctype html>', _meta: { ui } }] }));
const other = await openTab(url, token, { url: 'http://localhost:5174/', key: `other-${transport}-${version}`, origin: 'http://localhost:5174' });
await other.offer({ tools: [{ name: 'buy', run: () => { throw new Error('the wrong page'); } }, { name: 'theirs', run: () => ({ content: [] }) }] });

const client = await connect();
try {
  const { tools } = await client.listTools();
  const shows = tools.find((tool) => tool.name.endsWith('show_cart'));
  const uri = getToolUiResourceUri(shows);
  assert.equal(uri, 'ui://localhost:5173/cart/view.html');
  assert(isToolVisibilityAppOnly(tools.find((tool) => tool.name.endsWith('5173_buy'))));

  await assert.rejects(client.callTool({ name: 'buy', arguments: { id: 'early' } }), /unknown tool/); // no app has been shown

  const { contents: [content] } = await client.readResource({ uri });
  assert.equal(content.uri, uri);
  assert.equal(content.mimeType, RESOURCE_MIME_TYPE);
  assert.deepEqual(content._meta.ui, ui);

  const bridge = new AppBridge(client, info, { serverTools: {}, serverResources: {} });
  const app = new App({ name: 'cart', version: '1' }, {}, { autoResize: false });
  const [hostEnd, appEnd] = InMemoryTransport.createLinkedPair();
  const shown = Promise.withResolvers();
  app.ontoolresult = ({ structuredContent }) => shown.resolve(structuredContent);
  bridge.oninitialized = async () => bridge.sendToolResult(await client.callTool({ name: shows.name }));
  await Promise.all([bridge.connect(hostEnd), app.connect(appEnd)]);
  assert.deepEqual(await shown.promise, { items: 2 });

  const answer = await app.callServerTool({ name: 'buy', arguments: { id: 'mug' } });
  assert.deepEqual(answer.content, [{ type: 'text', text: 'bought mug' }]);
  assert.deepEqual(bought, ['mug']);
  const stock = await app.readServerResource({ uri: 'shop://stock' });
  assert.equal(stock.contents[0].text, '7 left');
  await assert.rejects(app.callServerTool({ name: 'theirs' }), /unknown tool/);

  const list = await client.callTool({ name: 'proxy', arguments: { action: 'list', type: 'tool' } });
  const names = JSON.parse(list.content[0].resource.text).map((tool) => tool.name);
  assert(names.some((name) => name.endsWith('show_cart')) && !names.some((name) => name.endsWith('5173_buy')), `proxy lists ${names}`);
} finally {
  await client.close();
  page.close();
  other.close();
}

async function connect() {
  const mode = version === '2026-07-28' ? { pin: version } : version === 'auto' ? 'auto' : 'legacy';
  const capabilities = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [RESOURCE_MIME_TYPE] } } };
  const client = new Client(info, { capabilities, versionNegotiation: { mode } });
  if (transport === 'stdio') {
    const [program, ...args] = JSON.parse(command);
    await client.connect(new StdioClientTransport({ command: program, args, env: process.env, stderr: 'inherit' }));
  } else {
    const headers = { Authorization: `Bearer ${token}` };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }));
  }
  return client;
}
