/** Arguments and answers of remote functions: what JSON has, with tensors in it. */
import type { RemoteValues } from "../../../generated/tensor.js";
import { decodeWithArrivals, tensorCodec } from "../call/tensor-codec.js";
import { isTensor, type Tensor } from "../value/tensor.js";

/** The only key of an object that stands for a tensor. */
const tensorMark = "$tensor";

/** @throws TypeError that says what cannot be sent, CodecError for a tensor that cannot */
export function writeValues(label: string, value: unknown): RemoteValues {
  const tensors: Uint8Array[] = [];
  const json = JSON.stringify(value, function (this: Record<string, unknown>, key: string) {
    const own = this[key];
    if (!isTensor(own)) return checkedValue(label, own, Array.isArray(this));
    tensors.push(tensorCodec().encode(own));
    return { [tensorMark]: tensors.length - 1 };
  });
  return { json: json ?? "null", tensors };
}

/**
 * @returns the value, and what in it comes by itself: until then those tensors are empty
 * @throws SyntaxError, RangeError, CodecError for what `writeValues` does not write
 */
export function readValues({ json, tensors }: RemoteValues): readonly [unknown, Promise<unknown>] {
  const [read, coming] = decodeWithArrivals(() => tensors.map((tensor) => tensorCodec().decode(tensor)));
  const value: unknown = JSON.parse(json, (_key, own: unknown) =>
    isMarked(own) ? tensorAt(read, own[tensorMark]) : own,
  );
  return [value, Promise.all(coming.map(({ arrived }) => arrived))];
}

function checkedValue(label: string, value: unknown, inList: boolean): unknown {
  const refuse = (got: string) => {
    throw new TypeError(`cannot send to or from ${label}: expected tensors and what JSON has, got ${got}`);
  };
  if (typeof value === "number" && !Number.isFinite(value)) refuse(String(value));
  if (["bigint", "function", "symbol"].includes(typeof value)) refuse(`a ${typeof value}`);
  if (value === undefined && inList) refuse("undefined in a list");
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) refuse(`a ${value.constructor.name}`);
  if (Object.hasOwn(value, tensorMark)) refuse(`an object with the key "${tensorMark}"`);
  return value;
}

function isMarked(value: unknown): value is Record<typeof tensorMark, unknown> {
  return typeof value === "object" && value !== null && Object.hasOwn(value, tensorMark);
}

function tensorAt(tensors: readonly Tensor[], index: unknown): Tensor {
  const tensor = typeof index === "number" ? tensors[index] : undefined;
  if (tensor === undefined)
    throw new RangeError(`cannot read values: there is no tensor ${JSON.stringify(index)} of ${tensors.length}`);
  return tensor;
}
