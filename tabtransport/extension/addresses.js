// Addresses as people write them: those of sites, and of the hub.

/** Whether a host is this computer, whatever else names it. @param {string} hostname */
export function isLoopback(hostname) {
  return /^((.*\.)?localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** The hosts that a browser can open, as URL has them. */
const HOST = /^([a-z0-9_-]+(\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])$/;

/**
 * The site that somebody has written, or how to write one.
 *
 * @param {string} text
 * @returns {{origin: string} | {problem: string}}
 */
export function siteOf(text) {
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
 * The address of a hub's WebSocket that somebody has written, be it that or the address of its
 * pages, or how to write one.
 *
 * @param {string} text
 * @returns {{address: string} | {problem: string}}
 */
export function hubOf(text) {
  const url = parsed(text.trim(), (host) => (isLoopback(host) ? "ws" : "wss"));
  if (!url || !/^(ws|http)s?:$/.test(url.protocol) || !HOST.test(url.hostname)) {
    return { problem: "A hub’s address looks like ws://127.0.0.1:3300/tabs or https://hub.example.com." };
  }
  const scheme = /^(wss|https):$/.test(url.protocol) ? "wss" : "ws";
  return { address: `${scheme}://${url.host}${url.pathname === "/" ? "/tabs" : url.pathname}` };
}

/**
 * @param {string} text
 * @param {(hostname: string) => string} scheme of a host, where the text has none
 */
function parsed(text, scheme) {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return URL.canParse(text) ? new URL(text) : undefined;
  if (!URL.canParse(`http://${text}`)) return undefined;
  return new URL(`${scheme(new URL(`http://${text}`).hostname)}://${text}`);
}
