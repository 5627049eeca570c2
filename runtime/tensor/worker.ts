/** The tensors of one process of a mesh. What executes commands is a thread of the addon's; here is what comes in and goes out. */

import { hostname } from "node:os";
import type {
  FetchedTensor,
  TakenTensor,
  TensorAddresses,
  TensorCounts,
  TensorDeskMesh,
  TensorEnd,
  TensorFailure,
  TensorKey,
  TensorValue,
} from "../../generated/tensor.js";
import { TensorWorkerActor } from "../../generated/tensor.js";
import { context } from "../index.js";
import type { NativeStream } from "../native/tensor-addon.js";
import { ownAddress, sharedMemoryScope } from "./communicator/local-machine.js";
import { haveSameNccl, offerOwnNccl } from "./communicator/nccl.js";
import { addon } from "./operation/addon.js";
import { takeForWorker } from "./rendezvous/deadlock-detection.js";
import { type ExchangeResult, endExchanges, putTensors } from "./rendezvous/rendezvous.js";
import { sendTensorCopy } from "./rendezvous/tensor-exchange-actor.js";
import type { Tensor } from "./value/tensor.js";
import { formatTensorType, isSameTensorType } from "./value/tensor-type.js";
import { fromTensorValue, toTensorValue } from "./value/tensor-value.js";

/** @internal */
export class StreamWorker extends TensorWorkerActor {
  readonly #mesh: bigint;
  readonly #device: string;
  readonly #stream: NativeStream;
  /** Why commands were refused: from then on nothing is as the controller believes. */
  #refusal: string | undefined;

  constructor(threads: number, mesh = 0n, refuseNaN = false, devices: readonly string[] = []) {
    super();
    this.#mesh = mesh;
    const { actor, proc } = context();
    const { rank } = actor.rank;
    const stream = (device: string) => addon().newStream(rank, threads, refuseNaN, device, proc.rank);
    this.#device = devices[rank] ?? devices[0] ?? "cpu";
    try {
      this.#stream = stream(this.#device);
    } catch (error) {
      if (this.#device === "cpu") throw error;
      // An actor that cannot be made is a failure of its mesh, which ends programs: this one is the controller's alone.
      this.#refusal = `rank ${rank}, process ${process.pid} of ${hostname()}, ${(error as Error).message}`;
      this.#stream = stream("cpu");
    }
  }

  begin(): void {
    if (this.#refusal !== undefined) throw new Error(this.#refusal);
  }

  run(commands: Uint8Array): void {
    this.#recordRefusal(addon().submitCommands(this.#stream, commands));
  }

  put(reference: bigint, value: TensorValue): void {
    using tensor = fromTensorValue(value);
    this.#recordRefusal(addon().putTensor(this.#stream, Number(reference), tensor));
  }

  lend(reference: bigint, key: TensorKey): void {
    putTensors(
      key,
      this.#fetchCopy(reference).then((tensor): ExchangeResult => ({ tensors: [tensor] })),
    );
  }

  give(reference: bigint, key: TensorKey, to: TensorDeskMesh): void {
    // What comes next does not wait for it: the copy is of now.
    void sendTensorCopy(this.#fetchCopy(reference), key, to as TensorDeskMesh<never>);
  }

  async take(number: bigint, taken: readonly TakenTensor[], op: string, site: string): Promise<void> {
    const brought = await takeForWorker({ mesh: this.#mesh, number });
    const tensors = "failure" in brought ? [] : brought.tensors;
    for (const [index, { reference, type }] of taken.entries()) {
      const tensor = tensors[index];
      const put =
        tensor !== undefined && isSameTensorType(tensor, type)
          ? addon().putTensor(this.#stream, Number(reference), tensor)
          : addon().failTensor(this.#stream, Number(reference), op, site, explainMissingTensor(brought, tensor, type));
      this.#recordRefusal(put);
    }
    for (const tensor of tensors) tensor.dispose();
  }

  async fetch(reference: bigint): Promise<FetchedTensor> {
    try {
      using tensor = await this.#fetchCopy(reference);
      return { value: toTensorValue(tensor) };
    } catch (error) {
      if (this.#refusal !== undefined) return { failure: { message: this.#refusal } };
      const { message, op, site, rank } = error as Error & Omit<TensorFailure, "message">;
      return {
        failure: {
          message,
          ...(op === undefined ? {} : { op }),
          ...(site === undefined ? {} : { site }),
          ...(rank === undefined ? {} : { rank }),
        },
      };
    }
  }

  offer(ranks: number): TensorEnd {
    const version = offerOwnNccl(this.#stream, this.#device);
    const end = {
      machine: sharedMemoryScope(),
      ...addon().offerCommunicator(this.#stream, context().actor.rank.rank, ranks),
    };
    return version === 0 ? end : { ...end, nccl: version };
  }

  listen(): TensorAddresses {
    return { addresses: addon().listenForPeers(this.#stream, ownAddress()) };
  }

  async join(
    extent: readonly number[],
    ends: readonly TensorEnd[],
    addresses: readonly TensorAddresses[],
  ): Promise<void> {
    const { rank } = context().actor.rank;
    const own = sharedMemoryScope();
    const reached = ends.map((end, peer) => (end.machine === own ? end : (addresses[peer]?.addresses[rank] ?? end)));
    await addon().connectCommunicator(this.#stream, extent, reached, haveSameNccl(ends, rank));
  }

  async finish(): Promise<TensorCounts> {
    const { tensors, calls } = await addon().streamStats(this.#stream);
    if (this.#refusal !== undefined) throw new Error(this.#refusal);
    return { tensors: BigInt(tensors), calls: BigInt(calls) };
  }

  override cleanup(): void {
    endExchanges(this.#mesh);
    addon().closeStream(this.#stream);
  }

  #fetchCopy(reference: bigint): Promise<Tensor> {
    return addon().fetchTensor(this.#stream, Number(reference)) as Promise<Tensor>;
  }

  #recordRefusal(done: Promise<void>): void {
    done.catch((error: Error) => {
      this.#refusal ??= error.message;
    });
  }
}

function explainMissingTensor(brought: ExchangeResult, tensor: Tensor | undefined, type: TakenTensor["type"]): string {
  if ("failure" in brought) return brought.failure.message;
  const answered = tensor === undefined ? `${brought.tensors.length} tensors` : formatTensorType(tensor);
  return `it answered ${answered} where @propagate says ${formatTensorType(type)}`;
}
