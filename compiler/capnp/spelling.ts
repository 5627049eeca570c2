/**
 * Converts names to those that Cap'n Proto allows: ASCII letters and digits, camel case for members, Pascal case for
 * types. A number distinguishes names that become equal.
 */
import { createHash } from "node:crypto";

/** Type names that Cap'n Proto itself uses. A struct must not have one of these names. */
const builtIn = new Set(
  (
    "Void Bool Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float32 Float64 Text Data List AnyPointer AnyStruct " +
    "AnyList Capability"
  ).split(" "),
);

/**
 * Returns a member name: `two words`, `two_words` and `TwoWords` become `twoWords`. Other letters than ASCII are
 * written as their code points.
 */
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

/** Returns a word in Pascal case, as a part of a type name. */
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

/** Returns `wanted`, or `wanted` with the first number that makes it unique, and adds the result to `taken`. */
export function uniqueName(wanted: string, taken: Set<string>, number = 2): string {
  let name = wanted;
  for (let next = number; taken.has(name); next++) name = `${wanted}${next}`;
  taken.add(name);
  return name;
}

/** Returns a 64-bit id whose highest bit is set, as Cap'n Proto requires. Equal names give equal ids. */
export function capnpId(...names: readonly string[]): string {
  const hash = createHash("sha256").update(names.join("\n")).digest();
  const id = hash.readBigUInt64BE(0) | (1n << 63n);
  return `@0x${id.toString(16)}`;
}
