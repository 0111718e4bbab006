// How the hub is: what waits, what the process needs, and what the doctor has found.

import { button, byID, chip, problem, element, foreign, list, showPairs, when } from "./dom.ts";
import { ask } from "./session.ts";
import type { Finding, Status } from "./api.d.ts";

import type { View } from "./dashboard.ts";

const EVERY = 5000; // ms between two looks, while the page is visible

let diagnosed = false;
let timer: ReturnType<typeof setInterval> | undefined;

export const view: View = {
  name: "health",
  title: "Health",
  open(_, __, refresh) {
    diagnosed = false;
    byID("look-again").replaceChildren(button("Look again", "Look again for what is wrong", showDoctor));
    timer = setInterval(() => {
      if (!document.hidden) refresh(["health"]);
    }, EVERY);
  },
  async update(changed) {
    if (!changed.has("status") && !changed.has("health")) return;
    const status: Status = await ask("GET", "api/status");
    showHealth(status);
    if (status.memory && !diagnosed) await showDoctor(); // it is about the process, too
  },
  close() {
    clearInterval(timer);
  },
};

function showHealth({ hub, questions, record, memory, sockets, started, version }: Status) {
  const { queued, lost = 0 } = record;
  showPairs("queues", [
    ["Calls under way", count(hub.inFlight)],
    ["Questions waiting for you", count(questions)],
    ["Record waits to be written", bytes(queued)],
    ["Record lost", `${count(lost)} lines`, lost > 0 ? "bad" : ""],
  ]);
  byID("process").hidden = !memory;
  if (!memory) return;
  const { connections = 0, accepted = 0, refused = 0, slow = 0, tooFast = 0, malformed = 0 } = sockets ?? {};
  showPairs("process-pairs", [
    ["Memory", bytes(memory)],
    ["Sockets of tabs, open", count(connections)],
    ["… since the start", count(accepted)],
    ["… refused", count(refused)],
    ["… too slow or too fast", count(slow + tooFast)],
    ["Messages not understood", count(malformed)],
    ["Started", when(started)],
    ["Version", version],
  ]);
}

async function showDoctor() {
  const all: Finding[] = await ask("GET", "api/doctor");
  diagnosed = true;
  const order = ["problem", "note", "ok"];
  all.sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  list(byID("findings"), "section", all.map(({ state, check, text, fix }) =>
    element("li", "",
      state === "problem" ? problem(state) : chip(state === "note" ? "waiting" : "ok", state), " ", foreign(check, "check"), " ", foreign(text),
      ...(fix ? [element("div", "soft", "To mend it: ", commands(fix))] : []))));
  const problems = all.filter(({ state }) => state === "problem").length;
  byID("diagnosis").textContent = problems === 0 ? "Nothing is wrong." : problems === 1 ? "There is 1 problem." : `There are ${problems} problems.`;
}

/** @param words with `commands` in them */
function commands(words: string) {
  const parts = words.split("`").map((part, i) => (i % 2 ? element("code", "", part) : part));
  return element("span", "foreign", ...parts);
}

const count = (n: number) => n.toLocaleString("en");

function bytes(n: number) {
  return n < 1 << 20 ? `${Math.ceil(n / 1024)} KiB` : `${(n / (1 << 20)).toFixed(1)} MiB`;
}
