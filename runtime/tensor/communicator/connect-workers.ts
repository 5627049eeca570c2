/** How the processes of a mesh come to reach each other: who tells whom what, by messages of actors. */
import type { TensorAddresses, TensorEnd, TensorWorkerMesh } from "../../../generated/tensor.js";

/**
 * Each tells how it is reached, and all are told of all. Of one machine they share memory; only where there are several do they listen for
 * others.
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
