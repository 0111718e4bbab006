// Types for pages that use tabhub's /tab.js or /embed.js: the standard's WebMCP (document.modelContext)
// as Chromium 160 has it, and window.tabhub. Keep this file beside your copy of tab.js, or anywhere in
// the program.
//
// Where TypeScript's own lib.dom, or a library, declares document.modelContext, that declaration counts
// and this one steps back: Document and SubmitEvent only inherit theirs from interfaces of the
// namespace WebMCP. Types need no import: WebMCP.Tool, Tabhub.Tool.

declare namespace WebMCP {
  interface ModelContext extends EventTarget {
    /** Registers a tool. Rejects with InvalidStateError if the name is taken. */
    registerTool(tool: Tool<any>, options?: RegisterToolOptions): Promise<undefined | void>;
    getTools(options?: { fromOrigins?: string[] }): Promise<RegisteredTool[]>;
    /** Chromium's: resolves to the result's text, or to null if the call led to another document. */
    executeTool?(tool: any, input?: any, options?: { signal?: AbortSignal }): Promise<string | null | undefined>;
    /**
     * Continues a call whose tool has taken a token in another document: callback gets the call's
     * arguments and returns its result. Rejects with InvalidStateError if the token is not valid, or not
     * any more. A proposal, which browsers do not have yet.
     */
    resumeTool?(token: string, callback: (input: any, options: Call) => unknown): Promise<undefined | void>;
    ontoolchange?: ((this: any, event: Event) => any) | null;
  }

  /** A call in flight. */
  interface Call {
    /** Aborted when the client no longer waits for the result. */
    signal: AbortSignal;
    /** A proposal, which browsers do not have yet. */
    invocation?: {
      /** Resolves to a token with which the tab's next document resumes the call. */
      requestToken(): Promise<string>;
    };
    /** Asks a person while the tool runs. A proposal, too. */
    requestUserInput?: Tabhub.Call["requestUserInput"];
  }

  interface Tool<Input = Record<string, unknown>> {
    /** 1 to 128 characters of A-Z a-z 0-9 _ - . */
    name: string;
    /** For people. */
    title?: string;
    /** For the model: what the tool does and returns, and when to use it. */
    description: string;
    /** JSON Schema of an object. Without one the tool takes no arguments. */
    inputSchema?: object;
    /** JSON Schema of the object that execute returns. Chromium supports it from 159 on. */
    outputSchema?: object;
    /** Returns a string, a value that is passed on as JSON, or a CallToolResult of MCP, or a promise of one. The model reads the error that it throws. */
    execute(input: Input, options: Call): unknown;
    annotations?: Annotations;
  }

  interface Annotations {
    /** The tool changes nothing. */
    readOnlyHint?: boolean;
    /** The result was written by others, and may hold instructions. */
    untrustedContentHint?: boolean;
    /** The tool's effect costs something or cannot be undone. */
    consequentialHint?: boolean;
  }

  interface RegisterToolOptions {
    /** Aborting it removes the tool. */
    signal?: AbortSignal;
    /** Origins of other documents in the tab that may use the tool. */
    exposedTo?: string[];
  }

  interface RegisteredTool {
    name: string;
    title?: string;
    description: string;
    /** JSON text in older browsers and most libraries. */
    inputSchema?: object | string | null;
    outputSchema?: object | null;
    annotations?: Annotations | null;
    /** The window of the tool's document, from Chromium 160 on; see window for older ones. */
    source?: any;
    origin?: string;
    window?: any;
  }

  interface DocumentModelContext {
    /** Undefined where neither the browser nor a script of the page provides WebMCP. */
    readonly modelContext?: ModelContext | undefined;
  }

  /** What the submit event of a form that is a tool has. */
  interface ToolSubmit {
    /** True if a model submits the form. */
    readonly agentInvoked?: boolean | undefined;
    /** Sets the result in place of the form's next document; call preventDefault first. */
    respondWith?(result: Promise<any>): void;
  }
}

declare namespace Tabhub {
  /** window.tabhub: what the standard lacks. Its events are "status" and "call". */
  interface Page extends EventTarget {
    /** Registers a whole tool of MCP: with progress, outputSchema and every annotation. */
    registerTool(tool: Tool<any>, options?: { signal?: AbortSignal }): Registered;
    registerResource(resource: Resource, options?: { signal?: AbortSignal }): Registered & {
      /** Notifies the resource's subscribers that it has changed. */
      updated(uri?: string): void;
    };
    registerPrompt(prompt: Prompt, options?: { signal?: AbortSignal }): Registered;
    readonly status: Status;
    addEventListener(type: "call", listener: (event: CustomEvent<CallStep>) => void, options?: AddEventListenerOptions | boolean): void;
    addEventListener(type: "status", listener: (event: CustomEvent<Status>) => void, options?: AddEventListenerOptions | boolean): void;
    addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: AddEventListenerOptions | boolean): void;
  }

  interface WindowPage {
    /** Undefined until /tab.js or /embed.js has run. */
    readonly tabhub?: Page;
  }

  interface Registered {
    unregister(): void;
  }

  /** A call in flight. */
  interface Call {
    /** Aborted when the client no longer waits for the result. */
    signal: AbortSignal;
    /** Reports progress; the call may then take longer. */
    progress(done: number, total?: number, message?: string): void;
    /** Reports that the call now waits for the person in front of the tab, which may take minutes. */
    waiting(): void;
    /**
     * Asks a person while the tool runs, as in WebMCP's proposal: the agent's user through the client
     * (form, url), or the person in front of the tab with the page's own interact (interactive). Throws a
     * NotSupportedError if the client cannot ask, and an AbortError after ten minutes without an answer.
     * Only tools can ask.
     */
    requestUserInput(request: { mode?: "form"; message: string; requestedSchema: object } | { mode: "url"; message: string; url: string }): Promise<Answer>;
    requestUserInput<T>(request: { mode: "interactive" }, interact: () => T | Promise<T>): Promise<T>;
  }

  interface Answer {
    action: "accept" | "decline" | "cancel";
    /** The person's input, if the action is accept. */
    content?: Record<string, string | number | boolean | string[]>;
  }

  interface Tool<Input = Record<string, unknown>> {
    name: string;
    title?: string;
    description: string;
    inputSchema?: object;
    /** JSON Schema of structuredContent, which is the object that execute returns. */
    outputSchema?: object;
    annotations?: {
      readOnlyHint?: boolean;
      destructiveHint?: boolean;
      idempotentHint?: boolean;
      openWorldHint?: boolean;
      [hint: string]: unknown;
    };
    execute(input: Input, call: Call): unknown;
    [member: string]: unknown;
  }

  /** One resource by its URI, or many by a URI template (RFC 6570). */
  type Resource = ({ uri: string } | { uriTemplate: string }) & {
    name: string;
    title?: string;
    description?: string;
    mimeType?: string;
    /** Returns a string, a ReadResourceResult of MCP, or a value that is passed on as JSON. */
    read(uri: string, call: Call): unknown;
    [member: string]: unknown;
  };

  interface Prompt {
    name: string;
    title?: string;
    description?: string;
    arguments?: { name: string; description?: string; required?: boolean }[];
    /** Returns a string, which becomes the user's message, or a GetPromptResult of MCP. */
    get(args: Record<string, string>, call: Call): unknown;
    [member: string]: unknown;
  }

  interface Status {
    /** waiting: there is no hub, or it refuses the page; the script tries again. refused: it does not. */
    state: "off" | "connecting" | "open" | "waiting" | "refused";
    /** What connects the page to the hub. */
    by: "page" | "extension";
    reason: string;
    /** Name and version. */
    hub: string;
    tabKey: string;
    tools: number;
    resources: number;
    prompts: number;
    /** Items that the hub does not offer. */
    rejected: { name: string; reason: string }[];
  }

  interface CallStep {
    id: string | number;
    phase: "start" | "progress" | "end";
    method: string;
    name: string;
    args?: Record<string, any>;
    progress?: number;
    total?: number;
    message?: string;
    ok?: boolean;
  }
}

interface Document extends WebMCP.DocumentModelContext {}
interface SubmitEvent extends WebMCP.ToolSubmit {}

interface Window extends Tabhub.WindowPage {}
