import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, encode, show } from "./looklines.ts";

/** Lines as they are read: two spaces for each level, what is not in view after "~", with references at the end. */
function lines(text) {
  return text.replace(/^\n/, "").trimEnd().split("\n").map((line) => {
    const [, indent, out, rest] = /^( *)(~?)(.*)$/.exec(line);
    const ref = /\b(k\w\w\d+)$/.exec(rest)?.[1] ?? "";
    const kind = /^(button|link|textbox|\*? ?row.*button)/.test(rest) ? "act" : /^(frame)/.test(rest) ? "frame" : /^["*]|^row/.test(rest) ? "text" : "place";
    return { depth: indent.length / 2, kind, view: !out, ref, text: rest };
  });
}
const text = ({ lines }) => lines.map(({ text }) => text).join("\n");
const many = { maxTokens: 4000 };

const SHOP = lines(`
navigation "Main" kaa1
  link "Home" kaa2
main kaa3
  heading "Teas"
  list "Cart" kaa4
    row: "Tea" | button "Remove" kaa5
    ~row: "Milk" | button "Remove" kaa6
  "A long text about tea."
  ~"Another text about milk."
  ~button "Order" kaa7`);

test("lines survive on their way", () => {
  const all = [...SHOP, { depth: 3, kind: "frame", view: false, ref: "kaa9", text: 'frame "\\n x" kaa9', frame: -1 }];
  assert.deepEqual(decode(encode(all)), all);
  assert.deepEqual(decode(""), []);
});

test("all lines, if they fit", () => assert.equal(text(show(SHOP, many)).split("\n").length, 10));

test("depth", () => assert.deepEqual(show(SHOP, { ...many, depth: 1 }), { lines: [{ of: 0, text: 'navigation "Main" kaa1' }, { of: 0, text: "main kaa3" }], left: 8, changes: false }));

// What can be acted on is worth more than what can be read.
test("what does not fit is said where it is", () => {
  const long = [...SHOP.slice(0, -1), ...Array.from({ length: 30 }, (_, i) => ({ ...SHOP[8], text: `"${i} texts about tea, milk, and what to do with them on a Sunday afternoon"` })), SHOP.at(-1)];
  const shown = show(long, { maxTokens: 164 });
  assert.equal(text(shown), `navigation "Main" kaa1
  link "Home" kaa2
main kaa3
  heading "Teas"
  list "Cart" kaa4
    row: "Tea" | button "Remove" kaa5
    row: "Milk" | button "Remove" kaa6
  "A long text about tea."
  button "Order" kaa7
  ... 31 more lines, scope kaa3`);
  assert.equal(shown.left, 31);
});

test("the lines are never more than the tokens", async () => {
  const { tokensIn } = await import("./tokens.ts");
  const page = Array.from({ length: 3000 }, (_, i) => lines(`${"  ".repeat(i % 5)}${i % 3 ? "" : "~"}${i % 2 ? `button "No ${i}" kaa${i + 1}` : `heading "Part ${i}"`}`)[0]);
  for (const maxTokens of [100, 1000, 4000]) {
    const shown = show(page, { maxTokens });
    const tokens = tokensIn(text(shown));
    assert.ok(tokens <= maxTokens && tokens > maxTokens * 0.5, `${tokens} of ${maxTokens}`);
    assert.ok(shown.left > 0);
  }
});

test("long rows of one kind are folded, but where one looks at them alone", () => {
  const log = [...lines('log "Log" kaa1'), ...Array.from({ length: 40 }, (_, i) => lines(`  "Line ${i}"`)[0])];
  assert.match(text(show(log, many)), /"Line 9"\n  \.\.\. 30 more like these lines, scope kaa1$/);
  assert.equal(show(log, { ...many, scoped: true }).lines.length, 41);
});

test("find", () => {
  assert.equal(text(show(SHOP, { ...many, find: "remove TEA" })), `main kaa3 > list "Cart" kaa4 > row: "Tea" | button "Remove" kaa5`);
  assert.deepEqual(show(SHOP, { ...many, find: "coffee" }).lines, []);
  const all = Array.from({ length: 50 }, (_, i) => lines(`button "No ${i}" kaa${i + 1}`)[0]);
  const found = show(all, { ...many, find: "no" });
  assert.deepEqual([found.lines.length, found.left], [30, 20]);
});

test("what has changed", () => {
  const now = lines(`
navigation "Main" kaa1
  link "Home" kaa2
main kaa3
  heading "Teas"
  list "Cart" kaa4
    row: "Tea" | button "Remove" kaa5
  "A long text about tea."
  ~"Another text about milk."
  alert: "Removed"
  ~button "Order" kaa7`);
  const shown = show(now, { ...many, before: SHOP });
  assert.equal(text(shown), `alert: "Removed"
- row: "Milk" | button "Remove" kaa6`);
  assert.equal(shown.changes, true);
  // What has another value is what it was, and so is what says something else in its place.
  const counted = (n) => lines(`main kaa3\n  status: "${n} items"\n  textbox "Name" kaa4 = "${n}"\n  button "Order" kaa7${n > 1 ? " focused" : ""}\n  "Other text of the page, which is as long as it was before, and stays so for a while."`);
  assert.equal(text(show(counted(2), { ...many, before: counted(1) })), `status: "2 items"\ntextbox "Name" kaa4 = "2"`);
  const cart = (n) => lines(`dialog "Cart" kaa3\n  list "Items" kaa4\n    row: "Tea ${n}"\n  "Other text of the page, which is as long as it was before, and stays so for a while."`);
  assert.equal(text(show(cart(2), { ...many, before: cart(1) })), `list "Items" kaa4\n  row: "Tea 2"`);
  // Nothing has.
  assert.deepEqual(show(SHOP, { ...many, before: SHOP }), { lines: [], left: 0, changes: true });
  // Another page is shorter whole.
  const other = lines('heading "Thanks"');
  assert.equal(text(show(other, { ...many, before: SHOP })), 'heading "Thanks"');
});

test("20,000 lines are shown soon", () => {
  const page = Array.from({ length: 20000 }, (_, i) => lines(`${i % 10 ? "  " : ""}row: "Product ${i}" | "4.${i} €" | button "Remove" kaa${i + 1}`)[0]);
  const began = performance.now();
  show(page, many);
  assert.ok(performance.now() - began < 1000, `${performance.now() - began} ms`);
});
