// /widget.html: passes frames between the page around it and the hub, and tells the
// hub in hello what the browser says that page is. Nothing else here is the page's.

const page = window.parent;

window.addEventListener("message", (event) => {
  // event.origin is the browser's word where no script has made the event; "null" is
  // no page in particular.
  if (!event.isTrusted || event.source !== page || page === window || event.data !== "tabhub.connect" || event.origin === "null") return;
  const port = event.ports[0];
  if (port) carry(port, event.origin);
});

// The page around may know that this is here.
if (page !== window) page.postMessage("tabhub.ready", "*");

/** @param origin of the page */
function carry(port: MessagePort, origin: string) {
  const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/tabs`, "tabhub.v1");
  let greeted = false;
  socket.onopen = () => port.postMessage({ open: true });
  socket.onmessage = ({ data }) => port.postMessage({ frame: data });
  socket.onclose = ({ code, reason }) => {
    port.postMessage({ code, reason });
    port.close();
  };
  port.onmessage = ({ data }) => {
    if (data?.close) socket.close(1000);
    else if (typeof data?.frame === "string" && socket.readyState === WebSocket.OPEN) {
      const frame = greeted ? data.frame : withOrigin(data.frame, origin);
      greeted = true;
      if (frame !== "") socket.send(frame);
      else socket.close(4000, "the first frame is not a hello");
    }
  };
}

/** The page's hello with the page's origin in it, "" if it is not a hello. */
function withOrigin(frame: string, origin: string) {
  try {
    const hello = JSON.parse(frame);
    if (hello.method !== "browser/hello") return "";
    hello.params = { ...hello.params, extensions: { ...hello.params?.extensions, "tabhub/pageOrigin": origin } };
    return JSON.stringify(hello);
  } catch {
    return "";
  }
}
