// What the pages read of the hub's answers; the Go types are in ../api.go, ../oauth.go,
// hub/api.go and hub/record/entry.go.

export interface AuthorizeEvent {
  code?: string;
  location?: string;
  error?: string;
}

export interface Status {
  version: string;
  started: string;
  addrs: string[] | null;
  clients: number;
  hub: {
    tabs: number;
    domains: number;
    tools: number;
    calls: number;
    storeError?: string;
  };
  record: { error?: string };
}

export interface Tab {
  title: string;
  url: string;
  focused: boolean;
  connected: boolean;
  discarded?: boolean;
  waiting?: boolean;
  domains: { domain: string; number: number; tools: number; departed?: number }[] | null;
  rejected?: { name: string; reason: string }[];
  warnings?: { name: string; reason: string }[];
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

export interface Call {
  time: string;
  name?: string; // that the owner has given the client
  said?: string; // what the client calls itself
  client?: string; // its id
  via?: string; // the hub's own tool that the client called for it
  domain?: string;
  tool?: string;
  outcome: string;
  reason?: string;
  duration: number; // nanoseconds
}
