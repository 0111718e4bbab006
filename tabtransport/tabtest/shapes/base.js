// What the shapes share. A shape puts other members in the place of those that Chromium has, and passes on
// to Chromium's what they are given, so that documents and worlds still share one list of tools. What
// Chromium would drop rides in a tool's input schema; every world of a document takes it out again.
"use strict";

const { apply } = Reflect;
const { registerTool, getTools, executeTool } = ModelContext.prototype;
const { get: contextOf } = Object.getOwnPropertyDescriptor(Document.prototype, "modelContext");
const { get: userAgentOf } = Object.getOwnPropertyDescriptor(Navigator.prototype, "userAgent");
const context = () => apply(contextOf, document, []);

/** The key of what rides in an input schema. */
const RIDER = "tabhub-shape";

const isObject = (value) => Object(value) === value;

/** Gives a prototype members as Web IDL's are. */
function put(prototype, members) {
  Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(members));
}

/** A method that returns a promise throws nothing. */
function promised(work) {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Gives navigator the context, too. */
function onNavigator() {
  put(Navigator.prototype, {
    get modelContext() {
      apply(userAgentOf, this, []); // of navigators only
      return context();
    },
  });
}

/** Fires the events of calls at the window. */
function eventsOnWindow() {
  const isExtension = globalThis.chrome?.runtime?.id !== undefined; // the page's world has fired it already
  const listen = () => {
    for (const [type, made] of [["toolactivated", ToolActivatedEvent], ["toolcancel", ToolCancelEvent]]) {
      context()?.addEventListener(type, (event) => {
        event.stopImmediatePropagation();
        if (!isExtension) dispatchEvent(new made(type, { toolName: event.toolName }));
      });
    }
  };
  delete ModelContext.prototype.ontoolactivated;
  delete ModelContext.prototype.ontoolcancel;
  // A frame must not use the context earlier: see chromium.InFrame.
  if (window === top || document.readyState === "complete") listen();
  else addEventListener("load", () => navigator.locks.request("", listen));
}

/** Schemas and inputs are JSON. */
function jsonText() {
  put(ModelContext.prototype, {
    getTools() {
      const text = (schema) => (schema === undefined ? "" : JSON.stringify(schema));
      return apply(getTools, this, arguments).then((tools) => tools.map((tool) => ({ ...tool, inputSchema: text(tool.inputSchema) })));
    },
    executeTool(tool) {
      return promised(() => {
        const [, text, ...rest] = arguments;
        const known = isObject(tool) ? Object.create(tool, { inputSchema: { value: undefined } }) : tool;
        return apply(executeTool, this, [known, parsed(`${text}`), ...rest]);
      });
    },
  });
}

function parsed(text) {
  let input;
  try {
    input = JSON.parse(text);
  } catch {}
  if (!isObject(input)) throw new DOMException("Failed to parse input arguments", "UnknownError");
  return input;
}

/** Tools have output schemas. */
function outputSchemas() {
  put(ModelContext.prototype, {
    registerTool(tool) {
      const [, ...rest] = arguments;
      return promised(() => apply(registerTool, this, arguments.length ? [laden(tool), ...rest] : []));
    },
    getTools() {
      return apply(getTools, this, arguments).then((tools) => tools.map(unladen));
    },
  });
}

/** A tool that Chromium is given: its schemas ride. They are read when Web IDL reads them. */
function laden(tool) {
  if (!isObject(tool)) return tool;
  const id = Math.random();
  let output;
  const inputSchema = () => {
    const input = tool.inputSchema;
    const rider = () => ({ [RIDER]: { id, input: copied(input), output: copied(output) } });
    return input === undefined || isObject(input) ? { toJSON: rider } : input;
  };
  const title = () => {
    output = tool.outputSchema;
    if (output !== undefined && !isObject(output)) throw new TypeError("outputSchema is not an object");
    return tool.title;
  };
  return Object.create(tool, { inputSchema: { get: inputSchema }, title: { get: title } });
}

function copied(schema) {
  if (schema === undefined) return undefined;
  const text = JSON.stringify(schema);
  if (text === undefined) throw new TypeError("toJSON() returns undefined");
  return JSON.parse(text);
}

function unladen(tool) {
  const rider = tool.inputSchema?.[RIDER];
  if (!rider) return tool;
  const members = Object.entries({ ...tool, inputSchema: rider.input, outputSchema: rider.output });
  return Object.fromEntries(members.filter(([, value]) => value !== undefined).sort(([a], [b]) => (a < b ? -1 : 1)));
}
