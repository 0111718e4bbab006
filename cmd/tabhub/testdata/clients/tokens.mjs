// Usage: node tokens.mjs CHROME [PLAYWRIGHT_MCP_CLI]
//
// Prints what one task costs a model with three MCP servers: in the shop of `tabhub serve --demo`, find
// a mug under 20 euros, put it into the cart, read the total. The steps are those of a careful
// agent, written down. Counted are, once each, the tools' names, descriptions and schemas, the calls
// and the texts that come back, at four bytes a token. Needs tabhub in the PATH, and that hub.
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [chrome, playwright] = process.argv.slice(2);
const shop = 'http://127.0.0.1:3300/demo';
const devtools = 'node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js';

async function measure(title, command, args, task) {
  const client = new Client({ name: 'tokens', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: 'ignore' }));
  const { tools } = await client.listTools();
  const size = { list: JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))).length, calls: 0, results: 0 };
  let calls = 0;
  const call = async (name, args = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    const text = content.map((c) => c.text ?? '').join('\n');
    assert(!isError, `${name}: ${text}`);
    calls++;
    size.calls += JSON.stringify({ name, arguments: args }).length;
    size.results += text.length;
    if (process.env.SHOW) console.log(`--- ${name}\n${text}`);
    return text;
  };
  assert.match(await task(call), /1850|18\.50/, 'the total');
  await client.close();
  const tokens = Object.fromEntries(Object.entries(size).map(([part, bytes]) => [part, Math.round(bytes / 4)]));
  console.log(title, { tools: tools.length, calls, tokens: { ...tokens, all: tokens.list + tokens.calls + tokens.results } });
}

await measure('tabhub', 'tabhub', ['stdio'], async (call) => {
  const { products } = JSON.parse(await call('website_tool_demo_tabhub__search_products', { query: 'mug', maxPriceCents: 2000 }));
  return call('website_tool_demo_tabhub__add_to_cart', { productId: products[0].id }); // which answers with the cart
});

const found = (snapshot, pattern) => snapshot.match(pattern)?.[1] ?? assert.fail(`no ${pattern} in\n${snapshot}`);

const launch = ['--headless', '--isolated'];
await measure('chrome-devtools-mcp', 'node', [devtools, ...launch, '--executablePath', chrome, '--chromeArg=--no-sandbox'], async (call) => {
  const pageId = Number(found(await call('new_page', { url: shop }), /(\d+): [^\n]*\[selected\]/));
  const page = await call('take_snapshot', { pageId });
  return call('click', { pageId, uid: found(page, /uid=(\S+) button "Add [^"]*mug/), includeSnapshot: true });
});

if (playwright) {
  await measure('Playwright MCP', 'node', [playwright, ...launch, '--output-dir', tmpdir(), '--no-sandbox', '--executable-path', chrome], async (call) => {
    await call('browser_navigate', { url: shop });
    const mug = await call('browser_find', { text: 'mug' });
    await call('browser_click', { target: found(mug, /button "Add [^"]*mug.*\[ref=(\w+)\]/) });
    return call('browser_find', { text: 'Total' });
  });
}
