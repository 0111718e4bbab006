// Usage: node cut.mjs v1|v2 http VERSION
//
// Cuts the connections of an official client of Streamable HTTP while its calls are under way. Each
// call runs once and its answer arrives. The environment is that of client.mjs.
import assert from 'node:assert/strict';
import net from 'node:net';
import { connect } from './client.mjs';
import { openTab, until } from './tab.mjs';

const [sdk, transport, version] = process.argv.slice(2);
const { TABHUB_URL: url, TABHUB_TOKEN: token } = process.env;

// A proxy in front of the hub. drops decides which bytes of the hub cut all connections.
const connections = new Set();
let drops = () => false;
let primed = 0; // events that have an id and no data
const proxy = net.createServer((client) => {
  const hub = net.connect(new URL(url).port, '127.0.0.1');
  const cut = () => {
    connections.delete(cut);
    client.destroy();
    hub.destroy();
  };
  connections.add(cut);
  for (const end of [client, hub]) end.on('close', cut).on('error', cut);
  client.on('data', (bytes) => hub.write(bytes));
  hub.on('data', (bytes) => {
    const text = bytes.toString('latin1');
    primed += /id: \S+\ndata: \n/.test(text);
    if (drops(text)) cutAll();
    else client.write(bytes);
  });
});
const cutAll = () => connections.forEach((cut) => cut());
await new Promise((listening) => { proxy.listen(0, '127.0.0.1', listening); });

const runs = [];
const tab = await openTab(url, token);
await tab.offer({
  tools: [{
    name: 'work', inputSchema: { type: 'object' },
    run: () => new Promise((answer) => { runs.push((text) => answer({ content: [{ type: 'text', text }] })); }),
  }],
});
const { client, call } = await connect(sdk, transport, version, {
  elicited: () => {}, at: `http://127.0.0.1:${proxy.address().port}`,
});
try {
  const { name } = (await client.listTools()).tools.find((t) => t.name.endsWith('_work'));
  /** Begins a call, and returns its answer when the client could go on with the response. */
  const begin = async () => {
    const [ran, before] = [runs.length, primed];
    const answer = call({ name, arguments: {} }).then(({ content }) => content[0].text);
    await until('the page works', () => runs.length > ran);
    await until('the response has an id', () => primed > before);
    return { answer };
  };

  const first = await begin();
  cutAll();
  runs[0]('after the cut');
  assert.equal(await first.answer, 'after the cut');

  const second = await begin();
  drops = (text) => text.includes('on the way');
  runs[1]('on the way');
  await until('the answer is dropped', () => connections.size === 0);
  drops = () => false;
  assert.equal(await second.answer, 'on the way');
  assert.equal(runs.length, 2, 'no call runs twice');
} finally {
  await client.close();
  tab.close();
  proxy.close();
}
process.exit(0);
