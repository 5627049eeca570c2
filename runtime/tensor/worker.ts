/** The actor that receives the commands of a mesh in one proc. A thread of the addon executes them. */

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
  /** The reason why the addon refused a command. Later commands do not have the tensors that the controller expects. */
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
      // A constructor that throws would fail the actor mesh and end the program. The error is reported to the controller instead.
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
    // Later commands do not wait for the transfer, since the copy is made at this point.
    void sendTensorCopy(this.#fetchCopy(reference), key, to as TensorDeskMesh<never>);
  }

  async take(number: bigint, taken: readonly TakenTensor[], op: string, site: string): Promise<void> {
    const result = await takeForWorker({ mesh: this.#mesh, number });
    const tensors = "failure" in result ? [] : result.tensors;
    for (const [index, { reference, type }] of taken.entries()) {
      const tensor = tensors[index];
      const put =
        tensor !== undefined && isSameTensorType(tensor, type)
          ? addon().putTensor(this.#stream, Number(reference), tensor)
          : addon().failTensor(this.#stream, Number(reference), op, site, explainMissingTensor(result, tensor, type));
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

function explainMissingTensor(result: ExchangeResult, tensor: Tensor | undefined, type: TakenTensor["type"]): string {
  if ("failure" in result) return result.failure.message;
  const answered = tensor === undefined ? `${result.tensors.length} tensors` : formatTensorType(tensor);
  return `it answered ${answered} where @propagate says ${formatTensorType(type)}`;
}
