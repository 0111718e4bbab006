// Lists of options: which of them are chosen.

import { clean, isMultiple, isSelected, matchesSelector, optionLabel, optionValue, selectOptions, setSelected } from "./dom.ts";
import { Failure } from "./failure.ts";
import { changed, refused, type Edit } from "./fill.ts";
import { plain } from "./values.ts";
import type { Found } from "./find.ts";

export function selectEdit(found: Found, wanted: unknown): Edit {
  const { element } = found;
  const labels = (Array.isArray(wanted) ? wanted : [wanted]).map((label) => plain(label, found.words).trim());
  if (labels.length !== 1 && !isMultiple(element)) throw new Failure("STEP_REFUSED", `${found.words} takes one option`);
  const chosen = labels.map((label) => {
    const labelled = [...selectOptions(element)].filter((option) => optionLabel(option).trim() === label);
    // Labels are translated; values are not.
    const options = labelled.length ? labelled : [...selectOptions(element)].filter((option) => optionValue(option) === label);
    if (options.length === 0) throw new Failure("STEP_NOT_FOUND", `${found.words} has no option ${JSON.stringify(clean(label))}`, optionsOf(element)).later();
    if (options.length > 1) throw new Failure("STEP_AMBIGUOUS", `${found.words} has ${options.length} options ${JSON.stringify(clean(label))}`);
    if (matchesSelector(options[0], ":disabled")) throw new Failure("STEP_REFUSED", `${found.words} has option ${JSON.stringify(clean(label))}, which is disabled`).later();
    return options[0];
  });
  return () => {
    for (const option of selectOptions(element)) if (isSelected(option) !== chosen.includes(option)) setSelected(option, chosen.includes(option));
    changed(element);
    if (!chosen.every((option) => isSelected(option))) throw refused(found);
    return chosen.map((option) => JSON.stringify(clean(optionLabel(option)))).join(", ");
  };
}

function optionsOf(select: Element) {
  return [...selectOptions(select)].slice(0, 5).map((option) => `option ${JSON.stringify(clean(optionLabel(option)))}`);
}
