// Tells of the dialogs of the page, which block it.

/**
 * Tells of each dialog that the page opens, before it blocks the page, and when it is closed, as one
 * without a type.
 */
export function notifyOfDialogs(tell: (dialog: { type: string; message: string }) => void) {
  const { apply } = Reflect;
  for (const type of ["alert", "confirm", "prompt"] as const) {
    // A proxy reads as what it stands for: the browser's own function.
    const value = new Proxy(window[type], {
      apply: (show, context, args) => {
        const [message] = args;
        // Only what can be read without running code of the page.
        tell({ type, message: typeof message === "string" || typeof message === "number" ? `${message}`.slice(0, 1000) : "" });
        try {
          return apply(show, context, args);
        } finally {
          tell({ type: "", message: "" });
        }
      },
    });
    Object.defineProperty(window, type, { configurable: true, enumerable: true, writable: true, value });
  }
}
