// Usage: node signin.mjs v1|v2
//
// Signs in at the hub of TABHUB_URL with the OAuth of a client that others wrote: prints the
// address of the page, waits until that leads back here, lists tools, and does so again when
// its access token is good no more.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';

const [sdk] = process.argv.slice(2);
const url = new URL('/mcp', process.env.TABHUB_URL);

const answered = Promise.withResolvers();
const callback = createServer((request, response) => {
  answered.resolve(new URL(request.url, 'http://127.0.0.1').searchParams);
  response.end();
});
await new Promise((listening) => callback.listen(0, '127.0.0.1', listening));

const kept = {};
const provider = {
  redirectUrl: `http://127.0.0.1:${callback.address().port}/callback`,
  get clientMetadata() {
    return { client_name: `TypeScript ${sdk}`, redirect_uris: [this.redirectUrl] };
  },
  state: () => 'a-state',
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  saveDiscoveryState: (state) => { kept.discovery = state; },
  discoveryState: () => kept.discovery,
  redirectToAuthorization: (address) => console.log(address.href),
};

const { Client, StreamableHTTPClientTransport } = sdk === 'v1'
  ? { ...await import('@modelcontextprotocol/sdk/client/index.js'), ...await import('@modelcontextprotocol/sdk/client/streamableHttp.js') }
  : await import('@modelcontextprotocol/client');

/** Connects, lists tools, and leaves. */
async function use() {
  const client = new Client({ name: 'signin', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }));
  assert((await client.listTools()).tools.some((tool) => tool.name === 'proxy'));
  await client.close();
}

await assert.rejects(use(), /Unauthorized/);
const answer = await answered.promise;
assert.equal(answer.get('state'), 'a-state');
assert.equal(answer.get('iss'), url.origin);
const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
await (sdk === 'v1' ? transport.finishAuth(answer.get('code')) : transport.finishAuth(answer));
await use();

const { refresh_token: first } = kept.tokens;
kept.tokens.access_token += 'x';
await use();
assert.notEqual(kept.tokens.refresh_token, first);
callback.closeAllConnections();
callback.close();
