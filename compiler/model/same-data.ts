/** Whether two lists hold the same objects: the model's are never changed, so what is the same is equal. */
export function sameItems(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.length === now.length && before.every((item, i) => item === now[i]);
}

/** Whether two pieces of the model differ in nothing but positions. */
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
