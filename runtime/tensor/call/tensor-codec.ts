/**
 * Tensors in messages of actors. A tensor of the sending process is sent by value, so that the receiver owns a copy. A
 * tensor of a mesh can only be sent to actors on the procs of the mesh: the message contains its exchange key, and the
 * mesh's worker in the receiving process puts the local part of the tensor into the exchange under that key.
 */

import { type SentTensor, SentTensorCodec, type TensorKey, type TensorValue } from "../../../generated/tensor.js";
import { describeValue } from "../../../shared/text/describe-value.js";
import {
  type Codec,
  codec,
  extendWireEnvironment,
  type MessageHandles,
  messageHandles,
  type Reader,
  type Writer,
} from "../../codegen/v1/index.js";
import { TensorError } from "../errors.js";
import { addon } from "../operation/addon.js";
import { type ArrivingTensor, takeTensors } from "../rendezvous/rendezvous.js";
import { isTensor, type Tensor } from "../value/tensor.js";
import { fromTensorValue, toTensorValue } from "../value/tensor-value.js";

extendWireEnvironment({
  writeTensor: (w, value) => writeTensor(w, value, refuseToLend),
  readTensor: (r) => readTensor(r, undefined),
});

/**
 * Lends a tensor of a mesh to the receivers of a message, and returns the key of the exchange.
 *
 * @throws {TensorError} when the tensor cannot be lent to these receivers
 */
export type LendTensor = (tensor: Tensor) => TensorKey;

/** @hidden Returns the codec of tensors, for generated code. */
export function tensorCodec(): Codec<Tensor> {
  return codec.tensor<Tensor>();
}

/** Returns codecs of handles with which a message can contain tensors of a mesh. */
export function lendingHandles(lend: LendTensor): MessageHandles {
  return messageHandles({ writeTensor: (w, value) => writeTensor(w, value, lend) });
}

/**
 * Returns codecs of handles with which a message can contain tensors of a mesh.
 *
 * @param arriving receives the tensors whose elements arrive after the message; they are empty until then
 */
export function receivingHandles(arriving: ArrivingTensor[]): MessageHandles {
  return messageHandles({ readTensor: (r) => readTensor(r, arriving) });
}

/** The codecs of handles by which a message is written again in another layout. A tensor is a {@link SentTensor} meanwhile. */
export const forwardedHandles: MessageHandles = messageHandles({
  writeTensor: (w, value) => w.append(SentTensorCodec, value as SentTensor),
  readTensor: (r) => r.next(SentTensorCodec),
});

function writeTensor(w: Writer, value: unknown, lend: LendTensor): void {
  if (!isTensor(value)) throw new TypeError(`expected a tensor, got ${describeValue(value)}`);
  const sent: SentTensor = value.distributed
    ? { case: "lent", value: lend(value) }
    : { case: "value", value: copyTensorValue(value) };
  w.append(SentTensorCodec, sent);
}

function refuseToLend(): never {
  throw new TensorError(
    "ERR_TENSOR_PLACE",
    "its elements are on the processes of a mesh; it can be an argument of an endpoint of actors there, or send what await inspect(tensor) answers",
  );
}

/** Copies the elements, since the message can wait for credit while operations in place change the tensor. */
function copyTensorValue(tensor: Tensor): TensorValue {
  const own = toTensorValue(tensor);
  return { ...own, elements: own.elements.slice() };
}

function readTensor(r: Reader, arriving: ArrivingTensor[] | undefined): unknown {
  const sent = r.next(SentTensorCodec);
  if (sent.case === "value") return fromTensorValue(sent.value);
  if (arriving === undefined) {
    throw new TypeError("expected a tensor by value, got one of a mesh, which can only be an argument of an endpoint");
  }
  if (sent.case !== "lent") throw new TypeError("expected a tensor, got one of a newer version of viceroy");
  const empty = addon().emptyTensor() as Tensor;
  const arrived = takeTensors(sent.value).then((result) => {
    if ("failure" in result) throw result.failure;
    const [tensor] = result.tensors;
    addon().moveTensor(tensor!, empty);
  });
  // If the message is dropped, nothing awaits this promise.
  arrived.catch(() => {});
  arriving.push({ key: sent.value, arrived });
  return empty;
}
