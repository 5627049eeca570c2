/**
 * Literals as our formatter prints them: strings, property keys, 64-bit numbers, documentation comments.
 */
import type { Code } from "./code.js";

/** A string literal; in single quotes where that saves escapes. */
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

/** Whether `name` can stand as a property name without quotes, and as a binding unless it is reserved. */
export function isIdentifier(name: string): boolean {
  return identifier.test(name);
}

/** A property key in a type, a class or an object literal: quoted only where it must be. */
export function propertyKey(name: string): string {
  return isIdentifier(name) ? name : stringLiteral(name);
}

/** A key in an object literal: like `propertyKey`, except that `__proto__` would set the object's prototype. */
export function objectKey(name: string): string {
  return name === "__proto__" ? '["__proto__"]' : propertyKey(name);
}

/** `value.name`, or `value["na me"]`. */
export function memberAccess(value: Code, name: string): Code {
  return isIdentifier(name) ? [value, ".", name] : [value, "[", stringLiteral(name), "]"];
}

/** A 64-bit number as a bigint literal with all of its digits: `0x00ab…n`. */
export function hex64(value: bigint): string {
  return `0x${BigInt.asUintN(64, value).toString(16).padStart(16, "0")}n`;
}

/** A 32-bit number: `0x00abcdef`. */
export function hex32(value: number): string {
  return `0x${(value >>> 0).toString(16).padStart(8, "0")}`;
}

/** The lines of a JSDoc comment with `text`; none when it is empty. */
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
