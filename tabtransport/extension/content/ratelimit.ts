// How often a page may cause traffic to the hub.

export class RateLimit {
  #perSecond;
  #since = 0;
  #count = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Whether it may be done once more now. */
  take() {
    const now = Date.now();
    if (now - this.#since > 1000) {
      this.#since = now;
      this.#count = 0;
    }
    return ++this.#count <= this.#perSecond;
  }
}
