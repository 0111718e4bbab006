// /embed.js: as /tab.js, but the connection is held by a hidden frame of the hub's
// own, /widget.html, for pages whose policy forbids them a connection to the hub.

// A frame that a policy blocks fails without an event.
const WIDGET_WAIT_MS = 10_000;

/** A socket in the widget. @implements {LinkSocket} */
class WidgetSocket {
  /** @type {LinkSocket["onopen"]} */
  onopen = null;
  /** @type {LinkSocket["onmessage"]} */
  onmessage = null;
  /** @type {LinkSocket["onclose"]} */
  onclose = null;
  // What fails closes, too.
  onerror = null;

  #port;
  #closed = false;

  /** @param {Promise<Window>} widget @param {string} hub the widget's origin */
  constructor(widget, hub) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }) => {
      if (data.open) this.onopen?.(data);
      else if (typeof data.frame === "string") this.onmessage?.({ data: data.frame });
      else if (typeof data.code === "number") this.#end(data.code, String(data.reason ?? ""));
    };
    widget.then(
      (frame) => this.#closed || frame.postMessage("tabhub.connect", hub, [port2]),
      (error) => this.#end(1006, messageOf(error)),
    );
  }

  /** @param {string} frame */
  send(frame) {
    this.#port.postMessage({ frame });
  }

  close() {
    this.#port.postMessage({ close: true });
    this.#closed = true;
    // The message is delivered first.
    this.#port.close();
  }

  /** @param {number} code @param {string} reason */
  #end(code, reason) {
    if (this.#closed) return;
    this.close();
    this.onclose?.({ code, reason });
  }
}

/**
 * Puts the widget into the page, once the page has a body.
 * @param {string} hub
 * @returns {Promise<Window>}
 */
function insertWidget(hub) {
  return new Promise((resolve, reject) => {
    const insert = () => {
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "tabhub";
      frame.setAttribute("aria-hidden", "true");
      // Without these a frame may not ask for the local network on the page's behalf.
      frame.allow = "loopback-network; local-network; local-network-access";
      frame.src = `${hub}/widget.html`;
      window.addEventListener("message", function ready(event) {
        if (event.source !== frame.contentWindow || event.origin !== hub || event.data !== "tabhub.ready") return;
        window.removeEventListener("message", ready);
        resolve(/** @type {Window} */ (frame.contentWindow));
      });
      setTimeout(() => reject(new Error(`the frame ${frame.src} does not load`)), WIDGET_WAIT_MS);
      document.body.append(frame);
    };
    if (document.body) insert();
    else document.addEventListener("DOMContentLoaded", insert, { once: true });
  });
}

{
  const hub = scriptOrigin("/embed.js");
  const widget = insertWidget(hub);
  joinHub(() => new WidgetSocket(widget, hub));
}
