/**
 * Where tensors change hands in a process: between its tensors of a mesh and its actors. Who brings one and who wants it come in any
 * order, by ways of their own; each is brought once and taken once.
 */
import type { TensorKey } from "../../generated/tensor.js";
import type { Tensor } from "./tensor.js";

/** The tensors of one exchange, or why there are none. */
export type Brought = { readonly tensors: readonly Tensor[] } | { readonly failure: Error };

interface Place {
  readonly promise: Promise<Brought>;
  readonly resolve: (brought: Brought) => void;
  brought: boolean;
  wanted: boolean;
}

/** By the number of the mesh, then by that of the exchange. */
const meshes = new Map<bigint, Map<bigint, Place>>();

/** Meshes that have ended, as far back as messages about them may still come. */
const ended = new Set<bigint>();
const MOST_ENDED = 4096;

/** Brings tensors, or a failure. What is brought a second time is not needed. */
export function bring(key: TensorKey, brought: Brought | PromiseLike<Brought>): void {
  const { mesh, number } = key;
  const place = placeOf(key);
  if (place === undefined || place.brought) return;
  place.brought = true;
  if ("then" in brought) {
    brought.then(place.resolve, (failure: Error) => place.resolve({ failure }));
  } else place.resolve(brought);
  if (place.wanted) meshes.get(mesh)?.delete(number);
}

/** Whether nobody has brought it yet. */
export function isMissing({ mesh, number }: TensorKey): boolean {
  return meshes.get(mesh)?.get(number)?.brought === false;
}

/** Takes what is brought, once it is there. */
export function take(key: TensorKey): Promise<Brought> {
  const { mesh, number } = key;
  const place = placeOf(key);
  if (place === undefined) return Promise.resolve({ failure: endedError() });
  place.wanted = true;
  if (place.brought) meshes.get(mesh)?.delete(number);
  return place.promise;
}

/** A mesh has ended in this process: nobody waits for it any more. */
export function endExchanges(mesh: bigint): void {
  if (ended.size >= MOST_ENDED) ended.delete(ended.values().next().value as bigint);
  ended.add(mesh);
  const places = meshes.get(mesh);
  meshes.delete(mesh);
  for (const place of places?.values() ?? []) place.resolve({ failure: endedError() });
}

/** Undefined: the mesh has ended. */
function placeOf({ mesh, number }: TensorKey): Place | undefined {
  if (ended.has(mesh)) return undefined;
  let places = meshes.get(mesh);
  if (places === undefined) {
    places = new Map();
    meshes.set(mesh, places);
  }
  let place = places.get(number);
  if (place === undefined) {
    let resolve!: Place["resolve"];
    const promise = new Promise<Brought>((done) => {
      resolve = done;
    });
    place = { promise, resolve, brought: false, wanted: false };
    places.set(number, place);
  }
  return place;
}

function endedError(): Error {
  return new Error("the mesh that the tensor is of is not active any more");
}
