// /tab.js: joins the page to the hub.

/** Evaluates a module, and those that it imports, where it is called: the bundler makes that of it. */
declare function require(path: "./page.ts"): typeof import("./page.ts");

// A server that renders a page's components runs this, too, and has no document.
if (typeof document !== "undefined") {
  require("./page.ts").joinHub((hub) => new WebSocket(`${hub.replace(/^http/, "ws")}/tabs`, "tabhub.v1"));
}
