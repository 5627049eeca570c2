/**
 * Paths to shapes written in place, by which the lock knows them: `Entry.meta`, `Entry.tags[]`, `Store.get->`,
 * `Entry.kind|circle`.
 */

/** @param rest what follows the name of a member in a path: it is the whole name, and the path goes on behind it */
export function isPathEnd(rest: string): boolean {
  return /^([.[{(<|-]|$)/.test(rest);
}
