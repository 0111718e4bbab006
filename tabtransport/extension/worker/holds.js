// The tabs of this browser that clients hold for themselves, as the hub says, and what the hub is told
// of them: whether the owner's hand is there.

export class Holds {
  /** @type {Map<number, Hold>} */
  #held = new Map();
  /** The tabs of which the hub knows that the owner's hand is there. */
  #told = new Set();
  #hub;
  #isAt;
  #changed;

  /**
   * @param {import("./hub.js").Hub} hub
   * @param {(tabId: number) => boolean} isAt whether the owner's hand is at a tab
   * @param {(tabId: number) => void} changed told when a tab is held by another, or waits for the owner or does no longer
   */
  constructor(hub, isAt, changed) {
    this.#hub = hub;
    this.#isAt = isAt;
    this.#changed = changed;
  }

  /** @param {number} tabId */
  of(tabId) {
    return this.#held.get(tabId);
  }

  /**
   * Takes what the hub says is held.
   *
   * @param {NonNullable<OwnerState["held"]>} held
   */
  take(held) {
    const before = this.#held;
    const now = Date.now();
    this.#held = new Map(held.map(({ tabId, by, untilMs, waiting = false }) => [tabId, { by, until: now + untilMs, waiting }]));
    for (const tabId of new Set([...before.keys(), ...this.#held.keys()])) {
      const [was, is] = [before.get(tabId), this.#held.get(tabId)];
      if (was?.by !== is?.by || was?.waiting !== is?.waiting) this.#changed(tabId);
      this.hand(tabId);
    }
  }

  /** A hub has just said hello: it knows nothing of the owner's hand. */
  opened() {
    this.#told.clear();
  }

  /**
   * Tells the hub whether the owner's hand is at a tab, if the tab is held.
   *
   * @param {number} tabId
   */
  hand(tabId) {
    const inUse = this.#held.has(tabId) && this.#isAt(tabId);
    if (inUse === this.#told.has(tabId) || !this.#hub.notify("browser/tabState", { inUse }, tabId)) return;
    if (inUse) this.#told.add(tabId);
    else this.#told.delete(tabId);
  }
}
