/**
 * What generated code gives to endpoints with tensors: tensors of a mesh as arguments, answers that stay with the actors. What goes to an
 * actor is a copy, made when all that was recorded before the call has been executed; what comes from it is a copy as well.
 */
import { type KeptAnswer, KeptAnswerCodec, type TensorKey, TensorKeyCodec } from "../../generated/tensor.js";
import {
  type Addressed,
  type ArgumentsLayout,
  type Codec,
  codec,
  type KeptCall,
  type TensorSupport,
  type TensorTurn,
} from "../codegen/v1/index.js";
import { TensorError } from "./errors.js";
import { keepAnswer } from "./kept.js";
import { meshOf, type TensorMesh } from "./mesh.js";
import { rref, type Shapes, type ShapesOf } from "./rref.js";
import { answering, waitFor } from "./waits.js";
import { beginLending, type Coming, type Lender, lending, receiving } from "./wire.js";

/** A tensor of a mesh that an actor is given. */
interface Lent {
  readonly mesh: TensorMesh;
  readonly reference: bigint;
  readonly key: TensorKey;
  readonly ranks: readonly number[];
}

const onTheWay = new WeakMap<readonly unknown[], readonly Coming[]>();

class Support implements TensorSupport {
  readonly propagates: boolean;
  readonly keptResult = KeptAnswerCodec as Codec<unknown>;
  readonly #shapes: ((...args: never[]) => Shapes) | undefined;

  constructor(propagates: boolean, shapes: ((...args: never[]) => Shapes) | undefined) {
    this.propagates = propagates;
    this.#shapes = shapes;
  }

  lend<T>(to: Addressed, send: () => T): T {
    let lent: Lent[] = [];
    const lender: Lender = {
      begin: () => {
        lent = [];
      },
      lend: (tensor) => {
        const { mesh, reference } = meshOf(tensor)!;
        const key = mesh.newKey();
        lent.push({ mesh, reference: BigInt(reference), key, ranks: ranksOf(mesh, to) });
        return key;
      },
    };
    const sent = lending(lender, send);
    if (sent instanceof Error) return sent;
    for (const { mesh, reference, key, ranks } of lent) {
      mesh.tell(ranks, (worker) => worker.lend.broadcast(reference, key));
    }
    return sent;
  }

  sending(layout: ArgumentsLayout): ArgumentsLayout {
    return {
      plain: layout,
      encodeInto: (w, value) => {
        beginLending();
        layout.encodeInto(w, value);
      },
      decodeFrom: (r) => layout.decodeFrom(r),
    };
  }

  receiving(layout: ArgumentsLayout): ArgumentsLayout {
    return {
      encodeInto: (w, value) => layout.encodeInto(w, value),
      decodeFrom: (r) => {
        const [args, coming] = receiving(() => layout.decodeFrom(r));
        if (coming.length > 0) onTheWay.set(args, coming);
        return args;
      },
    };
  }

  arriving(args: readonly unknown[], turn: TensorTurn): Promise<void> | undefined {
    const coming = onTheWay.get(args);
    return coming === undefined ? undefined : waitFor(coming, turn);
  }

  answering(key: unknown, turn: TensorTurn): () => void {
    return answering(key as TensorKey, turn);
  }

  keptArgs(args: Codec<readonly unknown[]>): Codec<readonly unknown[]> {
    return codec.tuple(TensorKeyCodec, args) as Codec<readonly unknown[]>;
  }

  keep(label: string, key: unknown, answer: unknown): KeptAnswer {
    return keepAnswer(label, key as TensorKey, answer);
  }

  rref(call: KeptCall): unknown {
    return rref(call, this.#shapes);
  }
}

/** @internal For endpoints that take tensors, and answer here. */
export const tensorArguments: TensorSupport = new Support(false, undefined);

/**
 * @internal For endpoints with a `@propagate`.
 * @param shapes what its function tells; without one shapes are known when all actors have answered
 */
export function propagated<A extends unknown[], R>(shapes?: (...args: A) => ShapesOf<R>): TensorSupport {
  return new Support(true, shapes as ((...args: never[]) => Shapes) | undefined);
}

/** Where in a mesh they are who are addressed. @throws TensorError if one of them is elsewhere */
function ranksOf(mesh: TensorMesh, { procs }: Addressed): readonly number[] {
  const { places } = mesh;
  const ranks = procs.map((proc) => places.indexOf(proc));
  if (!ranks.includes(-1)) return ranks;
  throw new TensorError(
    "ERR_TENSOR_PLACE",
    `it is a tensor of mesh ${mesh.procs}, and actors that are called are on other processes; send what await inspect(tensor) answers`,
  );
}
