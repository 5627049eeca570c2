/**
 * The description of a struct by generated code: its members and their offsets. Encoding and decoding of values use it; views
 * do not, since generated getters contain the offsets.
 */

import { describeValue } from "../../shared/text/describe-value.js";
import { CapnpError, memberStep, PathError, rethrowAt } from "./error.js";
import { setOwn } from "./list.js";
import { openMessage, type ReadLimits } from "./message.js";
import { MessageBuilder, type WriteOptions } from "./message-builder.js";
import { hasPointer, readPointer, readUint16, type StructReader, type StructReaderClass, structAt } from "./struct.js";
import { type CapnpType, elementBits, ListSize, type PointerType } from "./type.js";

/** A member of a struct. */
export interface Member {
  /** The name of the property in TypeScript. */
  readonly name: string;
  /** The type of the member. */
  readonly type: CapnpType;
  /** For data, the offset in bits from the start of the data section; for a pointer, its index. */
  readonly at: number;
  /** Whether the property can be missing: `name?: T`. */
  readonly optional?: boolean;
  /** Whether the value can be null: `T | null`. */
  readonly nullable?: boolean;
  /**
   * The offset in bits of 16 bits that tell whether the value is missing or null, for data, and for members that can be
   * both.
   */
  readonly tag?: number;
}

/** The kind of value that the members of a struct represent. */
export type StructShape =
  | { readonly kind: "message"; readonly members: readonly Member[] }
  /** A tuple. With `rest`, the last member is the list of the remaining elements. */
  | { readonly kind: "tuple"; readonly members: readonly Member[]; readonly rest: boolean }
  /** The key and the value of an entry, or the only member of a struct that represents another type. */
  | { readonly kind: "entry" | "alias"; readonly members: readonly Member[] }
  /**
   * A union or a oneof. `cases` has the cases by number; undefined for 0, which represents no case, and for removed cases.
   * `discriminant` is the property that identifies the variant; it is absent for a oneof.
   */
  | {
      readonly kind: "choice";
      readonly tag: number;
      readonly discriminant?: string;
      readonly cases: readonly (Member | undefined)[];
    };

/** The type of a struct. */
export interface StructType<R extends StructReader> extends PointerType<R> {
  /** The name of the struct, in error messages. */
  readonly name: string;
  /** The generated class that reads the struct in place. */
  readonly Reader: StructReaderClass<R>;
}

/**
 * Returns the type of a struct. Called by generated code.
 *
 * @param Reader the generated class that reads the struct in place
 * @param name the name of the struct, in error messages
 * @param dataWords size of the data section, in words of 8 bytes
 * @param pointerWords number of pointers
 * @param shape returns the members; called on first use, since structs can refer to one another
 */
export function struct<R extends StructReader>(
  Reader: StructReaderClass<R>,
  name: string,
  dataWords: number,
  pointerWords: number,
  shape: () => StructShape,
): StructType<R> {
  let known: StructShape | undefined;
  const shapeOf = (): StructShape => {
    known ??= shape();
    return known;
  };
  const fill = (builder: MessageBuilder, at: number, value: unknown, depth: number): void => {
    const below = builder.descend(depth);
    writeShape(builder, shapeOf(), name, value, { data: at, pointers: at + dataWords * 8, depth: below });
  };
  return {
    kind: "pointer",
    size: ListSize.composite,
    name,
    Reader,
    view: (message, segment, at, depth) => structAt(Reader, message, segment, at, depth),
    empty: (message, depth) => new Reader(message, message.segments[0]!, 0, 0, 0, 0, depth),
    value: (view) => structValue(shapeOf(), name, view),
    write(builder, at, value, depth) {
      const to = builder.allocate(dataWords + pointerWords);
      builder.structPointer(at, to, dataWords, pointerWords);
      fill(builder, to, value, depth);
    },
    inList: {
      dataWords,
      pointerWords,
      view(message, segment, data, dataSize, pointerCount, depth) {
        const below = message.descend(depth);
        return new Reader(message, segment, data, dataSize, data + dataSize, pointerCount, below);
      },
      write: fill,
    },
  };
}

interface StructTarget {
  readonly data: number;
  readonly pointers: number;
  readonly depth: number;
}

function writeShape(
  builder: MessageBuilder,
  shape: StructShape,
  name: string,
  value: unknown,
  place: StructTarget,
): void {
  switch (shape.kind) {
    case "message":
      checkObject(value, name);
      for (const member of shape.members) {
        writeMember(builder, member, ownProperty(value, member.name), memberStep(member.name), place);
      }
      break;
    case "tuple":
      writeTuple(builder, shape, value, place);
      break;
    case "entry":
      shape.members.forEach((member, i) => {
        const [key] = value as [unknown, unknown];
        writeMember(builder, member, (value as unknown[])[i], i === 0 ? ".key" : `[${describeValue(key)}]`, place);
      });
      break;
    case "alias":
      for (const member of shape.members) writeMember(builder, member, value, "", place);
      break;
    case "choice":
      writeChoice(builder, shape, name, value, place);
  }
}

function checkObject(value: unknown, name: string): asserts value is object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  throw new PathError("write", `invalid ${name}: expected an object, got ${describeValue(value)}`);
}

/** Reads an own property. Returns undefined for inherited ones. */
function ownProperty(value: object, name: string): unknown {
  const found = (value as Record<string, unknown>)[name];
  if (found === undefined || Object.hasOwn(value, name)) return found;
  return found === (Object.prototype as unknown as Record<string, unknown>)[name] ? undefined : found;
}

function writeTuple(
  builder: MessageBuilder,
  { members, rest }: Extract<StructShape, { kind: "tuple" }>,
  value: unknown,
  place: StructTarget,
): void {
  if (!Array.isArray(value))
    throw new PathError("write", `invalid tuple: expected an array, got ${describeValue(value)}`);
  const fixed = rest ? members.length - 1 : members.length;
  const least = members.slice(0, fixed).filter(({ optional }) => !optional).length;
  if (value.length < least || (!rest && value.length > fixed)) {
    const most = rest ? `${least} or more` : least === fixed ? String(fixed) : `${least} to ${fixed}`;
    throw new PathError("write", `invalid tuple: expected ${most} elements, got ${value.length}`);
  }
  members.forEach((member, i) => {
    const part = i < fixed ? value[i] : value.slice(fixed);
    writeMember(builder, member, part, i < fixed ? `[${i}]` : "", place);
  });
}

function writeChoice(
  builder: MessageBuilder,
  { tag, discriminant, cases }: Extract<StructShape, { kind: "choice" }>,
  name: string,
  value: unknown,
  place: StructTarget,
): void {
  checkObject(value, name);
  const property = discriminant ?? "case";
  const wanted = ownProperty(value, property);
  const number = cases.findIndex((member) => member !== undefined && member.name === wanted);
  const member = cases[number];
  if (member === undefined) {
    const names = cases.flatMap((known) => (known === undefined ? [] : [describeValue(known.name)]));
    throw new PathError(
      "write",
      `invalid ${name}: expected ${property} to be one of ${names.join(", ")}, got ${describeValue(wanted)}`,
    );
  }
  builder.view.setUint16(place.data + tag / 8, number, true);
  if (discriminant !== undefined) writeMember(builder, member, value, "", place);
  else writeMember(builder, member, ownProperty(value, "value"), ".value", place);
}

function writeMember(builder: MessageBuilder, member: Member, value: unknown, step: string, place: StructTarget): void {
  const { optional, nullable, tag } = member;
  if (value === undefined && optional) return;
  if (value === null && nullable) {
    if (tag !== undefined && optional) builder.view.setUint16(place.data + tag / 8, 1, true);
    return;
  }
  try {
    if (value === undefined) throw new PathError("write", "expected a value, got undefined");
    if (tag !== undefined) builder.view.setUint16(place.data + tag / 8, optional && nullable ? 2 : 1, true);
    const { type, at } = member;
    if (type.kind === "data") type.write(builder.view, place.data + (at >>> 3), at & 7, value);
    else type.write(builder, place.pointers + at * 8, value, place.depth);
  } catch (error) {
    rethrowAt(step, error);
  }
}

function structValue(shape: StructShape, name: string, reader: StructReader): unknown {
  switch (shape.kind) {
    case "message": {
      const object = {};
      for (const member of shape.members) {
        const value = memberValue(reader, member, memberStep(member.name));
        if (value !== undefined) setOwn(object, member.name, value);
      }
      return object;
    }
    case "tuple": {
      const values = shape.members.map((member, i) => memberValue(reader, member, `[${i}]`));
      const rest = shape.rest ? (values.pop() as unknown[]) : [];
      while (values.length > 0 && values.at(-1) === undefined) values.pop();
      return [...values, ...rest];
    }
    case "entry": {
      const [key, value] = shape.members as readonly [Member, Member];
      const known = memberValue(reader, key, ".key");
      return [known, memberValue(reader, value, `[${describeValue(known)}]`)];
    }
    case "alias":
      return memberValue(reader, shape.members[0] as Member, "");
    case "choice":
      return choiceValue(shape, name, reader);
  }
}

function choiceValue(
  { tag, discriminant, cases }: Extract<StructShape, { kind: "choice" }>,
  name: string,
  reader: StructReader,
): unknown {
  const number = readUint16(reader, tag / 8);
  if (number === 0) throw new PathError("read", `invalid ${name}: none of its cases is there`);
  const member = cases[number];
  const property = discriminant ?? "case";
  if (member === undefined) {
    return discriminant === undefined ? { case: "$unknown", value: undefined } : { [property]: "$unknown" };
  }
  const object = {};
  setOwn(object, property, member.name);
  if (discriminant === undefined) setOwn(object, "value", memberValue(reader, member, ".value"));
  else {
    const fields = memberValue(reader, member, "") as object;
    for (const [key, value] of Object.entries(fields)) setOwn(object, key, value);
  }
  return object;
}

function memberValue(reader: StructReader, { type, at, optional, nullable, tag }: Member, step: string): unknown {
  try {
    if (tag !== undefined) {
      const which = readUint16(reader, tag / 8);
      if (which === 0) return optional ? undefined : null;
      if (which === 1 && optional && nullable) return null;
    } else if ((optional || nullable) && !hasPointer(reader, at)) return optional ? undefined : null;
    if (type.kind === "pointer") return type.value(readPointer(reader, at, type));
    const bits = elementBits[type.size] as number;
    const value =
      at + bits > reader.$dataSize * 8
        ? type.default
        : type.view(reader.$segment.view, reader.$data + (at >>> 3), at & 7);
    if (value === "$unknown:0") throw new PathError("read", "the message has no value for it");
    return value;
  } catch (error) {
    rethrowAt(step, error);
  }
}

/**
 * Opens a message whose root is a struct of the given type. Nothing is decoded.
 *
 * @param type the type of the root
 * @param bytes the message
 * @param limits the limits of traversal and depth
 * @throws {CapnpError} when the bytes are not a message
 */
export function readMessage<R extends StructReader>(type: StructType<R>, bytes: Uint8Array, limits?: ReadLimits): R {
  const message = openMessage(bytes, limits);
  const root = message.segments[0]!;
  message.requireBytes(root, 0, 8);
  return type.view(message, root, 0, message.depth);
}

/**
 * Decodes a struct into a plain value, which keeps nothing of the message.
 *
 * @throws {CapnpError} when the message is invalid
 */
export function readValue<R extends StructReader>(type: StructType<R>, reader: R): unknown {
  return withErrorPath("read", type.name, () => type.value(reader));
}

/**
 * Encodes a value as a message.
 *
 * @param type the type of the root
 * @param value the value to encode
 * @param options memory to write into, and the largest depth
 * @returns the message
 * @throws {CapnpError} when the value does not have the type, or the memory is too small
 */
export function writeMessage<R extends StructReader>(
  type: StructType<R>,
  value: unknown,
  options?: WriteOptions,
): Uint8Array {
  return withErrorPath("write", type.name, () => {
    const builder = new MessageBuilder(options);
    const root = builder.allocate(1);
    type.write(builder, root, value, builder.depth);
    return builder.finish();
  });
}

function withErrorPath<T>(verb: "read" | "write", name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof PathError) throw new CapnpError(error.verb, name + error.path, error.reason);
    if (error instanceof RangeError && error.message.includes("call stack")) {
      throw new CapnpError(verb, name, "it nests deeper than the stack of this process allows");
    }
    throw error;
  }
}
