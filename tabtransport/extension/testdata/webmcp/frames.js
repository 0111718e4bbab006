// Tools of frames. OTHER is another origin, with the same pages.

const registering = (name, options = "{}") =>
  `<script>document.modelContext.registerTool({name: "${name}", description: "d", execute: (input, options) => (window.executed ?? (() => "from ${name}"))(input, options)}, ${options})
    .then(() => parent.postMessage("registered", "*"), (error) => parent.postMessage(error.name, "*"))</` + `script>`;

/** A frame, and what it says of its registration. */
async function registered(attributes) {
  const said = heard(window, "message");
  const frame = Object.assign(document.createElement("iframe"), attributes);
  document.body.append(frame);
  return [frame, (await said).data];
}

check("a frame of the same origin", async () => {
  const [frame, said] = await registered({ srcdoc: registering("framed") });
  same(said, "registered");
  const tool = await toolOf("framed");
  same([members(tool).window === frame.contentWindow, tool.origin], [true, origin]);
  const told = [];
  const note = ({ toolName }) => told.push(`here ${toolName}`);
  context.addEventListener("toolactivated", note);
  frame.contentDocument.modelContext.addEventListener("toolactivated", ({ toolName }) => told.push(`there ${toolName}`));
  same(await context.executeTool(tool, {}), "from framed");
  context.removeEventListener("toolactivated", note);
  same(told, ["there framed"]);
  same((await frame.contentDocument.modelContext.getTools()).map(({ name }) => name), ["framed"]);
  const changed = heard(frame.contentDocument.modelContext, "toolchange");
  const controller = new AbortController();
  await context.registerTool({ name: "outer", description: "d", execute: () => "from outer" }, { signal: controller.signal });
  await changed;
  const inner = frame.contentDocument.modelContext;
  const outer = await toolOf("outer", {}, inner);
  same(await inner.executeTool(outer, {}), "from outer");
  controller.abort();
});

check("a frame that goes", async () => {
  const [frame] = await registered({ srcdoc: registering("framed") });
  const tool = await toolOf("framed");
  const inner = frame.contentDocument.modelContext;
  const { promise: began, resolve } = Promise.withResolvers();
  frame.contentWindow.executed = () => new Promise(resolve);
  const result = context.executeTool(tool, {});
  await began;
  frame.remove();
  await rejects(result, "UnknownError");
  await rejects(context.executeTool(tool, {}), "InvalidStateError");
  same(await context.getTools(), []);
  let name;
  await inner.registerTool({ name: "x", description: "d", execute() {} }).catch((error) => (name = error.name));
  same(name, "InvalidStateError", "what is left of it");
});

check("a frame that goes while it waits for a tool", async (signal) => {
  const [frame] = await registered({ srcdoc: registering("framed") });
  const { promise: aborted, resolve } = Promise.withResolvers();
  const execute = (_, options) => new Promise(() => (options.signal.onabort = resolve));
  await context.registerTool({ name: "outer", description: "d", execute }, { signal });
  const activated = heard(context, "toolactivated");
  const inner = frame.contentDocument.modelContext;
  void inner.executeTool(await toolOf("outer", {}, inner), {}).catch(() => {});
  await activated;
  const cancelled = heard(context, "toolcancel");
  frame.remove();
  await aborted;
  same((await cancelled).toolName, "outer");
});

check("frames that may have no tools", async () => {
  const page = `${OTHER}/frame.html?plain`;
  const [other, said] = await registered({ src: page });
  same(said, "NotAllowedError", "of another origin without leave");
  other.remove();
  for (const allow of ["tools 'none'", "tools https://example.com"]) {
    const [denied, why] = await registered({ src: page, allow });
    same(why, "NotAllowedError", allow);
    denied.remove();
  }
  const [own, why] = await registered({ srcdoc: registering("framed"), allow: "tools 'none'" });
  same(why, "NotAllowedError", "of the same origin, forbidden");
  own.remove();
  const [sandboxed, no] = await registered({ srcdoc: registering("framed"), sandbox: "allow-scripts" });
  same(no, "NotAllowedError", "sandboxed");
  sandboxed.remove();
  for (const allow of ["tools", "tools *", "camera; tools 'src'", `tools ${OTHER}`]) {
    const [frame, leave] = await registered({ src: page, allow });
    same(leave, "registered", allow);
    frame.remove();
  }
});

check("a frame of another origin", async () => {
  const [frame, said] = await registered({ src: `${OTHER}/frame.html?exposed`, allow: "tools" });
  same(said, "registered");
  same(await context.getTools(), [], "without asking for it");
  same(await context.getTools({ fromOrigins: ["https://example.com"] }), [], "of others");
  const [tool, ...more] = await context.getTools({ fromOrigins: [OTHER] });
  same([tool.name, tool.origin, members(tool).window === frame.contentWindow, more.length], ["framed", OTHER, true, 0]);
  same(await context.executeTool(tool, { a: 1 }), "from framed");
  await rejects(context.executeTool({ ...members(tool), origin }, {}), ofDictionary("UnknownError"));
  await rejects(context.executeTool({ ...members(tool), window }, {}), ofDictionary("UnknownError"));
});

check("a frame of another origin whose tool changes, and back", async () => {
  const [frame] = await registered({ src: `${OTHER}/frame.html?changes`, allow: "tools" });
  const listed = async (description) => {
    const said = heard(window, "message");
    frame.contentWindow.postMessage({ description }, "*");
    same((await said).data, "registered");
    const [tool] = await context.getTools({ fromOrigins: [OTHER] });
    same(tool.description, description);
    return tool;
  };
  const first = await listed("one thing");
  await listed("another");
  same((await listed("one thing")) === first, false, "the one before is forgotten");
});

check("a frame of another origin that exposes nothing", async () => {
  const [frame, said] = await registered({ src: `${OTHER}/frame.html?plain`, allow: "tools" });
  same(said, "registered");
  same(await context.getTools({ fromOrigins: [OTHER] }), []);
  const tool = { name: "framed", description: "d", window: frame.contentWindow, origin: OTHER };
  await rejects(context.executeTool(tool, {}), ofDictionary("UnknownError"));
});

check("a call over origins that is cancelled", async () => {
  await registered({ src: `${OTHER}/frame.html?hangs`, allow: "tools" });
  const [tool] = await context.getTools({ fromOrigins: [OTHER] });
  const controller = new AbortController();
  const started = heard(window, "message");
  const result = context.executeTool(tool, {}, { signal: controller.signal });
  result.catch(() => {});
  same((await started).data, "started");
  const aborted = heard(window, "message");
  controller.abort("why");
  await rejects(result, "why");
  same((await aborted).data, "aborted AbortError");
});

check("a change over origins", async () => {
  const controller = new AbortController();
  const [frame] = await registered({ src: `${OTHER}/frame.html?listens`, allow: "tools" });
  const changed = heard(window, "message");
  await context.registerTool({ name: "outer", description: "d", execute: () => "from outer" }, { signal: controller.signal, exposedTo: [OTHER] });
  same((await changed).data, "changed");
  const result = heard(window, "message");
  frame.contentWindow.postMessage("call", "*");
  same((await result).data, "outer: from outer");
  controller.abort();
});

check("a form that comes late in a frame that does nothing else", async () => {
  const frame = await frameOf({ src: "/blank" });
  await context.getTools();
  const changed = heard(context, "toolchange");
  frame.contentDocument.body.innerHTML = "<form toolname=late tooldescription=d toolautosubmit></form>";
  await changed;
  const [tool] = await context.getTools();
  frame.contentDocument.querySelector("form").onsubmit = (event) => {
    event.preventDefault();
    event.respondWith("from the frame");
  };
  same(await context.executeTool(tool, {}), "from the frame");
});

check("an empty frame", async () => {
  const frame = document.createElement("iframe");
  document.body.append(frame);
  same(frame.contentDocument.modelContext === frame.contentDocument.modelContext, true);
  frame.contentDocument.body.innerHTML = "<form toolname=empty tooldescription=d></form>";
  same(members(await toolOf("empty")).window === frame.contentWindow, true);
});
