"use strict";
(() => {
  // assets/widget.ts
  var page = window.parent;
  window.addEventListener("message", (event) => {
    if (!event.isTrusted || event.source !== page || page === window || event.data !== "tabhub.connect" || event.origin === "null") return;
    const port = event.ports[0];
    if (port) carry(port, event.origin);
  });
  if (page !== window) page.postMessage("tabhub.ready", "*");
  function carry(port, origin) {
    const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/tabs`, "tabhub.v1");
    let greeted = false;
    socket.onopen = () => port.postMessage({ open: true });
    socket.onmessage = ({ data }) => port.postMessage({ frame: data });
    socket.onclose = ({ code, reason }) => {
      port.postMessage({ code, reason });
      port.close();
    };
    port.onmessage = ({ data }) => {
      if (data?.close) socket.close(1e3);
      else if (typeof data?.frame === "string" && socket.readyState === WebSocket.OPEN) {
        const frame = greeted ? data.frame : withOrigin(data.frame, origin);
        greeted = true;
        if (frame !== "") socket.send(frame);
        else socket.close(4e3, "the first frame is not a hello");
      }
    };
  }
  function withOrigin(frame, origin) {
    try {
      const hello = JSON.parse(frame);
      if (hello.method !== "browser/hello") return "";
      hello.params = { ...hello.params, extensions: { ...hello.params?.extensions, "tabhub/pageOrigin": origin } };
      return JSON.stringify(hello);
    } catch {
      return "";
    }
  }
})();
