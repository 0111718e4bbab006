// Usage: node asks.mjs v1|v2 stdio|http 2025-11-25|2026-07-28
//
// Plays two tabs of a site whose tool asks while it runs, with the scripts of real pages, and their
// user at a client that others wrote: each answer reaches the tool that has asked, in its tab, which
// runs once. The environment is that of client.mjs.
import assert from 'node:assert/strict';
import { ToolCalls } from '../../../../tabtransport/pagejs/toolcalls.ts';
import { connect } from './client.mjs';
import { openTab } from './tab.mjs';

const [sdk, transport, version] = process.argv.slice(2);
const { TABHUB_URL: url, TABHUB_TOKEN: token } = process.env;

const form = (message, properties) => ({ message, requestedSchema: { type: 'object', properties, required: Object.keys(properties) } });
const tabs = [];
for (const name of ['first', 'second']) {
  const calls = new ToolCalls();
  const tab = Object.assign(await openTab(url, token, { key: name }), { runs: 0, cart: [] });
  const order = async (what, ask) => {
    tab.runs++;
    const { action, content } = await ask(form(`How many ${what}`, { n: { type: 'integer' } }));
    if (action !== 'accept') return `no ${what}: ${action}`;
    const sure = await ask(form(`${content.n} ${what}`, {}));
    if (sure.action === 'accept') tab.cart.push(`${content.n} ${what}`);
    return `${name}: ${tab.cart.join()}`;
  };
  const run = async ({ what }, options) => {
    const result = async ({ ask }) => JSON.stringify({ content: [{ type: 'text', text: await order(what, ask) }] });
    return JSON.parse(await calls.call(result, options));
  };
  await tab.offer({ tools: [{ name: 'order', inputSchema: { type: 'object' }, run }] });
  tabs.push(tab);
}

/** What the user says, by the questions. */
const says = { tea: 3, milk: 4 };
const asked = [];
const { client, call } = await connect(sdk, transport, version, {
  elicited: async ({ message }) => {
    asked.push(message);
    const front = asked.length % 2; // the user goes from one tab to the other
    tabs.forEach((tab, i) => tab.state({ active: i === front, visible: i === front, windowFocused: i === front }));
    const [, what] = message.match(/asks: How many (\w+)$/) ?? [];
    if (!what) return { action: 'accept', content: {} };
    return what in says ? { action: 'accept', content: { n: says[what] } } : { action: 'decline' };
  },
});
try {
  const { tools } = await client.listTools();
  const named = (pattern) => tools.find(({ name }) => pattern.test(name)).name;
  const order = async (name, what) => (await call({ name, arguments: { what } })).content[0].text;

  // At once in both tabs.
  assert.deepEqual(await Promise.all([order(named(/_tab1_order/), 'tea'), order(named(/_tab2_order/), 'milk')]), ['first: 3 tea', 'second: 4 milk']);
  assert.equal(asked.length, 4);
  for (const message of asked) assert.match(message, /^unverified_\S+ asks: (How many|3|4) (tea|milk)$/);
  // In whichever tab the hub chooses: the answers go there, too.
  const answer = await order(named(/com_order$/), 'tea');
  assert.ok(['first: 3 tea,3 tea', 'second: 4 milk,3 tea'].includes(answer), answer);
  assert.equal(await order(named(/_tab2_order/), 'wine'), 'no wine: decline');
  assert.equal(tabs[0].runs + tabs[1].runs, 4, 'each call runs the tool once');
} finally {
  await client.close();
  for (const tab of tabs) tab.close();
}
console.log(`ok ${sdk} ${transport} ${version}`);
process.exit(0);
