// Tools are objects of an interface, not dictionaries.
outputSchemas();

/** What a Tool stands for. @type {WeakMap<Tool, object>} */
const dictionaries = new WeakMap();
/** By the documents' windows and the tools' names. @type {WeakMap<Window, Map<string, {text: string, tool: Tool}>>} */
const known = new WeakMap();

function dictionaryOf(tool) {
  const dictionary = dictionaries.get(tool);
  if (!dictionary) throw new TypeError("it is no Tool");
  return dictionary;
}

class Tool {
  constructor() {
    throw new TypeError("Illegal constructor");
  }
}
put(Tool.prototype, {
  get source() {
    return dictionaryOf(this).window;
  },
});
for (const name of ["origin", "name", "title", "description", "inputSchema", "outputSchema", "annotations"]) {
  put(Tool.prototype, {
    get [name]() {
      return dictionaryOf(this)[name] ?? null;
    },
  });
}
Object.defineProperty(Tool.prototype, Symbol.toStringTag, { value: "Tool", configurable: true });
Object.defineProperty(window, "Tool", { value: Tool, writable: true, configurable: true });

/** The Tool of what Chromium lists: the same while the registration lasts. */
function toolOf(listed) {
  const { window: source, ...rest } = listed;
  const text = JSON.stringify(rest);
  if (!known.has(source)) known.set(source, new Map());
  const tools = known.get(source);
  if (tools.get(listed.name)?.text !== text) {
    // An object that structuredClone refuses.
    const tool = Object.setPrototypeOf(new EventTarget(), Tool.prototype);
    dictionaries.set(tool, unladen(listed));
    tools.set(listed.name, { text, tool });
  }
  return tools.get(listed.name).tool;
}

put(ModelContext.prototype, {
  getTools() {
    return apply(getTools, this, arguments).then((tools) => tools.map(toolOf));
  },
  executeTool(tool) {
    const [, ...rest] = arguments;
    return promised(() => apply(executeTool, this, [dictionaryOf(tool), ...rest]));
  },
});
