// A call as a line for a terminal. What it holds may be hostile: quoted, no shell sees more in it
// than one word, and no terminal gets a character that it would act on.

/** Controls, characters that cannot be seen, and what PowerShell takes for quotes. */
const HIDDEN = /[\p{C}\u2018-\u201f]|(?! )\p{Z}/gu;

/**
 * JSON in ASCII but for what is plain text in every terminal and shell: what is HIDDEN is written
 * as \u….
 */
const inJSON = (value: unknown) => JSON.stringify(value).replace(HIDDEN, escaped);

const escaped = (text: string) => Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");

const inOctal = (text: string) => Array.from(new TextEncoder().encode(text), (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

/** A word as it is, if no shell sees anything in it. */
const isPlain = (word: string) => /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(word);

function shellWord(word: string) {
  if (isPlain(word)) return word;
  if (word.search(HIDDEN) < 0) return `'${word.replaceAll("'", "'\\''")}'`;
  return `$'${word.replace(/[\\'!]/g, inOctal).replace(HIDDEN, inOctal)}'`;
}

/**
 * A line of the program's for the shells of Linux and macOS.
 * @param words of which none is to be taken for a flag
 * @param args as JSON
 */
export function shellLine(command: string, words: string[], args?: unknown) {
  const flags = words.some((word) => word.startsWith("-")) ? ["--"] : [];
  return ["tabhub", command, ...flags, ...words.map(shellWord), ...(args === undefined ? [] : [shellWord(inJSON(args))])].join(" ");
}

/**
 * A `tabhub call` for PowerShell, older ones of which lose the quotes in an argument: it is piped.
 * They also lose what is not ASCII.
 */
export function powerShellLine(name: string, args: unknown) {
  const quoted = (word: string) => `'${word.replaceAll("'", "''")}'`;
  const json = inJSON(args).replace(/[^\x20-\x7e]/g, escaped);
  return `${quoted(json)} | tabhub call ${isPlain(name) ? name : quoted(name)} -`;
}
