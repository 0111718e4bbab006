// What the pages read of the hub's answers; the Go types are in ../api.go, ../oauth.go,
// ../signin.go, ../api_policy.go, hub/api.go, hub/trust/record/entry.go, hub/trust/consent/question.go,
// hub/trust/policy/rule.go and hub/trust/auth/client.go.

export interface AuthorizeEvent {
  code?: string;
  location?: string;
  error?: string;
}

/** A message of the hub's stream. */
export interface Message {
  running: Running[]; // the calls that are under way, those that have taken longest first
  more?: number; // of them that were left out
  entries?: Entry[]; // what was recorded; the newest is the last
  missed?: number; // of them that were left out
  changed?: string[];
}

/** A call that is under way. */
export interface Running {
  id: string;
  name?: string;
  said?: string;
  client?: string;
  via?: string;
  domain?: string;
  tool: string;
  pack?: string; // that gives the tool
  tab?: string;
  browser?: string; // of a request to its extension
  began: string;
  asked?: number; // nanoseconds that the owner took for answers
  phase: string;
  decision?: string;
  progress?: { progress: number; total?: number; message?: string; waiting?: boolean };
}

export interface Status {
  version: string;
  started: string;
  addrs: string[] | null;
  clients: number;
  memory?: number; // bytes; of the owner alone, as sockets
  sockets?: Record<string, number>;
  paired: number; // browsers
  questions: number;
  hub: {
    browsers: number; // that are connected
    inFlight: number;
    tabs: number;
    domains: number;
    tools: number;
    calls: number;
    storeError?: string;
  };
  record: { error?: string; queued: number; lost?: number };
}

/** What the doctor has to say about one thing. */
export interface Finding {
  state: "ok" | "note" | "problem";
  check: string;
  text: string;
  fix?: string;
}

export interface Tab {
  addr: { peer: string; tab: number };
  browser?: string;
  title: string;
  url: string;
  active: boolean;
  focused: boolean;
  attested: boolean;
  connected: boolean;
  discarded?: boolean;
  dialog?: { type: string; message?: string };
  waiting?: boolean;
  heldBy?: Holder;
  inUse?: boolean;
  openedBy?: string;
  label?: string; // the name of its browser
  lastUpdated: string;
  inFlight: number;
  domains: { domain: string; number: number; tools: number; resources: number; prompts: number; departed?: number }[] | null;
  rejected?: { name: string; reason: string }[];
  warnings?: { name: string; reason: string }[];
}

export interface Tool {
  name: string;
  domain?: string;
  tab?: number;
  source?: string;
  pack?: string; // that gives the tool
  listed: boolean;
  class: string;
  pin?: string; // of the definition; a call with it calls no other
  definition: {
    title?: string;
    description?: string;
    inputSchema?: unknown;
    outputSchema?: unknown;
    annotations?: Record<string, unknown>;
  };
}

/** A resource, a template of some, or a prompt. */
export interface Item {
  name: string;
  template?: boolean;
  domain: string;
  tab?: number;
  source: string;
  definition: {
    name?: string;
    title?: string;
    description?: string;
    mimeType?: string;
    arguments?: { name: string; description?: string; required?: boolean }[];
  };
}

export interface Explanation {
  tab?: Tab;
  openUrl?: string;
  reason: string;
  candidates: { tab: Tab; number: number; note: string }[];
}

export interface Browser {
  name: string;
  connected: boolean;
  single: boolean;
  focused: boolean;
  tabs: number;
  connectedAt: string;
  lastSeen: string;
}

/** An entry of the record. */
export interface Entry {
  time: string;
  event: string;
  call?: string; // the id of the call, or of the one that a question is about
  task?: string;
  name?: string; // that the owner has given the client
  said?: string; // what the client calls itself
  client?: string; // its id
  session?: string;
  via?: string; // the hub's own tool that the client called for it
  tab?: string;
  domain?: string;
  origin?: string;
  url?: string;
  tool?: string;
  pack?: string; // that gives the tool
  class?: string;
  digest?: string; // of the arguments
  decision?: string;
  rule?: string;
  question?: string;
  by?: string;
  reach?: string;
  asked?: number; // nanoseconds; that the owner took for the answers, of duration
  decided?: number; // nanoseconds after time
  sent?: number; // nanoseconds after time
  flows?: string[];
  changed?: string;
  outcome: string;
  reason?: string;
  duration: number; // nanoseconds
}

/** An entry that is in the record's files. */
export interface Line extends Entry {
  n: number;
  late?: string; // the node that has written it when another had written for the user
}

/** What was said in a call, where that is kept. */
export interface Payload {
  n: number; // of the line
  args?: unknown;
  result?: unknown;
  argsNotKept?: number; // bytes: too large, or of a flood
  resultNotKept?: number;
}

/** Which texts of other sites a call has sent. */
export interface Carried {
  kept: boolean; // false: that is not known
  texts: { from: string; field: string; text: string }[];
}

export interface Question extends Pick<import("../../../../spec/schema/tabhub.v1").Ask, "id" | "client" | "site" | "tool" | "why" | "args" | "changes" | "reaches"> {
  kind: string;
  digest: string;
  until: string;
  count: number;
  late?: boolean;
  allowed?: boolean; // the owner has said yes, and the call was not made since
}

export interface Client {
  id: string;
  name: string;
  kind: string;
  scope?: { sites?: string[]; tools?: string[]; classes?: string[]; browsers?: string[] };
  made: string;
  expires?: string;
  lastUsed?: string;
}

export interface Rule {
  id: string;
  effect: string;
  client?: string;
  session?: string;
  site?: string;
  tool?: string;
  pack?: string; // "*": any
  class?: string;
  pin?: string;
  late?: boolean;
  from?: string;
  until?: string;
  by?: string;
  note?: string;
}

/** A pack; see PackReport in ../packs.go. */
export interface Pack {
  name: string;
  active?: PackVersion;
  waiting?: PackVersion;
  changes?: import("../../../../spec/schema/tabhub.v1").AskChange[];
  allowed: Rule[]; // of the owner's, that allow clients what it does
  withdraws?: boolean; // they are removed when the version that waits is accepted
  absent?: { browser: string; why: string }[];
}

export interface PackVersion {
  hash: string;
  added: string;
  by: string;
  from?: string;
  title?: string;
  match: string[];
  script?: boolean;
  tools: PackTool[];
  words: string[]; // the first says all in one sentence; those of a tool begin with two spaces
  document?: unknown;
}

export interface PackTool {
  name: string;
  class: string;
  examples?: PackExample[];
}

export interface PackExample {
  at?: string;
  input?: unknown;
  gives?: unknown;
}

export interface Site {
  domain: string;
  cache?: boolean;
  callTimeoutMs?: number;
  check?: string;
  private?: boolean;
  tabs: number;
  tools: number;
  cached: number; // tools that no tab has now
  cachedAt?: string;
  rules: number;
  paused: boolean;
  lastUsed?: string;
  calls?: number; // that the record has
}

export interface Access {
  name: string;
  domain?: string;
  tab?: number;
  source?: string;
  pack?: string;
  cached?: boolean;
  class: string;
  effect: string;
  words: string;
  rule?: Rule;
  changed?: boolean;
}

/** A client that is connected, or has called lately. */
export interface Session {
  client?: string;
  said?: string;
  version?: string;
  transport?: string;
  protocol?: string;
  since?: string;
  bound?: string[]; // the browsers that its connection is for
  connected: boolean;
  calls: number;
  last?: string;
}

/** The holder of a tab's lease. */
export interface Holder {
  client: string;
  name: string;
  until: string;
  reads: boolean;
}

/** A run of a client, and what it has of tabs. */
export interface Agent {
  session: string;
  client: string;
  label: string;
  connected: boolean;
  lastUsed: string;
  tabs: AgentTab[];
  allTabs: number; // how many there are
}

export interface AgentTab {
  addr: Tab["addr"];
  tab: string;
  url?: string;
  title?: string;
  keeps: boolean;
  opened: boolean;
  holds?: Holder;
  inUse?: boolean;
  waiting?: boolean;
}

/** A browser that is connected or has just been, or a name. */
export interface NamedBrowser {
  id?: string;
  name?: string;
  browser?: string;
  connected: boolean;
  focused?: boolean;
  tabs: number;
  since?: string;
  lastSeen?: string;
  missing?: boolean;
  clients: string[];
}

interface Way {
  line?: string;
  entry?: string;
}

export interface Connectable {
  name: string;
  title: string;
  after?: string;
  start?: Way;
  url?: Way;
  links?: { title: string; href: string }[];
}

export interface Pause {
  client?: string;
  site?: string;
  since: string;
}

export interface Policy {
  mode: string;
  fixed: boolean;
  rules: Rule[];
  pauses: Pause[];
  private: string[];
  bindings: { client: string; browsers: string[] }[];
  file?: { path: string; rules: number; read: string; error?: string };
}
