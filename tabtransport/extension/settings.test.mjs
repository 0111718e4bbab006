// However an origin is written, it is the same site.

import assert from "node:assert/strict";
import { test } from "node:test";
import { standIn } from "./testdata/chrome.mjs";

const off = ["https://example.com:443", "HTTP://Shop.Example.:8080/path", "https://bücher.example", "http://[::1]:80"];
const set = async () => {};
standIn({ storage: { local: { get: async () => ({ settings: { off } }), set }, session: { get: async () => ({}), set } } });
const { loadSettings, pattern, permits, permitsDocument, permitsPage, withSite } = await import("./worker/settings.ts");
const settings = await loadSettings();

for (const origin of ["https://example.com", "https://EXAMPLE.com:443", "https://example.com.", "http://shop.example:8080", "https://xn--bcher-kva.example", "http://[::1]"]) {
  test(`hidden: ${origin}`, () => {
    assert.ok(!permits(settings, origin) && !permitsPage(settings, `${origin}/path`) && !permitsPage(settings, `blob:${origin}/1`));
    assert.ok(permits({ ...settings, ...withSite(settings, origin, true) }, origin));
  });
}
for (const origin of ["http://example.com", "https://example.com:8443", "https://www.example.com", "https://example.com.evil.example", "http://shop.example"]) {
  test(`shown: ${origin}`, () => assert.ok(permits(settings, origin) && permitsPage(settings, `${origin}/path`)));
}
for (const [permitted, document] of [
  [false, { origin: "https://example.com", url: "about:blank" }],
  [false, { origin: "null", url: "https://example.com/" }],
  [false, { origin: "null", url: "blob:https://example.com/1" }],
  [false, { origin: "null", url: "blob:null/1" }],
  [false, { origin: "null", url: "data:,x", frameId: 1 }],
  [false, { origin: "null", url: "about:blank", frameId: 0 }],
  [false, {}],
  [true, { origin: "https://other.example", url: "https://other.example/" }],
  [true, { origin: "null", url: "about:srcdoc", frameId: 1 }],
  [true, { origin: "null", url: "file:///x" }],
]) {
  test(`a document: ${JSON.stringify(document)}`, () => assert.equal(permitsDocument(settings, document), permitted));
}
for (const origin of ["https://example.com:443", "http://[::1]:8080"]) {
  test(`the pattern of ${origin}`, () => assert.equal(pattern(new URL(origin).origin), `${origin}/*`));
}
