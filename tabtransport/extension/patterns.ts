// Match patterns as Chrome has them, which the hub has checked (hub/offer/pack/pattern.go): where a
// pack's tools are offered, and where their steps may reach.

/** Whether one of the patterns has an address, as the browser writes it. */
export function matchesAny(patterns: string[], address: string) {
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  return patterns.some((pattern) => matches(pattern, url));
}

function matches(pattern: string, { href, protocol, hostname, port, pathname, search }: URL) {
  const parts = /^(https?):\/\/(\*\.)?(\[[^\]/]*\]|[^:/*]+)(?::(\d+))?(\/.*)$/.exec(pattern);
  if (!parts) return false;
  const [, scheme, below, host, onPort, path] = parts;
  if (protocol !== `${scheme}:`) return false;
  if (onPort && onPort !== (port || (scheme === "https" ? "443" : "80"))) return false;
  const at = hostname.replace(/\.$/, "");
  if (at !== host && !(below && at.endsWith(`.${host}`))) return false;
  const query = search || (/^[^#]*\?/.test(href) ? "?" : ""); // an empty one is one
  return `${pathname}${query}/*` === path || glob(path, pathname + query);
}

/** Whether text is what a pattern stands for, in which * is any characters. */
function glob(pattern: string, text: string) {
  const [head, ...rest] = pattern.split("*");
  if (!rest.length) return text === pattern;
  if (!text.startsWith(head)) return false;
  let at = head.length;
  const tail = rest.pop() as string;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - at >= tail.length && text.endsWith(tail);
}

/** Whether some host may be that of a page of both of two lists of patterns. */
export function overlap(some: string[], others: string[]) {
  const hosts = (patterns: string[]) => patterns.map((pattern) => hostOf(pattern));
  return hosts(some).some((a) => hosts(others).some((b) => a === b || isBelow(a, b) || isBelow(b, a)));
}

/** The host of a pattern, with "*." before it if it is one for those below that, too. */
export function hostOf(pattern: string) {
  return /^[^:]*:\/\/(\[[^\]]*\]|[^:/]*)/.exec(pattern)?.[1] ?? "";
}

function isBelow(host: string, pattern: string) {
  return pattern.startsWith("*.") && `.${host.replace(/^\*\./, "")}`.endsWith(pattern.slice(1));
}

/** A pattern for those pages of an origin that a pattern is for; undefined if there are none. */
export function within(pattern: string, origin: string) {
  const [, scheme, rest, path = ""] = /^([^:]*:\/\/)([^/]*)(\/.*)$/.exec(pattern) ?? [];
  if (!matchesAny([`${scheme}${rest}/*`], `${origin}/`)) return undefined;
  const { protocol, hostname, port } = new URL(origin);
  return `${protocol}//${hostname}:${port || (protocol === "https:" ? 443 : 80)}${path}`;
}
