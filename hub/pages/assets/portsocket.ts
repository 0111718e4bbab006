// A socket whose remote end is a MessagePort: the widget's, or the companion extension's.

export class PortSocket implements LinkSocket {
  onopen: LinkSocket["onopen"] = null;
  onmessage: LinkSocket["onmessage"] = null;
  onclose: LinkSocket["onclose"] = null;
  // What fails closes, too.
  onerror = null;
  closed = false;

  #port;

  constructor(port: MessagePort) {
    this.#port = port;
    port.onmessage = ({ data }) => {
      if (data.open) this.onopen?.(data);
      else if (typeof data.frame === "string") this.onmessage?.({ data: data.frame });
      else if (typeof data.code === "number") this.end(data.code, String(data.reason ?? ""));
    };
  }

  send(frame: string) {
    this.#port.postMessage({ frame });
  }

  close() {
    this.#port.postMessage({ close: true });
    this.closed = true;
    // The message is delivered first.
    this.#port.close();
  }

  /** Closes, as the remote end does. */
  end(code: number, reason: string) {
    if (this.closed) return;
    this.close();
    this.onclose?.({ code, reason });
  }
}
