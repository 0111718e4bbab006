// Waits for the page between the events of one step.

import { Failure } from "./failure.ts";
import { eventually } from "./until.ts";

/** How long a page that is seen may take to draw, in ms. */
const DRAWN = 100;

/** Lets the page do what it has put off: its next task. Unlike timers, no browser delays that in a tab behind. */
export function turn(): Promise<void> {
  return new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(0);
  });
}

/** Lets the page draw, if it is seen. */
export async function drawn(): Promise<void> {
  if (document.visibilityState === "visible") {
    await Promise.race([new Promise((done) => requestAnimationFrame(done)), new Promise((done) => setTimeout(done, DRAWN))]);
  }
  await turn();
}

/** Waits until a look gives something. @returns undefined if it does not in time */
export async function inTime<T>(ms: number, signal: AbortSignal, look: () => T | undefined): Promise<T | undefined> {
  const wait = () => {
    const value = look();
    if (value === undefined) throw new Failure("STEP_TIMEOUT", "").later();
    return value;
  };
  try {
    return await eventually(wait, performance.now() + ms, signal);
  } catch (error) {
    if (error instanceof Failure && error.code === "STEP_TIMEOUT" && error.passing) return undefined;
    throw error;
  }
}
