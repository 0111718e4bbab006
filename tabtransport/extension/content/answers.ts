// Runs in the page's world of a frame that has an MCP server in it, or in a frame of its own.

import { hideAnswers } from "../../pagejs/answers.ts";

addEventListener("tabhub-answers", (event) => void hideAnswers(String((event as CustomEvent).detail)), { once: true });
