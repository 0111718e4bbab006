import assert from "node:assert/strict";
import { test } from "node:test";
import { standIn } from "./testdata/chrome.mjs";

standIn();
const { ManualCalls } = await import("./worker/manualcalls.ts");

test("what the owner has cancelled while its page was loading is not asked of the page afterwards", async () => {
  const asked = [];
  let loaded;
  const tabs = { route: () => new Promise((done) => (loaded = done)) };
  const calls = new ManualCalls(tabs, { begun: () => {}, ended: () => {} });
  const tried = calls.call("1", { tabId: 1, frameId: 0, origin: "https://shop.example", name: "buy" }, {});
  calls.cancel("1");
  loaded({ frame: { origin: "https://shop.example" }, port: { postMessage: (message) => asked.push(message.type) } });
  assert.deepEqual([await tried, asked], [{ error: "You have cancelled it. The page was not asked." }, []]);
});
