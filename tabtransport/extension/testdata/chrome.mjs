// Stands in for the browser's API where a script is tested without a browser: whatever is called does nothing.

const nothing = new Proxy(() => {}, { get: (_, name) => (typeof name === "symbol" || name === "then" ? undefined : nothing), apply: () => nothing });

/** @param {object} [has] what a test needs of it */
export function standIn(has = {}) {
  globalThis.chrome = new Proxy(has, { get: (_, name) => has[name] ?? nothing });
}
