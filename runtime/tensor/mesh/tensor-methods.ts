/**
 * The methods of tensors that move elements between the procs of a mesh. They are declared and defined here, and not in the
 * class, because tensors of one process know nothing of meshes.
 */
import { TensorObject } from "../value/tensor.js";
import { type Along, broadcastFrom, type CutOptions, callCollective, type Reduction, sendTo } from "./collectives.js";
import type { Part } from "./mesh-options.js";
import { redistribute, redistributeToSlice } from "./redistribute.js";
import type { TensorMesh } from "./tensor-mesh.js";

declare module "../value/tensor.js" {
  interface TensorObject {
    /**
     * Combines the tensors of the procs along dimensions of the mesh, element by element. All of them get the result.
     *
     * @param along one dimension of the mesh, or several
     * @param reduction how elements are combined
     * @throws {RangeError} when the mesh does not have the dimension
     * @throws {TensorError} when the tensor lives in this process
     */
    reduce(along: Along, reduction: Reduction): Tensor;
    /**
     * Joins the tensors of the procs along a dimension of the tensor. All of them get the result.
     *
     * @param along one dimension of the mesh, or several
     * @param options the dimension of the tensor
     * @throws {RangeError} when a dimension does not exist
     * @throws {TensorError} when the tensor lives in this process
     */
    allGather(along: Along, options?: CutOptions): Tensor;
    /**
     * Combines the tensors of the procs, and cuts the result into one part for each of them.
     *
     * @param along one dimension of the mesh, or several
     * @param reduction how elements are combined
     * @param options the dimension of the tensor that is cut
     * @throws {RangeError} when a dimension does not exist, or cannot be cut into equal parts
     * @throws {TensorError} when the tensor lives in this process
     */
    reduceScatter(along: Along, reduction: Reduction, options?: CutOptions): Tensor;
    /**
     * Cuts the tensor of each proc into parts, sends part `i` to proc `i`, and joins the received parts.
     *
     * @param along one dimension of the mesh, or several
     * @param options the dimension of the tensor that is cut and joined
     * @throws {RangeError} when a dimension does not exist, or cannot be cut into equal parts
     * @throws {TensorError} when the tensor lives in this process
     */
    allToAll(along: Along, options?: CutOptions): Tensor;
    /**
     * Sends the tensor of one proc to all procs along the dimensions.
     *
     * @param along one dimension of the mesh, or several
     * @param index the index of the sender along the dimensions, from 0
     * @throws {RangeError} when the dimension or the index does not exist
     * @throws {TensorError} when the tensor lives in this process
     */
    broadcastFrom(along: Along, index: number): Tensor;
    /**
     * Sends the tensor of proc `i` along the dimensions to proc `to[i]`. A proc that receives nothing has zeros.
     *
     * @param along one dimension of the mesh, or several
     * @param to the index of each receiver, from 0, or null to send nothing
     * @throws {RangeError} when a dimension or an index does not exist
     * @throws {TensorError} when the tensor lives in this process
     */
    sendTo(along: Along, to: readonly (number | null)[]): Tensor;
    /**
     * Returns the tensor on a part of its procs, without gradient. Operations on it run on those procs only.
     *
     * @param part the part of the mesh
     * @throws {RangeError} when the mesh does not have the part
     * @throws {TensorError} when the tensor lives in this process
     */
    sliceMesh(part: Part): Tensor;
    /**
     * Returns the tensor on another active mesh, without gradient. A proc of both meshes keeps its elements; another proc
     * gets those of the proc with the same rank.
     *
     * @param mesh a mesh with the same number of procs, unless it shares procs with that of the tensor
     * @throws {RangeError} when the meshes do not fit
     * @throws {TensorError} when the tensor lives in this process
     */
    toMesh(mesh: TensorMesh): Tensor;
  }
}

const methods: Pick<
  TensorObject,
  "reduce" | "allGather" | "reduceScatter" | "allToAll" | "broadcastFrom" | "sendTo" | "sliceMesh" | "toMesh"
> &
  ThisType<TensorObject> = {
  reduce(along: Along, reduction: Reduction) {
    return callCollective(this, "reduce", along, [reduction]);
  },
  allGather(along: Along, { dim = 0 }: CutOptions = {}) {
    return callCollective(this, "allGather", along, [dim]);
  },
  reduceScatter(along: Along, reduction: Reduction, { dim = 0 }: CutOptions = {}) {
    return callCollective(this, "reduceScatter", along, [reduction, dim]);
  },
  allToAll(along: Along, { dim = 0 }: CutOptions = {}) {
    return callCollective(this, "allToAll", along, [dim]);
  },
  broadcastFrom(along: Along, index: number) {
    return broadcastFrom(this, along, index);
  },
  sendTo(along: Along, to: readonly (number | null)[]) {
    return sendTo(this, along, to);
  },
  sliceMesh(part: Part) {
    return redistributeToSlice(this, part);
  },
  toMesh(mesh: TensorMesh) {
    return redistribute(this, mesh);
  },
};
for (const [name, value] of Object.entries(methods)) {
  Object.defineProperty(TensorObject.prototype, name, { value, configurable: true, writable: true });
}
