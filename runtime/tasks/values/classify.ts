/** Tells the kinds of objects apart that plain values consist of. */
import { types } from "node:util";
import { binaryIndices } from "./binary-classes.js";

/** An object whose prototype is that of object literals. */
export const RECORD = 0;
/** An object without a prototype. */
export const NULL_RECORD = 1;
export const LIST = 2;
export const MOMENT = 3;
export const ENTRIES = 4;
export const MEMBERS = 5;
export const BYTES = 6;
/** None of them: an instance of another class, or of a class that extends one of them. */
export const OTHER = 7;

/** The kinds of built-in classes, by their prototypes in this realm. */
const kinds = new Map<object, number>([
  [Array.prototype, LIST],
  [Date.prototype, MOMENT],
  [Map.prototype, ENTRIES],
  [Set.prototype, MEMBERS],
  [Buffer.prototype, BYTES],
]);
for (const name of binaryIndices.keys()) {
  const found = (globalThis as unknown as Record<string, { prototype: object } | undefined>)[name];
  if (found !== undefined) kinds.set(found.prototype, BYTES);
}
const objectPrototype = Object.prototype;
const { getPrototypeOf } = Object;

/** Returns the kind of an object. */
export function kindOf(value: object): number {
  const prototype: object | null = getPrototypeOf(value);
  if (prototype === objectPrototype) return Array.isArray(value) ? OTHER : RECORD;
  if (prototype === null) return Array.isArray(value) ? OTHER : NULL_RECORD;
  const kind = kinds.get(prototype) ?? kindOfOtherRealm(prototype);
  return isOfKind(value, kind) ? kind : OTHER;
}

/** Returns whether an object really is what its prototype says, which anybody can set. */
function isOfKind(value: object, kind: number): boolean {
  switch (kind) {
    case LIST:
      return Array.isArray(value);
    case MOMENT:
      return types.isDate(value);
    case ENTRIES:
      return types.isMap(value);
    case MEMBERS:
      return types.isSet(value);
    case BYTES:
      return ArrayBuffer.isView(value) || types.isArrayBuffer(value);
    default:
      return true;
  }
}

/**
 * Returns the kind of the instances of a built-in class of another realm: test runners run programs in a realm of their own,
 * where the objects of Node.js come from outside.
 */
function kindOfOtherRealm(prototype: object): number {
  const owner: unknown = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value;
  if (typeof owner !== "function") return OTHER;
  if (!/\{ \[native code\] \}$/.test(Function.prototype.toString.call(owner))) return OTHER;
  switch (owner.name) {
    case "Object":
      return RECORD;
    case "Array":
      return LIST;
    case "Date":
      return MOMENT;
    case "Map":
      return ENTRIES;
    case "Set":
      return MEMBERS;
    default:
      return binaryIndices.has(owner.name) ? BYTES : OTHER;
  }
}

const typedArrayName = Object.getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)
  ?.get as (this: unknown) => string | undefined;

/** Returns the index in `binaryClasses` of a binary value, whatever its prototype. */
export function binaryIndexOf(value: object): number {
  const name = typedArrayName.call(value) ?? (ArrayBuffer.isView(value) ? "DataView" : "ArrayBuffer");
  return binaryIndices.get(name) as number;
}

/**
 * Returns the bytes of a binary value without copying them. Returns undefined if its memory is gone, because another thread has
 * taken it.
 */
export function bytesOf(value: ArrayBufferLike | ArrayBufferView): Uint8Array | undefined {
  try {
    if (!ArrayBuffer.isView(value)) return new Uint8Array(value);
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  } catch {
    return undefined;
  }
}
