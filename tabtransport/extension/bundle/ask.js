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
  }
  /** What the window shows is another, or the window is. */
  disturb() {
    this.#disturbed = performance.now();
    this.#pressed = null;
    this.#keyboard = false;
    for (const button of this.#buttons.keys()) button.disabled = true;
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
  destructive: { word: "destructive", sentence: "It may do what cannot be undone." }
};

// ask.ts
var id = decodeURIComponent(location.search.slice(1));
var question = byID("question");
var reaches = byID("reaches", HTMLFieldSetElement);
var yes = byID("yes", HTMLButtonElement);
var code = make("input", "said");
var REACHES = {
  once: ["This once", "Allow once"],
  session: ["Until this session of the app ends", "Allow for now"],
  app: ["Always for this app", "Always allow"],
  always: ["Always, for every app", "Always allow for all"]
};
var KINDS = { tool: "Tool", resource: "Resource", prompt: "Prompt" };
var LEAVE = 1e4;
var closing;
var read = false;
var reach = "once";
var until = Infinity;
var seen = new IntersectionObserver((entries) => {
  read ||= entries.some(({ isIntersecting }) => isIntersecting);
  byID("more").hidden = read;
});
var guard = new Guard(() => answer("no"));
guard.add(byID("no", HTMLButtonElement), () => answer("no"));
guard.add(byID("never", HTMLButtonElement), () => answer("never"));
guard.add(yes, () => answer(reach), () => read && (!code.isConnected || code.value.trim() !== ""));
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
  byID("waiting").textContent = view.waiting ? `Waiting after this one: ${view.waiting}` : "";
  if (question.childElementCount) return;
  guard.disturb();
  const { ask: asked } = view;
  const signIn = asked.kind === "signIn";
  byID("headline").textContent = signIn ? "May an app use your hub?" : "May an app do this?";
  byID("why").replaceChildren(...asked.why.map((sentence) => make("p", "wide", sentence)));
  const end = make("div", "");
  question.append(...signIn ? aboutSignIn(asked) : aboutCall(asked), end);
  seen.observe(end);
  byID("never", HTMLButtonElement).hidden = !asked.reaches.includes("never");
  const offered = asked.reaches.filter((name) => Object.hasOwn(REACHES, name));
  choose(offered[0], signIn ? "Allow" : void 0);
  reaches.replaceChildren(make("legend", "", "If you allow it"), ...offered.map((name, i) => choice(name, i === 0)));
  reaches.hidden = offered.length < 2;
  byID("answers").hidden = false;
}
function choose(chosen, label = REACHES[chosen]?.[1] ?? "Allow") {
  reach = chosen;
  yes.textContent = label;
}
function choice(name, first) {
  const box = make("input", "");
  box.type = "radio";
  box.name = "reach";
  box.checked = first;
  box.addEventListener("change", () => choose(name));
  return make("label", "", box, ` ${REACHES[name][0]}`);
}
function aboutSignIn({ client }) {
  code.autocomplete = "off";
  code.spellcheck = false;
  code.maxLength = 32;
  code.setAttribute("aria-label", "Code");
  return [
    part("App", ...who(client)),
    part("Leads to", said("origin", client.return || "nowhere")),
    part("Code", code, make("p", "soft", "Type the code that the page shows from which you sign in. If you have opened no such page, don’t allow it."))
  ];
}
function aboutCall({ client, site, tool, args = [], changes = [] }) {
  const parts = [part("App", ...who(client)), part("Site", ...where(site))];
  if (tool) {
    const title = tool.title && tool.title !== tool.name ? [" ", said("", tool.title)] : [];
    const kind = KINDS[tool.kind ?? ""] ?? "tabhub’s tool";
    parts.push(part(kind, said("name", tool.name), ...title, make("p", tool.class === "destructive" ? "bad" : "", (CLASSES[tool.class] ?? CLASSES.write).sentence)));
  }
  if (changes.length) parts.push(block("Changed since you allowed it", ...changes.map(change)));
  if (tool) parts.push(block("What it is given", args.length ? table(args) : make("p", "soft", "Nothing")));
  return parts;
}
function part(title, ...children) {
  return make("section", "part", make("h2", "soft", title), make("div", "", ...children));
}
function block(title, ...children) {
  return make("section", "", make("h2", "soft", title), ...children);
}
function said(className, ...text) {
  return make("span", `said wide ${className}`, ...text);
}
function who({ name, said: calls }) {
  return [said("name", name), ...calls && calls !== name ? [make("p", "soft", "It calls itself ", said("", calls))] : []];
}
function where(site) {
  if (!site) return [make("p", "", "None: it is about the hub itself.")];
  if (site.any) return [make("p", "bad", "Any: it may reach every site that is open in this browser.")];
  const parts = [said("origin", site.origin)];
  if (!site.verified) parts.push(make("p", "bad", "Not verified: no browser has vouched that this is the site."));
  if (site.top) parts.push(make("p", "", "In a page of ", said("", site.top)));
  return parts;
}
function table(args) {
  return make("table", "", ...args.map(({ name, value, cut }) => {
    const left = cut ? [make("p", "bad", `${cut.toLocaleString("en")} characters in the middle are left out.`)] : [];
    return make("tr", "", make("th", "", said("", name)), make("td", "", said("", value), ...left));
  }));
}
function change({ what, was, is }) {
  const [before, after] = differ(was, is);
  return make("div", "change", said("", what), make("span", "soft", " was"), said("text", ...before), make("span", "soft", "and is"), said("text", ...after));
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
function over() {
  closing ??= setTimeout(() => window.close(), LEAVE);
  byID("headline").textContent = Date.now() >= until ? "Time is up: it was not allowed" : "This is no longer asked";
  byID("waiting").textContent = "This window closes in a moment.";
  for (const part2 of [question, byID("why")]) part2.replaceChildren();
  byID("answers").hidden = true;
}
chrome.storage.session.onChanged.addListener(({ questions }) => {
  if (questions) void show();
});
await show();
