/**
 * `T | null` as an element of a list or the value of an entry: a struct with a union of `null :Void` and `value :T`. A member of a
 * struct does not use this type, since its union or pointer can represent null.
 */

import { PathError } from "./error.js";
import type { CapnpMessage, MessageSegment } from "./message.js";
import type { MessageBuilder } from "./message-builder.js";
import { readPointer, readUint16, StructReader, structAt } from "./struct.js";
import { type CapnpType, elementBits, ListSize, type PointerType } from "./type.js";

/** Returns the type of a value or null: `T | null` in the schema. */
export function nullable<View>(type: CapnpType<View>): PointerType<View | null> {
  // The value follows the 16 bits of the discriminant, aligned to its size.
  const bits = type.kind === "data" ? (elementBits[type.size] as number) : 0;
  const bit = Math.max(16, bits);
  const dataWords = bits === 64 ? 2 : 1;
  const pointerWords = type.kind === "data" ? 0 : 1;
  const viewOf = (reader: StructReader): View | null => {
    if (readUint16(reader, 0) === 0) return null;
    if (type.kind === "pointer") return readPointer(reader, 0, type);
    if (bit + bits > reader.$dataSize * 8) return type.default;
    return type.view(reader.$segment.view, reader.$data + (bit >>> 3), bit & 7);
  };
  const fill = (builder: MessageBuilder, at: number, value: unknown, depth: number): void => {
    const below = builder.descend(depth);
    if (value === undefined) throw new PathError("write", "expected a value or null, got undefined");
    if (value === null) return;
    builder.view.setUint16(at, 1, true);
    if (type.kind === "data") type.write(builder.view, at + (bit >>> 3), bit & 7, value);
    else type.write(builder, at + dataWords * 8, value, below);
  };
  return {
    kind: "pointer",
    size: ListSize.composite,
    view: (message, segment, at, depth) => viewOf(structAt(StructReader, message, segment, at, depth)),
    empty: () => null,
    value: (view) => (view === null || type.kind === "data" ? view : type.value(view)),
    write(builder, at, value, depth) {
      const to = builder.allocate(dataWords + pointerWords);
      builder.structPointer(at, to, dataWords, pointerWords);
      fill(builder, to, value, depth);
    },
    inList: {
      dataWords,
      pointerWords,
      view(
        message: CapnpMessage,
        segment: MessageSegment,
        data: number,
        dataSize: number,
        pointerCount: number,
        depth: number,
      ) {
        const below = message.descend(depth);
        return viewOf(new StructReader(message, segment, data, dataSize, data + dataSize, pointerCount, below));
      },
      write: fill,
    },
  };
}
