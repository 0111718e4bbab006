// ==UserScript==
// @name        Acme title
// @namespace   local-acme
// @version     0.1.0
// @match       *://*.acmenotes.com/*
// @exclude     https://www.acmenotes.com/private/*
// @run-at      document-start
// @grant       none
// @license     MIT
// ==/UserScript==
document.modelContext.registerTool({
  name: "acme_title", description: "Reads the title of the page.",
  inputSchema: {type: "object", properties: {}},
  annotations: {readOnlyHint: true},
  execute: async () => document.title,
});
