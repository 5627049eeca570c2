/**
 * The interceptor of endpoints with tensors: it lends tensors of a mesh to the receivers of a message, waits for tensors
 * that arrive after their message, and retains results in the processes of the actors. An actor always gets a copy of a
 * tensor of a mesh, made after all commands that were recorded before the call. A retained result is a copy, too.
 */
import { KeptAnswerCodec, type TensorKey, TensorKeyCodec } from "../../../generated/tensor.js";
import {
  type ArgumentsLayout,
  type Codec,
  codec,
  type EndpointInterceptor,
  type HandlerTurn,
  type MessageHandles,
  type MessageReceivers,
  type OutgoingMessage,
  type Reader,
  type RetainingCall,
  type Writer,
} from "../../codegen/v1/index.js";
import { TensorError } from "../errors.js";
import { meshOf } from "../mesh/active-meshes.js";
import type { TensorMesh } from "../mesh/tensor-mesh.js";
import { registerAnsweringTurn, waitForTensors } from "../rendezvous/deadlock-detection.js";
import type { ArrivingTensor } from "../rendezvous/rendezvous.js";
import { retainResult } from "../rendezvous/retained-result.js";
import type { Tensor } from "../value/tensor.js";
import { type ResultShapes, rref, type ShapesOf } from "./rref.js";
import { forwardedHandles, lendingHandles, receivingHandles } from "./tensor-codec.js";

/** A tensor of a mesh that is lent to the receivers of a message. */
interface LentTensor {
  readonly mesh: TensorMesh;
  readonly reference: bigint;
  readonly key: TensorKey;
  readonly ranks: readonly number[];
}

/** A message that lends the tensors of a mesh among its arguments to its receivers. */
export class LendingMessage implements OutgoingMessage {
  readonly #receivers: MessageReceivers;
  #lent: LentTensor[] = [];

  constructor(receivers: MessageReceivers) {
    this.#receivers = receivers;
  }

  /** The codecs of handles that lend tensors while they encode. */
  readonly handles: MessageHandles = lendingHandles((tensor) => this.#lend(tensor));

  encodeArguments(layout: ArgumentsLayout, w: Writer, args: readonly unknown[]): void {
    // The tensors of an earlier encoding are not sent.
    this.#lent = [];
    const outer = w.handles;
    w.handles = this.handles;
    try {
      layout.encodeInto(w, args);
    } finally {
      w.handles = outer;
    }
  }

  afterSend(): void {
    for (const { mesh, reference, key, ranks } of this.#lent) {
      mesh.sendToWorkers(ranks, (worker) => worker.lend.broadcast(reference, key));
    }
  }

  #lend(tensor: Tensor): TensorKey {
    const { mesh, reference } = meshOf(tensor)!;
    const key = mesh.newExchangeKey();
    this.#lent.push({ mesh, reference: BigInt(reference), key, ranks: receiverRanks(mesh, this.#receivers) });
    return key;
  }
}

/** The tensors that arrive after their message, by the list of arguments that contains them. */
const arrivingTensors = new WeakMap<readonly unknown[], readonly ArrivingTensor[]>();

class TensorInterceptor implements EndpointInterceptor {
  readonly retainsResults: boolean;
  readonly retainedResult = KeptAnswerCodec as Codec<unknown>;
  readonly forwardedHandles = forwardedHandles;
  readonly #resultShapes: ((...args: never[]) => ResultShapes) | undefined;

  constructor(retainsResults: boolean, shapes: ((...args: never[]) => ResultShapes) | undefined) {
    this.retainsResults = retainsResults;
    this.#resultShapes = shapes;
  }

  beforeSend(receivers: MessageReceivers): OutgoingMessage {
    return new LendingMessage(receivers);
  }

  decodeArguments(layout: ArgumentsLayout, r: Reader): readonly unknown[] {
    const arriving: ArrivingTensor[] = [];
    const outer = r.handles;
    r.handles = receivingHandles(arriving);
    try {
      const args = layout.decodeFrom(r);
      if (arriving.length > 0) arrivingTensors.set(args, arriving);
      return args;
    } finally {
      r.handles = outer;
    }
  }

  beforeHandler(args: readonly unknown[], turn: HandlerTurn): Promise<void> | undefined {
    const arriving = arrivingTensors.get(args);
    return arriving === undefined ? undefined : waitForTensors(arriving, turn);
  }

  retainingArguments(args: Codec<readonly unknown[]>): Codec<readonly unknown[]> {
    return codec.tuple(TensorKeyCodec, args) as Codec<readonly unknown[]>;
  }

  beforeRetaining(key: unknown, turn: HandlerTurn): () => void {
    return registerAnsweringTurn(key as TensorKey, turn);
  }

  retainResult(label: string, key: unknown, result: unknown): unknown {
    return retainResult(label, key as TensorKey, result);
  }

  callRetaining(call: RetainingCall): unknown {
    return rref(call, this.#resultShapes);
  }
}

/** @hidden The interceptor of endpoints that take tensors and have no `@propagate`. */
export const tensorArguments: EndpointInterceptor = new TensorInterceptor(false, undefined);

/**
 * @hidden Returns the interceptor of an endpoint with `@propagate`.
 * @param shapes computes the shapes of the result; undefined: the results of the actors have the shapes
 */
export function propagated<A extends unknown[], R>(shapes?: (...args: A) => ShapesOf<R>): EndpointInterceptor {
  return new TensorInterceptor(true, shapes as ((...args: never[]) => ResultShapes) | undefined);
}

/**
 * Returns the ranks of the receivers in a mesh.
 *
 * @throws {TensorError} when a receiver is in another process
 */
function receiverRanks(mesh: TensorMesh, { procs }: MessageReceivers): readonly number[] {
  const { procIds } = mesh;
  const ranks = procs.map((proc) => procIds.indexOf(proc));
  if (!ranks.includes(-1)) return ranks;
  throw new TensorError(
    "ERR_TENSOR_PLACE",
    `it is a tensor of mesh ${mesh.procs}, and actors that are called are on other processes; send what await inspect(tensor) answers`,
  );
}
