// /tab.js: joins the page to the hub.

joinHub((hub) => new WebSocket(`${hub.replace(/^http/, "ws")}/tabs`, "tabhub.v1"));
