// What goes on now: calls, how much there is, and what is paused.

import * as calls from "./calls.ts";
import { button, byID, element, foreign, list, when } from "./dom.ts";
import { nameOf } from "./names.ts";
import { isOfAll } from "./pause.ts";
import { ask } from "./session.ts";
import type { Browser, Policy, Session, Status } from "./api.d.ts";

import type { View } from "./dashboard.ts";

let refresh: (changed: string[]) => void;

export const view: View = {
  name: "now",
  title: "Now",
  open(_section, _args, again) {
    refresh = again;
    calls.start();
  },
  close: calls.stop,
  async update(changed) {
    if (changed.has("record")) calls.takeEarlier(await ask("GET", "api/log?event=call&limit=50"));
    if (changed.has("status") || changed.has("tabs") || changed.has("clients")) {
      showCounts(...(await Promise.all([ask("GET", "api/status"), ask("GET", "api/browsers"), ask("GET", "api/sessions")])));
    }
    if (changed.has("policy")) showPauses(await ask("GET", "api/policy"));
  },
  live(message) {
    calls.take(message);
    if (message.entries) refresh(["status"]); // which counts calls
  },
};

function showCounts({ hub }: Status, peers: Browser[], sessions: Session[]) {
  const browsers = peers.filter((b) => b.connected && !b.single).length;
  const clients = sessions.filter(({ connected }) => connected).length;
  const counts = { tabs: hub.tabs, tools: hub.tools, sites: hub.domains, browsers, clients, calls: hub.calls };
  for (const [name, n] of Object.entries(counts)) byID(`count-${name}`).textContent = n.toLocaleString("en");
  for (const [step, done] of Object.entries({ extension: browsers, page: hub.tools, client: clients })) byID(`step-${step}`).classList.toggle("done", done > 0);
}

function showPauses({ pauses }: Policy) {
  const rows = pauses.filter((p) => !isOfAll(p)).map((p) => {
    const what = [p.client && nameOf(p.client), p.site && `at ${p.site}`].filter(Boolean).join(" ");
    const query = new URLSearchParams({ client: p.client ?? "", site: p.site ?? "" });
    const resume = button("Resume", `Resume ${what}`, () => ask("DELETE", `api/pause?${query}`));
    resume.classList.add("writes");
    return element("li", "", foreign(what), ` is paused since ${when(p.since)} `, resume);
  });
  list(byID("pauses"), "section", rows);
}
