// Usage: node away.mjs v1|v2 http|stdio VERSION
//
// An official client that follows a resource, under which the hub is killed. It says "ready" when
// the hub may be killed, and reads a line when it was, and the next one is there or is the bridge's to start. The environment is that of
// client.mjs.

import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { connect } from './client.mjs';
import { openTab, until } from './tab.mjs';

const [sdk, transport, version] = process.argv.slice(2);
const { TABHUB_URL: url, TABHUB_TOKEN: token } = process.env;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const hubIsKilled = async () => {
  console.log('ready');
  await lines.next();
};

async function open() {
  const tab = await openTab(url, token);
  await tab.offer({
    tools: [{ name: 'echo', inputSchema: { type: 'object' }, run: () => ({ content: [{ type: 'text', text: 'here' }] }) }],
    resources: [{ uri: 'shop://cart', name: 'cart', run: (uri) => ({ contents: [{ uri, text: 'empty' }] }) }],
  });
  return tab;
}

let tab = await open();
let lists = 0;
const updated = [];
const { client, call } = await connect(sdk, transport, version, { elicited: () => {}, toolsChanged: () => { lists++; } });
try {
  const heard = ({ params }) => updated.push(params.uri);
  if (sdk === 'v1') {
    const { ResourceUpdatedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, heard);
  } else client.setNotificationHandler('notifications/resources/updated', heard);
  const { uri } = (await client.listResources()).resources.find((r) => r.uri.endsWith('shop://cart'));
  const echo = (await client.listTools()).tools.find((t) => t.name.endsWith('_echo')).name;
  const follow = () => (version === '2026-07-28' ? client.listen({ resourceSubscriptions: [uri] }) : client.subscribeResource({ uri }));
  const follows = await follow();
  const begun = version === '2026-07-28' && transport === 'http' ? 1 : 0; // what it may have missed before
  await until('it is told of the resource at first', () => updated.length === begun);
  tab.updated('shop://cart');
  await until('an update is told', () => updated.length === begun + 1);
  const session = client.transport.sessionId;

  await hubIsKilled();
  if (transport === 'stdio') await client.listTools(); // the bridge starts the next hub
  tab = await open();
  const before = lists;
  if (version === '2026-07-28' && transport === 'http') {
    await follows.closed; // a client of this revision asks again
    await follow();
  }
  const answer = await call({ name: echo, arguments: {} });
  assert.equal(answer.content[0].text, 'here', 'the next call works');
  assert.equal(client.transport.sessionId, session, 'in the same session');
  await until('it is told of the resource, which may have changed', () => updated.length >= begun + 2);
  if (version !== '2026-07-28') await until('it is told of the tools, which may have changed', () => lists > before || lists > 0);
  assert.deepEqual([...new Set(updated)], [uri]);
  const told = updated.length;
  tab.updated('shop://cart');
  await until('the next update is told', () => updated.length > told);
} finally {
  await client.close();
  tab.close();
}
console.log('done');
process.exit(0);
