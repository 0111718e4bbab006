// Runs in a tab's top document, in the extension's own world: it hears the sentinels of all
// frames of the tab (sentinel.js) and asks the service worker to bring the rest of the
// extension to those that have given a sign. It is the only thing of the extension's own world
// in a tab that has nothing to offer, and comes when the page is loaded: such a world costs a
// document some ms and 0.2 MB (worker/gateways.js).
"use strict";

if (!globalThis.tabhubGateway) {
  globalThis.tabhubGateway = true;
  /** How often each frame may give a sign, by its path. @type {Map<string, InstanceType<typeof RateLimit>>} */
  const limits = new Map();
  const MAX_FRAMES = 256;

  /** @param {FrameSign} said what the page may have forged */
  function pass({ path, kind, child }) {
    const frame = String(path);
    const limit = limits.get(frame) ?? new RateLimit(16);
    if (limits.size < MAX_FRAMES) limits.set(frame, limit);
    if (!limits.has(frame) || !limit.take() || !chrome.runtime?.id) return;
    const sign = {
      path: path.map(Number),
      kind: String(kind),
      ...(child && { child: { index: Math.trunc(Number(child.index)), origin: String(child.origin) } }),
    };
    void chrome.runtime.sendMessage({ type: "sign", sign }).catch(() => {});
  }

  // What the sentinel of the top document passes on.
  addEventListener("tabhub-sign", (event) => {
    const sign = /** @type {CustomEvent<FrameSign>} */ (event).detail;
    if (Array.isArray(sign?.path) && sign.path.length <= 32) pass(sign);
  });
  // Where there is none, as the site is switched off, frames of other sites still ask.
  addEventListener("message", ({ isTrusted, source, data }) => {
    if (!isTrusted || !source || source === window || data?.tabhub !== "sign") return;
    const path = framePath(/** @type {Window} */ (source));
    if (path) pass({ path, kind: data.kind, child: data.child });
  });
}
