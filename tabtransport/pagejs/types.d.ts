// Types of the library, for `tsc` only.

/** A tool, resource or prompt, in the form of MCP. */
interface Item {
  name: string;
  [member: string]: unknown;
}

interface Rejection {
  name: string;
  reason: string;
}

/** What the hub has not taken of a list, and what is wrong with parts of the others. */
interface Refused {
  rejected: Rejection[];
  warnings: Rejection[];
}

type Offered<T> = { tools: T; resources: T; prompts: T };

interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

interface CallOptions {
  /** A call takes until it ends or is aborted. */
  signal: AbortSignal;
  progress?: (p: Progress) => void;
  /** Called when the call waits for the person in front of the tab to submit a form or answer the page; what it returns is called when it waits no more. */
  waiting?: () => (() => void) | void;
  /** Keeps the call for the next document, which resumes it with the token; rejects if it cannot be kept. */
  token?: (token: string) => Promise<void>;
  /** Asks a person (requestUserInput). */
  ask?: (request: unknown, interact: unknown) => Promise<unknown>;
  /** What the hub says beside the arguments; traceparent is the span of the call, in the words of W3C Trace Context, for a page that traces what it does. */
  extensions?: { traceparent?: string; [name: string]: unknown };
}

/** The parameters of MCP's completion/complete. */
interface Completion {
  ref: { type: string; name?: string; uri?: string };
  argument: unknown;
  context?: unknown;
}

/** One way to what a document offers. */
interface Source {
  start(): void;
  stop(): void;
  /** What it has now, in the form of MCP. It does not fail because the page is busy: it has what it had. */
  offer(): Promise<{ tools: object[]; resources: object[]; prompts: object[] }>;
  has(tool: string): boolean;
  /** Resolves to the JSON of a CallToolResult. */
  call(tool: string, args: object, options: CallOptions): Promise<string>;
}

/** The owner of a client of a page's server. */
interface PageClient {
  version: string;
  /** What the ids of its requests begin with, which cannot be guessed: a script of the page may use the same ids. */
  prefix: string;
  /** Resolves when no client of the page's own hears what is answered to ids with the prefix. */
  hidden(): Promise<unknown>;
  /** Whether a server may have announced itself unheard, so that it is asked. Where there is none, nothing may show that one is looked for. */
  asks: boolean;
  /** Whether one that does not answer the question is tried once the page has loaded. */
  tries: boolean;
  /** Called when what is offered may differ. */
  changed(): void;
  /** Called when a resource's content has changed. */
  updated(uri: string): void;
}

// ---- WebMCP

/** A tool as a modelContext gives it: a dictionary, or an object whose members are its prototype's. */
interface RegisteredTool {
  readonly name: string;
  readonly description: string | null;
  readonly title?: string | null;
  readonly inputSchema?: object | string | null;
  readonly outputSchema?: object | string | null;
  readonly annotations?: object | null;
  /** That of its document, until Chromium 160. */
  readonly window?: Window | null;
  /** The same from then on. */
  readonly source?: Window | null;
  readonly origin?: string;
}

interface ModelContext extends EventTarget {
  registerTool(tool: object, options?: object): Promise<void>;
  /** RegisteredTools. The types that others publish have one form of them. */
  getTools(options?: object): Promise<any[]>;
  executeTool(tool: any, input: object | string, options?: { signal: AbortSignal }): Promise<any>;
}

// ---- WebMCP of this library

type ToolEventType = "toolchange" | "toolactivated" | "toolcancel";

/** The result's text, null if the call has led to another document, or what the caller learns of a failure, and what was thrown. */
type ToolOutcome = { text: string | null } | { failed: string; error?: unknown };

/** The script that gives a document its API. */
interface WebMCPOwner {
  /** Called when the document's tools may differ, before the page is notified. */
  changed(): void;
  /** Called with what a tool has thrown, which its caller does not see, and on which input. */
  threw(name: string, input: string, error: unknown): void;
  /** A call may go on in another document: it is kept until a minute is over. It rejects if it cannot be, and resolves to whether the owner knows the call, by the signal that it gave. */
  took(caller: AbortSignal, token: string): Promise<boolean>;
  /** Takes up, here, a call that has taken a token in a document that has gone; undefined if there is none. */
  resume(token: string): Promise<import("./webmcpinvocation.ts").Resumed | undefined>;
  /** Whether a call that has taken a token may be taken up by a document beside the one that took it. */
  release(token: string): Promise<boolean>;
  /** Asks the person whose agent has made a call. */
  ask(caller: AbortSignal, request: unknown, interact: unknown): Promise<unknown>;
}

interface ListedTool {
  name: string;
  title: string;
  description: string;
  /** JSON. */
  schema?: string;
  /** That of the result, JSON. */
  output?: string;
  annotations?: Record<string, boolean>;
}

interface DocumentTool extends ListedTool {
  /** To documents of which other origins. */
  exposed: Record<string, true>;
  /** Takes JSON, and the signal by which the owner knows the call. */
  run(input: string, signal: AbortSignal, caller?: AbortSignal): Promise<ToolOutcome>;
}

/** A tool as a document sees it. */
interface SeenTool {
  name: string;
  title: string;
  description: string;
  inputSchema?: object;
  outputSchema?: object;
  annotations?: object;
  origin: string;
  window: Window;
  /** The one in its own document, if that is of this origin. */
  of?: DocumentTool;
}

/** A document's API. */
interface MadeWebMCP {
  context(): ModelContext;
  start(): import("./webmcptools.ts").DocumentTools;
  frames: import("./webmcpframes.ts").ToolFrames;
}

/** What the API offers to the script that has given it to a document. */
interface OfferedWebMCP {
  /** Those of document.modelContext, as it is before the API is made and then. A script that leads to it elsewhere adds its own. */
  readonly getters: Function[];
  context(): ModelContext;
  /** Begins to look for forms that are tools, before the page uses the API. */
  start(): void;
  /** Takes a message of another document, whose data are {tabhub: "webmcp"}. */
  heard(event: MessageEvent): void;
}

interface Document {
  readonly modelContext?: ModelContext;
  readonly prerendering?: boolean;
}
