// Runs in the page's world of a frame that has an MCP server in it, or in a frame of its own.
"use strict";

addEventListener("tabhub-answers", (event) => void hideAnswers(String(/** @type {CustomEvent} */ (event).detail)), { once: true });
