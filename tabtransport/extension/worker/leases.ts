// The tabs of this browser that clients have leased, as the hub says, and what the hub is sent
// of them: whether the owner uses them.

import type { Hub } from "./hub.ts";

export class Leases {
  #leases = new Map<number, Lease>();
  /** The tabs of which the hub knows that the owner uses them. */
  #notified = new Set<number>();
  #hub;
  #hasInput;
  #changed;

  /**
   * @param hasInput whether the owner uses a tab
   * @param changed called when a tab is leased by another client, or waits for the owner or does no longer
   */
  constructor(hub: Hub, hasInput: (tabId: number) => boolean, changed: (tabId: number) => void) {
    this.#hub = hub;
    this.#hasInput = hasInput;
    this.#changed = changed;
  }

  of(tabId: number) {
    return this.#leases.get(tabId);
  }

  /** Takes the leases that the hub reports. */
  take(held: NonNullable<OwnerState["held"]>) {
    const before = this.#leases;
    const now = Date.now();
    this.#leases = new Map(held.map(({ tabId, by, untilMs, waiting = false }) => [tabId, { by, until: now + untilMs, waiting }]));
    for (const tabId of new Set([...before.keys(), ...this.#leases.keys()])) {
      const [was, is] = [before.get(tabId), this.#leases.get(tabId)];
      if (was?.by !== is?.by || was?.waiting !== is?.waiting) this.#changed(tabId);
      this.userInput(tabId);
    }
  }

  /** A hub has just said hello: it knows nothing of user input. */
  opened() {
    this.#notified.clear();
  }

  /** Tells the hub whether the owner uses a tab, if the tab is leased. */
  userInput(tabId: number) {
    const inUse = this.#leases.has(tabId) && this.#hasInput(tabId);
    if (inUse === this.#notified.has(tabId) || !this.#hub.notify("browser/tabState", { inUse }, tabId)) return;
    if (inUse) this.#notified.add(tabId);
    else this.#notified.delete(tabId);
  }
}
