// elements.ts
function byID(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof (type ?? HTMLElement))) throw new Error(`the page has no ${type?.name ?? ""}#${id}`);
  return found;
}
function make(tag, className, ...children) {
  const made2 = document.createElement(tag);
  if (className) made2.className = className;
  made2.append(...children.map((child) => typeof child === "string" ? inOrder(child) : child));
  return made2;
}
var inOrder = (text3) => text3.replace(/[\u202a-\u202e\u2066-\u2069]/g, (turn) => `\\u${turn.charCodeAt(0).toString(16)}`);

// common.ts
function ask(request) {
  return chrome.runtime.sendMessage(request);
}
function toggle(label, hint, on, changed) {
  const box2 = make("input", "");
  box2.type = "checkbox";
  box2.setAttribute("role", "switch");
  box2.checked = on;
  box2.addEventListener("change", () => changed(box2.checked));
  const words = make("span", "", make("span", "wide", label));
  if (hint) words.append(make("br", ""), make("span", "soft", hint));
  return make("label", "switch", words, box2);
}
function showBuild(at) {
  at.hidden = !chrome.runtime.getManifest().permissions?.includes("debugger");
  at.textContent = "Trusted input: pages cannot tell what apps do here from what you do.";
}

// recording.ts
var WHAT = "What you do on this page is written down as steps, and becomes the draft of a pack. Passwords, card numbers and codes never are.";
var MAX_ACTS = 16;
var written;
var problem = "";
function recordingParts(recording, tabId2, can, changed) {
  const does = async (request) => {
    problem = await ask(request) || "";
    changed();
  };
  const button = (words, request, main = false) => {
    const made2 = make("button", main ? "main" : "", words);
    if (!("step" in request)) made2.id = "does" in request ? request.does : request.ask;
    made2.addEventListener("click", ({ isTrusted }) => isTrusted && void does(request));
    return made2;
  };
  const end = problem ? [make("p", "bad wide", problem)] : [];
  if (!recording) return can ? [make("div", "row", make("span", "soft wide", WHAT), button("Record what I do", { ask: "record", tabId: tabId2 })), ...end] : end;
  const { state, name, host, reason, draft } = recording;
  const pack = name ? [" as the pack ", make("code", "", name)] : [];
  switch (state) {
    case "asked": {
      const buttons = [button("Record", { ask: "record", tabId: recording.tabId }, true), button("No", { ask: "recorded", does: "discard" })];
      return [make("h2", "wide", "Record what you do?"), make("p", "wide", "“tabhub pack record” asks for it", ...pack, ". ", WHAT), make("div", "row buttons", ...buttons), ...end];
    }
    case "on": {
      const where = recording.tabId === tabId2 ? "Written down so far:" : `Written down so far, in another tab, at ${host}:`;
      return [make("div", "row", make("h2", "wide", "Recording"), button("Stop", { ask: "recorded", does: "stop" }, true)), make("p", "soft wide", where), ...writtenDown(recording), ...end];
    }
  }
  if (draft) {
    const buttons = [button("Done", { ask: "recorded", does: "discard" })];
    return [make("h2", "wide", "The draft waits for you"), make("p", "wide", "Look at ", make("code", "", draft), " in the dashboard, or with “tabhub pack show”. It does nothing before you accept it."), make("div", "row buttons", ...buttons), ...end];
  }
  const field = make("input", "");
  field.id = "pack";
  field.value = written ?? name;
  field.placeholder = "Name of the pack, such as shop-order";
  field.ariaLabel = "Name of the pack";
  field.pattern = "[a-z0-9][a-z0-9\\-]{0,31}";
  field.maxLength = 32;
  field.addEventListener("input", () => written = field.value);
  const send = make("button", "main", "Send as draft");
  send.id = "send";
  send.addEventListener("click", () => {
    if (field.reportValidity()) void does({ ask: "recorded", does: "send", name: field.value });
  });
  const none = recording.steps.length === 0;
  const many = recording.steps.length - MAX_ACTS;
  send.disabled = none || many > 0;
  const parts = [make("h2", "wide", `Recorded at ${host}`), ...reason ? [make("p", "soft wide", `It ended: ${reason}.`)] : [], ...writtenDown(recording, button), ...end];
  if (many > 0) parts.push(make("p", "bad wide", `A tool has at most ${MAX_ACTS} steps: leave out ${many} of these.`));
  if (!none) parts.push(field);
  return [...parts, make("div", "row buttons", send, button("Discard", { ask: "recorded", does: "discard" }))];
}
function writtenDown({ steps, secrets, missed }, button) {
  const item = (words, step, field) => {
    const leave = button?.("Leave out", { ask: "recorded", does: "remove", step, field });
    leave?.setAttribute("aria-label", `Leave out: ${words}`);
    return make("li", "row", make("span", "wide", words), ...leave ? [leave] : []);
  };
  const items = steps.flatMap((step, index) => {
    const fields = step.fill?.fields;
    return fields ? fields.map(({ target, value }, field) => item(`fill ${nameOf(target)} with ${valueWords(value)}`, index, field)) : [item(stepWords(step), index)];
  });
  const list2 = items.length ? make("ol", "", ...items) : make("p", "soft", "Nothing so far.");
  const parts = [list2];
  if (secrets.length) parts.push(make("p", "soft wide", `Not written down, as it may be secret: ${secrets.join(", ")}. A person has to fill that in at each call.`));
  if (missed.length) parts.push(make("p", "bad wide", `Not written down, as no step can find it again: ${missed.join(", ")}.`));
  return parts;
}
function stepWords({ click, press, open }) {
  if (click) return `click ${nameOf(click.target)}`;
  if (press) return `press ${press.key} in ${nameOf(press.target)}`;
  return `open ${open?.path ?? ""}${open?.query ? `?${new URLSearchParams(open.query)}` : ""}`;
}
function nameOf({ role, name, label, selector, nth, in: place }) {
  const what = role ? `${role}${name ? ` “${name}”` : ""}` : label ? `the field “${label}”` : `what the selector ${selector} finds`;
  return `${what}${nth ? `, number ${nth}` : ""}${place ? `, in ${nameOf(place)}` : ""}`;
}
function valueWords(value) {
  return typeof value === "boolean" ? value ? "on" : "off" : `“${String(value)}”`;
}

// states.ts
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

// words.ts
var CLASSES = {
  read: { word: "reads", sentence: "It says that it only reads." },
  write: { word: "changes", sentence: "It may change something." },
  act: { word: "acts", sentence: "It acts on the page as you would; nobody has said what that changes." },
  destructive: { word: "destructive", sentence: "It may do what cannot be undone." }
};
var duration = (ms) => ms < 0.1 ? "< 0.1 ms" : ms < 1e3 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1e3).toFixed(ms < 1e5 ? 1 : 0)} s`;

// status.ts
var COLOURS = { good: "#1f5fbf", wait: "#9a6700", bad: "#b3261e", off: "#5f6673" };
function stateOf({ hub, owner, waiting, working }) {
  if (waiting) return "waiting";
  if (hub.state !== "connected") return hub.state;
  if (owner.waiting) return "waiting";
  if (owner.paused) return "paused";
  return working ? "working" : "connected";
}
var RECORDING = {
  asked: { text: "rec?", colour: COLOURS.wait, title: "tabhub: you are asked whether to record what you do in this tab" },
  on: { text: "rec", colour: COLOURS.bad, title: "tabhub: what you do in this tab is written down" },
  ended: { text: "rec!", colour: COLOURS.wait, title: "tabhub: what you have recorded waits for you to send it" }
};
var questions = ({ owner, waiting }) => Math.max(waiting, owner.waiting);
function using(users) {
  const [first, second, ...more] = users;
  if (!second) return `${first} is using`;
  return `${first} and ${more.length ? `${more.length + 1} others` : second} are using`;
}
function whyNone(page, site, native) {
  if (!page.web || !site) return "Only websites can offer tools. This is a page of the browser itself, of an extension, or a file.";
  if (!page.allowed) return "You have not allowed the extension in this site yet.";
  if (page.asleep) return "The browser has put this tab to sleep. Its tools are back when it is loaded.";
  if (!site.on) return "You do not share this site: the hub sees nothing of it, and no app can use it.";
  if (!page.reached && page.loading) return "The page is still loading.";
  if (!page.reached) return "The browser lets no extension into this page: it shows an error, or a site that the browser protects.";
  if (site.rejected.length) return "The page offers tools, but none that can be used.";
  if (page.loading) return "The page is still loading. It has offered no tools so far.";
  if (wantsReload(page, site, native)) return "This page was loaded before the extension was there. Reload it, and its tools are seen.";
  if (native) return "This page offers no tools. Sites decide whether they do.";
  if (!page.secure) return "This page offers no tools. It was loaded over http, where pages can have no WebMCP; only what a site brings itself works there.";
  if (!site.webmcp) return "This page offers no tools. The browser has no WebMCP, and you have switched off what the extension gives instead, so the site must bring its own.";
  return "This page offers no tools. Sites decide whether they do. The browser has no WebMCP, so the extension gives pages its own.";
}
var wantsReload = (page, site, native) => !native && page.bare && page.secure && !page.loading && site !== void 0 && site.on && site.webmcp;
function unusable(standing) {
  const { hub, owner } = standing;
  if (hub.state === "connected") return owner.paused ? STATES.paused[0] : "";
  return hub.state === "connecting" ? "" : STATES[hub.state][0];
}
function explain(standing, address) {
  const { hub, waiting } = standing;
  const { host } = new URL(address);
  const state = stateOf(standing);
  switch (state) {
    case "waiting": {
      const count = questions(standing);
      const what = count === 1 ? "An app waits for your answer." : `${count} questions of apps wait for your answer.`;
      return waiting ? what : `${what} It was asked elsewhere: answer it in the dashboard, or with “tabhub approve”.`;
    }
    case "paused":
      return "Nothing is done for any app until you resume.";
    case "working":
      return "An app is using a page of this browser.";
    case "connecting":
      return `to ${host}`;
    case "absent":
      return `Nothing answers at ${host}. Start your AI app, or run “tabhub serve”.`;
    case "unproved":
      return `What answers at ${host} cannot prove that it is the hub that this browser is paired with, and was told nothing. Run “tabhub doctor” to see what it is.`;
    case "outdated":
      return "It cannot prove to this browser that it is yours, and was told nothing. Update tabhub, then run “tabhub stop”.";
    case "replaced":
      return "A copy of this browser profile is connected to the hub. To have both, choose “Become a new browser” in the settings.";
  }
  switch (hub.state) {
    case "connected":
      return "Your apps can use the pages that you share.";
    case "unpaired":
      return hub.reason ? `The hub at ${host} does not know this browser. Run “tabhub extension DIR” again and reload the extension, or run “tabhub browser pair”.` : "Run “tabhub browser pair” where the hub is, and open the address that it prints in this browser.";
    case "refused":
      return `At ${host}: ${hub.reason}`;
  }
  return "";
}

// schemaform.ts
var MAX_FIELDS = 100;
var MAX_CHOICES = 500;
var MAX_ROWS = 200;
var MAX_DEPTH = 4;
var MAX_STEPS = 8;
var MAX_TEXT = 500;
var made = 0;
function schemaForm(schema) {
  const root = resolved(schema, object(schema));
  const properties = Object.entries(object(root.properties));
  const fitting = properties.length <= MAX_FIELDS;
  const required = list(root.required);
  const fields = fitting ? properties.map(([name, part]) => new Field(name, part, object(schema), required.includes(name))) : [];
  const whole = new Field("Arguments", { type: "object", description: "A JSON object with all of them." }, {}, true);
  whole.fill({});
  const asJSON = make("input", "");
  asJSON.type = "checkbox";
  const empty = make("p", "soft", "It takes no arguments.");
  const parts = make("div", "parts", ...properties.length ? fields.map(({ element }) => element) : [empty]);
  const all = make("div", "schemaform", parts, whole.element, make("label", "soft", asJSON, " Write them as JSON"));
  const turn = () => {
    parts.hidden = asJSON.checked;
    whole.element.hidden = !asJSON.checked;
  };
  asJSON.checked = asJSON.disabled = !fitting;
  turn();
  const fill = (values) => {
    for (const field of fields) field.fill(Object.hasOwn(values, field.name) ? values[field.name] : void 0);
    whole.fill(values);
  };
  const given = () => Object.fromEntries(fields.map(({ name, given: given2 }) => [name, given2]).filter(([, value]) => value !== void 0));
  asJSON.addEventListener("change", () => {
    if (asJSON.checked) {
      for (const field of fields) field.check();
      whole.fill(given());
    } else if (whole.check() === "") {
      fill(object(whole.given));
    }
    turn();
  });
  const form = {
    element: all,
    errors: [],
    fill,
    value: () => {
      const asked = asJSON.checked ? [whole] : fields;
      form.errors = asked.map((field) => field.check()).filter((error) => error !== "");
      asked.find(({ wrong }) => wrong)?.focus();
      if (form.errors.length) return void 0;
      return asJSON.checked ? object(whole.given) : given();
    }
  };
  return form;
}
function parameters(schema) {
  const root = object(schema);
  const rows = [];
  const add = (at, depth) => {
    const required = list(at.required);
    for (const [name, raw] of Object.entries(object(at.properties))) {
      if (rows.length >= MAX_ROWS) return;
      const part = resolved(raw, root);
      rows.push({ name: cut(name), depth, type: typeName(part, root), required: required.includes(name), description: text(part.description), facts: [...oneOf(part), ...facts(part)] });
      if (depth + 1 >= MAX_DEPTH) continue;
      add(part, depth + 1);
      add(resolved(part.items, root), depth + 1);
    }
  };
  add(resolved(schema, root), 0);
  return rows;
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
  constructor(name, part, root, required) {
    this.name = name;
    this.#required = required;
    const schema = resolved(part, root);
    this.#control = controlFor(schema);
    const { element } = this.#control;
    element.id = `schemaform-${++made}`;
    const label = make("label", "wide", make("code", "", cut(name)), ` ${typeName(schema, root)}${required ? "" : ", optional"}`);
    label.htmlFor = element.id;
    const about2 = make("p", "soft wide", [text(schema.description), ...facts(schema)].filter((part2) => part2).join(" · "));
    about2.id = `${element.id}-about`;
    this.#problem.id = `${element.id}-problem`;
    this.#problem.setAttribute("role", "alert");
    element.setAttribute("aria-describedby", `${about2.id} ${this.#problem.id}`);
    if (required) element.ariaRequired = "true";
    this.element = make("div", "field", label, element, about2, this.#problem);
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
  const values = choices(schema);
  if (values.length && values.length <= MAX_CHOICES) return choice(values);
  switch (typeOf(schema)) {
    case "boolean":
      return box();
    case "integer":
    case "number":
      return number(schema);
    case "string":
      return line(schema);
  }
  return json(typeOf(schema));
}
function choice(values) {
  const select = make("select", "");
  const known = values.map((value) => JSON.stringify(value));
  select.append(new Option("—", ""), ...values.map((value, i) => new Option(shown(value), String(i))));
  return {
    element: select,
    read: () => select.value === "" ? void 0 : values[Number(select.value)],
    fill: (value) => {
      const at = known.indexOf(JSON.stringify(value));
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
function number({ type, minimum, maximum }) {
  const whole = list(type).includes("integer") || type === "integer";
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
function line({ format }) {
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
    const ways = [...list(anyOf), ...list(oneOf2)].filter((way) => object(way).type !== "null");
    if (typeof $ref === "string") at = { ...referred($ref, root), ...rest };
    else if (ways.length === 1) at = { ...object(ways[0]), ...rest };
    else break;
  }
  return at;
}
function referred(ref, root) {
  let at = ref.startsWith("#") ? root : void 0;
  for (const key of ref.split("/").slice(1)) {
    const name = key.replaceAll("~1", "/").replaceAll("~0", "~");
    at = Object.hasOwn(object(at), name) ? object(at)[name] : void 0;
  }
  return object(at);
}
function choices(schema) {
  if (Object.hasOwn(schema, "const")) return [schema.const];
  if (Array.isArray(schema.enum)) return schema.enum;
  const ways = [...list(schema.anyOf), ...list(schema.oneOf)].map(object).filter((way) => way.type !== "null");
  return ways.every((way) => Object.hasOwn(way, "const")) ? ways.map((way) => way.const) : [];
}
function typesOf({ type }) {
  return (Array.isArray(type) ? type : [type]).filter((name) => typeof name === "string" && name !== "null");
}
function typeOf(schema) {
  const types = typesOf(schema);
  return types.length === 1 ? types[0] : "";
}
function typeName(schema, root) {
  const types = typesOf(schema);
  if (!types.length) return choices(schema).length ? "choice" : "any";
  const items = types[0] === "array" ? typesOf(resolved(schema.items, root)) : [];
  return items.length ? `array of ${cut(items.join(" or "))}` : cut(types.join(" or "));
}
function oneOf(schema) {
  const values = choices(schema).slice(0, 50).map(shown);
  return values.length ? [cut(`one of ${values.join(", ")}`)] : [];
}
function facts(schema) {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, format } = schema;
  return [
    schema.default === void 0 ? "" : `default ${shown(schema.default)}`,
    range(minimum, maximum, ""),
    range(minLength, maxLength, " characters"),
    range(minItems, maxItems, " items"),
    typeof format === "string" ? `format ${cut(format)}` : "",
    typeof pattern === "string" ? `pattern ${cut(pattern)}` : ""
  ].filter((fact) => fact);
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
var list = (value) => Array.isArray(value) ? value : [];
var text = (value) => typeof value === "string" ? cut(value) : "";
var shown = (value) => cut(typeof value === "string" ? value : JSON.stringify(value) ?? "");
var cut = (long) => long.length > MAX_TEXT ? `${long.slice(0, MAX_TEXT)}…` : long;

// toolresult.ts
var IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
var MAX_BLOCKS = 50;
var MAX_TEXT2 = 1e5;
var MAX_DEPTH2 = 5;
var MAX_COLUMNS = 8;
var MAX_ROWS2 = 50;
var MAX_PARTS = 2e3;
var MAX_PART = 2e3;
function resultView(result) {
  const { content, structuredContent, isError } = object(result);
  const blocks = Array.isArray(content) ? content : [];
  const parts = blocks.slice(0, MAX_BLOCKS).map((each) => block(object(each)));
  if (blocks.length > MAX_BLOCKS) parts.push(make("p", "soft", `${blocks.length - MAX_BLOCKS} more are not shown.`));
  if (structuredContent !== void 0) {
    if (blocks.length === 1 && same(object(blocks[0]).text, structuredContent)) parts.pop();
    parts.push(layout(structuredContent), make("details", "", make("summary", "", "As JSON"), text2(structuredContent)));
  }
  if (!parts.length) parts.push(make("p", "soft", "The tool has returned nothing."));
  if (isError === true) parts.unshift(make("p", "bad", "The tool says that it failed:"));
  return make("div", isError === true ? "result failed" : "result", ...parts);
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
      const { uri, mimeType, text: said } = object(it.resource);
      const head = make("p", "wide", "Resource ", make("code", "", word(uri)));
      return make("div", "", head, said === void 0 ? make("p", "soft wide", `Data (${word(mimeType)}), which is not shown here.`) : text2(said));
    }
  }
  return text2(it);
}
function image({ mimeType, data }) {
  const type = IMAGES.find((known) => known === mimeType);
  if (!type || typeof data !== "string") return make("p", "soft wide", `An image (${word(mimeType)}), which is not shown here.`);
  const shown3 = make("img", "");
  shown3.alt = "An image that the tool has returned";
  shown3.src = `data:${type};base64,${data}`;
  return shown3;
}
function text2(value) {
  const long = typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "";
  const shown3 = make("pre", "wide", long.slice(0, MAX_TEXT2));
  shown3.tabIndex = 0;
  if (long.length <= MAX_TEXT2) return shown3;
  return make("div", "", shown3, make("p", "soft", `${(long.length - MAX_TEXT2).toLocaleString("en")} more characters are not shown.`));
}
function layout(value) {
  let left = MAX_PARTS;
  const show2 = (part, depth) => {
    if (part === null || typeof part !== "object") return make("span", "", cut2(String(part)));
    const size = Object.keys(part).length;
    if (size === 0 || depth === MAX_DEPTH2 || size > left) return make("code", "", cut2(JSON.stringify(part)));
    left -= size;
    if (!Array.isArray(part)) return make("dl", "", ...Object.entries(object(part)).flatMap(([name, of]) => [make("dt", "soft", name), make("dd", "", show2(of, depth + 1))]));
    const shown3 = part.slice(0, MAX_ROWS2);
    const columns = columnsOf(shown3);
    const all = columns ? table(columns, shown3, (of) => show2(of, depth + 1)) : make("ul", "", ...shown3.map((of) => make("li", "", show2(of, depth + 1))));
    return size > MAX_ROWS2 ? make("div", "", all, make("p", "soft", `${(size - MAX_ROWS2).toLocaleString("en")} more are not laid out.`)) : all;
  };
  return show2(value, 0);
}
var cut2 = (long) => long.length > MAX_PART ? `${long.slice(0, MAX_PART)}…` : long;
function columnsOf(all) {
  const names = new Set(all.flatMap((each) => Object.keys(object(each))));
  return names.size > 0 && names.size <= MAX_COLUMNS && all.every((each) => object(each) === each) ? [...names] : void 0;
}
function table(columns, all, show2) {
  const head = columns.map((name) => Object.assign(make("th", "", name), { scope: "col" }));
  const rows = all.map((each) => {
    const of = object(each);
    return make("tr", "", ...columns.map((name) => {
      const cell = make("td", "", ...Object.hasOwn(of, name) ? [show2(of[name])] : []);
      cell.dataset.column = name;
      return cell;
    }));
  });
  const made2 = make("div", "scroll", make("table", "", make("thead", "", make("tr", "", ...head)), make("tbody", "", ...rows)));
  made2.tabIndex = 0;
  return made2;
}
function same(said, value) {
  try {
    return typeof said === "string" && JSON.stringify(JSON.parse(said)) === JSON.stringify(value);
  } catch {
    return false;
  }
}
var word = (value) => typeof value === "string" ? value.slice(0, 500) : "of no kind that it says";

// tooltry.ts
function toolView(tool, at) {
  const { name, title, description } = tool;
  const { word: word2, sentence } = CLASSES[tool.class];
  const hint = make("span", `hint ${tool.class}`, word2);
  hint.title = sentence;
  const head = make("summary", "", make("span", "wide", make("code", "", name), ...title && title !== name ? [` ${title}`] : []), hint);
  if (description) head.append(make("p", "soft wide", description));
  const body = make("div", "body");
  const all = make("details", "", head, body);
  all.addEventListener("toggle", async () => {
    if (!all.open || body.childElementCount) return;
    const schema = await ask({ ask: "tool", tool: at });
    body.replaceChildren(...about(tool, schema), trier(at, schema));
  });
  return make("li", "tool", all);
}
function about(tool, schema) {
  const takes = parameters(schema);
  const list2 = make("dl", "");
  for (const { name, depth, type, required, description, facts: facts2 } of takes) {
    const head = make("dt", "wide", make("code", "", name), make("span", "soft", ` ${type}${required ? ", required" : ""}`));
    const words = make("dd", "soft wide", [description, ...facts2].filter((part) => part).join(" · "));
    for (const part of [head, words]) part.style.marginInlineStart = `${depth}em`;
    list2.append(head, words);
  }
  const parts = [make("p", tool.class === "destructive" ? "bad" : "soft", CLASSES[tool.class].sentence)];
  parts.push(takes.length ? make("div", "takes", make("h3", "", "Takes"), list2) : make("p", "soft", "It takes no arguments."));
  return parts;
}
function trier(at, schema) {
  const start = make("button", "", "Try it");
  start.setAttribute("aria-label", `Try it: ${at.name}`);
  const all = make("div", "try", start);
  start.addEventListener("click", () => {
    all.parentElement?.querySelector(".takes")?.remove();
    all.replaceChildren(tryForm(at, schema));
    all.querySelector("button, input, select, textarea")?.scrollIntoView({ block: "nearest" });
  });
  return all;
}
function tryForm(at, schema) {
  const fields = schemaForm(schema);
  const call = make("button", "main", "Call it");
  const cancel = make("button", "", "Cancel");
  cancel.type = "button";
  cancel.hidden = true;
  const said = make("p", "soft");
  said.setAttribute("role", "status");
  const outcome = make("div", "");
  const form = make("form", "", fields.element, make("div", "row", call, cancel, said), outcome);
  form.noValidate = true;
  let id = "";
  cancel.addEventListener("click", () => ask({ ask: "cancel", id }));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const args = fields.value();
    if (!args || call.disabled) return;
    id = crypto.randomUUID();
    call.disabled = true;
    cancel.hidden = false;
    said.textContent = "Calling…";
    outcome.replaceChildren();
    const began = performance.now();
    const tried = await ask({ ask: "try", id, tool: at, args }).catch((error) => ({ error: String(error) }));
    said.textContent = `It took ${duration(performance.now() - began)}.`;
    call.disabled = false;
    cancel.hidden = true;
    outcome.replaceChildren("error" in tried ? make("p", "bad wide", tried.error) : resultView(tried.result));
    outcome.scrollIntoView({ block: "nearest" });
  });
  return form;
}

// popup.ts
var EVERY = 1e3;
var MANY = 10;
var pause = byID("pause", HTMLButtonElement);
var paused = false;
var BROWSER_HAS_WEBMCP = "ModelContext" in window;
var sought = "";
var done = 0;
var shown2 = /* @__PURE__ */ new Map();
var tools = /* @__PURE__ */ new Map();
var tabId = await (async () => {
  const named = new URLSearchParams(location.search).get("tab");
  if (named) return Number(named);
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  return tab?.id ?? chrome.tabs.TAB_ID_NONE;
})();
async function show() {
  const status = await ask({ ask: "status", tabId });
  const { hub, owner, page, sites, recent, used, lease } = status;
  const state = stateOf(status);
  const connected = hub.state === "connected";
  byID("state").dataset.state = state;
  showBuild(byID("trusted"));
  byID("headline").textContent = STATES[state][0];
  byID("detail").textContent = explain(status, status.address);
  byID("retry", HTMLButtonElement).hidden = connected;
  byID("front", HTMLButtonElement).hidden = !status.waiting;
  pause.hidden = !connected;
  paused = owner.paused;
  pause.textContent = paused ? "Resume" : "Pause everything";
  pause.classList.toggle("main", paused);
  byID("dashboard", HTMLButtonElement).disabled = !connected;
  showList("held", lease ? [lease] : [], heldItem);
  showList("used", used, tabInUse);
  showList("recent", recent.map((use) => ({ ...use, when: ago(Date.now() - use.at) })), useItem);
  const own = sites[0];
  const can = connected && page.web && page.secure && page.reached && own?.on === true;
  const { recording } = status;
  const around = byID("recording");
  change(around, { recording, can, done }, () => recordingParts(recording, tabId, can, () => {
    done++;
    void show();
  }));
  around.classList.toggle("idle", !recording);
  around.hidden = !around.hasChildNodes();
  const since = Date.now() - (owner.at ?? 0);
  showList("connected", (owner.apps ?? []).map((app) => ({ ...app, last: app.lastMs ? ago(app.lastMs + since) : "" })), appItem);
  const seen = sites.map(({ keep, webmcp, ...site }) => site);
  const why = unusable(status);
  change(byID("sites"), { page, seen, why }, () => (sites.length ? sites : [void 0]).map((site) => section(site, page, why)));
}
function change(part, what, made2) {
  const now = JSON.stringify(what);
  if (shown2.get(part) === now) return;
  shown2.set(part, now);
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  part.replaceChildren(...made2());
  if (!(focused instanceof HTMLElement)) return;
  const again = focused.isConnected ? focused : focused.id && document.getElementById(focused.id);
  if (again) again.focus();
}
function showList(id, all, item) {
  const around = byID(id);
  around.hidden = !all.length;
  const list2 = around.querySelector("ul");
  if (list2) change(list2, all, () => all.map(item));
}
function tabInUse({ tabId: id, title, users }) {
  const words = make("div", "wide", make("strong", "", title || "A tab"), make("p", "soft", `${using(users)} it`));
  if (id === tabId) return make("li", "row", words, make("span", "soft", "This tab"));
  const go = make("button", "", "Show");
  go.setAttribute("aria-label", `Show ${title || "the tab"}`);
  go.addEventListener("click", () => void bringToFront(id));
  return make("li", "row", words, go);
}
function heldItem({ by, until, waiting }) {
  const time = new Date(until).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const means = waiting ? "It waits for you to finish here." : `Until ${time}, and longer while it works here. No other app uses the tab.`;
  const release = make("button", "", "Release");
  release.addEventListener("click", async () => {
    byID("problem").textContent = await ask({ ask: "release", tabId });
    await show();
  });
  return make("li", "row", make("div", "wide", make("strong", "", `Leased by ${by}`), make("p", "soft", means)), release);
}
async function bringToFront(id) {
  const tab = await chrome.tabs.update(id, { active: true });
  if (tab) await chrome.windows.update(tab.windowId, { focused: true });
  window.close();
}
var DONE = { navigate: "went elsewhere", screenshot: "took a picture", text: "read its text", activateTab: "brought it to the front" };
var ENDED = { done: "done", failed: "failed", cancelled: "cancelled" };
function useItem({ kind, name, app, took, ended, when }) {
  const what = kind === "browser" || kind === "acts" ? [make("span", "", DONE[name] ?? (name || "used the page"))] : [make("code", "", name)];
  const how = took === void 0 ? "under way" : `${ENDED[ended ?? ""] ?? "ended"}${ended ? `, ${duration(took)}` : ""}`;
  return make("li", ended === "failed" ? "use failed" : "use", make("div", "wide", make("strong", "", app || "You"), " ", ...what), make("p", "soft", `${when} · ${how}`));
}
function appItem({ name, said, calls, last }) {
  const made2 = calls === 1 ? "1 call" : `${calls.toLocaleString("en")} calls`;
  const item = make("li", "wide", make("strong", "", name));
  if (said && said !== name) item.append(make("span", "soft", ` calls itself ${said}`));
  item.append(make("p", "soft", last ? `${made2}, the last ${last}` : "It has called nothing"));
  return item;
}
function ago(ms) {
  const minutes = Math.floor(ms / 6e4);
  if (minutes < 1) return "just now";
  return minutes < 60 ? `${minutes} min ago` : `${Math.floor(minutes / 60)} h ago`;
}
function section(site, page, why) {
  if (!site) return make("section", "", make("h2", "", "This page"), make("p", "soft", whyNone(page, site, BROWSER_HAS_WEBMCP)));
  const { origin, on, webmcp, keep, rejected } = site;
  const name = new URL(origin).host;
  const count = site.tools.length === 1 ? "1 tool" : `${site.tools.length || "No"} tools`;
  const choose = (choice2) => ask({ ask: "site", origin, ...choice2 });
  const usable = why && site.tools.length ? `${count}. No app can use them now: ${why}` : count;
  const share = toggle("Share this site’s tools", on ? usable : "Off: the hub sees nothing of this site", on, async (on2) => {
    await choose({ on: on2 });
    await show();
    document.querySelector(`section[aria-label="${CSS.escape(name)}"] input`)?.focus();
  });
  const parts = [make("h2", "wide", name), share];
  if (site.tools.length) {
    const list2 = make("ul", "", ...site.tools.map((tool) => toolItem(tool, origin)));
    if (site.tools.length > MANY) parts.push(finder(list2));
    parts.push(list2);
  } else parts.push(make("p", "soft", whyNone(page, site, BROWSER_HAS_WEBMCP)));
  if (on && site.packs.length) parts.push(make("h3", "", "Packs for this site"), ...site.packs.map(packItem));
  if (page.web && !page.allowed) parts.push(allow(origin));
  else if (!site.tools.length && wantsReload(page, site, BROWSER_HAS_WEBMCP)) parts.push(reload());
  if (rejected.length) {
    const items = rejected.map(({ name: name2, reason }) => make("li", "wide", make("code", "", name2), `: ${reason}`));
    parts.push(make("p", "bad", "Left out:"), make("ul", "", ...items));
  }
  if (on) {
    const more = make("details", "more", make("summary", "soft", "More about this site"));
    more.append(make("p", "soft", `WebMCP: ${BROWSER_HAS_WEBMCP ? "this browser’s own" : "this extension’s, as the browser has none"}.`));
    if (!BROWSER_HAS_WEBMCP) more.append(toggle("Give its pages WebMCP", "Its pages are told with their next load", webmcp, (webmcp2) => choose({ webmcp: webmcp2 })));
    more.append(toggle("Keep its tools when its tabs are closed", "A call then opens the site again", keep, (keep2) => choose({ keep: keep2 })));
    parts.push(more);
  }
  const all = make("section", "", ...parts);
  all.setAttribute("aria-label", name);
  return all;
}
function finder(list2) {
  const field = make("input", "");
  field.type = "search";
  field.placeholder = "Find a tool";
  field.ariaLabel = field.placeholder;
  field.value = sought;
  const find = () => {
    sought = field.value;
    const words = sought.toLowerCase().split(/\s+/);
    for (const item of list2.children) item.hidden = !words.every((word2) => item.textContent?.toLowerCase().includes(word2));
  };
  field.addEventListener("input", find);
  find();
  return field;
}
function packItem({ name, hash, title, script, sites, on, problem: problem2 }) {
  const means = on ? problem2 ? "It is allowed, and does not run" : script ? "Its script runs in pages of its sites that are loaded from now on" : "Its tools are offered here" : script ? "It waits for you: allow its script only if you trust it" : "Its tools are not offered in this browser";
  const item = toggle(title && title !== name ? `${name}: ${title}` : name, means, on, async (on2) => {
    if (script && on2) await chrome.permissions.request({ permissions: ["userScripts"] }).catch(() => false);
    await ask({ ask: "pack", hash, on: on2 });
    await show();
    document.querySelector(`[data-pack="${CSS.escape(name)}"]`)?.focus();
  });
  item.querySelector("input").dataset.pack = name;
  if (!script) return item;
  const can = `This is a script. It can do anything on ${sites.join(", ")}: read and change what you see there, and act as you.`;
  const parts = [item];
  if (problem2) parts.push(make("p", "bad wide", `${problem2.words}.`));
  if (problem2?.kind === "switch") parts.push(...switchSteps());
  const version = make("p", "soft wide", "Version ", make("code", "", hash.slice(0, 12)));
  return make("div", "script", ...parts, make("p", on ? "soft wide" : "wide", can), version);
}
function switchSteps() {
  const steps = make("ol", "", make("li", "wide", "Open the extension’s page in the browser."), make("li", "wide", "Switch on “Allow User Scripts” there (before version 138: “Developer mode”), and load this page again."));
  const open = make("button", "main", "Open the extension’s page");
  open.addEventListener("click", () => void chrome.tabs.create({ url: `chrome://extensions/?id=${chrome.runtime.id}` }));
  return [steps, open];
}
function toolItem(tool, origin) {
  if (tool.pack) return make("li", "wide", make("code", "", tool.name), make("span", "soft", ` of the pack ${tool.pack}`));
  const key = JSON.stringify([origin, tool]);
  const known = tools.get(key);
  if (known) return known;
  const item = toolView(tool, { tabId, frameId: tool.frameId, origin, name: tool.name });
  tools.set(key, item);
  return item;
}
function reload() {
  const button = make("button", "main", "Reload this page");
  button.addEventListener("click", () => void chrome.tabs.reload(tabId));
  return button;
}
function allow(origin) {
  const { protocol, hostname } = new URL(origin);
  const button = make("button", "main", "Allow it in this site");
  button.addEventListener("click", async () => {
    await chrome.permissions.request({ origins: [`${protocol}//${hostname}/*`] });
    await show();
  });
  return button;
}
byID("retry", HTMLButtonElement).addEventListener("click", async () => {
  await ask({ ask: "reconnect" });
  await show();
});
byID("front", HTMLButtonElement).addEventListener("click", async () => {
  await ask({ ask: "front" });
  window.close();
});
pause.addEventListener("click", async () => {
  byID("problem").textContent = await ask({ ask: "pause", on: !paused });
  await show();
});
byID("dashboard", HTMLButtonElement).addEventListener("click", async () => {
  byID("problem").textContent = await ask({ ask: "dashboard" });
});
byID("options", HTMLButtonElement).addEventListener("click", () => chrome.runtime.openOptionsPage());
await show();
setInterval(show, EVERY);
