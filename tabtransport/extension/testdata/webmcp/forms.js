// Forms that are tools: filled in, submitted, answered; added, changed and removed.

const every = `<input name=t><textarea name=ta></textarea><input type=number name=n min=0 max=10><input type=range name=r><input type=checkbox name=c value=cv>
  <input type=checkbox name=cs value=1><input type=checkbox name=cs value=2 checked><input type=radio name=ra value=x checked><input type=radio name=ra value=y>
  <select name=s><option value=a>A<option value=b>B</select><select name=m multiple><option value=a>A<option value=b>B</select>
  <input type=date name=d><input type=color name=co><input type=email name=e><button id=go>Go</button>`;

/** A tool whose form answers itself with what answer gives. */
function answering(attributes, fields, answer) {
  const form = formOf(`<form toolname=tool tooldescription=d ${attributes}>${fields}</form>`);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    event.respondWith(answer(event));
  });
  return form;
}

const call = async (input, options) => context.executeTool(await toolOf("tool"), input, options);
const values = (form) => JSON.stringify([...new FormData(form)]);

check("all kinds of fields are filled in", async () => {
  const form = answering("toolautosubmit", every, () => values(form));
  const told = [];
  for (const type of ["input", "change"]) form.addEventListener(type, ({ target }) => told.push(`${type} ${target.name}`));
  const input = { t: "x", ta: "y", n: 5, r: 7, c: true, cs: ["1"], ra: "y", s: "b", m: ["a", "b"], d: "2020-01-02", co: "#ff0000", e: "a@b.c" };
  const want = [["t", "x"], ["ta", "y"], ["n", "5"], ["r", "7"], ["c", "cv"], ["cs", "1"], ["ra", "y"], ["s", "b"], ["m", "a"], ["m", "b"], ["d", "2020-01-02"], ["co", "#ff0000"], ["e", "a@b.c"]];
  same(await call(input), JSON.stringify(want));
  const twice = ["t", "ta", "n", "r", "c", "cs", "cs", "ra", "s", "m", "d", "co", "e"].flatMap((name) => [`input ${name}`, `change ${name}`]);
  same(told.splice(0), twice);
  await call(input);
  same(told.splice(0), ["change c", "change cs", "change cs", "change ra"], "of what is so already");
  same(JSON.parse(await call({ t: 5, n: "7", c: "false", s: "a" })).slice(0, 4), [["t", "5"], ["ta", "y"], ["n", "7"], ["r", "7"]]);
});

check("what does not fit changes nothing", async () => {
  const form = answering("toolautosubmit", every, () => "done");
  for (const input of [{ zz: 1 }, { t: null }, { t: {} }, { t: ["x"] }, { n: "x" }, { n: null }, { n: "" }, { c: 1.5 }, { c: "x" }, { cs: "1" }, { cs: ["3"] }, { cs: ["1", "1"] },
    { ra: "z" }, { s: "z" }, { m: "a" }, { m: ["z"] }, { d: "nonsense" }, { d: "2020-13-01" }, [], [1], { t: "fits", zz: 1 }]) {
    await rejects(call(input), "UnknownError", text(input));
  }
  same(form.elements.t.value, "");
});

check("what the page makes of a call", async () => {
  let event;
  const form = answering("toolautosubmit", "<input name=t><button id=go>Go</button>", (got) => ((event = got), "done"));
  same(await call({ t: "x" }), "done");
  same([event.agentInvoked, event.isTrusted, event.submitter.id, form.elements.t.value], [true, true, "go", "x"]);
  event = undefined;
  form.onsubmit = (got) => (event = got);
  form.addEventListener("submit", (got) => got.stopImmediatePropagation(), { capture: true, once: true });
  form.remove();
});

check("what the page answers", async () => {
  let answer;
  answering("toolautosubmit", "<input name=t>", () => answer);
  for (const [want, value] of [["done", "done"], ['{"a":1}', { a: 1 }], ["", ""], ["5", 5], ["null", null], ["undefined", undefined], ["[1]", [1]], ["later", later(10).then(() => "later")]]) {
    answer = value;
    same(await call({}), want);
  }
  const circular = {};
  answer = circular.self = circular;
  await rejects(call({}), "UnknownError");
});

check("a page that answers when it has awaited what is there", async () => {
  const form = formOf("<form toolname=tool tooldescription=d toolautosubmit><input name=t></form>");
  form.onsubmit = async (event) => {
    event.preventDefault();
    for (let i = 0; i < 20; i++) await i;
    event.respondWith(`${event.agentInvoked} ${form.elements.t.value}`);
  };
  same(await call({ t: "x" }), "true x");
});

check("a page that answers nothing, or too late", async () => {
  const form = formOf("<form toolname=tool tooldescription=d toolautosubmit><input name=t></form>");
  let thrown;
  const attempt = (event) => {
    try {
      event.respondWith("x");
    } catch (error) {
      thrown = error.name;
    }
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    setTimeout(attempt, 0, event);
  };
  await rejects(call({}), "UnknownError");
  await later(10);
  same(thrown, "InvalidStateError", "too late");
  thrown = undefined;
  form.onsubmit = (event) => {
    attempt(event);
    event.preventDefault();
  };
  await rejects(call({}), "UnknownError");
  same(thrown, "InvalidStateError", "before preventDefault");
  form.onsubmit = (event) => {
    event.preventDefault();
    same(event.agentInvoked, false, "a submission by a person");
    attempt(event);
  };
  thrown = undefined;
  form.requestSubmit();
  same(thrown, "InvalidStateError", "without a call");
});

check("a form that leads elsewhere", async () => {
  await frameOf({ name: "target", src: "/blank" });
  formOf("<form toolname=tool tooldescription=d toolautosubmit target=target action=/blank><input name=t required></form>");
  same(await call({ t: "x" }), null);
  same(await call({ t: "y" }), null);
  await rejects(call({ t: "" }), "UnknownError", "what the form does not take");
});

check("a form that its own script submits", async () => {
  await frameOf({ name: "target", src: "/blank" });
  const form = formOf("<form toolname=tool tooldescription=d toolautosubmit target=target action=/blank><input name=submitted></form>");
  form.onsubmit = (event) => {
    event.preventDefault();
    form.submit();
  };
  same(await call({}), null);
});

check("a form whose fields are named as its methods are", async () => {
  const names = ["elements", "getAttribute", "requestSubmit", "submit", "matches", "isConnected", "closest"];
  const form = answering("toolautosubmit", names.map((name) => `<input name=${name}>`).join(""), () => values(form));
  same((await toolOf("tool")).inputSchema.properties, Object.fromEntries(names.map((name) => [name, { type: "string" }])));
  same(await call({ elements: "x" }), JSON.stringify(names.map((name) => [name, name === "elements" ? "x" : ""])));
});

check("a form of a page that adds to all objects", async () => {
  Object.prototype.added = () => "added";
  try {
    answering("toolautosubmit", "<input name=t>", (event) => event.target.elements.t.value);
    same(await call({ t: "x" }), "x");
  } finally {
    delete Object.prototype.added;
  }
});

check("a form without a button", async () => {
  const form = formOf("<form toolname=tool tooldescription=d><input name=t></form>");
  await rejects(call({ t: "x" }), "UnknownError");
  same(form.elements.t.value, "");
});

check("a form that waits for the person", async () => {
  const form = answering("", "<input name=t><button id=go>Go</button>", () => "done");
  let settled = false;
  const activated = heard(context, "toolactivated");
  const result = call({ t: "x" }).finally(() => (settled = true));
  await activated;
  await later(50);
  same([settled, form.elements.t.value, document.activeElement.id], [false, "x", "go"]);
  form.elements.go.click();
  same(await result, "done");
});

check("a form that waits, and is reset, changed, removed or cancelled", async () => {
  for (const [want, end] of [
    ["UnknownError", (form) => form.reset()],
    ["UnknownError", (form) => form.setAttribute("tooldescription", "new")],
    ["UnknownError", (form) => (form.elements.t.required = true)],
    ["UnknownError", (form) => form.removeAttribute("toolname")],
    ["UnknownError", (form) => form.remove()],
    ["why", (_, controller) => controller.abort("why")],
  ]) {
    const form = answering("", "<input name=t><button>Go</button>", () => "done");
    const controller = new AbortController();
    const activated = heard(context, "toolactivated");
    const cancelled = heard(context, "toolcancel");
    const result = call({ t: "x" }, { signal: controller.signal });
    result.catch(() => {});
    await activated;
    end(form, controller);
    await rejects(result, want, text(String(end)));
    if (want === "why") same((await cancelled).toolName, "tool");
    form.remove();
    await later(20);
  }
});

/** Waits until the document offers these tools, and no others. */
async function offers(want) {
  for (;;) {
    const changed = heard(context, "toolchange");
    const tools = await context.getTools();
    if (text(tools.map(members).map(({ name, title, description, inputSchema }) => [name, title, description, Object.keys(inputSchema.properties)])) === text(want)) return;
    await changed;
  }
}

check("forms come, change and go", async () => {
  const form = formOf("<form toolname=tool tooldescription=d><input name=t></form>");
  await toolOf("tool");
  const change = async (act, want) => {
    const changed = heard(context, "toolchange");
    act();
    await changed;
    await offers(want);
  };
  await change(() => form.setAttribute("tooltitle", "T"), [["tool", "T", "d", ["t"]]]);
  await change(() => form.setAttribute("tooldescription", "new"), [["tool", "T", "new", ["t"]]]);
  await change(() => form.setAttribute("toolname", "other"), [["other", "T", "new", ["t"]]]);
  await change(() => form.removeAttribute("tooltitle"), [["other", "", "new", ["t"]]]);
  await change(() => form.insertAdjacentHTML("beforeend", "<input name=u>"), [["other", "", "new", ["t", "u"]]]);
  await change(() => (form.elements.t.name = "v"), [["other", "", "new", ["v", "u"]]]);
  await change(() => (form.elements.u.disabled = true), [["other", "", "new", ["v"]]]);
  await change(() => form.toggleAttribute("toolautosubmit"), [["other", "", "new", ["v"]]]);
  await change(() => form.setAttribute("toolname", "no name"), []);
  await change(() => form.setAttribute("toolname", "tool"), [["tool", "", "new", ["v"]]]);
  await change(() => form.removeAttribute("tooldescription"), []);
  await change(() => form.setAttribute("tooldescription", ""), [["tool", "", "", ["v"]]]);
  await change(() => form.remove(), []);
});

check("a form that goes leaves its name at once", async () => {
  for (const go of [(form) => form.remove(), (form) => form.removeAttribute("toolname")]) {
    const form = formOf("<form toolname=tool tooldescription=d></form>");
    await toolOf("tool");
    const controller = new AbortController();
    go(form);
    await context.registerTool({ name: "tool", description: "in its place", execute() {} }, { signal: controller.signal });
    same((await context.getTools()).map(({ description }) => description), ["in its place"], text(String(go)));
    controller.abort();
    form.remove();
  }
});

check("a form that goes is told before it is missing", async () => {
  const form = formOf("<form toolname=tool tooldescription=d></form>");
  await toolOf("tool");
  const told = [];
  context.addEventListener("toolchange", () => told.push("changed"), { once: true });
  form.remove();
  told.push((await context.getTools()).length);
  same(told, ["changed", 0]);
});

check("a name is one tool's", async (signal) => {
  formOf("<form toolname=tool tooldescription=first></form>");
  await toolOf("tool");
  formOf("<form toolname=tool tooldescription=second></form>");
  await rejects(context.registerTool({ name: "tool", description: "third", execute() {} }, { signal }), "InvalidStateError");
  await later(20);
  same((await context.getTools()).map(({ description }) => description), ["first"]);
});

check("an element of another namespace is no form", async () => {
  const other = document.createElementNS(null, "form");
  other.setAttribute("toolname", "other");
  other.setAttribute("tooldescription", "d");
  document.body.append(other);
  formOf("<form toolname=tool tooldescription=d></form>");
  await toolOf("tool");
  same((await context.getTools()).map(({ name }) => name), ["tool"]);
  other.remove();
});

check("forms of documents without a window are no tools", async () => {
  const other = document.implementation.createHTMLDocument();
  other.body.innerHTML = "<form toolname=tool tooldescription=d toolautosubmit><input name=q></form>";
  const form = other.querySelector("form");
  await later(20);
  same(await context.getTools(), []);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    event.respondWith(form.elements.q.value);
  });
  document.body.append(form);
  same(await call({ q: "adopted" }), "adopted");
});
