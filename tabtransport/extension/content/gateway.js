// Runs in a tab's top document, in the extension's own world: it hears the sentinels of all
// frames of the tab (sentinel.js) and asks the service worker to bring the rest of the
// extension to those that have given a sign. It is the only thing of the extension's own world
// in a tab that has nothing to offer, because such a world costs each frame 0.2 MB.
"use strict";

{
  /** How often each frame may give a sign. @type {WeakMap<object, InstanceType<typeof RateLimit>>} */
  const limits = new WeakMap();
  /** The type of the events by which the top document's own sentinel tells of signs: no page knows it. */
  const secret = crypto.getRandomValues(new BigUint64Array(2)).join("-");
  /** Whether there is such a sentinel: none is in a site that is switched off. */
  let joined = false;

  /**
   * @param {Window} source
   * @param {FrameSign} said what the page may have forged
   */
  function pass(source, { kind, child }) {
    const limit = limits.get(source) ?? new RateLimit(16);
    limits.set(source, limit);
    const path = limit.take() && pathOf(source);
    if (!path) return;
    const sign = { kind: String(kind), ...(child && { child: { index: Math.trunc(Number(child.index)), origin: String(child.origin) } }) };
    const send = () => void chrome.runtime?.sendMessage({ type: "sign", path, sign }).catch(() => {});
    // A page that the browser loads ahead is none until the user goes there.
    if (document.prerendering) document.addEventListener("prerenderingchange", send, { once: true });
    else send();
  }

  /**
   * The path from the top document to a frame: the index of each frame in its parent.
   *
   * @param {Window} source
   * @returns {number[] | undefined} undefined if it has gone
   */
  function pathOf(source) {
    const path = [];
    for (let at = source; at !== window; at = at.parent) {
      const { parent } = at;
      let index = 0;
      while (index < parent.length && parent[index] !== at) index++;
      if (index === parent.length || path.unshift(index) > 32) return undefined;
    }
    return path;
  }

  addEventListener("message", (event) => {
    const { source } = event;
    if (!event.isTrusted || !source || source === window || !chrome.runtime?.id) return;
    const { data } = event;
    if (data?.tabhub !== "sign") return;
    // The page does not get the message. But where there is no sentinel, as the site is switched
    // off, only the page can have sent it, and would find out that somebody stops it.
    if (joined) event.stopImmediatePropagation();
    pass(/** @type {Window} */ (source), data);
  });

  addEventListener(secret, (event) => pass(window, /** @type {CustomEvent<FrameSign>} */ (event).detail));

  /** Tells the sentinel the secret. Only before the page's scripts run can nobody else hear it. */
  function tell() {
    joined = !dispatchEvent(new CustomEvent("tabhub-gateway", { cancelable: true, detail: secret }));
  }
  if (!globalThis.tabhubLate) {
    tell();
    if (!joined) {
      // The browser may run the sentinel after this: then it is there when the parser goes on,
      // and still no script of the page has run.
      const parser = new MutationObserver(() => {
        parser.disconnect();
        tell();
      });
      parser.observe(document, { childList: true, subtree: true });
    }
  }

  globalThis.tabhubGateway = true;
}
