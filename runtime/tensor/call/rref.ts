/**
 * `rref`: a call whose results become tensors of the mesh of procs that the actors live on. If the shapes are known when the
 * call is made, the workers wait for the results when they reach this command; otherwise only the caller waits for the shapes.
 */

import type { KeptAnswer, TensorKey, TensorType } from "../../../generated/tensor.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import type { RetainedOutcome, RetainingCall } from "../../codegen/v1/index.js";
import type { Dtype } from "../argument-types.js";
import { currentCallSite } from "../call-site.js";
import { TensorError } from "../errors.js";
import { activeMeshOnProcs } from "../mesh/active-meshes.js";
import { dropExchange, exchangeActorsOf, failExchange } from "../mesh/exchange-actors.js";
import type { TensorMesh } from "../mesh/tensor-mesh.js";
import type { Tensor } from "../value/tensor.js";
import { formatTensorType, isSameTensorType, tensorTypeOf } from "../value/tensor-type.js";
import { isDtype } from "../value/typed-array.js";

/** Shape and type of a tensor, without its elements. Tensors have both properties. */
export interface TensorShape {
  /** The size of each dimension, the outermost first. */
  readonly shape: readonly number[];
  /** The type of the elements. */
  readonly dtype: Dtype;
}

/** One tensor, or a list of them. */
export type ResultShapes = TensorShape | readonly TensorShape[];

/** The shapes of a result of type `R`, in which each tensor is replaced by its shape and type. */
export type ShapesOf<R> = R extends Tensor ? TensorShape : { readonly [K in keyof R]: ShapesOf<R[K]> };

/** An `rref` that has not ended. */
interface RetainedExchange {
  readonly mesh: TensorMesh;
  readonly call: RetainingCall;
  readonly key: TensorKey;
  /** The place in the program that called `rref`. */
  readonly callSite: string;
}

/** @param shapes computes the shapes of the results from the arguments; undefined: the results have the shapes */
export function rref(call: RetainingCall, shapes: ((...args: never[]) => ResultShapes) | undefined): unknown {
  const mesh = activeMeshOnProcs(call.procs);
  if (mesh === undefined) {
    throw new TensorError(
      "ERR_TENSOR_INACTIVE",
      `cannot rref ${call.label}: the processes of its actors are no mesh that is active; ` +
        "activate the mesh of processes that they were spawned on, and call all of them",
    );
  }
  // Failures are reported through these actors, so they are spawned first.
  exchangeActorsOf(mesh);
  const exchange = { mesh, call, key: mesh.newExchangeKey(), callSite: currentCallSite() };
  if (shapes === undefined) return tensorsWhenAnswered(exchange, call.send(exchange.key));
  const told = shapes(...(call.args as never[]));
  const list = isList(told);
  const types = (list ? told : [told]).map((type) => checkedShape(call.label, type));
  void failMissingResults(exchange, call.send(exchange.key));
  return takeAsTensors(exchange, types, list);
}

/** Reports failed calls to the procs whose workers wait for the results. */
async function failMissingResults(
  { mesh, key }: RetainedExchange,
  outcomes: PromiseLike<Iterable<RetainedOutcome>>,
): Promise<void> {
  let reasons: readonly unknown[];
  try {
    reasons = [...(await outcomes)].map((outcome) => (outcome.status === "rejected" ? outcome.reason : undefined));
  } catch (error) {
    reasons = mesh.procIds.map(() => error);
  }
  for (const [rank, reason] of reasons.entries()) {
    if (reason !== undefined) failExchange(mesh, key, rank, errorMessage(reason));
  }
}

/** Waits for the shapes of the results, which must be equal on all procs. */
async function tensorsWhenAnswered(
  exchange: RetainedExchange,
  sent: PromiseLike<Iterable<RetainedOutcome>>,
): Promise<unknown> {
  const { mesh, call, key } = exchange;
  const outcomes = [...(await sent)];
  try {
    const answers = outcomes.map((outcome) => {
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value as KeptAnswer;
    });
    const { types, list } = answers[0]!;
    const other = answers.findIndex((answer) => !haveSameTypes(answer.types, types) || answer.list !== list);
    if (other < 0) return takeAsTensors(exchange, types.map(tensorShapeOf), list);
    throw new TensorError(
      "ERR_TENSOR_FAILED",
      `cannot rref ${call.label}: rank 0 answered ${formatResult(answers[0]!)}, rank ${other} ${formatResult(answers[other]!)}; ` +
        "a tensor of a mesh has one shape and one type",
    );
  } catch (error) {
    for (const [rank, { status }] of outcomes.entries()) if (status === "fulfilled") dropExchange(mesh, key, rank);
    throw error;
  }
}

/** Tells the workers to take the results as tensors of the mesh. */
function takeAsTensors(
  { mesh, call, key, callSite }: RetainedExchange,
  types: readonly TensorShape[],
  list: boolean,
): unknown {
  const made = types.map(({ shape, dtype }) => mesh.declareResult(shape, dtype));
  const places = made.map(([, reference], at) => ({ reference, type: tensorTypeOf(types[at]!) }));
  mesh.sendToWorkers([...mesh.procIds.keys()], (worker) =>
    worker.take.broadcast(key.number, places, call.label, callSite),
  );
  const tensors = made.map(([tensor]) => tensor);
  return list ? tensors : tensors[0];
}

function checkedShape(label: string, type: TensorShape): TensorShape {
  const { shape, dtype } = type;
  const valid =
    Array.isArray(shape) && shape.every((size) => Number.isSafeInteger(size) && size >= 0) && isDtype(dtype);
  if (valid) return { shape, dtype };
  throw new TypeError(
    `cannot rref ${label}: its @propagate must answer shape and dtype of each tensor, got ${JSON.stringify({ shape, dtype })}`,
  );
}

function isList(shapes: ResultShapes): shapes is readonly TensorShape[] {
  return Array.isArray(shapes);
}

function tensorShapeOf({ dtype, shape }: TensorType): TensorShape {
  return { dtype: dtype as Dtype, shape: shape.map(Number) };
}

function haveSameTypes(a: readonly TensorType[], b: readonly TensorType[]): boolean {
  return a.length === b.length && a.every((type, at) => isSameTensorType(type, b[at]!));
}

function formatResult({ types, list }: KeptAnswer): string {
  const texts = types.map(formatTensorType).join(", ");
  return list ? `[${texts}]` : texts;
}
