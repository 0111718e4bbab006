// The pause of everything, which every view has.

import { byID, element, tell, when } from "./dom.ts";
import { ask } from "./session.ts";

import type { Pause, Policy } from "./api.d.ts";

const pause = byID("pause");
let paused = false;

export const isOfAll = ({ client, site }: Pause) => !client && !site;

export function showPause({ pauses }: Policy) {
  const all = pauses.find(isOfAll);
  paused = all !== undefined;
  const words = all ? [`Paused since ${when(all.since)}`, ": nothing is done for any client."] : ["Running", ": clients do what your policy lets them."];
  const state = byID("pause-state");
  if (state.textContent !== words.join("")) state.replaceChildren(words[0], element("span", "roomy", words[1]));
  state.className = `chip ${all ? "wait" : "good"}`;
  pause.replaceChildren(all ? "Resume" : "Pause", element("span", "roomy", all ? "" : " everything"));
}

pause.addEventListener("click", () => tell(pause, () => (paused ? ask("DELETE", "api/pause") : ask("POST", "api/pause", {}))));
