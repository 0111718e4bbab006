import assert from "node:assert/strict";
import { test } from "node:test";
import { button, unusable, whyNone } from "./status.ts";

/** What the worker says of a browser where nothing is the matter. */
const status = {
  hub: { state: "connected", hub: "tabhub", version: "1.0.0" },
  owner: { paused: false, waiting: 0 },
  waiting: 0,
  working: 0,
  address: "ws://127.0.0.1:3300/tabs",
};
const quiet = { tools: 7, waiting: false, users: [], holder: "" };
const used = { ...quiet, users: ["Claude Code"] };

// A tab's button says what is most urgent there.
for (const [name, parts, tab, text, title] of [
  ["no tools", {}, { ...quiet, tools: 0 }, "", "Connected"],
  ["tools", {}, quiet, "7", "Connected"],
  ["used", {}, used, "…", "Claude Code is using this tab"],
  ["waits for you", { working: 5 }, { ...quiet, users: ["A"], holder: "A" }, "you", "A waits for you to finish"],
  ["used by two", { working: 5 }, { ...quiet, users: ["A", "B"] }, "…", "A and B are using this tab"],
  ["used by more", {}, { ...quiet, users: ["A", "B", "C"] }, "…", "A and 2 others are using this tab"],
  ["another used", { working: 2 }, quiet, "2…", "At work"],
  ["a form waits", { waiting: 1 }, { ...used, waiting: true }, "you", "a form in this tab waits for you to submit it"],
  ["a question", { waiting: 1 }, used, "1", "Waiting for you"],
  ["paused", { owner: { paused: true, waiting: 0 } }, used, "II", "Paused"],
  ["asleep", { hub: { state: "absent" } }, quiet, "off", "The hub is not running"],
  ["recorded", { working: 2 }, { ...used, recording: "on" }, "rec", "what you do in this tab is written down"],
  ["was recorded", {}, { ...quiet, recording: "ended" }, "rec!", "what you have recorded waits for you to send it"],
  ["while it joins", { hub: { state: "connecting" } }, quiet, "7", "Connecting…"],
]) {
  test(`the button: ${name}`, () => {
    const is = button({ ...status, ...parts }, tab);
    assert.deepEqual([is.text, is.title], [text, `tabhub: ${title}`]);
  });
}

// The button of no tab says the same as the popup.
for (const [name, parts, text] of [
  ["connected", {}, ""],
  ["connecting", { hub: { state: "connecting" } }, ""],
  ["working", { working: 1 }, "…"],
  ["working 3", { working: 3 }, "3…"],
  ["waiting", { waiting: 1 }, "1"],
  ["waiting 2", { waiting: 1, owner: { paused: true, waiting: 2 } }, "2"],
  ["elsewhere", { owner: { paused: false, waiting: 1 } }, "1"],
  ["paused", { working: 1, owner: { paused: true, waiting: 0 } }, "II"],
  ["absent", { hub: { state: "absent" } }, "off"],
  ["unpaired", { hub: { state: "unpaired", reason: "" } }, "!"],
  ["unproved", { hub: { state: "unproved" } }, "!"],
  ["outdated", { hub: { state: "outdated" } }, "!"],
  ["refused", { hub: { state: "refused", reason: "one too many" } }, "!"],
  ["replaced", { hub: { state: "replaced" } }, "!"],
]) {
  test(`the button of no tab: ${name}`, () => assert.equal(button({ ...status, ...parts }).text, text));
}

// The owner reads why a page has no tools, and what can be done.
for (const [name, { native = true, ...page }, site, want] of [
  ["none offered", {}, {}, /Sites decide whether they do/],
  ["no WebMCP", { native: false }, {}, /the extension gives pages its own/],
  ["and none given", { native: false }, { webmcp: false }, /you have switched off what the extension gives/],
  ["loaded before", { native: false, bare: true }, {}, /loaded before the extension was there. Reload it/],
  ["loaded before, over http", { native: false, bare: true, secure: false }, {}, /loaded over http/],
  ["over http", { native: false, secure: false }, {}, /loaded over http/],
  ["switched off", {}, { on: false }, /You do not share this site/],
  ["not yet allowed", { allowed: false, reached: false }, {}, /not allowed the extension in this site yet/],
  ["loading", { loading: true, reached: false }, {}, /still loading/],
  ["loading, reached", { loading: true }, {}, /no tools so far/],
  ["asleep", { asleep: true, reached: false }, {}, /put this tab to sleep/],
  ["protected", { reached: false }, {}, /lets no extension into this page/],
  ["refused", {}, { rejected: [{ name: "a", reason: "b" }] }, /none that can be used/],
  ["the browser's own", { web: false }, undefined, /Only websites can offer tools/],
]) {
  test(`why no tools: ${name}`, () => {
    const shown = { web: true, secure: true, allowed: true, reached: true, bare: false, loading: false, asleep: false, ...page };
    assert.match(JSON.stringify(whyNone(shown, site && { on: true, webmcp: true, rejected: [], ...site }, native)), want);
  });
}

// What a page offers is of use to an app only while the hub is there, is the owner's, and nothing is paused.
for (const [name, parts, want] of [
  ["connected", {}, ""],
  ["a question waits", { waiting: 1 }, ""],
  ["connecting", { hub: { state: "connecting" } }, ""],
  ["paused", { owner: { paused: true, waiting: 0 } }, "Paused"],
  ["absent", { hub: { state: "absent" } }, "The hub is not running"],
  ["unpaired", { hub: { state: "unpaired", reason: "" } }, "Not paired with the hub"],
]) {
  test(`why no app can use a page: ${name}`, () => assert.equal(unusable({ ...status, ...parts }), want));
}
