// Waits for what a page is to show.

import { Failure } from "./failure.ts";

/** How often is looked for what no change of the document tells, such as of styles and of frames, in ms. */
const EVERY = 200;
/** How much longer than a look took is waited before the next one. */
const REST = 4;

/**
 * Looks now, and when the document has changed, until look throws nothing, or something that no waiting
 * helps with, or the time is up: then it throws what look threw last.
 * @param until as performance.now() has it
 */
export function eventually<T>(look: () => T | Promise<T>, until: number, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    let next: ReturnType<typeof setTimeout> | undefined;
    let rested = 0;
    const end = () => {
      clearTimeout(next);
      changes.disconnect();
      signal.removeEventListener("abort", aborted);
    };
    const aborted = () => {
      end();
      reject(signal.reason);
    };
    const again = () => {
      const began = performance.now();
      clearTimeout(next);
      try {
        const value = look();
        end();
        resolve(value);
      } catch (error) {
        const now = performance.now();
        if (!(error instanceof Failure && error.passing) || now >= until) {
          end();
          reject(error);
          return;
        }
        rested = now + (now - began) * REST;
        next = setTimeout(again, Math.min(Math.max(EVERY, rested - now), until - now));
      }
    };
    const changes = new MutationObserver(() => {
      if (performance.now() >= rested) again();
      else {
        clearTimeout(next);
        next = setTimeout(again, rested - performance.now());
      }
    });
    if (signal.aborted) return aborted();
    signal.addEventListener("abort", aborted);
    changes.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    again();
  });
}
