// Usage: node call.mjs v1|v2 stdio|http 2025-11-25|2026-07-28 TOOL [MILLISECONDS]
//
// Makes one call, and prints its first text, or why there is none: by itself the SDK gives up after 60 s.
// The environment is that of client.mjs.
import { connect } from './client.mjs';

const [sdk, transport, version, name, timeout] = process.argv.slice(2);
const { client, call } = await connect(sdk, transport, version, {});
try {
  const { content } = await call({ name, arguments: {} }, timeout ? { timeout: Number(timeout) } : undefined);
  console.log(content[0].text);
} catch (err) {
  console.log(`gave up: ${err.message}`);
  await client.listTools(); // it goes on with other things; that it has given up is sent by then
}
await client.close();
process.exit(0);
