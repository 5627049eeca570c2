/**
 * Reports members of a string enum whose literal changed. The bytes and JSON stay the same, because the name and the
 * number do. But a literal that one side sends arrives as another one, and code that stores or compares literals does
 * not know it.
 */
import type { EnumValue, Shape } from "../../../model/index.js";
import { hasNumbers } from "../../../protobuf/form/form.js";
import type { BreakFinding, BreakRule } from "../../break-rule.js";
import { compareMembers } from "../../comparison.js";

export const enumLiteralChanged: BreakRule = {
  code: "VC5056",
  name: "enum-literal-changed",
  class: "BEHAVIOUR",
  find({ shapes }) {
    return shapes.flatMap((shape) => {
      if (!isOfLiterals(shape.older) || !isOfLiterals(shape.newer)) return [];
      return compareMembers(shape).pairs.flatMap(({ older, newer }): BreakFinding[] => {
        const [was, is] = [valueNamed(shape.older, older.name), valueNamed(shape.newer, newer.name)];
        if (was === undefined || is === undefined || was.id !== is.id || was.value === is.value) return [];
        const [before, after] = [JSON.stringify(was.value), JSON.stringify(is.value)];
        const place = `${shape.place}.${newer.name}`;
        const text = `${place} was ${before} and is ${after}: what one side sends as ${before} arrives as ${after}`;
        const fix = `Write ${before} again, or add a member with the literal ${after}.`;
        return [{ place, at: newer.at, side: "newer", text, fix }];
      });
    });
  },
};

/**
 * Returns whether the shape is an enum with string values. The ids of a numeric enum are its values and are sent as
 * they are.
 */
function isOfLiterals(shape: Shape): boolean {
  return shape.kind === "enum" && !hasNumbers(shape);
}

function valueNamed(shape: Shape, name: string): EnumValue | undefined {
  return shape.kind === "enum" ? shape.values.find((value) => value.name === name) : undefined;
}
