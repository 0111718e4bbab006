// The connection of a page whose policy forbids it one to the hub: a hidden frame of the hub's own,
// /widget.html, has it. The frame is made only if the companion extension does not carry the page.

import { PortSocket } from "./portsocket.ts";

import { Values } from "../../../tabtransport/pagejs/values.ts";

// A frame that a policy blocks fails without an event.
const WIDGET_WAIT_MS = 10_000;

let widget: Promise<Window> | undefined;

/**
 * A socket in the widget.
 * @param hub the widget's origin
 */
export function dialWidget(hub: string) {
  const { port1, port2 } = new MessageChannel();
  const socket = new PortSocket(port1);
  (widget ??= insertWidget(hub)).then(
    (frame) => socket.closed || frame.postMessage("tabhub.connect", hub, [port2]),
    (error) => socket.end(1006, Values.errorText(error)),
  );
  return socket;
}

/** Puts the widget into the page, once the page has a body. */
function insertWidget(hub: string): Promise<Window> {
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
        resolve(frame.contentWindow as Window);
      });
      setTimeout(() => reject(new Error(`the frame ${frame.src} does not load`)), WIDGET_WAIT_MS);
      document.body.append(frame);
    };
    if (document.body) insert();
    else document.addEventListener("DOMContentLoaded", insert, { once: true });
  });
}
