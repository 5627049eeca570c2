/** Encodes arguments and results of remote functions as JSON with references to a list of encoded tensors. */
import type { RemoteValues } from "../../../generated/tensor.js";
import { decodeWith, encodeWith, type MessageHandles } from "../../codegen/v1/index.js";
import { receivingHandles, tensorCodec } from "../call/tensor-codec.js";
import type { ArrivingTensor } from "../rendezvous/rendezvous.js";
import { isTensor, type Tensor } from "../value/tensor.js";

/** The only key of an object that refers to a tensor by its index. */
const tensorMark = "$tensor";

/**
 * Encodes values.
 *
 * @param label name of the function, for errors
 * @param handles codecs of handles that can lend tensors of a mesh; without them, such tensors are refused
 * @throws {TypeError} when a value can be written neither as JSON nor as a tensor
 * @throws {CodecError} when a tensor cannot be sent
 */
export function writeValues(label: string, value: unknown, handles?: MessageHandles): RemoteValues {
  const tensors: Uint8Array[] = [];
  const json = JSON.stringify(value, function (this: Record<string, unknown>, key: string) {
    const own = this[key];
    if (!isTensor(own)) return checkedValue(label, own, Array.isArray(this));
    tensors.push(encodeWith(tensorCodec(), own, handles));
    return { [tensorMark]: tensors.length - 1 };
  });
  return { json: json ?? "null", tensors };
}

/**
 * Decodes values.
 *
 * @returns the value, and a promise that resolves when all tensors in it have arrived; they are empty until then
 * @throws {SyntaxError} when the values are not valid JSON
 * @throws {RangeError} when the JSON refers to a tensor that is missing
 * @throws {CodecError} when the bytes of a tensor are invalid
 */
export function readValues({ json, tensors }: RemoteValues): readonly [unknown, Promise<unknown>] {
  const arriving: ArrivingTensor[] = [];
  const handles = receivingHandles(arriving);
  const read = tensors.map((tensor) => decodeWith(tensorCodec(), tensor, handles));
  const value: unknown = JSON.parse(json, (_key, own: unknown) =>
    isMarked(own) ? tensorAt(read, own[tensorMark]) : own,
  );
  return [value, Promise.all(arriving.map(({ arrived }) => arrived))];
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
