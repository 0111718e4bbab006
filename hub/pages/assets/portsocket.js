// A socket whose far end is a MessagePort: the widget's, or the companion extension's.

/** @implements {LinkSocket} */
class PortSocket {
  /** @type {LinkSocket["onopen"]} */
  onopen = null;
  /** @type {LinkSocket["onmessage"]} */
  onmessage = null;
  /** @type {LinkSocket["onclose"]} */
  onclose = null;
  // What fails closes, too.
  onerror = null;
  closed = false;

  #port;

  /** @param {MessagePort} port */
  constructor(port) {
    this.#port = port;
    port.onmessage = ({ data }) => {
      if (data.open) this.onopen?.(data);
      else if (typeof data.frame === "string") this.onmessage?.({ data: data.frame });
      else if (typeof data.code === "number") this.end(data.code, String(data.reason ?? ""));
    };
  }

  /** @param {string} frame */
  send(frame) {
    this.#port.postMessage({ frame });
  }

  close() {
    this.#port.postMessage({ close: true });
    this.closed = true;
    // The message is delivered first.
    this.#port.close();
  }

  /** Closes, as the far end does. @param {number} code @param {string} reason */
  end(code, reason) {
    if (this.closed) return;
    this.close();
    this.onclose?.({ code, reason });
  }
}
