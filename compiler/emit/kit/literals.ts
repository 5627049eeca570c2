/** Prints literals in the style of the formatter: strings, property keys, 64-bit numbers, documentation comments. */
import type { Code } from "./code.js";

/** Prints a string literal, in single quotes if that avoids escapes. */
export function stringLiteral(value: string): string {
  const double = JSON.stringify(value);
  const doubles = count(value, '"');
  if (doubles <= count(value, "'")) return double;
  const body = double.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${body}'`;
}

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}

const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

/**
 * Returns whether `name` can be a property name without quotes. Such a name can also be a binding, unless it is
 * reserved.
 */
export function isIdentifier(name: string): boolean {
  return identifier.test(name);
}

/** Prints a property key in a type, a class or an object literal. It is quoted only if necessary. */
export function propertyKey(name: string): string {
  return isIdentifier(name) ? name : stringLiteral(name);
}

/**
 * Prints a key of an object literal. Unlike `propertyKey`, it handles `__proto__`, which would set the object's
 * prototype.
 */
export function objectKey(name: string): string {
  return name === "__proto__" ? '["__proto__"]' : propertyKey(name);
}

/** Prints the access to a member: `value.name`, or `value["na me"]`. */
export function memberAccess(value: Code, name: string): Code {
  return isIdentifier(name) ? [value, ".", name] : [value, "[", stringLiteral(name), "]"];
}

/** Prints a 64-bit number as a bigint literal with all of its digits: `0x00ab…n`. */
export function hex64(value: bigint): string {
  return `0x${BigInt.asUintN(64, value).toString(16).padStart(16, "0")}n`;
}

/** Prints a 32-bit number: `0x00abcdef`. */
export function hex32(value: number): string {
  return `0x${(value >>> 0).toString(16).padStart(8, "0")}`;
}

/** Returns the lines of a JSDoc comment with `text`, or no lines if `text` is empty. */
export function docLines(text: string): readonly string[] {
  const lines = text
    .replaceAll("*/", "*\\/")
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => line.trimEnd());
  while (lines.at(-1) === "") lines.pop();
  while (lines[0] === "") lines.shift();
  const [only, ...more] = lines;
  if (only === undefined) return [];
  if (more.length === 0) return [`/** ${only.trimStart()} */`];
  return ["/**", ...lines.map((line) => ` * ${line}`.trimEnd()), " */"];
}
