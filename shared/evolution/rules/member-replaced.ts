/**
 * A message instead of another one: members with the same number and the same type, but with other names, read as each other,
 * though they have nothing to do with each other. A type that was renamed has the same members by the same numbers, and a
 * member that was renamed with `@was` is the same one.
 */
import type { ProtoField, ProtoMessage } from "../../protobuf/proto-schema.js";
import { isSameMember, type MemberSpelling } from "../same-member.js";
import type { MessageRule, Pair, RuleContext } from "../wire-rule.js";

export const memberReplaced: MessageRule = {
  code: "VC5021",
  name: "member-replaced",
  fix: "Add a member with the other type, under another name. If the type was renamed, leave its members in their order, or give them their numbers with `@id`.",
  compares: "message",
  byName: true,
  find({ older, newer }, around) {
    if (older.name === newer.name || isUnnamed(older) || isUnnamed(newer)) return [];
    const before = new Map(older.fields.map((field) => [field.number, field]));
    return newer.fields.flatMap((field) => {
      const was = before.get(field.number);
      if (was === undefined || isSame({ older: was, newer: field }, { older, newer }, around)) return [];
      const text = `its number ${field.number} was that of ${was.name} of ${older.name}: each reads as the other`;
      return [{ place: `${newer.name}.${field.name}`, text }];
    });
  },
};

/** Elements of tuples, and of what stands for collections, are known by their places. */
function isUnnamed({ standsFor }: ProtoMessage): boolean {
  return standsFor === "tuple" || standsFor === "part";
}

function isSame(fields: Pair<ProtoField>, messages: Pair<ProtoMessage>, around: RuleContext): boolean {
  const spelt = { older: spell(messages.older, fields.older), newer: spell(messages.newer, fields.newer) };
  const same = isSameMember(spelt, around);
  if (same !== undefined) return same;
  if (around.areDistinctTypes || messages.newer.standsFor === "union") return false;
  // A message that is written in place has its name from the member that it stands in. Both may have been renamed.
  return !has(messages.newer, fields.older) && !has(messages.older, fields.newer);
}

function spell({ name }: ProtoMessage, field: ProtoField): MemberSpelling {
  return { full: [`${name}.${field.name}`], plain: [field.name] };
}

function has({ fields }: ProtoMessage, { name }: ProtoField): boolean {
  return fields.some((field) => field.name === name);
}
