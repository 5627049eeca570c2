/**
 * Paths of inline shapes, by which the lock identifies them: `Entry.meta`, `Entry.tags[]`, `Store.get->`,
 * `Entry.kind|circle`.
 */

/**
 * @param rest the text after a member's name in a path
 * @returns whether the name is complete and the path ends or continues there
 */
export function isPathEnd(rest: string): boolean {
  return /^([.[{(<|-]|$)/.test(rest);
}
