/**
 * Places in a row: the fields of a message, the elements of a tuple. First the bits, one byte after another, in the
 * order of the parts and from the lowest bit up: is an optional part there, is a nullable one not null, the value of a
 * boolean. Then the slots of the parts that are always there. The runtime's composed codecs do the same (docs/reference/lockstep-layout.md).
 */

import type { Core, Peeled } from "../../../model/peel.js";
import type { Type } from "../../../model/type.js";

export interface RowPart {
  readonly type: Type;
  readonly optional: boolean;
}

/** A bit: which byte of the row, and its value there. */
export interface Bit {
  readonly byte: number;
  readonly mask: number;
}

export interface Place {
  readonly core: Core;
  readonly present?: Bit;
  readonly notNull?: Bit;
  readonly value?: Bit;
  /** From the start of the row; absent: a bit, or among what varies. */
  readonly slot?: number;
}

export interface Row {
  readonly places: readonly Place[];
  readonly size: number;
  /** How many bytes of bits there are, and the bits of the last one that are used: `0b111`. */
  readonly bytes: number;
  readonly lastMask: number;
}

/** @param slotOf the size of a slot */
export function placeRow(parts: readonly RowPart[], peel: (type: Type) => Peeled, slotOf: (core: Core) => number): Row {
  let bits = 0;
  const nextBit = (): Bit => ({ byte: bits >> 3, mask: 1 << (bits++ & 7) });
  const places = parts.map(({ type, optional }): Place => {
    const { core, nullable } = peel(type);
    return {
      core,
      ...(optional ? { present: nextBit() } : {}),
      ...(nullable ? { notNull: nextBit() } : {}),
      ...(isBoolean(core) ? { value: nextBit() } : {}),
    };
  });
  const bytes = (bits + 7) >> 3;
  let size = bytes;
  const placed = places.map((place): Place => {
    if (isBoolean(place.core) || mayBeMissing(place)) return place;
    const slot = size;
    size += slotOf(place.core);
    return { ...place, slot };
  });
  return { places: placed, size: Math.max(size, 1), bytes, lastMask: 0xff >> (bytes * 8 - bits) };
}

export function mayBeMissing(place: Place): boolean {
  return place.present !== undefined || place.notNull !== undefined;
}

export function isBoolean(core: Core): boolean {
  return core.kind === "scalar" && core.scalar === "boolean";
}
