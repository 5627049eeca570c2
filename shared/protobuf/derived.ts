/** What protobuf derives from a message or an enum: for those who print or describe them. */

import { jsonName } from "./names.js";
import type { ProtoEnum } from "./proto-schema.js";

/** Two values with one number: protobuf wants to be told that this is meant. */
export function hasAliases(values: ProtoEnum["values"]): boolean {
  return new Set(values.map(({ number }) => number)).size < values.length;
}

/** Runs of numbers, both ends included. */
export function rangesOf(numbers: readonly number[]): readonly (readonly [first: number, last: number])[] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

/** The message that an entry of a map field is: `foo_bar` is `FooBarEntry`. */
export function entryName(fieldName: string): string {
  const camel = jsonName(`_${fieldName}`);
  return `${camel.charAt(0).toUpperCase()}${camel.slice(1)}Entry`;
}
