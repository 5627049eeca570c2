/**
 * Places in a row: the fields of a message, the elements of a tuple. First the bits, one byte after another, in the
 * order of the parts and from the lowest bit up: is an optional part there, is a nullable one not null, the value of a
 * boolean. Then the slots of the parts that are always there. The runtime's composed codecs do the same (docs/reference/lockstep-layout.md).
 */

import type { CoreType, PeeledType } from "../../../../model/core-type.js";
import type { Type } from "../../../../model/type.js";

export interface RowPart {
  readonly type: Type;
  readonly optional: boolean;
}

/** A bit: which byte of the row, and its value there. */
export interface Bit {
  readonly byte: number;
  readonly mask: number;
}

export interface FieldSlot {
  readonly core: CoreType;
  readonly present?: Bit;
  readonly notNull?: Bit;
  readonly value?: Bit;
  /** From the start of the row; absent: a bit, or among what varies. */
  readonly offset?: number;
}

export interface Row {
  readonly slots: readonly FieldSlot[];
  readonly size: number;
  /** How many bytes of bits there are, and the bits of the last one that are used: `0b111`. */
  readonly bitBytes: number;
  readonly lastMask: number;
}

/** @param slotOf the size of a slot */
export function layOutRow(
  parts: readonly RowPart[],
  peel: (type: Type) => PeeledType,
  slotOf: (core: CoreType) => number,
): Row {
  let bits = 0;
  const nextBit = (): Bit => ({ byte: bits >> 3, mask: 1 << (bits++ & 7) });
  const places = parts.map(({ type, optional }): FieldSlot => {
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
  const placed = places.map((place): FieldSlot => {
    if (isBoolean(place.core) || mayBeMissing(place)) return place;
    const slot = size;
    size += slotOf(place.core);
    return { ...place, offset: slot };
  });
  return { slots: placed, size: Math.max(size, 1), bitBytes: bytes, lastMask: 0xff >> (bytes * 8 - bits) };
}

export function mayBeMissing(place: FieldSlot): boolean {
  return place.present !== undefined || place.notNull !== undefined;
}

export function isBoolean(core: CoreType): boolean {
  return core.kind === "scalar" && core.scalar === "boolean";
}
