// Runs in the page's world.

/**
 * Keeps what servers answer to a client of tabhub from the page's own clients, which take an answer
 * that they do not know for an error. A listener that stops the event would have to be there before
 * theirs; what they read of it is empty whichever came first.
 * @param prefix that of the client's ids
 * @returns reads an event as it is
 */
export function hideAnswers(prefix: string): (event: MessageEvent) => any {
  const { apply } = Reflect;
  const { startsWith } = String.prototype;
  const data = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data") as PropertyDescriptor;
  const read = data.get as () => any;
  const isOwn = (id: unknown) => typeof id === "string" && apply(startsWith, id, [prefix]);
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
