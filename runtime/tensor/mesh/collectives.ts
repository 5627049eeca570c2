/** Collective operations: checks which procs take part, and records the operation. */
import { callOperation, TensorOperation } from "../operation/operation.js";
import type { Tensor } from "../value/tensor.js";
import { requireDistributed } from "./active-meshes.js";

/** The operation that combines elements of several procs. */
export type Reduction = "sum" | "avg" | "max" | "min" | "prod";

/** A dimension of a mesh, or several, the outermost first. */
export type Along = string | readonly string[];

/** The options of operations that cut or join tensors. */
export interface CutOptions {
  /** The dimension of the tensor; a negative number counts from the last dimension. Default: 0. */
  readonly dim?: number;
}

/** The procs that exchange elements with each other. */
interface CollectiveGroup {
  /** The positions of the dimensions in the extent of the mesh. */
  readonly dimensions: readonly number[];
  /** The number of procs in each group. */
  readonly ranks: number;
}

/** The operations of the addon, by the names of the methods. */
const collectiveOperations = {
  reduce: new TensorOperation("viceroy::all_reduce"),
  allGather: new TensorOperation("viceroy::all_gather"),
  reduceScatter: new TensorOperation("viceroy::reduce_scatter"),
  allToAll: new TensorOperation("viceroy::all_to_all"),
  broadcastFrom: new TensorOperation("viceroy::broadcast"),
  sendTo: new TensorOperation("viceroy::permute"),
} as const;

/**
 * Records a collective operation.
 *
 * @throws {TensorError} `cannot <method>: …` when the tensor lives in this process
 * @throws {RangeError} `cannot <method> …` when a dimension does not exist
 */
export function callCollective(
  tensor: object,
  method: keyof typeof collectiveOperations,
  along: Along,
  rest: readonly unknown[],
): Tensor {
  const { dimensions, ranks } = groupAlong(tensor as Tensor, method, along);
  return callOperation(collectiveOperations[method], [tensor, dimensions, ranks, ...rest]) as Tensor;
}

/** @throws {RangeError} when the index does not exist */
export function broadcastFrom(tensor: object, along: Along, index: number): Tensor {
  const { ranks } = groupAlong(tensor as Tensor, "broadcastFrom", along);
  checkRankIndex("broadcastFrom", index, ranks);
  return callCollective(tensor, "broadcastFrom", along, [index]);
}

/** @throws {RangeError} when an index does not exist, or would receive more than one tensor */
export function sendTo(tensor: object, along: Along, to: readonly (number | null)[]): Tensor {
  const { ranks } = groupAlong(tensor as Tensor, "sendTo", along);
  if (to.length !== ranks) {
    throw new RangeError(`cannot sendTo: it says where to for ${to.length} of ${ranks} processes`);
  }
  for (const index of to) {
    if (index === null) continue;
    checkRankIndex("sendTo", index, ranks);
    if (to.indexOf(index) !== to.lastIndexOf(index)) {
      throw new RangeError(`cannot sendTo: process ${index} would be sent more than one tensor`);
    }
  }
  return callCollective(tensor, "sendTo", along, [to.map((index) => index ?? -1)]);
}

function checkRankIndex(verb: string, index: number, ranks: number): void {
  if (Number.isInteger(index) && index >= 0 && index < ranks) return;
  throw new RangeError(`cannot ${verb}: there is no process ${index} among ${ranks}`);
}

function groupAlong(tensor: Tensor, verb: string, along: Along): CollectiveGroup {
  const why = "the tensor is of this process alone, and there is nobody to exchange elements with";
  const { mesh } = requireDistributed(tensor, verb, why);
  const names = Object.keys(mesh.extent);
  const wanted = typeof along === "string" ? [along] : along;
  for (const name of wanted) {
    if (names.includes(name)) continue;
    throw new RangeError(
      `cannot ${verb} along "${name}": the mesh has ${names.length === 0 ? "no dimensions" : names.map((one) => `"${one}"`).join(", ")}`,
    );
  }
  if (wanted.length === 0) throw new RangeError(`cannot ${verb}: no dimension of the mesh is named`);
  if (new Set(wanted).size !== wanted.length) {
    throw new RangeError(`cannot ${verb} along ${wanted.join(", ")}: a dimension is named twice`);
  }
  mesh.connect();
  return {
    dimensions: wanted.map((name) => names.indexOf(name)),
    ranks: wanted.reduce((product, name) => product * mesh.extent[name]!, 1),
  };
}
