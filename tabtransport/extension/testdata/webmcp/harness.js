// What the checks of WebMCP share. They are the same for the browser's own and for the extension's.

const checks = [];
const check = (name, run) => checks.push({ name, run });

/** Runs a check and returns how it has failed, "" if it has not. */
async function runCheck(index) {
  const { name, run } = checks[index];
  const controller = new AbortController(); // takes back what the check registers
  let failed = "";
  try {
    const timeout = later(12_000).then(async () => {
      const answers = await Promise.race([context.getTools(), later(2_000)]);
      throw answers ? "it does not end" : "the API is silent";
    });
    await Promise.race([run(controller.signal), timeout]);
  } catch (error) {
    failed = `${error?.stack ?? error}: ${name}`;
  }
  controller.abort();
  for (const made of document.querySelectorAll("iframe, form")) made.remove();
  return failed;
}

const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));

function same(got, want, about = "") {
  if (text(got) !== text(want)) throw new Error(`${about} is ${text(got)}, want ${text(want)}`);
}

/** The promise must be rejected: with an error of a name, or with a value. */
async function rejects(promise, want, about = "") {
  let got;
  try {
    got = `resolved to ${text(await promise)}`;
  } catch (error) {
    got = error instanceof Error || error instanceof DOMException ? error.name : error;
  }
  same(got, want, about);
}

const context = document.modelContext;
/** Whether calls may go on in other documents, and tools ask: no browser has that yet. */
const resumes = "resumeTool" in context;
const later = (ms = 0) => new Promise((done) => setTimeout(done, ms));
const heard = (target, type) => new Promise((done) => target.addEventListener(type, done, { once: true }));

/** What a tool is: a dictionary, or an object of an interface, which has its members on the prototype and null for those that are empty. */
function members(tool) {
  const { annotations, description, inputSchema, name, origin, outputSchema, title } = tool;
  const all = { annotations, description, inputSchema, name, origin, outputSchema, title, window: tool.source ?? tool.window };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== null));
}

/** How a call of a tool that is given as a dictionary fails: where tools are objects, the browser takes no others. */
const ofDictionary = (want) => ("Tool" in window && !("window" in Tool.prototype) ? "TypeError" : want);

/** The tool of a name, once a document has it. */
async function toolOf(name, options, from = context) {
  for (;;) {
    const changed = heard(from, "toolchange");
    const tool = (await from.getTools(options)).find((tool) => tool.name === name);
    if (tool) return tool;
    await changed;
  }
}

/** Registers a tool and runs it. */
async function run(signal, execute, input, options) {
  await context.registerTool({ name: "tool", description: "d", execute }, { signal });
  return context.executeTool(await toolOf("tool"), input, options);
}

/** A frame that has loaded. */
async function frameOf(attributes) {
  const frame = Object.assign(document.createElement("iframe"), attributes);
  document.body.append(frame);
  await heard(frame, "load");
  return frame;
}

/** A form, by its HTML. */
function formOf(html) {
  document.body.insertAdjacentHTML("beforeend", html);
  return document.body.lastElementChild;
}
