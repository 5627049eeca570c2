/**
 * Tensors in messages of actors. One of this process goes by value, so that who gets it has a tensor of its own. One of a mesh can only go
 * to actors on the processes of the mesh: each gets what its own process has of it, by another way, and the message says which it is.
 */

import { type SentTensor, SentTensorCodec, type TensorKey, type TensorValue } from "../../../generated/tensor.js";
import { describeValue } from "../../../shared/text/describe-value.js";
import { type Codec, codec, extendWireEnvironment, type Reader, type Writer } from "../../codegen/v1/index.js";
import { TensorError } from "../errors.js";
import { addon } from "../operation/addon.js";
import { type ArrivingTensor, takeTensors } from "../rendezvous/rendezvous.js";
import { isTensor, type Tensor } from "../value/tensor.js";
import { fromTensorValue, toTensorValue } from "../value/tensor-value.js";

extendWireEnvironment({ writeTensor, readTensor });

/** Who lends tensors of a mesh to those who are sent a message. */
export interface TensorLender {
  /** A message is being encoded; what was lent before is not sent. */
  reset(): void;
  /** @returns by what the tensor is known on its way @throws TensorError if it cannot go to who is addressed */
  lend(tensor: Tensor): TensorKey;
}

let currentLender: TensorLender | undefined;
let currentArrivals: ArrivingTensor[] | undefined;

/** @internal For generated code, which can hold tensors because it imports this. */
export function tensorCodec(): Codec<Tensor> {
  return codec.tensor<Tensor>();
}

/** Sends something whose arguments may be tensors of a mesh. */
export function withLender<T>(by: TensorLender, send: () => T): T {
  const outer = currentLender;
  currentLender = by;
  try {
    return send();
  } finally {
    currentLender = outer;
  }
}

/** A message begins to be encoded. */
export function resetLender(): void {
  currentLender?.reset();
}

/** Decodes with such tensors. @returns what comes by itself, each with the tensor that it becomes */
export function decodeWithArrivals<T>(decode: () => T): readonly [T, readonly ArrivingTensor[]] {
  const outer = currentArrivals;
  const own: ArrivingTensor[] = [];
  currentArrivals = own;
  try {
    return [decode(), own];
  } finally {
    currentArrivals = outer;
  }
}

function writeTensor(w: Writer, value: unknown): void {
  if (!isTensor(value)) throw new TypeError(`expected a tensor, got ${describeValue(value)}`);
  const sent: SentTensor = value.distributed
    ? { case: "lent", value: lendTensor(value) }
    : { case: "value", value: copyTensorValue(value) };
  w.append(SentTensorCodec, sent);
}

function lendTensor(tensor: Tensor): TensorKey {
  if (currentLender !== undefined) return currentLender.lend(tensor);
  throw new TensorError(
    "ERR_TENSOR_PLACE",
    "its elements are on the processes of a mesh; it can be an argument of an endpoint of actors there, or send what await inspect(tensor) answers",
  );
}

/** The message may wait, and operations in place would change what it says. */
function copyTensorValue(tensor: Tensor): TensorValue {
  const own = toTensorValue(tensor);
  return { ...own, elements: own.elements.slice() };
}

function readTensor(r: Reader): unknown {
  const sent = r.next(SentTensorCodec);
  if (sent.case === "value") return fromTensorValue(sent.value);
  if (currentArrivals === undefined) {
    throw new TypeError("expected a tensor by value, got one of a mesh, which can only be an argument of an endpoint");
  }
  const empty = addon().emptyTensor() as Tensor;
  const filled = takeTensors(sent.value).then((brought) => {
    if ("failure" in brought) throw brought.failure;
    const [tensor] = brought.tensors;
    addon().moveTensor(tensor!, empty);
  });
  // A message may be given up before anybody waits for what is in it.
  filled.catch(() => {});
  currentArrivals.push({ key: sent.value, arrived: filled });
  return empty;
}
