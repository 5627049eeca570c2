/**
 * Names as Cap'n Proto wants them: ASCII letters and digits, camel case for members, Pascal case for types. What other names
 * become the same is told apart by a number.
 */
import { createHash } from "node:crypto";

/** Names of types that the notation has itself: a struct with such a name would take their place. */
const builtIn = new Set(
  (
    "Void Bool Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float32 Float64 Text Data List AnyPointer AnyStruct " +
    "AnyList Capability"
  ).split(" "),
);

/** `two words`, `two_words`, `TwoWords`: `twoWords`. Letters beyond ASCII are written as their numbers. */
export function memberName(name: string): string {
  const words = wordsOf(name);
  const [first = "", ...others] = words;
  const lower = first.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]+$|^[A-Z]/, (capitals) => capitals.toLowerCase());
  return withLetterFirst([lower, ...others.map(capitalised)].join(""), "n");
}

export function typeName(name: string): string {
  const joined = typeWord(name);
  return builtIn.has(joined) ? `${joined}Type` : joined;
}

/** A part of the name of a type. */
export function typeWord(name: string): string {
  return withLetterFirst(wordsOf(name).map(capitalised).join(""), "N");
}

function wordsOf(name: string): readonly string[] {
  const ascii = name.replace(/[^\x20-\x7e]/gu, (letter) => `U${(letter.codePointAt(0) as number).toString(16)}`);
  return ascii.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function withLetterFirst(name: string, prefix: string): string {
  return /^[A-Za-z]/.test(name) ? name : prefix + name;
}

/** `wanted`, or with the first number behind it that makes it one that is not in `taken`; puts it there. */
export function uniqueName(wanted: string, taken: Set<string>, number = 2): string {
  let name = wanted;
  for (let next = number; taken.has(name); next++) name = `${wanted}${next}`;
  taken.add(name);
  return name;
}

/** An id of 64 bits whose highest is set, as Cap'n Proto wants it: the same for the same names. */
export function capnpId(...names: readonly string[]): string {
  const hash = createHash("sha256").update(names.join("\n")).digest();
  const id = hash.readBigUInt64BE(0) | (1n << 63n);
  return `@0x${id.toString(16)}`;
}
