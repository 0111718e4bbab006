// Packs that the person in front of the browser has not allowed do nothing, where that is for them to say.

import assert from "node:assert/strict";
import { test } from "node:test";
import { standIn } from "./testdata/chrome.mjs";

const kept = {};
const local = {
  get: async () => structuredClone(kept),
  set: async (values) => void Object.assign(kept, structuredClone(values)),
  remove: async (key) => void delete kept[key],
};
standIn({ storage: { local } });
const { Packs } = await import("./worker/packs.ts");

const orders = { name: "orders", hash: "1", match: ["https://a.example/orders/*"], tools: [{ name: "list" }, { name: "edit", on: ["https://a.example/orders/edit*"] }] };
const script = { name: "wild", hash: "2", match: ["https://a.example/*"], tools: [], script: true };
const at = "https://a.example/orders/1";
const named = (packs, url) => packs.tools(url).map(({ name, pack }) => `${pack.name} ${name}`);

test("the packs of a hub on this computer are offered on their pages, a script when it is allowed", async () => {
  const packs = new Packs(() => true, () => {});
  packs.opened("p");
  packs.take("p", [orders, script]);
  assert.deepEqual(named(packs, at), ["orders list"]);
  assert.deepEqual(named(packs, "https://a.example/orders/edit"), ["orders list", "orders edit"]);
  assert.deepEqual(named(packs, "https://a.example/"), []);
  assert.equal(packs.find(script), undefined);
  packs.choose("2", true);
  assert.equal(packs.find(script).name, "wild");
  assert.deepEqual(packs.match, orders.match);
  packs.choose("1", false);
  assert.match(packs.refusal(orders), /off in this browser/);
  packs.take("p", [{ ...orders, hash: "3" }]);
  assert.deepEqual(named(packs, at), ["orders list"]);
  assert.match(packs.refusal(orders), /has changed/);
});

test("those of a hub elsewhere wait, each version of them, and another hub's count no more", async () => {
  const packs = new Packs(() => false, () => {});
  packs.opened("p");
  packs.take("p", [orders]);
  assert.deepEqual(named(packs, at), []);
  packs.choose("1", true);
  assert.deepEqual(named(packs, at), ["orders list"]);
  const next = new Packs(() => false, () => {});
  await next.load();
  assert.deepEqual(named(next, at), ["orders list"]);
  next.opened("another");
  assert.deepEqual(named(next, at), []);
  assert.ok(!("packs" in kept));
  next.take("another", [orders]);
  assert.deepEqual(named(next, at), []);
});

test("what is asked over a new connection waits for the hub's word", async () => {
  const packs = new Packs(() => true, () => {});
  packs.opened("p");
  let known = false;
  const current = packs.current.then(() => (known = true));
  await new Promise((done) => setImmediate(done));
  assert.ok(!known);
  packs.take("p", []);
  await current;
});

const shop = (more) => ({ name: "shop", hash: "1", match: ["https://a.example/*"], tools: [{ name: "order" }], ...more });

// A hub on another computer could have a person allow a pack at one site, and then say that it is at others.
test("what a person has allowed is the pack as it was shown to them", () => {
  for (const [is, offered] of [
    [shop(), true],
    [shop({ title: "Another title" }), true],
    [shop({ match: ["https://a.example/*", "https://b.example/*"] }), false],
    [shop({ hash: "2" }), false],
    [shop({ script: true }), false],
  ]) {
    const packs = new Packs(() => false, () => {});
    packs.take("p", [shop()]);
    assert.deepEqual(packs.tools("https://a.example/"), []);
    packs.choose("1", true);
    assert.equal(packs.tools("https://a.example/").length, 1);
    packs.take("p", [is]);
    assert.equal(packs.find(is) !== undefined, offered, JSON.stringify(is));
    packs.take("p", [shop()]);
    assert.equal(packs.find(shop()) !== undefined, offered, JSON.stringify(is));
  }
});
