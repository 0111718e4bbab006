// Runs in a tab's top document, in the extension's own world: it hears the sentinels of all
// frames of the tab (sentinel.ts) and asks the service worker to bring the rest of the
// extension to those that have given a sign. It is the only thing of the extension's own world
// in a tab that has nothing to offer, and comes when the page has loaded: such a world costs a
// document some ms and 0.2 MB (worker/gateways.ts).

import { framePath } from "./framepath.ts";

import { RateLimit } from "./ratelimit.ts";

class Gateway {
  /** How many frames' limits are kept. */
  static #maxFrames = 256;
  static #kinds = ["tools", "server", "child", "named", "script"];

  /** How often the tab may give a sign, and each frame of it, by its path. */
  #limit = new RateLimit(64);
  #limits = new Map<string, RateLimit>();

  constructor() {
    // What the sentinel of the top document passes on.
    addEventListener("tabhub-sign", (event) => {
      const sign = (event as CustomEvent<FrameSign>).detail;
      if (Array.isArray(sign?.path) && sign.path.length <= 32) this.#pass({ ...sign, path: sign.path.map(Number) });
    });
    // Where there is none, as the site is switched off, frames of other sites still ask.
    addEventListener("message", ({ isTrusted, source, data }) => {
      if (!isTrusted || !source || source === window || data?.tabhub !== "sign") return;
      const path = framePath(source as Window);
      if (path) this.#pass({ path, kind: data.kind, child: data.child });
    });
  }

  /** Has the sentinel of the top document pass on the signs that were given before. */
  join() {
    dispatchEvent(new Event("tabhub-gateway"));
  }

  /** @param sign what the page may have forged */
  #pass({ path, kind, child }: FrameSign) {
    // Only what could lead to something counts against the limits.
    if (!Gateway.#kinds.includes(kind) || !isFrame(path) || !chrome.runtime?.id) return;
    const frame = path.join();
    if (this.#limits.size >= Gateway.#maxFrames) this.#limits.clear();
    const limit = this.#limits.get(frame) ?? new RateLimit(16);
    this.#limits.set(frame, limit);
    if (!limit.take() || !this.#limit.take()) return;
    const sign = {
      path,
      kind,
      ...(child && { child: { index: Math.trunc(Number(child.index)), origin: String(child.origin).slice(0, 1024) } }),
    };
    void chrome.runtime.sendMessage({ type: "sign", sign }).catch(() => {});
  }
}

/** Whether the tab may have a frame at a path: what is in a shadow tree cannot be seen from here. */
function isFrame(path: number[]) {
  let at: Window | undefined = window;
  for (const index of path) {
    if (index === -1) return true;
    at = Number.isInteger(index) ? at?.[index] : undefined;
  }
  return at !== undefined;
}

if (!Object.hasOwn(globalThis, "tabhubGateway")) globalThis.tabhubGateway = new Gateway();
