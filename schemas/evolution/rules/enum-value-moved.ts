/**
 * Numbers of an enum that mean another value than before: a value has moved away from its number, or to it, so that the name
 * is no rename. Values put in the middle of an enum without initialisers do that.
 */
import type { ProtoEnum } from "../../protobuf/descriptor.js";
import { enumValueName } from "../../protobuf/names.js";
import type { EnumRule } from "../rule.js";

export const enumValueMoved: EnumRule = {
  code: "VC5009",
  name: "enum-value-moved",
  fix: "Give each value its number, with an initialiser, and new values numbers that no value has had.",
  compares: "enum",
  find({ older, newer }) {
    const before = namesOf(older);
    const after = namesOf(newer);
    const numbersBefore = new Map([...before].map(([number, name]) => [name, number]));
    const numbersAfter = new Map([...after].map(([number, name]) => [name, number]));
    return newer.values.flatMap(({ number, name: spelt }) => {
      const name = after.get(number) ?? spelt;
      const was = before.get(number);
      if (was === undefined || was === name) return [];
      if (!numbersAfter.has(was) && !numbersBefore.has(name)) return [];
      return [
        { place: `${newer.name}.${spelt}`, text: `its number ${number} was that of ${was}: each reads as the other` },
      ];
    });
  },
};

/** Without the prefix that they have from the enum's own name, which may have changed. */
function namesOf({ name, values }: ProtoEnum): ReadonlyMap<number, string> {
  const prefix = enumValueName(name.slice(name.lastIndexOf(".") + 1), "");
  return new Map(
    values.map((value) => [value.number, value.name.startsWith(prefix) ? value.name.slice(prefix.length) : value.name]),
  );
}
