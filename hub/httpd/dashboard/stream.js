// What goes on in the hub, as messages.

import * as session from "./session.js";

/** @import {Message, Question} from "./api.d.ts" */

/** What a message may say has changed. */
export const ALL = ["tabs", "tools", "policy", "clients", "sites", "status"];

const EVERY = 2000; // ms

/**
 * Calls take with each message, until the hub or the session ends. What was before the first one
 * is to be fetched.
 * @param {(message: Message) => void} take
 */
export async function follow(take) {
  let watching = false;
  /** Questions come as they are asked, where they can be answered. */
  const watch = async () => {
    if (watching) return;
    watching = true;
    try {
      for await (const questions of session.events("api/questions/watch")) take({ questions });
    } catch {
      // The next request says why.
    }
    watching = false;
  };
  for (;;) {
    if (session.mayWrite()) void watch();
    else take({ questions: /** @type {Question[]} */ (await session.ask("GET", "api/questions")) });
    await new Promise((done) => setTimeout(done, EVERY));
    if (document.hidden) await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
    await session.ask("GET", "api/status");
    take({ changed: ALL });
  }
}
