// Usage: node results.mjs
//
// Plays a tab whose answers are not of MCP, and calls it with clients of both SDKs: each answer must
// arrive, with what the page said. The environment is as for check.mjs.
import assert from 'node:assert/strict';
import { connect } from './client.mjs';
import { openTab } from './tab.mjs';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const gif = 'R0lGODlhAQABAAAAACw=';
const svg = "<svg xmlns='http://www.w3.org/2000/svg'/>";
const text = (t) => ({ content: [{ type: 'text', text: t }] });
const image = (mimeType, data) => ({ content: [{ type: 'image', mimeType, data }] });
const outputSchema = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] };

/** What tools answer, and what has to be in the JSON of the content that comes. */
const tools = {
  well: [{ ...text('fine'), structuredContent: { total: 1 } }, 'fine'],
  half: [text('cut \ud83d here'), 'cut \ufffd here'],
  half_in_data: [{ deep: [{ 't\udc00': '\ud83d' }] }, 'deep'],
  json_block: [{ content: [{ type: 'json', json: { order: 7 } }] }, '{\\"order\\":7}'],
  num_text: [text(7), '"7"'],
  null_text: [text(null), 'null'],
  untyped: [{ content: [{ text: 'no type' }, 'a string', null] }, 'a string'],
  no_mime: [{ content: [{ type: 'image', data: png }] }, 'image/png'],
  data_url: [image('image/png', `data:image/png;base64,${png}`), `"${png}"`],
  url_safe: [image('image/jpeg', '_9j_4AA'), '/9j/4AA='],
  mislabelled: [image('image/png', gif), 'image/gif'],
  svg: [image('image/svg+xml', btoa(svg)), svg],
  no_base64: [image('image/png', 'not an image, sorry'), 'not an image, sorry'],
  empty: [image('image/png', ''), 'image/png, 0 bytes'],
  err_word: [{ ...text('x'), isError: 'true' }, 'x'],
  null_struct: [{ ...text('x'), structuredContent: null }, 'x'],
  list_struct: [{ ...text('x'), structuredContent: ['listed here'] }, 'listed here'],
  only_struct: [{ structuredContent: { n: 'only data' } }, 'only data'],
  priority: [{ content: [{ type: 'text', text: 'important', annotations: { priority: 7 } }] }, 'important'],
  resource: [{ content: [{ type: 'resource', resource: { text: 'without uri' } }] }, 'without uri'],
  link: [{ content: [{ type: 'resource_link', uri: '/docs/7' }] }, '/docs/7'],
  odd_result_type: [{ ...text('x'), resultType: 'partial result' }, 'partial result'],
  no_content: [{ isError: false, rows: ['a row'] }, 'a row'],
  wrong: [{ ...text('3 in the cart'), structuredContent: { total: '3' } }, '3 in the cart', outputSchema],
  plain: ['4 in the cart', '4 in the cart', outputSchema],
  as_text: ['{"total":5}', '5', outputSchema],
  failed: [{ ...text('sold out'), isError: true, structuredContent: { why: 'because' } }, 'sold out', outputSchema],
};
const resources = {
  number: [{ contents: [{ text: 5 }] }, '5'],
  no_uri: [{ contents: [{ text: 'half \udc00' }] }, 'half \ufffd'],
  object: [{ contents: { text: 'no list' } }, 'no list'],
  string: ['bare words', 'bare words'],
  blob: [{ contents: [{ uri: 'note:x', blob: '_-8' }] }, '/+8='],
  bad_blob: [{ contents: [{ uri: 'note:x', blob: 'what is this?' }] }, 'what is this?'],
};
const prompts = {
  system: [{ messages: [{ role: 'system', content: { type: 'text', text: 'be brief' } }] }, 'be brief'],
  string: [{ messages: [{ role: 'user', content: 'bare words' }] }, 'bare words'],
  list: [{ messages: [{ role: 'user', content: [{ type: 'text', text: 'one' }, { type: 'html', html: '<b>two' }] }] }, '<b>two'],
  half: [{ messages: [{ role: 'user', content: { type: 'text', text: '\ud83d' } }] }, '\ufffd'],
};

const tab = await openTab(process.env.TABHUB_URL, process.env.TABHUB_TOKEN, { key: 'results' });
await tab.offer({
  tools: Object.entries(tools).map(([name, [result, , schema]]) => ({ name, title: name, inputSchema: { type: 'object' }, ...(schema && { outputSchema: schema }), run: () => result })),
  resources: Object.entries(resources).map(([name, [result]]) => ({ uri: `note:${name}`, name, run: () => result })),
  prompts: Object.entries(prompts).map(([name, [result]]) => ({ name, title: name, run: () => result })),
});
const failures = [];
for (const args of [['v1', 'http', '2025-11-25'], ['v2', 'http', '2025-11-25'], ['v2', 'http', '2026-07-28']]) {
  const { client, call } = await connect(...args, { elicited: () => ({ action: 'decline' }) });
  /** Asks for something, and looks for what the page said in what comes. */
  const check = async (what, want, ask) => {
    try {
      const said = JSON.stringify(await ask());
      assert(said.isWellFormed() && !/\\ud[89a-f]/.test(said) && said.includes(want), said);
    } catch (err) {
      failures.push(`${args.join(' ')}, ${what}: ${err.message}`);
    }
  };
  for (const tool of (await client.listTools()).tools.filter((t) => /^website_/.test(t.name))) { // the client has compiled outputSchema
    const name = tool.title;
    const [, want, schema] = tools[name];
    await check(`tool ${name}`, want, async () => {
      const { content, isError } = await call({ name: tool.name, arguments: {} });
      if (schema && name !== 'as_text' && name !== 'failed') assert.match(content[0].text, /carried out: do not repeat it/);
      assert.equal(!!isError, ['err_word', 'wrong', 'plain', 'failed'].includes(name));
      return content;
    });
  }
  for (const { uri, name } of (await client.listResources()).resources) {
    await check(`resource ${name}`, resources[name][1], () => client.readResource({ uri }));
  }
  for (const { name, title } of (await client.listPrompts()).prompts) {
    await check(`prompt ${title}`, prompts[title][1], () => client.getPrompt({ name }));
  }
  await client.close();
}
tab.close();
assert.deepEqual(failures, []);
