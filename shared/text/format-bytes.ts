/** Writes numbers of bytes for people. */

const units = [
  ["TiB", 2 ** 40],
  ["GiB", 2 ** 30],
  ["MiB", 2 ** 20],
  ["KiB", 2 ** 10],
] as const;

/** Returns a number of bytes with a unit, rounded to three or four digits: `3.25 MiB`, `900 bytes`. */
export function formatBytes(bytes: number): string {
  for (const [unit, size] of units) {
    const amount = bytes / size;
    if (amount >= 1) return `${Number(amount.toPrecision(amount >= 100 ? 4 : 3))} ${unit}`;
  }
  return `${bytes} bytes`;
}
