/**
 * Memory that a decoded value takes, in bytes, counted as V8 lays it out on 64 bits without pointer compression. Text
 * itself is not counted: strings are cut from chunks, of which there are no more than bytes came.
 */
export function weight(value: unknown): number {
  switch (typeof value) {
    case "number":
      return Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? 0 : 16;
    case "bigint":
      return 24;
    case "string":
      return value.length < 2 ? 0 : 32;
    case "object":
      return value === null ? 0 : weightOfObject(value);
    default:
      return 0;
  }
}

function weightOfObject(value: object): number {
  if (Array.isArray(value)) return 48 + sum(value, (item) => 8 + weight(item));
  if (value instanceof Map) return 232 + sum([...value], ([key, item]) => 56 + weight(key) + weight(item));
  if (value instanceof Set) return 182 + sum([...value], (item) => 40 + weight(item));
  if (value instanceof Date) return 104;
  if (ArrayBuffer.isView(value)) return 250 + value.byteLength;
  return 56 + sum(Object.values(value), (item) => 16 + weight(item));
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
