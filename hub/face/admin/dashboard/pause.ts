// The pause of everything, which every view has.

import { byID, element, tell, when } from "./dom.ts";
import { STATES } from "../../../../tabtransport/extension/states.ts";
import { ask } from "./session.ts";

import type { Pause, Policy } from "./api.d.ts";

const pause = byID("pause", HTMLButtonElement);
/** What was heard of it last. */
let all: Pause | undefined;
/** How many clients, sites or both are paused beside it. */
let some = 0;
let gone = false;

export const isOfAll = ({ client, site }: Pause) => !client && !site;

export function showPause({ pauses }: Policy) {
  all = pauses.find(isOfAll);
  some = pauses.filter((p) => !isOfAll(p)).length;
  show();
}

/** @param to whether the hub does not run: nothing can be paused, and what was so is not known to be so */
export function showGone(to: boolean) {
  gone = to;
  show();
}

function show() {
  const [words, more, look] = gone ? [STATES.absent[0], "", STATES.absent[1]]
    : all ? [`${STATES.paused[0]} since ${when(all.since)}`, ": nothing is done for any client.", STATES.paused[1]]
    : some ? ["Running", `, with ${some === 1 ? "1 pause" : `${some} pauses`}: see Now.`, STATES.paused[1]]
    : ["Running", ": clients do what your policy lets them.", "good"];
  const state = byID("pause-state");
  if (state.textContent !== words + more) state.replaceChildren(words, element("span", "roomy", more));
  state.className = `chip ${look}`;
  pause.disabled = gone;
  pause.title = gone ? `${words}: there is nothing to pause` : "";
  pause.replaceChildren(all && !gone ? "Resume" : "Pause", element("span", "roomy", all && !gone ? "" : " everything"));
}

pause.addEventListener("click", () => tell(pause, () => (all ? ask("DELETE", "api/pause") : ask("POST", "api/pause", {}))));
