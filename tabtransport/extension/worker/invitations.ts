// Invitations of hubs to be paired with: `tabhub browser pair` opens a page of the hub whose
// address holds a secret that is good once. Any page can have such an address, so the user
// is asked, in a small window of the extension's own, before the invitation is accepted.

import { codeOf, keepInvitation } from "./pairing.ts";

const WIDTH = 480;
const HEIGHT = 420;
/** How long after a no the user is not asked again, in ms: a page cannot repeat its question at will. */
const PAUSE = 30_000;

/**
 * A link to a hub's page, which a hub of another computer must have over TLS: the id and
 * the secret of the invitation, and until when it is good, in seconds since 1970.
 */
const LINK =
  /^(https:\/\/[^?#]+|http:\/\/(?:127(?:\.\d+){3}|\[::1\]|(?:[a-z0-9-]+\.)*localhost)(?::\d+)?)\/pair#(browser\.[a-z0-9]{8,64})\.([A-Za-z0-9_-]{22})\.(\d{10})$/;

/**
 * An address, or a title that is one, as others may see it: without what pairs with a hub or
 * signs in to its dashboard.
 */
export function withoutSecret(text: string) {
  return /#(browser\.|code=)/.test(text) ? text.slice(0, text.indexOf("#")) : text;
}

type Invitation = { id: string; address: string; secret: string; tabId?: number; windowId?: number };

export class Invitations {
  /** Whether the user is just being asked about another. */
  #asking = false;
  /** Those that were answered. */
  #done = new Set<string>();
  #pausedUntil = 0;
  #accepted;

  /** @param accepted called when the hub at an address is the one to be with */
  constructor(accepted: (address: string) => Promise<unknown>) {
    this.#accepted = accepted;
    chrome.windows.onRemoved.addListener(async (closed) => {
      const invitation = await open();
      if (invitation && closed === invitation.windowId) await this.answer(invitation.id, false);
    });
  }

  /**
   * A tab shows another address. Only that of a hub on this computer, in the tab in front,
   * has the user asked: any site can send its tabs to a hub of its own.
   */
  async seen(tab: chrome.tabs.Tab, url: string) {
    const invitation = tab.active && url.startsWith("http:") ? read(url) : undefined;
    if (!invitation || this.#done.has(invitation.id) || Date.now() < this.#pausedUntil) return;
    await this.#ask({ ...invitation, tabId: tab.id });
  }

  /**
   * The user has pasted an address.
   * @returns what is wrong with it
   */
  async pasted(url: string): Promise<string> {
    const invitation = read(url);
    if (!invitation) return "This is no address of “tabhub browser pair”, or one that is over: run it again.";
    if (this.#done.has(invitation.id)) return "This address was used already: run “tabhub browser pair” again.";
    if (await this.#ask(invitation)) return "";
    return "You are being asked about another address already: answer in that window, then paste this one again.";
  }

  /** @returns false if the user is being asked about another */
  async #ask(invitation: Invitation): Promise<boolean> {
    if (this.#asking) return false;
    this.#asking = true;
    try {
      if (await open()) return false;
      const { id } = invitation;
      await chrome.storage.session.set({ invitation });
      const page = `invite.html?${encodeURIComponent(id)}`;
      const made = await chrome.windows.create({ url: page, type: "popup", width: WIDTH, height: HEIGHT, focused: true });
      await chrome.storage.session.set({ invitation: { ...invitation, windowId: made?.id } });
      return true;
    } catch (error) {
      await chrome.storage.session.remove("invitation"); // or the user would not be asked again
      throw error;
    } finally {
      this.#asking = false;
    }
  }

  /** What the user is asked about. */
  async view(id: string): Promise<InvitationView | undefined> {
    const invitation = await open();
    if (invitation?.id !== id) return undefined;
    return { address: invitation.address, code: await codeOf(invitation.id, invitation.secret) };
  }

  async answer(id: string, accept: boolean) {
    const invitation = await open();
    if (invitation?.id !== id) return;
    await chrome.storage.session.remove("invitation");
    this.#done.add(id);
    if (invitation.windowId !== undefined) chrome.windows.remove(invitation.windowId).catch(() => {});
    void tell(invitation, accept);
    if (!accept) {
      this.#pausedUntil = Date.now() + PAUSE;
      return;
    }
    await keepInvitation({ pairing: invitation.id, hub: "", key: invitation.secret, address: invitation.address });
    await this.#accepted(invitation.address);
  }
}

/**
 * The invitation in an address. One out of the browser's history may by now lead to someone
 * else's page, so it is none.
 */
function read(url: string): Invitation | undefined {
  const [, origin, id, secret, until] = LINK.exec(url) ?? [];
  if (!origin || Number(until) * 1000 < Date.now()) return undefined;
  const address = new URL(`${origin.replace(/^http/, "ws")}/tabs`);
  if (address.protocol === "ws:" && address.hostname.endsWith("localhost")) address.hostname = "127.0.0.1";
  return { id, address: address.href, secret };
}

/** @returns the invitation that the user is asked about, also by an earlier worker */
async function open(): Promise<Invitation | undefined> {
  return (await chrome.storage.session.get("invitation")).invitation as Invitation | undefined;
}

/**
 * Tells the page what became of it, by its own address, which loses the secret so. A tab
 * that shows another page by now is left alone.
 */
async function tell({ id, tabId, address }: Invitation, accepted: boolean) {
  if (tabId === undefined) return;
  const tab = await chrome.tabs.get(tabId).catch(() => undefined);
  if (LINK.exec(tab?.url ?? "")?.[2] !== id) return;
  const url = new URL(`pair#${accepted ? "accepted" : "declined"}`, address.replace(/^ws/, "http"));
  chrome.tabs.update(tabId, { url: url.href }).catch(() => {});
}
