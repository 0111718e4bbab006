// elements.ts
function byID(id2, type) {
  const found = document.getElementById(id2);
  if (!(found instanceof (type ?? HTMLElement))) throw new Error(`the page has no ${type?.name ?? ""}#${id2}`);
  return found;
}
function make(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.map((child) => typeof child === "string" ? inOrder(child) : child));
  return made;
}
var inOrder = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (turn) => `\\u${turn.charCodeAt(0).toString(16)}`);

// common.ts
function ask(request) {
  return chrome.runtime.sendMessage(request);
}

// guard.ts
var REST = 1500;
var Guard = class {
  /** Whether each is of use, apart from the rest. */
  #buttons = /* @__PURE__ */ new Map();
  /** When the window was disturbed last. */
  #disturbed = performance.now();
  /** What the window was like when it was looked at last. */
  #seen = "";
  /** Where the pointer has gone down. */
  #pressed = null;
  /** Whether the keyboard was meant for this window. */
  #keyboard = false;
  /** The button that had the focus when the window was disturbed: it has it again afterwards. */
  #focused;
  #dismiss;
  /** @param dismiss called when Escape was pressed */
  constructor(dismiss) {
    this.#dismiss = dismiss;
    for (const type of ["focus", "blur", "resize"]) addEventListener(type, () => this.disturb());
    document.addEventListener("visibilitychange", () => this.disturb());
    addEventListener("pointerdown", ({ isTrusted, target }) => this.#pressed = isTrusted && this.#rested() ? target : null, true);
    addEventListener("click", (event) => this.#meant(event) || drop(event), true);
    addEventListener("keydown", (event) => this.#key(event), true);
    setInterval(() => this.#look(), 50);
  }
  add(button, answer2, usable = () => true) {
    this.#buttons.set(button, usable);
    button.disabled = true;
    button.addEventListener("click", answer2);
  }
  #meant({ isTrusted, detail, target }) {
    this.#look();
    if (!isTrusted || !this.#rested()) return false;
    if (!(target instanceof HTMLButtonElement)) return true;
    return detail > 0 ? this.#pressed === target : this.#keyboard;
  }
  #key(event) {
    this.#look();
    if (!event.isTrusted || event.repeat || !this.#rested()) drop(event);
    else if (event.key === "Tab") this.#keyboard = true;
    else if (event.key === "Escape") this.#dismiss();
  }
  #rested() {
    return document.hasFocus() && !document.hidden && performance.now() - this.#disturbed >= REST;
  }
  #look() {
    const seen2 = [screenX, screenY, outerWidth, outerHeight, document.hasFocus()].join();
    if (seen2 !== this.#seen) this.disturb();
    this.#seen = seen2;
    for (const [button, usable] of this.#buttons) button.disabled = !this.#rested() || !usable();
    if (!this.#focused || this.#focused.disabled) return;
    if (document.activeElement === document.body) this.#focused.focus();
    this.#focused = void 0;
  }
  /** What the window shows is another, or the window is. */
  disturb() {
    this.#disturbed = performance.now();
    this.#pressed = null;
    this.#keyboard = false;
    for (const button of this.#buttons.keys()) {
      if (button === document.activeElement) this.#focused = button;
      button.disabled = true;
    }
  }
};
function drop(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

// words.ts
var CLASSES = {
  read: { word: "reads", sentence: "It says that it only reads." },
  write: { word: "changes", sentence: "It may change something." },
  act: { word: "acts", sentence: "It acts on the page as you would; nobody has said what that changes." },
  destructive: { word: "destructive", sentence: "It may do what cannot be undone." }
};

// question.ts
var REACHES = {
  once: "this once",
  session: "until its session ends",
  app: "always, for this app",
  always: "always, for every app"
};
var ACT_REACHES = { session: "this site, this session" };
var VERBS = { tool: "run", resource: "read", prompt: "get the prompt" };
var MAX_DEPTH = 5;
var LONG_NAME = 24;
var LONG_VALUE = 600;
var MAX_TABLE = 60;
var MAX_COLUMN = 24;
var LONG_STEP = 160;
var said = (text, className = "") => make("span", `said foreign ${className}`, text);
function sentence({ client, site, tool }) {
  const name = said(client.name, "name");
  if (!tool) return [name, " wants to use your hub"];
  return [name, " wants to ", ...wish(tool), ...where(site)];
}
function wish(tool) {
  const { kind = "", script: script2, steps = [] } = tool;
  const acts = tool.class === "act";
  if (acts && script2) return ["run a script"];
  if (isSaid(tool)) return [said(steps[0], "name")];
  if (acts && steps.length) return [steps.length === 1 ? "take a step" : `take ${steps.length} steps`];
  return [`${VERBS[kind] ?? "use"} `, said(tool.name, "name"), ...whose(tool.pack)];
}
var isSaid = ({ class: of, script: script2, steps = [] }) => of === "act" && !script2 && steps.length === 1 && steps[0].length <= LONG_STEP;
function whose(pack) {
  if (!pack) return [];
  return [" of your pack ", said(pack.name, "name"), pack.added ? ` (added by you on ${pack.added})` : ""];
}
function where(site) {
  if (!site) return [", which is the hub’s own"];
  if (site.any) return [", ", make("span", "bad", "which may reach every site that the browser shows")];
  const parts = [" on ", said(site.origin.replace(/^https:\/\//, ""), "name")];
  if (!site.verified) parts.push(make("span", "bad", " (a site that no browser vouches for)"));
  if (site.top) parts.push(" within ", said(site.top));
  return parts;
}
function facts({ client, tool, why }) {
  const lines = [];
  if (client.said && client.said !== client.name) lines.push(make("p", "soft", "It calls itself ", said(client.said)));
  if (client.return) lines.push(make("p", "", "It goes on at ", said(client.return)));
  if (tool?.title && tool.title !== tool.name) lines.push(make("p", "soft", `${tool.pack ? "The pack" : "Its page"} calls it `, said(tool.title)));
  const [first = "", ...more] = why;
  const may = tool ? [make("span", tool.class === "destructive" ? "bad" : "", tool.script ? SCRIPT : (CLASSES[tool.class] ?? CLASSES.write).sentence), " "] : [];
  return [...lines, make("p", "wide", ...may, first), ...more.map((line) => make("p", "wide", line))];
}
var SCRIPT = "It can read all of the page and do there what you can; it reaches no other site and no network.";
function details({ tool, args = [], changes = [] }, heading) {
  const parts = [];
  if (changes.length) parts.push(make("section", "", make(heading, "soft", "Since it was allowed, this has changed"), ...changes.map(change)));
  const steps = (title, all) => parts.push(make("section", "", make(heading, "soft", title), make("ul", "steps", ...all.map((step) => make("li", "", said(step))))));
  if (tool?.pack?.steps?.length) steps("What the pack does", tool.pack.steps);
  if (tool?.steps?.length && !isSaid(tool)) steps("What it does", tool.steps);
  if (tool?.script) {
    const lines = tool.script.split("\n").length;
    parts.push(make("section", "", make(heading, "soft", lines === 1 ? "Its script" : `Its script, ${lines} lines`), script(tool.script)));
  }
  if (tool && !tool.script && !tool.steps?.length) {
    const count = args.length === 0 ? "nothing" : args.length === 1 ? "1 value" : `${args.length} values`;
    parts.push(make("section", "", make(heading, "soft", `With ${count}`), ...args.length ? [values(args)] : []));
  }
  return parts;
}
var RIGHT_TO_LEFT = /([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+)/u;
function script(text) {
  const parts = (line) => line.split(RIGHT_TO_LEFT).map((part, i) => i % 2 ? make("bdi", "", part) : part);
  const made = make("ol", "script", ...text.split("\n").map((line) => make("li", "", make("code", "foreign", ...parts(line)))));
  made.tabIndex = 0;
  return made;
}
var values = (args) => members(grouped(args));
function reachChoice({ reaches, aboutSite, tool }) {
  const words = aboutSite && tool?.class === "act" ? { ...REACHES, ...ACT_REACHES } : REACHES;
  const choice = make("select", "");
  choice.ariaLabel = "What a yes is good for";
  for (const reach2 of reaches.filter((name) => Object.hasOwn(REACHES, name))) choice.append(new Option(words[reach2], reach2));
  choice.hidden = choice.length < 2;
  return choice;
}
function grouped(args) {
  const all = [];
  for (const value of args) {
    const path = value.path ?? [value.name];
    let place = all;
    for (const name of path.slice(0, -1).slice(0, MAX_DEPTH)) {
      let group = place.at(-1);
      if (!group || group.name !== name || group.value) place.push(group = { name, members: [] });
      place = group.members;
    }
    place.push({ name: path.slice(Math.min(path.length - 1, MAX_DEPTH)).join("/"), value, members: [] });
  }
  return all;
}
function members(all) {
  const isArray = all.every(({ name }, i) => name === String(i));
  const columns = isArray && all.length > 1 ? columnsOf(all) : [];
  if (columns.length) return table(all, columns);
  const list = make("dl", "values");
  all.forEach((member, i) => {
    const name = isArray ? make("span", "soft", String(i + 1)) : said(member.name);
    const long = member.name.length > LONG_NAME || !member.value;
    list.append(make("div", long ? "long" : "", make("dt", "", name), make("dd", "", ...member.value ? shown(member.value) : [members(member.members)])));
  });
  return list;
}
function columnsOf(rows) {
  const widths = /* @__PURE__ */ new Map();
  for (const row of rows) {
    if (!row.members.length || new Set(row.members.map(({ name }) => name)).size < row.members.length) return [];
    for (const { name, value } of row.members) {
      if (!value || value.cut || value.value.length > 3 * MAX_COLUMN) return [];
      widths.set(name, Math.max(widths.get(name) ?? name.length, Math.min(value.value.length, MAX_COLUMN)));
    }
  }
  const all = [...widths.values()];
  return all.reduce((sum, width) => sum + width + 2, 0) <= MAX_TABLE ? [...widths.keys()] : [];
}
function table(rows, columns) {
  const row = (role, ...cells) => withRole("row", ...cells.map((parts) => withRole(role, ...parts)));
  const body = rows.map(({ members: cells }, i) => {
    const of = (name) => cells.find((member) => member.name === name)?.value;
    return row("cell", [make("span", "soft", String(i + 1))], ...columns.map((name) => {
      const value = of(name);
      return value ? shown(value) : [make("span", "soft", "–")];
    }));
  });
  const made = withRole("table", row("columnheader", [], ...columns.map((name) => [said(name)])), ...body);
  made.className = "rows";
  made.style.gridTemplateColumns = `max-content repeat(${columns.length}, auto)`;
  return made;
}
function withRole(role, ...children) {
  const made = make("div", "", ...children);
  made.role = role;
  return made;
}
function shown({ value, cut }) {
  if (!value) return [make("span", "soft", "empty")];
  const text = said(value);
  const parts = [text];
  if (value.length > LONG_VALUE) parts.push(unfolder(text, value.length));
  if (cut) parts.push(make("p", "bad", `${cut.toLocaleString("en")} characters in the middle are left out.`));
  return parts;
}
function unfolder(text, length) {
  const button = make("button", "unfold");
  button.type = "button";
  const label = () => button.textContent = text.classList.contains("folded") ? `Show all ${length.toLocaleString("en")} characters` : "Show less";
  button.addEventListener("click", () => {
    text.classList.toggle("folded");
    label();
  });
  text.classList.add("folded");
  label();
  return button;
}
function change({ what, was, is, added, removed }) {
  const [before, after] = differ(was, is);
  const line = (tag, sign, parts) => make("div", tag === "del" ? "was" : "is", make("span", "soft", sign), make("span", "said foreign", ...parts));
  const lines = [];
  if (!added) lines.push(line("del", "was", before));
  if (!removed) lines.push(line("ins", added ? "" : "is", after));
  return make("div", "change", make("span", "soft", `${added ? "Added" : removed ? "Removed" : "Changed"} `), said(what), ...lines);
}
function differ(was, is) {
  const [a, b] = [[...was], [...is]];
  let head = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const marked = (text, tag) => {
    const end = text.length - tail;
    return [text.slice(0, head).join(""), make(tag, "", text.slice(head, end).join("")), text.slice(end).join("")];
  };
  return [marked(a, "del"), marked(b, "ins")];
}

// ask.ts
var id = decodeURIComponent(location.search.slice(1));
var question = byID("question");
var yes = byID("yes", HTMLButtonElement);
var code = make("input", "code");
var LEAVE = 1e4;
var MIN_HEIGHT = 320;
var closing;
var read = false;
var reach = reachChoice({ reaches: [] });
var until = Infinity;
var seen = new IntersectionObserver((entries) => {
  read ||= entries.some(({ isIntersecting }) => isIntersecting);
  if (!read) byID("more").hidden = false;
  byID("more").classList.toggle("over", read);
});
var guard = new Guard(() => answer("no"));
guard.add(byID("no", HTMLButtonElement), () => answer("no"));
guard.add(byID("never", HTMLButtonElement), () => answer("never"));
guard.add(yes, () => answer(reach.value), () => read && (!code.isConnected || code.value.trim() !== ""));
async function answer(reach2) {
  await ask({ ask: "answer", id, answer: { reach: reach2, ...code.isConnected && { code: code.value.trim() } } });
}
async function show() {
  const view = await ask({ ask: "question", id });
  if (!view) {
    over();
    return;
  }
  clearTimeout(closing);
  closing = void 0;
  until = view.until;
  const { ask: asked, waiting, gone = false } = view;
  byID("waiting").textContent = waiting ? `Waiting after this one: ${waiting}` : "";
  if (byID("gone").hidden === gone) guard.disturb();
  byID("gone").hidden = !gone;
  byID("gone").textContent = gone ? "The app no longer waits for this. If you allow it, it is done once, when the app asks again, with what the page then shows." : "";
  if (question.childElementCount) return;
  guard.disturb();
  const signIn = asked.kind === "signIn";
  byID("headline").replaceChildren(make("span", "", ...sentence(asked)));
  byID("facts").replaceChildren(...facts(asked));
  const end = make("div", "");
  question.append(...signIn ? [codeField()] : details(asked, "h2"), end);
  byID("never", HTMLButtonElement).hidden = !asked.reaches.includes("never");
  reach = reachChoice(asked);
  byID("reach").replaceChildren(reach);
  yes.textContent = reach.hidden && reach.value === "once" ? "Allow once" : "Allow";
  byID("answers").hidden = false;
  await fit(end);
  (signIn ? code : question).focus();
  seen.observe(end);
}
async function fit(end) {
  const hidden = end.getBoundingClientRect().bottom + 14 - question.getBoundingClientRect().bottom;
  const { id: id2, top = 0, height = outerHeight } = await chrome.windows.getCurrent();
  const { availTop = 0, availHeight } = screen;
  const wanted = Math.round(Math.min(Math.max(height + hidden, MIN_HEIGHT), availHeight));
  if (id2 === void 0 || wanted === height) return;
  await chrome.windows.update(id2, { height: wanted, top: Math.max(availTop, Math.min(top, availTop + availHeight - wanted)) });
}
function codeField() {
  code.autocomplete = "off";
  code.spellcheck = false;
  code.maxLength = 32;
  const hint = "Type the number that the page shows from which you sign in. If you have opened no such page, don’t allow it.";
  return make("label", "", make("h2", "soft", "Number"), code, make("p", "soft", hint));
}
function over() {
  closing ??= setTimeout(() => window.close(), LEAVE);
  const expired = Date.now() >= until;
  byID("headline").textContent = expired ? "Time is up: it was not done" : "This is no longer asked";
  const later = expired && !code.isConnected ? "For a day you can still allow it on the dashboard. " : "";
  byID("waiting").textContent = `${later}This window closes in a moment.`;
  for (const part of [question, byID("facts")]) part.replaceChildren();
  byID("gone").hidden = true;
  byID("answers").hidden = true;
}
chrome.storage.session.onChanged.addListener(({ questions }) => {
  if (questions) void show();
});
await show();
