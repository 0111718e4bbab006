// The one WebSocket to the hub. Until whatever answers at the address has proved that it
// is the hub that this browser is paired with, it is sent nothing, and nothing that it
// says is heeded.

import { Handshake, confirm, pairingsFor } from "./pairing.ts";
import { Code } from "./refusal.ts";

import { dashboard } from "./settings.ts";

const SUBPROTOCOL = "tabhub.v1";
/** Before the first attempt to connect again, and before any, in ms. */
const FIRST_DELAY = 500;
const MAX_DELAY = 15_000;
/** For the hub to answer hello, in ms. */
const HELLO_TIMEOUT = 10_000;

/** After so many failures in a row whatever answers, but not as a hub, counts as another program. */
const MAX_FAILURES = 2;

type Hello = ToHub["browser/hello"]["params"];

/** What a link needs from its owner. */
interface Owner {
  address: () => string; // where to connect
  hello: () => Promise<Hello>; // what to say once the hub has proved itself
  opened: () => void; // the hub has answered hello
  message: (message: HubMessage | HubAnswer) => void; // called with any later message
  changed: () => void; // the state differs
}

export class Link {
  #socket: WebSocket | undefined;
  #state: HubState = { state: "connecting" };
  #open = false;
  /** The handshake that is under way on the socket. */
  #handshake: Handshake | undefined;
  /** What the hub is sent once it has proved itself. */
  #hello: Hello = { protocolVersion: SUBPROTOCOL };
  /** The pairing that the hub has proved. */
  #proved: Pairing | undefined;
  /** What the hub has answered to browser/hello if that was an error. */
  #refusal = "";
  /** Which of the pairings is tried next. */
  #nextPairing = 0;
  #failures = 0;
  #greetedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #maxSilence = 45_000;
  /** When the hub was heard last, as performance.now() has it. */
  #heardAt = 0;
  #owner;

  constructor(owner: Owner) {
    this.#owner = owner;
  }

  get state() {
    return this.#state;
  }

  /** Whether messages reach the hub now. */
  get open() {
    return this.#open;
  }

  /** The id of the pairing that the hub has proved, "" if it has not. */
  get pairing() {
    return this.#proved?.pairing ?? "";
  }

  /** When this end said hello, before anything came over the connection. */
  get greetedAt() {
    return this.#greetedAt;
  }

  /** Connects unless that is done, under way, or pointless until something changes. */
  async ensure() {
    if (this.#socket || this.#timer !== undefined) return;
    const { halted } = await chrome.storage.session.get("halted");
    if (halted) this.#become(halted as HubState);
    else await this.#connect();
  }

  /** Connects anew, whatever was before: something has changed. */
  async restart() {
    this.#become({ state: "connecting" });
    await chrome.storage.session.remove("halted");
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#failures = 0;
    this.#nextPairing = 0;
    this.#drop();
    await this.#connect();
  }

  /** Sends a frame. It returns false if there is no connection. */
  send(text: string) {
    if (!this.#open || !this.#socket) return false;
    this.#socket.send(text);
    return true;
  }

  async #connect() {
    const url = dialed(this.#owner.address());
    const [pairings, params] = await Promise.all([pairingsFor(url), this.#owner.hello()]);
    if (this.#socket || url !== dialed(this.#owner.address())) return; // another call goes on
    if (!pairings.length) {
      this.#become({ state: "unpaired", reason: "" });
      return;
    }
    let socket: WebSocket;
    try {
      socket = new WebSocket(url, [SUBPROTOCOL]);
    } catch {
      this.#become({ state: "refused", reason: `${url} is not the address of a hub` });
      return;
    }
    const handshake = new Handshake(pairings[this.#nextPairing % pairings.length], url);
    this.#socket = socket;
    this.#handshake = handshake;
    this.#hello = params;
    this.#watch(socket, HELLO_TIMEOUT);
    let reached = false;
    socket.onopen = () => {
      reached = true;
      ask(socket, "pair", handshake.request);
    };
    // One after the other: checking a proof takes a moment.
    let last = Promise.resolve();
    socket.onmessage = ({ data }) => {
      if (this.#open) this.#received(socket, data);
      else last = last.then(() => this.#received(socket, data));
    };
    socket.onclose = (event) => {
      if (this.#socket !== socket) return;
      const proved = this.#proved !== undefined;
      const refusal = this.#refusal;
      this.#drop();
      void this.#closed(url, reached, proved, event, refusal);
    };
  }

  /** Lets go of the socket. */
  #drop() {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#handshake = undefined;
    this.#proved = undefined;
    this.#refusal = "";
    this.#open = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    socket?.close(1000);
  }

  #received(socket: WebSocket, data: unknown) {
    if (this.#socket !== socket) return undefined;
    let message;
    try {
      message = JSON.parse(String(data));
    } catch {
      return undefined;
    }
    if (this.#open) {
      this.#heardAt = performance.now();
      this.#owner.message(message);
      return undefined;
    }
    if (message?.method !== undefined) return undefined; // nothing is asked of this side yet
    if (message?.id === "pair" && !this.#proved) return this.#answered(socket, message);
    if (message?.id === "hello" && this.#proved) this.#greeted(socket, message);
    return undefined;
  }

  /** Whatever is at the address has answered browser/pair. */
  async #answered(socket: WebSocket, { result, error }: any) {
    const proved = error ? undefined : await this.#handshake?.answer(result);
    if (this.#socket !== socket) return;
    if (!proved) {
      this.#drop();
      this.#again();
      if (error?.code === Code.MethodNotFound) {
        this.#become({ state: "outdated" });
      } else if (error?.code === Code.Unpaired) {
        this.#nextPairing++;
        this.#become({ state: "unpaired", reason: String(error.message) });
      } else {
        this.#nextPairing++;
        this.#become({ state: "unproved" });
      }
      return;
    }
    this.#proved = proved.pairing;
    this.#greetedAt = Date.now();
    ask(socket, "hello", { ...this.#hello, proof: proved.proof });
  }

  /** The hub has answered browser/hello. */
  #greeted(socket: WebSocket, { result, error }: any) {
    if (error) {
      this.#refusal = String(error.message); // the close that follows says whether to come back
      return;
    }
    const { hub, version, keepAliveMs } = result ?? {};
    this.#open = true;
    this.#failures = 0;
    this.#nextPairing = 0;
    if (this.#proved) void confirm(this.#proved);
    if (keepAliveMs > 0) this.#maxSilence = 3 * keepAliveMs;
    this.#watch(socket, this.#maxSilence);
    this.#become({ state: "connected", hub: String(hub ?? ""), version: String(version ?? "") });
    this.#owner.opened();
  }

  /** Gives the connection up if it stays silent for so long. */
  #watch(socket: WebSocket, silence: number) {
    clearTimeout(this.#timer);
    this.#heardAt = performance.now();
    const look = () => {
      const left = this.#heardAt + silence - performance.now();
      if (left > 0) {
        this.#timer = setTimeout(look, left);
        return;
      }
      // A close that the remote end does not answer would take a minute.
      socket.onclose?.(new CloseEvent("close", { code: 1006 }));
      socket.close();
    };
    look();
  }

  /**
   * @param reached whether a WebSocket was open
   * @param proved whether the remote end was the hub
   * @param refusal what it has answered to browser/hello, if that was an error
   */
  async #closed(url: string, reached: boolean, proved: boolean, event: CloseEvent, refusal: string) {
    if (proved && event.code === 4101) {
      await this.#halt({ state: "replaced" });
      return;
    }
    if (proved && event.code >= 4100 && event.code < 4200) {
      await this.#halt({ state: "refused", reason: refusal || event.reason || "the hub gave no reason" });
      return;
    }
    this.#again();
    /** A hub that is just ending, or beginning, does not prove itself either. */
    const answering: HubState = { state: proved || this.#failures < MAX_FAILURES ? "connecting" : "unproved" };
    if (reached) {
      this.#become(answering);
    } else if (await answers(url)) {
      if (!this.#socket) this.#become(answering);
    } else if (!this.#socket) {
      this.#become({ state: "absent" });
    }
  }

  /** Connects again after a while, which grows. */
  #again() {
    const delay = Math.min(FIRST_DELAY * 2 ** this.#failures++, MAX_DELAY) * (0.5 + Math.random() / 2);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.ensure();
    }, delay);
  }

  /** Stops trying until something changes, also if the worker is restarted. */
  async #halt(state: HubState) {
    this.#drop();
    await chrome.storage.session.set({ halted: state });
    this.#become(state);
  }

  #become(state: HubState) {
    if (JSON.stringify(state) === JSON.stringify(this.#state)) return;
    this.#state = state;
    this.#owner.changed();
  }
}

function ask<What extends "pair" | "hello">(socket: WebSocket, what: What, params: ToHub[`browser/${What}`]["params"]) {
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: what, method: `browser/${what}`, params }));
}

/**
 * The address that is dialed: a name of this computer may stand for several addresses, of
 * which another program may have one.
 */
function dialed(address: string) {
  const url = new URL(address);
  if (url.protocol === "ws:" && /^(.*\.)?localhost$/.test(url.hostname)) url.hostname = "127.0.0.1";
  return url.href;
}

/** Whether any web server answers where the hub should be. */
async function answers(url: string) {
  try {
    await fetch(new URL("healthz", dashboard(url)), { signal: AbortSignal.timeout(2000), cache: "no-store" });
    return true;
  } catch {
    return false;
  }
}
