// /embed.js: as /tab.js, with a connection that the widget has.

/** Evaluates a module, and those that it imports, where it is called: the bundler makes that of it. */
declare function require(path: "./page.ts"): typeof import("./page.ts");
declare function require(path: "./dialwidget.ts"): typeof import("./dialwidget.ts");

// A server that renders a page's components runs this, too, and has no document.
if (typeof document !== "undefined") {
  const { dialWidget } = require("./dialwidget.ts");
  require("./page.ts").joinHub(dialWidget);
}
