/** Enumerations in the protobuf layout: open ones, whose unknown numbers are kept. */
import { invalid } from "../composed/part.js";
import { namesOf } from "./choice.js";
import type { EnumPosition } from "./position.js";

/** What an unknown number of an enumeration of strings is as a value: `$unknown:7`. */
const unknownValue = /^\$unknown:(-?\d+)$/;

/** @param numbers of the values; without it 1, 2, 3, …, or the values themselves where they are whole numbers */
export function enumPosition<T extends string | number>(
  name: string,
  values: readonly T[],
  numbers?: readonly number[],
): EnumPosition<T> {
  if (values.every(isInt32))
    return numericPosition(name, values as readonly unknown[] as readonly number[]) as unknown as EnumPosition<T>;
  const list = values.map((value, i) => ({ value, number: numbers?.[i] ?? i + 1 }));
  const byValue = new Map(list.map(({ value, number }) => [value, number]));
  const byNumber = new Map(list.map(({ value, number }) => [number, value]));
  return {
    kind: "enum",
    demanded: true,
    values: list,
    numberOf(value) {
      const number = byValue.get(value) ?? unknownNumber(value);
      if (number === undefined) throw invalid(name || "enum", namesOf(values), value);
      return number;
    },
    valueOf: (number) => byNumber.get(number) ?? (`$unknown:${number}` as T),
  };
}

function numericPosition(name: string, values: readonly number[]): EnumPosition<number> {
  return {
    kind: "enum",
    demanded: false,
    values: values.map((value) => ({ value, number: value })),
    numberOf(value) {
      if (!isInt32(value)) throw invalid(name || "enum", "an integer from -2147483648 to 2147483647", value);
      return value;
    },
    valueOf: (number) => number,
  };
}

function unknownNumber(value: unknown): number | undefined {
  const digits = typeof value === "string" ? unknownValue.exec(value)?.[1] : undefined;
  const number = Number(digits);
  // As it was read: neither `-0` nor `007`.
  return isInt32(number) && String(number) === digits ? number : undefined;
}

function isInt32(value: unknown): value is number {
  return typeof value === "number" && value === (value | 0);
}
