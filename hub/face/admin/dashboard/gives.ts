// Whether the result of a pack's tool has what an example gives, as missing in
// cmd/tabhub/internal/packcli/try.go says it.

/** What of an example a result has not: members of objects, and the first elements of arrays; "" for nothing. */
export function missing(want: any, got: any, path = ""): string {
  const where = path || "the result";
  if (Array.isArray(want)) {
    if (!Array.isArray(got)) return `${where} is ${short(got)}; the example has a list`;
    if (got.length < want.length) return `${where} has ${got.length === 1 ? "1 element" : `${got.length} elements`}; the example has ${want.length}`;
    return first(want.map((of, i) => () => missing(of, got[i], `${path}[${i}]`)));
  }
  if (typeof want === "object" && want !== null) {
    if (typeof got !== "object" || got === null || Array.isArray(got)) return `${where} is ${short(got)}; the example has an object`;
    return first(
      Object.keys(want).sort().map((name) => () =>
        Object.hasOwn(got, name) ? missing(want[name], got[name], path ? `${path}.${name}` : name) : `${where} has no "${name}"; the example has ${short(want[name])} there`,
      ),
    );
  }
  return want === got ? "" : `${where} is ${short(got)}; the example has ${short(want)}`;
}

/** The first words that there are. */
function first(all: (() => string)[]) {
  for (const words of all) {
    const said = words();
    if (said) return said;
  }
  return "";
}

function short(value: unknown) {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
