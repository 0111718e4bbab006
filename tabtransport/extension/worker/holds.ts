// The tabs of this browser that clients hold for themselves, as the hub says, and what the hub is told
// of them: whether the owner's hand is there.

import type { Hub } from "./hub.ts";

export class Holds {
  #held = new Map<number, Hold>();
  /** The tabs of which the hub knows that the owner's hand is there. */
  #told = new Set<number>();
  #hub;
  #isAt;
  #changed;

  /**
   * @param isAt whether the owner's hand is at a tab
   * @param changed told when a tab is held by another, or waits for the owner or does no longer
   */
  constructor(hub: Hub, isAt: (tabId: number) => boolean, changed: (tabId: number) => void) {
    this.#hub = hub;
    this.#isAt = isAt;
    this.#changed = changed;
  }

  of(tabId: number) {
    return this.#held.get(tabId);
  }

  /** Takes what the hub says is held. */
  take(held: NonNullable<OwnerState["held"]>) {
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

  /** Tells the hub whether the owner's hand is at a tab, if the tab is held. */
  hand(tabId: number) {
    const inUse = this.#held.has(tabId) && this.#isAt(tabId);
    if (inUse === this.#told.has(tabId) || !this.#hub.notify("browser/tabState", { inUse }, tabId)) return;
    if (inUse) this.#told.add(tabId);
    else this.#told.delete(tabId);
  }
}
