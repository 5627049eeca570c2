/** Whether `value` are bytes of this kind, and none: what is not written. */
export function isEmpty(value: unknown, type: typeof Uint8Array | typeof Uint8ClampedArray): boolean {
  return value instanceof type && value.length === 0;
}
