/** Decides whether a number means the same member, or the same enum value, on both sides. */
import type { Pair } from "./pair.js";
import type { MemberNames, RuleContext } from "./wire-rule.js";

/** The names that one side has for the member with a certain number. Several values of an enum may share a number. */
export interface MemberSpelling {
  /** Full names. */
  readonly full: readonly string[];
  /** Names without the name of their type. */
  readonly plain: readonly string[];
}

/**
 * Returns whether two members are the same one.
 * @returns undefined if their schema names are unknown and their spelling differs, which may be a rename
 */
export function isSameMember(spelt: Pair<MemberSpelling>, { names }: Pick<RuleContext, "names">): boolean | undefined {
  if (names !== undefined) {
    const older = namesOf(spelt.older, names.older);
    const newer = namesOf(spelt.newer, names.newer);
    // A value without a name in the schema was added because protobuf requires it, as the value 0 of an enum of
    // strings.
    return older.size === 0 || newer.size === 0 || [...older].some((name) => newer.has(name));
  }
  return spelt.older.plain.some((name) => spelt.newer.plain.includes(name)) ? true : undefined;
}

function namesOf({ full }: MemberSpelling, names: MemberNames): ReadonlySet<string> {
  return new Set(full.flatMap((name) => names.get(name) ?? []));
}
