/** Wrong values: random ones with something in them replaced. */

const strange = [
  undefined,
  null,
  0,
  1.5,
  Number.NaN,
  -1,
  2 ** 40,
  "",
  "x",
  5n,
  2n ** 64n,
  [],
  {},
  new Map(),
  true,
  Symbol.iterator,
];

/** `value` with something in it replaced. */
export function spoil(value: unknown, random: () => number): unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  if (random() < 0.3 || typeof value !== "object" || value === null) return pick(strange);
  if (Array.isArray(value))
    return value.length === 0
      ? pick(strange)
      : value.with(Math.floor(random() * value.length), spoil(pick(value), random));
  if (value instanceof Map) return new Map([...value, [spoil("", random), spoil("", random)]]);
  if (value instanceof Set) return new Set([...value, spoil("", random)]);
  const keys = Object.keys(value);
  if (keys.length === 0 || Object.getPrototypeOf(value) !== Object.prototype) return pick(strange);
  const key = pick(keys);
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, k === key ? spoil(v, random) : v]));
}
