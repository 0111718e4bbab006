// The companion extension, asked to carry the page: one tab for the hub, not two. Its
// content script hears an event of the page's window, and the port in it is a socket
// to the extension, which answers as a hub does (see content/embedded.ts there).

import { PortSocket } from "./portsocket.ts";

const PAGE_EVENT = "tabhub-page";
/** Fired by an extension that can carry the page from now on. */
export const EXTENSION_EVENT = "tabhub-extension";

/**
 * @param hub the hub's origin: an extension that is set to another one does not answer
 * @returns null if no extension is there now
 */
export function dialExtension(hub: string): LinkSocket | null {
  const { port1, port2 } = new MessageChannel();
  // A content script hears the event before dispatchEvent returns.
  const heard = !window.dispatchEvent(new MessageEvent(PAGE_EVENT, { cancelable: true, data: hub, ports: [port2] }));
  return heard ? new PortSocket(port1) : null;
}

/** Names the hub in the document, if none of its script elements does: the extension answers no others. */
export function nameHub(hub: string) {
  const named = [...document.scripts].some(({ src }) => src === `${hub}/tab.js` || src === `${hub}/embed.js`);
  if (named) return;
  const link = document.createElement("link");
  link.rel = "tabhub";
  link.href = hub;
  (document.head ?? document.documentElement).append(link);
}
