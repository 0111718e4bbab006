var __defProp = Object.defineProperty;
var __export = (target, all2) => {
  for (var name2 in all2)
    __defProp(target, name2, { get: all2[name2], enumerable: true });
};

// clients.ts
var clients_exports = {};
__export(clients_exports, {
  KINDS: () => KINDS,
  OTHERS: () => OTHERS,
  browsersOf: () => browsersOf,
  onlyIn: () => onlyIn,
  view: () => view
});

// ../../../../tabtransport/extension/states.ts
var STATES = {
  // The browser and the hub.
  connected: ["Connected", "good", ""],
  connecting: ["Connecting…", "good", ""],
  working: ["At work", "good", ""],
  waiting: ["Waiting for you", "wait", ""],
  paused: ["Paused", "wait", "II"],
  absent: ["The hub is not running", "off", "off"],
  unpaired: ["Not paired with the hub", "bad", "!"],
  unproved: ["Not your hub", "bad", "!"],
  outdated: ["The hub is older than the extension", "bad", "!"],
  refused: ["The hub refused this browser", "bad", "!"],
  replaced: ["Another browser took this one’s place", "bad", "!"],
  // Tabs, clients and what they have called.
  active: ["Active", "good"],
  ok: ["Ok", "good"],
  changing: ["Changing page", "wait"],
  dialog: ["Has a dialog open", "wait"],
  inUse: ["In use by you", "wait"],
  away: ["Away", "bad"],
  missing: ["Not there", "bad"],
  open: ["Open", "off"],
  asleep: ["Asleep", "off"],
  cached: ["Cached", "off"],
  closed: ["Closed", "off"]
};

// ../../../../tabtransport/extension/elements.ts
function byID(id, type) {
  const found2 = document.getElementById(id);
  if (!(found2 instanceof (type ?? HTMLElement))) throw new Error(`the page has no ${type?.name ?? ""}#${id}`);
  return found2;
}
function make(tag, className, ...children) {
  const made2 = document.createElement(tag);
  if (className) made2.className = className;
  made2.append(...children.map((child) => typeof child === "string" ? inOrder(child) : child));
  return made2;
}
var inOrder = (text3) => text3.replace(/[\u202a-\u202e\u2066-\u2069]/g, (turn) => `\\u${turn.charCodeAt(0).toString(16)}`);

// ../../../../tabtransport/extension/words.ts
var CLASSES = {
  read: { word: "reads", sentence: "It says that it only reads." },
  write: { word: "changes", sentence: "It may change something." },
  act: { word: "acts", sentence: "It acts on the page as you would; nobody has said what that changes." },
  destructive: { word: "destructive", sentence: "It may do what cannot be undone." }
};
var duration = (ms) => ms < 0.1 ? "< 0.1 ms" : ms < 1e3 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1e3).toFixed(ms < 1e5 ? 1 : 0)} s`;
var waitsForYou = (holder) => `${holder} waits for you to finish`;

// steps.ts
var CAUSES = ["request", "question", "answer", "decision", "begun", "sent", "task", "end", "repeated"];
function stepsOf(lines2) {
  const own2 = lines2.find(({ event }) => isCall(event));
  const answered = lines2.some(({ event, call, reach }) => event === "ask" && call === own2?.call && reach);
  const isOf = ({ event, call, reach }) => !own2 || event !== "ask" || call === own2.call || !answered && (!call || reach);
  const all2 = lines2.filter(isOf).flatMap((l) => stepsIn(l, own2?.time));
  const rank = ({ is }) => CAUSES.indexOf(is);
  const steps = all2.filter(({ at }) => at !== void 0).sort((a, b) => Number(a.at - b.at) || rank(a) - rank(b));
  if (own2) inChain(steps, rank, own2);
  for (const step of all2.filter(({ at }) => at === void 0).sort((a, b) => rank(a) - rank(b))) {
    steps.splice(steps.findLastIndex((s) => rank(s) <= rank(step)) + 1, 0, step);
  }
  const first2 = ({ line: line3 }) => steps.find(({ is, line: l }) => is === "question" && l.question === line3.question)?.line;
  return steps.filter((s) => s.is !== "question" || !s.line.question || first2(s) === s.line);
}
function inChain(steps, rank, { call, by }) {
  const isLink = ({ is, line: line3 }) => line3.call === call && is !== "task" && is !== "repeated" && (line3.event !== "ask" || by);
  const places = [...steps.keys()].filter((i) => isLink(steps[i]));
  const link3 = (step) => step.is === "answer" ? CAUSES.indexOf("question") : rank(step);
  const chain = places.map((i) => steps[i]).sort((a, b) => link3(a) - link3(b) || a.line.n - b.line.n || rank(a) - rank(b));
  for (const [i, at] of places.entries()) steps[at] = chain[i];
}
var isCall = (event) => !["ask", "begun", "task", "repeated"].includes(event);
function stepsIn(line3, requested) {
  const { event, asked: asked3 = 0, decided: decided3, sent, duration: duration2, decision: decision2, by, reach, tab, outcome } = line3;
  const time = nanoseconds(line3.time);
  const after = (ns) => ns ? time + BigInt(ns) : void 0;
  if (event === "ask") return [{ is: "question", at: time - BigInt(asked3), line: line3 }, { is: "answer", at: time, line: line3 }];
  if (event === "begun") return [{ is: event, at: line3.time === requested ? void 0 : time, line: line3 }];
  if (event === "task" || event === "repeated") return [{ is: event, at: time, line: line3 }];
  const steps = [{ is: "request", at: time, line: line3 }];
  const isDecided = decided3 || decision2 && (decision2 !== "ask" || by || reach);
  if (isDecided) steps.push({ is: "decision", at: after(decided3), line: line3 });
  const wasSent = isDecided && !decided3 && tab && decision2 !== "deny" && outcome !== "DENIED";
  if (sent || wasSent) steps.push({ is: "sent", at: after(sent), line: line3 });
  steps.push({ is: "end", at: time + BigInt(duration2), line: line3 });
  return steps;
}
function nanoseconds(time) {
  const [, fraction = ""] = /\.(\d+)/.exec(time) ?? [];
  return BigInt(Date.parse(time.replace(/\.\d+/, ""))) * 1000000n + BigInt(fraction.padEnd(9, "0"));
}
var tookOf = ({ duration: duration2, asked: asked3 = 0 }) => ({ took: duration2 - asked3, you: asked3 });

// dom.ts
var ROWS = 200;
var address = document.body.dataset.base || new URL(".", location.href).href.replace(/\/$/, "");
function showAddress(within) {
  for (const place of within.querySelectorAll(".base")) place.textContent = address;
  for (const to of within.querySelectorAll("a.demo")) to.href = `${address}/demo`;
}
function fill(into, template) {
  const place = byID(into);
  place.replaceChildren(document.importNode(byID(template, HTMLTemplateElement).content, true));
  showAddress(place);
}
function chip(state, word2) {
  const [name2, look] = STATES[state];
  return make("span", `chip ${look}`, word2 ?? name2[0].toLowerCase() + name2.slice(1));
}
var problem = (word2) => make("span", "chip bad", word2);
var outcomeChip = (outcome) => outcome === "ok" ? chip("ok") : problem(outcome);
var row = (...cells) => make("tr", "", ...cells.map((c) => make("td", "", ...[c].flat().filter((part) => typeof part === "string" || part.textContent))));
function link(view7, args2, ...children) {
  const made2 = document.createElement("a");
  made2.href = `#${view7}?${new URLSearchParams(args2)}`;
  made2.append(...children);
  return made2;
}
var foreign = (text3, className = "") => make("span", "foreign " + className, text3);
var number = (n) => make("span", "number", n.toLocaleString("en"));
function when(time, day = false) {
  const at = new Date(time);
  if (day) return at.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
  const today = at.toDateString() === (/* @__PURE__ */ new Date()).toDateString();
  return today ? at.toLocaleTimeString("en-GB") : at.toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}
var took = (nanoseconds2) => duration(nanoseconds2 / 1e6);
function tookWords(call) {
  const { took: itself, you } = tookOf(call);
  return took(itself) + (you ? ` · you took ${took(you)}` : "");
}
var factsOf = (facts4) => make("dl", "facts", ...facts4.flatMap(([name2, ...value]) => [make("dt", "", name2), make("dd", "", ...value)]));
function showPairs(id, pairs) {
  byID(id).replaceChildren(...pairs.map(([name2, value, look = ""]) => make("div", "", make("dt", "", name2), make("dd", look, value))));
}
function list(body, around, rows2) {
  const nameOf2 = (e) => e.getAttribute("aria-label") ?? e.getAttribute("href");
  const focused = document.activeElement && body.contains(document.activeElement) && nameOf2(document.activeElement);
  for (const made2 of rows2) labelled(body, made2);
  body.replaceChildren(...rows2.slice(0, ROWS));
  if (focused) [...body.querySelectorAll("[aria-label], [href]")].find((e) => nameOf2(e) === focused)?.focus();
  const outer = body.closest(around);
  outer.hidden = rows2.length === 0;
}
function button(label, name2, act) {
  const made2 = document.createElement("button");
  made2.type = "button";
  made2.textContent = label;
  made2.ariaLabel = name2;
  made2.addEventListener("click", () => void tell(made2, act));
  return made2;
}
function copier(label, text3, name2 = label) {
  return button(label, name2, async () => {
    const copied2 = text3();
    if (copied2 === void 0) return;
    await navigator.clipboard.writeText(copied2);
    return "Copied.";
  });
}
function labelled(body, row2) {
  const columns = body.closest("table")?.tHead?.rows[0].cells ?? [];
  [...columns].forEach((th, i) => row2.children[i]?.setAttribute("data-column", th.textContent ?? ""));
}
var AGAIN = 5e3;
var giveUp = () => {
};
var decided = Promise.resolve();
var released = Promise.resolve();
addEventListener("pointerdown", () => {
  released = new Promise((done) => {
    for (const type of ["pointerup", "pointercancel"]) addEventListener(type, () => setTimeout(done), { once: true });
  });
}, true);
async function untilDecided() {
  for (let was; was !== decided; await released) await (was = decided);
}
var undecided = () => giveUp();
function twice(label, name2, act) {
  const made2 = button(label, name2, async () => {
    if (giveUp === back3) {
      back3();
      return act();
    }
    giveUp();
    giveUp = back3;
    decided = new Promise((done) => settle = done);
    made2.textContent = `${label}?`;
    made2.ariaLabel = `Really ${name2[0].toLowerCase()}${name2.slice(1)}? Press again`;
    timer2 = setTimeout(back3, AGAIN);
    return "Press it again within five seconds to do it.";
  });
  let timer2;
  let settle = () => {
  };
  const back3 = () => {
    if (giveUp !== back3) return;
    giveUp = () => {
    };
    clearTimeout(timer2);
    made2.textContent = label;
    made2.ariaLabel = name2;
    settle();
  };
  made2.className = "writes";
  return made2;
}
var ACTED = "acted";
async function tell(within, act) {
  const answer = within.closest("form")?.querySelector(".answer");
  let words3, failed2 = false;
  try {
    words3 = await act();
  } catch (err) {
    failed2 = true;
    words3 = err instanceof Error && err.message ? `Not done: ${err.message}` : "Not done: the hub does not answer";
  }
  dispatchEvent(new Event(ACTED));
  const said3 = typeof words3 === "string" ? words3 : "";
  if (answer) answer.textContent = said3;
  else if (said3) toast(said3, failed2);
}
var TOAST = 6e3;
function toast(words3, failed2 = false) {
  const close = document.createElement("button");
  close.type = "button";
  close.textContent = "×";
  close.ariaLabel = "Dismiss";
  const made2 = make("div", failed2 ? "toast failed" : "toast", foreign(words3), close);
  close.addEventListener("click", () => made2.remove());
  if (!failed2) setTimeout(() => made2.remove(), TOAST);
  byID("toasts").append(made2);
}

// lines.ts
async function* lines({ body }) {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let line3 = [];
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const [rest, ...more2] = part.value.split("\n");
      line3.push(rest);
      for (const next2 of more2) {
        yield line3.join("");
        line3 = [next2];
      }
    }
  } finally {
    await reader.cancel();
  }
}

// session.ts
var KEY = "tabhub.session";
var TYPES = ["application/json", "text/event-stream", "application/jsonl"];
var SignedOut = class extends Error {
};
var Refused = class extends Error {
};
var Changed = class extends Error {
};
function stored() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}
var session = stored();
var leave = new AbortController();
function keep(to) {
  session = to;
  leave.abort(new Changed());
  leave = new AbortController();
  try {
    if (to === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, to);
  } catch {
  }
}
var signedIn = () => session !== null;
function send(method, path, bearer, body, signal, accept = "application/json") {
  const headers = new Headers({ Accept: accept });
  if (bearer !== null) headers.set("Authorization", `Bearer ${bearer}`);
  if (body !== void 0) headers.set("Content-Type", "application/json");
  return fetch(path, {
    method,
    headers,
    body: body && JSON.stringify(body),
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    referrerPolicy: "no-referrer",
    signal
  });
}
var reasonOf = (response, answer) => typeof answer?.error === "string" ? answer.error : `the hub answers ${response.status}`;
async function signIn(proof) {
  const response = "code" in proof ? await send("POST", "api/session", null, { code: proof.code }) : await send("POST", "api/session", proof.token);
  const given2 = await response.json().catch(() => null);
  if (!response.ok) throw new Refused(reasonOf(response, given2));
  if (typeof given2?.session !== "string") throw new Refused("what answers here is no hub");
  keep(given2.session);
  writes = until(given2);
}
async function signOut() {
  const last = session;
  keep(null);
  if (last !== null) await send("DELETE", "api/session", last);
}
var ask = async (method, path, body, signal) => (await exchange(method, path, body, signal)).answer;
async function find(path) {
  const { answer, headers } = await exchange("GET", path);
  return { part: answer, found: Number(headers.get("Tabhub-Total")) };
}
async function exchange(method, path, body, signal) {
  const mine = session;
  const response = await sendMine(method, path, body, signal);
  const answer = await response.json();
  if (method === "GET") await untilDecided();
  if (session !== mine) throw new Changed();
  if (!response.ok) throw new Refused(reasonOf(response, answer));
  return { answer, headers: response.headers };
}
async function sendMine(method, path, body, signal, accept) {
  const mine = session;
  const response = await send(method, path, mine, body, signal, accept);
  if (session !== mine) throw new Changed();
  const type = response.headers.get("Content-Type") ?? "";
  if (response.status === 401 || !TYPES.includes(type)) {
    keep(null);
    throw new SignedOut();
  }
  return response;
}
async function file(path) {
  const response = await sendMine("GET", path);
  if (!response.ok) throw new Refused(reasonOf(response, await response.json()));
  return response.blob();
}
var left = () => leave.signal;
async function* events(path, body, signal = leave.signal, heard) {
  const response = await sendMine(body ? "POST" : "GET", path, body, AbortSignal.any([signal, leave.signal]), "text/event-stream");
  if (!response.ok) throw new Refused(reasonOf(response, await response.json()));
  for await (const line3 of lines(response)) {
    heard?.();
    if (line3.startsWith("data: ")) yield JSON.parse(line3.slice(6));
  }
}
var writes = 0;
var mayWrite = () => session !== null && Date.now() < writes;
async function stay() {
  const answer = await ask("PUT", "api/session").catch((err) => {
    if (!(err instanceof Refused)) throw err;
  });
  writes = until(answer);
}
var until = (report) => report?.writes ? Date.parse(report.writes) : 0;

// names.ts
var names = /* @__PURE__ */ new Map();
var nameOf = (id) => names.get(id) ?? id;
async function loadNames() {
  const clients = await ask("GET", "api/clients");
  names.clear();
  for (const { id, name: name2 } of clients) names.set(id, name2);
  byID("client-names").replaceChildren(...["owner", "token", "unnamed", ...names.values()].map((name2) => new Option("", name2)));
}

// offers.ts
var mark = (look, word2) => make("span", `mark ${look}`, word2);
var addressOf = ({ addr }) => `${addr.peer}/${addr.tab}`;
var OPEN = ["tool", "tab", "resource", "prompt"];
var opens = (kind, name2) => Object.fromEntries(OPEN.map((other) => [other, other === kind ? name2 : ""]));
function linkTo(args2, to) {
  const next2 = new URLSearchParams(args2);
  for (const [name2, value] of Object.entries(to)) {
    if (value) next2.set(name2, value);
    else next2.delete(name2);
  }
  return next2.size ? `#tabs?${next2}` : "#tabs";
}
function link2(args2, to, ...words3) {
  const made2 = document.createElement("a");
  made2.append(...words3);
  made2.dataset.focus = OPEN.some((name2) => to[name2]) ? "open-title" : "search";
  lead(made2, args2, to);
  return made2;
}
function lead(made2, args2, to) {
  made2.href = linkTo(args2, to);
  made2.dataset.to = JSON.stringify(to);
}
var madeOf = /* @__PURE__ */ new WeakMap();
function showParts(into, of, make3) {
  const text3 = JSON.stringify(of);
  if (madeOf.get(into) === text3) return;
  madeOf.set(into, text3);
  const focused = into.contains(document.activeElement) && document.activeElement.dataset.to;
  into.replaceChildren(...make3());
  if (focused) [...into.querySelectorAll("a")].find((a) => a.dataset.to === focused)?.focus();
}
function heading(words3) {
  const made2 = make("h2", "", words3);
  made2.id = "open-title";
  made2.tabIndex = -1;
  return made2;
}
var gone = (words3, name2) => [heading(words3), make("p", "", foreign(name2, "code")), make("p", "soft", "Open the page that offers it again, or look for another.")];
function definitionOf(definition) {
  const text3 = JSON.stringify(definition, null, 2);
  const shown6 = make("pre", "said", text3);
  shown6.tabIndex = 0;
  return make("details", "", make("summary", "", "The definition as clients get it"), shown6, copier("Copy the definition", () => text3));
}
var withoutLabel = (description = "") => description.replace(/^\[[^\]]*\] /, "");
function stateOf(tab) {
  if (!tab.connected) return chip("away");
  if (tab.waiting) return chip("waiting");
  if (tab.inUse) return chip("inUse");
  if (tab.dialog) return chip("dialog", tab.dialog.type === "unknown" ? "does not answer" : "has a dialog open");
  if (tab.discarded) return chip("asleep");
  if (tab.domains?.some(({ departed }) => departed)) return chip("changing");
  return chip(tab.focused ? "active" : "open");
}
var LISTED_OTHERWISE = "for clients, ";
var listedOtherwise = ({ reason }) => reason.startsWith(LISTED_OTHERWISE);

// agents.ts
var TABS = 6;
async function showAgents(pages6, of) {
  const query2 = of.session ? of : { ...of, tabs: String(TABS) };
  const { part, found: found2 } = await pages6.find("api/lease", query2);
  list(byID("agents"), "table", part.map(agentRow));
  byID("agent-count").textContent = found2 ? found2.toLocaleString("en") : "";
  byID("no-agents").hidden = found2 > 0;
}
function agentRow({ session: session2, client: client2, label, connected: connected2, lastUsed, tabs, allTabs }) {
  const shown6 = tabs.map((tab) => make("li", "", ...partsOf(tab)));
  const more2 = allTabs - tabs.length;
  if (more2 > 0) shown6.push(make("li", "", link("clients", { client: client2, agent: session2 }, `and ${more2} more`)));
  return row(
    [link("clients", { client: client2 }, foreign(label || nameOf(client2))), make("span", "soft below", session2)],
    connected2 ? chip("connected") : chip("closed", "not connected"),
    make("span", "number", when(lastUsed)),
    shown6.length ? make("ul", "plain", ...shown6) : make("span", "soft", "none yet")
  );
}
function partsOf({ addr, tab, url, title, keeps, opened: opened2, holds, inUse, waiting: waiting2 }) {
  const words3 = [url && hostOf(url), keeps && !holds && "its calls go there", opened2 && "opened by it"].filter(Boolean);
  const parts3 = [link("tabs", { tab: `${addr.peer}/${addr.tab}` }, foreign(title || url || `tab ${tab}`))];
  if (waiting2 || inUse) parts3.push(" ", stateOf({ waiting: waiting2, inUse, connected: true }));
  if (holds) parts3.push(" ", release(tab, title || tab), make("span", "below", "leases it ", ...termsOf(holds)));
  if (words3.length) parts3.push(foreign(words3.join(" · "), "soft below"));
  return parts3;
}
var hostOf = (url) => URL.canParse(url) ? new URL(url).host || url : url;
var termsOf = ({ name: name2, until: until2, reads }) => ["as ", foreign(name2), ` until ${when(until2)}, or longer if it works there`, reads ? "; others may read" : ""];
function release(tab, name2) {
  const made2 = button("Release", `Release tab ${tab}: ${name2}`, async () => {
    const was = await ask("DELETE", `api/lease?${new URLSearchParams({ tab })}`);
    return `${was.name} no longer leases the tab. It is not notified, and may claim the tab again.`;
  });
  made2.classList.add("writes");
  return made2;
}

// rule.ts
var LOOKS = { allow: "good", ask: "wait", deny: "bad" };
var MAKERS = { preset: "the mode", file: "the policy file", window: "you, when asked", dashboard: "you, here", command: "you, by command", client: "you, in the client" };
var decision = (effect) => make("span", `chip ${LOOKS[effect] ?? "off"}`, effect);
function showRules(body, rules) {
  list(byID(body), "table", rules.map(ruleRow));
  byID("no-rules").hidden = rules.length > 0;
}
function ruleRow(rule) {
  const { id, effect, client: client2, session: session2, site: site2, tool, pack, class: of, pin, late, from, until: until2, by = "", note } = rule;
  const what = [from && `values of ${from}`, tool, pack && (pack === "*" ? "of packs" : `of the pack ${pack}`), of, late && "that came late", pin && "as it was described"].filter(Boolean).join(" · ");
  const words3 = [foreign(what || "anything")];
  if (note) words3.push(foreign(note, "title soft"));
  return row(
    decision(effect),
    foreign(client2 ? nameOf(client2) + (session2 ? ", one session" : "") : "any"),
    foreign(site2 ?? "any"),
    words3,
    until2 ? make("span", "number", `until ${when(until2)}`) : "",
    MAKERS[by] ?? by,
    isOwn(rule) ? twice("Remove", `Remove rule ${id}`, () => removeRule(rule)) : ""
  );
}
var isOwn = ({ by }) => by !== "preset" && by !== "file";
var removeRule = ({ id }) => ask("DELETE", `api/policy/rule?id=${encodeURIComponent(id)}`);
function asked(form) {
  const said3 = [...new FormData(form)].filter(([, value]) => typeof value === "string" && value.trim() !== "");
  return Object.fromEntries(said3.map(([name2, value]) => [name2, value.trim()]));
}
async function makeRule(rule) {
  const { rule: made2, exceptions } = await ask("POST", "api/policy/rule", rule);
  const except = exceptions.length ? ` Other rules decide otherwise in a part of it: ${exceptions.map(({ id }) => id).join(", ")}.` : "";
  return `Rule ${made2.id} holds.${except}`;
}
function openRuleForm(subject) {
  const form = byID("rule-form", HTMLFormElement);
  for (const [name2, value] of Object.entries(subject)) form.elements.namedItem(name2).defaultValue = value;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void tell(form, async () => {
      const { hours, ...rule } = asked(form);
      const until2 = hours && { until: new Date(Date.now() + Number(hours) * 36e5).toISOString() };
      const words3 = await makeRule({ ...rule, ...until2 });
      form.reset();
      return words3;
    });
  });
  byID("test").addEventListener(
    "click",
    () => tell(form, async () => {
      const action = new URLSearchParams(asked(form));
      for (const name2 of ["effect", "hours"]) action.delete(name2);
      const { effect, words: words3 } = await ask("GET", `api/policy/test?${action}`);
      return `Now: ${effect}. ${words3}.`;
    })
  );
}

// about.ts
function follow({ entries }, { site: site2, client: client2 }, refresh3) {
  if (entries?.some((e) => e.event === "call" && (site2 === void 0 || e.domain === site2) && (client2 === void 0 || e.client === client2))) refresh3(["record"]);
}
function openAbout(subject) {
  fill("about", "about-parts");
  openRuleForm(subject);
  byID("in-record", HTMLAnchorElement).href = `#record?${query(subject)}`;
}
var query = (subject) => new URLSearchParams(subject);
async function updateAbout(changed, policy, subject) {
  showRules("rules", policy.rules.filter((rule) => names2(rule, subject)));
  if (!changed.has("record")) return;
  showCalls(await ask("GET", `api/log?${query(subject)}&event=call&limit=10`));
}
function names2(rule, { site: site2, client: client2 }) {
  if (client2) return rule.client === client2 || rule.client === nameOf(client2);
  return [rule.site, rule.from].some((of) => of === site2 || of?.startsWith("*.") && `.${site2}`.endsWith(of.slice(1)));
}
function showCalls(calls) {
  const rows2 = calls.map((l) => {
    const time = make("span", "number", when(l.time));
    return row(
      l.call ? link("record", { call: l.call }, time) : time,
      foreign([l.domain, l.tool].filter(Boolean).join(" · ")),
      clientLink(l.client, l.said),
      l.decision ? decision(l.decision) : "",
      outcomeChip(l.outcome)
    );
  });
  list(byID("calls"), "table", rows2);
  byID("no-calls").hidden = rows2.length > 0;
}
var siteLink = (site2) => link("sites", { site: site2 }, foreign(site2));
var clientLink = (client2 = "", said3 = "") => client2 ? link("clients", { client: client2 }, foreign(nameOf(client2))) : foreign(said3);
function showPauseOf(id, policy, subject, name2) {
  const made2 = byID(id, HTMLButtonElement);
  const paused = isPaused(policy, subject);
  made2.textContent = paused ? "Resume" : "Pause";
  made2.ariaLabel = `${made2.textContent} ${name2}`;
  made2.onclick = () => tell(made2, () => paused ? ask("DELETE", `api/pause?${query(subject)}`) : ask("POST", "api/pause", subject));
}
var isPaused = ({ pauses }, { site: site2 = "", client: client2 = "" }) => pauses.some((p) => (p.site ?? "") === site2 && (p.client === client2 || (p.client ?? "") === (client2 && nameOf(client2))));

// access.ts
async function showAccess(policy, of, pages6) {
  const { part, found: found2 } = await pages6.find("api/tools", { client: "any", ...of });
  list(byID("access"), "table", part.map((tool) => accessRow(tool, policy, of)));
  byID("no-access").hidden = found2 > 0;
  byID("tool-count").textContent = found2 ? found2.toLocaleString("en") : "";
}
function accessRow(tool, policy, { site: site2, client: client2 }) {
  const name2 = [link("tabs", { tool: tool.name }, foreign(tool.source || tool.name))];
  if (!site2 && tool.domain) name2.push(foreign(tool.domain, "soft below"));
  if (tool.tab) name2.push(make("span", "soft below", `tab ${tool.tab}`));
  if (tool.pack) name2.push(make("span", "soft below", `of the pack ${tool.pack}`));
  if (tool.cached) name2.push(chip("cached"));
  const state = [decision(tool.effect)];
  if (tool.changed) state.push(chip("waiting", "changed since you allowed it"));
  else if (tool.rule?.pin) state.push(make("span", "soft below", "as it was described"));
  return row(name2, tool.class, state, foreign(tool.words, "soft"), tool.domain ? ruleSelect(tool, policy, client2) : "");
}
function ruleSelect(tool, policy, client2) {
  const subject = { site: tool.domain, tool: tool.source, pack: tool.pack, client: client2 };
  const own2 = policy.rules.find(
    (r) => isOwn(r) && r.site === subject.site && r.tool === subject.tool && r.pack === subject.pack && (r.client ?? "") === (client2 ?? "") && !r.class && !r.from && !r.session && !r.late
  );
  const made2 = document.createElement("select");
  made2.className = "writes";
  made2.ariaLabel = `Your rule for ${tool.source}`;
  made2.append(new Option("none", ""), ...["allow", "ask", "deny"].map((effect) => new Option(effect)));
  made2.value = own2?.effect ?? "";
  made2.addEventListener(
    "change",
    () => tell(made2, async () => {
      if (made2.value === "") return own2 && removeRule(own2);
      return makeRule({ ...subject, effect: made2.value });
    })
  );
  return made2;
}

// pages.ts
var PAGE = 50;
var Pages = class {
  /** How many elements are before those that are shown. */
  offset = 0;
  #turned;
  #place;
  #before = button("Previous", "Previous page", () => this.turn(Math.max(0, this.offset - PAGE)));
  #words = make("span", "soft number");
  #after = button("Next", "Next page", () => this.turn(this.offset + PAGE));
  /**
   * @param turned has another page asked for
   * @param within selects the part of the view that has the buttons
   */
  constructor(turned, within = "#view") {
    this.#turned = turned;
    this.#place = document.querySelector(`${within} .pages`);
    this.#words.role = "status";
    this.#place.replaceChildren(this.#before, this.#words, this.#after);
    this.#place.hidden = true;
  }
  /** @param offset of the page to show; the first one, unless it is given */
  turn(offset = 0) {
    this.offset = offset;
    this.#turned(offset);
  }
  /**
   * Asks the hub for the page, and shows which it is.
   * @param path of the list
   */
  async find(path, query2) {
    const answer = await find(`${path}?${new URLSearchParams({ ...query2, offset: String(this.offset), limit: String(PAGE) })}`);
    this.#show(answer.found);
    return answer;
  }
  /** @param found how many elements there are */
  #show(found2) {
    if (this.offset >= Math.max(found2, 1)) return this.turn();
    const count2 = (n) => n.toLocaleString("en");
    const words3 = `${count2(this.offset + 1)}–${count2(Math.min(this.offset + PAGE, found2))} of ${count2(found2)}`;
    if (this.#words.textContent !== words3) this.#words.textContent = words3;
    this.#before.disabled = this.offset === 0;
    this.#after.disabled = this.offset + PAGE >= found2;
    this.#place.hidden = found2 <= PAGE;
  }
};

// client.ts
var client;
var agent;
var pages;
var agents;
function openClient(into, id, session2, refresh3) {
  [client, agent] = [id, session2];
  fill(into, "one-client");
  fill("agents-part", "agents-parts");
  byID("all-agents").hidden = !agent;
  byID("all-agents").append(link("clients", { client }, "All agents of the client"));
  agents = new Pages(() => refresh3(["tabs"]), "#agents-part");
  openAbout({ client });
  pages = new Pages(() => refresh3(["tabs"]), "#client-tools");
  const form = byID("tool-search", HTMLFormElement);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => pages.turn());
}
async function updateClient(changed) {
  const [clients, sessions, policy] = await Promise.all([ask("GET", "api/clients"), ask("GET", "api/sessions"), ask("GET", "api/policy")]);
  const known2 = clients.find(({ id }) => id === client);
  const mine = sessions.filter((s) => s.client === client);
  showClient(known2, mine, policy);
  await showAgents(agents, agent ? { client, session: agent } : { client });
  if (!known2 && !(client in OTHERS)) return;
  if (changed.has("tabs") || changed.has("policy") || changed.has("clients")) {
    await showAccess(policy, { client, shown: "", q: byID("tool-search", HTMLFormElement).q.value.trim() }, pages);
  }
  await updateAbout(changed, policy, { client });
}
function showClient(known2, sessions, policy) {
  const name2 = known2?.name ?? nameOf(client);
  byID("client-name").textContent = name2;
  const open2 = sessions.some(({ connected: connected2 }) => connected2);
  const states = [open2 ? chip("connected") : chip("closed", "not connected")];
  if (isPaused(policy, { client })) states.push(chip("paused"));
  if (!known2 && !(client in OTHERS)) states.push(problem("its access has ended"));
  byID("client-state").replaceChildren(...states);
  showPauseOf("client-pause", policy, { client }, name2);
  byID("client-end").replaceChildren(
    known2 ? twice("End its access", `End its access: ${name2}`, async () => {
      await ask("DELETE", `api/clients?client=${encodeURIComponent(client)}`);
      return `${name2} has no access any more.`;
    }) : ""
  );
  const facts4 = known2 ? [
    ["Credential", KINDS[known2.kind] ?? known2.kind],
    ["Made", when(known2.made)],
    ["Last used", known2.lastUsed ? when(known2.lastUsed) : "never"],
    ["Ends", known2.expires ? when(known2.expires) : "never"],
    ["Good for", known2.scope ? foreign([known2.scope.classes, known2.scope.sites, known2.scope.tools].flatMap((s) => s ?? []).join(", ") || "nothing") : "all that the policy allows"]
  ] : [["Credential", OTHERS[client] ?? "none any more"]];
  facts4.push(["Browsers", foreign(browsersOf(client, known2, policy) || "all")]);
  showPairs("credential", facts4);
  const rows2 = sessions.map(
    (s) => row(
      foreign([s.said || "without a name", s.version].filter(Boolean).join(" ")),
      s.connected ? chip("connected") : chip("closed", "has called lately"),
      [foreign(s.transport ?? ""), foreign(s.bound ? onlyIn(s.bound) : "", "below")],
      foreign(s.protocol ?? ""),
      make("span", "number", s.since ? when(s.since) : ""),
      number(s.calls),
      make("span", "number", s.last ? when(s.last) : "never")
    )
  );
  list(byID("sessions"), "table", rows2);
  byID("no-sessions").hidden = rows2.length > 0;
}

// connect.ts
function showConnect(all2) {
  byID("connect").replaceChildren(...all2.map(card));
}
function card({ title, after, start: start3, url, links: links2 = [] }) {
  const parts3 = [];
  if (links2.length) {
    parts3.push(make("p", "buttons", ...links2.map(({ title: program, href }) => {
      const made2 = document.createElement("a");
      made2.className = "button main";
      made2.href = href;
      made2.textContent = `Add to ${program}`;
      return made2;
    })));
  }
  if (start3?.line) parts3.push(copied(`Command for ${title}`, start3.entry ? "Run this; it gives the client a token of its own" : "It starts this", start3.line));
  if (start3?.entry) parts3.push(copied(`Entry for ${title}`, "Or put this into its configuration", start3.entry));
  if (url?.line) parts3.push(copied(`URL for ${title}`, url.entry ? "By URL, run this" : "By URL", url.line));
  if (url?.entry) parts3.push(copied(`Entry by URL for ${title}`, "Or put this into its configuration, to sign in by URL", url.entry));
  if (after) parts3.push(make("p", "soft", after));
  return make("details", "card", make("summary", "", title), ...parts3);
}
function copied(name2, words3, text3) {
  const copy = copier("Copy", () => text3, `Copy: ${name2}`);
  return make("div", "copied", make("div", "soft", words3), make("pre", "", text3.trimEnd()), copy);
}

// clients.ts
var KINDS = { entry: "in its configuration", token: "a token", oauth: "signed in by URL" };
var OTHERS = { owner: "your own commands", token: "the hub’s token", unnamed: "none: a program of your account" };
var PART = "clients-part";
var update;
var live;
var agents2;
var view = {
  name: "clients",
  title: "Clients",
  open(_, args2, refresh3) {
    const client2 = args2.get("client") ?? void 0;
    live = (message) => follow(message, { client: client2 }, refresh3);
    if (client2) {
      openClient(PART, client2, args2.get("agent") ?? void 0, refresh3);
      update = updateClient;
    } else {
      fill(PART, "client-list");
      fill("agents-part", "agents-parts");
      agents2 = new Pages(() => refresh3(["tabs"]), "#agents-part");
      update = updateList;
    }
  },
  update: (changed) => update(changed),
  live: (message) => live(message)
};
async function updateList(changed) {
  if (changed.has("status")) showConnect(await ask("GET", "api/connect"));
  if (["tabs", "clients", "record"].some((kind) => changed.has(kind))) await showAgents(agents2, {});
  if (!changed.has("clients") && !changed.has("policy") && !changed.has("record")) return;
  showClients(...await Promise.all([ask("GET", "api/clients"), ask("GET", "api/sessions"), ask("GET", "api/policy")]));
}
function showClients(clients, sessions, policy) {
  const ids = /* @__PURE__ */ new Set([...sessions.map(({ client: client2 = "" }) => client2), ...clients.map(({ id }) => id)]);
  const rows2 = [...ids].map((id) => {
    const known2 = clients.find((c) => c.id === id);
    const mine = sessions.filter(({ client: client2 = "" }) => client2 === id);
    const open2 = mine.filter(({ connected: connected2 }) => connected2);
    const state = [open2.length ? chip("connected", open2.length > 1 ? `connected ${open2.length} times` : void 0) : chip("closed", "not connected")];
    if (id && isPaused(policy, { client: id })) state.push(chip("paused"));
    const how = mine.slice(0, 3).map((s) => foreign(words(s), "below"));
    if (mine.length > how.length) how.push(make("span", "soft below", `and ${mine.length - how.length} more`));
    const since = open2.map((s) => s.since ?? "").filter(Boolean).sort()[0];
    const last = mine[0]?.last ?? known2?.lastUsed;
    const bound = foreign(browsersOf(id, known2, policy), "below");
    return row(
      clientLink(id, mine[0]?.said),
      state,
      how,
      make("span", "number", since ? when(since) : ""),
      make("span", "number", last ? when(last) : "never"),
      [make("span", "", known2 ? KINDS[known2.kind] ?? known2.kind : OTHERS[id] ?? ""), bound]
    );
  });
  list(byID("clients"), "table", rows2);
  byID("no-clients").hidden = rows2.length > 0;
}
var words = ({ said: said3, version, transport, protocol, bound }) => [[said3 || "without a name", version].filter(Boolean).join(" "), transport, protocol && `MCP ${protocol}`, bound && onlyIn(bound)].filter(Boolean).join(" · ");
var onlyIn = (browsers) => `only in ${browsers.join(", ") || "no browser"}`;
function browsersOf(id, known2, { bindings }) {
  const name2 = (known2?.name ?? id).toLowerCase();
  const all2 = [known2?.scope?.browsers, ...bindings.filter((b) => !b.client || b.client === id || b.client.toLowerCase() === name2).map((b) => b.browsers)];
  const [first2, ...more2] = all2.filter((names3) => names3 !== void 0);
  return first2 ? onlyIn(first2.filter((browser) => more2.every((names3) => names3.includes(browser)))) : "";
}

// pause.ts
var pause = byID("pause", HTMLButtonElement);
var all;
var some = 0;
var gone2 = false;
var isOfAll = ({ client: client2, site: site2 }) => !client2 && !site2;
function showPause({ pauses }) {
  all = pauses.find(isOfAll);
  some = pauses.filter((p) => !isOfAll(p)).length;
  show();
}
function showGone(to) {
  gone2 = to;
  show();
}
function show() {
  const [words3, more2, look] = gone2 ? [STATES.absent[0], "", STATES.absent[1]] : all ? [`${STATES.paused[0]} since ${when(all.since)}`, ": nothing is done for any client.", STATES.paused[1]] : some ? ["Running", `, with ${some === 1 ? "1 pause" : `${some} pauses`}: see Now.`, STATES.paused[1]] : ["Running", ": clients do what your policy lets them.", "good"];
  const state = byID("pause-state");
  if (state.textContent !== words3 + more2) state.replaceChildren(words3, make("span", "roomy", more2));
  state.className = `chip ${look}`;
  pause.disabled = gone2;
  pause.title = gone2 ? `${words3}: there is nothing to pause` : "";
  pause.replaceChildren(all && !gone2 ? "Resume" : "Pause", make("span", "roomy", all && !gone2 ? "" : " everything"));
}
pause.addEventListener("click", () => tell(pause, () => all ? ask("DELETE", "api/pause") : ask("POST", "api/pause", {})));

// stream.ts
var ALL = ["tabs", "packs", "policy", "clients", "questions", "record", "status"];
var SILENCE = 45e3;
var heardAt = 0;
async function follow2(take3, lost) {
  const give = () => lost.abort(new Error("the hub is silent"));
  let timer2 = setTimeout(give, SILENCE);
  const heard = () => {
    heardAt = Date.now();
    clearTimeout(timer2);
    timer2 = setTimeout(give, SILENCE);
  };
  try {
    for await (const message of events("api/watch", void 0, lost.signal, heard)) take3(message);
    throw new Error("the hub has ended");
  } finally {
    clearTimeout(timer2);
    lost.abort();
  }
}

// ../../../../tabtransport/extension/question.ts
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
var said = (text3, className = "") => make("span", `said foreign ${className}`, text3);
function sentence({ client: client2, site: site2, tool }) {
  const name2 = said(client2.name, "name");
  if (!tool) return [name2, " wants to use your hub"];
  return [name2, " wants to ", ...wish(tool), ...where(site2)];
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
function where(site2) {
  if (!site2) return [", which is the hub’s own"];
  if (site2.any) return [", ", make("span", "bad", "which may reach every site that the browser shows")];
  const parts3 = [" on ", said(site2.origin.replace(/^https:\/\//, ""), "name")];
  if (!site2.verified) parts3.push(make("span", "bad", " (a site that no browser vouches for)"));
  if (site2.top) parts3.push(" within ", said(site2.top));
  return parts3;
}
function facts({ client: client2, tool, why }) {
  const lines2 = [];
  if (client2.said && client2.said !== client2.name) lines2.push(make("p", "soft", "It calls itself ", said(client2.said)));
  if (client2.return) lines2.push(make("p", "", "It goes on at ", said(client2.return)));
  if (tool?.title && tool.title !== tool.name) lines2.push(make("p", "soft", `${tool.pack ? "The pack" : "Its page"} calls it `, said(tool.title)));
  const [first2 = "", ...more2] = why;
  const may = tool ? [make("span", tool.class === "destructive" ? "bad" : "", tool.script ? SCRIPT : (CLASSES[tool.class] ?? CLASSES.write).sentence), " "] : [];
  return [...lines2, make("p", "wide", ...may, first2), ...more2.map((line3) => make("p", "wide", line3))];
}
var SCRIPT = "It can read all of the page and do there what you can; it reaches no other site and no network.";
function details({ tool, args: args2 = [], changes = [] }, heading2) {
  const parts3 = [];
  if (changes.length) parts3.push(make("section", "", make(heading2, "soft", "Since it was allowed, this has changed"), ...changes.map(change)));
  const steps = (title, all2) => parts3.push(make("section", "", make(heading2, "soft", title), make("ul", "steps", ...all2.map((step) => make("li", "", said(step))))));
  if (tool?.pack?.steps?.length) steps("What the pack does", tool.pack.steps);
  if (tool?.steps?.length && !isSaid(tool)) steps("What it does", tool.steps);
  if (tool?.script) {
    const lines2 = tool.script.split("\n").length;
    parts3.push(make("section", "", make(heading2, "soft", lines2 === 1 ? "Its script" : `Its script, ${lines2} lines`), script(tool.script)));
  }
  if (tool && !tool.script && !tool.steps?.length) {
    const count2 = args2.length === 0 ? "nothing" : args2.length === 1 ? "1 value" : `${args2.length} values`;
    parts3.push(make("section", "", make(heading2, "soft", `With ${count2}`), ...args2.length ? [values(args2)] : []));
  }
  return parts3;
}
var RIGHT_TO_LEFT = /([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+)/u;
function script(text3) {
  const parts3 = (line3) => line3.split(RIGHT_TO_LEFT).map((part, i) => i % 2 ? make("bdi", "", part) : part);
  const made2 = make("ol", "script", ...text3.split("\n").map((line3) => make("li", "", make("code", "foreign", ...parts3(line3)))));
  made2.tabIndex = 0;
  return made2;
}
var values = (args2) => members(grouped(args2));
function reachChoice({ reaches, aboutSite, tool }) {
  const words3 = aboutSite && tool?.class === "act" ? { ...REACHES, ...ACT_REACHES } : REACHES;
  const choice2 = make("select", "");
  choice2.ariaLabel = "What a yes is good for";
  for (const reach of reaches.filter((name2) => Object.hasOwn(REACHES, name2))) choice2.append(new Option(words3[reach], reach));
  choice2.hidden = choice2.length < 2;
  return choice2;
}
function grouped(args2) {
  const all2 = [];
  for (const value of args2) {
    const path = value.path ?? [value.name];
    let place = all2;
    for (const name2 of path.slice(0, -1).slice(0, MAX_DEPTH)) {
      let group = place.at(-1);
      if (!group || group.name !== name2 || group.value) place.push(group = { name: name2, members: [] });
      place = group.members;
    }
    place.push({ name: path.slice(Math.min(path.length - 1, MAX_DEPTH)).join("/"), value, members: [] });
  }
  return all2;
}
function members(all2) {
  const isArray = all2.every(({ name: name2 }, i) => name2 === String(i));
  const columns = isArray && all2.length > 1 ? columnsOf(all2) : [];
  if (columns.length) return table(all2, columns);
  const list3 = make("dl", "values");
  all2.forEach((member, i) => {
    const name2 = isArray ? make("span", "soft", String(i + 1)) : said(member.name);
    const long = member.name.length > LONG_NAME || !member.value;
    list3.append(make("div", long ? "long" : "", make("dt", "", name2), make("dd", "", ...member.value ? shown(member.value) : [members(member.members)])));
  });
  return list3;
}
function columnsOf(rows2) {
  const widths = /* @__PURE__ */ new Map();
  for (const row2 of rows2) {
    if (!row2.members.length || new Set(row2.members.map(({ name: name2 }) => name2)).size < row2.members.length) return [];
    for (const { name: name2, value } of row2.members) {
      if (!value || value.cut || value.value.length > 3 * MAX_COLUMN) return [];
      widths.set(name2, Math.max(widths.get(name2) ?? name2.length, Math.min(value.value.length, MAX_COLUMN)));
    }
  }
  const all2 = [...widths.values()];
  return all2.reduce((sum, width) => sum + width + 2, 0) <= MAX_TABLE ? [...widths.keys()] : [];
}
function table(rows2, columns) {
  const row2 = (role, ...cells) => withRole("row", ...cells.map((parts3) => withRole(role, ...parts3)));
  const body = rows2.map(({ members: cells }, i) => {
    const of = (name2) => cells.find((member) => member.name === name2)?.value;
    return row2("cell", [make("span", "soft", String(i + 1))], ...columns.map((name2) => {
      const value = of(name2);
      return value ? shown(value) : [make("span", "soft", "–")];
    }));
  });
  const made2 = withRole("table", row2("columnheader", [], ...columns.map((name2) => [said(name2)])), ...body);
  made2.className = "rows";
  made2.style.gridTemplateColumns = `max-content repeat(${columns.length}, auto)`;
  return made2;
}
function withRole(role, ...children) {
  const made2 = make("div", "", ...children);
  made2.role = role;
  return made2;
}
function shown({ value, cut: cut4 }) {
  if (!value) return [make("span", "soft", "empty")];
  const text3 = said(value);
  const parts3 = [text3];
  if (value.length > LONG_VALUE) parts3.push(unfolder(text3, value.length));
  if (cut4) parts3.push(make("p", "bad", `${cut4.toLocaleString("en")} characters in the middle are left out.`));
  return parts3;
}
function unfolder(text3, length) {
  const button2 = make("button", "unfold");
  button2.type = "button";
  const label = () => button2.textContent = text3.classList.contains("folded") ? `Show all ${length.toLocaleString("en")} characters` : "Show less";
  button2.addEventListener("click", () => {
    text3.classList.toggle("folded");
    label();
  });
  text3.classList.add("folded");
  label();
  return button2;
}
function change({ what, was, is, added: added2, removed }) {
  const [before, after] = differ(was, is);
  const line3 = (tag, sign, parts3) => make("div", tag === "del" ? "was" : "is", make("span", "soft", sign), make("span", "said foreign", ...parts3));
  const lines2 = [];
  if (!added2) lines2.push(line3("del", "was", before));
  if (!removed) lines2.push(line3("ins", added2 ? "" : "is", after));
  return make("div", "change", make("span", "soft", `${added2 ? "Added" : removed ? "Removed" : "Changed"} `), said(what), ...lines2);
}
function differ(was, is) {
  const [a, b] = [[...was], [...is]];
  let head = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const marked = (text3, tag) => {
    const end = text3.length - tail;
    return [text3.slice(0, head).join(""), make(tag, "", text3.slice(head, end).join("")), text3.slice(end).join("")];
  };
  return [marked(a, "del"), marked(b, "ins")];
}

// waiting.ts
var REST = 1500;
var open = /* @__PURE__ */ new Map();
var disturbed = performance.now();
var resting;
var pressed = null;
var rested = () => document.hasFocus() && performance.now() - disturbed >= REST;
function disturb() {
  disturbed = performance.now();
  pressed = null;
  mark2();
  clearTimeout(resting);
  resting = setTimeout(mark2, REST);
}
function mark2() {
  for (const b of byID("questions").querySelectorAll("button")) b.ariaDisabled = String(!rested());
}
function showQuestions(questions) {
  const all2 = questions.filter(({ allowed }) => !allowed);
  const list3 = byID("questions");
  const ids = new Set(all2.map(({ id }) => id));
  for (const [id, { card: card2, state, answered }] of open) {
    if (ids.has(id)) continue;
    open.delete(id);
    card2.style.minHeight = `${card2.offsetHeight}px`;
    card2.dataset.over = "";
    state.textContent = answered ?? "This is no longer asked.";
    if (card2.contains(document.activeElement)) byID("waiting-title").focus({ preventScroll: true });
    card2.replaceChildren(card2.children[0], state);
  }
  for (const q of all2) {
    let shown6 = open.get(q.id);
    if (!shown6) {
      shown6 = make2(q);
      open.set(q.id, shown6);
      list3.append(shown6.card);
    }
    const words3 = stateOf2(q);
    if (shown6.state.textContent !== words3) {
      shown6.state.textContent = words3;
      disturb();
    }
  }
  const n = all2.length;
  const count2 = n === 0 ? "" : n === 1 ? "1 question" : `${n} questions`;
  if (byID("waiting-count").textContent !== count2) byID("waiting-count").textContent = count2;
  byID("no-questions").hidden = list3.childElementCount > 0;
  sweep();
}
function sweep() {
  const list3 = byID("questions");
  const overs = list3.matches(":hover, :focus-within") ? [] : list3.querySelectorAll("[data-over]");
  for (const over of overs) {
    over.remove();
    disturb();
  }
  if (overs.length > 0) byID("no-questions").hidden = list3.childElementCount > 0;
}
function stateOf2({ count: count2, late, until: until2 }) {
  if (late) return `The call has ended. A yes is good for the same call again, once, with what the page then shows; it can be given until ${when(until2)}.`;
  return `Waits until ${when(until2)}.${count2 > 1 ? ` ${count2} identical calls wait: a yes “${REACHES.once}” is for one of them.` : ""}`;
}
function make2(q) {
  const state = make("p", "soft");
  const title = make("h3", "", ...sentence(q));
  title.id = `question-${q.id}`;
  const card2 = make("article", "question", title, ...facts(q), ...details(q, "h4"), answers(q), state);
  card2.setAttribute("aria-labelledby", title.id);
  return { card: card2, state };
}
function answers(q) {
  const made2 = make("div", "answers writes");
  const code2 = document.createElement("input");
  if (q.kind === "signIn") {
    code2.autocomplete = "off";
    code2.maxLength = 32;
    made2.append(make("label", "", "Number that the page shows ", code2));
  }
  const reach = reachChoice(q);
  const answer = (className, label, reachOf) => {
    const b = make("button", className, label);
    b.type = "button";
    b.addEventListener("click", (event) => {
      if (!event.isTrusted || !rested() || event.detail > 0 && pressed !== b) return;
      disturb();
      const reach2 = reachOf();
      const shown6 = open.get(q.id);
      void tell(b, async () => {
        await ask("POST", "api/questions", { id: q.id, digest: q.digest, reach: reach2, ...code2.value && { code: code2.value.trim() } });
        if (!shown6) return;
        shown6.answered = reach2 === "no" || reach2 === "never" ? "You did not allow it." : "You allowed it.";
        shown6.state.textContent = shown6.answered;
      });
    });
    return b;
  };
  made2.append(answer("answer-no", "Don’t allow", () => "no"));
  if (q.reaches.includes("never")) made2.append(answer("answer-never", "Never for this app", () => "never"));
  made2.append(reach, answer("answer-yes", reach.hidden && reach.value === "once" && q.kind !== "signIn" ? "Allow once" : "Allow", () => reach.value));
  return make("div", "", made2, make("p", "reads soft", "Answer it with ", make("code", "", `tabhub approve ${q.id}`), "."));
}
byID("questions").addEventListener("pointerdown", ({ isTrusted, target }) => pressed = isTrusted && rested() ? target : null, true);
for (const type of ["focus", "blur", "resize"]) addEventListener(type, disturb);
document.addEventListener("visibilitychange", disturb);
var above = new ResizeObserver(disturb);
for (const moves of ["head", "trouble", "only-reads", "questions"]) above.observe(byID(moves));

// health.ts
var health_exports = {};
__export(health_exports, {
  view: () => view2
});
var EVERY = 5e3;
var diagnosed = false;
var timer;
var view2 = {
  name: "health",
  title: "Health",
  open(_, __, refresh3) {
    diagnosed = false;
    byID("look-again").replaceChildren(button("Look again", "Look again for what is wrong", showDoctor));
    timer = setInterval(() => {
      if (!document.hidden) refresh3(["health"]);
    }, EVERY);
  },
  async update(changed) {
    if (!changed.has("status") && !changed.has("health")) return;
    const status = await ask("GET", "api/status");
    showHealth(status);
    if (status.memory && !diagnosed) await showDoctor();
  },
  close() {
    clearInterval(timer);
  }
};
function showHealth({ hub, questions, record, memory, sockets, started, version }) {
  const { queued, lost = 0 } = record;
  showPairs("queues", [
    ["Calls under way", count(hub.inFlight)],
    ["Questions waiting for you", count(questions)],
    ["Record waits to be written", bytes(queued)],
    ["Record lost", `${count(lost)} lines`, lost > 0 ? "bad" : ""]
  ]);
  byID("process").hidden = !memory;
  if (!memory) return;
  const { connections = 0, accepted = 0, refused = 0, slow = 0, tooFast = 0, malformed = 0 } = sockets ?? {};
  showPairs("process-pairs", [
    ["Memory", bytes(memory)],
    ["Sockets of tabs, open", count(connections)],
    ["… since the start", count(accepted)],
    ["… refused", count(refused)],
    ["… too slow or too fast", count(slow + tooFast)],
    ["Messages not understood", count(malformed)],
    ["Started", when(started)],
    ["Version", version]
  ]);
}
async function showDoctor() {
  const all2 = await ask("GET", "api/doctor");
  diagnosed = true;
  const order = ["problem", "note", "ok"];
  all2.sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  list(byID("findings"), "section", all2.map(({ state, check, text: text3, fix }) => make(
    "li",
    "",
    state === "problem" ? problem(state) : chip(state === "note" ? "waiting" : "ok", state),
    " ",
    foreign(check, "check"),
    " ",
    foreign(text3),
    ...fix ? [make("div", "soft", "To mend it: ", commands(fix))] : []
  )));
  const problems = all2.filter(({ state }) => state === "problem").length;
  byID("diagnosis").textContent = problems === 0 ? "Nothing is wrong." : problems === 1 ? "There is 1 problem." : `There are ${problems} problems.`;
}
function commands(words3) {
  const parts3 = words3.split("`").map((part, i) => i % 2 ? make("code", "", part) : part);
  return make("span", "foreign", ...parts3);
}
var count = (n) => n.toLocaleString("en");
function bytes(n) {
  return n < 1 << 20 ? `${Math.ceil(n / 1024)} KiB` : `${(n / (1 << 20)).toFixed(1)} MiB`;
}

// now.ts
var now_exports = {};
__export(now_exports, {
  view: () => view3
});

// calls.ts
var ENDED = 50;
var TICK = 250;
var UNRECORDED = 2e3;
var EVENTS = ["call", "refused", "proxy", "relay"];
var PHASES = {
  waiting: ["waiting", "waiting for a tab"],
  asking: ["waiting"],
  running: ["working"]
};
var running = [];
var more = 0;
var ending = /* @__PURE__ */ new Map();
var ended = /* @__PURE__ */ new Map();
var rows = [];
var frame = 0;
var ticking;
var pressed2 = "";
function start() {
  ticking = setInterval(() => {
    if (running.length + ending.size > 0 && !document.body.classList.contains("gone")) show2();
  }, TICK);
  for (const type of ["pointerleave", "focusout"]) byID("calls").addEventListener(type, show2);
}
function stop() {
  clearInterval(ticking);
  cancelAnimationFrame(frame);
  [running, more, ending, ended, rows, frame, ticking] = [[], 0, /* @__PURE__ */ new Map(), /* @__PURE__ */ new Map(), [], 0, void 0];
}
function take(message) {
  const was = running;
  ({ running, more = 0 } = message);
  const now = new Set(running.map(({ id }) => id));
  for (const r of was) if (!now.has(r.id)) ending.set(r.id, { running: r, until: Date.now() + UNRECORDED });
  for (const e of message.entries ?? []) if (EVENTS.includes(e.event)) ended.set(keyOf(e), e);
  show2();
}
function takeEarlier(lines2) {
  const later = ended;
  ended = /* @__PURE__ */ new Map();
  const end = (l) => Date.parse(l.time) + l.duration / 1e6;
  for (const l of lines2.sort((a, b) => end(a) - end(b))) ended.set(keyOf(l), l);
  for (const [key, e] of later) ended.set(key, e);
  show2();
}
var keyOf = (e) => e.call || `${e.time} ${e.event}`;
function show2() {
  for (const [key, { until: until2 }] of ending) if (ended.has(key) || Date.now() > until2) ending.delete(key);
  for (const key of ended.keys()) {
    if (ended.size <= ENDED) break;
    ended.delete(key);
  }
  if (ticking) frame ||= requestAnimationFrame(render);
}
function render() {
  frame = 0;
  const body = byID("calls");
  const under = running.filter(({ id }) => !ended.has(id)).map((r) => ({ key: r.id, running: r }));
  const calls = [...under, ...[...ending].map(([key, { running: r }]) => ({ key, running: r })), ...[...ended].reverse().map(([key, entry]) => ({ key, entry }))];
  const held = rows.length > 0 && body.matches(":hover, :has(:focus-visible)");
  if (held) {
    const now = new Map(calls.map((call) => [call.key, call]));
    for (const row2 of rows) fill2(row2, now.get(row2.call.key) ?? row2.call);
  } else {
    for (const row2 of rows.splice(calls.length)) row2.line.remove();
    while (rows.length < calls.length) rows.push(newRow(body, calls[rows.length]));
    rows.forEach((row2, i) => fill2(row2, calls[i]));
  }
  const shown6 = new Set(rows.map(({ call }) => call.key));
  const newer = calls.filter(({ key }) => !shown6.has(key)).length;
  set(byID("held"), newer ? `${newer === calls.length ? "All" : newer} newer ${newer === 1 ? "call is" : "calls are"} shown when you no longer point at the list.` : "");
  set(byID("more-calls"), more ? `${more.toLocaleString("en")} more are under way.` : "");
  set(byID("under-way"), under.length + more ? `${(under.length + more).toLocaleString("en")} under way` : "");
  byID("no-calls").hidden = rows.length > 0;
  const table4 = body.parentElement;
  table4.hidden = rows.length === 0;
}
function newRow(body, call) {
  const [tool, where2, client2, decision2, how, note, time, you] = [foreign(""), foreign("", "title soft"), foreign(""), foreign(""), make("span", "chip"), foreign("", "title soft"), make("span", "number"), make("span", "number title soft")];
  const progress = document.createElement("progress");
  const end = button("Stop", "", async () => {
    const id = pressed2 || row2.call.key;
    pressed2 = "";
    await ask("DELETE", `api/calls?id=${encodeURIComponent(id)}`);
    return "The call is stopped, and its client is told so.";
  });
  end.addEventListener("pointerdown", () => pressed2 = row2.call.key);
  end.classList.add("writes");
  const story2 = document.createElement("a");
  story2.textContent = "Story";
  const line3 = make("tr", "", make("td", "", tool, where2), make("td", "", client2), make("td", "", decision2), make("td", "", how, progress, note), make("td", "", time, you), make("td", "", end, story2));
  const row2 = { call, line: line3, tool, where: where2, client: client2, decision: decision2, how, progress, note, time, you, end, story: story2 };
  labelled(body, line3);
  body.append(line3);
  return row2;
}
function fill2(row2, call) {
  row2.call = call;
  const c = call.running ?? call.entry;
  const name2 = [c.tool || c.event, c.pack && `of the pack ${c.pack}`, c.via && `by ${c.via}`].filter(Boolean).join(" ");
  set(row2.tool, name2);
  set(row2.where, c.domain ?? c.browser ?? "");
  row2.tool.title = name2;
  row2.where.title = [c.domain, c.tab].filter(Boolean).join(" · ");
  set(row2.client, c.name || c.said || c.client || "");
  set(row2.decision, [c.decision, c.by && `by ${c.by}`].filter(Boolean).join(" "));
  const made2 = call.running ? chip(...PHASES[c.progress?.waiting ? "asking" : c.phase] ?? PHASES.running) : outcomeChip(c.outcome);
  set(row2.how, made2.textContent);
  if (row2.how.className !== made2.className) row2.how.className = made2.className;
  const p = call.running?.progress;
  row2.progress.hidden = !p;
  if (p?.total) [row2.progress.max, row2.progress.value] = [p.total, p.progress];
  else row2.progress.removeAttribute("value");
  set(row2.note, call.running ? c.phase === "waiting" && p?.waiting ? waitsForYou(c.name || c.said || "its client") : p?.message ?? "" : c.outcome === "ok" || c.sent === void 0 ? "" : c.reason ?? "");
  const timed = call.entry ?? (c.phase === "asking" ? void 0 : { duration: (Date.now() - Date.parse(c.began)) * 1e6, asked: c.asked });
  set(row2.time, timed ? took(tookOf(timed).took) : "");
  set(row2.you, timed?.asked ? `you: ${took(timed.asked)}` : "");
  row2.end.hidden = !call.running;
  const id = call.entry && (c.call || c.question);
  row2.story.hidden = !id;
  if (id) row2.story.href = `#record?call=${encodeURIComponent(id)}`;
  row2.end.ariaLabel = `Stop ${name2}`;
  row2.story.ariaLabel = call.entry ? `Story of ${name2}, ${when(c.time)}` : "";
}
function set(place, text3) {
  if (place.textContent !== text3) place.textContent = text3;
}

// now.ts
var refresh;
var view3 = {
  name: "now",
  title: "Now",
  open(_section, _args, again2) {
    refresh = again2;
    start();
  },
  close: stop,
  async update(changed) {
    if (changed.has("record")) takeEarlier(await ask("GET", "api/log?event=call&limit=50"));
    if (changed.has("status") || changed.has("tabs") || changed.has("clients")) {
      showCounts(...await Promise.all([ask("GET", "api/status"), ask("GET", "api/browsers"), ask("GET", "api/sessions")]));
    }
    if (changed.has("policy")) showPauses(await ask("GET", "api/policy"));
  },
  live(message) {
    take(message);
    if (message.entries) refresh(["status"]);
  }
};
function showCounts({ hub }, peers, sessions) {
  const browsers = peers.filter((b) => b.connected && !b.single).length;
  const clients = sessions.filter(({ connected: connected2 }) => connected2).length;
  const counts = { tabs: hub.tabs, tools: hub.tools, sites: hub.domains, browsers, clients, calls: hub.calls };
  for (const [name2, n] of Object.entries(counts)) byID(`count-${name2}`).textContent = n.toLocaleString("en");
  for (const [step, done] of Object.entries({ extension: browsers, page: hub.tools, client: clients })) byID(`step-${step}`).classList.toggle("done", done > 0);
}
function showPauses({ pauses }) {
  const rows2 = pauses.filter((p) => !isOfAll(p)).map((p) => {
    const what = [p.client && nameOf(p.client), p.site && `at ${p.site}`].filter(Boolean).join(" ");
    const query2 = new URLSearchParams({ client: p.client ?? "", site: p.site ?? "" });
    const resume = button("Resume", `Resume ${what}`, () => ask("DELETE", `api/pause?${query2}`));
    resume.classList.add("writes");
    return make("li", "", foreign(what), ` is paused since ${when(p.since)} `, resume);
  });
  list(byID("pauses"), "section", rows2);
}

// record.ts
var record_exports = {};
__export(record_exports, {
  view: () => view4
});

// given.ts
var MOST = 200;
var OF_VALUE = 60;
function brief(args2) {
  if (typeof args2 !== "object" || args2 === null) return cut(words2(args2), MOST);
  let all2 = "";
  for (const [name2, value] of Object.entries(args2)) {
    const said3 = words2(value);
    if (said3) all2 += `${all2 && " · "}${name2}: ${cut(said3, OF_VALUE)}`;
    if (all2.length > MOST) break;
  }
  return cut(all2, MOST);
}
function answerIn(result) {
  if (result?.structuredContent) return result.structuredContent;
  const text3 = Array.isArray(result?.content) ? result.content.find(({ type }) => type === "text")?.text : void 0;
  if (typeof text3 !== "string") return "";
  try {
    return JSON.parse(text3);
  } catch {
    return text3;
  }
}
var didIn = (result) => Array.isArray(result?.did) ? result.did.filter((did) => typeof did === "string") : [];
var notKept = (bytes2) => `${bytes2.toLocaleString("en")} bytes, not kept`;
function valuesOf(value, path = []) {
  const members2 = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (members2.length) return members2.flatMap(([name2, member]) => valuesOf(member, [...path, name2]));
  return [{ name: path.join("/"), path, value: typeof value === "string" ? value : JSON.stringify(value) }];
}
function words2(value) {
  if (typeof value !== "object" || value === null) return value === void 0 || value === null ? "" : String(value).replace(/\s+/g, " ").trim();
  const parts3 = [];
  let length = 0;
  for (const part of Object.values(value)) {
    const said3 = words2(part);
    if (said3) parts3.push(said3);
    if ((length += said3.length) > OF_VALUE) break;
  }
  return parts3.join(", ");
}
function cut(text3, most) {
  const letters = [...text3];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text3;
}

// story.ts
async function openStory(id) {
  const own2 = await linesOf(id);
  const { question, call } = own2.findLast(({ event, question: question2 }) => event !== "ask" && question2) ?? {};
  if (question === id && call) return openStory(call);
  const about = question ? (await linesOf(question)).filter((l) => l.event === "ask" && l.call !== id) : [];
  const lines2 = [...about, ...own2];
  const flowing = lines2.find(({ call: call2, flows }) => call2 && flows?.length)?.call;
  const [payloads, carried] = mayWrite() ? await Promise.all([ask("GET", `api/log/payloads?call=${encodeURIComponent(id)}`), flowing && ask("GET", `api/log/carried?call=${encodeURIComponent(flowing)}`)]) : [[]];
  showStory(lines2, payloads, carried);
}
var linesOf = async (call) => (await ask("GET", `api/log?limit=100&call=${encodeURIComponent(call)}`)).reverse();
function showStory(lines2, payloads, carried) {
  const steps = stepsOf(lines2);
  const of = steps.find(({ is }) => is === "end")?.line ?? lines2.at(-1);
  const said3 = payloads.find(({ n }) => n === of?.n);
  byID("no-story").hidden = of !== void 0;
  byID("whole-story").hidden = of === void 0;
  if (!of) return;
  byID("story-title").replaceChildren(foreign(clientOf(of)), ": ", foreign(of.tool || of.event, "code"), ...of.domain ? [" at ", foreign(of.domain)] : []);
  const ended2 = steps.some(({ is }) => is === "end");
  byID("story-sum").replaceChildren(ended2 ? outcomeChip(of.outcome) : "", make("span", "number", when(of.time, true)), ended2 ? `took ${tookWords(of)}` : "");
  byID("story-given").replaceChildren(...said3?.args === void 0 && !said3?.argsNotKept ? [] : [make("h3", "", "It was given"), said3.argsNotKept ? make("p", "soft", notKept(said3.argsNotKept)) : given(of, said3.args)]);
  const start3 = steps[0].at ?? nanoseconds(of.time);
  byID("story").replaceChildren(...steps.map((step) => shown2(step, start3, said3, carried)));
  byID("story-facts").replaceChildren(...factsOf(known([
    ["Client’s id", of.client],
    ["It calls itself", of.said],
    ["Session", of.session],
    ["Class", of.class],
    ["Question", of.question],
    ["Digest of the arguments", of.digest],
    ["Origin", of.origin],
    ["Tab", of.tab]
  ])).children);
  byID("story-id").replaceChildren(...of.call ? ["Its id is ", foreign(of.call, "code"), " ", copier("Copy", () => of.call, "Copy the call’s id")] : []);
}
var clientOf = (l) => l.name || l.said || l.client || "a client";
function code(value) {
  const text3 = make("pre", "said foreign", JSON.stringify(value, null, 2));
  text3.tabIndex = 0;
  return text3;
}
var VALUES = 500;
function given(of, args2) {
  if (of.class === "act" && typeof args2?.code === "string") return script(args2.code);
  const all2 = valuesOf(args2);
  if (all2.length === 1 && all2[0].value === "{}") return make("p", "soft", "Nothing");
  return all2.length > VALUES ? code(args2) : values(all2);
}
var known = (facts4) => facts4.filter(([, value]) => value).map(([name2, value]) => [name2, foreign(value ?? "")]);
function shown2(step, start3, said3, carried) {
  const { at, is, line: l } = step;
  const { head, facts: facts4 = [] } = tellers[is](l, carried);
  const later = Number((at ?? start3) - start3);
  const since = later >= 1e6 ? [" ", make("span", "number soft", `+${took(later)}`)] : [];
  const time = at === void 0 ? make("span", "soft", "time not recorded") : make("span", "", make("span", "number", clock(at, start3)), ...since);
  const told = make("div", "", make("h3", "", ...head));
  const all2 = known(facts4);
  if (all2.length) told.append(factsOf(all2));
  if (is === "end" && said3?.resultNotKept) told.append(make("h4", "soft", "Result"), make("p", "soft", notKept(said3.resultNotKept)));
  else if (is === "end" && didIn(said3?.result).length) told.append(make("h4", "soft", "What it did"), make("ul", "steps", ...didIn(said3?.result).map((did) => make("li", "", said(did)))));
  else if (is === "end" && said3?.result !== void 0) told.append(make("h4", "soft", "Result"), code(said3.result));
  return make("li", "", time, told);
}
function clock(at, start3) {
  const [then, first2] = [at, start3].map((ns) => new Date(Number(ns / 1000000n)));
  const day = then.toDateString() === first2.toDateString() ? "" : `${then.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} `;
  return day + then.toLocaleTimeString("en-GB");
}
var tellers = {
  request: (l, carried) => ({ head: [foreign(clientOf(l)), " asked for ", foreign(l.tool || l.event, "code")], facts: [["Through", l.via], ["Of the pack", l.pack], ...flowsOf(l, carried)] }),
  question: () => ({ head: ["You were asked"] }),
  answer: (l) => ({ head: [l.class === "act" && ACT_ANSWERS[l.reach ?? ""] || ANSWERS[l.reach ?? ""] || UNANSWERED[l.outcome] || `The question ended: ${l.outcome},`, ` after ${took(l.asked ?? 0)}`, PLACES[l.by ?? ""] ?? "", l.outcome === "ok for another" ? ", which was for an identical call of the same client" : ""] }),
  decision: (l) => ({ head: [decided2(l)], facts: [["By", ruleWords(l.rule)]] }),
  begun: (l) => ({ head: [l.class === "act" ? "About to act on the page" : "About to be done: what cannot be undone"] }),
  sent: (l) => ({ head: [l.tab ? "Sent to a tab" : "Sent"], facts: [["Page", l.url], ["Why this one", l.tab && l.reason]] }),
  task: (l) => ({ head: ["It went on as a task: the client was not kept waiting"], facts: [["Task", l.task]] }),
  end: (l) => ({ head: ["Ended: ", outcomeChip(l.outcome), ` after ${tookWords(l)}`], facts: [["Why", l.tab ? "" : l.reason], ["Changed for the client", l.changed]] }),
  repeated: () => ({ head: ["Answered again: the answer had not reached the client, which asked for the same. The call was not made again"] })
};
var ANSWERS = {
  no: "You did not allow it,",
  never: "You said never for this app,",
  once: "You allowed it once,",
  session: "You allowed it for this session,",
  app: "You allowed it always for this app,",
  always: "You allowed it always, for every app,"
};
var ACT_ANSWERS = { session: "You allowed it for this site, this session,", never: "You said never for this app at this site," };
var UNANSWERED = {
  cancelled: "The client no longer waited for your answer,",
  expired: "You had not answered,",
  withdrawn: "The question was withdrawn,",
  "asked back": "The client was to bring your answer with a further call,",
  "wrong code": "A wrong code was given,"
};
var PLACES = { window: ", in its window", client: ", in the client", dashboard: ", on the dashboard", command: ", by a command" };
function ruleWords(rule = "") {
  if (rule.startsWith("preset:")) return `the mode: ${rule.slice("preset:".length)}`;
  const layers = { scope: "the bounds of its credential", browser: "the browsers that it is bound to", pause: "a pause" };
  return layers[rule] ?? (rule && `rule ${rule}`);
}
function decided2({ decision: decision2, outcome, reach }) {
  if (decision2 === "ask") {
    if (reach === "no" || reach === "never") return "Refused by your answer";
    if (outcome !== "DENIED") return "Allowed by your answer";
    return reach ? "Refused: your answer was not for this" : "Refused without an answer of yours";
  }
  return decision2 === "deny" ? "Refused" : "Allowed";
}
function flowsOf(l, carried) {
  const facts4 = (l.flows ?? []).map((flow) => ["It had read before", flow]);
  if (!facts4.length || !carried || !(l.sent || l.tab)) return facts4;
  if (!carried.kept) return [...facts4, ["Texts", "What it sent is not kept any more, or never was"]];
  if (!carried.texts.length) return [...facts4, ["Texts", "None of another site was recognised in what it sent"]];
  return [...facts4, ...carried.texts.map(({ from, field, text: text3 }) => [`Of ${from}`, `${text3} (in ${field})`])];
}

// record.ts
var USUAL = ["call", "ask", "relay"];
var filter;
var story = "";
var pages2 = [];
var added = 0;
var back = "#record";
var view4 = {
  name: "record",
  title: "Record",
  open(_section, args2, refresh3) {
    story = args2.get("call") ?? "";
    byID("all-lines").hidden = story !== "";
    byID("one-call").hidden = story === "";
    byID("back", HTMLAnchorElement).href = back;
    if (story) return;
    [pages2, added] = [location.hash === back ? pages2 : [], 0];
    filter = byID("record-filter", HTMLFormElement);
    addSite(args2.get("site") ?? "");
    for (const [name2, value] of args2) {
      const field = filter.elements.namedItem(name2);
      if (field instanceof HTMLInputElement && field.type === "checkbox") field.checked = value === field.value;
      else if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof RadioNodeList) field.value = value;
    }
    const more2 = filter.querySelector("details");
    more2.open = [...more2.querySelectorAll("input, select")].some(({ value }) => value !== "");
    keepFilter();
    const turnTo = (turn) => {
      turn();
      refresh3(["record"]);
    };
    filter.addEventListener("submit", (event) => event.preventDefault());
    filter.addEventListener("input", ({ target }) => turnTo(() => {
      if (target instanceof HTMLInputElement && target.name === "days") for (const name2 of ["since", "until"]) filter[name2].value = "";
      else if (target instanceof HTMLInputElement && target.type === "datetime-local") filter.days.value = "";
      pages2 = [];
      keepFilter();
    }));
    byID("added-lines").addEventListener("click", () => turnTo(() => pages2 = []));
    byID("newer").addEventListener("click", () => turnTo(() => pages2.pop()));
    byID("older").addEventListener("click", () => turnTo(() => pages2.push(Number(byID("older").dataset.before))));
    byID("jsonl").addEventListener("click", () => tell(byID("record-rows"), save));
  },
  async update(changed) {
    if (!changed.has("record")) return;
    if (story) return openStory(story);
    added = 0;
    showAdded();
    const query2 = asked2();
    query2.set("limit", String(PAGE + 1));
    if (pages2.length) query2.set("before", String(pages2[pages2.length - 1]));
    const [lines2, payloads, sites] = await Promise.all([
      ask("GET", `api/log?${query2}`),
      mayWrite() ? ask("GET", `api/log/payloads?${query2}&of=brief`) : [],
      ask("GET", "api/log/sites")
    ]);
    for (const { domain, last } of sites) addSite(domain, `${domain} · last used ${when(last)}`);
    showRecord(lines2, payloads);
  },
  live({ entries, missed = 0 }) {
    if (!entries || story) return;
    added += missed + entries.filter((e) => events2().length === 0 || events2().includes(e.event)).length;
    showAdded();
  }
};
function addSite(domain, label = domain) {
  const select = filter.site;
  const known2 = [...select.options].find(({ value }) => value === domain);
  if (known2) known2.textContent = domain ? label : known2.textContent;
  else select.add(new Option(label, domain));
}
function events2() {
  if (filter.event.value) return [filter.event.value];
  return filter.all.checked ? [] : USUAL;
}
function asked2() {
  const query2 = new URLSearchParams();
  for (const [name2, value] of new FormData(filter)) {
    if (typeof value !== "string" || value.trim() === "" || ["all", "days", "event"].includes(name2)) continue;
    const time = name2 === "since" || name2 === "until";
    query2.set(name2, time ? new Date(value).toISOString() : value.trim());
  }
  const [first2, last] = DAYS[filter.days.value] ?? [];
  if (first2 !== void 0) query2.set("since", midnight(first2));
  if (last !== void 0) query2.set("until", midnight(last + 1));
  if (events2().length) query2.set("event", events2().join());
  return query2;
}
var DAYS = { today: [0], yesterday: [-1, -1], week: [-6] };
function midnight(days) {
  const now = /* @__PURE__ */ new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days).toISOString();
}
function keepFilter() {
  const said3 = [...new FormData(filter)].filter(([, value]) => value !== "");
  back = `#record?${new URLSearchParams(said3)}`;
  history.replaceState(null, "", back);
}
function showAdded() {
  byID("added-lines").hidden = added === 0;
  byID("added-lines").textContent = `Look again: ${added.toLocaleString("en")} ${added === 1 ? "line has" : "lines have"} been added`;
}
function showRecord(lines2, payloads) {
  const shown6 = lines2.slice(0, PAGE);
  const inTime = shown6.toSorted((a, b) => Date.parse(b.time) - Date.parse(a.time) || b.n - a.n);
  const calls = new Set(shown6.filter(({ event }) => event === "call").map(({ call }) => call));
  const given2 = new Map(payloads.map((p) => [p.n, p]));
  list(byID("record-rows"), "table", inTime.filter((l) => !(l.event === "ask" && calls.has(l.call) && events2() === USUAL)).map((l) => line(l, said2(l, given2.get(l.n)))));
  byID("no-lines").hidden = lines2.length > 0 || filtered();
  byID("no-match").hidden = lines2.length > 0 || !filtered();
  byID("newer").hidden = pages2.length === 0;
  byID("older").hidden = lines2.length <= PAGE;
  byID("older").dataset.before = String(shown6.at(-1)?.n ?? 0);
  byID("exports").hidden = lines2.length === 0;
}
var filtered = () => pages2.length > 0 || [...asked2().keys()].some((name2) => name2 !== "event");
function said2(l, { args: args2, argsNotKept, result } = {}) {
  const did = didIn(result);
  if (did.length) return brief(did.join("; "));
  const answer = l.class === "destructive" && result !== void 0 ? brief(answerIn(result)) : "";
  return [argsNotKept ? notKept(argsNotKept) : brief(args2), answer && `→ ${answer}`].filter(Boolean).join(" ");
}
function line(l, given2) {
  const usual = l.event === "call" || l.event === "relay";
  const tool = foreign(l.tool || (usual ? l.event : ""), "tool");
  const id = l.call || l.question;
  const what = [
    make("span", "soft", usual ? "" : l.event === "ask" ? "You were asked: " : `${l.event} `),
    id ? link("record", { call: id }, l.tool ? tool : when(l.time)) : tool,
    foreign([l.pack && (l.event === "pack" ? l.pack : `pack ${l.pack}`), l.domain].filter(Boolean).map((of) => ` · ${of}`).join(""), "soft")
  ];
  const client2 = foreign([l.name || l.said || l.client, l.via].filter(Boolean).join(" · "));
  const outcome = l.event === "ask" ? answerOf(l) : usual || l.outcome === "ok" ? outcomeChip(l.outcome) : foreign(l.outcome);
  const made2 = row(make("span", "number", when(l.time)), what, foreign(given2 || (usual ? "" : l.reason ?? "")), client2, outcome, usual || l.asked ? timeOf(l) : "");
  const said3 = [
    [l.tool, l.domain, l.pack && `pack ${l.pack}`].filter(Boolean).join(" · "),
    given2,
    [l.decision, l.reach, l.by && `by ${l.by}`, l.rule].filter(Boolean).join(" · "),
    ...l.flows ?? [],
    [l.outcome, l.reason].filter(Boolean).join(": "),
    l.late && `written late, by node ${l.late}`
  ];
  made2.title = said3.filter(Boolean).join("\n");
  return made2;
}
var answerOf = ({ reach, outcome }) => !reach ? foreign(outcome) : reach === "no" || reach === "never" ? problem("not allowed") : chip("ok", "allowed");
function timeOf(l) {
  const { took: itself, you } = tookOf(l);
  return make("span", "number", l.event === "ask" ? "" : `${took(itself)} `, make("span", "soft", you ? `you: ${took(you)}` : ""));
}
async function save() {
  const query2 = asked2();
  query2.set("format", "jsonl");
  const found2 = await file(`api/log?${query2}`);
  const at = document.createElement("a");
  at.href = URL.createObjectURL(found2);
  at.download = "tabhub-record.jsonl";
  at.click();
  URL.revokeObjectURL(at.href);
  return `All lines that were found are in ${at.download}.`;
}

// sites.ts
var sites_exports = {};
__export(sites_exports, {
  view: () => view5
});

// gives.ts
function missing(want, got, path = "") {
  const where2 = path || "the result";
  if (Array.isArray(want)) {
    if (!Array.isArray(got)) return `${where2} is ${short(got)}; the example has a list`;
    if (got.length < want.length) return `${where2} has ${got.length === 1 ? "1 element" : `${got.length} elements`}; the example has ${want.length}`;
    return first(want.map((of, i) => () => missing(of, got[i], `${path}[${i}]`)));
  }
  if (typeof want === "object" && want !== null) {
    if (typeof got !== "object" || got === null || Array.isArray(got)) return `${where2} is ${short(got)}; the example has an object`;
    return first(
      Object.keys(want).sort().map(
        (name2) => () => Object.hasOwn(got, name2) ? missing(want[name2], got[name2], path ? `${path}.${name2}` : name2) : `${where2} has no "${name2}"; the example has ${short(want[name2])} there`
      )
    );
  }
  return want === got ? "" : `${where2} is ${short(got)}; the example has ${short(want)}`;
}
function first(all2) {
  for (const words3 of all2) {
    const said3 = words3();
    if (said3) return said3;
  }
  return "";
}
function short(value) {
  const text3 = JSON.stringify(value) ?? "nothing";
  return text3.length > 200 ? `${text3.slice(0, 199)}…` : text3;
}

// packs.ts
var MAX_FILE = 2 << 20;
function openPacks(into) {
  fill(into, "pack-list");
  const form = byID("pack-form", HTMLFormElement);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void tell(form, () => add(form));
  });
}
async function add(form) {
  const file2 = form.elements.namedItem("file").files?.[0];
  if (!file2) return "Choose a file.";
  if (file2.size > MAX_FILE) return `${file2.name} has ${file2.size.toLocaleString("en")} bytes; a pack may have ${MAX_FILE.toLocaleString("en")}.`;
  const { pack, unmapped } = await ask("PUT", "api/packs", { file: file2.name, text: await file2.text() });
  form.reset();
  if (!pack.waiting) return `${pack.name} is in use as it is in the file.`;
  unmappedOf.set(pack.waiting.hash, unmapped);
  location.hash = `#sites?${new URLSearchParams({ show: "packs", pack: pack.name })}`;
  return "";
}
var unmappedOf = /* @__PURE__ */ new Map();
async function updatePacks(changed) {
  if (!changed.has("packs") && !changed.has("tabs")) return;
  const packs = await ask("GET", "api/packs");
  list(byID("packs"), "table", packs.map(packRow));
  byID("no-packs").hidden = packs.length > 0;
  byID("absent").replaceChildren(...packs.flatMap(({ name: name2, absent = [] }) => absent.map((of) => absence(of, name2))));
}
var absence = ({ browser, why }, name2 = "") => make("li", "", foreign(name2), name2 ? " is not offered in " : "Not offered in ", foreign(browser), ": ", foreign(why), ".");
var packLink = (name2) => link("sites", { show: "packs", pack: name2 }, foreign(name2));
function packState({ active, waiting: waiting2 }) {
  if (!active) return chip("waiting");
  return waiting2 ? chip("waiting", "in use; a change waits for you") : chip("ok", "in use");
}
function packRow(pack) {
  const version = pack.active ?? pack.waiting;
  const pages6 = version.match.map((pattern) => make("div", "foreign", pattern));
  return row(
    [packLink(pack.name), foreign(version.title ?? "", "soft below")],
    packState(pack),
    pages6,
    version.script ? "a script" : make("span", "number", String(version.tools.length)),
    [make("span", "number", when(version.added)), foreign(version.from ?? "", "soft below")]
  );
}

// pack.ts
var name;
var shown3 = "";
function openPack(into, of) {
  fill(into, "one-pack");
  name = of;
  shown3 = "";
  byID("pack-name").textContent = name;
}
async function updatePack(changed) {
  if (!["packs", "tabs", "policy"].some((kind) => changed.has(kind))) return;
  const [pack] = await ask("GET", `api/packs?name=${encodeURIComponent(name)}`).catch((err) => {
    if (err instanceof Refused) return [];
    throw err;
  });
  byID("pack-gone").hidden = pack !== void 0;
  byID("pack-parts").hidden = !pack;
  if (!pack) return;
  const is = JSON.stringify(pack);
  if (is === shown3) return;
  shown3 = is;
  byID("pack-state").replaceChildren(packState(pack));
  byID("pack-facts").replaceChildren(...facts2(pack));
  byID("pack-parts").replaceChildren(...pack.waiting ? [waitingPart(pack, pack.waiting)] : [], ...pack.active ? [activePart(pack, pack.active)] : []);
}
function facts2({ active, waiting: waiting2, allowed, absent = [] }) {
  const { added: added2, by, from } = active ?? waiting2;
  const all2 = [["Added", `${when(added2, true)}, by ${MAKERS[by] ?? "a browser"}`]];
  if (from) all2.push(["From", foreign(from)]);
  if (allowed.length) all2.push(["Allowed", make("ul", "plain", ...allowed.map(allowance))]);
  if (absent.length && active) all2.push(["Browsers", make("ul", "plain", ...absent.map((of) => absence(of)))]);
  return [factsOf(all2)];
}
function allowance(rule) {
  const { id, client: client2, site: site2, tool, class: of } = rule;
  const what = [tool, of].filter(Boolean).join(" · ") || "anything";
  return make("li", "", foreign(client2 ? nameOf(client2) : "any client"), ": ", foreign(`${what}${site2 ? ` at ${site2}` : ""}`), " ", twice("Remove", `Remove rule ${id}`, () => removeRule(rule)));
}
function waitingPart(pack, waiting2) {
  const { hash } = waiting2;
  const about = { name, hash };
  const act = (decision2) => ask("POST", `api/packs/${decision2}`, about);
  const accept = async () => {
    await act("accept");
    return waiting2.script ? `${name} is in use. Each browser runs its script only after its popup has asked you there.` : `${name} is in use.`;
  };
  const reject = twice("Reject", `Reject ${name}`, async () => {
    await act("reject");
    return pack.active ? `${name} stays as it was.` : `${name} was not added.`;
  });
  const yes = twice("Accept", `Accept ${name}`, accept);
  yes.classList.add("main");
  const unmapped = unmappedOf.get(hash) ?? [];
  return section(
    pack.active ? "A change waits for you" : "It waits for you",
    make("p", "soft", pack.active ? "Until you accept it, the version in use stays as it is." : "Its tools are there once you accept it."),
    ...pack.active ? (pack.changes ?? []).map(change) : wordsOf(waiting2),
    ...pack.withdraws ? [make("p", "note wait", "It may do more: when you accept it, what you have allowed is asked about again.")] : [],
    ...unmapped.length ? [make("h3", "", "Of the file, this is different in the pack"), make("ul", "", ...unmapped.map((words3) => make("li", "", foreign(words3))))] : [],
    make("div", "buttons writes", yes, reject),
    documentOf(waiting2)
  );
}
function activePart(pack, active) {
  const results = make("ul", "plain");
  results.role = "status";
  const reading = active.tools.filter(({ class: of, examples = [] }) => of === "read" && examples.length);
  const test = button("Test what reads", `Test what reads of ${name}`, () => tryAll(reading, results));
  const remove = twice("Remove", `Remove ${name}`, async () => {
    await ask("DELETE", `api/packs?name=${encodeURIComponent(name)}`);
    return `${name} is removed, with the rules and answers that allowed it something.`;
  });
  return section(
    "In use",
    ...wordsOf(active),
    make("div", "buttons writes", ...reading.length ? [test] : [], remove),
    results,
    documentOf(active)
  );
}
function section(title, ...parts3) {
  return make("section", "", make("h2", "", title), ...parts3);
}
function wordsOf({ words: [sentence2, ...parts3] }) {
  const list3 = make("ul", "");
  for (const part of parts3) {
    if (!part.startsWith("  ")) list3.append(make("li", "wide", foreign(part)));
    else {
      const of = list3.lastElementChild ?? list3;
      if (of.lastElementChild?.tagName !== "UL") of.append(make("ul", "plain"));
      of.lastElementChild?.append(make("li", "wide", foreign(part.trim())));
    }
  }
  return [make("p", "wide", foreign(`${sentence2}.`)), list3];
}
function documentOf({ document: text3, hash }) {
  const made2 = make("details", "", make("summary", "", "The document"), make("p", "soft", `Hash ${hash}`), make("pre", "said foreign", JSON.stringify(text3, null, 2)));
  return made2;
}
async function tryAll(tools, results) {
  results.replaceChildren();
  let failed2 = 0;
  for (const tool of tools) {
    for (const example of tool.examples ?? []) {
      const why = await tryOne(tool, example).catch((err) => err instanceof Error ? err.message : String(err));
      if (why) failed2++;
      const call = foreign(`${tool.name} ${example.input === void 0 ? "" : JSON.stringify(example.input)}`, "code");
      results.append(make("li", "", make("span", `chip ${why ? "bad" : "good"}`, why ? "failed" : "ok"), " ", call, ...why ? [make("p", "foreign lines", why)] : []));
    }
  }
  results.prepend(make("li", failed2 ? "bad" : "good", failed2 ? `${failed2} failed.` : "All examples give what they say."));
}
async function tryOne({ name: source }, { input, gives }) {
  const tools = await ask("GET", `api/tools?q=${encodeURIComponent(source)}`);
  const tool = tools.find((t) => t.pack === name && t.source === source);
  if (!tool) return "No tab offers it: open one of its pages.";
  for await (const { result, error } of events("api/call", { name: tool.name, arguments: input ?? {} })) {
    if (error) return error;
    if (!result) continue;
    const text3 = (result.content ?? []).map(({ text: text4 = "" }) => text4).join("\n");
    if (result.isError) return text3 || "It has failed.";
    return gives === void 0 ? "" : missing(gives, result.structuredContent ?? text3);
  }
  return "The hub has ended.";
}

// rules.ts
var MODES = {
  open: "Everything is allowed that no rule asks about or denies.",
  careful: "You are asked before what cannot be undone, where no browser vouches for the site, once for each site and pack before a pack changes something, and once for each session and site before a client acts on a page by itself.",
  ask: "You are asked about everything, once for each client and site.",
  "read-only": "Nothing but reading is done, whatever a rule says."
};
function openRules(into) {
  fill(into, "all-rules");
  openRuleForm({});
  const mode = byID("mode", HTMLSelectElement);
  mode.addEventListener("change", () => tell(mode, () => ask("PUT", "api/policy/mode", { mode: mode.value })));
  byID("private-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const site2 = byID("private-site", HTMLInputElement);
    void tell(site2, async () => {
      await ask("PUT", "api/policy/private", { site: site2.value.trim(), private: true });
      site2.value = "";
    });
  });
}
async function updateRules(changed) {
  if (changed.has("policy") || changed.has("clients")) showPolicy(await ask("GET", "api/policy"));
}
function showPolicy({ mode: now, fixed, file: file2, rules, private: sites }) {
  const mode = byID("mode", HTMLSelectElement);
  mode.value = now;
  mode.disabled = fixed;
  byID("mode-now").textContent = now;
  byID("mode-words").textContent = MODES[now] + (fixed ? " The hub was started with it, so it stays." : "");
  byID("policy-file").hidden = !file2;
  byID("policy-file").textContent = file2 ? `${file2.rules} of the rules are of the policy file ${file2.path ?? ""}, read ${when(file2.read)}.` : "";
  byID("file-error").hidden = !file2?.error;
  byID("file-error").textContent = file2?.error ? `The rules of the policy file do not hold: ${file2.error}` : "";
  showRules("rules", rules);
  list(
    byID("private"),
    "ul",
    sites.map(
      (site2) => make("li", "", foreign(site2, "code"), " ", twice("Remove", `Remove ${site2} from the private sites`, () => ask("PUT", "api/policy/private", { site: site2, private: false })))
    )
  );
}

// site.ts
var site;
var pages3;
function openSite(into, domain, refresh3) {
  site = domain;
  fill(into, "one-site");
  byID("site-name").textContent = site;
  openAbout({ site });
  pages3 = new Pages(() => refresh3(["tabs"]));
  byID("access-client").addEventListener("change", () => pages3.turn());
  const settings2 = byID("site-settings", HTMLFormElement);
  settings2.addEventListener("submit", (event) => {
    event.preventDefault();
    void tell(settings2, async () => {
      const { cache, check, timeout } = Object.fromEntries(new FormData(settings2));
      await ask("PUT", "api/site", {
        domain: site,
        cache: cache === "" ? void 0 : cache === "true",
        check: check || void 0,
        callTimeoutMs: Number(timeout) * 1e3 || void 0
      });
      return "Saved.";
    });
  });
}
async function updateSite(changed) {
  const policy = await ask("GET", "api/policy");
  if (changed.has("clients")) showClients2(await ask("GET", "api/clients"));
  if (changed.has("tabs") || changed.has("policy") || changed.has("clients")) {
    const client2 = byID("access-client", HTMLSelectElement).value;
    const { part } = await find(`api/sites?site=${encodeURIComponent(site)}`);
    showSite(part[0], policy);
    await showAccess(policy, client2 ? { site, client: client2 } : { site }, pages3);
  }
  await updateAbout(changed, policy, { site });
}
function showClients2(clients) {
  const select = byID("access-client", HTMLSelectElement);
  const was = select.value;
  select.replaceChildren(
    new Option("a client that no rule names", ""),
    ...clients.map(({ id, name: name2 }) => new Option(name2, id)),
    new Option("a client with the hub’s token", "token"),
    new Option("a program without a credential", "unnamed")
  );
  select.value = was;
  if (select.selectedIndex < 0) select.value = "";
}
var settings = "";
function showSite(known2, policy) {
  const { cache, check = "", callTimeoutMs, tabs = 0, cached = 0, cachedAt, private: secret = false, lastUsed, calls = 0 } = known2 ?? {};
  const states = [tabs ? chip("open", tabs === 1 ? "1 tab open" : `${tabs} tabs open`) : chip("closed", "no tab open")];
  if (isPaused(policy, { site })) states.push(chip("paused"));
  if (secret) states.push(make("span", "chip off", "private"));
  const used2 = lastUsed ? [link("record", { site }, `last used ${when(lastUsed)}, ${calls === 1 ? "1 call" : `${calls.toLocaleString("en")} calls`}`)] : [];
  byID("site-state").replaceChildren(...states, ...used2);
  showPauseOf("site-pause", policy, { site }, site);
  const set2 = JSON.stringify([cache, check, callTimeoutMs]);
  const form = byID("site-settings", HTMLFormElement);
  if (set2 !== settings || form.dataset.site !== site) {
    const put = (name2, value) => form.elements.namedItem(name2).value = value;
    put("cache", cache === void 0 ? "" : String(cache));
    put("check", check === "strict" ? "" : check);
    put("timeout", callTimeoutMs ? String(callTimeoutMs / 1e3) : "");
    settings = set2;
    form.dataset.site = site;
  }
  const said3 = [
    cache === void 0 ? "" : cache ? "Tools of closed tabs are kept." : "Tools of closed tabs are forgotten.",
    check ? `Arguments are checked: ${check}.` : "",
    callTimeoutMs ? `A call may take ${callTimeoutMs / 1e3} s.` : ""
  ];
  byID("site-said").textContent = said3.filter(Boolean).join(" ") || "It has the usual settings.";
  const mark3 = byID("site-private", HTMLButtonElement);
  const exact = policy.private.includes(site);
  mark3.hidden = secret && !exact;
  mark3.textContent = exact ? "No longer private" : "Make it private";
  mark3.title = "Before a client that has read a private site does something at another one, you are asked.";
  mark3.onclick = () => tell(mark3, () => ask("PUT", "api/policy/private", { site, private: !exact }));
  const left2 = byID("site-cached");
  left2.hidden = cached === 0;
  left2.replaceChildren(
    `${cached === 1 ? "1 tool is" : `${cached} tools are`} cached: no tab has ${cached === 1 ? "it" : "them"} now${cachedAt ? `; last seen ${when(cachedAt)}` : ""}. A call opens the site. `,
    twice("Forget", `Forget what is cached of ${site}`, async () => {
      await ask("DELETE", `api/site/cache?site=${encodeURIComponent(site)}`);
      return "Forgotten.";
    })
  );
}

// sites.ts
var PART2 = "sites-part";
var update2;
var live2;
var view5 = {
  name: "sites",
  title: "Sites",
  open(section2, args2, refresh3) {
    const [sites, rules, packs] = section2.querySelectorAll(".choices a");
    const site2 = args2.get("site");
    const pack = args2.get("pack");
    const shows = args2.get("show");
    live2 = (message) => site2 && follow(message, { site: site2 }, refresh3);
    (shows === "rules" ? rules : shows === "packs" ? packs : sites).ariaCurrent = "page";
    if (shows === "packs" && pack) {
      openPack(PART2, pack);
      update2 = updatePack;
    } else if (shows === "packs") {
      openPacks(PART2);
      update2 = updatePacks;
    } else if (shows === "rules") {
      openRules(PART2);
      update2 = updateRules;
    } else if (site2) {
      openSite(PART2, site2, refresh3);
      byID("all-sites", HTMLAnchorElement).href = back2;
      update2 = updateSite;
    } else {
      openList(args2, refresh3);
      update2 = updateList2;
    }
  },
  update: (changed) => update2(changed),
  live: (message) => live2(message)
};
var pages4;
var back2 = "#sites";
function openList(args2, refresh3) {
  fill(PART2, "site-list");
  const form = byID("site-search", HTMLFormElement);
  pages4 = new Pages((offset) => {
    back2 = `#sites?${new URLSearchParams({ q: form.q.value, from: String(offset) })}`;
    history.replaceState(null, "", back2);
    refresh3(["tabs"]);
  });
  back2 = location.hash;
  form.q.value = args2.get("q") ?? "";
  pages4.offset = Math.floor(Number(args2.get("from"))) || 0;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => pages4.turn());
}
async function updateList2(changed) {
  if (!changed.has("tabs") && !changed.has("policy")) return;
  const q = byID("site-search", HTMLFormElement).q.value.trim();
  const { part, found: found2 } = await pages4.find("api/sites", { q });
  list(byID("sites"), "table", part.map(siteRow));
  byID("no-sites").hidden = found2 > 0 || q !== "";
  byID("no-site-found").hidden = found2 > 0 || q === "";
  byID("site-search").hidden = found2 === 0 && q === "";
  byID("site-count").textContent = found2 ? found2.toLocaleString("en") : "";
}
function siteRow({ domain, tabs, tools, cached, cachedAt, rules, paused, private: secret, cache, check, callTimeoutMs, lastUsed, calls = 0 }) {
  const state = paused ? chip("paused") : tabs ? chip("open", tabs === 1 ? "1 tab open" : `${tabs} tabs open`) : cached ? chip("cached") : chip("closed");
  const kept = cached ? [number(cached), make("span", "soft below", cachedAt ? `last seen ${when(cachedAt)}` : "")] : "";
  const said3 = [
    secret && "private",
    rules && (rules === 1 ? "1 rule" : `${rules} rules`),
    (cache !== void 0 || check || callTimeoutMs) && "settings of its own"
  ];
  const used2 = lastUsed ? [link("record", { site: domain }, when(lastUsed)), make("span", "soft below", calls === 1 ? "1 call" : `${calls.toLocaleString("en")} calls`)] : "";
  return row(siteLink(domain), state, tools ? number(tools) : "", kept, used2, said3.filter(Boolean).join(", "));
}

// tabs.ts
var tabs_exports = {};
__export(tabs_exports, {
  view: () => view6
});

// tab.ts
var PART3 = 50;
async function showTab(into, address2, args2) {
  const of = encodeURIComponent(address2);
  const [{ part: tabs }, tools] = await Promise.all([find(`api/tabs?tab=${of}&limit=1`), find(`api/tools?tab=${of}&limit=${PART3}`)]);
  showParts(into, ["tab", address2, String(args2), tabs, tools], () => tabs.length ? parts(tabs[0], tools, args2) : gone3());
}
function gone3() {
  return [heading("This tab is closed"), make("p", "soft", "It may also have left the hub: its page offers no tools any more, or was switched off in the extension’s popup.")];
}
function parts(tab, tools, args2) {
  const sites = (tab.domains ?? []).map(
    ({ domain, number: n, tools: offered, resources, prompts, departed }) => make("li", "", link2(args2, { kind: "tools", site: domain, q: "", from: "", of: "" }, foreign(domain)), ` · tab ${n}`, ...others(args2, tab, { tools: offered, resources, prompts }), departed ? `, ${departed} of a page that has gone` : "")
  );
  const { heldBy, openedBy } = tab;
  const waits = tab.waiting && tab.inUse && heldBy ? [": ", foreign(waitsForYou(heldBy.name))] : [];
  const { peer, tab: id } = tab.addr;
  const made2 = [
    heading(foreign(tab.title || "A tab without a title", "title")),
    factsOf([
      ["State", stateOf(tab), ...waits, tab.inFlight ? `, ${tab.inFlight} ${tab.inFlight === 1 ? "call" : "calls"} under way` : ""],
      ...heldBy ? [fact("Leased", ...termsOf(heldBy), " ", release(id ? `${peer}/${id}` : peer, tab.title))] : [],
      ...openedBy ? [fact("Opened by", foreign(openedBy))] : [],
      ["Address", foreign(tab.url || "not known"), " ", ...verified(tab)],
      ["Browser", foreign([tab.label, tab.browser || "none: the page has joined by itself"].filter(Boolean).join(" · ")), tab.active && !tab.focused ? ", the active tab of its window" : ""],
      ["Heard of", when(tab.lastUpdated)],
      ["Sites", sites.length ? make("ul", "plain", ...sites) : "none: it offers nothing"]
    ]),
    make("h3", "", "Tools ", number(tools.found))
  ];
  if (tools.part.length) made2.push(make("ul", "links", ...tools.part.map((tool) => make("li", "", link2(args2, opens("tool", tool.name), foreign(tool.definition.title || tool.source || tool.name)), " ", mark(tool.class, CLASSES[tool.class].word)))));
  else made2.push(make("p", "soft", "It has none now."));
  if (tools.found > tools.part.length) made2.push(make("p", "", link2(args2, { kind: "tools", of: addressOf(tab), q: "", site: "", from: "" }, `All ${tools.found.toLocaleString("en")}`)));
  const left2 = [...reasons("was refused", tab.rejected), ...reasons("has parts that were left out", tab.warnings?.filter((w) => !listedOtherwise(w)))];
  if (left2.length) made2.push(make("h3", "", "Left out"), make("ul", "", ...left2));
  const other = reasons("is listed otherwise", tab.warnings?.filter(listedOtherwise).map(({ name: name2, reason }) => ({ name: name2, reason: reason.slice(LISTED_OTHERWISE.length) })));
  if (other.length) made2.push(make("h3", "", "Listed otherwise to clients"), make("ul", "", ...other));
  return made2;
}
var fact = (name2, ...value) => [name2, ...value];
var others = (args2, tab, counts) => Object.entries(counts).flatMap(([kind, n]) => n ? [" · ", link2(args2, { kind, of: addressOf(tab), q: "", site: "", from: "" }, `${n.toLocaleString("en")} ${n === 1 ? kind.slice(0, -1) : kind}`)] : []);
var verified = ({ attested }) => attested ? [mark("read", "verified"), make("span", "soft", " its browser vouches for where it is")] : [mark("bad", "not verified"), make("span", "soft", " only the page itself says where it is")];
var reasons = (what, all2 = []) => all2.map(({ name: name2, reason }) => make("li", "", foreign(name2, "code"), ` ${what}: `, foreign(reason)));

// callline.ts
var HIDDEN = /[\p{C}\u2018-\u201f]|(?! )\p{Z}/gu;
var inJSON = (value) => JSON.stringify(value).replace(HIDDEN, escaped);
var escaped = (text3) => Array.from({ length: text3.length }, (_, i) => `\\u${text3.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");
var inOctal = (text3) => Array.from(new TextEncoder().encode(text3), (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
var isPlain = (word2) => /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(word2);
function shellWord(word2) {
  if (isPlain(word2)) return word2;
  if (word2.search(HIDDEN) < 0) return `'${word2.replaceAll("'", "'\\''")}'`;
  return `$'${word2.replace(/[\\'!]/g, inOctal).replace(HIDDEN, inOctal)}'`;
}
function shellLine(command, words3, args2) {
  const flags = words3.some((word2) => word2.startsWith("-")) ? ["--"] : [];
  return ["tabhub", command, ...flags, ...words3.map(shellWord), ...args2 === void 0 ? [] : [shellWord(inJSON(args2))]].join(" ");
}
function powerShellLine(name2, args2) {
  const quoted = (word2) => `'${word2.replaceAll("'", "''")}'`;
  const json2 = inJSON(args2).replace(/[^\x20-\x7e]/g, escaped);
  return `${quoted(json2)} | tabhub call ${isPlain(name2) ? name2 : quoted(name2)} -`;
}

// ../../../../tabtransport/extension/schemaform.ts
var MAX_FIELDS = 100;
var MAX_CHOICES = 500;
var MAX_ROWS = 200;
var MAX_DEPTH2 = 4;
var MAX_STEPS = 8;
var MAX_TEXT = 500;
var made = 0;
function schemaForm(schema) {
  const root = resolved(schema, object(schema));
  const properties = Object.entries(object(root.properties));
  const fitting = properties.length <= MAX_FIELDS;
  const required = list2(root.required);
  const fields = fitting ? properties.map(([name2, part]) => new Field(name2, part, object(schema), required.includes(name2))) : [];
  const whole = new Field("Arguments", { type: "object", description: "A JSON object with all of them." }, {}, true);
  whole.fill({});
  const asJSON = make("input", "");
  asJSON.type = "checkbox";
  const empty = make("p", "soft", "It takes no arguments.");
  const parts3 = make("div", "parts", ...properties.length ? fields.map(({ element }) => element) : [empty]);
  const all2 = make("div", "schemaform", parts3, whole.element, make("label", "soft", asJSON, " Write them as JSON"));
  const turn = () => {
    parts3.hidden = asJSON.checked;
    whole.element.hidden = !asJSON.checked;
  };
  asJSON.checked = asJSON.disabled = !fitting;
  turn();
  const fill3 = (values2) => {
    for (const field of fields) field.fill(Object.hasOwn(values2, field.name) ? values2[field.name] : void 0);
    whole.fill(values2);
  };
  const given2 = () => Object.fromEntries(fields.map(({ name: name2, given: given3 }) => [name2, given3]).filter(([, value]) => value !== void 0));
  asJSON.addEventListener("change", () => {
    if (asJSON.checked) {
      for (const field of fields) field.check();
      whole.fill(given2());
    } else if (whole.check() === "") {
      fill3(object(whole.given));
    }
    turn();
  });
  const form = {
    element: all2,
    errors: [],
    fill: fill3,
    value: () => {
      const asked3 = asJSON.checked ? [whole] : fields;
      form.errors = asked3.map((field) => field.check()).filter((error) => error !== "");
      asked3.find(({ wrong }) => wrong)?.focus();
      if (form.errors.length) return void 0;
      return asJSON.checked ? object(whole.given) : given2();
    }
  };
  return form;
}
function parameters(schema) {
  const root = object(schema);
  const rows2 = [];
  const add2 = (at, depth) => {
    const required = list2(at.required);
    for (const [name2, raw] of Object.entries(object(at.properties))) {
      if (rows2.length >= MAX_ROWS) return;
      const part = resolved(raw, root);
      rows2.push({ name: cut2(name2), depth, type: typeName(part, root), required: required.includes(name2), description: text(part.description), facts: [...oneOf(part), ...facts3(part)] });
      if (depth + 1 >= MAX_DEPTH2) continue;
      add2(part, depth + 1);
      add2(resolved(part.items, root), depth + 1);
    }
  };
  add2(resolved(schema, root), 0);
  return rows2;
}
var Field = class {
  /** The value of the last check. */
  given;
  /** Whether the last check has found something wrong. */
  wrong = false;
  #control;
  #required;
  #problem = make("p", "bad");
  name;
  element;
  /**
   * @param part of the schema, which describes it
   * @param root the whole of it
   */
  constructor(name2, part, root, required) {
    this.name = name2;
    this.#required = required;
    const schema = resolved(part, root);
    this.#control = controlFor(schema);
    const { element } = this.#control;
    element.id = `schemaform-${++made}`;
    const label = make("label", "wide", make("code", "", cut2(name2)), ` ${typeName(schema, root)}${required ? "" : ", optional"}`);
    label.htmlFor = element.id;
    const about = make("p", "soft wide", [text(schema.description), ...facts3(schema)].filter((part2) => part2).join(" · "));
    about.id = `${element.id}-about`;
    this.#problem.id = `${element.id}-problem`;
    this.#problem.setAttribute("role", "alert");
    element.setAttribute("aria-describedby", `${about.id} ${this.#problem.id}`);
    if (required) element.ariaRequired = "true";
    this.element = make("div", "field", label, element, about, this.#problem);
    this.fill(schema.default);
  }
  /**
   * Reads and checks what was filled in.
   * @returns what is wrong, "" if nothing is
   */
  check() {
    let problem2 = "";
    try {
      this.given = this.#control.read();
      if (this.given === void 0 && this.#required) problem2 = "It is required.";
    } catch (error) {
      this.given = void 0;
      problem2 = error.message;
    }
    this.wrong = problem2 !== "";
    this.#problem.textContent = problem2;
    this.#control.element.ariaInvalid = String(this.wrong);
    return problem2 && `${this.name}: ${problem2}`;
  }
  /** @param value undefined for none */
  fill(value) {
    this.#control.fill(value);
  }
  focus() {
    this.#control.element.focus();
  }
};
function controlFor(schema) {
  const values2 = choices(schema);
  if (values2.length && values2.length <= MAX_CHOICES) return choice(values2);
  switch (typeOf(schema)) {
    case "boolean":
      return box();
    case "integer":
    case "number":
      return number2(schema);
    case "string":
      return line2(schema);
  }
  return json(typeOf(schema));
}
function choice(values2) {
  const select = make("select", "");
  const known2 = values2.map((value) => JSON.stringify(value));
  select.append(new Option("—", ""), ...values2.map((value, i) => new Option(shown4(value), String(i))));
  return {
    element: select,
    read: () => select.value === "" ? void 0 : values2[Number(select.value)],
    fill: (value) => {
      const at = known2.indexOf(JSON.stringify(value));
      select.value = at < 0 ? "" : String(at);
    }
  };
}
function box() {
  const input = make("input", "");
  input.type = "checkbox";
  let touched = false;
  input.addEventListener("change", () => touched = true);
  return {
    element: input,
    read: () => touched ? input.checked : void 0,
    fill: (value) => {
      touched = typeof value === "boolean";
      input.checked = value === true;
    }
  };
}
function number2({ type, minimum, maximum }) {
  const whole = list2(type).includes("integer") || type === "integer";
  const input = make("input", "");
  input.type = "number";
  input.step = whole && (minimum === void 0 || Number.isInteger(minimum)) ? "1" : "any";
  if (typeof minimum === "number") input.min = String(minimum);
  if (typeof maximum === "number") input.max = String(maximum);
  return {
    element: input,
    read: () => {
      if (!input.checkValidity()) throw new Error(input.validationMessage);
      if (input.value === "") return void 0;
      const value = Number(input.value);
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new Error("A number so large cannot be passed on exactly.");
      return value;
    },
    fill: (value) => input.value = typeof value === "number" ? String(value) : ""
  };
}
var FORMATS = { date: "date", email: "email", uri: "url" };
function line2({ format }) {
  const type = typeof format === "string" && Object.hasOwn(FORMATS, format) ? FORMATS[format] : "";
  const input = type ? make("input", "") : make("textarea", "");
  if (input instanceof HTMLInputElement) input.type = type;
  else {
    input.rows = 1;
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      input.form?.requestSubmit();
    });
  }
  return {
    element: input,
    read: () => {
      if (!input.checkValidity()) throw new Error(input.validationMessage);
      return input.value === "" ? void 0 : input.value;
    },
    fill: (value) => input.value = typeof value === "string" ? value : ""
  };
}
function json(type) {
  const area = make("textarea", "json");
  area.rows = 3;
  area.spellcheck = false;
  area.placeholder = { object: '{"name": "value"}', array: '["first", "second"]' }[type] ?? "JSON";
  return {
    element: area,
    read: () => {
      if (area.value.trim() === "") return void 0;
      const value = parse(area.value);
      if (type === "object" && !isObject(value)) throw new Error('It must be a JSON object, such as {"name": "value"}.');
      if (type === "array" && !Array.isArray(value)) throw new Error('It must be a JSON array, such as ["first", "second"].');
      return value;
    },
    fill: (value) => area.value = value === void 0 ? "" : JSON.stringify(value, null, 2)
  };
}
function parse(value) {
  try {
    return JSON.parse(value);
  } catch (error) {
    throw new Error(`It is not JSON: ${error.message}`);
  }
}
function resolved(schema, root) {
  let at = object(schema);
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const { $ref, anyOf, oneOf: oneOf2, ...rest } = at;
    const ways = [...list2(anyOf), ...list2(oneOf2)].filter((way) => object(way).type !== "null");
    if (typeof $ref === "string") at = { ...referred($ref, root), ...rest };
    else if (ways.length === 1) at = { ...object(ways[0]), ...rest };
    else break;
  }
  return at;
}
function referred(ref, root) {
  let at = ref.startsWith("#") ? root : void 0;
  for (const key of ref.split("/").slice(1)) {
    const name2 = key.replaceAll("~1", "/").replaceAll("~0", "~");
    at = Object.hasOwn(object(at), name2) ? object(at)[name2] : void 0;
  }
  return object(at);
}
function choices(schema) {
  if (Object.hasOwn(schema, "const")) return [schema.const];
  if (Array.isArray(schema.enum)) return schema.enum;
  const ways = [...list2(schema.anyOf), ...list2(schema.oneOf)].map(object).filter((way) => way.type !== "null");
  return ways.every((way) => Object.hasOwn(way, "const")) ? ways.map((way) => way.const) : [];
}
function typesOf({ type }) {
  return (Array.isArray(type) ? type : [type]).filter((name2) => typeof name2 === "string" && name2 !== "null");
}
function typeOf(schema) {
  const types = typesOf(schema);
  return types.length === 1 ? types[0] : "";
}
function typeName(schema, root) {
  const types = typesOf(schema);
  if (!types.length) return choices(schema).length ? "choice" : "any";
  const items = types[0] === "array" ? typesOf(resolved(schema.items, root)) : [];
  return items.length ? `array of ${cut2(items.join(" or "))}` : cut2(types.join(" or "));
}
function oneOf(schema) {
  const values2 = choices(schema).slice(0, 50).map(shown4);
  return values2.length ? [cut2(`one of ${values2.join(", ")}`)] : [];
}
function facts3(schema) {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, format } = schema;
  return [
    schema.default === void 0 ? "" : `default ${shown4(schema.default)}`,
    range(minimum, maximum, ""),
    range(minLength, maxLength, " characters"),
    range(minItems, maxItems, " items"),
    typeof format === "string" ? `format ${cut2(format)}` : "",
    typeof pattern === "string" ? `pattern ${cut2(pattern)}` : ""
  ].filter((fact2) => fact2);
}
function range(least, most, what) {
  const [min, max] = [least, most].map((bound) => typeof bound === "number" ? String(bound) : "");
  if (min && max) return `${min} to ${max}${what}`;
  if (min) return `${min} or more${what}`;
  return max && `at most ${max}${what}`;
}
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
var object = (value) => isObject(value) ? value : {};
var list2 = (value) => Array.isArray(value) ? value : [];
var text = (value) => typeof value === "string" ? cut2(value) : "";
var shown4 = (value) => cut2(typeof value === "string" ? value : JSON.stringify(value) ?? "");
var cut2 = (long) => long.length > MAX_TEXT ? `${long.slice(0, MAX_TEXT)}…` : long;

// ../../../../tabtransport/extension/toolresult.ts
var IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
var MAX_BLOCKS = 50;
var MAX_TEXT2 = 1e5;
var MAX_DEPTH3 = 5;
var MAX_COLUMNS = 8;
var MAX_ROWS2 = 50;
var MAX_PARTS = 2e3;
var MAX_PART = 2e3;
function resultView(result) {
  const { content, structuredContent, isError } = object(result);
  const blocks = Array.isArray(content) ? content : [];
  const parts3 = blocks.slice(0, MAX_BLOCKS).map((each) => block(object(each)));
  if (blocks.length > MAX_BLOCKS) parts3.push(make("p", "soft", `${blocks.length - MAX_BLOCKS} more are not shown.`));
  if (structuredContent !== void 0) {
    if (blocks.length === 1 && same(object(blocks[0]).text, structuredContent)) parts3.pop();
    parts3.push(layout(structuredContent), make("details", "", make("summary", "", "As JSON"), text2(structuredContent)));
  }
  if (!parts3.length) parts3.push(make("p", "soft", "The tool has returned nothing."));
  if (isError === true) parts3.unshift(make("p", "bad", "The tool says that it failed:"));
  return make("div", isError === true ? "result failed" : "result", ...parts3);
}
function block(it) {
  switch (it.type) {
    case "text":
      return text2(it.text);
    case "image":
      return image(it);
    case "audio":
      return make("p", "soft wide", `Audio (${word(it.mimeType)}), which is not played here.`);
    case "resource_link":
      return make("p", "wide", `Resource ${word(it.title ?? it.name)}: `, make("code", "", word(it.uri)));
    case "resource": {
      const { uri, mimeType, text: said3 } = object(it.resource);
      const head = make("p", "wide", "Resource ", make("code", "", word(uri)));
      return make("div", "", head, said3 === void 0 ? make("p", "soft wide", `Data (${word(mimeType)}), which is not shown here.`) : text2(said3));
    }
  }
  return text2(it);
}
function image({ mimeType, data }) {
  const type = IMAGES.find((known2) => known2 === mimeType);
  if (!type || typeof data !== "string") return make("p", "soft wide", `An image (${word(mimeType)}), which is not shown here.`);
  const shown6 = make("img", "");
  shown6.alt = "An image that the tool has returned";
  shown6.src = `data:${type};base64,${data}`;
  return shown6;
}
function text2(value) {
  const long = typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "";
  const shown6 = make("pre", "wide", long.slice(0, MAX_TEXT2));
  shown6.tabIndex = 0;
  if (long.length <= MAX_TEXT2) return shown6;
  return make("div", "", shown6, make("p", "soft", `${(long.length - MAX_TEXT2).toLocaleString("en")} more characters are not shown.`));
}
function layout(value) {
  let left2 = MAX_PARTS;
  const show3 = (part, depth) => {
    if (part === null || typeof part !== "object") return make("span", "", cut3(String(part)));
    const size = Object.keys(part).length;
    if (size === 0 || depth === MAX_DEPTH3 || size > left2) return make("code", "", cut3(JSON.stringify(part)));
    left2 -= size;
    if (!Array.isArray(part)) return make("dl", "", ...Object.entries(object(part)).flatMap(([name2, of]) => [make("dt", "soft", name2), make("dd", "", show3(of, depth + 1))]));
    const shown6 = part.slice(0, MAX_ROWS2);
    const columns = columnsOf2(shown6);
    const all2 = columns ? table2(columns, shown6, (of) => show3(of, depth + 1)) : make("ul", "", ...shown6.map((of) => make("li", "", show3(of, depth + 1))));
    return size > MAX_ROWS2 ? make("div", "", all2, make("p", "soft", `${(size - MAX_ROWS2).toLocaleString("en")} more are not laid out.`)) : all2;
  };
  return show3(value, 0);
}
var cut3 = (long) => long.length > MAX_PART ? `${long.slice(0, MAX_PART)}…` : long;
function columnsOf2(all2) {
  const names3 = new Set(all2.flatMap((each) => Object.keys(object(each))));
  return names3.size > 0 && names3.size <= MAX_COLUMNS && all2.every((each) => object(each) === each) ? [...names3] : void 0;
}
function table2(columns, all2, show3) {
  const head = columns.map((name2) => Object.assign(make("th", "", name2), { scope: "col" }));
  const rows2 = all2.map((each) => {
    const of = object(each);
    return make("tr", "", ...columns.map((name2) => {
      const cell = make("td", "", ...Object.hasOwn(of, name2) ? [show3(of[name2])] : []);
      cell.dataset.column = name2;
      return cell;
    }));
  });
  const made2 = make("div", "scroll", make("table", "", make("thead", "", make("tr", "", ...head)), make("tbody", "", ...rows2)));
  made2.tabIndex = 0;
  return made2;
}
function same(said3, value) {
  try {
    return typeof said3 === "string" && JSON.stringify(JSON.parse(said3)) === JSON.stringify(value);
  } catch {
    return false;
  }
}
var word = (value) => typeof value === "string" ? value.slice(0, 500) : "of no kind that it says";

// trial.ts
var trials = /* @__PURE__ */ new Map();
var MAX_KEPT = 20;
var keyOf2 = ({ verb, name: name2 }) => `${verb} ${name2}`;
var showState;
var TICK2 = 250;
setInterval(() => showState?.(), TICK2);
function closeTrial() {
  showState = void 0;
}
function trialOf(offer) {
  const { name: name2, verb } = offer;
  for (const [key, { session: session2 }] of trials) if (session2.aborted) trials.delete(key);
  const form = schemaForm(offer.schema);
  const before = trials.get(keyOf2(offer));
  if (before) form.fill(before.args);
  const start3 = () => void begin(offer, form);
  const go = offer.careful ? twice(verb, `${verb} ${name2}`, async () => start3()) : button(verb, `${verb} ${name2}`, start3);
  go.classList.add("main");
  const cancel = button("Cancel", `Cancel: ${verb} ${name2}`, () => trials.get(keyOf2(offer))?.stop.abort());
  const state = make("p", "trial-state");
  state.role = "status";
  const bar = document.createElement("progress");
  bar.ariaLabel = "Progress";
  const outcome = make("div", "outcome");
  const whole = document.createElement("form");
  whole.noValidate = true;
  whole.append(form.element, make("div", "row", go, cancel, copies(offer, form)), bar, state, outcome);
  whole.addEventListener("submit", (event) => {
    event.preventDefault();
    go.click();
  });
  let ended2;
  showState = () => {
    const last = trials.get(keyOf2(offer));
    const running3 = last !== void 0 && last.took === void 0;
    go.ariaDisabled = String(running3);
    cancel.hidden = bar.hidden = !running3;
    if (running3) {
      showProgress(last, bar, state);
      outcome.replaceChildren();
    }
    if (!last || running3 || ended2 === last) return;
    ended2 = last;
    state.replaceChildren(`It took ${duration(last.took ?? 0)}.`);
    outcome.replaceChildren(...outcomeOf(offer, last));
    outcome.scrollIntoView({ block: "nearest" });
  };
  showState();
  return whole;
}
async function begin(offer, form) {
  const last = trials.get(keyOf2(offer));
  const args2 = form.value();
  if (!args2 || last && last.took === void 0) return;
  const trial = { args: args2, began: performance.now(), stop: new AbortController(), session: left() };
  trials.delete(keyOf2(offer));
  trials.set(keyOf2(offer), trial);
  showState?.();
  try {
    trial.result = await offer.run(args2, trial.stop.signal, (progress) => trial.progress = progress);
  } catch (err) {
    trial.error = trial.stop.signal.aborted ? "You stopped it. It may have taken effect." : `${err instanceof Error ? err.message : err}`;
  }
  trial.took = performance.now() - trial.began;
  for (const [key, { took: took2 }] of trials) if (trials.size > MAX_KEPT && took2 !== void 0) trials.delete(key);
  showState?.();
}
function showProgress({ began, progress }, bar, state) {
  if (progress?.total) {
    bar.max = progress.total;
    bar.value = progress.progress;
  } else {
    bar.removeAttribute("value");
  }
  if (state.childElementCount === 0) {
    const waits2 = document.createElement("a");
    waits2.href = "#now";
    waits2.textContent = "It waits for a person.";
    state.replaceChildren(make("span", ""), " ", waits2, " ", foreign(""));
  }
  const [time, waits, said3] = [...state.children];
  const words3 = `At work for ${Math.floor((performance.now() - began) / 1e3)} s.`;
  if (time.textContent !== words3) time.textContent = words3;
  waits.hidden = !progress?.waiting;
  if (said3.textContent !== (progress?.message ?? "")) said3.textContent = progress?.message ?? "";
}
function outcomeOf({ seen }, { result, error }) {
  if (error !== void 0) return [make("p", "bad", foreign(error))];
  return [resultView(seen(result)), make("div", "row", copier("Copy the result", () => JSON.stringify(result, null, 2)))];
}
function copies(offer, form) {
  const all2 = Object.entries(offer.copies).map(
    ([label, text3]) => copier(label, () => {
      const args2 = form.value();
      return args2 && text3(args2);
    })
  );
  return make("span", "row copies", ...all2);
}

// item.ts
var KINDS2 = {
  resource: { path: "api/resources", offer: offerToRead },
  prompt: { path: "api/prompts", offer: offerToGet }
};
async function showItem(into, kind, name2, args2) {
  const { path, offer } = KINDS2[kind];
  const { part } = await find(`${path}?name=${encodeURIComponent(name2)}&limit=1`);
  const it = part[0];
  if (!it) closeTrial();
  const { description, ...rest } = it?.definition ?? {};
  showParts(into, [kind, name2, rest, withoutLabel(description)], () => {
    if (!it) return gone(`No tab has this ${kind} now`, name2);
    const { title, name: own2, mimeType } = it.definition;
    return [
      heading(foreign(title || own2 || it.source, "title")),
      make("p", "", foreign(it.name, "code")),
      make("p", "foreign lines", withoutLabel(description)),
      factsOf([
        ["Site", link2(args2, { kind: `${kind}s`, site: it.domain, q: "", of: "", from: "", [kind]: "" }, foreign(it.domain)), it.tab ? ` · tab ${it.tab}` : ""],
        ...mimeType ? [["Type", foreign(mimeType)]] : []
      ]),
      make("div", "writes", make("h3", "", "Try it"), trialOf(offer(it))),
      make("p", "reads soft", "To use it here, this page has to be one that decides; see above."),
      definitionOf(it.definition)
    ];
  });
}
function offerToRead({ name: name2, template }) {
  const uriOf = ({ uri: uri2 }) => template ? String(uri2) : name2;
  const uri = { type: "string", default: name2, description: "With values in place of what is in braces" };
  return {
    name: name2,
    verb: "Read",
    schema: template ? { type: "object", properties: { uri }, required: ["uri"] } : {},
    careful: false,
    run: (args2, signal) => ask("GET", `api/resource?uri=${encodeURIComponent(uriOf(args2))}`, void 0, signal),
    seen: ({ contents }) => ({ content: Array.isArray(contents) ? contents.map(contentOf) : [] }),
    copies: { "Copy as command": (args2) => shellLine("read", [uriOf(args2)]) }
  };
}
var contentOf = (contents) => String(contents?.mimeType).startsWith("image/") && contents.blob ? { type: "image", mimeType: contents.mimeType, data: contents.blob } : { type: "resource", resource: contents };
function offerToGet({ name: name2, definition }) {
  const takes = definition.arguments ?? [];
  return {
    name: name2,
    verb: "Get",
    schema: {
      type: "object",
      properties: Object.fromEntries(takes.map((arg) => [arg.name, { type: "string", description: arg.description }])),
      required: takes.filter(({ required }) => required).map((arg) => arg.name)
    },
    careful: false,
    run: (args2, signal) => ask("POST", "api/prompt", { name: name2, arguments: args2 }, signal),
    seen: ({ messages }) => ({ content: Array.isArray(messages) ? messages.flatMap(blocksOf) : [] }),
    copies: {
      "Copy as JSON": (args2) => JSON.stringify({ name: name2, arguments: args2 }, null, 2),
      "Copy as command": (args2) => shellLine("prompt", [name2, ...Object.entries(args2).map(([key, value]) => `${key}=${value}`)])
    }
  };
}
function blocksOf(message) {
  const { role, content } = message ?? {};
  if (content?.type === "text") return [{ type: "text", text: `${role}: ${content.text}` }];
  return [{ type: "text", text: `${role}:` }, content];
}

// tool.ts
var MAX_CONSIDERED = 20;
async function showTool(into, name2, args2) {
  const { part } = await find(`api/tools?name=${encodeURIComponent(name2)}&limit=1`);
  const tool = part[0];
  const where2 = tool?.domain ? await whereTo(name2) : void 0;
  const place = make("div", "");
  place.id = "where";
  const stays = tool && { ...tool, definition: { ...tool.definition, description: describe(tool) } };
  if (!tool) closeTrial();
  showParts(into, ["tool", name2, stays], () => tool ? parts2(tool, place) : gone("No tab has this tool now", name2));
  const shown6 = document.getElementById("where");
  if (tool && shown6) showParts(shown6, [String(args2), where2, tool.listed], () => whereParts(tool, where2, args2));
}
function whereTo(name2) {
  return ask("GET", `api/explain?name=${encodeURIComponent(name2)}`).catch((err) => {
    if (err instanceof Refused) return err.message;
    throw err;
  });
}
var describe = ({ domain, definition: { description = "" } }) => domain ? withoutLabel(description) : description;
var HINTS = {
  readOnlyHint: "only reads",
  destructiveHint: "may destroy",
  idempotentHint: "may be called again with the same effect",
  openWorldHint: "reaches beyond its site",
  cache: "stays listed without a tab"
};
function parts2(tool, where2) {
  const { title, inputSchema, outputSchema, annotations } = tool.definition;
  const words3 = CLASSES[tool.class];
  const says = Object.entries(HINTS).filter(([hint]) => annotations?.[hint] === true).map(([, said3]) => said3);
  const trial = make("div", "writes", make("h3", "", "Try it"), trialOf(offerOf(tool)));
  return [
    heading(foreign(title || tool.source || tool.name, "title")),
    make("p", "", foreign(tool.name, "code"), " ", mark(tool.class, words3.word)),
    make("p", "foreign lines", describe(tool)),
    make("p", tool.class === "destructive" ? "bad" : "soft", words3.sentence + (says.length ? ` Its ${tool.pack ? "pack" : "page"} says: ${says.join(", ")}.` : "")),
    where2,
    trial,
    make("p", "reads soft", "To call it here, this page has to be one that decides; see above."),
    make("h3", "", "What it takes"),
    table3(inputSchema) ?? make("p", "soft", "No arguments."),
    ...outputSchema ? [make("h3", "", "What it returns"), table3(outputSchema) ?? make("p", "soft", "Nothing that its schema describes.")] : [],
    definitionOf(tool.definition)
  ];
}
function offerOf(tool) {
  const { name: name2, pin } = tool;
  return {
    name: name2,
    verb: "Call",
    schema: tool.definition.inputSchema,
    careful: tool.class === "destructive",
    async run(args2, signal, heard) {
      for await (const { progress, result, error } of events("api/call", { name: name2, arguments: args2, pin }, signal)) {
        if (progress) heard(progress);
        if (error) throw new Error(error);
        if (result) return result;
      }
      throw new Error("The hub ended before the answer came; the call may have taken effect.");
    },
    seen: (result) => result,
    copies: {
      "Copy as JSON": (args2) => JSON.stringify({ name: name2, arguments: args2 }, null, 2),
      "Copy as command": (args2) => shellLine("call", [name2], args2),
      "Copy for PowerShell": (args2) => powerShellLine(name2, args2)
    }
  };
}
function table3(schema) {
  const all2 = parameters(schema);
  if (!all2.length) return void 0;
  const head = make("tr", "", ...["Name", "Type", "Required", "What it is"].map((column) => {
    const th = make("th", "", column);
    th.scope = "col";
    return th;
  }));
  const rows2 = all2.map(
    ({ name: name2, depth, type, required, description, facts: facts4 }) => row(foreign(name2, `code depth-${depth}`), foreign(type), required ? "yes" : "no", make("span", "foreign", description, ...facts4.map((fact2) => make("span", "fact soft", fact2))))
  );
  const body = make("tbody", "", ...rows2);
  const made2 = make("table", "schema", make("thead", "", head), body);
  for (const line3 of rows2) labelled(body, line3);
  return made2;
}
function whereParts(tool, where2, args2) {
  const facts4 = [];
  if (tool.domain) facts4.push(["Site", link2(args2, { kind: "tools", site: tool.domain, q: "", of: "", from: "", tool: "" }, foreign(tool.domain)), tool.tab ? ` · tab ${tool.tab}` : ""]);
  else facts4.push(["Site", "none: it is a tool of the hub itself"]);
  if (tool.pack) facts4.push(["Pack", link("sites", { show: "packs", pack: tool.pack }, foreign(tool.pack)), ", which you have added: the page itself does not offer it"]);
  if (!tool.listed) facts4.push(["Lists", "Clients are not listed it, because of --expose and its budget. They reach it by name, or through the tool proxy."]);
  if (typeof where2 === "string") facts4.push(["A call", foreign(where2)]);
  if (typeof where2 !== "object") return [factsOf(facts4)];
  const { tab, openUrl, reason, candidates } = where2;
  if (tab) facts4.push(["A call goes to", link2(args2, opens("tab", addressOf(tab)), foreign(tab.title || tab.url)), " ", stateOf(tab)]);
  else if (openUrl) facts4.push(["A call opens", foreign(openUrl)]);
  facts4.push(["Because", foreign(reason)]);
  const made2 = [factsOf(facts4)];
  if (candidates.length < 2) return made2;
  const others2 = candidates.slice(0, MAX_CONSIDERED).map(({ tab: other, number: number3, note }) => make("li", "", link2(args2, opens("tab", addressOf(other)), foreign(other.title || other.url)), ` · tab ${number3} · `, foreign(note)));
  if (candidates.length > MAX_CONSIDERED) others2.push(make("li", "soft", `and ${candidates.length - MAX_CONSIDERED} more`));
  made2.push(make("details", "", make("summary", "", `${candidates.length} tabs have it`), make("ul", "", ...others2)));
  return made2;
}

// tabs.ts
var KINDS3 = {
  tabs: { path: "api/tabs", row: rowOfTab },
  tools: { path: "api/tools", row: rowOfTool },
  resources: { path: "api/resources", row: (it) => rowOfItem("resource", it) },
  prompts: { path: "api/prompts", row: (it) => rowOfItem("prompt", it) }
};
var args = new URLSearchParams();
var opened;
var pages5;
var again;
var view6 = {
  name: "tabs",
  title: "Tabs and tools",
  open(section2, given2, refresh3) {
    args = given2;
    again = refresh3;
    opened = new AbortController();
    const q = search();
    q.value = args.get("q") ?? "";
    const go = (to, here) => {
      const next2 = linkTo(args, to);
      args = new URLSearchParams(next2.split("?")[1]);
      history[here ? "replaceState" : "pushState"](null, "", next2);
      refresh3(["tabs"]);
    };
    pages5 = new Pages((from) => go({ from: from ? String(from) : "" }, from === 0));
    q.addEventListener("input", () => go({ q: q.value.trim(), from: "" }, true));
    section2.addEventListener("click", (event) => {
      const link3 = event.target.closest("a");
      if (!link3?.dataset.to || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const { to, focus = "" } = link3.dataset;
      const was = byID("found").querySelector("a[aria-current]")?.getAttribute("data-to");
      go(JSON.parse(to));
      focusNext = () => link3.id === "close" ? foundLinks().find((a) => a.dataset.to === was) ?? search() : document.getElementById(focus);
    });
    addEventListener("keydown", keys, { signal: opened.signal });
    byID("name-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void tell(event.target, nameBrowser);
    });
  },
  async update(changed) {
    if (!changed.has("tabs") && !changed.has("policy")) return;
    const [lists, browsers] = await Promise.all([Promise.all(Object.keys(KINDS3).map(found)), ask("GET", "api/browser")]);
    showFound(lists, browsers);
    await showOpen();
    focusNext()?.focus();
    focusNext = () => null;
  },
  live({ entries }) {
    const [peer, id] = (args.get("tab") ?? "").split("/");
    if (peer && entries?.some(({ tab }) => tab === peer || tab === `${peer}/${id}`)) again(["tabs"]);
  },
  close() {
    opened.abort();
    closeTrial();
    document.body.classList.remove("opened");
  }
};
var focusNext = () => null;
var foundLinks = () => [...byID("found").querySelectorAll("a")];
var search = () => byID("search", HTMLInputElement);
var kindNow = () => Object.hasOwn(KINDS3, args.get("kind") ?? "") ? args.get("kind") : "tabs";
function found(kind) {
  const query2 = { q: args.get("q") ?? "", site: args.get("site") ?? "", tab: args.get("of") ?? "" };
  const { path } = KINDS3[kind];
  pages5.offset = Number(args.get("from")) || 0;
  return kind === kindNow() ? pages5.find(path, query2) : find(`${path}?${new URLSearchParams({ ...query2, limit: "0" })}`);
}
function showFound(lists, browsers) {
  const kinds = Object.keys(KINDS3);
  const now = kindNow();
  kinds.forEach((kind, i) => {
    const link3 = byID(`kind-${kind}`, HTMLAnchorElement);
    lead(link3, args, { kind: kind === "tabs" ? "" : kind, from: "" });
    link3.ariaCurrent = kind === now ? "true" : null;
    link3.hidden = lists[i].found === 0 && kind !== now && !["tabs", "tools"].includes(kind);
    byID(`count-${kind}-found`).textContent = lists[i].found.toLocaleString("en");
  });
  const { part, found: found2 } = lists[kinds.indexOf(now)];
  showParts(byID("found"), [now, String(args), part], () => links(part.map(KINDS3[now].row)));
  showOnly();
  showBrowsers(now === "tabs" && !narrowed() ? browsers : []);
  byID("no-tabs").hidden = narrowed() || now !== "tabs" || part.some(hasTools);
  byID("no-match").hidden = found2 > 0 || !byID("no-tabs").hidden;
}
var hasTools = ({ domains }) => Boolean(domains?.length);
var narrowed = () => ["q", "site", "of"].some((name2) => args.get(name2));
function links(rows2) {
  return rows2.map(([opens2, title, about, states]) => {
    const made2 = link2(args, opens2, make("span", "found-title", title), make("span", "found-states", ...states), make("span", "found-about soft", ...about));
    if (isOpen(opens2)) made2.ariaCurrent = "true";
    return make("li", "", made2);
  });
}
var isOpen = (opens2) => OPEN.every((name2) => (args.get(name2) ?? "") === opens2[name2]);
function showOnly() {
  const only = [args.get("site"), args.get("of") && `one tab`].filter(Boolean).join(", ");
  byID("only").hidden = only === "";
  byID("only-words").textContent = only;
  lead(byID("all", HTMLAnchorElement), args, { site: "", of: "", from: "" });
}
function showBrowsers(browsers) {
  showParts(byID("browsers"), browsers, () => browsers.map(rowOfBrowser));
  const select = byID("named-browser", HTMLSelectElement);
  const { value } = select;
  const there = browsers.filter(({ id, connected: connected2 }) => id && connected2);
  showParts(select, there.map(titleOf), () => there.map((b) => new Option(titleOf(b), b.id)));
  if (there.some(({ id }) => id === value)) select.value = value;
  byID("name-form").hidden = there.length === 0;
  byID("browsers-part").hidden = browsers.length === 0;
}
var titleOf = ({ id, name: name2, browser }) => [name2, browser || "a browser without a name", id].filter(Boolean).join(" · ");
function rowOfBrowser(b) {
  const { name: name2, clients } = b;
  const tabs = b.tabs === 1 ? "1 tab" : `${b.tabs} tabs`;
  const words3 = b.connected ? `${tabs}, since ${when(b.since ?? "")}` : b.lastSeen ? `seen ${when(b.lastSeen)}` : "no browser has this name";
  const made2 = make("li", "", foreign(name2 ? name2 : b.browser || "a browser without a name"), " ", chip(b.missing ? "missing" : !b.connected ? "away" : b.focused ? "active" : "connected"), make("span", "soft", " ", foreign([name2 && b.browser, b.id, words3].filter(Boolean).join(", "))));
  if (clients.length) made2.append(make("span", "soft", `; only there: `, foreign(clients.join(", "))));
  if (name2 && !b.missing) {
    made2.append(" ", twice("Take the name away", `Take the name away: ${name2}`, async () => {
      await ask("DELETE", `api/browser?${new URLSearchParams({ name: name2 })}`);
      return `No browser is called ${name2} any more.`;
    }));
  }
  return made2;
}
async function nameBrowser() {
  const [browser, field] = [byID("named-browser", HTMLSelectElement).value, byID("browser-name", HTMLInputElement)];
  const name2 = field.value.trim();
  await ask("PUT", "api/browser", { browser, name: name2 });
  field.value = "";
  return `It is called ${name2}.`;
}
async function showOpen() {
  const kind = OPEN.find((name3) => args.get(name3)) ?? "";
  const name2 = args.get(kind) ?? "";
  const into = byID("open-parts");
  document.body.classList.toggle("opened", kind !== "");
  byID("open").hidden = kind === "";
  lead(byID("close", HTMLAnchorElement), args, opens("", ""));
  if (kind === "" || kind === "tab") closeTrial();
  if (kind === "tab") await showTab(into, name2, args);
  else if (kind === "tool") await showTool(into, name2, args);
  else if (kind !== "") await showItem(into, kind, name2, args);
}
function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const at = document.activeElement;
  const writing = at?.matches("input, textarea, select");
  const all2 = foundLinks();
  const i = all2.findIndex((link3) => link3 === at);
  if (event.key === "/" && !writing) search().focus();
  else if (event.key === "ArrowDown" && (at === search() || i >= 0)) all2[i + 1]?.focus();
  else if (event.key === "ArrowUp" && i >= 0) (all2[i - 1] ?? search()).focus();
  else if (event.key === "Escape" && byID("open").contains(at) && !writing) byID("close").click();
  else return;
  event.preventDefault();
}
function rowOfTab(tab) {
  const tools = (tab.domains ?? []).reduce((n, d) => n + d.tools, 0);
  const states = [stateOf(tab)];
  if (tab.rejected?.length) states.push(mark("bad", `${tab.rejected.length} refused`));
  else if (tab.warnings?.some((w) => !listedOtherwise(w))) states.push(mark("write", "parts left out"));
  if (tab.heldBy) states.push(mark("write", "leased"));
  const whose2 = [tab.heldBy && `leased by ${tab.heldBy.name}`, tab.openedBy && `opened by ${tab.openedBy}`, tab.label].filter((words3) => words3 !== void 0);
  const about = [...whose2.flatMap((words3) => [foreign(words3), " · "]), ...(tab.domains ?? []).flatMap(({ domain, number: number3 }) => [foreign(domain), ` · tab ${number3} · `]), tools === 1 ? "1 tool" : `${tools} tools`];
  return [opens("tab", addressOf(tab)), foreign(tab.title || tab.url || "a tab without a title"), about, states];
}
function rowOfTool(tool) {
  const { title, description } = tool.definition;
  const states = [mark(tool.class, CLASSES[tool.class].word)];
  if (!tool.listed) states.push(mark("off", "not listed"));
  const site2 = tool.domain ? [foreign(tool.domain), tool.tab ? ` · tab ${tool.tab}` : ""] : ["the hub itself"];
  const about = description ? [" · ", foreign(withoutLabel(description).slice(0, 300))] : [];
  return [opens("tool", tool.name), foreign(title || tool.source || tool.name), [...site2, ...about], states];
}
function rowOfItem(kind, { name: name2, domain, tab, source, definition: { title, name: own2, description } }) {
  const about = [foreign(domain), tab ? ` · tab ${tab}` : "", " · ", foreign(withoutLabel(description) || source)];
  return [opens(kind, name2), foreign(title || own2 || source), about, []];
}

// dashboard.ts
var VIEWS = [now_exports, tabs_exports, sites_exports, clients_exports, record_exports, health_exports].map(({ view: view7 }) => view7);
var PACE = 500;
var RETRY = 500;
var RETRY_MAX = 8e3;
var LOOK = 15e3;
var STAY = 6e4;
var { auth, base, own } = document.body.dataset;
var ENDED2 = "Signed out: the hub was restarted, its token replaced, or this sign-in is twelve hours old.";
var shown5;
var openings = 0;
var mayRead = () => signedIn() || auth === "none";
function showTrouble(text3) {
  const trouble = byID("trouble");
  if (trouble.textContent !== text3) trouble.textContent = text3;
  trouble.hidden = text3 === "";
}
function showSignedOut(why = "") {
  closeView();
  setGone(false);
  showAll([]);
  byID("questions").replaceChildren();
  for (const id of ["data", "nav", "power", "sign-out"]) byID(id).hidden = true;
  byID("title").textContent = "tabhub";
  byID("signed-out").hidden = false;
  byID("by-address").hidden = auth === "token";
  byID("by-token").hidden = auth !== "token";
  showPower();
  showTrouble(why);
}
function closeView() {
  undecided();
  shown5?.close?.();
  shown5 = void 0;
  byID("view").replaceChildren();
  delete document.body.dataset.view;
}
function named() {
  const [name2, args2] = location.hash.slice(1).split("?", 2);
  return { view: VIEWS.find((v) => v.name === name2) ?? VIEWS[0], args: new URLSearchParams(args2) };
}
function openView() {
  closeView();
  const { view: view7, args: args2 } = named();
  shown5 = view7;
  openings++;
  const section2 = byID("view");
  const parts3 = byID(`${view7.name}-view`, HTMLTemplateElement);
  section2.append(document.importNode(parts3.content, true));
  showAddress(section2);
  document.body.dataset.view = view7.name;
  byID("title").textContent = view7.title;
  for (const link3 of byID("nav").querySelectorAll("a")) link3.ariaCurrent = link3.hash === `#${view7.name}` ? "page" : null;
  showWaiting();
  view7.open(section2, args2, refresh2);
  refreshed = -PACE;
  refresh2(ALL);
}
var waiting = 0;
function showWaiting() {
  const words3 = waiting === 1 ? "1 question waits for you" : `${waiting} questions wait for you`;
  byID("waiting-badge").textContent = String(waiting);
  byID("waiting-badge").ariaLabel = words3;
  byID("waiting-badge").hidden = waiting === 0;
  byID("elsewhere").hidden = waiting === 0 || shown5 === view3;
  byID("elsewhere").children[0].textContent = words3;
  const title = shown5 && shown5 !== VIEWS[0] ? `${shown5.title} · tabhub` : "tabhub";
  document.title = waiting ? `(${waiting}) ${title}` : title;
}
var stale = /* @__PURE__ */ new Set();
var refreshing = false;
var refreshed = -PACE;
var next;
function refresh2(changed) {
  for (const kind of changed) stale.add(kind);
  clearTimeout(next);
  if (!refreshing) next = setTimeout(update3, refreshed + PACE - performance.now());
}
async function update3() {
  const view7 = shown5;
  if (!view7 || !connected) return;
  const opening = openings;
  const kinds = new Set(stale);
  for (const kind of kinds) stale.delete(kind);
  refreshing = true;
  refreshed = performance.now();
  try {
    await Promise.all([updateShell(kinds), view7.update(kinds)]);
  } catch (err) {
    if (opening === openings) failed(err);
  } finally {
    refreshing = false;
    if (stale.size > 0) refresh2([]);
  }
}
async function updateShell(changed) {
  if (changed.has("questions") && !watching) {
    if (mayWrite()) void watchQuestions();
    else showAll(await ask("GET", "api/questions"));
  }
  if (changed.has("status") || changed.has("tabs") && !byID("unpaired").hidden) showStatus(await ask("GET", "api/status"));
  if (changed.has("clients")) await loadNames();
  if (changed.has("packs")) showPacks(await ask("GET", "api/packs"));
  if (changed.has("policy")) showPause(await ask("GET", "api/policy"));
}
function showPacks(packs) {
  const names3 = packs.filter(({ waiting: waiting2 }) => waiting2).map(({ name: name2 }) => name2);
  byID("packs-wait").children[0].textContent = `${names3.length === 1 ? `The pack ${names3[0]} waits` : `${names3.length} packs wait`} for you`;
  byID("packs-wait").hidden = names3.length === 0 || named().args.get("show") === "packs";
}
var watching = false;
async function watchQuestions() {
  watching = true;
  try {
    for await (const questions of events("api/questions/watch", void 0, connection.signal)) showAll(questions);
  } catch {
  } finally {
    watching = false;
  }
  if (!mayWrite()) refresh2(["questions"]);
}
function showAll(questions) {
  waiting = questions.filter(({ allowed }) => !allowed).length;
  showQuestions(questions);
  showWaiting();
}
function failed(err) {
  if (err instanceof SignedOut) showSignedOut(ENDED2);
  else if (err instanceof Refused) showTrouble(err.message);
  else if (!(err instanceof Changed) && !connected) setGone(true);
}
function setGone(to) {
  document.body.classList.toggle("gone", to);
  byID("controls", HTMLFieldSetElement).disabled = to;
  byID("trouble").classList.toggle("calm", to);
  showGone(to);
  if (!to) return;
  const before = shown5 && heardAt ? ` What you see was so at ${when(new Date(heardAt).toISOString())}; what needs the hub cannot be used.` : "";
  const start3 = own === "false" ? "" : " It starts with the next client, or by “tabhub serve” in a terminal.";
  showTrouble(`${STATES.absent[0]}.${before}${start3} This page goes on as soon as it answers, or says how to sign in again.`);
}
function showStatus({ hub, paired, record }) {
  byID("unpaired").hidden = paired > 0 || hub.browsers > 0;
  byID("unpaired").children[0].textContent = STATES.unpaired[0];
  showTrouble(
    hub.storeError ? `The store does not take writes: ${hub.storeError}` : record.error ? `What is done now is not recorded: ${record.error}` : ""
  );
}
var running2 = false;
var connection = new AbortController();
var connected = false;
async function run() {
  if (running2) return;
  running2 = true;
  for (let wait = RETRY; mayRead(); wait = Math.min(2 * wait, RETRY_MAX)) {
    try {
      showStatus(await ask("GET", "api/status"));
      byID("signed-out").hidden = true;
      for (const id of ["data", "nav", "power"]) byID(id).hidden = false;
      byID("sign-out").hidden = auth === "none";
      if (!shown5) openView();
      showPower();
      connection = new AbortController();
      await follow2((message) => {
        if (!connected) {
          connected = true;
          setGone(false);
          wait = RETRY;
          refresh2(ALL);
        }
        take2(message);
      }, connection);
    } catch (err) {
      connected = false;
      failed(err);
    }
    showPower();
    if (mayRead()) await sleep(wait);
  }
  running2 = false;
}
function take2(message) {
  shown5?.live?.(message);
  if (message.changed) refresh2(message.changed);
}
var sleep = (ms) => new Promise((done) => setTimeout(done, ms));
function showPower() {
  const writes2 = mayWrite();
  document.body.classList.toggle("may-write", writes2);
  byID("only-reads").hidden = writes2 || byID("data").hidden;
  byID("idle").hidden = base === "";
  byID("how").hidden = own === "false";
}
var stayed = 0;
async function used() {
  if (!mayWrite() || Date.now() - stayed < STAY) return;
  stayed = Date.now();
  await stay().catch(() => {
  });
}
async function signIn2(proof) {
  try {
    await signIn(proof);
    showTrouble("");
    showPower();
  } catch (err) {
    const why = err instanceof Refused ? err.message : "the hub does not answer";
    if (!signedIn()) return showSignedOut(`This page could not sign in: ${why}.`);
  }
  return run();
}
async function start2() {
  const code2 = new URLSearchParams(location.hash.slice(1)).get("code");
  const old = new URLSearchParams(location.search).has("token");
  if (code2 !== null || location.search !== "") history.replaceState(null, "", location.pathname);
  if (code2 !== null && auth !== "none") return signIn2({ code: code2 });
  const before = signedIn();
  if (before && base !== "") await stay().catch(() => {
  });
  if (mayRead()) return run();
  if (before) return showSignedOut(ENDED2);
  return showSignedOut(old ? "Addresses with a token in them are no longer taken, as they stay in the browser's history; delete your bookmark." : "");
}
byID("by-token").addEventListener("submit", (event) => {
  event.preventDefault();
  const field = byID("token", HTMLInputElement);
  const token = field.value.trim();
  field.value = "";
  void signIn2({ token });
});
byID("sign-out").addEventListener("click", async () => {
  showSignedOut("Signed out.");
  await signOut().catch(() => {
  });
});
for (const type of ["pointerdown", "keydown"]) addEventListener(type, used);
for (const type of [ACTED, "focus"]) addEventListener(type, () => refresh2(["tabs", "policy", "clients", "status"]));
addEventListener("hashchange", () => {
  if (new URLSearchParams(location.hash.slice(1)).has("code")) return void start2();
  if (location.hash === "#title" || !shown5) return;
  openView();
  scrollTo(0, 0);
  byID("title").focus({ preventScroll: true });
});
setInterval(() => {
  sweep();
  showPower();
}, 1e3);
setInterval(() => {
  if (!document.hidden) refresh2(["status"]);
}, LOOK);
void start2();
