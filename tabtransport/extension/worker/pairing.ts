// How this browser and a hub prove to one another that their owner has paired them: each
// shows that it knows a key that both have, and neither sends it (PROTOCOL.md, "Pairing").

const PROTOCOL = "tabhub.v1";
/** How many pairings are kept, beside that of this copy of the extension. */
const MAX_KEPT = 16;
/** How long an invitation is tried that the hub has not answered, in ms. */
const INVITATION_LIFE = 10 * 60_000;

/** What a handshake is over. The lines of a proof are these, in this order. */
type Transcript = { pairing: string; hub: string; address: string; browserNonce: string; hubNonce: string };

/** What the hub that wrote this copy of the extension gave it. */
const embedded: Promise<Pairing | undefined> = fetch(chrome.runtime.getURL("pairing.json"))
  .then((response) => response.json())
  .catch(() => undefined);

/** The address of the hub that wrote this copy of the extension, if one did. */
export async function embeddedAddress() {
  return (await embedded)?.address;
}

/**
 * The pairings to try with the hub at an address, the likeliest first: the one that was
 * made there, that of this copy, and those of the same host, for a hub that has moved to
 * another port. A handshake that fails does not reveal the key.
 */
export async function pairingsFor(address: string): Promise<Pairing[]> {
  const kept = (await load()).filter((pairing) => !pairing.until || pairing.until > Date.now());
  const host = new URL(address).hostname;
  const here = kept.filter((pairing) => pairing.address === address);
  const moved = kept.filter((pairing) => pairing.address !== address && new URL(pairing.address).hostname === host);
  const copy = await embedded;
  return [...here, ...(copy ? [copy] : []), ...moved];
}

/** Keeps the pairing that an invitation makes. Its key is good once. */
export async function keepInvitation(invited: Pairing) {
  const known = (await load()).find(({ pairing }) => pairing === invited.pairing);
  if (!known || known.until) await keep({ ...invited, until: Date.now() + INVITATION_LIFE });
}

/** Both sides have proved a pairing: the key of the invitation that it came from is void. */
export async function confirm(pairing: Pairing) {
  if (!pairing.next) return;
  const { pairing: id, hub, next, address } = pairing;
  await keep({ pairing: id, hub, key: next, address });
}

/** @returns the latest first */
async function load(): Promise<Pairing[]> {
  const { pairings } = await chrome.storage.local.get("pairings");
  return (pairings ?? []) as Pairing[];
}

/** The latest change of what is kept: the next one waits for it. */
let keeping: Promise<unknown> = Promise.resolve();

function keep(pairing: Pairing) {
  const kept = keeping.then(async () => {
    const others = (await load()).filter((other) => other.pairing !== pairing.pairing);
    await chrome.storage.local.set({ pairings: [pairing, ...others].slice(0, MAX_KEPT) });
  });
  keeping = kept.catch(() => {});
  return kept;
}

/** One handshake over one connection. */
export class Handshake {
  #pairing;
  #address;
  /** The keys that the hub may have, imported before it answers: after an invitation it has the next one if it got this side's last proof. */
  #keys;
  #nonce = encode(crypto.getRandomValues(new Uint8Array(32)));

  /** @param address that is dialed; the hub must know itself by it */
  constructor(pairing: Pairing, address: string) {
    const { protocol, host } = new URL(address);
    this.#pairing = pairing;
    this.#address = `${protocol}//${host}`;
    const { key, next } = pairing;
    this.#keys = (next ? [next, key] : [key]).map((text) => ({ text, ready: hmac(text) }));
  }

  /** The parameters of browser/pair. */
  get request() {
    return { protocolVersion: PROTOCOL, pairing: this.#pairing.pairing, nonce: this.#nonce };
  }

  /**
   * Checks what the hub answers.
   * @returns this side's proof;
   * undefined if the other does not have the key
   */
  async answer(result: any): Promise<{ pairing: Pairing; proof: string } | undefined> {
    const { pairing, next, address } = this.#pairing;
    const hub = String(result?.hub ?? "");
    const transcript: Transcript = { pairing, hub, address: this.#address, browserNonce: this.#nonce, hubNonce: String(result?.nonce ?? "") };
    if (/[\n]/.test(hub + transcript.hubNonce)) return undefined;
    const shown = decode(String(result?.proof ?? ""));
    for (const { text: key, ready } of this.#keys) {
      const [right, proof] = await Promise.all([
        verify(await ready, lines("hub", transcript), shown),
        mac(await ready, lines("browser", transcript)),
      ]);
      if (!right) continue;
      const proved: Pairing = { ...this.#pairing, hub };
      if (proved.until) {
        proved.next = key === next ? next : await mac(await ready, lines("key", transcript));
        // It must not be lost if the hub's next answer is.
        await keep({ ...proved, address });
      }
      return { pairing: proved, proof };
    }
    return undefined;
  }
}

/** The code by which the user sees that the hub and this browser mean the same invitation. */
export async function codeOf(pairing: string, secret: string) {
  const [a, b, c] = decode(await mac(await hmac(secret), ["code", pairing]));
  const code = String(((a << 16) | (b << 8) | c) % 1_000_000).padStart(6, "0");
  return `${code.slice(0, 3)} ${code.slice(3)}`;
}

function lines(purpose: "hub" | "browser" | "key", { pairing, hub, address, browserNonce, hubNonce }: Transcript) {
  return [`${PROTOCOL} ${purpose}`, pairing, hub, address, browserNonce, hubNonce];
}

function hmac(key: string) {
  return crypto.subtle.importKey("raw", decode(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}

async function mac(key: CryptoKey, lines: string[]) {
  return encode(new Uint8Array(await crypto.subtle.sign("HMAC", key, text(lines))));
}

function verify(key: CryptoKey, lines: string[], shown: Uint8Array<ArrayBuffer>) {
  return crypto.subtle.verify("HMAC", key, shown, text(lines));
}

function text(lines: string[]) {
  return new TextEncoder().encode(lines.join("\n"));
}

function encode(bytes: Uint8Array) {
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** The bytes of a base64url text; none, if it is not one. */
function decode(text: string) {
  try {
    return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
