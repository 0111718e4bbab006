// What goes on in the hub, as messages; see WatchEvent in ../watch.go.

import * as session from "./session.ts";

import type { Message } from "./api.d.ts";

/**
 * What may have changed. "tabs" stands for browsers, tools and sites, too, "policy" for pauses. Of
 * "record" and "status" no message announces: a message has what was recorded, and a view that wants more
 * asks for it with refresh().
 */
export const ALL = ["tabs", "packs", "policy", "clients", "questions", "record", "status"];

/** How long the hub may say nothing, in ms; it breaks a silence after watchBeat, see ../watch.go. */
const SILENCE = 45_000;

/** When the hub was heard last, as Date.now() has it. */
export let heardAt = 0;

/**
 * Calls take with each message, as long as the hub goes on and can be heard: a connection may be
 * lost without a word, as when the computer sleeps.
 * @param lost aborted at the end
 */
export async function follow(take: (message: Message) => void, lost: AbortController) {
  const give = () => lost.abort(new Error("the hub is silent"));
  let timer = setTimeout(give, SILENCE);
  const heard = () => {
    heardAt = Date.now();
    clearTimeout(timer);
    timer = setTimeout(give, SILENCE);
  };
  try {
    for await (const message of session.events("api/watch", undefined, lost.signal, heard)) take(message);
    throw new Error("the hub has ended");
  } finally {
    clearTimeout(timer);
    lost.abort();
  }
}
