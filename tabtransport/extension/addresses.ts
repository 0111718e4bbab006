// Addresses as people write them: those of sites, and of the hub.

/** Whether a host is this computer, whatever else names it. */
export function isLoopback(hostname: string) {
  return /^((.*\.)?localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** The hosts that a browser can open, as URL has them. */
const HOST = /^([a-z0-9_-]+(\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])$/;

/** The site that a user has written, or how to write one. */
export function siteOf(text: string): { origin: string } | { problem: string } {
  const typed = text.trim();
  if (!typed) return { problem: "Write a site, such as example.com." };
  if (typed.includes("*")) {
    return { problem: "A pattern such as *.example.com matches no site here. Write each site by itself, such as shop.example.com." };
  }
  const url = parsed(typed, (host) => (isLoopback(host) ? "http" : "https"));
  if (url && !/^https?:$/.test(url.protocol)) return { problem: "Only sites at https:// or http:// can have tools." };
  if (!url || !HOST.test(url.hostname)) return { problem: `“${typed.slice(0, 80)}” is no site. Write one as in the address bar, such as example.com or http://localhost:5173.` };
  return { origin: url.origin };
}

/**
 * The address of a hub's WebSocket that a user has written, be it that or the address of its
 * pages, or how to write one.
 */
export function hubOf(text: string): { address: string } | { problem: string } {
  const url = parsed(text.trim(), (host) => (isLoopback(host) ? "ws" : "wss"));
  if (!url || !/^(ws|http)s?:$/.test(url.protocol) || !HOST.test(url.hostname)) {
    return { problem: "A hub’s address looks like ws://127.0.0.1:3300/tabs or https://hub.example.com." };
  }
  const scheme = /^(wss|https):$/.test(url.protocol) ? "wss" : "ws";
  return { address: `${scheme}://${url.host}${url.pathname === "/" ? "/tabs" : url.pathname}` };
}

/** @param scheme of a host, where the text has none */
function parsed(text: string, scheme: (hostname: string) => string) {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return URL.canParse(text) ? new URL(text) : undefined;
  if (!URL.canParse(`http://${text}`)) return undefined;
  return new URL(`${scheme(new URL(`http://${text}`).hostname)}://${text}`);
}
