// What a later lib.dom.d.ts may declare.

interface ModelContextTool {
  name: string;
  title?: string;
  description: string;
  inputSchema?: object;
  execute: (input: any, options: { signal: AbortSignal }) => Promise<any>;
  annotations?: { readOnlyHint?: boolean; untrustedContentHint?: boolean };
}

interface ModelContextRegisteredTool {
  name: string;
  title: string;
  description: string;
  inputSchema: object | null;
  origin: string;
  window: WindowProxy | null;
}

interface ModelContext extends EventTarget {
  ontoolchange: ((this: ModelContext, ev: Event) => any) | null;
  registerTool(tool: ModelContextTool, options?: { signal?: AbortSignal; exposedTo?: string[] }): Promise<undefined>;
  getTools(options?: { fromOrigins?: string[] }): Promise<ModelContextRegisteredTool[]>;
  executeTool(tool: ModelContextRegisteredTool, input: object, options?: { signal?: AbortSignal }): Promise<string | null>;
}

declare var ModelContext: { prototype: ModelContext; new (): ModelContext };

interface Document {
  readonly modelContext: ModelContext;
}

interface SubmitEvent {
  readonly agentInvoked: boolean;
  respondWith(agentResponse: Promise<any>): void;
}
