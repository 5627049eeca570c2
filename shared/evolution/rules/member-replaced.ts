/**
 * Reports a message that was replaced by another one: unrelated members with the same number and type but other names
 * would read each other's values. A renamed type has the same members at the same numbers, and a member renamed with
 * `@was` is the same member.
 */
import type { ProtoField, ProtoMessage } from "../../protobuf/proto-schema.js";
import type { Pair } from "../pair.js";
import { isSameMember, type MemberSpelling } from "../same-member.js";
import type { MessageRule, RuleContext } from "../wire-rule.js";

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

/**
 * Returns whether the fields are identified by position: elements of tuples and of messages that stand for collections.
 */
function isUnnamed({ standsFor }: ProtoMessage): boolean {
  return standsFor === "tuple" || standsFor === "part";
}

function isSame(fields: Pair<ProtoField>, messages: Pair<ProtoMessage>, around: RuleContext): boolean {
  const spelt = { older: spell(messages.older, fields.older), newer: spell(messages.newer, fields.newer) };
  const same = isSameMember(spelt, around);
  if (same !== undefined) return same;
  if (around.areDistinctTypes || messages.newer.standsFor === "union") return false;
  // The name of an inline message comes from the member that contains it. Both may have been renamed.
  return !has(messages.newer, fields.older) && !has(messages.older, fields.newer);
}

function spell({ name }: ProtoMessage, field: ProtoField): MemberSpelling {
  return { full: [`${name}.${field.name}`], plain: [field.name] };
}

function has({ fields }: ProtoMessage, { name }: ProtoField): boolean {
  return fields.some((field) => field.name === name);
}
