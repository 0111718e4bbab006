// Usage: node check.mjs v1|v2 stdio|sse|http 2024-11-05|...|2026-07-28
//
// Plays a tab and drives the hub with a client that others wrote: list, call,
// list_changed, progress, cancel, being asked back, resources and prompts. The environment says where
// the hub is: TABHUB_URL, TABHUB_TOKEN, and for stdio TABHUB_COMMAND, a JSON array.
import assert from 'node:assert/strict';
import { connect } from './client.mjs';
import { openTab, until } from './tab.mjs';

const [sdk, transport, version] = process.argv.slice(2);
const { TABHUB_URL: url, TABHUB_TOKEN: token } = process.env;
const text = (t) => ({ content: [{ type: 'text', text: t }] });
const object = { type: 'object' };

/** Resolves when test() is true, which something else will make it; fails after 10 s. */
const tab = await openTab(url, token, { key: `${sdk}-${transport}-${version}` });
const hung = Promise.withResolvers(); // the page runs hang
const part = Promise.withResolvers(); // the client has a part of a batch's result
const tools = [
  {
    name: 'echo',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    run: ({ text: t }) => ({ ...text(t), structuredContent: { text: t }, _meta: { tags: ['kept'], 'openai/outputTemplate': 'ui://x' } }),
  },
  {
    name: 'steps',
    inputSchema: object,
    async run(_, { progress }) {
      for (let i = 1; i <= 20; i++) progress(i, 20, `step ${i}`);
      return text('done');
    },
  },
  {
    name: 'hang', inputSchema: object,
    run: (_, { signal }) => {
      hung.resolve();
      return new Promise((r) => signal.addEventListener('abort', r));
    },
  },
  {
    name: 'ask', inputSchema: object,
    run: (_, { extensions: { inputResponses, requestState, clientCapabilities } }) => {
      assert(clientCapabilities.elicitation);
      if (requestState === 'asked') return text(`Hello ${inputResponses.who.content.name}`);
      const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
      return {
        resultType: 'input_required', requestState: 'asked',
        inputRequests: { who: { method: 'elicitation/create', params: { message: 'Who are you?', requestedSchema } } },
      };
    },
  },
  { name: 'after', inputSchema: object, run: async () => (await part.promise, text('after')) },
  { name: 'fail', inputSchema: object, run: () => { throw new Error('out of paper'); } },
];
await tab.offer({
  tools,
  resources: [{ uri: 'note://one', name: 'one', run: (uri) => ({ contents: [{ uri, text: 'first' }] }) }],
  prompts: [{
    name: 'greet', arguments: [{ name: 'who', required: true }],
    complete: ({ argument, context }) => ['Ada', 'Alan', 'Bob'].filter((v) => v.startsWith(argument.value) && v !== context?.arguments.not),
    run: ({ who }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello ${who}` } }] }),
  }],
});

let changes = 0;
const { client, call } = await connect(sdk, transport, version, {
  elicited: async () => ({ action: 'accept', content: { name: 'Ada' } }),
  toolsChanged: () => { changes++; },
});
try {
  assert.equal(client.getServerVersion()?.name, 'tabhub');
  const capabilities = client.getServerCapabilities();
  assert.equal(typeof capabilities.experimental.browser.multiTabSupport, 'boolean');

  const named = async (suffix) => (await client.listTools()).tools.find((t) => t.name.endsWith(`_${suffix}`))?.name;
  const echo = await named('echo');
  assert.match(echo, /^website_tool_/);
  const answer = await call({ name: echo, arguments: { text: 'é\u2028\n' } });
  assert.deepEqual(answer.content, [{ type: 'text', text: 'é\u2028\n' }]);
  assert.deepEqual(answer.structuredContent, { text: 'é\u2028\n' });
  assert.deepEqual(answer._meta.tags, ['kept']);
  assert.equal(answer._meta['openai/outputTemplate'], undefined);

  const wrong = await call({ name: echo, arguments: {} });
  assert.equal(wrong.isError, true);
  assert.equal(JSON.parse(wrong.content[0].text).error.code, 'INVALID_ARGUMENTS');
  const failed = await call({ name: await named('fail'), arguments: {} });
  assert.equal(failed.isError, true);
  assert.match(failed.content[0].text, /out of paper/);
  await assert.rejects(call({ name: 'website_tool_nowhere', arguments: {} }), (e) => e.code === -32602);

  // The SDKs forget progress that they read in one piece with the result, so what
  // counts is what the transport hands them. Changes of the list, and the listing
  // that they make a client do, may come between: they belong to no call.
  const came = [];
  const { onmessage } = client.transport;
  client.transport.onmessage = (m, extra) => {
    if (m.method === 'notifications/progress') came.push(m.params.progress);
    if (m.result?.content?.[0]?.text === 'done') came.push('result');
    onmessage(m, extra);
  };
  await call({ name: await named('steps'), arguments: {} }, { onprogress: () => {} });
  assert.deepEqual(came, [...Array.from({ length: 20 }, (_, i) => i + 1), 'result'], 'all progress, in order, before the result');

  const asked = await call({ name: await named('ask'), arguments: {} });
  assert.equal(asked.content[0].text, 'Hello Ada', 'a page asks the person at the client');

  const read = await call({ name: 'proxy_read', arguments: { action: 'list', type: 'tool', filter: { query: 'echo' } } });
  assert(read.structuredContent.items.some((t) => t.name === echo), 'a list is data that a model can be shown');
  const refused = await call({ name: 'proxy_read', arguments: { action: 'call', type: 'tool', path: echo, args: { text: '' } } });
  assert.match(refused.content[0].text, /call it with proxy/);
  const operations = [echo, await named('after')].map((path) => ({ action: 'call', type: 'tool', path, args: { text: 'first' } }));
  const batch = await call({ name: 'proxy', arguments: { action: 'batch', partial: true, operations } }, {
    onprogress: ({ _meta: { 'tabhub/proxy': { proxyIndex, result } } }) => { if (proxyIndex === 0) part.resolve(result); },
  });
  assert.equal((await part.promise).content[0].text, 'first', 'a part of a result, before the whole');
  assert.deepEqual(batch.content.filter((_, i) => i % 2).map((c) => c.text), ['first', 'after']);

  const abort = new AbortController();
  // Without a session the hub would take the same call of the next run for this one, asked again.
  const hanging = call({ name: await named('hang'), arguments: { of: process.argv.slice(2) } }, { signal: abort.signal });
  hung.promise.then(() => abort.abort(new Error('enough')));
  await assert.rejects(hanging);
  await until('the page is told to stop', () => tab.cancelled.includes('hang'));

  const before = changes;
  await tab.offer({ tools: [...tools, { name: 'late', inputSchema: object, run: () => text('here') }] });
  await until('a change of the list is told', () => changes > before);
  const late = await call({ name: await named('late'), arguments: {} });
  assert.equal(late.content[0].text, 'here');

  const { resources } = await client.listResources();
  const note = await client.readResource({ uri: resources.find((r) => r.uri.endsWith('note://one')).uri });
  assert.equal(note.contents[0].text, 'first');
  const { prompts } = await client.listPrompts();
  const prompt = await client.getPrompt({ name: prompts.find((p) => p.name.includes('greet')).name, arguments: { who: 'you' } });
  assert.equal(prompt.messages[0].content.text, 'Hello you');
  assert(capabilities.completions, 'a page completes arguments');
  const { completion } = await client.complete({
    ref: { type: 'ref/prompt', name: prompts.find((p) => p.name.includes('greet')).name },
    argument: { name: 'who', value: 'A' }, context: { arguments: { not: 'Alan' } },
  });
  assert.deepEqual(completion.values, ['Ada']);
  await assert.rejects(client.readResource({ uri: 'nowhere://at/all' }));
} finally {
  await client.close();
  tab.close();
}
console.log(`ok ${sdk} ${transport} ${version}`);
process.exit(0);
