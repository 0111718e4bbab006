// Types of the scripts beside this file.

type JSONObject = { [member: string]: any };

/** What a running call may use. */
interface CallContext {
  signal: AbortSignal;
  progress(progress: number, total?: number, message?: string): void;
  /** Says that the call waits for the person in front of the tab. */
  waiting(): void;
  /** As of WebMCP's proposal: asks the user of the agent, or with the mode interactive the person in front of the tab. */
  requestUserInput(request: object, interact?: () => unknown): Promise<unknown>;
}

/** A tool as a page gives it to tabhub.registerTool: an MCP Tool with execute. */
interface PageTool extends JSONObject {
  name: string;
  execute(args: any, context: CallContext): unknown;
}

/** An MCP Resource (uri) or ResourceTemplate (uriTemplate) with read. */
interface PageResource extends JSONObject {
  uri?: string;
  uriTemplate?: string;
  read(uri: string, context: CallContext): unknown;
}

/** An MCP Prompt with get. */
interface PagePrompt extends JSONObject {
  name: string;
  get(args: { [name: string]: string }, context: CallContext): unknown;
}

type Kind = "tool" | "resource" | "prompt";

/** A source (tabtransport/pagejs) that may have resources and prompts; their answers are JSON text. */
interface ItemSource extends Source {
  read(uri: string, options: CallOptions): Promise<string>;
  subscribe(uri: string, on: boolean, options: CallOptions): Promise<void>;
  prompt(name: string, args: JSONObject, options: CallOptions): Promise<string>;
  /** Missing where nothing has arguments that are completed. */
  complete?(about: Completion, options: CallOptions): Promise<string>;
}

/** The part of a WebSocket that a link uses. */
interface LinkSocket {
  onopen: ((event: any) => void) | null;
  onmessage: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  onerror: ((event: any) => void) | null;
  send(frame: string): void;
  close(code?: number, reason?: string): void;
}

type LinkState = "off" | "connecting" | "open" | "waiting" | "refused";

interface HubRequest {
  id: string | number;
  method: string;
  params: JSONObject;
}

type TabStatus = Tabhub.Status;
type CallStep = Tabhub.CallStep;

/** PageAPI, which has no types of its own for its events. That it is what tab.d.ts says is checked here. */
type PublicPage = Omit<import("./api.ts").PageAPI, "addEventListener"> & Pick<Tabhub.Page, "addEventListener">;

interface Window {
  tabhub?: PublicPage;
}
