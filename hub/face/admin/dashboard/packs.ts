// The packs, which give tools to sites that offer none (#sites?show=packs); how one is added.

import { byID, chip, element, fill, foreign, link, list, row, tell, when } from "./dom.ts";
import { ask } from "./session.ts";

import type { Pack } from "./api.d.ts";

/** How many bytes a file may have; see maxPackFile in cmd/tabhub/internal/packcli. */
const MAX_FILE = 2 << 20;

export function openPacks(into: string) {
  fill(into, "pack-list");
  const form = byID("pack-form", HTMLFormElement);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void tell(form, () => add(form));
  });
}

/** Adds the pack of the file that the form has. It waits, and is shown. */
async function add(form: HTMLFormElement) {
  const file = (form.elements.namedItem("file") as HTMLInputElement).files?.[0];
  if (!file) return "Choose a file.";
  if (file.size > MAX_FILE) return `${file.name} has ${file.size.toLocaleString("en")} bytes; a pack may have ${MAX_FILE.toLocaleString("en")}.`;
  const { pack, unmapped }: { pack: Pack; unmapped: string[] } = await ask("PUT", "api/packs", { file: file.name, text: await file.text() });
  form.reset();
  if (!pack.waiting) return `${pack.name} is in use as it is in the file.`;
  unmappedOf.set(pack.waiting.hash, unmapped);
  location.hash = `#sites?${new URLSearchParams({ show: "packs", pack: pack.name })}`;
  return "";
}

/** What had no place in the packs of files that were added here, by their hashes. */
export const unmappedOf = new Map<string, string[]>();

export async function updatePacks(changed: Set<string>) {
  if (!changed.has("packs") && !changed.has("tabs")) return;
  const packs: Pack[] = await ask("GET", "api/packs");
  list(byID("packs"), "table", packs.map(packRow));
  byID("no-packs").hidden = packs.length > 0;
  byID("absent").replaceChildren(...packs.flatMap(({ name, absent = [] }) => absent.map((of) => absence(of, name))));
}

/** Says why a browser does not offer a pack. */
export const absence = ({ browser, why }: { browser: string; why: string }, name = "") =>
  element("li", "", foreign(name), name ? " is not offered in " : "Not offered in ", foreign(browser), ": ", foreign(why), ".");

export const packLink = (name: string) => link("sites", { show: "packs", pack: name }, foreign(name));

export function packState({ active, waiting }: Pack) {
  if (!active) return chip("waiting");
  return waiting ? chip("waiting", "in use; a change waits for you") : chip("ok", "in use");
}

function packRow(pack: Pack) {
  const version = pack.active ?? pack.waiting!;
  const pages = version.match.map((pattern) => element("div", "foreign", pattern));
  return row(
    [packLink(pack.name), foreign(version.title ?? "", "soft below")],
    packState(pack),
    pages,
    version.script ? "a script" : element("span", "number", String(version.tools.length)),
    [element("span", "number", when(version.added)), foreign(version.from ?? "", "soft below")],
  );
}
