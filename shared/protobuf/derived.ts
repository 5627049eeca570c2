/**
 * Facts that protobuf derives from a message or an enum. The printers of `.proto` files and of descriptors share them.
 */

import { jsonName } from "./names.js";
import type { ProtoEnum } from "./proto-schema.js";

/** Returns whether two values have the same number. protobuf allows this only with the option `allow_alias`. */
export function hasAliases(values: ProtoEnum["values"]): boolean {
  return new Set(values.map(({ number }) => number)).size < values.length;
}

/** Groups sorted numbers into ranges of consecutive numbers. Both ends of a range are included. */
export function rangesOf(numbers: readonly number[]): readonly (readonly [first: number, last: number])[] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

/**
 * Returns the name of the message that protobuf generates for the entries of a map field: `foo_bar` gives
 * `FooBarEntry`.
 */
export function entryName(fieldName: string): string {
  const camel = jsonName(`_${fieldName}`);
  return `${camel.charAt(0).toUpperCase()}${camel.slice(1)}Entry`;
}
