// What goes on in the hub, as messages; see WatchEvent in ../watch.go.

import * as session from "./session.js";

/** @import {Message} from "./api.d.ts" */

/**
 * What may have changed. "tabs" stands for browsers, tools and sites, too, "policy" for pauses. Of
 * "record" and "status" no message tells: a message has what was recorded, and whoever wants more
 * asks for it with refresh().
 */
export const ALL = ["tabs", "policy", "clients", "questions", "record", "status"];

/**
 * Calls take with each message, as long as the hub goes on.
 * @param {(message: Message) => void} take
 */
export async function follow(take) {
  for await (const message of session.events("api/watch")) take(message);
  throw new Error("the hub has ended");
}
