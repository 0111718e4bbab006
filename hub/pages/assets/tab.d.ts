// Types for pages that use tabhub's /tab.js or /embed.js: the standard's WebMCP (document.modelContext)
// as Chromium 160 has it, and window.tabhub. Keep it beside your copy of tab.js, whose types it then
// is, or anywhere in the program.
//
// Where TypeScript's own lib.dom, or a library, declares document.modelContext, that declaration counts
// and this one steps back: Document and SubmitEvent only inherit theirs from interfaces of the
// namespace WebMCP. Types need no import: WebMCP.Tool, Tabhub.Tool.

declare namespace WebMCP {
  interface ModelContext extends EventTarget {
    /** Offers a tool. Rejects with InvalidStateError if there is one of the name. */
    registerTool(tool: Tool<any>, options?: RegisterToolOptions): Promise<undefined | void>;
    getTools(options?: { fromOrigins?: string[] }): Promise<RegisteredTool[]>;
    /** Chromium's: resolves to the result's text, null if the call has led to another document. */
    executeTool?(tool: any, input?: any, options?: { signal?: AbortSignal }): Promise<string | null | undefined>;
    /**
     * Goes on with a call whose tool has taken a token in another document; callback gets the call's
     * arguments and gives its result. Rejects with InvalidStateError if the token is not good (any more).
     * A proposal, which browsers do not have.
     */
    resumeTool?(token: string, callback: (input: any, options: Call) => unknown): Promise<undefined | void>;
    ontoolchange?: ((this: any, event: Event) => any) | null;
  }

  /** Of a running call. */
  interface Call {
    /** Aborted when nobody waits for the result any more. */
    signal: AbortSignal;
    /** A proposal, which browsers do not have. */
    invocation?: {
      /** Resolves to a token with which the tab's next document resumes the call. */
      requestToken(): Promise<string>;
    };
    /** A proposal, too: asks a person while the tool runs. */
    requestUserInput?: Tabhub.Call["requestUserInput"];
  }

  interface Tool<Input = Record<string, unknown>> {
    /** 1 to 128 of A-Z a-z 0-9 _ - . */
    name: string;
    /** For people. */
    title?: string;
    /** For the model: what the tool does and gives, and when to use it. */
    description: string;
    /** JSON Schema of an object. Without one the tool takes no arguments. */
    inputSchema?: object;
    /** JSON Schema of the object that execute gives. Chromium knows it from 159 on. */
    outputSchema?: object;
    /** A string, or what is given as JSON; a CallToolResult of MCP is passed on as it is. What it throws the model is told. */
    execute(input: Input, options: Call): unknown;
    annotations?: Annotations;
  }

  interface Annotations {
    /** The tool changes nothing. */
    readOnlyHint?: boolean;
    /** What it gives was written by others, and may hold instructions. */
    untrustedContentHint?: boolean;
    /** What it does costs something or cannot be undone. */
    consequentialHint?: boolean;
  }

  interface RegisterToolOptions {
    /** Aborting it takes the tool back. */
    signal?: AbortSignal;
    /** Origins of other documents in the tab that may use the tool. */
    exposedTo?: string[];
  }

  interface RegisteredTool {
    name: string;
    title?: string;
    description: string;
    /** An older browser and most libraries give JSON text. */
    inputSchema?: object | string | null;
    outputSchema?: object | null;
    annotations?: Annotations | null;
    /** The window of the tool's document, from Chromium 160 on; before that, window. */
    source?: any;
    origin?: string;
    window?: any;
  }

  interface DocumentModelContext {
    /** Undefined where neither the browser has WebMCP, nor the page a script that brings it. */
    readonly modelContext?: ModelContext | undefined;
  }

  /** What the submit event has of a form that is a tool. */
  interface ToolSubmit {
    /** A model submits the form. */
    readonly agentInvoked?: boolean | undefined;
    /** Gives the model the result instead of the form's next document; call preventDefault first. */
    respondWith?(result: Promise<any>): void;
  }
}

declare namespace Tabhub {
  /** window.tabhub: what the standard does not have. Its events are "status" and "call". */
  interface Page extends EventTarget {
    /** Offers a whole tool of MCP: with progress, outputSchema and every annotation. */
    registerTool(tool: Tool<any>, options?: { signal?: AbortSignal }): Registered;
    registerResource(resource: Resource, options?: { signal?: AbortSignal }): Registered & {
      /** Tells who has subscribed to the resource that it has changed. */
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

  /** Of a running call. */
  interface Call {
    /** Aborted when nobody waits for the result any more. */
    signal: AbortSignal;
    /** Tells how far the call is, and that it goes on. */
    progress(done: number, total?: number, message?: string): void;
    /** Tells that the call waits from now on for the person in front of the tab, who may take minutes. */
    waiting(): void;
    /**
     * Asks a person while the tool runs, as WebMCP's proposal requestUserInput has it: the user of the
     * agent (form, url), through the agent's client, or the person in front of the tab, whom interact
     * asks (interactive). A NotSupportedError says that the client cannot ask so; an AbortError, that
     * nobody has answered within ten minutes. Only tools can ask.
     */
    requestUserInput(request: { mode?: "form"; message: string; requestedSchema: object } | { mode: "url"; message: string; url: string }): Promise<Answer>;
    requestUserInput<T>(request: { mode: "interactive" }, interact: () => T | Promise<T>): Promise<T>;
  }

  interface Answer {
    action: "accept" | "decline" | "cancel";
    /** What was filled in, if it was accepted. */
    content?: Record<string, string | number | boolean | string[]>;
  }

  interface Tool<Input = Record<string, unknown>> {
    name: string;
    title?: string;
    description: string;
    inputSchema?: object;
    /** JSON Schema of structuredContent, which is what execute gives if that is an object. */
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
    /** A string, a ReadResourceResult of MCP, or what is given as JSON. */
    read(uri: string, call: Call): unknown;
    [member: string]: unknown;
  };

  interface Prompt {
    name: string;
    title?: string;
    description?: string;
    arguments?: { name: string; description?: string; required?: boolean }[];
    /** A string, which becomes the user's message, or a GetPromptResult of MCP. */
    get(args: Record<string, string>, call: Call): unknown;
    [member: string]: unknown;
  }

  interface Status {
    /** waiting: there is no hub, or it refuses the page; it is tried again. refused: it is not. */
    state: "off" | "connecting" | "open" | "waiting" | "refused";
    /** Who carries the page to the hub. */
    by: "page" | "extension";
    reason: string;
    /** Name and version. */
    hub: string;
    tabKey: string;
    tools: number;
    resources: number;
    prompts: number;
    /** What the hub does not offer. */
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
