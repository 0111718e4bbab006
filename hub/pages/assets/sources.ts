// What the page offers otherwise than through what this script gave it, found with the library that
// the companion extension uses, too.

import { hideAnswers } from "../../../tabtransport/pagejs/answers.ts";
import { LibraryTools } from "../../../tabtransport/pagejs/library.ts";
import { ModelContextTools } from "../../../tabtransport/pagejs/modelcontext.ts";
import { PageServer } from "../../../tabtransport/pagejs/pageserver.ts";
import { sourceOf } from "../../../tabtransport/pagejs/shapes.ts";
import { ToolCalls } from "../../../tabtransport/pagejs/toolcalls.ts";
import { Values } from "../../../tabtransport/pagejs/values.ts";
import { watchTools } from "../../../tabtransport/pagejs/watchtools.ts";
import type { Calls } from "./calls.ts";

import type { WebMCPSource } from "./webmcpsource.ts";

/** In the order of precedence. */
export function pageSources(native: ModelContext | undefined, given: WebMCPSource | undefined, changed: () => void, updated: (uri: string) => void, resume: Calls["resume"]): Source[] {
  // The page has this script, so it may be asked whether it has a server. Those older than
  // 1.0 announce themselves once, perhaps before this script ran, and do not answer.
  const prefix = `tabhub-${Values.randomID()}-`;
  const read = hideAnswers(prefix);
  const server = new PageServer(window, self.origin === "null" ? "*" : self.origin, "mcp-default", {
    version: "1",
    prefix,
    hidden: async () => {},
    asks: true,
    tries: true,
    changed,
    updated,
  });
  addEventListener("message", (event) => {
    // In an event that a script has made, the source is whatever it says.
    if (event.isTrusted && event.source === window) server.heard(PageServer.payload(read(event), "mcp-default"));
  });
  if (native) {
    const tools = new ModelContextTools(native, changed, isOfThisDocument);
    const calls = new ToolCalls();
    watchTools(Object.getPrototypeOf(native), {
      registers: () => {},
      threw: (name, input, error) => tools.threw(name, input, Values.errorText(error)),
      took: async (call, token) => ("caller" in call ? calls.took(call.caller, token) : tools.took(call.name, call.input, token)),
      resume: async (token) => calls.resumed(await resume(token)),
    });
    return [tools, server];
  }
  const library = class extends LibraryTools {
    start() {
      super.start(given?.getters);
    }
  };
  return [server, new library(changed, isOfThisDocument)];
}

/**
 * The modelContext of the browser or the extension. Libraries shadow it with one of their own, on
 * the document; what they shadow is still behind the prototype's getter, which unlike a library's
 * is for documents only.
 */
export function nativeContext(): ModelContext | undefined {
  const getter = Object.getOwnPropertyDescriptor(Document.prototype, "modelContext")?.get;
  try {
    getter?.call({});
  } catch {
    return getter?.call(document);
  }
  return undefined;
}

export function isOfThisDocument(tool: RegisteredTool) {
  const source = sourceOf(tool);
  if (source === window || !source) return true;
  if (tool.origin !== undefined && tool.origin !== self.origin) return false;
  try {
    // A frame of the same site that has a connection of its own offers it itself.
    return !source.tabhub;
  } catch {
    return false; // of another site
  }
}
