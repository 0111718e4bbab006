// Types that the parts of the extension share, for `tsc` only.

/** What is left of a page's list after it was checked; texts are the items' JSON. */
interface Checked {
  items: Item[];
  texts: string[];
  rejected: Rejection[];
}

/** All that a frame offers. */
interface Offer {
  tools: Item[];
  resources: Item[];
  prompts: Item[];
  rejected: Rejection[];
}

// ---- Between the service worker and the hub

/** What the browser sends, by method. */
type ToHub = import("../../spec/schema/tabhub.v1").ToHub & Pick<FromHub, "browser/ping">;
/** What the hub sends, by method. */
type FromHub = import("../../spec/schema/tabhub.v1").FromHub;
type ErrorCodes = import("../../spec/schema/tabhub.v1").ErrorCodes;
type Ask = import("../../spec/schema/tabhub.v1").Ask;
type Room = import("../../spec/schema/tabhub.v1").Room;
type AskResult = import("../../spec/schema/tabhub.v1").AskResult;

/** What the browser asks, and the hub answers. */
type RequestMethod = { [M in keyof ToHub]: ToHub[M] extends { result: object } ? M : never }[keyof ToHub];

/** A request that is for what a page offers. */
type CallMethod =
  | "browser/executeTool"
  | "browser/readResource"
  | "browser/subscribeResource"
  | "browser/getPrompt"
  | "browser/complete";
/** A request that is for the browser. */
type ControlMethod = Exclude<keyof FromHub, CallMethod | "browser/ping" | "browser/cancel" | "browser/ask" | "browser/ownerState" | "browser/run" | "browser/look" | "browser/refs" | "browser/screenshot" | "browser/packs" | "browser/listPacks" | "browser/record">;

/** A message of the hub; without an id it wants no answer. */
type HubMessage<M extends keyof FromHub = keyof FromHub> = import("../../spec/schema/tabhub.v1").Message<FromHub, M> & {
  id?: string;
  tabId: number;
  /** The name of the client whose request it is, as the owner calls it. It goes to no page. */
  for?: string;
  /** Of one that is sent again: how long after hello it was sent first, or a little earlier. */
  sentMs?: number;
};

/** The hub's answer to a request of the browser. */
interface HubAnswer {
  id: string;
  method?: undefined;
  result?: any;
  error?: { code: number; message: string };
}

// ---- Between a frame and the service worker

interface FrameRequest {
  type: "request";
  id: string;
  ask: "tool" | "read" | "subscribe" | "prompt" | "complete";
  /** The tool's or prompt's name, or the resource's URI or template. */
  name: string;
  args?: object;
  on?: boolean;
  about?: Completion;
  extensions?: CallOptions["extensions"];
  /** The key of the child frame's server that is asked through this frame. */
  child?: number;
  /** The hub sends it again: it was first sent at this time or later, as Date.now() has it. */
  sentAt?: number;
}

type WorkerToFrame =
  | { type: "on" }
  | { type: "off" }
  | { type: "hub"; address: string; state: HubState["state"]; hub: string; version: string }
  /** The hub has what the frame's offer of that count says, but for what it refused. */
  | { type: "registered"; count: number; refused: Offered<Refused> }
  | FrameRequest
  | { type: "cancel"; id: string; reason: string }
  | { type: "done"; ids: string[] }
  /** Whether a call that has taken a token is kept for the document that resumes it. */
  | { type: "kept"; token: string; kept: boolean }
  /** The answer to resume: the call and its arguments, which are JSON; none: it cannot be resumed here. */
  | { type: "resumed"; token: string; id?: string; input?: string }
  | { type: "check"; origin: string };

/** The result is JSON already. */
interface FrameAnswer {
  type: "answer";
  id: string;
  result?: string;
  error?: RpcError;
  /** The call has led to another document, which is about to take the place of this one. */
  leaving?: boolean;
  /** The tool gave nothing: if the document gives way to another one, that one has the result. */
  nothing?: boolean;
}

type FrameToWorker =
  | { type: "hello"; calls: string[]; since: number }
  | { type: "offer"; offer: Offer; count: number; child?: { key: number; origin: string } }
  | { type: "updated"; uri: string }
  | ({ type: "progress"; id: string } & Progress)
  /** A call waits for the person in front of the tab, or does not any more. */
  | { type: "waiting"; id: string; on: boolean }
  /** A call may go on in another document, with its arguments, which are JSON. */
  | { type: "token"; id: string; token: string; input: string }
  /** A document takes up a call that has taken a token; with beside it stays that of the document that has it. */
  | { type: "resume"; token: string; beside: boolean }
  /** The document gives way to another one, to which a call has led, by submitting its form or otherwise. */
  | { type: "leaving"; id: string; submitted: boolean }
  /** It does not: the page has kept it. */
  | { type: "staying" }
  /** The page opens a dialog, which blocks it, or has closed it: then the type is "". */
  | { type: "dialog"; dialog: Dialog }
  | FrameAnswer;

interface Dialog {
  type: string;
  message: string;
}

interface RpcError {
  code: number;
  message: string;
  /** delivered false: the request did not reach a page and may be sent again. */
  data?: { delivered: false };
}

// ---- Between a document that runs steps (content/steps.js) and the service worker

type Step = import("../../spec/schema/tabhub.v1").Step;
type Target = import("../../spec/schema/tabhub.v1").Target;
type RunResult = import("../../spec/schema/tabhub.v1").RunResult;
type StepReport = import("../../spec/schema/tabhub.v1").StepReport & { did: "no" | "yes" | "perhaps" };
type StepCode =
  | "STEP_NOT_FOUND"
  | "STEP_AMBIGUOUS"
  | "STEP_REFUSED"
  | "STEP_TIMEOUT"
  | "STEP_ANSWER"
  | "STEP_LOST"
  | "STEP_STOPPED"
  | "STEP_SCRIPT"
  | "STALE_REF"
  | "NEEDS_TRUSTED_INPUT";
/** What steps gave, by their As; under "" what the last request or read gave. */
type StepValues = { [as: string]: unknown };

/** Steps are counted from 0, as in Run.Steps. */
type WorkerToRunner =
  /**
   * A run begins here with the step from, or goes on here after one that led to this document, or
   * that was to lead away and did not. It reaches the pages that match or, of a client's own, those of origins.
   * With more the steps are a script's, up to the one that it waits for; with none there may be nothing of a list.
   * The references that steps give begin with tag, if the document has none yet.
   * With mark the page shows where it acts; dialogs names the events of worker/dialogs.ts.
   * It is trusted if the browser gives input of its own.
   */
  | { type: "run"; id: string; from: number; steps: Step[]; args: object; result?: string; values: StepValues; match: string[]; origins?: string[]; more?: boolean; none?: boolean; tag?: string; mark?: boolean; dialogs?: string; trusted?: boolean }
  /** The step may be done now. */
  | { type: "go"; id: string; step: number }
  /** It may not: the run ends. */
  | { type: "refused"; id: string; step: number; code: "STEP_REFUSED" | "STEP_STOPPED"; reason: string }
  /** The browser has given the page the input of a step; with an error it has given none, or, if that was begun, perhaps a part. */
  | { type: "input"; id: string; step: number; error?: { code: StepCode; reason: string; begun: boolean } }
  /** Nothing more is begun, and the run ends. Of a run that has ended: its end is not said again. */
  | { type: "stop"; id: string; reason: string };

/** How the page's next dialog is answered that has a choice: with text, a prompt. */
interface DialogAnswer {
  accept: boolean;
  text?: string;
}

/** A dialog of a page that was answered: told, if a step has said how. Or a tab that it could not open. The page may forge it. */
interface AskedDialog {
  kind: "alert" | "confirm" | "prompt" | "print" | "open";
  message: string;
  got: string;
  told?: boolean;
}

/** Input that the page takes for a person's. Points are of the document's viewport, in CSS pixels. */
type TrustedAct =
  | { kind: "click"; x: number; y: number; button: "left" | "right"; count: number }
  | { kind: "hover"; x: number; y: number }
  | { kind: "drag"; from: { x: number; y: number }; to: { x: number; y: number } }
  /** The wheel, by so many CSS pixels. */
  | { kind: "wheel"; x: number; y: number; dx: number; dy: number }
  /** A click, and the files of the step where the page asks for some. */
  | { kind: "choose"; x: number; y: number }
  /** Keys, one after the other, in what has the focus. */
  | { kind: "keys"; keys: TrustedKey[] }
  /** A text into what has the focus, in place of what is selected there. */
  | { kind: "text"; text: string };

/** A key as content/steps/keys.ts has it, with those that are held. */
interface TrustedKey {
  key: string;
  code: string;
  keyCode: number;
  text: string;
  held: ("Control" | "Shift" | "Alt" | "Meta")[];
}

/** What is said of a run before its end is said again when the port is opened anew. */
type RunnerToWorker =
  | { type: "hello"; runs: string[] }
  /** An acting step waits for its go. */
  | { type: "grant"; id: string; step: number }
  /**
   * An acting step was done, which is said in its task. It is said again, with navigates, if the document
   * then begins to give way; with navigates it runs nothing more until it gets the run again.
   */
  | { type: "did"; id: string; step: number; report: StepReport; values: StepValues; navigates: boolean }
  /**
   * After its go: input of the browser's own, which the worker gives to the page. With done that is all of the step, as
   * if did were said. It is said once: a worker that does not know it may have given the input before it was stopped.
   */
  | { type: "input"; id: string; step: number; input: TrustedAct; done?: { report: StepReport; values: StepValues; navigates: boolean } }
  | { type: "progress"; id: string; step: number; words: string }
  /** The steps of the result are those of this document, from the one that it began with to the last that was begun. */
  | { type: "end"; id: string; from?: number; result: RunResult };

type RefElement = import("../../spec/schema/tabhub.v1").RefElement;

/** What content/steps.js leaves in the extension's world of a document. */
interface StepsGlobal {
  document: Document;
  /** Opens the port over which steps are run, unless it is open. */
  connect(): void;
  look(options: LookOptions): Promise<LookPart>;
  /** Of a frame's element also its index in the document. */
  refs(refs: string[]): (RefElement & { index?: number })[];
  show(ref: string): Promise<ShownElement | { stale: string; near: string[] }>;
  number(refs: string[], part?: { left: number; top: number; width: number; height: number }): string[];
}

/** An element of a picture, in CSS pixels of its document's viewport. */
interface ShownElement {
  left: number;
  top: number;
  width: number;
  height: number;
  /** It stays where it is when the page is scrolled. */
  stays: boolean;
}

interface LookOptions {
  /** What the references of the document begin with, if it has none yet. */
  tag: string;
  /** A reference: only what is in that element is shown. */
  scope?: string;
  /** Items and cells with these words have references. */
  find?: string;
}

/** What a document shows. */
interface LookPart {
  /** What its references begin with. */
  tag: string;
  origin: string;
  url: string;
  title: string;
  /** Of the document of a frame: its index in its parent, as content/framepath.ts has it. */
  index: number;
  /** As looklines.ts encodes them. */
  lines: string;
  /** Scope is the element of the frame of this index. */
  frame?: number;
  /** Why there is no Scope any more. */
  stale?: { message: string; near: string[] };
}

// ---- Between the service worker and a client's script (script.ts), through the offscreen document (offscreen.ts)

type WorkerToOffscreen =
  | { type: "start"; id: string; code: string }
  /** What a call has given, as JSON. */
  | { type: "answer"; id: string; call: number; value: string }
  | { type: "stop"; id: string };

type OffscreenToWorker =
  /** The scripts that run there, with what of each was not answered. */
  | { type: "hello"; scripts: { id: string; said: ScriptSays[] }[] }
  | { type: "said"; id: string; says: ScriptSays };

type ScriptSays =
  /** It calls a method of page; calls are counted from 1. The arguments are JSON, as is the value. */
  | { type: "call"; call: number; verb: string; args: string }
  | { type: "ended"; value: string }
  | { type: "threw"; message: string }
  /** Nothing is left of it. */
  | { type: "gone" };

// ---- Between a document in which a person is recorded (content/recorder.js) and the service worker

/** It is answered whether to go on. */
interface RecorderToWorker {
  type: "recorded";
  says: RecorderSays;
}

type RecorderSays =
  /** It writes down what is done from now on. */
  | { here: true }
  /** The fields of a fill that joins are set with those of the fill before it. */
  | { step: Step; joins?: boolean }
  /** A field was filled that may hold a secret: its name, and its target if it has one. */
  | { secret: string; target?: Target }
  /** Something was used that no target finds. */
  | { missed: string }
  /** The person has ended it on the page. */
  | { ended: true };

// ---- Between the page's world and the extension's

/** What a frame's sentinel says: a sign that the frame has something to offer. The page may forge it. */
interface FrameSign {
  /** Which frame: the index of each frame in its parent, from the top document down. */
  path: number[];
  /** The browser or a library has tools, a server has announced itself here or in a child frame, a
   *  script names a server's channel, the page has the hub's script. */
  kind: "tools" | "server" | "child" | "named" | "script";
  /** Of a server in a child frame: which one it is, and the origin that it announced itself from. */
  child?: { index: number; origin: string };
}

type PageWorldRequest =
  /** The extension's end is there. */
  | { type: "start" }
  | { type: "call"; id: string; name: string; args: object; extensions?: CallOptions["extensions"] }
  | { type: "cancel"; id: string; reason: string }
  /** The answers to token and resume. */
  | { type: "kept"; token: string; kept: boolean }
  | { type: "resumed"; token: string; id?: string; input?: string };

type PageWorldMessage =
  | { type: "tools"; tools: string }
  | { type: "result"; id: string; text: string }
  | { type: "waiting"; id: string; on: boolean }
  | { type: "error"; id: string; message: string }
  /** Of a call that this world runs, or else of one of the browser's WebMCP. */
  | { type: "token"; id: string; token: string }
  | { type: "token"; name: string; input: string; token: string }
  | { type: "resume"; token: string; beside: boolean }
  | { type: "threw"; name: string; input: string; message: string };

/** The modelContext that a page was given where the browser has none. */
type OfferedContext = Pick<OfferedWebMCP, "context" | "getters">;

/** What is brought to the page's world of a frame that has given a sign, as the sentinel there knows it. */
interface PageHalf extends Pick<WebMCPOwner, "took" | "resume" | "release" | "ask"> {
  look(given?: OfferedContext): void;
  threw(name: string, input: string, error: unknown): void;
  /** A tool of the browser's WebMCP has taken a token. */
  tookNatively(name: string, input: string, token: string): Promise<void>;
}

/**
 * What the scripts of the extension's own world in a document leave for one another. An element of
 * the page with such an id is found by the same name there: what is looked for is the world's own.
 */
declare var tabhubGateway: { join(): void } | undefined;
declare var tabhubOpenedEarlier: boolean | undefined;
declare var tabhubFrame: { document: Document; signed(sign: FrameSign): void; stop(): void } | undefined;
/** Stops reporting user input. */
declare var tabhubUserInput: AbortController | undefined;
declare var tabhubSteps: StepsGlobal | undefined;
/** Writes down what a person does in the document. */
declare var tabhubRecorder: { document: Document; begin(): void } | undefined;
/** Of the build that has it. */
declare var tabhubTrustedInput: import("./worker/trustedinput.ts").TrustedInput | undefined;
/** Scrolls a page that is pictured whole. */
declare var tabhubView: import("./worker/pageview.ts").PageView | undefined;
/** Removes the references that are drawn into a picture. */
declare var tabhubNumbers: { remove(): void } | undefined;
/** Removes what shows where a step has acted. */
declare var tabhubRing: { remove(): void } | undefined;
declare var tabhubOverlay: { host: HTMLElement; words: HTMLElement; timer: number } | undefined;

// ---- Between the script of a pack in a document (content/userscript.ts) and the service worker

type WorkerToScript =
  /** A call of one of its tools: it is run once, however often this comes. */
  | { type: "run"; id: string; tool: string; args: object }
  /** The call is cancelled, or its end is known. */
  | { type: "stop"; id: string; reason: string }
  /** Nothing of the script counts any more, until the page is loaded anew. */
  | { type: "over" };

type ScriptToWorker =
  /** Calls that are under way, or whose end is not known to have arrived. */
  | { type: "hello"; runs: string[] }
  | { type: "tools"; tools: Item[] }
  | { type: "end"; id: string; result: RunResult };

/** The secret of the pack whose script follows. */
declare var tabhubScript: { secret: string } | undefined;
/** The document in which a pack has this world for its own. */
declare var tabhubScriptWorld: { document: Document } | undefined;

// ---- Between the extension's pages and the service worker

type HubState =
  | { state: "connecting" }
  | { state: "connected"; hub: string; version: string }
  | { state: "absent" }
  /** There is no pairing with a hub at the address, or the hub knows none of them. */
  | { state: "unpaired"; reason: string }
  /** What answers at the address has not proved that it is the hub. */
  | { state: "unproved" }
  /** The hub is older than the extension and cannot prove anything. */
  | { state: "outdated" }
  | { state: "refused"; reason: string }
  | { state: "replaced" };

interface SiteView {
  origin: string;
  on: boolean;
  keep: boolean;
  /** Whether its pages get the extension's WebMCP where the browser has none. */
  webmcp: boolean;
  /** Whether a document of the site has the content script. */
  reached: boolean;
  tools: ToolView[];
  /** The packs that have tools for its pages, or would if they were on. */
  packs: PackView[];
  rejected: Rejection[];
}

interface ToolView {
  frameId: number;
  name: string;
  title: string;
  description: string;
  /** What it may change, by what the page says. */
  class: ToolClass;
  /** The name of the pack that it is of, if it is not the page's own. */
  pack?: string;
}

/** A pack of the hub's owner. */
interface PackView {
  name: string;
  hash: string;
  title: string;
  /** Whether it is a script, which can do anything in its pages. */
  script: boolean;
  /** The hosts of its pages, as its patterns have them. */
  sites: string[];
  /** Whether this browser offers its tools. */
  on: boolean;
  /** Of a script that is on: why it does not run. */
  problem?: ScriptProblem;
}

/** Why a script that the person has allowed does not run, in words; with "switch" it is Chrome's. */
interface ScriptProblem {
  kind: "switch" | "other";
  words: string;
}

type ToolClass = "read" | "write" | "destructive";

/** What the browser says of the page in a tab. */
interface PageView {
  /** Whether it is a website. */
  web: boolean;
  /** Whether it was loaded over a connection that is secure. */
  secure: boolean;
  /** Whether the browser lets the extension into the site. */
  allowed: boolean;
  /** Whether the extension is in it. */
  reached: boolean;
  /** Whether it has no WebMCP, as it may have been loaded before the extension could give it one. */
  bare: boolean;
  loading: boolean;
  asleep: boolean;
}

/** What the hub last said, and when. */
type OwnerState = import("../../spec/schema/tabhub.v1").OwnerState & { at?: number };

/** How things stand between this browser, the hub and its owner. */
interface Standing {
  hub: HubState;
  owner: OwnerState;
  /** How many questions wait in this browser. */
  waiting: number;
  /** How many requests of clients take longer than a moment. */
  working: number;
}

type StateName = HubState["state"] | "waiting" | "paused" | "working";

interface StatusView extends Standing {
  address: string;
  settings: Settings;
  page: PageView;
  /** What was used in the tab, the latest first. */
  recent: Activity[];
  /** The tabs that clients use just now. */
  used: { tabId: number; title: string; users: string[] }[];
  /** The lease of the tab, if a client has one. */
  lease?: Lease;
  recording?: RecordingView;
  /** The tab's own site first, then those of its frames. */
  sites: SiteView[];
}

interface Settings {
  /** The WebSocket address of the hub. */
  hub: string;
  mode: "all" | "allowed";
  /** Origins. */
  allowed: string[];
  off: string[];
  keep: string[];
  /** The sites whose pages get no WebMCP of the extension. */
  plain: string[];
  /** Whether pages that a client uses have the overlay. */
  mark: boolean;
}

/** What a client has used in a tab. */
interface Activity {
  id: string;
  kind: "tool" | "resource" | "prompt" | "browser" | "acts";
  /** The tool's or prompt's name, the resource's URI, what the browser was asked, or what was done last. */
  name: string;
  /** The client, as its owner calls it; "" of what the owner has tried. */
  app: string;
  /** Whether it may change something. */
  acts: boolean;
  /** When it began, as Date.now() has it. */
  at: number;
  /** How many ms it took; undefined while it is under way. */
  took?: number;
  /** How it ended; undefined if that is not known. */
  ended?: "done" | "failed" | "cancelled";
}

/** What a person has shown, or is asked to. */
interface RecordingView {
  /** The hub asks for it, it is under way, or it waits to be sent or discarded. */
  state: "asked" | "on" | "ended";
  /** Of the pack; "" if that is open. */
  name: string;
  tabId: number;
  host: string;
  steps: Step[];
  /** The names of fields whose values were not written down. */
  secrets: string[];
  /** What could not be written down. */
  missed: string[];
  /** Why it has ended, if not by the person. */
  reason: string;
  /** The pack whose draft it has become. */
  draft: string;
}

/** A client's claim on a tab. */
interface Lease {
  /** Its name, for people. */
  by: string;
  /** Until when, as Date.now() has it, if it does not call meanwhile. */
  until: number;
  /** A call of it waits until the owner does not use the tab. */
  waiting: boolean;
}

/** Where a tool is. */
interface ToolAt {
  tabId: number;
  frameId: number;
  /** The frame's, as the browser gives it. */
  origin: string;
  name: string;
}

/** What came of a tool that the owner has tried: a CallToolResult, or why there is none. */
type ManualResult = { result: unknown } | { error: string };

/** A question to the owner, as its window shows it. */
interface QuestionView {
  ask: Ask;
  /** When it expires, as Date.now() has it. */
  until: number;
  /** How many more wait. */
  waiting: number;
  /** Whether its client has given up: a yes is then good for the same call, if it is made again. */
  gone?: boolean;
}

/** A pairing of this browser with a hub. Keys are 32 bytes, an invitation's 16, in base64url. */
interface Pairing {
  /** Its id, which is no secret. */
  pairing: string;
  /** The hub's id; "" of an invitation that the hub has not answered. */
  hub: string;
  key: string;
  /** Where the hub was when the two were paired. */
  address: string;
  /** Of an invitation: until when it is tried, as Date.now() has it. */
  until?: number;
  /** Of an invitation that the hub has answered: the key that follows it. */
  next?: string;
}

/** What the user is asked before a hub is paired with. */
interface InvitationView {
  address: string;
  code: string;
}

type UIRequest =
  /** Without a tab, as of settings: how the browser stands. */
  | { ask: "status"; tabId?: number }
  | { ask: "pack"; hash: string; on: boolean }
  | { ask: "record"; tabId: number }
  | { ask: "recorded"; does: "stop" | "discard" }
  | { ask: "recorded"; does: "remove"; step: number; field?: number }
  | { ask: "recorded"; does: "send"; name: string }
  | { ask: "site"; origin: string; on?: boolean; keep?: boolean; webmcp?: boolean }
  | { ask: "settings" }
  | { ask: "save"; settings: Partial<Settings> }
  | { ask: "reconnect" }
  | { ask: "forget" }
  | { ask: "dashboard" }
  | { ask: "pause"; on: boolean }
  | { ask: "release"; tabId: number }
  | { ask: "front" }
  | { ask: "tool"; tool: ToolAt }
  | { ask: "try"; id: string; tool: ToolAt; args: object }
  | { ask: "cancel"; id: string }
  | { ask: "paste"; link: string }
  | { ask: "invitation"; id: string }
  | { ask: "accept"; id: string; accept: boolean }
  | { ask: "question"; id: string }
  | { ask: "answer"; id: string; answer: AskResult };
