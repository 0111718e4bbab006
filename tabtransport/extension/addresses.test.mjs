// What people write for a site becomes one that can match, or is refused with how to write it;
// what they write for a hub becomes the address of its WebSocket.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hubOf, siteOf } from "./addresses.ts";

const noSite = /is no site/, noPattern = /matches no site here/, noWeb = /Only sites at/, noHub = /looks like ws:\/\//;

for (const [of, text, want] of [
  [siteOf, "example.com", "https://example.com"],
  [siteOf, " https://Example.com/some/page?q#x ", "https://example.com"],
  [siteOf, "http://example.com:8080", "http://example.com:8080"],
  [siteOf, "localhost:5173", "http://localhost:5173"],
  [siteOf, "app.localhost:5173/x", "http://app.localhost:5173"],
  [siteOf, "127.0.0.1", "http://127.0.0.1"],
  [siteOf, "[::1]:8080", "http://[::1]:8080"],
  [siteOf, "192.168.1.2", "https://192.168.1.2"],
  [siteOf, "bücher.example", "https://xn--bcher-kva.example"],
  [siteOf, "intranet", "https://intranet"],
  [siteOf, "", /Write a site/],
  [siteOf, "*.example.com", noPattern],
  [siteOf, "https://*.example.com/*", noPattern],
  [siteOf, "not a site!", noSite],
  [siteOf, "example.com:port", noSite],
  [siteOf, "exam ple.com", noSite],
  [siteOf, "example..com", noSite],
  [siteOf, "chrome://settings", noWeb],
  [siteOf, "file:///etc/passwd", noWeb],
  [siteOf, "ftp://example.com", noWeb],
  [hubOf, "ws://127.0.0.1:3300/tabs", "ws://127.0.0.1:3300/tabs"],
  [hubOf, "http://127.0.0.1:3300/", "ws://127.0.0.1:3300/tabs"],
  [hubOf, "http://localhost:3300/#code=secret", "ws://localhost:3300/tabs"],
  [hubOf, "127.0.0.1:3300", "ws://127.0.0.1:3300/tabs"],
  [hubOf, "https://hub.example.com", "wss://hub.example.com/tabs"],
  [hubOf, "wss://hub.example.com/team/tabs", "wss://hub.example.com/team/tabs"],
  [hubOf, "hub.example.com", "wss://hub.example.com/tabs"],
  [hubOf, "", noHub],
  [hubOf, "ftp://127.0.0.1/", noHub],
  [hubOf, "not a hub", noHub],
]) {
  test(`${of.name} ${JSON.stringify(text)}`, () => {
    const { origin, address, problem } = of(text);
    if (want instanceof RegExp) assert.match(problem, want);
    else assert.equal(origin ?? address, want);
  });
}
