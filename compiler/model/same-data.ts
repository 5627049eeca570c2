/**
 * Returns whether two lists contain the same objects. Objects of the model never change, so the same object is always
 * equal.
 */
export function sameItems(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.length === now.length && before.every((item, i) => item === now[i]);
}

/** Returns whether two parts of the model differ only in positions. */
export function sameData(before: unknown, now: unknown): boolean {
  if (before === now) return true;
  if (typeof before !== "object" || typeof now !== "object" || before === null || now === null) return false;
  if (Array.isArray(before)) {
    return Array.isArray(now) && before.length === now.length && before.every((item, i) => sameData(item, now[i]));
  }
  const [names, others] = [Object.keys(before), Object.keys(now)];
  return (
    names.length === others.length &&
    names.every((name) => {
      if (!Object.hasOwn(now, name)) return false;
      return name === "at" || sameData(before[name as keyof typeof before], now[name as keyof typeof now]);
    })
  );
}
