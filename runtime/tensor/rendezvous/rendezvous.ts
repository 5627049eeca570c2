/**
 * Where tensors change hands in a process: between its tensors of a mesh and its actors. Who brings one and who wants it come in any
 * order, by ways of their own; each is brought once and taken once.
 */
import type { TensorKey } from "../../../generated/tensor.js";
import type { Tensor } from "../value/tensor.js";

/** The tensors of one exchange, or why there are none. */
export type ExchangeResult = { readonly tensors: readonly Tensor[] } | { readonly failure: Error };

/** A tensor that a message refers to and that comes to this process by itself. */
export interface ArrivingTensor {
  readonly key: TensorKey;
  /** Resolves when the tensor is here. */
  readonly arrived: Promise<void>;
}

interface ExchangeSlot {
  readonly promise: Promise<ExchangeResult>;
  readonly resolve: (brought: ExchangeResult) => void;
  hasResult: boolean;
  isAwaited: boolean;
}

/** By the number of the mesh, then by that of the exchange. */
const slotsByMesh = new Map<bigint, Map<bigint, ExchangeSlot>>();

/** Meshes that have ended, as far back as messages about them may still come. */
const endedMeshes = new Set<bigint>();
const MAX_ENDED_MESHES = 4096;

/** Brings tensors, or a failure. What is brought a second time is not needed. */
export function putTensors(key: TensorKey, brought: ExchangeResult | PromiseLike<ExchangeResult>): void {
  const { mesh, number } = key;
  const place = slotOf(key);
  if (place === undefined || place.hasResult) return;
  place.hasResult = true;
  if ("then" in brought) {
    brought.then(place.resolve, (failure: Error) => place.resolve({ failure }));
  } else place.resolve(brought);
  if (place.isAwaited) slotsByMesh.get(mesh)?.delete(number);
}

/** Whether nobody has brought it yet. */
export function isMissing({ mesh, number }: TensorKey): boolean {
  return slotsByMesh.get(mesh)?.get(number)?.hasResult === false;
}

/** Takes what is brought, once it is there. */
export function takeTensors(key: TensorKey): Promise<ExchangeResult> {
  const { mesh, number } = key;
  const place = slotOf(key);
  if (place === undefined) return Promise.resolve({ failure: endedError() });
  place.isAwaited = true;
  if (place.hasResult) slotsByMesh.get(mesh)?.delete(number);
  return place.promise;
}

/** A mesh has ended in this process: nobody waits for it any more. */
export function endExchanges(mesh: bigint): void {
  if (endedMeshes.size >= MAX_ENDED_MESHES) endedMeshes.delete(endedMeshes.values().next().value as bigint);
  endedMeshes.add(mesh);
  const places = slotsByMesh.get(mesh);
  slotsByMesh.delete(mesh);
  for (const place of places?.values() ?? []) place.resolve({ failure: endedError() });
}

/** Undefined: the mesh has ended. */
function slotOf({ mesh, number }: TensorKey): ExchangeSlot | undefined {
  if (endedMeshes.has(mesh)) return undefined;
  let places = slotsByMesh.get(mesh);
  if (places === undefined) {
    places = new Map();
    slotsByMesh.set(mesh, places);
  }
  let place = places.get(number);
  if (place === undefined) {
    let resolve!: ExchangeSlot["resolve"];
    const promise = new Promise<ExchangeResult>((done) => {
      resolve = done;
    });
    place = { promise, resolve, hasResult: false, isAwaited: false };
    places.set(number, place);
  }
  return place;
}

function endedError(): Error {
  return new Error("the mesh that the tensor is of is not active any more");
}
