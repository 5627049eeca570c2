/**
 * The rendezvous of a process, through which its worker and its actors exchange tensors. Put and take come in any order. Each
 * exchange has one put and one take.
 */
import type { TensorKey } from "../../../generated/tensor.js";
import type { Tensor } from "../value/tensor.js";

/** The tensors of one exchange, or the reason why there are none. */
export type ExchangeResult = { readonly tensors: readonly Tensor[] } | { readonly failure: Error };

/** A tensor that a message refers to by its key and that arrives separately. */
export interface ArrivingTensor {
  readonly key: TensorKey;
  /** Resolves when the tensor has arrived. */
  readonly arrived: Promise<void>;
}

interface ExchangeSlot {
  readonly promise: Promise<ExchangeResult>;
  readonly resolve: (result: ExchangeResult) => void;
  hasResult: boolean;
  isAwaited: boolean;
}

/** Slots by the number of the mesh, then by the number of the exchange. */
const slotsByMesh = new Map<bigint, Map<bigint, ExchangeSlot>>();

/** The meshes that ended last, so that late messages for them create no slots. */
const endedMeshes = new Set<bigint>();
const MAX_ENDED_MESHES = 4096;

/** Puts tensors or a failure into an exchange. A second put is ignored. */
export function putTensors(key: TensorKey, result: ExchangeResult | PromiseLike<ExchangeResult>): void {
  const { mesh, number } = key;
  const place = slotOf(key);
  if (place === undefined || place.hasResult) return;
  place.hasResult = true;
  if ("then" in result) {
    result.then(place.resolve, (failure: Error) => place.resolve({ failure }));
  } else place.resolve(result);
  if (place.isAwaited) slotsByMesh.get(mesh)?.delete(number);
}

/** Returns whether an exchange is awaited or known and has no result. */
export function isMissing({ mesh, number }: TensorKey): boolean {
  return slotsByMesh.get(mesh)?.get(number)?.hasResult === false;
}

/** Takes the result of an exchange. Resolves after the put. */
export function takeTensors(key: TensorKey): Promise<ExchangeResult> {
  const { mesh, number } = key;
  const place = slotOf(key);
  if (place === undefined) return Promise.resolve({ failure: endedError() });
  place.isAwaited = true;
  if (place.hasResult) slotsByMesh.get(mesh)?.delete(number);
  return place.promise;
}

/** Ends all exchanges of a mesh that has ended. Pending takes get a failure. */
export function endExchanges(mesh: bigint): void {
  if (endedMeshes.size >= MAX_ENDED_MESHES) endedMeshes.delete(endedMeshes.values().next().value as bigint);
  endedMeshes.add(mesh);
  const places = slotsByMesh.get(mesh);
  slotsByMesh.delete(mesh);
  for (const place of places?.values() ?? []) place.resolve({ failure: endedError() });
}

/** Returns the slot of an exchange, which is created if necessary; undefined if the mesh has ended. */
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
