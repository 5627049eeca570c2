/** Returns whether a value is an array of the given class without elements, which is not written. */
export function isEmpty(value: unknown, type: typeof Uint8Array | typeof Uint8ClampedArray): boolean {
  return value instanceof type && value.length === 0;
}
