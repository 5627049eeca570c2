/** Enumerations in the protobuf layout. They are open: numbers without a value are preserved. */
import { invalidValue } from "../traced-part.js";
import { listNames } from "./choices.js";
import type { ProtoEnumForm } from "./proto-form.js";

/** Matches the value of an unknown number in an enumeration of strings: `$unknown:7`. */
const unknownValue = /^\$unknown:(-?\d+)$/;

/** @param numbers of the values. Default: the values themselves if they are whole numbers, otherwise 1, 2, 3, … */
export function enumForm<T extends string | number>(
  name: string,
  values: readonly T[],
  numbers?: readonly number[],
): ProtoEnumForm<T> {
  if (values.every(isInt32))
    return numericEnumForm(name, values as readonly unknown[] as readonly number[]) as unknown as ProtoEnumForm<T>;
  const list = values.map((value, i) => ({ value, number: numbers?.[i] ?? i + 1 }));
  const byValue = new Map(list.map(({ value, number }) => [value, number]));
  const byNumber = new Map(list.map(({ value, number }) => [number, value]));
  return {
    kind: "enum",
    isRequired: true,
    values: list,
    numberOf(value) {
      const number = byValue.get(value) ?? unknownNumber(value);
      if (number === undefined) throw invalidValue(name || "enum", listNames(values), value);
      return number;
    },
    valueOf: (number) => byNumber.get(number) ?? (`$unknown:${number}` as T),
  };
}

function numericEnumForm(name: string, values: readonly number[]): ProtoEnumForm<number> {
  return {
    kind: "enum",
    isRequired: false,
    values: values.map((value) => ({ value, number: value })),
    numberOf(value) {
      if (!isInt32(value)) throw invalidValue(name || "enum", "an integer from -2147483648 to 2147483647", value);
      return value;
    },
    valueOf: (number) => number,
  };
}

function unknownNumber(value: unknown): number | undefined {
  const digits = typeof value === "string" ? unknownValue.exec(value)?.[1] : undefined;
  const number = Number(digits);
  // Only the canonical spelling is accepted: neither `-0` nor `007`.
  return isInt32(number) && String(number) === digits ? number : undefined;
}

function isInt32(value: unknown): value is number {
  return typeof value === "number" && value === (value | 0);
}
