// Usage: node consent.mjs v1|v2 stdio|sse|http 2024-11-05|...|2026-07-28
//
// Plays a tab whose tools its owner has to allow, and the owner at a client that others wrote:
// what is allowed runs once, what is declined does not, and a page that asks back has the owner
// asked once. The environment is that of client.mjs.
import assert from 'node:assert/strict';
import { connect } from './client.mjs';
import { openTab } from './tab.mjs';

const [sdk, transport, version] = process.argv.slice(2);
const { TABHUB_URL: url, TABHUB_TOKEN: token } = process.env;
const text = (t) => ({ content: [{ type: 'text', text: t }] });

const tab = await openTab(url, token, { key: 'consent' });
const ran = [];
await tab.offer({
  tools: [
    { name: 'pay', inputSchema: { type: 'object' }, run: (args) => (ran.push(args), text('paid')) },
    {
      name: 'gift', inputSchema: { type: 'object' },
      run: (_, { extensions: { inputResponses, requestState } }) => {
        if (requestState === 'asked') return text(`for ${inputResponses.who.content.name}`);
        const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
        return {
          resultType: 'input_required', requestState: 'asked',
          inputRequests: { who: { method: 'elicitation/create', params: { message: 'tabhub asks: for whom?', requestedSchema } } },
        };
      },
    },
  ],
});

const asked = [];
let allow = true;
const { client, call } = await connect(sdk, transport, version, {
  elicited: async ({ message, requestedSchema: { properties } }) => {
    asked.push(message);
    if (!properties.answer) return { action: 'accept', content: { name: 'Ada' } };
    if (!allow) return { action: 'decline' };
    return { action: 'accept', content: { answer: properties.answer.enum.find((words) => words === 'Yes, this once') } };
  },
});
try {
  const named = async (suffix) => (await client.listTools()).tools.find((t) => t.name.endsWith(`_${suffix}`)).name;
  const pay = await named('pay');
  const paid = await call({ name: pay, arguments: { eur: 5, to: 'Ann' } });
  assert.equal(paid.content[0].text, 'paid');
  assert.deepEqual(ran, [{ eur: 5, to: 'Ann' }]);
  assert.match(asked[0], /^tabhub asks: “.*” wants to run “pay” on /);
  assert.match(asked[0], /“eur”: “5”/);
  assert.match(asked[0], /“to”: “Ann”/);

  asked.length = 0;
  const gift = await call({ name: await named('gift'), arguments: {} });
  assert.equal(gift.content[0].text, 'for Ada');
  assert.equal(asked.length, 2, 'the owner is asked once, the person once');
  assert.match(asked[1], /^unverified_\S+ asks: tabhub asks: for whom\?$/, 'a page cannot ask in the name of the hub');

  allow = false;
  const declined = await call({ name: pay, arguments: { eur: 500, to: 'Eve' } });
  assert.equal(JSON.parse(declined.content[0].text).error.code, 'DENIED');
  assert.equal(ran.length, 1);
} finally {
  await client.close();
  tab.close();
}
console.log(`ok ${sdk} ${transport} ${version}`);
process.exit(0);
