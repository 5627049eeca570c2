/** Whether a number means the same member, or the same value, on both sides. */
import type { MemberNames, Pair, RuleContext } from "./wire-rule.js";

/** What the two sides call the members with one number. Values of an enum may share a number. */
export interface MemberSpelling {
  /** Full names. */
  readonly full: readonly string[];
  /** Names alone. */
  readonly plain: readonly string[];
}

/**
 * @returns undefined: nobody knows the names, and by their spelling they are others, but it may be a rename
 */
export function isSameMember(spelt: Pair<MemberSpelling>, { names }: Pick<RuleContext, "names">): boolean | undefined {
  if (names !== undefined) {
    const older = namesOf(spelt.older, names.older);
    const newer = namesOf(spelt.newer, names.newer);
    // What the schema has no name for was added to please protobuf, as the value 0 of an enum of strings.
    return older.size === 0 || newer.size === 0 || [...older].some((name) => newer.has(name));
  }
  return spelt.older.plain.some((name) => spelt.newer.plain.includes(name)) ? true : undefined;
}

function namesOf({ full }: MemberSpelling, names: MemberNames): ReadonlySet<string> {
  return new Set(full.flatMap((name) => names.get(name) ?? []));
}
