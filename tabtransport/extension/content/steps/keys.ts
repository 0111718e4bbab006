// Keys by their names, as steps and events have them.

import { clean } from "./dom.ts";
import { Failure } from "./failure.ts";

export interface Key {
  /** As the step names it. */
  said: string;
  key: string;
  code: string;
  keyCode: number;
  /** What it types; "" if nothing. */
  text: string;
  held: Modifier[];
}

type Modifier = "Control" | "Shift" | "Alt" | "Meta";

export const MODIFIERS: { [name in Modifier]: { code: string; keyCode: number; flag: string } } = {
  Control: { code: "ControlLeft", keyCode: 17, flag: "ctrlKey" },
  Shift: { code: "ShiftLeft", keyCode: 16, flag: "shiftKey" },
  Alt: { code: "AltLeft", keyCode: 18, flag: "altKey" },
  Meta: { code: "MetaLeft", keyCode: 91, flag: "metaKey" },
};

const NAMED: { [key: string]: number } = {
  Backspace: 8, Tab: 9, Enter: 13, Escape: 27, PageUp: 33, PageDown: 34, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40,
  Insert: 45, Delete: 46, ContextMenu: 93, F1: 112, F2: 113, F3: 114, F4: 115, F5: 116, F6: 117, F7: 118, F8: 119, F9: 120, F10: 121, F11: 122, F12: 123,
};
/** Other names of keys, in lower case. */
const ALIASES: { [name: string]: string } = {
  esc: "Escape", return: "Enter", del: "Delete", ins: "Insert", pgup: "PageUp", pgdn: "PageDown", up: "ArrowUp", down: "ArrowDown", left: "ArrowLeft", right: "ArrowRight",
  space: " ", spacebar: " ", plus: "+", ctrl: "Control", cmd: "Meta", command: "Meta", win: "Meta", option: "Alt",
};
/** The keys that type something else than letters and digits, where most keyboards have them: code, keyCode, alone, with Shift. */
const SIGNS: [string, number, string, string][] = [
  ["Space", 32, " ", " "], ["Minus", 189, "-", "_"], ["Equal", 187, "=", "+"], ["BracketLeft", 219, "[", "{"], ["BracketRight", 221, "]", "}"], ["Backslash", 220, "\\", "|"],
  ["Semicolon", 186, ";", ":"], ["Quote", 222, "'", '"'], ["Backquote", 192, "`", "~"], ["Comma", 188, ",", "<"], ["Period", 190, ".", ">"], ["Slash", 191, "/", "?"],
];
const DIGITS = ")!@#$%^&*(";

/** The key of a name such as "a", "Enter", "Control+A" or "Shift+Tab". */
export function keyOf(name: string): Key {
  const parts = name.split("+");
  // "+" itself, also with modifiers.
  if (parts.length > 1 && parts.at(-1) === "") parts.splice(-2, 2, "+");
  const [last, ...before] = parts.reverse();
  const held = before.reverse().map((part) => {
    const modifier = named(part);
    if (Object.hasOwn(MODIFIERS, modifier)) return modifier as Modifier;
    throw unknown(name);
  });
  const key = named(last);
  if (Object.hasOwn(MODIFIERS, key)) return { said: name, key, ...MODIFIERS[key as Modifier], text: "", held };
  if (Object.hasOwn(NAMED, key)) return { said: name, key, code: key, keyCode: NAMED[key], text: "", held };
  if ([...key].length !== 1 || /[\p{C}\p{Z}]/u.test(key.replace(" ", ""))) throw unknown(name);
  const isCommand = held.some((modifier) => modifier !== "Shift");
  const typed = held.includes("Shift") ? shifted(key) : isCommand ? key.toLowerCase() : key;
  return { said: name === " " ? "Space" : name, key: typed, ...placeOf(key), text: isCommand ? "" : typed, held };
}

function named(part: string): string {
  const lower = part.toLowerCase();
  const alias = Object.hasOwn(ALIASES, lower) ? ALIASES[lower] : undefined;
  if (alias) return alias;
  return [...Object.keys(NAMED), ...Object.keys(MODIFIERS)].find((key) => key.toLowerCase() === lower) ?? part;
}

function shifted(key: string): string {
  const sign = SIGNS.find(([, , alone]) => alone === key);
  if (sign) return sign[3];
  return /\d/.test(key) ? DIGITS[Number(key)] : key.toUpperCase();
}

function placeOf(key: string): { code: string; keyCode: number } {
  const sign = SIGNS.find(([, , alone, shift]) => alone === key || shift === key);
  if (sign) return { code: sign[0], keyCode: sign[1] };
  const digit = /\d/.test(key) ? Number(key) : DIGITS.indexOf(key);
  if (digit >= 0) return { code: `Digit${digit}`, keyCode: 48 + digit };
  return /[a-z]/i.test(key) ? { code: `Key${key.toUpperCase()}`, keyCode: key.toUpperCase().charCodeAt(0) } : { code: "", keyCode: 0 };
}

function unknown(name: string) {
  return new Failure("STEP_REFUSED", `there is no key ${JSON.stringify(clean(name, 40))}; keys are named such as a, Enter, Escape, Tab, Space, ArrowDown, PageDown, F2, and with others held as Control+A`);
}
