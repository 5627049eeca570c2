/** Connects the workers of a mesh, by exchanging their addresses through actor messages. */
import type { TensorAddresses, TensorEnd, TensorWorkerMesh } from "../../../generated/tensor.js";

/**
 * Collects the addresses of all workers and sends all of them to each worker. Workers on one machine share memory; they
 * listen for connections only if the mesh has several machines.
 * @param extent sizes of the dimensions of the mesh
 */
export async function connectWorkers(workers: TensorWorkerMesh<string>, extent: readonly number[]): Promise<void> {
  const ranks = extent.reduce((product, size) => product * size, 1);
  const ends: TensorEnd[] = [...(await workers.offer.call(ranks)).values()];
  const addresses: TensorAddresses[] = [];
  if (ends.some(({ machine }) => machine !== ends[0]!.machine)) {
    addresses.push(...(await workers.listen.call()).values());
  }
  await workers.join.call([...extent], ends, addresses);
}
