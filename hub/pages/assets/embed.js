// /embed.js: as /tab.js, but the connection is held by a hidden frame of the hub's
// own, /widget.html, for pages whose policy forbids them a connection to the hub. The
// frame is made only if the companion extension does not carry the page.

// A frame that a policy blocks fails without an event.
const WIDGET_WAIT_MS = 10_000;

/**
 * A socket in the widget.
 * @param {Promise<Window>} widget
 * @param {string} hub the widget's origin
 */
function dialWidget(widget, hub) {
  const { port1, port2 } = new MessageChannel();
  const socket = new PortSocket(port1);
  widget.then(
    (frame) => socket.closed || frame.postMessage("tabhub.connect", hub, [port2]),
    (error) => socket.end(1006, Values.errorText(error)),
  );
  return socket;
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
        if (!event.isTrusted || event.source !== frame.contentWindow || event.origin !== hub || event.data !== "tabhub.ready") return;
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
  /** @type {Promise<Window> | undefined} */
  let widget;
  joinHub((hub) => dialWidget((widget ??= insertWidget(hub)), hub));
}
