"use strict";
(() => {
  // content/framepath.ts
  function framePath(source) {
    const up = [];
    for (let at = source; at !== window; at = at.parent) {
      if (!at.parent || up.length === 32) return void 0;
      up[up.length] = frameIndex(at);
    }
    const path = [];
    for (let i = up.length - 1; i >= 0; i--) path[path.length] = up[i];
    return path;
  }
  function frameIndex(frame) {
    const { parent } = frame;
    let index = parent.length - 1;
    while (index >= 0 && parent[index] !== frame) index--;
    return index;
  }

  // content/ratelimit.ts
  var RateLimit = class {
    #perSecond;
    #since = 0;
    #count = 0;
    constructor(perSecond) {
      this.#perSecond = perSecond;
    }
    /** Whether it may be done once more now. */
    take() {
      const now = Date.now();
      if (now - this.#since > 1e3) {
        this.#since = now;
        this.#count = 0;
      }
      return ++this.#count <= this.#perSecond;
    }
  };

  // content/gateway.ts
  var Gateway = class _Gateway {
    /** How many frames' limits are kept. */
    static #maxFrames = 256;
    static #kinds = ["tools", "server", "child", "named", "script"];
    /** How often the tab may give a sign, and each frame of it, by its path. */
    #limit = new RateLimit(64);
    #limits = /* @__PURE__ */ new Map();
    constructor() {
      addEventListener("tabhub-sign", (event) => {
        const sign = event.detail;
        if (Array.isArray(sign?.path) && sign.path.length <= 32) this.#pass({ ...sign, path: sign.path.map(Number) });
      });
      addEventListener("message", ({ isTrusted, source, data }) => {
        if (!isTrusted || !source || source === window || data?.tabhub !== "sign") return;
        const path = framePath(source);
        if (path) this.#pass({ path, kind: data.kind, child: data.child });
      });
    }
    /** Has the sentinel of the top document pass on the signs that were given before. */
    join() {
      dispatchEvent(new Event("tabhub-gateway"));
    }
    /** @param sign what the page may have forged */
    #pass({ path, kind, child }) {
      if (!_Gateway.#kinds.includes(kind) || !isFrame(path) || !chrome.runtime?.id) return;
      const frame = path.join();
      if (this.#limits.size >= _Gateway.#maxFrames) this.#limits.clear();
      const limit = this.#limits.get(frame) ?? new RateLimit(16);
      this.#limits.set(frame, limit);
      if (!limit.take() || !this.#limit.take()) return;
      const sign = {
        path,
        kind,
        ...child && { child: { index: Math.trunc(Number(child.index)), origin: String(child.origin).slice(0, 1024) } }
      };
      void chrome.runtime.sendMessage({ type: "sign", sign }).catch(() => {
      });
    }
  };
  function isFrame(path) {
    let at = window;
    for (const index of path) {
      if (index === -1) return true;
      at = Number.isInteger(index) ? at?.[index] : void 0;
    }
    return at !== void 0;
  }
  if (!Object.hasOwn(globalThis, "tabhubGateway")) globalThis.tabhubGateway = new Gateway();
})();
