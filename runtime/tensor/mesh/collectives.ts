/** Operations between the processes of a mesh: which processes take part, and what is wrong with how that was said. */
import { callOperation, Operation } from "../operation/operation.js";
import type { Tensor } from "../value/tensor.js";
import { requireMeshOf } from "./tensor-mesh.js";

/** How elements of several procs are combined. */
export type Reduction = "sum" | "avg" | "max" | "min" | "prod";

/** A dimension of a mesh, or several, the outermost first. */
export type Along = string | readonly string[];

/** The options of operations that cut or join tensors. */
export interface CutOptions {
  /** The dimension of the tensor; a negative number counts from the last dimension. Default: 0. */
  readonly dim?: number;
}

/** A place among the processes along dimensions. */
interface CollectiveGroup {
  /** What the operations of the addon are told: dimensions by their places in the extent, and how many processes they have together. */
  readonly dimensions: readonly number[];
  readonly ranks: number;
}

/** Operations of the addon, by the methods that are these. */
const collectiveOperations = {
  reduce: new Operation("viceroy::all_reduce"),
  allGather: new Operation("viceroy::all_gather"),
  reduceScatter: new Operation("viceroy::reduce_scatter"),
  allToAll: new Operation("viceroy::all_to_all"),
  broadcastFrom: new Operation("viceroy::broadcast"),
  sendTo: new Operation("viceroy::permute"),
} as const;

/** @throws TensorError, RangeError that begin with `cannot <method>` */
export function callCollective(
  tensor: object,
  method: keyof typeof collectiveOperations,
  along: Along,
  rest: readonly unknown[],
): Tensor {
  const { dimensions: places, ranks } = groupAlong(tensor as Tensor, method, along);
  return callOperation(collectiveOperations[method], [tensor, places, ranks, ...rest]) as Tensor;
}

/** @throws RangeError for a place that there is not */
export function broadcastFrom(tensor: object, along: Along, index: number): Tensor {
  const { ranks } = groupAlong(tensor as Tensor, "broadcastFrom", along);
  checkRankIndex("broadcastFrom", index, ranks);
  return callCollective(tensor, "broadcastFrom", along, [index]);
}

/** @throws RangeError for places that there are not, or that would get more than one tensor */
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
  const { mesh } = requireMeshOf(
    tensor,
    verb,
    "the tensor is of this process alone, and there is nobody to exchange elements with",
  );
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
