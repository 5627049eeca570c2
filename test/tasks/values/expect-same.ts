/** Compares decoded values with what was encoded. */
import { inspect } from "node:util";
import { expect } from "vitest";

/**
 * Compares more exactly than `toStrictEqual`: -0, the order of keys, and prototypes of all objects count, and an own property with
 * the name `constructor` or `__proto__` is one like others.
 */
export function expectSame(actual: unknown, expected: unknown): void {
  if (isSame(actual, expected)) return;
  const show = (value: unknown): string => inspect(value, { depth: 10 });
  expect.fail(`expected ${show(expected)}, got ${show(actual)}`);
}

function isSame(actual: unknown, expected: unknown): boolean {
  if (typeof expected !== "object" || expected === null) return Object.is(actual, expected);
  if (typeof actual !== "object" || actual === null || actual === expected) return false;
  if (Object.getPrototypeOf(actual) !== Object.getPrototypeOf(expected)) return false;
  if (expected instanceof Map || expected instanceof Set) {
    return isSame([...(actual as Map<unknown, unknown>)], [...expected]);
  }
  if (expected instanceof Date) return Object.is((actual as Date).getTime(), expected.getTime());
  if (expected instanceof ArrayBuffer || ArrayBuffer.isView(expected)) {
    return Buffer.compare(bytesOf(actual as ArrayBuffer), bytesOf(expected)) === 0;
  }
  const keys = Object.keys(expected);
  const actualKeys = Object.keys(actual);
  if (keys.length !== actualKeys.length || keys.some((key, i) => key !== actualKeys[i])) return false;
  if (Array.isArray(expected) && (actual as unknown[]).length !== expected.length) return false;
  return keys.every((key) => isSame(ownValue(actual, key), ownValue(expected, key)));
}

/** Unlike an access, reads an own property with the name `__proto__`. */
function ownValue(object: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(object, key)?.value;
}

function bytesOf(value: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
}
