// How the hub is.

import { byID, when } from "./dom.js";
import { ask } from "./session.js";

/** @import {Status} from "./api.d.ts" */
/** @import {View} from "./dashboard.js" */

/** @type {View} */
export const view = {
  name: "health",
  title: "Health",
  open() {},
  async update(changed) {
    if (changed.has("status")) showStatus(await ask("GET", "api/status"));
  },
};

/** @param {Status} status */
function showStatus({ version, started, addrs }) {
  byID("hub").textContent = [addrs?.join(", "), `version ${version}`, `started ${when(started)}`].filter(Boolean).join(" · ");
}
