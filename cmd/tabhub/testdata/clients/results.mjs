// Usage: node results.mjs
//
// Plays a tab whose answers are not of MCP, and calls it with clients of both SDKs: each answer must
// arrive, with what the page said, and outputSchema as far as clients take it. The environment is as for check.mjs.
import assert from 'node:assert/strict';
import { connect } from './client.mjs';
import { openTab } from './tab.mjs';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const gif = 'R0lGODlhAQABAAAAACw=';
const svg = "<svg xmlns='http://www.w3.org/2000/svg'/>";
const text = (t) => ({ content: [{ type: 'text', text: t }] });
const image = (mimeType, data) => ({ content: [{ type: 'image', mimeType, data }] });
const total = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] };
const tree = { type: 'object', properties: { v: { type: 'string' }, next: { $ref: '#' } }, required: ['v'] };
const old = {
  $schema: 'http://json-schema.org/draft-04/schema#', id: 'https://e.com/old', $ref: '#/definitions/r',
  definitions: { r: { type: 'object', properties: { n: { type: 'number', minimum: 0, exclusiveMinimum: true } }, required: ['n'] } },
};

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
  failed: [{ ...text('sold out'), isError: true, structuredContent: { why: 'because' } }, 'sold out', total],
};
/** The same of tools with an outputSchema, and the structuredContent that comes; none: the answer does not fit. */
const promised = {
  fits: [{ ...text('1 in the cart'), structuredContent: { total: 1 } }, '1 in the cart', total, { total: 1 }],
  as_text: ['{"total":5}', '5', total, { total: 5 }],
  wrong: [{ ...text('3 in the cart'), structuredContent: { total: '3' } }, '3 in the cart', total],
  plain: ['4 in the cart', '4 in the cart', total],
  branches: [{ v: 'root', next: { v: 'leaf' } }, 'leaf', tree, { v: 'root', next: { v: 'leaf' } }],
  no_branches: [{ v: 'root', next: { w: 'a stray leaf' } }, 'a stray leaf', tree],
  old_fits: [{ n: 1 }, '1', old, { n: 1 }],
  old_wrong: [{ n: 0, why: 'none left' }, 'none left', old],
  untyped: [{ total: 1 }, '1', { properties: { total: { type: 'integer' } } }, { total: 1 }],
  either: [{ error: 'no cart' }, 'no cart', { anyOf: [total, { type: 'object', required: ['error'] }] }, { error: 'no cart' }],
  invalid: [{ total: 'many' }, 'many', { type: 'object', properties: { total: { type: 'strin', minimum: 'x' } }, required: 'total' }, { total: 'many' }],
};
/** The same of tools whose outputSchema is not listed, as it is not that of objects. */
const unlisted = {
  list: [['a listed word'], 'a listed word', { type: 'array', items: { type: 'string' } }],
  list_inside: [{ ...text('x'), structuredContent: ['a listed word'] }, 'a listed word', { type: 'array' }],
  list_untyped: [['a listed word'], 'a listed word', { items: { type: 'string' } }],
  list_referred: [['a listed word'], 'a listed word', { $ref: '#/$defs/l', $defs: { l: { type: 'array' } } }],
  word: ['a word', 'a word', { type: 'string' }],
  one_of: ['a word', 'a word', { enum: ['a word'] }],
  perhaps: [null, 'null', { anyOf: [total, { type: 'null' }] }],
  anything: [['a listed word'], 'a listed word', {}],
  yes: ['a word', 'a word', true],
  no: ['a word', 'a word', false],
  itself: ['a word', 'a word', { $ref: '#' }],
  text_for_schema: ['a word', 'a word', 'a schema'],
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
const rows = new Map(Object.entries({ tools, promised, unlisted }).flatMap(([table, of]) => Object.entries(of).map(([name, row]) => [`${table} ${name}`, row])));
await tab.offer({
  tools: Array.from(rows, ([title, [result, , outputSchema]]) => ({ name: title, title, inputSchema: { type: 'object' }, outputSchema, run: () => result })),
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
  const listed = (await client.listTools()).tools.filter((t) => /^website_/.test(t.name)); // the client has compiled each outputSchema
  assert.equal(listed.length, rows.size);
  for (const { name, title, outputSchema } of listed) {
    const [, want, , structured] = rows.get(title);
    const isPromised = title.startsWith('promised ');
    await check(title, want, async () => {
      const { content, isError, structuredContent } = await call({ name, arguments: {} });
      assert.equal(outputSchema?.type, isPromised || title === 'tools failed' ? 'object' : undefined);
      if (isPromised) {
        assert.deepEqual(structuredContent, structured);
        assert.equal(/carried out: do not repeat it/.test(content[0].text), !structured);
      }
      assert.equal(!!isError, isPromised ? !structured : ['tools err_word', 'tools failed'].includes(title));
      return content;
    });
  }
  // A misfit that reaches the client is lost.
  const { onmessage } = client.transport;
  client.transport.onmessage = (m, extra) => {
    if (m.result?.structuredContent) m.result.structuredContent = { total: 'one' };
    onmessage(m, extra);
  };
  await check('a misfit', 'output schema', () => call({ name: listed.find((t) => t.title === 'promised fits').name, arguments: {} }).catch((err) => err.message));
  client.transport.onmessage = onmessage;
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
