// How WebMCP differs between browsers, their versions, and what libraries make of it. What a tool or a
// modelContext offers is asked for here; nothing else looks at a version.
//
//	                     Chromium 149-153    154-159             160-                Firefox 153
//	is at                document, navigator document            document            navigator
//	                     (until 151)
//	getTools gives       dictionaries        dictionaries        Tool objects        dictionaries
//	the tool's document  window              window              source              not said: its own
//	what it lacks        is no member        is no member        is null             is no member
//	schemas              JSON                objects             objects             objects
//	outputSchema         none                from 159            yes                 none
//	runs a tool          executeTool(tool,   executeTool(tool,   executeTool(tool,   invokeTool(name,
//	                     JSON)               object) (from 155)  object)             object)
//	tells of changes     toolchange          toolchange          toolchange          not at all

/** The window of a tool's document; undefined where that is not said, as it can only be its own. */
export function sourceOf(tool: RegisteredTool): Window | undefined {
  return tool.source ?? tool.window ?? undefined;
}

/** What a tool may hint. In an interface object its own properties do not name them. */
const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "untrustedContentHint", "consequentialHint", "debugging", "cache"];

/** Hints of which false says something: MCP takes them for true. */
const TRUE_HINTS = ["destructiveHint", "openWorldHint"];

/** A tool in the form of MCP. */
export function mcpTool(tool: RegisteredTool) {
  const { name, title, description, annotations } = tool;
  const item: Item = { name, description: description ?? undefined, inputSchema: schemaOf(tool.inputSchema) };
  if (title) item.title = title;
  if (tool.outputSchema) item.outputSchema = schemaOf(tool.outputSchema);
  const given: Record<string, unknown> = { ...annotations };
  for (const hint of HINTS) given[hint] = (annotations as any)?.[hint];
  // The browser fills in every hint that it knows.
  const hints = Object.entries(given).filter(([hint, value]) => value || (value === false && TRUE_HINTS.includes(hint)));
  if (hints.length) item.annotations = Object.fromEntries(hints);
  return item;
}

/** @param schema an object, or its JSON */
function schemaOf(schema: object | string | null | undefined) {
  if (typeof schema !== "string") return schema ?? undefined;
  try {
    return schema === "" ? undefined : JSON.parse(schema);
  } catch {
    return schema; // the hub tells what is wrong with it
  }
}

/** Whether a tool is an interface object, of which a copy or its JSON has nothing. */
export function isInterface(tool: RegisteredTool) {
  return !Object.hasOwn(tool, "name");
}

/**
 * Finds out what context.executeTool takes for tools that are dictionaries: an object, or before
 * Chromium 155 and of most libraries a JSON string. No tool has the name, so nothing runs; a library
 * may fail for that whatever it is given. In a frame without an address of its own the document's
 * origin is not that of its location.
 */
export async function takesObject(context: ModelContext): Promise<boolean> {
  const nobody = { name: "tabhub-no-such-tool", description: "none", window, source: window, origin: self.origin };
  const refuses = async (input: object | string) => {
    try {
      await context.executeTool(nobody, input);
      return false;
    } catch (error) {
      return error instanceof TypeError;
    }
  };
  return (await refuses("{}")) && !(await refuses({}));
}

/**
 * What a library or the browser has made at one of the API's places, with what is used of the
 * browser's; undefined if it has no tools that can be listed and run.
 * @param changed called when its tools may differ, where no event tells
 */
export function adapted(made: any, changed: () => void): ModelContext | undefined {
  if (typeof made.getTools !== "function") return undefined;
  const executes = typeof made.executeTool === "function";
  if (!executes && typeof made.invokeTool !== "function") return undefined;
  const tells = typeof made.addEventListener === "function";
  if (!tells) for (const method of ["registerTool", "unregisterTool"]) watch(made, method, changed);
  const events = tells ? made : new EventTarget();
  return {
    getTools: () => made.getTools(),
    executeTool: (...args: any[]) => {
      if (executes) return made.executeTool(...args);
      const [{ name }, input] = args;
      return made.invokeTool(name, typeof input === "string" ? JSON.parse(input) : input);
    },
    addEventListener: (...args: [any, any]) => events.addEventListener(...args),
    removeEventListener: (...args: [any, any]) => events.removeEventListener?.(...args),
  } as any;
}

/** Tells of each call of a method, a moment after it. */
function watch(object: any, method: string, called: () => void) {
  let owner = object;
  while (owner && !Object.hasOwn(owner, method)) owner = Object.getPrototypeOf(owner);
  const property = owner && Object.getOwnPropertyDescriptor(owner, method);
  if (typeof property?.value !== "function" || !property.configurable) return;
  // A proxy reads as what it stands for: the browser's own function.
  const value = new Proxy(property.value, {
    apply(run, context, args) {
      setTimeout(called);
      return Reflect.apply(run, context, args);
    },
  });
  Object.defineProperty(owner, method, { ...property, value });
}
