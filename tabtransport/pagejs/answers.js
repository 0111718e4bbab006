// Runs in the page's world.
"use strict";

/**
 * Keeps what servers answer to a client of tabhub from the page's own clients, which take an answer
 * that they do not know for an error. A listener that stops the event would have to be there before
 * theirs; what they read of it is empty whoever was first.
 *
 * @param {string} prefix that of the client's ids
 * @returns {(event: MessageEvent) => any} reads an event as it is
 */
function hideAnswers(prefix) {
  const { apply } = Reflect;
  const { startsWith } = String.prototype;
  const data = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data"));
  const read = /** @type {() => any} */ (data.get);
  const isOwn = (/** @type {unknown} */ id) => typeof id === "string" && apply(startsWith, id, [prefix]);
  // A proxy reads as what it stands for: the browser's own function.
  const get = new Proxy(read, {
    apply(_, event, args) {
      const data = apply(read, event, args);
      const payload = event.isTrusted && data?.direction === "server-to-client" ? data.payload : undefined;
      return isOwn(payload?.id) || isOwn(payload?.params?.progressToken) ? {} : data;
    },
  });
  Object.defineProperty(MessageEvent.prototype, "data", { ...data, get });
  return (event) => apply(read, event, []);
}
