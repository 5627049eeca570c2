/**
 * What generated code gives to endpoints with tensors: tensors of a mesh as arguments, answers that stay with the actors. What goes to an
 * actor is a copy, made when all that was recorded before the call has been executed; what comes from it is a copy as well.
 */
import { type KeptAnswer, KeptAnswerCodec, type TensorKey, TensorKeyCodec } from "../../../generated/tensor.js";
import {
  type Addressed,
  type ArgumentsLayout,
  type Codec,
  codec,
  type KeptCall,
  type TensorSupport,
  type TensorTurn,
} from "../../codegen/v1/index.js";
import { TensorError } from "../errors.js";
import { meshOf } from "../mesh/active-meshes.js";
import type { TensorMesh } from "../mesh/tensor-mesh.js";
import { registerAnsweringTurn, waitForTensors } from "../rendezvous/deadlock-detection.js";
import type { ArrivingTensor } from "../rendezvous/rendezvous.js";
import { retainResult } from "../rendezvous/retained-result.js";
import { type ResultShapes, rref, type ShapesOf } from "./rref.js";
import { decodeWithArrivals, resetLender, type TensorLender, withLender } from "./tensor-codec.js";

/** A tensor of a mesh that an actor is given. */
interface LentTensor {
  readonly mesh: TensorMesh;
  readonly reference: bigint;
  readonly key: TensorKey;
  readonly ranks: readonly number[];
}

const arrivingTensors = new WeakMap<readonly unknown[], readonly ArrivingTensor[]>();

class TensorInterceptor implements TensorSupport {
  readonly propagates: boolean;
  readonly keptResult = KeptAnswerCodec as Codec<unknown>;
  readonly #resultShapes: ((...args: never[]) => ResultShapes) | undefined;

  constructor(propagates: boolean, shapes: ((...args: never[]) => ResultShapes) | undefined) {
    this.propagates = propagates;
    this.#resultShapes = shapes;
  }

  lend<T>(to: Addressed, send: () => T): T {
    let lent: LentTensor[] = [];
    const lender: TensorLender = {
      reset: () => {
        lent = [];
      },
      lend: (tensor) => {
        const { mesh, reference } = meshOf(tensor)!;
        const key = mesh.newExchangeKey();
        lent.push({ mesh, reference: BigInt(reference), key, ranks: receiverRanks(mesh, to) });
        return key;
      },
    };
    const sent = withLender(lender, send);
    if (sent instanceof Error) return sent;
    for (const { mesh, reference, key, ranks } of lent) {
      mesh.sendToWorkers(ranks, (worker) => worker.lend.broadcast(reference, key));
    }
    return sent;
  }

  sending(layout: ArgumentsLayout): ArgumentsLayout {
    return {
      plain: layout,
      encodeInto: (w, value) => {
        resetLender();
        layout.encodeInto(w, value);
      },
      decodeFrom: (r) => layout.decodeFrom(r),
    };
  }

  receiving(layout: ArgumentsLayout): ArgumentsLayout {
    return {
      encodeInto: (w, value) => layout.encodeInto(w, value),
      decodeFrom: (r) => {
        const [args, coming] = decodeWithArrivals(() => layout.decodeFrom(r));
        if (coming.length > 0) arrivingTensors.set(args, coming);
        return args;
      },
    };
  }

  arriving(args: readonly unknown[], turn: TensorTurn): Promise<void> | undefined {
    const coming = arrivingTensors.get(args);
    return coming === undefined ? undefined : waitForTensors(coming, turn);
  }

  answering(key: unknown, turn: TensorTurn): () => void {
    return registerAnsweringTurn(key as TensorKey, turn);
  }

  keptArgs(args: Codec<readonly unknown[]>): Codec<readonly unknown[]> {
    return codec.tuple(TensorKeyCodec, args) as Codec<readonly unknown[]>;
  }

  keep(label: string, key: unknown, answer: unknown): KeptAnswer {
    return retainResult(label, key as TensorKey, answer);
  }

  rref(call: KeptCall): unknown {
    return rref(call, this.#resultShapes);
  }
}

/** @internal For endpoints that take tensors, and answer here. */
export const tensorArguments: TensorSupport = new TensorInterceptor(false, undefined);

/**
 * @internal For endpoints with a `@propagate`.
 * @param shapes what its function tells; without one shapes are known when all actors have answered
 */
export function propagated<A extends unknown[], R>(shapes?: (...args: A) => ShapesOf<R>): TensorSupport {
  return new TensorInterceptor(true, shapes as ((...args: never[]) => ResultShapes) | undefined);
}

/** Where in a mesh they are who are addressed. @throws TensorError if one of them is elsewhere */
function receiverRanks(mesh: TensorMesh, { procs }: Addressed): readonly number[] {
  const { procIds } = mesh;
  const ranks = procs.map((proc) => procIds.indexOf(proc));
  if (!ranks.includes(-1)) return ranks;
  throw new TensorError(
    "ERR_TENSOR_PLACE",
    `it is a tensor of mesh ${mesh.procs}, and actors that are called are on other processes; send what await inspect(tensor) answers`,
  );
}
