/**
 * Computes the positions in a row, which holds the fields of a message or the elements of a tuple. The bits come first,
 * one byte after another, in the order of the parts and from the lowest bit up: whether an optional part is present,
 * whether a nullable part is not null, and the value of a boolean. The slots of the parts that are always present
 * follow. The composed codecs of the runtime use the same layout (docs/reference/lockstep-layout.md).
 */

import type { CoreType, PeeledType } from "../../../../model/core-type.js";
import type { Type } from "../../../../model/type.js";

export interface RowPart {
  readonly type: Type;
  readonly optional: boolean;
}

/** A bit: the index of its byte in the row, and its mask in the byte. */
export interface Bit {
  readonly byte: number;
  readonly mask: number;
}

export interface FieldSlot {
  readonly core: CoreType;
  readonly present?: Bit;
  readonly notNull?: Bit;
  readonly value?: Bit;
  /**
   * The offset of the slot from the start of the row in bytes. Undefined for a boolean and for a part in the variable
   * part.
   */
  readonly offset?: number;
}

export interface Row {
  readonly slots: readonly FieldSlot[];
  readonly size: number;
  /** The number of bytes that hold bits. `lastMask` contains the used bits of the last one: `0b111`. */
  readonly bitBytes: number;
  readonly lastMask: number;
}

/** @param slotOf returns the size of a slot in bytes */
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
