/**
 * Reports numbers of an enum that mean another value than before. The cause can be a value inserted into an enum
 * without initialisers, or a member that gets another enum as its type. A value renamed with `@was` keeps its number
 * and its meaning.
 */

import { enumValueName } from "../../protobuf/names.js";
import type { ProtoEnum } from "../../protobuf/proto-schema.js";
import type { Pair } from "../pair.js";
import { isSameMember, type MemberSpelling } from "../same-member.js";
import type { EnumRule, RuleContext } from "../wire-rule.js";

export const enumValueMoved: EnumRule = {
  code: "VC5009",
  name: "enum-value-moved",
  fix: "If the value was renamed, write `@was` with its old name above it. If not, give each value its number, with an initialiser, and new values numbers that no value has had.",
  compares: "enum",
  find(enums, around) {
    const values = { older: valuesOf(enums.older), newer: valuesOf(enums.newer) };
    return [...values.newer].flatMap(([number, newer]) => {
      const older = values.older.get(number);
      if (older === undefined || isSame(number, { older, newer }, enums, values, around)) return [];
      const text = `its number ${number} was that of ${older.plain[0]}: each reads as the other`;
      return [{ place: newer.full[0] as string, text }];
    });
  },
};

type Values = ReadonlyMap<number, MemberSpelling>;

function isSame(
  number: number,
  spelt: Pair<MemberSpelling>,
  { older, newer }: Pair<ProtoEnum>,
  values: Pair<Values>,
  around: RuleContext,
): boolean {
  const same = isSameMember(spelt, around);
  if (same !== undefined) return same;
  // protobuf requires this value in an enum of strings. It is never written.
  if (number === 0 && [spelt.older, spelt.newer].some(({ plain }) => plain.includes("UNSPECIFIED"))) return true;
  // A value cannot be renamed together with its enum, because the lock finds values by the enum's name.
  if (older.name !== newer.name) return false;
  return !has(values.newer, spelt.older) && !has(values.older, spelt.newer);
}

function has(values: Values, { plain }: MemberSpelling): boolean {
  return [...values.values()].some((value) => value.plain.some((name) => plain.includes(name)));
}

/**
 * Groups the values by their numbers. Plain names omit the prefix from the enum's own name, because that name may have
 * changed.
 */
function valuesOf({ name, values }: ProtoEnum): Values {
  const prefix = enumValueName(name.slice(name.lastIndexOf(".") + 1), "");
  const found = new Map<number, { readonly full: string[]; readonly plain: string[] }>();
  for (const value of values) {
    const known = found.get(value.number) ?? { full: [], plain: [] };
    known.full.push(`${name}.${value.name}`);
    known.plain.push(value.name.startsWith(prefix) ? value.name.slice(prefix.length) : value.name);
    found.set(value.number, known);
  }
  return found;
}
