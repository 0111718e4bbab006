// /tab.js: joins the page to the hub that served this script.

{
  const hub = scriptOrigin("/tab.js");
  joinHub(hub, () => new WebSocket(`${hub.replace(/^http/, "ws")}/tabs`, "tabhub.v1"));
}
