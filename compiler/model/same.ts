/** Whether two lists hold the same objects: the model's are never changed, so what is the same is equal. */
export function sameItems(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.length === now.length && before.every((item, i) => item === now[i]);
}
