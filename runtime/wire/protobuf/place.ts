/**
 * How composed codecs put the values of another codec into a message: as an element, which is there when it is written
 * (of an array, a map, a oneof), or as a member, whose presence has rules (docs/reference/protobuf-layout.md).
 */
import type { Codec } from "../codec.js";
import { traced } from "../composed/part.js";
import { located, Refused, type Segment } from "../refused.js";
import {
  type EnumPosition,
  type MapPosition,
  type MaybePosition,
  positionOf,
  type RepeatedPosition,
  type WireType,
} from "./position.js";
import type { ProtobufReader } from "./reader.js";
import type { ProtobufWriter } from "./writer.js";

/** One value in a field. */
export interface Element {
  readonly wire: WireType;
  write(w: ProtobufWriter, number: number, value: unknown): void;
  /** @param into an earlier occurrence, which a message is merged into */
  read(r: ProtobufReader, into: unknown): unknown;
  /** What stands for one that is missing. */
  absent(r: ProtobufReader): unknown;
}

/** A member of a message. */
export interface Place {
  /** Writes its field or fields, or nothing. */
  write(w: ProtobufWriter, number: number, value: unknown): void;
  /** Whether it can come with this wire type. */
  reads(wire: number): boolean;
  read(r: ProtobufReader, wire: number, into: unknown): unknown;
  /** The value when nothing has come. */
  absent(r: ProtobufReader): unknown;
}

export function tagOf(number: number, wire: number): number {
  return ((number << 3) | wire) >>> 0;
}

export function elementOf(codec: Codec<unknown>): Element {
  const position = positionOf(codec);
  switch (position.kind) {
    case "scalar":
      return {
        wire: position.wire,
        write: (w, number, value) => position.write(w, tagOf(number, position.wire), value),
        read: (r) => position.read(r),
        absent: () => position.zero(),
      };
    case "enum":
      return enumElement(position);
    default:
      return messageElement(codec);
  }
}

function enumElement(position: EnumPosition): Element {
  return {
    wire: 0,
    write: (w, number, value) => w.int32(tagOf(number, 0), position.numberOf(value)),
    read: (r) => position.valueOf(r.int32()),
    absent() {
      if (position.demanded) throw new Refused("it is missing, and has no default");
      return position.valueOf(0);
    },
  };
}

function messageElement(codec: Codec<unknown>): Element {
  return {
    wire: 2,
    write(w, number, value) {
      w.message(tagOf(number, 2), w.tracing ? traced(codec) : codec, value);
    },
    read: (r, into) => r.message(r.tracing ? traced(codec) : codec, into ?? undefined),
    absent: (r) => r.absent(r.tracing ? traced(codec) : codec),
  };
}

export function placeOf(codec: Codec<unknown>): Place {
  const position = positionOf(codec);
  switch (position.kind) {
    case "maybe":
      return maybePlace(elementOf(presentOf(position)), position.absent);
    case "repeated":
    case "map":
      return collectionPlace(position);
    case "scalar":
      return implicitPlace(elementOf(codec), (value) => position.isDefault(value));
    case "enum":
      return implicitPlace(elementOf(codec), (value) => !position.demanded && position.numberOf(value) === 0);
    case "message":
      return implicitPlace(elementOf(codec), () => false);
  }
}

/** What is there when it is not absent. `A | null` is the same where `A`, by another name, may be null itself. */
function presentOf({ inner, absent }: MaybePosition): Codec<unknown> {
  const position = positionOf(inner);
  return absent === null && position.kind === "maybe" && position.absent === null ? presentOf(position) : inner;
}

function implicitPlace(element: Element, isDefault: (value: unknown) => boolean): Place {
  return {
    write(w, number, value) {
      if (!isDefault(value)) element.write(w, number, value);
    },
    reads: (wire) => wire === element.wire,
    read: (r, _, into) => element.read(r, into),
    absent: (r) => element.absent(r),
  };
}

function maybePlace(element: Element, absent: null | undefined): Place {
  return {
    write(w, number, value) {
      if (value !== absent) element.write(w, number, value);
    },
    reads: (wire) => wire === element.wire,
    read: (r, _, into) => element.read(r, into),
    absent: () => absent,
  };
}

function collectionPlace(position: RepeatedPosition | MapPosition): Place {
  return {
    write: (w, number, value) => position.write(w, number, value),
    reads: (wire) => position.reads(wire),
    read: (r, wire, into) => position.read(r, wire, into),
    absent: () => position.empty(),
  };
}

/** Does `step`, noting where it fails on the second attempt. */
export function within<T>(segment: Segment, tracing: boolean, step: () => T): T {
  if (!tracing) return step();
  try {
    return step();
  } catch (error) {
    throw located(error, segment);
  }
}
